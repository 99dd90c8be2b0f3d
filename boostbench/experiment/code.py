"""A short name for the code that made a record, so that old records can be told from fresh ones."""

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import io
import tokenize
from collections.abc import Callable
from pathlib import Path

_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_MARKS = {tokenize.NEWLINE: "\n", tokenize.INDENT: "\x01", tokenize.DEDENT: "\x02"}
# Python 3.12 and later cut an f-string into pieces; earlier versions do not.
_F_START = getattr(tokenize, "FSTRING_START", None)
_F_END = getattr(tokenize, "FSTRING_END", None)


@functools.cache
def fingerprint(cls: type | Callable) -> str:
    """Name the code of an estimator, or of a function.

    Parameters
    ----------
    cls : type or callable
        The estimator's class, or the function.

    Returns
    -------
    str
        For installed packages of others, ``"distribution version"``. For boostbench and for
        modules that no distribution holds, 16 hex digits of the SHA-256 of the code of the
        class's module and of every module of the same package that it imports, directly or not;
        comments, docstrings and layout do not count.
    """
    package = cls.__module__.partition(".")[0]
    distribution = distribution_of(package)
    if package != "boostbench" and distribution:
        return f"{distribution} {importlib.metadata.version(distribution)}"
    digest = hashlib.sha256()
    for module in sorted(_reachable(cls.__module__)):
        digest.update(f"{module}\0{code(_source(module))}\0".encode())
    return digest.hexdigest()[:16]


def distribution_of(package: str) -> str | None:
    """Name the distribution that a top-level package was installed from, if it was."""
    return min(_distributions().get(package, []), default=None)


def code(source: str) -> str:
    r"""Reduce a module's source to what is executed.

    Every Python version that the project supports gives the same text.

    Examples
    --------
    >>> code("def f(x):  # doubles\n    '''Double.'''\n    return 2*x") == code(
    ...     "def f(x):\n    return 2 * x\n"
    ... )
    True
    """
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
            if not all(_is_text(word) for word in statement):
                kept += [*statement, _MARKS[token.type]]
            statement = []
    return "\0".join(kept)


def _is_text(word: str) -> bool:
    return word.lstrip("rRbBuU").startswith(("'", '"'))


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "".join([lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]])


def _reachable(module: str) -> set[str]:
    """Give the module and all that it imports from its own top-level package."""
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imports(name)
    return found


def _imports(module: str) -> set[str]:
    package = module.partition(".")[0]
    names = set()
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module)
            if base.partition(".")[0] == package:
                names |= {_defining(base, alias.name) for alias in node.names}
    return {name for name in names if name.partition(".")[0] == package and _path(name)}


def _absolute(node: ast.ImportFrom, module: str) -> str:
    parent = module if _is_package(module) else module.rpartition(".")[0]
    return importlib.util.resolve_name("." * node.level + (node.module or ""), parent)


def _defining(base: str, name: str) -> str:
    """Say which module ``from base import name`` means.

    A package's ``__init__`` that re-exports the name leads on to where it comes from, so that
    the other names that it re-exports do not count.
    """
    if _path(f"{base}.{name}"):
        return f"{base}.{name}"
    if _is_package(base):
        for node in ast.parse(_source(base)).body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if name == (alias.asname or alias.name):
                        return _defining(_absolute(node, base), alias.name)
    return base


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


def _source(module: str) -> str:
    with tokenize.open(_path(module)) as file:
        return file.read()


@functools.cache
def _distributions() -> dict[str, list[str]]:
    return importlib.metadata.packages_distributions()
