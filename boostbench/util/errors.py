"""Errors that a user can correct, near matches of names, and the output of error messages.

A command raises `UserError`, and the command line prints it by `print_error`.
"""

import difflib
import itertools
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence

from boostbench.util.terminal import echo, printable, shortened

#: Largest number of characters of the names that a message lists: about a line of a terminal.
_MAX_LISTED_CHARACTERS = 90


class UserError(Exception):
    """Error that the user can correct.

    The message is one line with the fault and advice; several faults that a user corrects together
    have a line each. The command line prints it on stderr, without a traceback, and exits with
    code 2.
    """

    def __str__(self) -> str:
        # Several faults become one line; a first line that ends with a colon introduces the others.
        return "; ".join(map(str, self.args)).replace(":; ", ": ")


class Terminated(KeyboardInterrupt):
    """Interrupt by SIGTERM: a run stops as on Ctrl-C, with exit code 143."""


def first_line(message: object) -> str:
    r"""Return the first line of the message of an exception or a warning.

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
    kind: str, name: str, valid_names: Iterable[str], is_listed: bool = True
) -> UserError:
    """Return the error for an unknown name, with its near matches.

    Parameters
    ----------
    kind : str
        Kind of object that the name should denote, e.g. ``"algorithm"``.
    name : str
        Name that the user wrote.
    valid_names : iterable of str
        Existing names.
    is_listed : bool, default=True
        Whether ``boostbench list`` shows the valid names, so that the message refers to it.

    Returns
    -------
    UserError
        Exception for the caller to raise.

    Examples
    --------
    >>> str(unknown_name_error("data set", "vowle", ["glass", "vowel", "wine"]))
    "unknown data set 'vowle'; did you mean vowel? ('boostbench list' shows all 3)"
    """
    valid_names = sorted(valid_names)
    if not is_listed:
        return UserError(f"unknown {kind} {name!r}; {did_you_mean(name, valid_names)}")
    near = _closest_names(name, valid_names)
    advice = f"did you mean {', '.join(near)}?" if near else "no name is near it"
    return UserError(
        f"unknown {kind} {name!r}; {advice} ('boostbench list' shows all {len(valid_names)})"
    )


def invalid_folder_error(results: object) -> UserError:
    """Return the error for a value of ``results`` that is not the name of a folder."""
    return UserError(f"results is {results!r}; it must be text, the name of a folder")


def truncated_list(names: Sequence[str], max_names: int = 5) -> str:
    """Return the first names of a list, and the number of the others.

    Examples
    --------
    >>> truncated_list(["a", "b", "c"], max_names=2)
    'a, b and 1 more'
    """
    rest = f" and {len(names) - max_names} more" if len(names) > max_names else ""
    return ", ".join(names[:max_names]) + rest


def join_words(words: Sequence[str], conjunction: str = "and") -> str:
    """Return words joined as in a sentence.

    Examples
    --------
    >>> join_words(["a", "b", "c"]), join_words(["a"])
    ('a, b and c', 'a')
    """
    *before, last = words
    return f"{', '.join(before)} {conjunction} {last}" if before else last


def did_you_mean(word: str, valid_names: Iterable[str]) -> str:
    """Return advice for an unknown word: its near matches, or all known words.

    Examples
    --------
    >>> did_you_mean("stratifed", ["stratified", "plain"])
    'did you mean stratified?'
    >>> did_you_mean("loo", ["stratified", "plain"])
    'there are: stratified, plain'
    """
    valid_names = list(valid_names)
    near = _closest_names(str(word), valid_names)
    if near:
        return f"did you mean {', '.join(near)}?"
    # Each name takes two further characters, for a comma and a blank.
    lengths = itertools.accumulate(len(name) + 2 for name in valid_names)
    shown_names = [
        name
        for name, length in zip(valid_names, lengths, strict=True)
        if length <= _MAX_LISTED_CHARACTERS
    ]
    n_hidden = len(valid_names) - len(shown_names)
    return f"there are: {', '.join(shown_names)}{f' and {n_hidden} more' if n_hidden else ''}"


def _closest_names(word: str, valid_names: Iterable[str]) -> list[str]:
    """Return up to three names that resemble a word, the most similar one first."""
    return difflib.get_close_matches(word, valid_names, n=3, cutoff=0.5)


def os_error_reason(error: OSError) -> str:
    """Return the reason of a failure of the system, without its number.

    Examples
    --------
    >>> os_error_reason(OSError(28, "No space left on device"))
    'No space left on device'
    >>> os_error_reason(OSError("no such folder"))
    'no such folder'
    """
    return error.strerror or first_line(error)


def is_debugging() -> bool:
    """Return whether the user asked for tracebacks."""
    return os.environ.get("BOOSTBENCH_DEBUG") == "1"


def print_error(problem: object) -> None:
    """Print an error on stderr, a line for each fault; a terminal gets breaks between words."""
    lines = problem.args if isinstance(problem, UserError) else [problem]
    for number, text in enumerate(lines):
        is_first = number == 0
        indent = "" if is_first else "  "
        # Names from the user may contain line breaks.
        text = printable(" ".join(str(text).split()))
        line = shortened(f"boostbench: {text}" if is_first else f"{indent}{text}")
        # A command, which stands on a line of its own, is left whole, so that it can be copied.
        is_command = not is_first and text.startswith("boostbench ")
        if sys.stderr.isatty() and not is_command:
            width = shutil.get_terminal_size().columns
            line = textwrap.fill(
                line,
                width,
                subsequent_indent=2 * indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        echo(line, file=sys.stderr)
