"""Lines: errors against boosting rounds, numbers against a varied setting, and CPU times."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import nan, sqrt
from statistics import fmean, stdev
from typing import ClassVar, Literal

import msgspec
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from boostbench.analysis.comparison import ratio_of_records
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.friedman import average_ranks, holm
from boostbench.analysis.statistics.resampled import corrected_t
from boostbench.analysis.statistics.wilcoxon import wilcoxon
from boostbench.figures.definition import Drawing, FigureDefinition, label_axis, sentence
from boostbench.figures.panels import (
    Point,
    distant_values,
    draw_line,
    draw_line_with_band,
    draw_line_with_bars,
    draw_panels,
    set_log_ticks,
    tidy,
)
from boostbench.figures.sources import LinesPanel, caveats, find_cells, find_lines
from boostbench.figures.style import label, plain_ticks, style
from boostbench.fitting.quantities import (
    QUANTITIES,
    ROUNDS,
    TEST_ERROR,
    Quantity,
    get_quantity,
)
from boostbench.records.schema import Record
from boostbench.util import numbers
from boostbench.util.errors import UserError

_MAX_COLUMNS = 4  # panels of curves in a row
_CURVES_HEIGHT, _VARIED_HEIGHT, _TIMES_HEIGHT = 1.6, 2.6, 2.3  # inches

#: Records of splits, by the title of a panel and of a line.
Curve = Mapping[str, Mapping[str, Sequence[Mapping]]]


def curve_points(curves: Curve) -> pd.DataFrame:
    """Return the mean test error at the checkpoints that all splits of a curve have.

    Parameters
    ----------
    curves : mapping
        Records of splits by panel (a data set) and line (an algorithm).

    Returns
    -------
    pandas.DataFrame
        Tidy points: x is the number of boosting rounds, y the mean test error in percent, and the
        error is the standard error of the mean over the splits.
    """
    points = []
    for panel, lines in curves.items():
        for title, records in lines.items():
            checkpoints = [set(map(int, record.checkpoints)) for record in records]
            for rounds in sorted(set.intersection(*checkpoints)) if checkpoints else ():
                errors = TEST_ERROR.numbers(records, rounds)
                error = stdev(errors) / sqrt(len(errors)) if len(errors) > 1 else nan
                points.append(Point(panel, title, rounds, fmean(errors), error))
    return tidy(points)


def draw_curves(curves: Curve, error_axis: str = "log", headline: str = "") -> Figure:
    """Draw the mean test error at the checkpoints, on a logarithmic axis of rounds.

    Bands are standard errors.

    Parameters
    ----------
    curves : mapping
        As of `curve_points`; lines without records are not drawn.
    error_axis : {"log", "linear"}, default="log"
    headline : str, default=""
        Sentence above the panels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, grid = draw_panels(
        curve_points(curves),
        draw_line_with_band,
        panels=list(curves),
        hues=list(dict.fromkeys(title for lines in curves.values() for title in lines)),
        # Few panels leave one place for the legend.
        n_columns=min(_MAX_COLUMNS, len(curves) + 1),
        height=_CURVES_HEIGHT,
        x_label="boosting rounds",
        y_label="test error (%)",
        headline=headline,
        legend="panel",
    )
    with style():
        for axes in grid:
            axes.set(xscale="log", yscale=error_axis)
            if error_axis == "log":
                set_log_ticks(axes)
            else:
                axes.set_ylim(bottom=0)
                plain_ticks(axes.yaxis)
            plain_ticks(axes.xaxis, [1, 10, 100, 1000])
    return figure


