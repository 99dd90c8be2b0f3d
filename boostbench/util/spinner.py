"""Spinner on stderr during slow operations."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from boostbench.util.printable import printable

# Width of a progress bar, in characters.
_BAR_WIDTH = 30

# The spinner that is visible, or nothing.
_active_spinners: list = []


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
    if _active_spinners:  # with a status, older versions of rich hide that stderr is a terminal
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
