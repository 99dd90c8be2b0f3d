"""Published test errors against ours, each cell of the tables a point."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter
from scipy import stats

from boostbench.errors import UserError
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing
from boostbench.figures.style import COLOURS, PAGE_WIDTH, style
from boostbench.figures.tables import read, stale_of
from boostbench.report.cells import Cell
from boostbench.report.overview import by_table, headline, in_order
from boostbench.report.papers import title
from boostbench.report.tables import Table
from boostbench.report.verdicts import COMPARED, counts

_DPI = 250
_COLUMNS = 3
_PANEL = 3.4  # inches, at most

#: Marker, colour and size of each verdict. The triangles point to the side of the diagonal on which
#: they are.
_LOOKS = {
    "reproduced": {"marker": "o", "color": COLOURS[0], "markersize": 2.8},
    "better": {"marker": "v", "color": COLOURS[2], "markersize": 4.0},
    "worse": {"marker": "^", "color": COLOURS[4], "markersize": 4.0},
}
_TICKS = (0, 1, 2, 5, 10, 20, 50, 100)


def draw_scatter(tables: Sequence[Table]) -> Figure:
    """Draw a panel for each paper: published mean test errors and ours, with their 95% intervals.

    The axes are linear up to 1% and logarithmic above.

    Parameters
    ----------
    tables : sequence of Table
        Tables of papers; cells without a published number or one of ours are not drawn.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        No cell has both numbers.
    """
    papers: dict[str, list[Cell]] = {}
    for table in tables:
        cells = [cell for cell in table.cells.values() if cell.agreement]
        if table.paper and cells:
            papers.setdefault(table.paper, []).extend(cells)
    if not papers:
        raise ValueError("no cell has a published number and one of ours")
    n_columns = min(_COLUMNS, len(papers))
    n_rows = ceil(len(papers) / n_columns)
    side = min(_PANEL, PAGE_WIDTH / n_columns)
    with style():
        size = (side * n_columns, side * n_rows)
        figure = Figure(figsize=size, dpi=_DPI, layout="constrained")
        grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        limit = 1.2 * max(_highest(cell) for cells in papers.values() for cell in cells)
        for axes, (paper, cells) in zip(grid, papers.items(), strict=False):
            axes.set_title(title(paper), pad=3)
            _draw(axes, cells, limit)
        for axes in grid[len(papers) :]:
            axes.set_axis_off()
        figure.supxlabel("published test error (%)", fontsize="medium")
        figure.supylabel("our test error (%)", fontsize="medium")
    return figure


def _draw(axes: Axes, cells: Sequence[Cell], limit: float) -> None:
    axes.plot([0, 100], [0, 100], color="#888888", linewidth=0.7, zorder=0)
    for verdict, look in _LOOKS.items():
        own = [cell for cell in cells if cell.verdict == verdict]
        axes.errorbar(
            [cell.target.mean for cell in own],
            [cell.mean for cell in own],
            xerr=[_half(cell.target.std, cell.target.n) for cell in own],
            yerr=[_half(cell.std, len(cell.values)) for cell in own],
            linestyle="none",
            elinewidth=0.4,
            ecolor="#bbbbbb",
            markeredgewidth=0.3,
            markeredgecolor="white",
            label=f"{verdict} ({len(own)})",
            **look,
        )
    for scale, set_limits in ((axes.set_xscale, axes.set_xlim), (axes.set_yscale, axes.set_ylim)):
        scale("symlog", linthresh=1, linscale=0.5)
        set_limits(-0.15, limit)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator(_TICKS))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_locator(NullLocator())
    axes.set_box_aspect(1)
    axes.set_axisbelow(True)
    axes.grid()
    axes.legend(loc="best", handlelength=1, labelspacing=0.4, framealpha=0.9, edgecolor="none")


def _half(std: float, n: int) -> float:
    """Half of the 95% interval of a mean; 0 where it is not known."""
    return stats.t.ppf(0.975, n - 1) * std / np.sqrt(n) if n > 1 and np.isfinite(std) else 0.0


def _highest(cell: Cell) -> float:
    return max(cell.mean, cell.target.mean)


_COUNTED = ["table", "compared", *COMPARED]


@dataclass(frozen=True, kw_only=True)
class Scatter(FigureDefinition):
    """Published test errors against ours.

    Attributes
    ----------
    tables : list of str
        The tables whose numbers are drawn.
    """

    tables: list[str]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        tables, results = read(self.name, self.tables, overrides)
        told = counts(tables)
        if not told.total.compared:
            raise UserError(f"nothing is recorded of the tables of figure {self.name}")
        facts = []
        for line in by_table(told, in_order(tables)):
            if line.tally.compared:
                counted = [line.tally.compared, *(line.tally[verdict] for verdict in COMPARED)]
                facts.append([f"{line.title}: {line.about}".rstrip(": "), *map(str, counted)])
        notes = [headline(told.total), *stale_of(tables)]
        return Drawing(draw_scatter(tables), results, notes, facts, _COUNTED)
