"""Curves: test errors against boosting rounds, from the records of a table."""

from collections.abc import Sequence
from itertools import combinations
from math import nan, sqrt
from statistics import fmean, stdev
from typing import ClassVar, Literal

import msgspec
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from boostbench.analysis.cells import test_train_ratio_of_records
from boostbench.analysis.statistics import LEVEL
from boostbench.analysis.statistics.friedman import average_ranks, holm
from boostbench.analysis.statistics.resampled import corrected_t
from boostbench.analysis.statistics.wilcoxon import wilcoxon
from boostbench.figures.definition import Drawing, FigureDefinition, headline_note
from boostbench.figures.panels import Point, draw_line_with_band, draw_panels, set_log_ticks, tidy
from boostbench.figures.sources import SplitRecords, caveats, find_cells
from boostbench.figures.style import plain_ticks, style
from boostbench.fitting.quantities import TEST_ERROR, Quantity
from boostbench.records.schema import Record
from boostbench.util.errors import UserError
from boostbench.util.numbers import rounded

_MAX_COLUMNS = 4  # panels in a row
_PANEL_HEIGHT = 1.6  # inches


def curve_points(curves: Sequence[SplitRecords]) -> pd.DataFrame:
    """Return the mean test error at the checkpoints that all splits of a curve have.

    Parameters
    ----------
    curves : sequence of SplitRecords
        Records of an algorithm (hue) on a data set (panel), in the order of panels and hues.

    Returns
    -------
    pandas.DataFrame
        Tidy points: x is the number of boosting rounds, y the mean test error in percent, and the
        error is the standard error of the mean over the splits.
    """
    points = []
    for curve in curves:
        for rounds in sorted(_common_checkpoints(curve.records)):
            errors = TEST_ERROR.numbers(curve.records, rounds)
            standard_error = stdev(errors) / sqrt(len(errors)) if len(errors) > 1 else nan
            points.append(Point(curve.panel, curve.hue, rounds, fmean(errors), standard_error))
    return tidy(points)


def _common_checkpoints(records: Sequence[Record]) -> set[int]:
    """Return the numbers of rounds after which all records have errors; empty without records."""
    checkpoints = [set(map(int, record.checkpoints)) for record in records]
    return set.intersection(*checkpoints) if checkpoints else set()


