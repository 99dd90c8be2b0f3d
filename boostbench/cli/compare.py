"""``boostbench compare``: two or more algorithms on all data sets on which they meet."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from boostbench.definitions.meeting import tables_with
from boostbench.definitions.recorded import read_tables
from boostbench.definitions.words import split_words
from boostbench.errors import UserError
from boostbench.figures.drawing import need_matplotlib
from boostbench.report.comparison import Comparison, compare_columns
from boostbench.report.merge import merge
from boostbench.report.tables import Table
from boostbench.report.writers.comparison_json import to_json
from boostbench.report.writers.comparison_terminal import print_comparison

#: Endings that a figure's file may be given with.
_ENDINGS = {"", ".png", ".svg"}


def compare(
    words: Sequence[str],
    tables: Sequence[str] = (),
    data: Sequence[str] = (),
    as_json: bool = False,
    figure: str | None = None,
) -> int:
    """Compare algorithms by what is recorded, and tell which differences are significant.

    Parameters
    ----------
    words : sequence of str
        Columns of tables, two or more; and perhaps ``results=DIR``, the folder of records.
    tables : sequence of str, default=()
        Tables to take numbers from, the first that has them; by default all that hold all of the
        algorithms.
    data : sequence of str, default=()
        Names of rows; by default all, without second versions of the same data.
    as_json : bool, default=False
        Print JSON instead of sentences and tables.
    figure : str, default=None
        File for the critical-difference diagram, which is written as PNG and SVG; ``""`` for one
        under ``results/figures``.

    Returns
    -------
    int
        0.

    Raises
    ------
    UserError
        For what the user can put right; nothing was written then.
    """
    names, results = split_words("compare", words)
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise UserError("compare needs two algorithms or more, each once, such as 'a b'")
    if figure is not None:
        _check_figure(figure, names)
    found = read_tables(tables_with(names, tables, data), results)
    table, sources = merge(found, names, data)
    comparison = compare_columns(table)
    if as_json:
        print(to_json(table, sources, comparison))
    else:
        print_comparison(Console(), table, comparison)
    if figure is not None:
        own = results / "figures" / _slug([*names, *tables, *data])
        written = _draw(table, comparison, Path(figure).with_suffix("") if figure else own)
        told = sys.stderr if as_json else sys.stdout
        print(f"\nwritten: {', '.join(map(str, written))}", file=told)
    return 0


def _check_figure(figure: str, names: Sequence[str]) -> None:
    if Path(figure).suffix not in _ENDINGS:
        raise UserError(f"a figure is a .png or .svg file, not {figure!r}; --figure stands last")
    if len(names) < 3:
        raise UserError("the figure shows average ranks: it needs three algorithms or more")
    need_matplotlib()


def _slug(words: Sequence[str]) -> str:
    return re.sub(r"[^\w.@=,-]+", "_", "-".join(["compare", *words]))


def _draw(table: Table, comparison: Comparison, path: Path) -> list[Path]:
    if comparison.friedman is None:
        raise UserError("nothing to draw: fewer than two data sets have a number of each algorithm")
    from boostbench.figures.ranks import draw_critical_difference
    from boostbench.figures.style import save

    description = comparison.friedman.sentence(comparison.pairs.unit)
    return save(draw_critical_difference(table), path, f"Ranks of {table.title}", description)
