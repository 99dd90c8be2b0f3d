"""Bars: numbers of tables in groups, and counts of verdicts in a row.

`BarChart` is a kind of figure; ``boostbench report`` draws the overview of all verdicts.
"""

from collections.abc import Sequence
from math import floor, nan
from typing import ClassVar, NamedTuple

import msgspec
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from boostbench.analysis.cells import Cell
from boostbench.analysis.result_table import Table
from boostbench.analysis.verdicts import VERDICTS
from boostbench.figures.definition import Drawing, FigureDefinition, axis_label
from boostbench.figures.panels import draw_panels
from boostbench.figures.sources import read_figure_tables, stale_cells
from boostbench.figures.style import COLOURS, label, style
from boostbench.report.overview import CountedLine
from boostbench.report.wording import format_splits
from boostbench.util.errors import UserError
from boostbench.util.validation import check_names

_PANEL_HEIGHT = 1.5  # inches
_LEGEND_HEIGHT = 0.3  # inches
_GROUP_WIDTH = 0.8  # part of the distance between two groups that the bars of a group take
_BAR_SHARE = 0.92  # part of its place that a bar takes, so that neighbours do not touch
_AXIS_STEP = 10  # units of the quantity; the axis begins at a multiple


class Bar(NamedTuple):
    """Bar of a cell.

    Attributes
    ----------
    panel, group : str
        Titles of the panel, and of the group of bars side by side: a data set.
    hue : str
        Title of the colour: an algorithm.
    cell : Cell
        Numbers of the algorithm on the data set.
    """

    panel: str
    group: str
    hue: str
    cell: Cell


