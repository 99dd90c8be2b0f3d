"""Text for terminals: escaped control characters, a console of rich, and a spinner."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

# All control characters but tab and line feed: ESC begins a command to the terminal, and so does
# the C1 character CSI. Line and paragraph separators, and marks that change the direction of text,
# would make a line look like another one. Lone surrogates, in names of files, have no UTF-8.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
#: Largest number of characters of a message; a cell of a file may have a hundred million.
MAX_LENGTH = 2000


def printable(text: str) -> str:
    r"""Return a text with its control characters escaped, as in JSON.

    Examples
    --------
    >>> printable("\x1b[31mred\x9b0m \u202egnp.exe")
    '\\u001b[31mred\\u009b0m \\u202egnp.exe'
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shortened(text: str, length: int = MAX_LENGTH) -> str:
    """Return a text without its middle if it is too long.

    Examples
    --------
    >>> shortened("file.csv:2: " + 50 * "x" + " is no number", length=40)
    'file.csv:2: xxxxxxxx [35 characters] xxxxxxx is no number'
    """
    if len(text) <= length:
        return text
    half = length // 2
    return f"{text[:half]} [{len(text) - 2 * half} characters] {text[-half:]}"


def truncated_repr(value: object) -> str:
    """Return the representation of a value, cut after 40 characters.

    Examples
    --------
    >>> truncated_repr(list(range(100)))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11...'
    """
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def echo(text: object = "", file: TextIO | None = None) -> None:
    """Print a text with its control characters escaped; use this for all plain text."""
    print(printable(str(text)), file=file)


def escape_formula(value):
    """Return a value, with an apostrophe before a text that a spreadsheet takes for a formula."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@"))
    return f"'{value}" if is_formula else value


def make_console(**options) -> "Console":
    """Return a console without markup, emoji and highlighting; `options` belong to `Console`.

    Titles and paths come from the user: their brackets and colons are neither markup nor emoji.
    Control characters are escaped.
    """
    from rich.console import Console  # slow to import

    console = Console(markup=False, emoji=False, highlight=False, **options)
    console.push_render_hook(_EscapeControls())
    return console


class _EscapeControls:
    """Hook of a console that escapes control characters in texts, not in its own commands."""

    def process_renderables(self, renderables: list) -> list:
        """Return the objects that rich prints, each with escaped text; rich calls this method."""
        return list(map(_Escaped, renderables))


class _Escaped:
    """Renderable that prints another one with its control characters escaped."""

    def __init__(self, renderable):
        self._renderable = renderable

    def __rich_console__(self, console: "Console", options) -> Iterator:
        from rich.segment import Segment

        segments = list(console.render(self._renderable, options))
        if "".join(map(itemgetter(0), segments)).replace("\n", "").isprintable():
            return segments
        # A segment with control codes is a command of rich itself, such as a cursor movement.
        return [
            Segment(text if control else printable(text), style, control)
            for text, style, control in segments
        ]


#: Width of a progress bar, in characters.
_BAR_WIDTH = 30

#: Status of rich that shows the visible spinner, as the only entry; empty if there is none.
_active_spinners: list["Status"] = []


@contextmanager
def spinner(text: str) -> Iterator[Callable[..., None]]:
    """Show a spinner with a text on stderr while a block runs, if stderr is a terminal.

    A nested spinner replaces the text until its block ends. The block may print warnings and
    errors, and nothing else.

    Parameters
    ----------
    text : str
        The activity, in a word or two.

    Yields
    ------
    callable
        Replaces the text. Its optional argument ``share``, the finished part of the work from 0 to
        1, is shown as a progress bar.
    """
    # While a status is shown, older versions of rich hide that stderr is a terminal. Therefore this
    # case comes first.
    if _active_spinners:
        status = _active_spinners[-1]
        outer_text = status.status
        status.update(printable(text))
        try:
            yield lambda text, share=None: status.update(_add_progress_bar(text, share))
        finally:
            status.update(outer_text)
        return
    if not sys.stderr.isatty():
        yield lambda text, share=None: None
        return
    from rich.console import Console
    from rich.status import Status

    with Status(printable(text), console=Console(stderr=True)) as status:
        _active_spinners.append(status)
        try:
            yield lambda text, share=None: status.update(_add_progress_bar(text, share))
        finally:
            _active_spinners.pop()


def _add_progress_bar(text: str, share: float | None):
    """Return a text with a progress bar behind it; without a share, the text alone."""
    text = printable(text)
    if share is None:
        return text
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    line = Table.grid(padding=(0, 1))
    line.add_row(text, ProgressBar(total=1.0, completed=share, width=_BAR_WIDTH))
    return line
