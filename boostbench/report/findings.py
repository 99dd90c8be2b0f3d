"""Findings of a table: tests between columns, and lists of published numbers, times and runs.

`boostbench.report.document` puts the results into the document of a table.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import groupby
from math import isnan
from statistics import median
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.analysis.comparison import compare_columns, pair_columns
from boostbench.analysis.runs import RecordedExperiment, available_metrics
from boostbench.analysis.statistics.agreement import MARGIN, POWER, SHORT
from boostbench.analysis.statistics.friedman import holm
from boostbench.analysis.statistics.wilcoxon import Wilcoxon, wilcoxon
from boostbench.analysis.tables import ColumnPair, Table
from boostbench.analysis.verdicts import CORRECTED, WITHOUT_POOL, Tally
from boostbench.fitting.quantities import CALIBRATION, Quantity
from boostbench.report import wording
from boostbench.report.blocks import Line, Listing, Row
from boostbench.report.wording import (
    STALE,
    format_marks,
    format_number,
    format_published,
    format_rounds,
    format_splits,
    format_time,
    format_verdict,
)
from boostbench.util import numbers

_POWER_HEADING = f"{POWER:.0%} power"
_SECONDS = "CPU seconds"
_VERDICT_RULES = {
    "tost": f"Reproduced: ours is shown to lie within {MARGIN:.0%} of the published error, even if "
    "it differs; better, worse: the interval excludes 0; undecided: neither.",
    "power": "Reproduced: the interval contains 0, and that difference is at most "
    f"{MARGIN:.0%} of the published error; undecided: the interval contains 0, and it is more.",
}
#: Explanations of `published_listing` by the rule of the verdicts: two one-sided tests for a margin
#: (``"tost"``), or the power of one test (``"power"``, the rule of version 1.0).
COMPARISON_EXPLANATIONS = {
    rule: "Difference: ours minus published, with Welch's 95% interval. "
    f"{_POWER_HEADING}: the difference that would have been detected with this probability. "
    f"{verdicts}"
    for rule, verdicts in _VERDICT_RULES.items()
}

#: The reference job is a fixed computation that scales CPU times between machines. Cells are named
#: if it took longer or shorter than the median by this factor.
_MAX_SPEED_RATIO = 1.25


class PairResult(NamedTuple):
    """Result of a test of two columns.

    Attributes
    ----------
    pair : ColumnPair
        Columns, and the paper's own result.
    unit : str
        Unit of the paired numbers: ``"data sets"`` or ``"splits"``.
    test : Wilcoxon
        Wilcoxon's signed-rank test.
    holm_p : float
        P-value with Holm's correction.
    """

    pair: ColumnPair
    unit: str
    test: Wilcoxon
    holm_p: float


class PairResults(NamedTuple):
    """Tests of the pairs of columns that a table's definition compares.

    Attributes
    ----------
    results : list of PairResult
        Results of the pairs with two common numbers or more.
    n_tests : int
        Number of tests that Holm's correction is for: these pairs, or all pairs of the table.
    notes : list of str
        Notes on rows that repeat the data of another row.
    """

    results: list[PairResult]
    n_tests: int
    notes: list[str]


def _compare_pairs(table: Table) -> PairResults:
    """Compare the pairs of columns that the definition names, by Wilcoxon's signed-rank test.

    If a matrix of all pairs stands below the table, its tests are used, so that both show the same
    p-values.
    """
    # 1) If the table has a matrix, select the pairs from its tests.
    all_pairs = compare_columns(table, list(table.fits)) if table.matrix else None
    if all_pairs and all_pairs.tests:
        tests = {frozenset((test.a, test.b)): test for test in all_pairs.tests}
        results = []
        for pair in table.compare:
            test = tests[frozenset((pair.a, pair.b))]
            unit = all_pairs.paired_numbers.unit
            results.append(PairResult(pair, unit, test.wilcoxon, test.holm))
        return PairResults(results, len(tests), [])
    # 2) If it has none, test the pairs alone.
    numbers_of_pairs = {pair: pair_columns(table, [pair.a, pair.b]) for pair in table.compare}
    tests = {
        pair: wilcoxon(paired_numbers.differences(0, 1))
        for pair, paired_numbers in numbers_of_pairs.items()
        if paired_numbers.n_pairs > 1
    }
    corrected = holm([test.p for test in tests.values()])
    results = [
        PairResult(pair, numbers_of_pairs[pair].unit, test, p)
        for (pair, test), p in zip(tests.items(), corrected, strict=True)
    ]
    # The table shows itself where numbers are missing, so that the notes leave these rows out.
    notes = [
        replace(paired_numbers, left_out=[]).note
        for paired_numbers in numbers_of_pairs.values()
        if paired_numbers.repeated
    ]
    return PairResults(results, len(tests), list(dict.fromkeys(notes)))


def summarize_tests(table: Table) -> str:
    """Return the tests of the compared pairs of columns as one paragraph, empty without tests.

    A single test is reported as the papers do, by its statistic and critical value; several tests
    by their p-values with Holm's correction. The paper's own results follow ours.
    """
    pair_results = _compare_pairs(table)
    if not pair_results.results:
        return " ".join(pair_results.notes)
    labels = {name: column.label for name, column in table.columns.items()}
    if pair_results.n_tests == 1:
        [result] = pair_results.results
        pair = result.pair
        title = f"{labels[pair.a]} against {labels[pair.b]}"
        sentences = [result.test.sentence(title, result.unit)]
        statements = [pair.published]
    else:
        # The number of pairs is stated once if all tests have the same.
        sizes = {f"{result.test.n} {result.unit}" for result in pair_results.results}
        common_size = f" over {min(sizes)}" if len(sizes) == 1 else ""
        # Consecutive pairs with the same first column name it once.
        texts = []
        for first, results in groupby(pair_results.results, lambda result: result.pair.a):
            opponents = [
                f"against {labels[result.pair.b]} {numbers.p_value(result.holm_p)}"
                + ("" if common_size else f" ({result.test.n} {result.unit})")
                for result in results
            ]
            texts.append(f"{labels[first]} {', '.join(opponents)}")
        sentences = [
            f"Wilcoxon's signed-rank test{common_size}, p-values with Holm's correction for "
            f"{pair_results.n_tests} tests: {'; '.join(texts)}."
        ]
        statements = [
            f"{labels[pair.a]} against {labels[pair.b]} without a correction: statistic "
            f"{test.statistic:g}, critical value "
            f"{'none' if test.critical is None else test.critical}. {pair.published}"
            for pair, _, test, _ in pair_results.results
            if pair.published
        ]
    return " ".join(filter(None, [*sentences, *statements, *pair_results.notes]))


def published_listing(table: Table) -> Listing:
    """List every published number with ours beside it.

    Parameters
    ----------
    table : Table

    Returns
    -------
    Listing
        Data, algorithm, published, ours, difference with its 95% interval, the detectable
        difference, and the verdict, with its basis unless that is Welch's interval. The last
        three are ``"-"`` if we have no number.
    """
    lines = []
    for (row, column), cell in table.cells.items():
        if cell.target is None:
            continue
        agreement = cell.agreement
        difference, detectable, verdict = "-", "-", format_verdict(cell) if cell.values else "-"
        if agreement:
            digits = cell.quantity.digits
            difference = numbers.fixed(agreement.difference, digits, "+")
            if not isnan(agreement.half_width):
                difference += f" ± {numbers.fixed(agreement.half_width, digits)}"
                detectable = numbers.fixed(agreement.detectable, digits)
            if agreement.basis in SHORT:
                verdict += f" ({SHORT[agreement.basis]})"
        names = [table.rows[row], table.columns[column].label]
        texts = [
            *names,
            format_published(cell),
            format_number(cell) + format_marks(cell),
            difference,
            detectable,
            verdict,
        ]
        # The table cell has the same search text, so that a search finds both.
        search_text = f"{names[0]} {row} {cell.data} {names[1]} {cell.algo}".lower()
        search_text = f"{search_text} {cell.verdict}"
        is_known = bool(cell.values)
        lines.append(Line(texts, is_known=is_known, verdict=cell.verdict, search_text=search_text))
    return Listing(
        "Beside the published numbers",
        ["data", "algorithm", "published", "ours", "difference", _POWER_HEADING, "verdict"],
        lines,
        # All cells of a table have the same rule.
        COMPARISON_EXPLANATIONS[next(iter(table.cells.values())).rule],
        verdict_summary(table),
        difference_notes(table),
    )


def difference_notes(table: Table) -> list[str]:
    """Return the notes on numbers that are not reproduced, each with its cells."""
    labels = defaultdict(list)
    for (row, column), cell in table.cells.items():
        if cell.agreement and cell.note:
            labels[cell.note, table.rows[row]].append(table.columns[column].label)
    cells_of_note = defaultdict(list)
    for (note, row), row_labels in labels.items():
        cells_of_note[note].append(f"{row} ({', '.join(row_labels)})")
    return [f"{'; '.join(cells)}: {note}" for note, cells in cells_of_note.items()]


def verdict_summary(table: Table) -> str:
    """Count the verdicts: ``"3 published numbers: 1 reproduced, 1 worse, 1 not run."``."""
    tally = Tally.from_cells(table.cells.values())
    sentences = [f"{tally}."]
    if tally.is_corrected:
        sentences.append(CORRECTED)
    if tally.without_pool:
        sentences.append(WITHOUT_POOL)
    if tally.repeated:
        cells = "cell is" if tally.repeated == 1 else "cells are"
        sentences.append(f"{tally.repeated} more {cells} beside a number that counts already.")
    return " ".join(sentences)


def cpu_listing(table: Table, rows: Iterable[Row]) -> Listing:
    """List every published CPU time with ours beside it, and their ratios, without a verdict.

    Parameters
    ----------
    table : Table
    rows : iterable of Row
        Printed rows of the table.
    """
    lines, columns = [], list(table.columns.values())
    for name, row in zip(table.rows, rows, strict=True):
        times = [
            (column.label, entry.published, entry.text)
            for column, entry in zip(columns, row.entries, strict=False)
            if column.is_time and entry.published
        ]
        for pair, entry in zip(table.speedup, row.entries[len(columns) :], strict=True):
            slow, fast = (table.published_time(name, column) for column in pair)
            if slow and fast:
                label = f"speed-up of {table.columns[pair[1]].label}"
                times.append((label, numbers.ratio(slow.mean / fast.mean), entry.text))
        lines += [Line([row.title, *texts], is_known=texts[-1] != "-") for texts in times]
    explanation = (
        f"{' '.join(wording.explain_times(table))} The machines differ, so there is no verdict."
    )
    return Listing(_SECONDS, ["data", "algorithm", "published", "ours"], lines, explanation)


def cpu_parts_listing(table: Table) -> Listing:
    """List the CPU seconds of each fit and of its parts, and the speed of the machines."""

    def format_cell(cell: Cell) -> str:
        parts = ("fit", "weak_learner", "coefficients")
        times = " / ".join(format_time(cell, part) for part in parts)
        return times + STALE * bool(cell.stale) if cell.n_finished else "-"

    return Listing(
        _SECONDS,
        ["data", *table.fits.values()],
        [
            Line([title, *(format_cell(table.cells[row, name]) for name in table.fits)])
            for row, title in table.rows.items()
        ],
        "Means per split, on one core: whole fit / weak learners / coefficients.",
        reasons=reference_job_sentences(table),
        n_names=1,
        is_appendix=True,
    )


def reference_job_sentences(table: Table) -> list[str]:
    """Return a sentence on the speed of the machines, with the cells of unusual speed.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    list of str
        One sentence; empty without records.
    """
    averages = {
        f"{label} on {title}": table.cells[row, name].average(CALIBRATION)
        for row, title in table.rows.items()
        for name, label in table.fits.items()
    }
    # Records of a user-defined measure may have no times.
    recorded = {cell: seconds for cell, seconds in averages.items() if seconds is not None}
    if not recorded:
        return []
    usual = median(recorded.values())
    sentence = (
        f"The reference job, which tells how fast a machine is, took {numbers.seconds(usual)} s"
    )
    exceptions = ", ".join(
        f"{cell} ({numbers.seconds(seconds)})"
        for cell, seconds in recorded.items()
        if not usual / _MAX_SPEED_RATIO < seconds < usual * _MAX_SPEED_RATIO
    )
    if exceptions:
        sentence += ", except in these cells, whose times do not compare with the rest: "
        sentence += exceptions
    return [f"{sentence}."]


def runs_listing(runs: Collection[RecordedExperiment]) -> Listing:
    """List recorded experiments with their metrics, settings and dates, one per line."""
    quantities = available_metrics(runs)
    heads = ["data", "algorithm"]
    heads += [f"{quantity.title} {quantity.symbol}".rstrip() for quantity in quantities]
    heads += ["splits", "rounds", "fit s", "settings", "finished"]
    lines = []
    for run in runs:
        names = [run.cell.data, run.cell.title]
        texts = [
            *names,
            *(_format_metric(run.cell, quantity) for quantity in quantities),
            format_splits(run.cell),
            format_rounds(run.cell),
            format_time(run.cell, "fit"),
            run.settings or "-",
            run.finished[:10] or "-",
        ]
        lines.append(Line(texts, search_text=" ".join([*names, run.settings or "-"]).lower()))
    explanation = (
        "Mean (standard deviation) over the splits. Settings: what is not at its default. CPU "
        "seconds of a fit, on one core."
    )
    return Listing("Runs", heads, lines, explanation)


def _format_metric(cell: Cell, quantity: Quantity) -> str:
    """Return the mean of a quantity with its deviation; ``"-"`` if the records do not have it."""
    cell = replace(cell, quantity=quantity)
    return format_number(cell) if cell.values or not cell.n_finished else "-"
