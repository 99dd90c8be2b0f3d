"""A sign of life at a terminal, where something takes more than a moment."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from boostbench.util.printable import printable

# Characters of a bar.
_BAR_WIDTH = 30

# The spinner that is to be seen, if there is one.
_active_spinners: list = []


@contextmanager
def spinner(text: str) -> Iterator[Callable[..., None]]:
    """Show on stderr what is going on, as long as it does; nothing where that is no terminal.

    What is nested takes over the line until it is done. Nothing else is to be printed meanwhile but
    complaints.

    Parameters
    ----------
    text : str
        In a word or two.

    Yields
    ------
    callable
        Takes what is going on from now on, and perhaps the ``share`` of it that is done: a number
        from 0 to 1, which is shown as a bar.
    """
    if _active_spinners:  # older versions of rich hide then that stderr is a terminal
        spinner = _active_spinners[-1]
        outer_text = spinner.text
        spinner.update(text=printable(text))
        try:
            yield lambda text, share=None: spinner.update(text=_add_progress_bar(text, share))
        finally:
            spinner.update(text=outer_text)
        return
    if not sys.stderr.isatty():
        yield lambda text, share=None: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    spinner = Spinner("dots", printable(text))
    _active_spinners.append(spinner)
    try:
        with Live(spinner, console=Console(stderr=True), transient=True):
            yield lambda text, share=None: spinner.update(text=_add_progress_bar(text, share))
    finally:
        _active_spinners.pop()


def _add_progress_bar(text: str, share: float | None):
    """Put a bar behind a text; without a share, the text alone."""
    text = printable(text)
    if share is None:
        return text
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    line = Table.grid(padding=(0, 1))
    line.add_row(text, ProgressBar(total=1.0, completed=share, width=_BAR_WIDTH))
    return line
