"""A sign of life at a terminal, where something takes more than a moment."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# The spinner that is to be seen, if there is one.
_shown: list = []


@contextmanager
def busy(what: str) -> Iterator[Callable[[str], None]]:
    """Show on stderr what is going on, as long as it does; nothing where that is no terminal.

    What is nested takes over the line until it is done. Nothing else is to be printed meanwhile but
    complaints.

    Parameters
    ----------
    what : str
        In a word or two.

    Yields
    ------
    callable
        Takes what is going on from now on.
    """
    if not sys.stderr.isatty():
        yield lambda what: None
        return
    if _shown:
        spinner = _shown[-1]
        before = spinner.text
        spinner.update(text=what)
        yield lambda what: spinner.update(text=what)
        spinner.update(text=before)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    spinner = Spinner("dots", what)
    _shown.append(spinner)
    try:
        with Live(spinner, console=Console(stderr=True), transient=True):
            yield lambda what: spinner.update(text=what)
    finally:
        _shown.pop()
