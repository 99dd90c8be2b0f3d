"""Findings of a table: differences between columns, and agreement with published numbers."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import groupby
from math import isnan
from statistics import median
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.analysis.comparison import compare_columns, paired
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
#: Explanations of `published_listing` by rule, see `Agreement.verdict`.
COMPARISON_EXPLANATIONS = {
    rule: "Difference: ours minus published, with Welch's 95% interval. "
    f"{_POWER_HEADING}: the difference that would have been detected with this probability. "
    f"{verdicts}"
    for rule, verdicts in _VERDICT_RULES.items()
}

#: Cells are named if their reference job took longer or shorter than the median by this factor.
_MAX_SPEED_RATIO = 1.25


class PairedTests(NamedTuple):
    """Wilcoxon's signed-rank tests of the chosen pairs of columns.

    Attributes
    ----------
    results : list of (ColumnPair, str, Wilcoxon, float)
        Pair, unit of the paired numbers, test, and p-value with Holm's correction.
    n_tests : int
        Number of tests that the correction is for.
    notes : list of str
        Notes on repeated rows.
    """

    results: list[tuple[ColumnPair, str, Wilcoxon, float]]
    n_tests: int
    notes: list[str]


def compare_pairs(table: Table) -> PairedTests:
    """Compare the chosen pairs of columns by the Wilcoxon signed-rank test: see `paired`.

    If the matrix of all pairs stands below the table, its tests are used.
    """
    every_two = compare_columns(table, list(table.fits)) if table.matrix else None
    if every_two and every_two.tests:
        of_pair = {frozenset((test.a, test.b)): test for test in every_two.tests}
        chosen = [(pair, of_pair[frozenset(pair[:2])]) for pair in table.compare]
        unit = every_two.pairs.unit
        results = [(pair, unit, test.wilcoxon, test.holm) for pair, test in chosen]
        return PairedTests(results, len(every_two.tests), [])
    numbers = {pair: paired(table, [pair.a, pair.b]) for pair in table.compare}
    tests = {
        pair: wilcoxon(pairs.differences(0, 1))
        for pair, pairs in numbers.items()
        if len(pairs.numbers) > 1
    }
    corrected = holm([test.p for test in tests.values()])
    results = [
        (pair, numbers[pair].unit, test, p)
        for (pair, test), p in zip(tests.items(), corrected, strict=True)
    ]
    repeated = [replace(pairs, left_out=[]).note for pairs in numbers.values() if pairs.repeated]
    return PairedTests(results, len(tests), list(dict.fromkeys(repeated)))


def summarize_tests(table: Table) -> str:
    """Return the results of `compare_pairs` as one paragraph, empty without tests.

    A result that the paper states follows ours. One test alone is reported by the papers'
    procedure, several by their p-values with Holm's correction.
    """
    tests = compare_pairs(table)
    if not tests.results:
        return " ".join(tests.notes)
    labels = {name: column.label for name, column in table.columns.items()}
    if tests.n_tests == 1:
        [(pair, unit, test, _)] = tests.results
        sentences = [test.sentence(f"{labels[pair.a]} against {labels[pair.b]}", unit)]
        statements = [pair.published]
    else:
        sizes = [f"{test.n} {unit}" for _, unit, test, _ in tests.results]
        is_common = len(set(sizes)) == 1
        # Consecutive pairs with the same first column name it once.
        groups = groupby(zip(tests.results, sizes, strict=True), lambda each: each[0][0].a)
        results = [
            f"{labels[first]} "
            + ", ".join(
                f"against {labels[pair.b]} {numbers.p_value(p)}{'' if is_common else f' ({size})'}"
                for (pair, _, _, p), size in group
            )
            for first, group in groups
        ]
        sentences = [
            f"Wilcoxon's signed-rank test{f' over {sizes[0]}' if is_common else ''}, p-values with "
            f"Holm's correction for {tests.n_tests} tests: {'; '.join(results)}."
        ]
        statements = [
            f"{labels[pair.a]} against {labels[pair.b]} without a correction: statistic "
            f"{test.statistic:g}, critical value "
            f"{'none' if test.critical is None else test.critical}. {pair.published}"
            for pair, _, test, _ in tests.results
            if pair.published
        ]
    return " ".join(filter(None, [*sentences, *statements, *tests.notes]))


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
    lines, rule = [], "tost"
    for (row, column), cell in table.cells.items():
        rule = cell.rule
        if cell.target is None:
            continue
        agreement = cell.agreement
        difference, detectable, verdict = "-", "-", format_verdict(cell) if cell.values else "-"
        if agreement:
            digits = cell.quantity.digits
            difference = numbers.fixed(agreement.difference, digits, "+")
            if not isnan(agreement.half):
                difference += f" ± {numbers.fixed(agreement.half, digits)}"
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
        lines.append(
            Line(texts, is_known=bool(cell.values), verdict=cell.verdict, search_text=search_text)
        )
    return Listing(
        "Beside the published numbers",
        ["data", "algorithm", "published", "ours", "difference", _POWER_HEADING, "verdict"],
        lines,
        COMPARISON_EXPLANATIONS[rule],
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
            if column.beside is not None and entry.published
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

    def spent(cell: Cell) -> str:
        parts = ("fit", "weak_learner", "coefficients")
        times = " / ".join(format_time(cell, part) for part in parts)
        return times + STALE * bool(cell.stale) if cell.n_finished else "-"

    return Listing(
        _SECONDS,
        ["data", *table.fits.values()],
        [
            Line([title, *(spent(table.cells[row, name]) for name in table.fits)])
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
    spent = {where: seconds for where, seconds in averages.items() if seconds is not None}
    if not spent:
        return []
    usual = median(spent.values())
    sentence = (
        f"The reference job, which tells how fast a machine is, took {numbers.seconds(usual)} s"
    )
    exceptions = ", ".join(
        f"{where} ({numbers.seconds(seconds)})"
        for where, seconds in spent.items()
        if not usual / _MAX_SPEED_RATIO < seconds < usual * _MAX_SPEED_RATIO
    )
    if exceptions:
        sentence += ", except in these cells, whose times do not compare with the rest: "
        sentence += exceptions
    return [f"{sentence}."]


def runs_listing(runs: Collection[RecordedExperiment]) -> Listing:
    """List runs with their metrics, settings and dates."""
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
