"""Lists below a table: published numbers, CPU times and runs, each with the sentences below it.

`boostbench.report.document` puts them into the document of a table. The tests between columns are
in `boostbench.report.column_tests`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from math import isnan
from statistics import median

from boostbench.analysis.cells import Cell
from boostbench.analysis.recorded_experiments import RecordedExperiment, available_metrics
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics.agreement import MARGIN, POWER, SHORT_BASES
from boostbench.analysis.verdicts import CORRECTED, WITHOUT_POOL, count_verdicts
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
        difference, detectable, verdict = "-", "-", format_verdict(cell) if cell.numbers else "-"
        if agreement:
            digits = cell.quantity.digits
            difference = numbers.fixed(agreement.difference, digits, "+")
            if not isnan(agreement.half_width):
                difference += f" ± {numbers.fixed(agreement.half_width, digits)}"
                detectable = numbers.fixed(agreement.detectable, digits)
            if agreement.basis in SHORT_BASES:
                verdict += f" ({SHORT_BASES[agreement.basis]})"
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
        has_our_number = bool(cell.numbers)
        lines.append(
            Line(
                texts, has_our_number=has_our_number, verdict=cell.verdict, search_text=search_text
            )
        )
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
    tally = count_verdicts(table.cells.values())
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
        for pair, entry in zip(table.speedup_pairs, row.entries[len(columns) :], strict=True):
            slow, fast = (table.published_cpu_time(name, column) for column in pair)
            if slow and fast:
                label = f"speed-up of {table.columns[pair[1]].label}"
                times.append((label, numbers.format_ratio(slow.mean / fast.mean), entry.text))
        lines += [Line([row.title, *texts], has_our_number=texts[-1] != "-") for texts in times]
    explanation = (
        f"{' '.join(wording.explain_times(table))} The machines differ, so there is no verdict."
    )
    return Listing(_SECONDS, ["data", "algorithm", "published", "ours"], lines, explanation)


def cpu_parts_listing(table: Table) -> Listing:
    """List the CPU seconds of each fit and of its parts, and the speed of the machines.

    An algorithm has one column, of the fits that its column after the last round shows.
    """

    def format_cell(cell: Cell) -> str:
        parts = ("fit", "weak_learner", "coefficients")
        times = " / ".join(format_time(cell, part) for part in parts)
        return times + STALE * bool(cell.stale) if cell.n_finished else "-"

    return Listing(
        _SECONDS,
        ["data", *table.last_round_labels.values()],
        [
            Line(
                [title, *(format_cell(table.cells[row, name]) for name in table.last_round_labels)]
            )
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
        f"{label} on {title}": table.cells[row, name].finished_splits.average(CALIBRATION)
        for row, title in table.rows.items()
        for name, label in table.last_round_labels.items()
    }
    # Records of a user-defined measure may have no times.
    recorded = {cell: seconds for cell, seconds in averages.items() if seconds is not None}
    if not recorded:
        return []
    usual = median(recorded.values())
    usual_time = numbers.format_seconds(usual)
    sentence = f"The reference job, which tells how fast a machine is, took {usual_time} s"
    exceptions = ", ".join(
        f"{cell} ({numbers.format_seconds(seconds)})"
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
    return format_number(cell) if cell.numbers or not cell.n_finished else "-"