def draw_curves(
    curves: Sequence[SplitRecords], error_axis: Literal["log", "linear"] = "log", headline: str = ""
) -> Figure:
    """Draw the mean test error at the checkpoints, on a logarithmic axis of rounds.

    Bands are standard errors.

    Parameters
    ----------
    curves : sequence of SplitRecords
        See `curve_points`; curves without records are not drawn.
    error_axis : {"log", "linear"}, default="log"
        Scale of the axis of test errors.
    headline : str, default=""
        Sentence above the panels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    figure, grid = draw_panels(
        curve_points(curves),
        draw_line_with_band,
        panels=panels,
        hues=list(dict.fromkeys(curve.hue for curve in curves)),
        # A row with fewer panels than places leaves a place for the legend.
        n_columns=min(_MAX_COLUMNS, len(panels) + 1),
        height=_PANEL_HEIGHT,
        x_label="boosting rounds",
        y_label="test error (%)",
        headline=headline,
        legend="free place",
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


def curves_headline(curves: Sequence[SplitRecords]) -> str:
    """Return a sentence on the best algorithm after the last shared round, if a test allows it.

    Parameters
    ----------
    curves : sequence of SplitRecords
        See `curve_points`.

    Returns
    -------
    str
        Empty unless one algorithm differs from each other one at the 5% level after Holm's
        correction for all pairs: over several data sets by Wilcoxon's signed-rank test, over the
        splits of one data set by the corrected resampled t-test.
    """
    # 1) Select the panels in which every algorithm has records, and the last round of all curves.
    recorded = {(curve.panel, curve.hue): curve.records for curve in curves if curve.records}
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    hues = list(dict.fromkeys(hue for _, hue in recorded))
    records_by_panel = [
        [recorded[panel, hue] for hue in hues]
        for panel in panels
        if all((panel, hue) in recorded for hue in hues)
    ]
    shared = _common_checkpoints(
        [record for panel in records_by_panel for records in panel for record in records]
    )
    if not shared or len(hues) < 2:
        return ""
    # 2) Test the errors after that round: over data sets, or over the splits of the only one. A
    #    panel has the records of a data set, for each hue: an algorithm.
    last = max(shared)
    if len(panels) > 1:
        means = [
            [TEST_ERROR.mean(records, last) for records in records_by_hue]
            for records_by_hue in records_by_panel
        ]
        best = best_column(rounded(np.array(means), TEST_ERROR.digits))
        scope, test_name = f"{len(means)} data sets", "Wilcoxon's test"
    else:
        errors, test_ratio = numbers_on_shared_splits(records_by_panel[0], TEST_ERROR, last)
        best = None if test_ratio is None else best_column(errors, test_ratio)
        scope, test_name = panels[0], "corrected t-test"
    if best is None:
        return ""
    return f"After {last} rounds {hues[best]} errs least on {scope} ({test_name}, Holm)"


def best_column(losses: np.ndarray, test_ratio: float | None = None) -> int | None:
    """Return the column that tests show to be lower than each other column.

    Parameters
    ----------
    losses : ndarray of shape (n_pairs, n_columns)
        Losses of the algorithms (columns) on data sets or splits (rows).
    test_ratio : float, default=None
        Number of tested samples per training sample, for the corrected resampled t-test of splits
        that share samples; None: Wilcoxon's signed-rank test of independent rows.

    Returns
    -------
    int or None
        None unless all tests with the best column reject after Holm's correction for all pairs.
    """
    if len(losses) < 2:
        return None
    pairs = list(combinations(range(losses.shape[1]), 2))
    differences = [losses[:, a] - losses[:, b] for a, b in pairs]
    p_values = holm(
        [wilcoxon(d).p if test_ratio is None else corrected_t(d, test_ratio) for d in differences]
    )
    best = int(np.argmin(average_ranks(losses) if test_ratio is None else losses.mean(axis=0)))
    is_shown = all(p <= LEVEL for pair, p in zip(pairs, p_values, strict=True) if best in pair)
    return best if is_shown else None


def numbers_on_shared_splits(
    records_by_algorithm: Sequence[Sequence[Record]], quantity: Quantity, rounds: int | None = None
) -> tuple[np.ndarray, float | None]:
    """Return the numbers of several algorithms on the splits that all of them have.

    Parameters
    ----------
    records_by_algorithm : sequence of sequence of Record
        Records of the splits of each algorithm on one data set.
    quantity : Quantity
    rounds : int, default=None
        Number of boosting rounds after which the quantity is read. None: after the last.

    Returns
    -------
    numbers : ndarray of shape (n_shared_splits, n_algorithms)
    test_ratio : float or None
        Number of tested samples per training sample, for `corrected_t`; None if the splits are
        not random.
    """
    number_of_split = [
        {record.split: quantity.number(record, rounds) for record in records}
        for records in records_by_algorithm
    ]
    shared = sorted(set.intersection(*map(set, number_of_split)))
    paired = np.array(
        [[numbers[split] for numbers in number_of_split] for split in shared], dtype=float
    )
    return paired.reshape(-1, len(records_by_algorithm)), test_train_ratio_of_records(
        [record for records in records_by_algorithm for record in records]
    )


class Curves(FigureDefinition, frozen=True, kw_only=True):
    """Figure of test errors against boosting rounds.

    Attributes
    ----------
    table : str
        The table whose records are drawn.
    columns : list of str
        Its columns; by default all.
    error_axis : {"log", "linear"}, default="log"
        Scale of the axis of test errors.
    """

    kind: ClassVar[str] = "curves"

    table: str
    columns: list[str] = msgspec.field(default_factory=list)
    error_axis: Literal["log", "linear"] = "log"

    def draw(self, overrides: list[str]) -> Drawing:
        """Draw the figure: see `FigureDefinition.draw`."""
        rows, results = find_cells(self.table, overrides, columns=self.columns)
        recorded = [cell for row in rows for cell in row.cells if cell.n_finished]
        # An algorithm of another package may have no boosting rounds, and so no curve.
        with_rounds = {
            cell.title
            for cell in recorded
            if any(r.checkpoints for r in cell.finished_splits.records)
        }
        without_rounds = list(
            dict.fromkeys(cell.title for cell in recorded if cell.title not in with_rounds)
        )
        curves = [
            SplitRecords(cell.data, cell.title, cell.finished_splits.records)
            for row in rows
            if any(cell.n_finished for cell in row.cells)
            for cell in row.cells
            if cell.title not in without_rounds
        ]
        if not curves:
            raise UserError(f"nothing of table {self.table} has a test error after some rounds")
        notes = caveats(rows)
        if without_rounds:
            notes.append(f"No curve, as it has no boosting rounds: {', '.join(without_rounds)}.")
        headline = curves_headline(curves)
        figure = draw_curves(curves, self.error_axis, headline)
        return Drawing(figure, results, [*headline_note(headline), *notes])
