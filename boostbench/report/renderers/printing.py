"""Grids and file names in the common style of the terminal."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from rich import box
from rich.table import Table as Grid

#: Spaces between columns.
GAP = 2


def make_grid(header: Sequence[str], n_left: int = 1, gap: int = GAP) -> Grid:
    """Return an empty grid with headings above a rule.

    Parameters
    ----------
    header : sequence of str
        Headings of one or several lines.
    n_left : int, default=1
        Number of left-aligned columns; the others are right-aligned.
    gap : int, default=2
        Spaces between columns.

    Returns
    -------
    rich.table.Table
        Grid without rows.
    """
    # The box draws one space between columns itself.
    padding = (0, gap - 1, 0, 0)
    grid = Grid(box=box.SIMPLE_HEAD, padding=padding, pad_edge=False, show_edge=False)
    for index, title in enumerate(header):
        justify = "left" if index < n_left else "right"
        grid.add_column(title, justify=justify, overflow="fold", vertical="bottom")
    return grid


def short_names(paths: Iterable[Path]) -> str:
    """Return short names of files: consecutive files with one stem are joined by suffix.

    Examples
    --------
    >>> short_names(map(Path, ["a/b.1.png", "a/b.1.svg", "a/c.png", "a/c.svg"]))
    'a/b.1.png, .svg; a/c.png, .svg'
    """
    by_stem = groupby(paths, key=lambda path: path.with_suffix(""))
    groups = ((next(files), files) for _, files in by_stem)
    return "; ".join(
        ", ".join([str(first), *(path.suffix for path in files)]) for first, files in groups
    )
