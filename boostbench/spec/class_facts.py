"""Defaults and attributes of classes, read from their source where the class is not imported.

Importing an estimator takes a second with the modules of all stumps and losses; reading its
signature takes milliseconds. The keys of records need the signatures of many classes.
"""

import ast
import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from boostbench.spec.trusted_imports import import_class

_PACKAGE = "boostbench"
_ROOT = Path(__file__).parents[1]


class _NotLiteralError(Exception):
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
    except _NotLiteralError:
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
        value = getattr(_source_class(target), name, default)
        if isinstance(value, ast.AST):
            raise _NotLiteralError(name)
        return value
    except _NotLiteralError:
        return getattr(import_class(target), name, default)


def _source_defaults(target: str) -> Mapping[str, Any]:
    """Return the defaults in the source of a class of the package.

    Raises
    ------
    _NotLiteralError
        If a default is not a literal, or `_source_class` raises it.
    """
    cls = _source_class(target)
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
        raise _NotLiteralError("__init__")
    # Annotated attributes are the parameters, see `boostbench.algorithms.base.parameters`.
    declared: dict[str, None] = {}
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


def _source_class(target: str) -> type:
    """Return a class with the literal attributes and the constructor of a class of the package.

    Raises
    ------
    _NotLiteralError
        If the class is not in the package, or is imported: the imported code runs, even if its
        source has changed since.
    """
    module, _, name = target.rpartition(".")
    if module.partition(".")[0] != _PACKAGE:
        raise _NotLiteralError(target)
    origin = _definition(module, name)
    if origin is None or origin[0] in sys.modules:
        raise _NotLiteralError(target)
    return _shadow(*origin)


@functools.cache
def _shadow(module: str, name: str) -> type:
    """Return a class with the bases, literal attributes and constructor in a module's source."""
    tree = _parse(module)
    node = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
    # Bases of other packages have neither an edition nor parameters of ours.
    origins = [origin for base in bases if (origin := _definition(module, base))]
    namespace: dict[str, Any] = {"__annotations__": {}}
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
            except _NotLiteralError:
                namespace[target] = value
    return type(name, tuple(_shadow(*origin) for origin in origins), namespace)


@functools.cache
def _definition(module: str, name: str) -> tuple[str, str] | None:
    """Return the module and name of a class that a module of the package defines or imports.

    None: the class is imported from another package, or is not there.
    """
    tree = _parse(module)
    if any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
        return module, name
    source = _imported_names(tree).get(name, "")
    return _definition(source, name) if source.startswith(f"{_PACKAGE}.") else None


@functools.cache
def _parse(module: str) -> ast.Module:
    path = _ROOT.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except OSError:
        raise _NotLiteralError(module) from None


def _imported_names(tree: ast.Module) -> dict[str, str]:
    """Return the names that a module imports from others, and these modules."""
    return {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not node.level
        for alias in node.names
        if alias.asname is None
    }


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
        raise _NotLiteralError(ast.unparse(node)) from None