def curves_headline(curves: Curve) -> str:
    """Return a sentence on the best algorithm after the last shared round, if a test allows it.

    Parameters
    ----------
    curves : mapping
        As of `curve_points`.

    Returns
    -------
    str
        Empty unless one algorithm differs from each other one at the 5% level after Holm's
        correction for all pairs: over several data sets by Wilcoxon's signed-rank test, over the
        splits of one data set by the corrected resampled t-test.
    """
    titles = list(
        dict.fromkeys(t for lines in curves.values() for t, records in lines.items() if records)
    )
    complete = [
        [lines[title] for title in titles]
        for lines in curves.values()
        if all(lines.get(title) for title in titles)
    ]
    checkpoints = [
        set(map(int, record.checkpoints))
        for lines in complete
        for records in lines
        for record in records
    ]
    shared = set.intersection(*checkpoints) if checkpoints else set()
    if not shared or len(titles) < 2:
        return ""
    last = max(shared)
    if len(curves) > 1:
        means = [[TEST_ERROR.mean(records, last) for records in lines] for lines in complete]
        best = best_column(numbers.rounded(np.array(means), TEST_ERROR.digits))
        scope, test_name = f"{len(means)} data sets", "Wilcoxon's test"
    else:
        errors, ratio = _paired_numbers(complete[0], TEST_ERROR, last)
        best = None if ratio is None else best_column(errors, ratio)
        scope, test_name = next(iter(curves)), "corrected t-test"
    if best is None:
        return ""
    return f"After {last} rounds {titles[best]} errs least on {scope} ({test_name}, Holm)"


def best_column(losses: np.ndarray, ratio: float | None = None) -> int | None:
    """Return the column that tests show to be lower than each other column.

    Parameters
    ----------
    losses : ndarray of shape (n_pairs, n_columns)
    ratio : float, default=None
        Number of tested samples per training sample, for the corrected resampled t-test of splits
        that share samples; None: Wilcoxon's signed-rank test of independent rows.

    Returns
    -------
    int or None
        None unless all tests with the best column reject after Holm's correction for all pairs.
    """
    if len(losses) < 2:
        return None
    columns = range(losses.shape[1])
    pairs = list(combinations(columns, 2))
    differences = [losses[:, a] - losses[:, b] for a, b in pairs]
    p_values = holm(
        [wilcoxon(d).p if ratio is None else corrected_t(d, ratio) for d in differences]
    )
    best = int(np.argmin(average_ranks(losses) if ratio is None else losses.mean(axis=0)))
    is_shown = all(p <= LEVEL for pair, p in zip(pairs, p_values, strict=True) if best in pair)
    return best if is_shown else None


def _paired_numbers(
    runs: Sequence[Sequence[Mapping]], quantity: Quantity, rounds: int | None = None
) -> tuple[np.ndarray, float | None]:
    """Return the numbers of the splits that all runs have, and their ratio for `corrected_t`."""
    by_split = [
        {record.split: quantity.of(record, rounds) for record in records} for records in runs
    ]
    shared = sorted(set.intersection(*map(set, by_split)))
    paired = np.array([[run[split] for run in by_split] for split in shared], dtype=float)
    return paired.reshape(-1, len(runs)), ratio_of_records([r for records in runs for r in records])


class Curves(FigureDefinition, frozen=True, kw_only=True):
    """Test error against boosting rounds.

    Attributes
    ----------
    table : str
        The table whose records are drawn.
    columns : list of str
        Its columns; by default all.
    error_axis : {"log", "linear"}, default="log"
        The axis of the test error.
    """

    kind: ClassVar[str] = "curves"

    table: str
    columns: list[str] = msgspec.field(default_factory=list)
    error_axis: Literal["log", "linear"] = "log"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        cells, results = find_cells(self.table, overrides, columns=self.columns)
        recorded = [cell for row in cells.values() for cell in row if cell.n_finished]
        staged = {c.title for c in recorded if any(record.checkpoints for record in c.rows.records)}
        unstaged = list(dict.fromkeys(c.title for c in recorded if c.title not in staged))
        curves = {
            row[0].data: {
                cell.title: cell.rows.records for cell in row if cell.title not in unstaged
            }
            for row in cells.values()
            if any(cell.n_finished for cell in row)
        }
        if not any(curves.values()):
            raise UserError(f"nothing of table {self.table} has a test error after some rounds")
        notes = caveats(cells)
        if unstaged:
            notes.append(f"No curve, as it has no boosting rounds: {', '.join(unstaged)}.")
        headline = curves_headline(curves)
        figure = draw_curves(curves, self.error_axis, headline)
        return Drawing(figure, results, [*sentence(headline), *notes])


