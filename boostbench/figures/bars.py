"""Bars: numbers of tables in groups, and counted verdicts on top of each other."""

from collections.abc import Mapping, Sequence
from math import floor
from typing import ClassVar

import msgspec
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from boostbench.analysis.cells import Cell
from boostbench.analysis.tables import Table
from boostbench.analysis.verdicts import VERDICTS
from boostbench.figures.definition import Drawing, FigureDefinition, label_axis
from boostbench.figures.panels import Point, draw_panels, tidy
from boostbench.figures.sources import read_figure_tables, stale_cells
from boostbench.figures.style import COLOURS, label, style
from boostbench.report.overview import CountedLine
from boostbench.report.wording import format_splits
from boostbench.util.errors import UserError
from boostbench.util.validation import check_names

_PANEL_HEIGHT = 1.5  # inches
_LEGEND_HEIGHT = 0.3  # inches
_GROUP_WIDTH = 0.8  # part of a row's width that its bars take
_STEP = 10  # the axis begins at a multiple of it

#: The cells of a panel: by the title of a row and of a column.
Groups = Mapping[str, Mapping[str, Cell]]


def draw_bars(panels: Mapping[str, Groups]) -> Figure:
    """Draw a bar for each mean, with its standard deviation, and a line at the published number.

    Bars of equal titles have one colour. The panels share an axis that begins below all bars.

    Parameters
    ----------
    panels : mapping
        Cells by panel, row and column; cells without records have no bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    cells = [c for groups in panels.values() for bars in groups.values() for c in bars.values()]
    titles = list(
        dict.fromkeys(t for groups in panels.values() for bars in groups.values() for t in bars)
    )
    frame = tidy(
        Point(panel, title, place + offset, cell.mean, cell.std)
        for panel, groups in panels.items()
        for title, offset in _offsets(groups).items()
        for place, bars in enumerate(groups.values())
        if (cell := bars.get(title)) and cell.values
    )
    lowest = min(
        min(cell.mean, cell.target.mean) if cell.target else cell.mean
        for cell in cells
        if cell.values
    )

    def draw_group(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
        width = 0.92 * _GROUP_WIDTH / len(_offsets(panels[data.panel.iloc[0]]))
        axes.bar(
            data.x,
            data.y,
            width,
            yerr=data.error.where(data.error > 0),
            color=COLOURS[index % len(COLOURS)],
            error_kw={"elinewidth": 0.6, "ecolor": "#444444"},
        )

    figure, grid = draw_panels(
        frame,
        draw_group,
        panels=list(panels),
        hues=titles,
        n_columns=1,
        height=_PANEL_HEIGHT,
        y_label=label_axis(cells[0].quantity),
        legend="none",
        extra_height=_LEGEND_HEIGHT,
        sharey=True,
    )
    with style():
        for axes, groups in zip(grid, panels.values(), strict=True):
            _finish_bars(axes, groups)
        grid[0].set_ylim(bottom=max(0, _STEP * floor(lowest / _STEP)))
        marks = [
            Line2D(
                [],
                [],
                linestyle="none",
                marker="s",
                color=COLOURS[i % len(COLOURS)],
                label=label(t),
            )
            for i, t in enumerate(titles)
        ]
        if any(cell.target for cell in cells):
            marks.append(Line2D([], [], color="black", linewidth=1.2, label="published"))
        figure.legend(handles=marks, loc="outside upper center", frameon=False, ncols=len(marks))
    return figure


def _offsets(groups: Groups) -> dict[str, float]:
    """Return the place of each title's bar beside the centre of its group."""
    titles = list(dict.fromkeys(title for bars in groups.values() for title in bars))
    width = _GROUP_WIDTH / len(titles)
    return {title: (index - (len(titles) - 1) / 2) * width for index, title in enumerate(titles)}


