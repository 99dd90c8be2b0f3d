"""Lines and grids on a terminal, in one look."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from rich import box
from rich.table import Table as Grid

#: Spaces between columns.
GAP = 2


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