def draw_varied(
    frame: pd.DataFrame,
    hues: Sequence[str],
    varied: str,
    y_labels: Mapping[str, str],
    scale: str = "linear",
) -> Figure:
    """Draw a line for each hue in each panel; bars are standard deviations.

    Parameters
    ----------
    frame : pandas.DataFrame
        Tidy points, see `boostbench.figures.panels.tidy`.
    hues : sequence of str
        Titles of the lines; empty for a line that needs no name.
    varied : str
        Label of the horizontal axis.
    y_labels : mapping
        Labels of the vertical axes, by panel.
    scale : {"linear", "log"}, default="linear"
        Scale of the horizontal axis.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, grid = draw_panels(
        frame,
        draw_line_with_bars,
        panels=list(y_labels),
        hues=list(hues),
        n_columns=len(y_labels),
        height=_VARIED_HEIGHT,
        x_label=varied,
        legend="above" if any(hues) else "none",
        n_legend_columns=4,
    )
    with style():
        last_label = ""
        for axes, (panel, y_label) in zip(grid, y_labels.items(), strict=True):
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
    """A picture of any quantity.

    Attributes
    ----------
    quantity : str, default="test_error"
        Name of the quantity, one of `boostbench.fitting.quantities`.
    """

    quantity: str = "test_error"


class Varied(FigureDefinition, frozen=True, kw_only=True):
    """A table's numbers against the setting that its rows vary.

    Attributes
    ----------
    varied : str
        That setting, in words.
    panels : list of QuantityPanel
        Pictures, side by side; panels of one title, of several tables, are one picture.
    scale : {"linear", "log"}, default="linear"
        Scale of the horizontal axis.
    """

    kind: ClassVar[str] = "varied"

    varied: str
    panels: list[QuantityPanel]
    scale: Literal["linear", "log"] = "linear"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        quantities = {panel.title: get_quantity(panel.quantity) for panel in self.panels}
        recorded, titles, notes, results = find_lines(self.panels, quantities, overrides)
        frame = tidy(
            Point(panel, title, value, *_mean_std(records, quantities[panel]))
            for panel, lines in recorded.items()
            for title, line in lines.items()
            for value, records in line.items()
        )
        facts = []
        for (panel, value), rows in frame.groupby(["panel", "x"], sort=False):
            facts.append([panel, value, rows.set_index("hue")])
        order = list(recorded)
        facts.sort(key=lambda fact: (order.index(fact[0]), fact[1]))
        texts = [
            [
                f"{panel}: {value:g}",
                *(_spread_text(rows, title, quantities[panel].digits) for title in titles),
            ]
            for panel, value, rows in facts
        ]
        y_labels = {panel: label_axis(quantity) for panel, quantity in quantities.items()}
        figure = draw_varied(frame, titles, self.varied, y_labels, self.scale)
        return Drawing(figure, results, notes, texts, [self.varied, *titles])


def _mean_std(records: Sequence[Record], quantity: Quantity) -> tuple[float, float]:
    values = quantity.numbers(records)
    return fmean(values), stdev(values) if len(values) > 1 else nan


def _spread_text(rows: pd.DataFrame, title: str, digits: int) -> str:
    if title not in rows.index:
        return "-"
    return numbers.mean_std(rows.y[title], rows.error[title], digits)


def draw_times(
    frame: pd.DataFrame, hues: Sequence[str], part: str = "coefficients", headline: str = ""
) -> Figure:
    """Draw a line for each algorithm in each panel, on logarithmic axes.

    Parameters
    ----------
    frame : pandas.DataFrame
        Tidy points: x is the varied number, y the CPU time in seconds.
    hues : sequence of str
        The algorithms, each of which has one look in all panels.
    part : {"coefficients", "fit"}, default="coefficients"
        Part of the training that the times are of.
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
        part_name = {"coefficients": "step 4", "fit": "training"}[part]
        grid[0].set_ylabel(f"CPU time of {part_name} (s)")
    return figure


