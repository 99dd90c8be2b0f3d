"""Scatter plots of published numbers against ours: a point for each published number."""

from collections import defaultdict
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from boostbench.analysis.cells import Cell, unique_by_number
from boostbench.analysis.result_table import Table
from boostbench.analysis.verdicts import COMPARED, VERDICTS, count_tables
from boostbench.figures.definition import Drawing, FigureDefinition, axis_label
from boostbench.figures.panels import draw_panels
from boostbench.figures.sources import read_figure_tables, stale_cells
from boostbench.figures.style import PAGE_WIDTH, plain_ticks, style
from boostbench.fitting.quantities import QUANTITIES, TEST_ERROR, Quantity
from boostbench.papers.metadata import paper_title
from boostbench.report.overview import (
    counting_sentences,
    counts_paragraph,
    sort_by_paper,
    table_lines,
)
from boostbench.util.errors import UserError

_DPI = 250  # dots per inch; hundreds of points overlap at fewer
_COLUMNS = 3  # panels in a row
_MAX_SIDE = 3.4  # inches, of a square panel
_TITLE_HEIGHT = 0.15  # inches above a panel

#: Sizes of the markers by verdict, in points.
_SIZES = {"reproduced": 2.8, "better": 4.0, "worse": 4.0, "undecided": 2.8}
_TICKS = (0, 1, 2, 5, 10, 20, 50, 100)  # percent, of test errors


class _Panel(NamedTuple):
    """A panel: the name of a paper, a quantity, and the cells whose numbers are drawn."""

    paper: str
    quantity: Quantity
    cells: list[Cell]


def draw_scatter(tables: Sequence[Table]) -> Figure:
    """Draw a panel for each paper: published means and ours, with their 95% intervals.

    Axes of test errors are linear up to 1% and logarithmic above.

    Parameters
    ----------
    tables : sequence of Table
        Tables of papers; cells are drawn that have a published number and ours.

    Raises
    ------
    UserError
        No cell has both numbers.
    """
    # 1) Make the panels; their titles name the quantity if there are several.
    panels = _make_panels(tables)
    if not panels:
        raise UserError("nothing that is recorded can be set beside a published number")
    quantities = {panel.quantity for panel in panels}
    titles = [
        f"{paper_title(panel.paper)}, {axis_label(panel.quantity)}"
        if len(quantities) > 1
        else paper_title(panel.paper)
        for panel in panels
    ]
    # 2) Draw the points.
    frame = pd.concat(map(_panel_frame, titles, panels))
    n_columns = min(_COLUMNS, len(panels))
    side = min(_MAX_SIDE, PAGE_WIDTH / n_columns)
    noun = axis_label(*quantities) if len(quantities) == 1 else "number"
    figure, grid = draw_panels(
        frame,
        _draw_numbers,
        panels=titles,
        hues=[""],
        n_columns=n_columns,
        height=side + _TITLE_HEIGHT,
        width=side * n_columns,
        x_label=f"published {noun}",
        y_label=f"our {noun}",
        legend="none",
        grid_lines="both",
        pad=None,
        dpi=_DPI,
    )
    # 3) Add a legend to each panel, and scale its axes.
    with style():
        for axes, panel in zip(grid, panels, strict=True):
            axes.set_box_aspect(1)
            axes.legend(
                loc="best", handlelength=1, labelspacing=0.4, framealpha=0.9, edgecolor="none"
            )
            # Panels of one quantity have the same limits.
            is_alike = frame.quantity == panel.quantity.name
            _scale_axes(axes, panel.quantity, [*frame.x[is_alike], *frame.y[is_alike]])
    return figure


def _panel_frame(title: str, panel: _Panel) -> pd.DataFrame:
    """Return the points of a panel: published numbers (x), ours (y), and halves of intervals."""
    cells = panel.cells
    return pd.DataFrame(
        {
            "panel": title,
            "hue": "",
            "quantity": panel.quantity.name,
            "verdict": [cell.verdict for cell in cells],
            "x": [cell.target.mean for cell in cells],
            "y": [cell.mean for cell in cells],
            "error": [_half_interval(cell.std, len(cell.numbers)) for cell in cells],
            "x_error": [_half_interval(cell.target.std, cell.target.n) for cell in cells],
            "sign": [cell.quantity.sign for cell in cells],
        }
    )


