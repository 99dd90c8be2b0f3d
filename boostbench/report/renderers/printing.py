"""Lines and grids on a terminal, in one look."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from rich import box
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment
from rich.table import Table as Grid

from boostbench.util.printable import printable

#: Spaces between columns.
GAP = 2


def make_console(**options) -> Console:
    """Make a console that prints texts as they are; `options` are others of `rich`.

    Titles and paths are a user's: brackets and colons in them are no markup and no pictures, and
    numbers have no colours. Control characters are escaped.
    """
    console = Console(markup=False, emoji=False, highlight=False, **options)
    console.push_render_hook(_EscapeControls())
    return console


class _EscapeControls(RenderHook):
    """Hook of a console that escapes control characters in texts, not in the console's commands."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return list(map(_Escaped, renderables))


class _Escaped:
    """Renderable that prints another one with its control characters escaped."""

    def __init__(self, renderable: ConsoleRenderable):
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, control in console.render(self._renderable, options):
            yield Segment(text if control else printable(text), style, control)


def make_grid(header: Sequence[str], left: int = 1, gap: int = GAP) -> Grid:
    """Make a grid of columns under a rule.

    Parameters
    ----------
    header : sequence of str
        Headings, perhaps of several lines.
    left : int, default=1
        How many columns are set flush left; the others are flush right.
    gap : int, default=2
        Spaces between columns.

    Returns
    -------
    rich.table.Table
        Without rows.
    """
    # The box itself draws columns of spaces one wide.
    padding = (0, gap - 1, 0, 0)
    grid = Grid(box=box.SIMPLE_HEAD, padding=padding, pad_edge=False, show_edge=False)
    for index, title in enumerate(header):
        justify = "left" if index < left else "right"
        grid.add_column(title, justify=justify, overflow="fold", vertical="bottom")
    return grid


def named(paths: Iterable[Path]) -> str:
    """Name files shortly: endings alone, where others of the same name come before.

    Examples
    --------
    >>> named(map(Path, ["a/b.1.png", "a/b.1.svg", "a/c.png", "a/c.svg"]))
    'a/b.1.png, .svg; a/c.png, .svg'
    """
    by_stem = groupby(paths, key=lambda path: path.with_suffix(""))
    groups = ((next(files), files) for _, files in by_stem)
    return "; ".join(
        ", ".join([str(first), *(path.suffix for path in others)]) for first, others in groups
    )
