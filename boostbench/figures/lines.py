"""Lines: numbers of tables, such as CPU times, against a setting that their rows vary."""

from collections.abc import Sequence
from itertools import combinations
from math import nan
from pathlib import Path
from statistics import fmean, stdev
from typing import ClassVar, Literal, NamedTuple

import msgspec
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.friedman import holm
from boostbench.analysis.statistics.resampled import corrected_t
from boostbench.figures.curves import numbers_on_shared_splits
from boostbench.figures.definition import Drawing, FigureDefinition, axis_label, headline_note
from boostbench.figures.panels import (
    Point,
    distant_values,
    draw_line,
    draw_line_with_bars,
    draw_panels,
    tidy,
)
from boostbench.figures.sources import SplitRecords, caveats, find_cells
from boostbench.figures.style import label, plain_ticks, style
from boostbench.fitting.quantities import (
    QUANTITIES,
    ROUNDS,
    Quantity,
    get_quantity,
)
from boostbench.records.schema import Record
from boostbench.util import numbers
from boostbench.util.errors import UserError

_VARIED_HEIGHT = 2.6  # inches
_TIMES_HEIGHT = 2.3  # inches


class LinesPanel(msgspec.Struct, frozen=True):
    """Panel of numbers of a table.

    Attributes
    ----------
    title : str
        Heading.
    table : str
        Name of the table whose records are drawn.
    rows : dict of str to float
        Value of the varied setting by the name of a row: its position on the horizontal axis.
    """

    title: str
    table: str
    rows: dict[str, float]


class VariedRecords(NamedTuple):
    """Records of the rows of tables that vary a number.

    Attributes
    ----------
    points : list of SplitRecords
        Records of each algorithm (hue) and value, sorted by value; panels of one title are joined.
    titles : list of str
        Titles of the algorithms in the legend: all except those whose records lack the quantity.
    notes : list of str
        Notes on missing and stale results.
    results : Path
        The folder of the records.
    """

    points: list[SplitRecords]
    titles: list[str]
    notes: list[str]
    results: Path


def find_varied_records(
    panels: Sequence[LinesPanel], quantities: Sequence[Quantity], overrides: list[str]
) -> VariedRecords:
    """Find the records of rows that vary a number.

    Parameters
    ----------
    panels : sequence of LinesPanel
        Panels of the figure.
    quantities : sequence of Quantity
        Drawn quantity of each panel; records without it are left out.
    overrides : list of str
        Hydra overrides for every cell.

    Returns
    -------
    VariedRecords

    Raises
    ------
    UserError
        Nothing is recorded of a table, or no record of a panel has the quantity.
    """
    # 1) Collect the records of each cell.
    points: list[SplitRecords] = []
    titles, notes = [], []
    for panel, quantity in zip(panels, quantities, strict=True):
        rows, results = find_cells(panel.table, overrides, panel.rows)
        cells_of_row = {row.name: row.cells for row in rows}
        without_quantity = []
        for name, value in panel.rows.items():
            # A row without a column that runs has no cells.
            for cell in cells_of_row.get(name, []):
                records = [
                    r for r in cell.finished_splits.records if quantity.number(r) is not None
                ]
                if records:
                    points.append(SplitRecords(panel.title, cell.title, records, value))
                # The algorithm ran, but its records lack the quantity.
                if cell.n_finished and not records:
                    without_quantity.append(cell.title)
                else:
                    # An algorithm that was not run keeps its colour and its place in the legend.
                    titles.append(cell.title)
        notes += caveats(rows)
        if without_quantity:
            names = ", ".join(dict.fromkeys(without_quantity))
            notes.append(
                f"No line in {panel.title}, as records do not tell {quantity.name}: {names}."
            )
    # 2) Every panel needs a record.
    drawn = {point.panel for point in points}
    for panel, quantity in zip(panels, quantities, strict=True):
        if panel.title not in drawn:
            raise UserError(f"no record of what {panel.title} shows tells {quantity.name}")
    # 3) Remove duplicates: two panels of one title may have a value of an algorithm in common. The
    # last one counts.
    points = list({(point.panel, point.hue, point.x): point for point in points}.values())
    # 4) Sort the points: by line, in the order of the lines' first points, and from left to right.
    lines = list(dict.fromkeys((point.panel, point.hue) for point in points))
    points.sort(key=lambda point: (lines.index((point.panel, point.hue)), point.x))
    return VariedRecords(points, list(dict.fromkeys(titles)), list(dict.fromkeys(notes)), results)


