"""Defaults, attributes and versions of classes, from which keys and freshness of records follow.

The key of a record leaves out parameters at their defaults (`boostbench.spec.keys`), and a record
is fresh if the version of its class is today's. Importing an estimator takes a second with the
modules of all stumps and losses; parsing its source takes milliseconds. Therefore the facts of a
class of boostbench that is not imported yet are read from its source: the syntax tree becomes a
*stand-in*, a class of the same name and bases whose literal attributes have their values. Any other
attribute of it is a node of the syntax tree, and a method is its `ast.arguments`.

A class of boostbench states the version of its numbers by its attribute ``edition``: whoever
changes the numbers on purpose increases it. The version of a class of an installed distribution is
the distribution's version, and the version of any other class is the text of its module's file.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.metadata
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from boostbench.spec.trusted_imports import distribution_of, import_class
from boostbench.util.errors import UserError

_PACKAGE = "boostbench"
_ROOT = Path(__file__).parents[1]


class _NotInSourceError(Exception):
    """Error for a fact that the source does not give: the class has to be imported for it.

    A value may be no literal; or the class is imported already, is of another package, or has no
    source.
    """


class DefaultParameter(NamedTuple):
    """Parameter of a constructor with its default."""

    name: str
    default: Any


@functools.cache
def constructor_defaults(target: str) -> list[DefaultParameter]:
    """Return the parameters of a constructor that have a default.

    Parameters
    ----------
    target : str
        Dotted name of the class. A class that cannot be imported has no defaults.

    Returns
    -------
    list of DefaultParameter
        It is cached, so callers must not change it.
    """
    with contextlib.suppress(_NotInSourceError):
        return _source_defaults(target)
    try:
        signature = inspect.signature(import_class(target))
    except (Exception, SystemExit):
        return []
    return [
        DefaultParameter(parameter.name, parameter.default)
        for parameter in signature.parameters.values()
        if parameter.default is not parameter.empty
    ]


def class_attribute(target: str, name: str, default: Any) -> Any:
    """Return an attribute of a class, or `default` if the class does not have it.

    Parameters
    ----------
    target : str
        Dotted name of the class.
    name : str
        Name of the attribute.
    default : object

    Raises
    ------
    Exception
        Any error of the import of a class whose source does not give the attribute.
    """
    with contextlib.suppress(_NotInSourceError):
        value = getattr(_stand_in_class(target), name, default)
        # A node of the syntax tree is no literal: only the imported class has its value.
        if not isinstance(value, ast.AST):
            return value
    return getattr(import_class(target), name, default)


def _source_defaults(target: str) -> list[DefaultParameter]:
    """Return the parameters with a default in the source of a class of the package.

    Raises
    ------
    _NotInSourceError
        If a default is not a literal, or there is no stand-in, see `_stand_in_class`.
    """
    cls = _stand_in_class(target)
    # 1) A constructor in the source states its defaults, which belong to its last parameters.
    constructor = getattr(cls, "__init__", None)
    if isinstance(constructor, ast.arguments):
        positional = [*constructor.posonlyargs, *constructor.args]
        n_required = len(positional) - len(constructor.defaults)
        pairs = [
            *zip(positional[n_required:], constructor.defaults, strict=True),
            *zip(constructor.kwonlyargs, constructor.kw_defaults, strict=True),
        ]
        return [
            DefaultParameter(argument.arg, _literal(node))
            for argument, node in pairs
            if node is not None
        ]
    # 2) Without one, the annotated attributes are the parameters, as in a dataclass, see
    #    `boostbench.algorithms.base.parameters`.
    if not any(base.__name__ == "DeclaredParameters" for base in cls.__mro__):
        raise _NotInSourceError("__init__")
    values = [(name, getattr(cls, name)) for name in _declared_parameter_names(cls)]
    return [
        DefaultParameter(name, _literal(value) if isinstance(value, ast.AST) else value)
        for name, value in values
    ]


def _declared_parameter_names(cls: type) -> list[str]:
    """Return the names of the annotated attributes of a stand-in; its bases come first.

    A class may turn a parameter of its base into an attribute of the class, by the annotation
    ``ClassVar``. The annotation ``KW_ONLY`` marks a place in the signature and no parameter.
    """
    names = []
    for base in reversed(cls.__mro__):
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if annotation.startswith("ClassVar"):
                names = [other for other in names if other != name]
            elif annotation != "KW_ONLY" and name not in names:
                names.append(name)
    return names


def _stand_in_class(target: str) -> type:
    """Return the stand-in for a class of boostbench, see `_build_stand_in`.

    Raises
    ------
    _NotInSourceError
        If the class is not in the package, or is imported: the imported code runs, even if its
        source has changed since.
    """
    module, _, name = target.rpartition(".")
    if module.partition(".")[0] != _PACKAGE:
        raise _NotInSourceError(target)
    origin = _find_origin(module, name)
    if origin is None or origin.module in sys.modules:
        raise _NotInSourceError(target)
    return _build_stand_in(origin)


class _ClassOrigin(NamedTuple):
    """Module of boostbench that defines a class, and the name of the class there."""

    module: str
    name: str


@functools.cache
def _build_stand_in(origin: _ClassOrigin) -> type:
    """Return a stand-in for a class of boostbench, made from the source of its module.

    Its bases are stand-ins for the bases of the class, so that it inherits their attributes. Its
    attributes are described at the top of this module.
    """
    # 1) Find the definition of the class, and the origins of its bases.
    tree = _parse_module(origin.module)
    node = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == origin.name)
    bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
    # Bases of other packages have neither an edition nor parameters of boostbench.
    base_origins = [*filter(None, (_find_origin(origin.module, base) for base in bases))]
    # 2) Collect annotations, as texts, methods and attributes. Python itself would call special
    #    methods, such as `__init_subclass__`: they are left out, except for `__init__`.
    namespace = {"__annotations__": {}}
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            namespace["__annotations__"][item.target.id] = ast.unparse(item.annotation)
        if isinstance(item, ast.FunctionDef) and (
            item.name == "__init__" or not item.name.startswith("__")
        ):
            namespace[item.name] = item.args
        for variable, value in _assignments(item):
            try:
                namespace[variable] = _literal(value)
            except _NotInSourceError:
                namespace[variable] = value
    # 3) Make the class.
    return type(origin.name, tuple(map(_build_stand_in, base_origins)), namespace)


@functools.cache
def _find_origin(module: str, name: str) -> _ClassOrigin | None:
    """Return the origin of a class; None if another package defines it, or the class is not there.

    Parameters
    ----------
    module : str
        Module of boostbench that defines the class or imports it.
    name : str
        Name of the class in `module`.
    """
    tree = _parse_module(module)
    if any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
        return _ClassOrigin(module, name)
    # Follow an import of the class, which may be inside a function, to the module that defines it.
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for node in imports:
        names = [alias.name for alias in node.names if alias.asname is None]
        if name in names and (node.module or "").startswith(f"{_PACKAGE}."):
            return _find_origin(node.module, name)
    return None


@functools.cache
def _parse_module(module: str) -> ast.Module:
    """Return the syntax tree of a module of boostbench.

    Raises
    ------
    _NotInSourceError
        If its file cannot be read.
    """
    path = _ROOT.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except OSError:
        raise _NotInSourceError(module) from None


def _assignments(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the variables that a statement assigns, each with the node of its value."""
    if isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
        yield node.target.id, node.value
    elif isinstance(node, ast.Assign):
        for variable in node.targets:
            if isinstance(variable, ast.Name):
                yield variable.id, node.value


