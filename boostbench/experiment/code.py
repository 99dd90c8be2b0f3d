"""A short name for the code that made a record, so that old records can be told from fresh ones."""

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from boostbench.experiment.environment import distribution_of

_PACKAGE = "boostbench"
_ALGORITHMS = "boostbench.algorithms"

# The mark of functions that make no number, and the module that it comes from.
_MARK = "unmeasured"
_MARKS_HOME = "boostbench.unmeasured"
_MARKS_IMPORT = ["from", "boostbench", ".", "unmeasured", "import", _MARK]

# Nothing of these is in a number that is not on record itself: messages, facts of the data and of
# the machine, settings, and how records are written.
_APART = {
    *(_PACKAGE, "boostbench.errors", "boostbench.data.dataset", _MARKS_HOME),
    *(f"boostbench.experiment.{name}" for name in ("environment", "protocol", "records")),
}
_TUNING = "boostbench.experiment.tuning"
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_MARKS = {tokenize.NEWLINE: "\n", tokenize.INDENT: "\x01", tokenize.DEDENT: "\x02"}
# Python 3.12 and later cut an f-string into pieces; earlier versions do not.
_F_START = getattr(tokenize, "FSTRING_START", None)
_F_END = getattr(tokenize, "FSTRING_END", None)


def made_by(config: Mapping, measure: type) -> str:
    """Name today's code for what a config asks: that of the estimator, the measure and the tuning.

    Parameters
    ----------
    config : mapping
        With ``algo`` and ``protocol`` as in records; no ``tune`` says that nothing is chosen.
    measure : type
        Class of the measure, whose module imports what preparation and splits take.

    Returns
    -------
    str
        See `fingerprint`.
    """
    modules = {_defining(*target.rpartition(".")[::2]) for target in _targets(config["algo"])}
    modules.add(measure.__module__)
    if "tune" in config["protocol"]:
        modules.add(_TUNING)
    return fingerprint(*sorted(modules))


@functools.cache
def fingerprint(*modules: str) -> str:
    """Name the code of some modules.

    Parameters
    ----------
    *modules : str
        Dotted names.

    Returns
    -------
    str
        16 hex digits of the SHA-256 of the code of the modules and of all that they import,
        directly or not, as far as it is boostbench's or no installed distribution holds it;
        comments, docstrings and layout do not count. Then, of the other modules, ``" with "`` and
        the distributions and their versions.
    """
    own, versions = set(), set()
    for module in modules:
        distribution = _distribution(module)
        if distribution:
            versions.add(f"{distribution} {importlib.metadata.version(distribution)}")
        else:
            own.add(module)
    digest = hashlib.sha256()
    for module in sorted(reachable(own)):
        digest.update(f"{module}\0{_module(module).code}\0".encode())
    return " with ".join(
        [digest.hexdigest()[:16], *([", ".join(sorted(versions))] * bool(versions))]
    )


def reachable(modules: Iterable[str]) -> set[str]:
    """Give modules and all that they import of boostbench and of their own packages."""
    found, waiting = set(), list(modules)
    packages = {"boostbench", *(name.partition(".")[0] for name in waiting)}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imports(name, packages)
    return found


def code(source: str) -> str:
    r"""Reduce a module's source to what is executed.

    Every Python version that the project supports gives the same text. Functions with the mark
    `boostbench.unmeasured.unmeasured` are left out, and so is its import.

    Examples
    --------
    >>> code("def f(x):  # doubles\n    '''Double.'''\n    return 2*x") == code(
    ...     "def f(x):\n    return 2 * x\n"
    ... )
    True
    """
    source = _measured(source)
    lines = io.StringIO(source).readlines()
    kept, statement = [], []
    depth, start = 0, None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == _F_START:
            start = start if depth else token.start
            depth += 1
        elif token.type == _F_END:
            depth -= 1
            if depth == 0:
                statement.append(_between(lines, start, token.end))
        elif depth or token.type in _SKIPPED:
            continue
        elif token.type not in _MARKS:
            statement.append(token.string)
        elif token.type != tokenize.NEWLINE:
            kept.append(_MARKS[token.type])
        else:
            # A statement of nothing but string literals is a docstring, or might as well be one.
            if statement != _MARKS_IMPORT and not all(_is_text(word) for word in statement):
                kept += [*statement, _MARKS[token.type]]
            statement = []
    return "\0".join(kept)


