"""Defaults, attributes and versions of classes.

Importing an estimator takes a second with the modules of all stumps and losses; reading its
signature takes milliseconds. The keys of records need the signatures of many classes. Therefore the
facts of a class that is not imported are read from its source.

A class of boostbench states the version of its numbers by its attribute ``edition``: whoever
changes the numbers on purpose increases it. The version of a class of an installed distribution is
the distribution's version, and the version of any other class is the text of its module's file.
"""

import ast
import functools
import hashlib
import importlib.metadata
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from boostbench.spec.trusted_imports import class_names, distribution_of, import_class
from boostbench.util.errors import UserError

_PACKAGE = "boostbench"
_ROOT = Path(__file__).parents[1]


class _NotInSourceError(Exception):
    """Error for a value in the source that is not a literal."""


@functools.cache
def constructor_defaults(target: str) -> Mapping[str, Any]:
    """Return the defaults of a constructor's parameters; those without a default are left out.

    Parameters
    ----------
    target : str
        Dotted name of the class. A class that cannot be imported has no defaults.
    """
    try:
        return _source_defaults(target)
    except _NotInSourceError:
        pass
    try:
        signature = inspect.signature(import_class(target))
    except (Exception, SystemExit):
        return {}
    return {
        parameter.name: parameter.default
        for parameter in signature.parameters.values()
        if parameter.default is not parameter.empty
    }


def class_attribute(target: str, name: str, default: Any) -> Any:
    """Return an attribute of a class, or `default` if the class does not have it."""
    try:
        value = getattr(_stand_in_class(target), name, default)
        if isinstance(value, ast.AST):
            raise _NotInSourceError(name)
        return value
    except _NotInSourceError:
        return getattr(import_class(target), name, default)


def _source_defaults(target: str) -> Mapping[str, Any]:
    """Return the defaults in the source of a class of the package.

    Raises
    ------
    _NotInSourceError
        If a default is not a literal, or `_stand_in_class` raises it.
    """
    cls = _stand_in_class(target)
    constructor = getattr(cls, "__init__", None)
    if isinstance(constructor, ast.arguments):
        positional = [*constructor.posonlyargs, *constructor.args]
        n_required = len(positional) - len(constructor.defaults)
        pairs = [
            *zip(positional[n_required:], constructor.defaults, strict=True),
            *zip(constructor.kwonlyargs, constructor.kw_defaults, strict=True),
        ]
        return {argument.arg: _literal(node) for argument, node in pairs if node is not None}
    if not any(base.__name__ == "DeclaredParameters" for base in cls.__mro__):
        raise _NotInSourceError("__init__")
    # Annotated attributes are the parameters, see `boostbench.algorithms.base.parameters`.
    declared = {}
    for base in reversed(cls.__mro__):
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if annotation.startswith("ClassVar"):
                declared.pop(name, None)
            elif annotation != "KW_ONLY":
                declared[name] = None
    values = {name: getattr(cls, name) for name in declared}
    return {
        name: _literal(value) if isinstance(value, ast.AST) else value
        for name, value in values.items()
    }


def _stand_in_class(target: str) -> type:
    """Return a class with the literal attributes and the constructor of a class of the package.

    Raises
    ------
    _NotInSourceError
        If the class is not in the package, or is imported: the imported code runs, even if its
        source has changed since.
    """
    module, _, name = target.rpartition(".")
    if module.partition(".")[0] != _PACKAGE:
        raise _NotInSourceError(target)
    origin = _find_definition(module, name)
    if origin is None or origin[0] in sys.modules:
        raise _NotInSourceError(target)
    return _build_stand_in(*origin)


