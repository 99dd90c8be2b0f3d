"""A short name for the code that made a record, so that old records can be told from fresh ones."""

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import io
import os
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
        comments, docstrings and layout do not count, nor do functions with the mark `unmeasured`
        that none of this code refers to. Then, of the other modules, ``" with "`` and
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
    for module, pieces in sorted(counted(own).items()):
        digest.update("\0".join([module, *pieces, ""]).encode())
    return " with ".join(
        [digest.hexdigest()[:16], *([", ".join(sorted(versions))] * bool(versions))]
    )


def reachable(modules: Iterable[str]) -> set[str]:
    """Give modules and all that they import of boostbench and of their own packages."""
    return set(counted(modules))


def counted(modules: Iterable[str]) -> dict[str, list[str]]:
    """Give the code of modules and of all that they import.

    Parameters
    ----------
    modules : iterable of str
        Dotted names.

    Returns
    -------
    dict of str to list of str
        By module its code without the functions that bear the mark, then those of them whose name
        is in the code that counts. By any name, as nobody can tell which object a method is of.
    """
    waiting = list(modules)
    packages = {_PACKAGE, *(name.partition(".")[0] for name in waiting)}
    found: dict[str, list[_Piece]] = {}
    while waiting:
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = [_module(name).rest]
                waiting += _imports(found[name][0], packages)
        words = set().union(*(piece.words for pieces in found.values() for piece in pieces))
        for name, pieces in found.items():
            for function, piece in _module(name).marked:
                if function in words and piece not in pieces:
                    pieces.append(piece)
                    # Anything that makes the loop go on, where there is nothing to import.
                    waiting += [name, *_imports(piece, packages)]
    return {name: [piece.code for piece in pieces] for name, pieces in found.items()}


def code(source: str) -> str:
    r"""Reduce a module's source to what is executed.

    Every Python version that the project supports gives the same text. Functions with the mark
    `boostbench.unmeasured.unmeasured` are left out, and so is the import of the mark.

    Examples
    --------
    >>> code("def f(x):  # doubles\n    '''Double.'''\n    return 2*x") == code(
    ...     "def f(x):\n    return 2 * x\n"
    ... )
    True
    """
    cut = {line for node in _marked(ast.parse(source)) for line in _lines(node)}
    return _tokens("".join(line for at, line in enumerate(_split(source), 1) if at not in cut))


def _tokens(source: str) -> str:
    lines = _split(source)
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


def _marked(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Find the functions of a module that bear the mark, as far as it is the project's own mark."""
    if not any(map(_brings_the_mark, tree.body)):
        return []
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id == _MARK for mark in node.decorator_list)
    ]


def _brings_the_mark(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.ImportFrom)
        and (node.module, node.level) == (_MARKS_HOME, 0)
        and [(alias.name, alias.asname) for alias in node.names] == [(_MARK, None)]
    )


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> range:
    """Numbers of a marked function's lines, decorators and all."""
    return range(node.decorator_list[0].lineno, node.end_lineno + 1)


def _split(source: str) -> list[str]:
    return io.StringIO(source).readlines()


def _is_text(word: str) -> bool:
    return word.lstrip("rRbBuU").startswith(("'", '"'))


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "".join([lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]])


@dataclass(frozen=True)
class _Piece:
    """What counts of a piece of source."""

    code: str
    #: Absolute imports: of modules, and of names from modules.
    modules: frozenset[str]
    names: frozenset[tuple[str, str]]
    #: All by which it may refer to something, text included.
    words: frozenset[str]


@dataclass(frozen=True)
class _Module:
    """A module's source, and apart from the rest of it the functions that bear the mark."""

    rest: _Piece
    marked: tuple[tuple[str, _Piece], ...]
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
    lines = _split(source)
    apart = _marked(tree)
    marked = []
    for node in apart:
        text = "".join(lines[at - 1] for at in _lines(node))
        # A method is indented.
        text = _tokens(f"if 1:\n{text}" if node.col_offset else text)
        marked.append((node.name, _piece(text, ast.walk(node), parent)))
    exports = {
        (alias.asname or alias.name): (_base(node, parent), alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    rest = _piece(code(source), _executed(tree, set(apart)), parent)
    return _Module(rest, tuple(marked), exports)


def _piece(text: str, nodes: Iterable[ast.AST], parent: str) -> _Piece:
    modules, names, words = set(), set(), set()
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {(_base(node, parent), alias.name) for alias in node.names}
            words |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.Attribute):
            words.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
    return _Piece(text, frozenset(modules), frozenset(names), frozenset(words))


def _base(node: ast.ImportFrom, parent: str) -> str:
    return importlib.util.resolve_name("." * node.level + (node.module or ""), parent)


def _executed(tree: ast.AST, apart: set[ast.AST]) -> Iterator[ast.AST]:
    """Walk through a tree, but not into what is apart, nor into what only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        if node not in apart and not is_for_types:
            yield node
            yield from _executed(node, apart)


def _imports(piece: _Piece, packages: set[str]) -> set[str]:
    found = {name for name in piece.modules if name.partition(".")[0] in packages}
    if any(name.partition(".")[0] == _PACKAGE for name in piece.modules):
        # The name `boostbench` gives all of them.
        found.add(_ALGORITHMS)
    for base, name in piece.names:
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
    return _within(spec.origin, rest)


@functools.cache
def _within(origin: str, rest: str) -> Path | None:
    """Find a module's file by that of its package, and its name within it."""
    if not rest:
        return Path(origin)
    folder, name = os.path.split(origin)
    if name != "__init__.py":
        return None
    stem = os.path.join(folder, *rest.split("."))
    candidates = (os.path.join(stem, "__init__.py"), f"{stem}.py")
    return next((Path(path) for path in candidates if os.path.isfile(path)), None)


def _is_package(module: str) -> bool:
    path = _path(module)
    return path is not None and path.name == "__init__.py"
