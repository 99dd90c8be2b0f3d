"""Numbers of tables as bars: a group of them for each row, a panel for each set of columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from boostbench.analysis.cells import Cell
from boostbench.analysis.tables import Table
from boostbench.config.fields import check_names
from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing, name_axis
from boostbench.figures.style import COLOURS, label, make_panels, style
from boostbench.figures.tables import stale_cells, tables_of_figure
from boostbench.util.errors import UserError

_PANEL_HEIGHT = 1.5  # inches
_LEGEND = 0.3  # inches
_GROUP = 0.8  # part of a row's width that its bars take
_STEP = 10  # axes begin at a multiple of it

#: The cells of a panel: by the title of a row and of a column.
Groups = Mapping[str, Mapping[str, Cell]]


def draw_bars(panels: Mapping[str, Groups]) -> Figure:
    """Draw a bar for each mean, with its standard deviation, and a line at the published number.

    Bars of equal titles have one colour. The panels share an axis that begins below all bars.

    Parameters
    ----------
    panels : mapping
        Cells by panel, row and column; those without records have no bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    cells = [c for groups in panels.values() for bars in groups.values() for c in bars.values()]
    titles = dict.fromkeys(
        title for groups in panels.values() for bars in groups.values() for title in bars
    )
    colours = {title: COLOURS[index % len(COLOURS)] for index, title in enumerate(titles)}
    least = min(number for cell in cells if cell.values for number in _numbers(cell))
    with style():
        size = {"height": _PANEL_HEIGHT, "more": _LEGEND, "pad": 0.03}
        figure, grid, _ = make_panels(len(panels), 1, **size, sharey=True)
        for axes, (title, groups) in zip(grid, panels.items(), strict=True):
            axes.set_title(label(title), pad=3)
            _draw(axes, groups, colours)
        grid[0].set_ylim(bottom=max(0, _STEP * floor(least / _STEP)))
        figure.supylabel(name_axis(cells[0].quantity), fontsize="medium")
        marks = [
            Line2D([], [], linestyle="none", marker="s", color=colour, label=label(title))
            for title, colour in colours.items()
        ]
        if any(cell.target for cell in cells):
            marks.append(Line2D([], [], color="black", linewidth=1.2, label="published"))
        figure.legend(handles=marks, loc="outside upper center", frameon=False, ncols=len(marks))
    return figure


def _draw(axes: Axes, groups: Groups, colours: Mapping[str, str]) -> None:
    places = np.arange(len(groups))
    titles = list(dict.fromkeys(title for bars in groups.values() for title in bars))
    width = _GROUP / len(titles)
    for index, title in enumerate(titles):
        offset = (index - (len(titles) - 1) / 2) * width
        for place, bars in zip(places + offset, groups.values(), strict=True):
            cell = bars.get(title)
            if cell is None or not cell.values:
                continue
            axes.bar(
                place,
                cell.mean,
                0.92 * width,
                yerr=cell.std if cell.std > 0 else None,  # NaN is not above 0
                color=colours[title],
                error_kw={"elinewidth": 0.6, "ecolor": "#444444"},
            )
            if cell.target:
                half = 0.46 * width
                axes.hlines(cell.target.mean, place - half, place + half, "black", linewidth=1.2)
    axes.set_xticks(places, [label(title.replace(" (", "\n(")) for title in groups])
    axes.set_xlim(-0.55, len(groups) - 0.45)
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y")


def _numbers(cell: Cell) -> list[float]:
    return [cell.mean, *([cell.target.mean] if cell.target else [])]


@dataclass(frozen=True)
class BarsPanel:
    """Some columns of a table, by their names, under a heading."""

    title: str
    table: str
    columns: list[str]


@dataclass(frozen=True, kw_only=True)
class BarChart(FigureDefinition):
    """Numbers of tables as bars.

    Attributes
    ----------
    panels : list of BarsPanel
        Pictures, one above the other.
    """

    panels: list[BarsPanel]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        if len({panel.title for panel in self.panels}) < len(self.panels):
            raise UserError(f"figure {self.name} has panels of one title; give each its own")
        names = list(dict.fromkeys(panel.table for panel in self.panels))
        made, results = tables_of_figure(self.name, names, overrides)
        tables = dict(zip(names, made, strict=True))
        panels = {panel.title: _groups(panel, tables[panel.table]) for panel in self.panels}
        cells = [c for groups in panels.values() for bars in groups.values() for c in bars.values()]
        if not any(cell.values for cell in cells):
            raise UserError(f"nothing is recorded of the tables of figure {self.name}")
        notes = [
            f"Not run as a whole: {cell.title} on {cell.data} ({cell.splits} splits)."
            for cell in cells
            if cell.missing or cell.failures
        ]
        notes += stale_cells(cell for table in made for cell in table.cells.values())
        return Drawing(draw_bars(panels), results, notes)


def _groups(panel: BarsPanel, table: Table) -> dict[str, dict[str, Cell]]:
    check_names(panel.columns, table.results, f"table {table.name} has no column")
    columns = {name: table.columns[name] for name in panel.columns}
    titles = {name: column.title for name, column in columns.items()}
    if len(set(titles.values())) < len(titles):
        # Under different groups, and after equal rounds, headings are alike.
        titles = {name: column.label for name, column in columns.items()}
    return {
        title: {titles[name]: table.cells[row, name] for name in panel.columns}
        for row, title in table.rows.items()
    }