def times_headline(
    panel: str, lines: Mapping[str, Mapping[float, Sequence[Mapping]]], part: Quantity
) -> str:
    """Return a sentence on the slowest and the fastest algorithm, if a test separates them.

    Parameters
    ----------
    panel : str
        Title of a panel: the varied number.
    lines : mapping
        Records of splits by algorithm and by the varied number.
    part : Quantity
        CPU time.

    Returns
    -------
    str
        The ratio of the mean times at the largest number that all algorithms have. Empty for fewer
        than two algorithms, and unless the corrected resampled t-test of the logarithms of the
        times rejects at the 5% level after Holm's correction for all pairs.
    """
    shared = set.intersection(*map(set, lines.values())) if len(lines) > 1 else set()
    if not shared:
        return ""
    last = max(shared)
    titles = list(lines)
    times, ratio = _paired_numbers([lines[title][last] for title in titles], part)
    if ratio is None or len(times) < 2:
        return ""
    pairs = list(combinations(range(len(titles)), 2))
    logs = np.log(times)
    p_values = holm([corrected_t(logs[:, a] - logs[:, b], ratio) for a, b in pairs])
    means = [part.mean(lines[title][last]) for title in titles]
    fast, slow = int(np.argmin(means)), int(np.argmax(means))
    p = p_values[pairs.index((min(fast, slow), max(fast, slow)))]
    if p > LEVEL:
        return ""
    times_as_long = numbers.ratio(means[slow] / means[fast])
    text = f"{titles[slow]} takes {times_as_long} times as long as {titles[fast]}"
    return f"With {last} {panel} {text}"


class CountPanel(LinesPanel, frozen=True):
    """A picture of numbers against a whole number."""

    rows: dict[str, int]


class Times(FigureDefinition, frozen=True, kw_only=True):
    """The CPU time of training, or of its coefficients, against the number that rows vary.

    Attributes
    ----------
    panels : list of CountPanel
        Pictures, side by side.
    seconds : {"coefficients", "fit"}, default="coefficients"
        Which time.
    """

    kind: ClassVar[str] = "times"

    panels: list[CountPanel]
    seconds: Literal["coefficients", "fit"] = "coefficients"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        part = QUANTITIES[self.seconds]
        parts = {panel.title: part for panel in self.panels}
        recorded, titles, notes, results = find_lines(self.panels, parts, overrides)
        frame = tidy(
            Point(panel, title, value, part.mean(records))
            for panel, lines in recorded.items()
            for title, line in lines.items()
            for value, records in line.items()
        )
        facts = [
            [
                f"{panel.title}: {value}",
                *(
                    _time_text(recorded[panel.title].get(title, {}).get(value), part)
                    for title in titles
                ),
            ]
            for panel in self.panels
            for value in panel.rows.values()
        ]
        panel, lines = list(recorded.items())[-1]
        headline = times_headline(panel, lines, part)
        figure = draw_times(frame, titles, self.seconds, headline)
        return Drawing(
            figure, results, [*sentence(headline), *notes], facts, ["CPU seconds", *titles]
        )


def _time_text(records: Sequence[Record] | None, part: Quantity) -> str:
    if records is None:
        return "-"
    n_rounds = ROUNDS.mean(records)
    text = numbers.seconds(part.mean(records))
    return text if n_rounds is None else f"{text} ({n_rounds:.0f} rounds)"