def draw_varied_lines(
    frame: pd.DataFrame,
    hues: Sequence[str],
    panels: Sequence[str],
    x_label: str,
    y_labels: Sequence[str],
    scale: Literal["linear", "log"] = "linear",
) -> Figure:
    """Draw a line for each hue in each panel; bars are standard deviations.

    Parameters
    ----------
    frame : pandas.DataFrame
        Tidy points, see `boostbench.figures.panels.tidy`.
    hues : sequence of str
        Titles of the lines; empty for a line that needs no name.
    panels : sequence of str
        Titles of the panels.
    x_label : str
        Label of the horizontal axis, which the panels share.
    y_labels : sequence of str
        Label of the vertical axis of each panel; equal labels of neighbours are written once.
    scale : {"linear", "log"}, default="linear"
        Scale of the horizontal axis.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, grid = draw_panels(
        frame,
        draw_line_with_bars,
        panels=panels,
        hues=list(hues),
        n_columns=len(panels),
        height=_VARIED_HEIGHT,
        x_label=x_label,
        legend="above" if any(hues) else "none",
        n_legend_columns=4,
    )
    with style():
        last_label = ""
        for axes, panel, y_label in zip(grid, panels, y_labels, strict=True):
            axes.set_xscale(scale)
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            if scale == "linear":
                values = sorted(frame.x[frame.panel == panel].unique().tolist())
                plain_ticks(axes.xaxis, distant_values(values))
            axes.xaxis.set_minor_locator(NullLocator())
            if y_label != last_label:
                axes.set_ylabel(y_label)
                last_label = y_label
    return figure


class QuantityPanel(LinesPanel, frozen=True):
    """Panel of a table's numbers of any quantity.

    Attributes
    ----------
    quantity : str, default="test_error"
        Name of the quantity, one of `boostbench.fitting.quantities`.
    """

    quantity: str = "test_error"


class VariedQuantityFigure(FigureDefinition, frozen=True, kw_only=True):
    """Figure of a table's numbers against the setting that its rows vary.

    Attributes
    ----------
    varied : str
        Name of the setting in words, the label of the horizontal axis.
    panels : list of QuantityPanel
        Panels side by side; numbers of several tables under one title share a panel.
    scale : {"linear", "log"}, default="linear"
        Scale of the horizontal axis.
    """

    kind: ClassVar[str] = "varied"

    varied: str
    panels: list[QuantityPanel]
    scale: Literal["linear", "log"] = "linear"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        quantities = [get_quantity(panel.quantity) for panel in self.panels]
        recorded = find_varied_records(self.panels, quantities, overrides)
        # 1) Draw a point for each mean.
        by_title = {p.title: quantity for p, quantity in zip(self.panels, quantities, strict=True)}
        frame = tidy(
            Point(point.panel, point.hue, point.x, *_mean_std(point.records, by_title[point.panel]))
            for point in recorded.points
        )
        figure = draw_varied_lines(
            frame,
            recorded.titles,
            list(by_title),
            self.varied,
            list(map(axis_label, by_title.values())),
            self.scale,
        )
        # 2) Write the numbers: a line for each panel and value, a column for each algorithm.
        table_rows = []
        for panel, quantity in by_title.items():
            for value, rows in frame[frame.panel == panel].groupby("x"):
                numbers_of_hue = {row.hue: (row.y, row.error) for row in rows.itertuples()}
                texts = [
                    numbers.mean_std(*numbers_of_hue[title], quantity.digits)
                    if title in numbers_of_hue
                    else "-"
                    for title in recorded.titles
                ]
                table_rows.append([f"{panel}: {value:g}", *texts])
        header = [self.varied, *recorded.titles]
        return Drawing(figure, recorded.results, recorded.notes, table_rows, header)


def _mean_std(records: Sequence[Record], quantity: Quantity) -> tuple[float, float]:
    """Return mean and standard deviation over the splits; a single split has no deviation (NaN)."""
    values = quantity.numbers(records)
    return fmean(values), stdev(values) if len(values) > 1 else nan


def draw_times(
    frame: pd.DataFrame,
    hues: Sequence[str],
    measured_part: str = "coefficients",
    headline: str = "",
) -> Figure:
    """Draw a line for each algorithm in each panel, on logarithmic axes.

    Parameters
    ----------
    frame : pandas.DataFrame
        Tidy points: x is the varied number, y the CPU time in seconds.
    hues : sequence of str
        Titles of the algorithms, each of which has one look in all panels.
    measured_part : {"coefficients", "fit"}, default="coefficients"
        Measured part of the training: the coefficients, which are step 4 of a round of column
        generation, or all of it.
    headline : str, default=""
        Sentence above the panels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    panels = frame.panel.unique().tolist()
    figure, grid = draw_panels(
        frame,
        draw_line,
        panels=panels,
        hues=list(hues),
        n_columns=len(panels),
        height=_TIMES_HEIGHT,
        headline=headline,
        has_titles=False,
        sharey=True,
    )
    with style():
        for axes, panel in zip(grid, panels, strict=True):
            axes.set(xscale="log", yscale="log", xlabel=label(panel))
            axes.yaxis.set_major_locator(LogLocator())
            plain_ticks(axes.xaxis, sorted(frame.x[frame.panel == panel].unique()))
            plain_ticks(axes.yaxis)
        part_name = {"coefficients": "step 4", "fit": "training"}[measured_part]
        grid[0].set_ylabel(f"CPU time of {part_name} (s)")
    return figure