def draw_bars(bars: Sequence[Bar]) -> Figure:
    """Draw a bar for each mean, with its standard deviation, and a line at the published number.

    Bars of equal hues have one colour. The panels share an axis that begins below all bars.

    Parameters
    ----------
    bars : sequence of Bar
        Bars in the order of panels, groups and hues; cells without records have no bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    cells = [bar.cell for bar in bars]
    frame = pd.DataFrame(
        {
            "panel": [bar.panel for bar in bars],
            "group": [bar.group for bar in bars],
            "hue": [bar.hue for bar in bars],
            "y": [cell.mean for cell in cells],
            "error": [cell.std for cell in cells],
            "published": [cell.target.mean if cell.target else nan for cell in cells],
        }
    )
    hues = frame.hue.unique().tolist()
    # 1) Place the bars. The groups of a panel have their centres at 0, 1, ... and a bar for each
    # hue, side by side.
    by_panel = frame.groupby("panel")
    n_bars = by_panel.hue.transform("nunique")
    positions_in_group = by_panel.hue.transform(lambda titles: pd.factorize(titles)[0])
    centres = by_panel.group.transform(lambda titles: pd.factorize(titles)[0])
    frame["width"] = _GROUP_WIDTH / n_bars
    frame["x"] = centres + (positions_in_group - (n_bars - 1) / 2) * frame.width
    # 2) Draw the bars of the cells with records.
    drawn = frame[[bool(cell.numbers) for cell in cells]]
    lowest = drawn[["y", "published"]].min().min()
    figure, grid = draw_panels(
        drawn,
        _draw_hue,
        panels=frame.panel.unique().tolist(),
        hues=hues,
        n_columns=1,
        height=_PANEL_HEIGHT,
        y_label=axis_label(cells[0].quantity),
        legend="none",
        extra_height=_LEGEND_HEIGHT,
        sharey=True,
    )
    # 3) Draw the published numbers, the names of the groups, and the legend.
    with style():
        for axes, (panel, rows) in zip(grid, frame.groupby("panel", sort=False), strict=True):
            for bar in drawn[(drawn.panel == panel) & drawn.published.notna()].itertuples():
                half_width = _BAR_SHARE / 2 * bar.width
                axes.hlines(
                    bar.published, bar.x - half_width, bar.x + half_width, "black", linewidth=1.2
                )
            names = [label(name.replace(" (", "\n(")) for name in rows.group.unique()]
            axes.set_xticks(range(len(names)), names)
            axes.set_xlim(-0.55, len(names) - 0.45)
            axes.tick_params(axis="x", length=0)
        grid[0].set_ylim(bottom=max(0, _AXIS_STEP * floor(lowest / _AXIS_STEP)))
        marks = [
            Line2D(
                [],
                [],
                linestyle="none",
                marker="s",
                color=COLOURS[i % len(COLOURS)],
                label=label(hue),
            )
            for i, hue in enumerate(hues)
        ]
        if any(cell.target for cell in cells):
            marks.append(Line2D([], [], color="black", linewidth=1.2, label="published"))
        figure.legend(handles=marks, loc="outside upper center", frameon=False, ncols=len(marks))
    return figure


def _draw_hue(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
    """Draw the bars of one hue: a `Mark` of `draw_panels`."""
    axes.bar(
        data.x,
        data.y,
        _BAR_SHARE * data.width.iloc[0],
        yerr=data.error.where(data.error > 0),
        color=COLOURS[index % len(COLOURS)],
        error_kw={"elinewidth": 0.6, "ecolor": "#444444"},
    )


class BarsPanel(msgspec.Struct, frozen=True):
    """Panel of a bar chart.

    Attributes
    ----------
    title : str
        Heading.
    table : str
        Name of the table whose numbers are drawn.
    columns : list of str
        Names of its columns.
    """

    title: str
    table: str
    columns: list[str]


class BarChart(FigureDefinition, frozen=True, kw_only=True):
    """Figure of numbers of tables as bars.

    Attributes
    ----------
    panels : list of BarsPanel
        Panels, one above the other.
    """

    kind: ClassVar[str] = "bars"

    panels: list[BarsPanel]

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        if len({panel.title for panel in self.panels}) < len(self.panels):
            raise UserError(f"figure {self.name} has panels of one title; give each its own")
        names = list(dict.fromkeys(panel.table for panel in self.panels))
        tables, results = read_figure_tables(self.name, names, overrides)
        by_name = dict(zip(names, tables, strict=True))
        bars = [bar for panel in self.panels for bar in _bars(panel, by_name[panel.table])]
        cells = [bar.cell for bar in bars]
        if not any(cell.numbers for cell in cells):
            raise UserError(f"nothing is recorded of the tables of figure {self.name}")
        notes = [
            f"Not run as a whole: {cell.title} on {cell.data} ({format_splits(cell)} splits)."
            for cell in cells
            if cell.missing or cell.n_failed
        ]
        notes += stale_cells(cell for table in tables for cell in table.cells.values())
        return Drawing(draw_bars(bars), results, notes)


def _bars(panel: BarsPanel, table: Table) -> list[Bar]:
    """Return the bars of a panel; raise an error for an unknown column."""
    check_names(panel.columns, table.result_columns, f"table {table.name} has no column")
    columns = {name: table.columns[name] for name in panel.columns}
    titles = {name: column.title for name, column in columns.items()}
    if len(set(titles.values())) < len(titles):
        # Headings are alike under different group headings, and after equal numbers of rounds.
        titles = {name: column.label for name, column in columns.items()}
    return [
        Bar(panel.title, title, titles[name], table.cells[row, name])
        for row, title in table.rows.items()
        for name in panel.columns
    ]


#: Options of matplotlib for the part of a bar with a verdict; numbers without a run are hatched.
_VERDICT_STYLES = {verdict: {"facecolor": about.colour} for verdict, about in VERDICTS.items()} | {
    "not run": {"facecolor": "#ffffff", "edgecolor": VERDICTS["not run"].colour, "hatch": "//////"}
}
_BAR_HEIGHT = 0.17  # inches


def draw_overview(lines: Sequence[CountedLine], verdicts: Sequence[str]) -> Figure:
    """Draw a bar for each table, whose length is its number of published numbers.

    The tables stand below the title of their paper, in bold.

    Parameters
    ----------
    lines : sequence of CountedLine
        Papers and tables from top to bottom; lines without a published number are left out.
    verdicts : sequence of str
        Verdicts of the legend, in the order of the parts of a bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    # 1) Arrange the parts of the bars: a row of the frame for each table and verdict.
    lines = [line for line in lines if line.tally.published]
    lengths = [line.tally.published for line in lines if not line.is_paper]
    frame = pd.DataFrame(
        [
            ("", "", verdict, position, number)
            for position, line in enumerate(lines)
            if not line.is_paper
            for verdict, number in line.tally.shown.items()  # verdicts that occur
        ],
        columns=["panel", "hue", "verdict", "y", "x"],
    )
    frame["start"] = frame.groupby("y").x.cumsum() - frame.x
    # 2) Draw the bars in one panel.
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
    # 3) Write the titles of papers and tables, and the legend.
    with style():
        axes.set(xlabel="published numbers", xlim=(0, max(lengths, default=1)))
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_yticks(range(len(lines)), [label(line.title) for line in lines])
        for text, line in zip(axes.get_yticklabels(), lines, strict=True):
            text.set_fontweight("bold" if line.is_paper else "normal")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        handles = [Patch(label=verdict, **_VERDICT_STYLES[verdict]) for verdict in verdicts]
        figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), frameon=False)
    return figure


def _draw_counts(axes: Axes, data: pd.DataFrame, index: int, n_hues: int) -> None:
    """Draw the parts of all bars.

    `data` has a row for each part: ``verdict``, the number ``x`` of published numbers with it, the
    position ``y`` of the bar, and the number ``start`` of published numbers before the part.
    """
    for part in data.itertuples():
        axes.barh(
            part.y, part.x, 0.68, left=part.start, linewidth=0.4, **_VERDICT_STYLES[part.verdict]
        )