def _finish_bars(axes: Axes, groups: Groups) -> None:
    """Draw the published numbers, and name the groups."""
    offsets = _offsets(groups)
    half = 0.46 * _GROUP_WIDTH / len(offsets)
    for place, bars in enumerate(groups.values()):
        for title, cell in bars.items():
            if cell.values and cell.target:
                centre = place + offsets[title]
                ends = (centre - half, centre + half)
                axes.hlines(cell.target.mean, *ends, "black", linewidth=1.2)
    axes.set_xticks(range(len(groups)), [label(title.replace(" (", "\n(")) for title in groups])
    axes.set_xlim(-0.55, len(groups) - 0.45)
    axes.tick_params(axis="x", length=0)


class BarsPanel(msgspec.Struct, frozen=True):
    """Columns of a table, by their names, under a heading."""

    title: str
    table: str
    columns: list[str]


class BarChart(FigureDefinition, frozen=True, kw_only=True):
    """Numbers of tables as bars.

    Attributes
    ----------
    panels : list of BarsPanel
        Pictures, one above the other.
    """

    kind: ClassVar[str] = "bars"

    panels: list[BarsPanel]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        if len({panel.title for panel in self.panels}) < len(self.panels):
            raise UserError(f"figure {self.name} has panels of one title; give each its own")
        names = list(dict.fromkeys(panel.table for panel in self.panels))
        made, results = read_figure_tables(self.name, names, overrides)
        tables = dict(zip(names, made, strict=True))
        panels = {panel.title: _groups(panel, tables[panel.table]) for panel in self.panels}
        cells = [c for groups in panels.values() for bars in groups.values() for c in bars.values()]
        if not any(cell.values for cell in cells):
            raise UserError(f"nothing is recorded of the tables of figure {self.name}")
        notes = [
            f"Not run as a whole: {cell.title} on {cell.data} ({format_splits(cell)} splits)."
            for cell in cells
            if cell.missing or cell.n_failed
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


#: The looks of the parts of a bar; numbers that were not run are hatched.
_LOOKS = {verdict: {"facecolor": about.colour} for verdict, about in VERDICTS.items()} | {
    "not run": {"facecolor": "#ffffff", "edgecolor": VERDICTS["not run"].colour, "hatch": "//////"}
}
_BAR_HEIGHT = 0.17  # inches


def draw_overview(lines: Sequence[CountedLine], verdicts: Sequence[str]) -> Figure:
    """Draw a bar for each paper and table, as long as it has published numbers.

    Parameters
    ----------
    lines : sequence of CountedLine
        From top to bottom; those without a published number are left out.
    verdicts : sequence of str
        Those that are in the legend, in the order of the parts of a bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    lines = [line for line in lines if line.tally.published]
    lengths = [line.tally.published for line in lines if not line.is_paper]
    frame = pd.DataFrame(
        [
            ("", "", verdict, position, number)
            for position, line in enumerate(lines)
            if not line.is_paper
            for verdict, number in line.tally.shown.items()
        ],
        columns=["panel", "hue", "verdict", "y", "x"],
    )
    frame["start"] = frame.groupby("y").x.cumsum() - frame.x
    figure, [axes] = draw_panels(
        frame,
        _draw_counts,
        panels=[""],
        hues=[""],
        n_columns=1,
        height=_BAR_HEIGHT * (len(lines) + 3),
        legend="none",
        has_titles=False,
        grid_lines="x",
        pad=None,
    )
    with style():
        axes.set(xlabel="published numbers", xlim=(0, max(lengths, default=1)))
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_yticks(range(len(lines)), [label(line.title) for line in lines])
        for text, line in zip(axes.get_yticklabels(), lines, strict=True):
            text.set_fontweight("bold" if line.is_paper else "normal")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        handles = [Patch(label=verdict, **_LOOKS[verdict]) for verdict in verdicts]
        figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), frameon=False)
    return figure


def _draw_counts(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
    """Draw counted verdicts beside each other."""
    for part in data.itertuples():
        axes.barh(part.y, part.x, 0.68, left=part.start, linewidth=0.4, **_LOOKS[part.verdict])