def times_headline(points: Sequence[SplitRecords], time: Quantity) -> str:
    """Return a sentence on the slowest and the fastest algorithm, if a test separates them.

    Parameters
    ----------
    points : sequence of SplitRecords
        Records of one panel, whose title is the varied number.
    time : Quantity
        CPU time of the training, or of a part of it.

    Returns
    -------
    str
        The ratio of the mean times at the largest number that all algorithms have. Empty for fewer
        than two algorithms, and unless the corrected resampled t-test of the logarithms of the
        times rejects at the 5% level after Holm's correction for all pairs.
    """
    # 1) Find the largest number that all algorithms have.
    recorded = {(point.hue, point.x): point.records for point in points}
    hues = list(dict.fromkeys(point.hue for point in points))
    values = {point.x for point in points}
    shared = [value for value in values if all((hue, value) in recorded for hue in hues)]
    if not shared or len(hues) < 2:
        return ""
    largest = max(shared)
    # 2) Test the logarithms of the times of all pairs.
    runs = [recorded[hue, largest] for hue in hues]
    times, test_ratio = numbers_on_shared_splits(runs, time)
    if test_ratio is None or len(times) < 2:
        return ""
    pairs = list(combinations(range(len(hues)), 2))
    logs = np.log(times)
    p_values = holm([corrected_t(logs[:, a] - logs[:, b], test_ratio) for a, b in pairs])
    # 3) Return a sentence on the slowest and the fastest, if they differ.
    means = list(map(time.mean, runs))
    fast, slow = int(np.argmin(means)), int(np.argmax(means))
    if p_values[pairs.index((min(fast, slow), max(fast, slow)))] > LEVEL:
        return ""
    times_as_long = numbers.format_ratio(means[slow] / means[fast])
    text = f"{hues[slow]} takes {times_as_long} times as long as {hues[fast]}"
    return f"With {largest} {points[0].panel} {text}"


class WholeNumberPanel(LinesPanel, frozen=True):
    """Panel of CPU times against a whole number, such as a number of classes."""

    rows: dict[str, int]


class TimesFigure(FigureDefinition, frozen=True, kw_only=True):
    """Figure of the CPU time of training, or of its coefficients, against a number.

    Attributes
    ----------
    panels : list of WholeNumberPanel
        Panels side by side; the rows of their tables vary the number.
    seconds : {"coefficients", "fit"}, default="coefficients"
        Measured part of the training.
    """

    kind: ClassVar[str] = "times"

    panels: list[WholeNumberPanel]
    seconds: Literal["coefficients", "fit"] = "coefficients"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        time = QUANTITIES[self.seconds]
        recorded = find_varied_records(self.panels, [time] * len(self.panels), overrides)
        points = recorded.points
        frame = tidy(
            Point(point.panel, point.hue, point.x, time.mean(point.records)) for point in points
        )
        # A headline is about one panel: the last one.
        last_panel = points[-1].panel
        headline = times_headline([point for point in points if point.panel == last_panel], time)
        figure = draw_times(frame, recorded.titles, self.seconds, headline)
        records = {(point.panel, point.hue, point.x): point.records for point in points}
        table_rows = [
            [
                f"{panel.title}: {value}",
                *(_time_text(records.get((panel.title, t, value)), time) for t in recorded.titles),
            ]
            for panel in self.panels
            for value in panel.rows.values()
        ]
        notes = [*headline_note(headline), *recorded.notes]
        header = ["CPU seconds", *recorded.titles]
        return Drawing(figure, recorded.results, notes, table_rows, header)


def _time_text(records: Sequence[Record] | None, time: Quantity) -> str:
    """Return the mean CPU time and the mean number of rounds; ``"-"`` without records."""
    if records is None:
        return "-"
    n_rounds = ROUNDS.mean(records)
    text = numbers.format_seconds(time.mean(records))
    return text if n_rounds is None else f"{text} ({n_rounds:.0f} rounds)"