def unmeasured_functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Find the functions of a module that bear the mark, as far as it is the project's own mark."""
    if any(map(_brings_the_mark, tree.body)):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
                isinstance(mark, ast.Name) and mark.id == _MARK for mark in node.decorator_list
            ):
                yield node


def _brings_the_mark(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.ImportFrom)
        and (node.module, node.level) == (_MARKS_HOME, 0)
        and [(alias.name, alias.asname) for alias in node.names] == [(_MARK, None)]
    )


def _measured(source: str) -> str:
    """Cut out the functions with the mark, decorators and all."""
    cut = set()
    for node in unmeasured_functions(ast.parse(source)):
        cut.update(range(node.decorator_list[0].lineno, node.end_lineno + 1))
    lines = io.StringIO(source).readlines()
    return "".join(line for number, line in enumerate(lines, start=1) if number not in cut)


def _is_text(word: str) -> bool:
    return word.lstrip("rRbBuU").startswith(("'", '"'))


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "".join([lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]])


@dataclass(frozen=True)
class _Module:
    """What counts of a module's source."""

    code: str
    #: Absolute imports: of modules, and of names from modules.
    modules: frozenset[str]
    names: frozenset[tuple[str, str]]
    #: Where names come from that the module imports at its top.
    exports: Mapping[str, tuple[str, str]]


def _module(name: str) -> _Module:
    path = _path(name)
    about = path.stat()
    return _parsed(name, path, about.st_mtime_ns, about.st_size)


@functools.cache
def _parsed(name: str, path: Path, *version: int) -> _Module:
    with tokenize.open(path) as file:
        source = file.read()
    tree = ast.parse(source)
    parent = name if path.name == "__init__.py" else name.rpartition(".")[0]
    modules, names, exports = set(), set(), {}
    for node in executed(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), parent)
            names |= {(base, alias.name) for alias in node.names}
            if node in tree.body:
                exports |= {
                    (alias.asname or alias.name): (base, alias.name) for alias in node.names
                }
    return _Module(code(source), frozenset(modules), frozenset(names), exports)


def executed(tree: ast.Module) -> Iterator[ast.AST]:
    """Walk through a module, but not into what only type checkers read, nor into what is marked.

    Parameters
    ----------
    tree : ast.Module

    Yields
    ------
    ast.AST
        What holds others first.
    """
    return _walk(tree, set(unmeasured_functions(tree)))


def _walk(tree: ast.AST, apart: set[ast.AST]) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        if node not in apart and not is_for_types:
            yield node
            yield from _walk(node, apart)


def _imports(module: str, packages: set[str]) -> set[str]:
    about = _module(module)
    found = {name for name in about.modules if name.partition(".")[0] in packages}
    if any(name.partition(".")[0] == _PACKAGE for name in about.modules):
        # The name `boostbench` gives all of them.
        found.add(_ALGORITHMS)
    for base, name in about.names:
        if base.partition(".")[0] in packages:
            found.add(_defining(base, name))
    return {name for name in found - _APART if _path(name)}


def _defining(base: str, name: str) -> str:
    """Say which module ``from base import name`` means.

    A package's ``__init__`` that re-exports the name leads on to where it comes from, so that
    the other names that it re-exports do not count.
    """
    if _path(f"{base}.{name}"):
        return f"{base}.{name}"
    if _is_package(base):
        # The package itself re-exports the algorithms by another way than imports.
        origin = _module(_ALGORITHMS if base == _PACKAGE else base).exports.get(name)
        if origin:
            return _defining(*origin)
    return base


def _targets(value) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("_target_"), str):
            yield value["_target_"]
        for inner in value.values():
            yield from _targets(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _targets(inner)


def _distribution(module: str) -> str | None:
    package = module.partition(".")[0]
    return None if package == "boostbench" else distribution_of(package)


def _path(module: str) -> Path | None:
    """Find a module's file without running any of its code."""
    package, _, rest = module.partition(".")
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    origin = Path(spec.origin)
    if not rest:
        return origin
    if origin.name != "__init__.py":
        return None
    stem = origin.parent.joinpath(*rest.split("."))
    candidates = (stem / "__init__.py", stem.with_name(f"{stem.name}.py"))
    return next((path for path in candidates if path.is_file()), None)


def _is_package(module: str) -> bool:
    path = _path(module)
    return path is not None and path.name == "__init__.py"