@functools.cache
def _build_stand_in(module: str, name: str) -> type:
    """Return a class with the bases, literal attributes and constructor in a module's source."""
    tree = _parse_module(module)
    node = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
    # Bases of other packages have neither an edition nor parameters of ours.
    origins = [origin for base in bases if (origin := _find_definition(module, base))]
    namespace = {"__annotations__": {}}
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            namespace["__annotations__"][item.target.id] = ast.unparse(item.annotation)
        # Python would call the other special methods of this stand-in.
        if isinstance(item, ast.FunctionDef) and (
            item.name == "__init__" or not item.name.startswith("__")
        ):
            namespace[item.name] = item.args
        for target, value in _assignments(item):
            try:
                namespace[target] = _literal(value)
            except _NotInSourceError:
                namespace[target] = value
    return type(name, tuple(_build_stand_in(*origin) for origin in origins), namespace)


@functools.cache
def _find_definition(module: str, name: str) -> tuple[str, str] | None:
    """Return the module and name of a class that a module of the package defines or imports.

    None: the class is imported from another package, or is not there.
    """
    tree = _parse_module(module)
    if any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
        return module, name
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for node in imports:
        names = [alias.name for alias in node.names if alias.asname is None]
        if name in names and (node.module or "").startswith(f"{_PACKAGE}."):
            return _find_definition(node.module, name)
    return None


@functools.cache
def _parse_module(module: str) -> ast.Module:
    path = _ROOT.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except OSError:
        raise _NotInSourceError(module) from None


def _assignments(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names and values of an assignment."""
    if isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
        yield node.target.id, node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise _NotInSourceError(ast.unparse(node)) from None


#: Edition of records and classes that state none.
FIRST_EDITION = 1


class ProvenanceLike(Protocol):
    """Facts of a record's provenance that belong to a version, see `boostbench.records.schema`."""

    edition: int
    source: str | None
    environment: Mapping[str, Any]


class CodeVersion(NamedTuple):
    """Version of the code that makes the numbers of a config today.

    Attributes
    ----------
    edition : int
        Edition of the estimator's class, plus the increases of the editions of objects in its
        parameters.
    source : str or None
        First 16 hex digits of the SHA-256 of the files of user classes; None: no such class.
    versions : dict of str to str
        Versions of the installed distributions that classes come from.
    """

    edition: int
    source: str | None
    versions: Mapping[str, str]

    @classmethod
    def from_config(cls, algo: Mapping[str, Any], measure: type) -> "CodeVersion":
        """Return the version of the classes of a config's ``algo`` and of the measure's class."""
        targets = tuple(class_names(algo))
        modules = (*(name.rpartition(".")[0] for name in targets), measure.__module__)
        return _code_version(targets, modules)

    def to_record(self) -> dict[str, Any]:
        """Return the fields of a record; its environment holds the versions."""
        fields = {"edition": self.edition} if self.edition != FIRST_EDITION else {}
        return fields | ({"source": self.source} if self.source else {})

    def matches(self, provenance: ProvenanceLike) -> bool:
        """Return True if records of a provenance were made by this version."""
        environment = provenance.environment
        return (
            provenance.edition == self.edition
            # Older records have no such digest.
            and provenance.source in (None, self.source)
            and all(environment.get(name, now) == now for name, now in self.versions.items())
        )


@functools.cache
def _code_version(targets: tuple[str, ...], modules: tuple[str, ...]) -> CodeVersion:
    packages = {module: module.partition(".")[0] for module in modules}
    foreign = sorted(module for module, package in packages.items() if package != _PACKAGE)
    origins = {module: distribution_of(packages[module]) for module in foreign}
    versions = {name: importlib.metadata.version(name) for name in set(origins.values()) - {None}}
    edition = FIRST_EDITION + sum(_edition(target) - FIRST_EDITION for target in targets)
    user_modules = [module for module in foreign if origins[module] is None]
    return CodeVersion(edition, _digest_files(user_modules) if user_modules else None, versions)


def _edition(target: str) -> int:
    if distribution_of(target.partition(".")[0]) not in (None, _PACKAGE):
        return FIRST_EDITION
    edition = class_attribute(target, "edition", FIRST_EDITION)
    if not isinstance(edition, int) or edition < FIRST_EDITION:
        raise UserError(f"{target}.edition is {edition!r}; it must be 1, 2, ...")
    return edition


def _digest_files(modules: list[str]) -> str:
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