def _literal(node: ast.expr) -> Any:
    """Return the value of a literal, or raise `_NotInSourceError`."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise _NotInSourceError(ast.unparse(node)) from None


#: Edition of records and classes that state none; an edition is the version of a class's numbers.
FIRST_EDITION = 1


class InstalledVersion(NamedTuple):
    """Name and version of an installed distribution, such as scikit-learn 1.7.2."""

    distribution: str
    version: str


class CodeVersion(NamedTuple):
    """Version of the code that makes the numbers of a config today.

    Attributes
    ----------
    edition : int
        Edition of the estimator's class, plus the editions above the first one of the classes of
        objects in its parameters.
    source : str or None
        First 16 hex digits of the SHA-256 of the files of user classes; None: no such class.
    versions : tuple of InstalledVersion
        Distributions that classes come from, besides boostbench.
    """

    edition: int
    source: str | None
    versions: tuple[InstalledVersion, ...]


def find_code_version(targets: Iterable[str], measure: type) -> CodeVersion:
    """Return the version of the classes that make the numbers of a config.

    Parameters
    ----------
    targets : iterable of str
        Dotted names of the classes of the estimator and of objects in its parameters, see
        `boostbench.spec.trusted_imports.class_names`.
    measure : type
        Class of the measure.

    Raises
    ------
    UserError
        If the edition of a class is no positive number, or a user's class is in no file.
    """
    targets = tuple(targets)
    modules = (*(name.rpartition(".")[0] for name in targets), measure.__module__)
    return _code_version(targets, modules)


@functools.cache
def _code_version(targets: tuple[str, ...], modules: tuple[str, ...]) -> CodeVersion:
    """Return the version of the classes `targets`, which are in `modules`."""
    # 1) Classes of boostbench: the edition of the config is a sum, so that a new edition of any of
    #    its classes changes it. It is 1 if all classes have their first edition.
    edition = FIRST_EDITION + sum(_edition(target) - FIRST_EDITION for target in targets)
    # 2) Classes of other packages: the versions of the distributions that are installed.
    distributions = {
        module: distribution_of(module.partition(".")[0])
        for module in sorted(set(modules))
        if module.partition(".")[0] != _PACKAGE
    }
    versions = tuple(
        InstalledVersion(name, importlib.metadata.version(name))
        for name in sorted(set(distributions.values()) - {None})
    )
    # 3) The user's classes: a digest of the files of their modules.
    user_modules = [module for module, name in distributions.items() if name is None]
    return CodeVersion(edition, _digest_files(user_modules) if user_modules else None, versions)


def _edition(target: str) -> int:
    """Return the edition of a class; classes of other packages have the first one."""
    if distribution_of(target.partition(".")[0]) not in (None, _PACKAGE):
        return FIRST_EDITION
    edition = class_attribute(target, "edition", FIRST_EDITION)
    if not isinstance(edition, int) or edition < FIRST_EDITION:
        raise UserError(f"{target}.edition is {edition!r}; it must be 1, 2, ...")
    return edition


def _digest_files(modules: list[str]) -> str:
    """Return the first 16 hex digits of the SHA-256 of the names and files of imported modules.

    Raises
    ------
    UserError
        If a module has no file.
    """
    digest = hashlib.sha256()
    for module in modules:
        path = getattr(sys.modules[module], "__file__", None)
        if path is None:  # a notebook or a prompt
            raise UserError(
                f"the classes of {module} are in no file; put them into a module beside the "
                "working folder, as records name the source of a class"
            )
        digest.update(module.encode() + b"\0" + Path(path).read_bytes())
    return digest.hexdigest()[:16]
