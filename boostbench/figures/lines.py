"""Lines: errors against boosting rounds, numbers against a varied setting, and CPU times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import ClassVar, Literal

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from boostbench.figures.definition import FigureDefinition
from boostbench.figures.drawing import Drawing, label_axis, sentence, winners
from boostbench.figures.panels import (
    Point,
    distant_values,
    draw_line,
    draw_line_with_bars,
    draw_panels,
    set_log_ticks,
    tidy,
)
from boostbench.figures.style import label, plain_ticks, style
from boostbench.figures.tables import LinesPanel, caveats, find_cells, find_lines
from boostbench.fitting.quantities import (
    QUANTITIES,
    ROUNDS,
    TEST_ERROR,
    Quantity,
    get_quantity,
)
from boostbench.util import numbers
from boostbench.util.errors import UserError

_MAX_COLUMNS = 4  # of panels of curves
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
        Tidy points: x is the number of boosting rounds, y the test error in percent.
    """
    return tidy(
        Point(panel, title, rounds, TEST_ERROR.mean(records, rounds))
        for panel, lines in curves.items()
        for title, records in lines.items()
        if records
        for rounds in sorted(
            map(int, set.intersection(*(set(record["checkpoints"]) for record in records)))
        )
    )


def draw_curves(curves: Curve, error_axis: str = "log", headline: str = "") -> Figure:
    """Draw the mean test error at the checkpoints, on a logarithmic axis of rounds.

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
        draw_line,
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
    """Say who errs least in the end, as printed: at the last checkpoint that all curves share."""
    frame = curve_points(curves)
    shared = [set(rows.x) for _, rows in frame.groupby(["panel", "hue"])]
    last = max(set.intersection(*shared), default=None) if shared else None
    if last is None:
        return ""
    final = frame[frame.x == last]
    names, most, _ = winners(
        dict(zip(rows.hue, rows.y, strict=True)) for _, rows in final.groupby("panel", sort=False)
    )
    errs = "err" if len(names) > 1 else "errs"
    sets = f"{most} of {len(curves)} data sets" if len(curves) > 1 else next(iter(curves))
    return f"After {last} rounds {' and '.join(names)} {errs} least on {sets}" if names else ""


@dataclass(frozen=True, kw_only=True)
class Curves(FigureDefinition):
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
    columns: list[str] = field(default_factory=list)
    error_axis: Literal["log", "linear"] = "log"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw it: see `FigureDefinition.draw`."""
        cells, results = find_cells(self.table, overrides, columns=self.columns)
        recorded = [cell for row in cells.values() for cell in row if cell.records]
        staged = {
            c.title for c in recorded if any(record.get("checkpoints") for record in c.records)
        }
        unstaged = list(dict.fromkeys(c.title for c in recorded if c.title not in staged))
        curves = {
            row[0].data: {cell.title: cell.records for cell in row if cell.title not in unstaged}
            for row in cells.values()
            if any(cell.records for cell in row)
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
    headline: str = "",
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
    headline : str, default=""
        Sentence above the panels.

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
        headline=headline,
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


def varied_headline(frame: pd.DataFrame) -> str:
    """Say who errs least at the most points, as printed."""
    names, most, n_points = winners(
        dict(zip(rows.hue, rows.y, strict=True)) for _, rows in frame.groupby(["panel", "x"])
    )
    if not names:
        return ""
    return f"Least test error at {most} of {n_points} points: {' and '.join(names)}"


@dataclass(frozen=True)
class QuantityPanel(LinesPanel):
    """A picture of any quantity.

    Attributes
    ----------
    quantity : str, default="test_error"
        Name of the quantity, one of `boostbench.fitting.quantities`.
    """

    quantity: str = "test_error"


@dataclass(frozen=True, kw_only=True)
class Varied(FigureDefinition):
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
        is_error = frame.panel.map(lambda panel: quantities[panel] is TEST_ERROR)
        headline = varied_headline(frame[is_error])
        y_labels = {panel: label_axis(quantity) for panel, quantity in quantities.items()}
        figure = draw_varied(frame, titles, self.varied, y_labels, self.scale, headline)
        notes = [*sentence(headline), *notes]
        return Drawing(figure, results, notes, texts, [self.varied, *titles])


def _mean_std(records: Sequence[Mapping], quantity: Quantity) -> tuple[float, float]:
    values = quantity.numbers(records)
    return fmean(values), stdev(values) if len(values) > 1 else float("nan")


def _spread_text(rows: pd.DataFrame, title: str, digits: int) -> str:
    if title not in rows.index:
        return "-"
    return numbers.mean_std(rows.y[title], rows.error[title], digits)


def draw_times(frame: pd.DataFrame, hues: Sequence[str], part: str = "coefficients") -> Figure:
    """Draw a line for each algorithm in each panel, on logarithmic axes.

    Parameters
    ----------
    frame : pandas.DataFrame
        Tidy points: x is the varied number, y the CPU time in seconds.
    hues : sequence of str
        The algorithms, each of which has one look in all panels.
    part : {"coefficients", "fit"}, default="coefficients"
        Part of the training that the times are of.

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
        headline=times_headline(frame),
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


def times_headline(frame: pd.DataFrame) -> str:
    """Say who takes longest in the end of the last panel, and how many times the least."""
    panel = frame.panel.iloc[-1]
    times = frame[frame.panel == panel].pivot(index="x", columns="hue", values="y").dropna()
    if times.shape[1] < 2 or times.empty:
        return ""
    last = times.iloc[-1]
    ratio = numbers.ratio(last.max() / last.min())
    text = f"{last.idxmax()} takes {ratio} times as long as {last.idxmin()}"
    return f"With {int(last.name)} {panel} {text}"


@dataclass(frozen=True)
class CountPanel(LinesPanel):
    """A picture of numbers against a whole number."""

    rows: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Times(FigureDefinition):
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
        notes = [*sentence(times_headline(frame)), *notes]
        figure = draw_times(frame, titles, self.seconds)
        return Drawing(figure, results, notes, facts, ["CPU seconds", *titles])


def _time_text(records: list[dict] | None, part: Quantity) -> str:
    if records is None:
        return "-"
    n_rounds = ROUNDS.mean(records)
    text = numbers.seconds(part.mean(records))
    return text if n_rounds is None else f"{text} ({n_rounds:.0f} rounds)"
