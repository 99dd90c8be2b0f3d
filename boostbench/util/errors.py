"""What a user's mistake raises, near matches, and how problems are printed."""

import difflib
import itertools
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from boostbench.util.atomic_write import check_folders
from boostbench.util.printable import echo, printable, shortened

#: What to do where results cannot be written.
RESULTS_ELSEWHERE = "choose another folder by results="

#: How many characters of names a message lists at most.
_LISTED = 90


class UserError(Exception):
    """Something that the user can put right.

    The message is one line that says what is wrong and what to do. The command line prints it on
    stderr, without a traceback, and exits with code 2.
    """


class Terminated(KeyboardInterrupt):
    """SIGTERM: a run stops as on Ctrl-C, but the exit code is 143."""


def first_line(message: object) -> str:
    r"""Give the first line of an exception or a warning, whatever its text is like.

    Examples
    --------
    >>> first_line(ValueError("no \udcff here\nsecond line"))
    'no \\udcff here'
    """
    try:
        text = str(message)
    except Exception as error:
        text = f"its message raises {type(error).__name__}"
    text = text.strip().partition("\n")[0] or type(message).__name__
    return text.encode(errors="backslashreplace").decode()


def unknown_name_error(
    kind: str, name: str, known: Iterable[str], listed: bool = True
) -> UserError:
    """Make the error for a name that does not exist, with the near matches.

    Parameters
    ----------
    kind : str
        What the name was taken for, e.g. ``"algorithm"``.
    name : str
        The name as the user wrote it.
    known : iterable of str
        The names that exist.
    listed : bool, default=True
        Whether ``boostbench list`` shows them.

    Returns
    -------
    UserError
        The exception, to be raised by the caller.

    Examples
    --------
    >>> str(unknown_name_error("data set", "vowle", ["glass", "vowel", "wine"]))
    "unknown data set 'vowle'; did you mean vowel? ('boostbench list' shows all 3)"
    """
    known = sorted(known)
    if not listed:
        return UserError(f"unknown {kind} {name!r}; {did_you_mean(name, known)}")
    near = _near(name, known)
    advice = f"did you mean {', '.join(near)}?" if near else "no name is near it"
    return UserError(
        f"unknown {kind} {name!r}; {advice} ('boostbench list' shows all {len(known)})"
    )


def invalid_folder_error(results: object) -> UserError:
    """Make the error for a value of ``results`` that names no folder."""
    return UserError(f"results is {results!r}; it must be text, the name of a folder")


def truncated_list(names: Sequence[str], max_names: int = 5) -> str:
    """Name the first of several, and say how many more there are.

    Examples
    --------
    >>> truncated_list(["a", "b", "c"], max_names=2)
    'a, b and 1 more'
    """
    rest = f" and {len(names) - max_names} more" if len(names) > max_names else ""
    return ", ".join(names[:max_names]) + rest


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Name what is near a word, or all there is.

    Examples
    --------
    >>> did_you_mean("stratifed", ["stratified", "plain"])
    'did you mean stratified?'
    >>> did_you_mean("loo", ["stratified", "plain"])
    'there are: stratified, plain'
    """
    known = list(known)
    near = _near(str(word), known)
    if near:
        return f"did you mean {', '.join(near)}?"
    lengths = itertools.accumulate(len(name) + 2 for name in known)
    listed = [name for name, length in zip(known, lengths, strict=True) if length <= _LISTED]
    n_hidden = len(known) - len(listed)
    return f"there are: {', '.join(listed)}{f' and {n_hidden} more' if n_hidden else ''}"


def _near(word: str, known: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(word, known, n=3, cutoff=0.5)


def os_error_reason(error: OSError) -> str:
    """Say why the system, or a library in its name, did not read or write.

    Examples
    --------
    >>> os_error_reason(OSError(28, "No space left on device"))
    'No space left on device'
    >>> os_error_reason(OSError("no such folder"))
    'no such folder'
    """
    return error.strerror or first_line(error)


@contextmanager
def writing_to(
    path: Path, remedy: str = RESULTS_ELSEWHERE, what: str = "", depth: int = 0
) -> Iterator[None]:
    """Make the folder of a file that is written inside; tell why where that fails.

    Parameters
    ----------
    path : Path
        The file, or what its name and its likes' begin with.
    remedy : str, default=RESULTS_ELSEWHERE
        What the user can do about it.
    what : str, default=""
        What is written, for the message: ``"records to "``. Nothing, where the name says it.
    depth : int, default=0
        Number of the file's folders that must not be links, see
        `boostbench.util.atomic_write.check_folders`.

    Raises
    ------
    UserError
        If the folder or the file cannot be written.
    """
    try:
        check_folders(path, depth)
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UserError(f"cannot write {what}{path}: {os_error_reason(error)}; {remedy}") from error


def is_debugging() -> bool:
    """Whether the user asked for tracebacks."""
    # While Hydra runs, its variable is always set; ours then says what the user wanted.
    hydra = os.environ.get("HYDRA_FULL_ERROR")
    return os.environ.get("BOOSTBENCH_DEBUG", hydra) == "1"


def print_error(problem: object) -> None:
    """Print one line on stderr; at a terminal it breaks between words."""
    # Names of a user may hold line ends.
    line = shortened(f"boostbench: {printable(' '.join(str(problem).split()))}")
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
    echo(line, file=sys.stderr)