def _make_panels(tables: Sequence[Table]) -> list[_Panel]:
    """Return a panel for each paper and quantity; each published number is drawn once."""
    cells_of_paper = defaultdict(list)
    for table in tables:
        if table.paper:
            cells_of_paper[table.paper] += table.cells.values()
    drawn_cells = defaultdict(list)
    for paper, cells in cells_of_paper.items():
        for cell in unique_by_number(cells):
            if cell.agreement:
                # The quantity of a cell has the digits of its table, which may differ.
                drawn_cells[paper, QUANTITIES[cell.quantity.name]].append(cell)
    return [_Panel(paper, quantity, cells) for (paper, quantity), cells in drawn_cells.items()]


def _draw_numbers(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
    """Draw published numbers and ours by verdict; the legend also names verdicts without numbers.

    Triangles point to the side of the diagonal on which they are. A better number of ours is below
    the diagonal if lower numbers are better, as of errors; else it is above.
    """
    is_better_below = data.sign.iloc[0] > 0
    markers = {"reproduced": "o", "undecided": "s"}
    markers |= dict(zip(("better", "worse"), "v^" if is_better_below else "^v", strict=True))
    for verdict in COMPARED:
        numbers = data[data.verdict == verdict]
        axes.errorbar(
            numbers.x,
            numbers.y,
            xerr=numbers.x_error,
            yerr=numbers.error,
            linestyle="none",
            elinewidth=0.4,
            ecolor="#bbbbbb",
            markeredgewidth=0.3,
            markeredgecolor="white",
            label=f"{verdict} ({len(numbers)})",
            marker=markers[verdict],
            color=VERDICTS[verdict].colour,
            markersize=_SIZES[verdict],
        )


def _scale_axes(axes: Axes, quantity: Quantity, numbers: Sequence[float]) -> None:
    """Give both axes one scale, with room for all `numbers`, and draw the diagonal."""
    if quantity == TEST_ERROR:
        for scale in (axes.set_xscale, axes.set_yscale):
            scale("symlog", linthresh=1, linscale=0.5)
        limits = (-0.15, 1.2 * max(numbers))
        for axis in (axes.xaxis, axes.yaxis):
            plain_ticks(axis, _TICKS)
    else:
        room = 0.05 * (max(numbers) - min(numbers)) or 1.0
        limits = (min(numbers) - room, max(numbers) + room)
    # Our number equals the published number on the diagonal.
    axes.plot(limits, limits, color="#888888", linewidth=0.7, zorder=0)
    axes.set(xlim=limits, ylim=limits)


def _half_interval(std: float, n: int) -> float:
    """Return half of the 95% interval of a mean; 0 where it is unknown."""
    return stats.t.ppf(0.975, n - 1) * std / np.sqrt(n) if n > 1 and np.isfinite(std) else 0.0


_HEADER = ["table", "compared", *COMPARED]


class Scatter(FigureDefinition, frozen=True, kw_only=True):
    """Figure of published numbers against ours.

    Attributes
    ----------
    tables : list of str
        Names of the tables whose numbers are drawn.
    """

    kind: ClassVar[str] = "scatter"

    tables: list[str]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        tables, results = read_figure_tables(self.name, self.tables, overrides)
        totals = count_tables(tables)
        table_rows = []
        for line in table_lines(totals, sort_by_paper(tables)):
            if line.tally.compared:
                counted = [line.tally.count_text(verdict) for verdict in COMPARED]
                title = f"{line.title}: {line.subtitle}".rstrip(": ")
                table_rows.append([title, str(line.tally.compared), *counted])
        notes = [counts_paragraph(totals.total), counting_sentences(totals.total, tables)]
        notes += stale_cells(cell for table in tables for cell in table.cells.values())
        return Drawing(draw_scatter(tables), results, notes, table_rows, _HEADER)
