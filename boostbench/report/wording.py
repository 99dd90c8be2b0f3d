"""Wording of cells and tables: numbers as text, captions and notes.

All formats and figures take their wording from here, so that they agree.
"""

from collections import Counter
from collections.abc import Iterable

from boostbench.analysis.cells import Cell, CellResult
from boostbench.analysis.result_table import Table
from boostbench.analysis.statistics.resampled import INDEPENDENT
from boostbench.fitting.quantities import QUANTITIES, SCORES
from boostbench.util.numbers import format_seconds, mean_std

#: Mark of a number with stale records: of an older edition of the algorithm, or refuted by a refit.
STALE = "†"

#: Mark of a mean over a part of the splits.
PARTIAL = "‡"

#: Mark of a published number of an experiment with other settings.
OTHER_SETTINGS = "§"

#: Remark on a table with intervals that include the variance of a drawn pool of samples.
POOL_NOTE = (
    "Where samples are drawn first, the paper seems to have drawn them once for all splits of a "
    "table. So the intervals there include the variance of this draw."
)

#: Remark on a table with intervals from the folds of cross-validations.
FOLD_NOTE = (
    "The splits are folds. So the intervals there use the variance between whole cross-validations "
    "and not that of independent splits."
)

#: Up to this many partial means are named one by one; more are counted, to keep the remark short.
_MAX_NAMED_CELLS = 6


def format_number(cell: CellResult) -> str:
    """Return mean and deviation, ``"2.9 (2.4)"``, or the reason why there is no number."""
    if cell.status:
        return cell.status
    # CPU times have three significant digits and no deviation.
    if cell.quantity.of_machine:
        return format_seconds(cell.mean)
    return mean_std(cell.mean, cell.std, cell.quantity.digits)


def stale_mark(cell: CellResult) -> str:
    """Return `STALE` if a record behind the number is stale, else an empty string."""
    return STALE if cell.stale and cell.numbers else ""


def format_marks(cell: CellResult) -> str:
    """Return the marks behind the number of a cell: `STALE`, `PARTIAL`, both or none."""
    return stale_mark(cell) + PARTIAL * cell.is_partial


def format_splits(cell: CellResult) -> str:
    """Return the number of splits: ``"10"``, or ``"8 of 10"`` if some failed or have not run."""
    is_complete = cell.n_finished == cell.n_splits
    return str(cell.n_splits) if is_complete else f"{cell.n_finished} of {cell.n_splits}"


def format_rounds(cell: CellResult) -> str:
    """Return the mean number of boosting rounds, ``"-"`` if it is unknown."""
    return "-" if cell.n_iterations is None else f"{cell.n_iterations:.0f}"


def format_time(cell: CellResult, part: str) -> str:
    """Return the mean of a CPU time in seconds; ``"-"`` if it is unknown.

    Parameters
    ----------
    cell : CellResult
    part : str
        Name of the time in `QUANTITIES`: ``"fit"``, ``"weak_learner"``.
    """
    return format_seconds(cell.finished_splits.average(QUANTITIES[part]))


def format_chosen(cell: CellResult) -> str:
    """Return tuned values by frequency: ``"nu=0.001 (6 of 10), nu=0.01 (4 of 10)"``.

    Frequencies are omitted if all splits chose the same; the text is empty without tuning.
    """
    if len(cell.chosen) < 2:
        return "".join(cell.chosen)
    return ", ".join(
        f"{setting} ({count} of {cell.n_finished})" for setting, count in cell.chosen.most_common()
    )


def format_published(cell: Cell) -> str:
    """Return the published number, marked if its experiment has other settings; or ``""``."""
    return f"{cell.target}{OTHER_SETTINGS if cell.departures else ''}" if cell.target else ""


def format_verdict(cell: Cell) -> str:
    """Return the verdict; a reproduced number that differs is ``"reproduced, higher"``."""
    if cell.verdict != "reproduced" or not cell.agreement.differs:
        return cell.verdict
    return f"reproduced, {'higher' if cell.agreement.difference > 0 else 'lower'}"


def caption(table: Table) -> str:
    """Return the caption: quantity, unit, number of splits, CPU times and bold numbers."""
    counts = sorted({len(cell.numbers) for cell in table.cells.values() if cell.numbers})
    if not counts:
        splits = "the splits"
    elif len(counts) > 1:
        splits = f"{counts[0]} to {counts[-1]} splits"
    else:
        splits = f"{counts[0]} split{'s' * (counts[0] > 1)}"
    unit = f" in {table.quantity.unit}" if table.quantity.unit else ""
    text = f"{table.quantity.title}{unit}: mean (standard deviation) over {splits}."
    text = " ".join([text, *explain_times(table)])
    if len({column.rounds for column in table.columns.values()}) > 1:
        return f"{text} Best in bold, among those after the same number of rounds."
    return f"{text} Best in bold."


def explain_times(table: Table) -> list[str]:
    """Return sentences on the CPU times of a table and their ratios, each of them once."""
    quantities = [column.quantity for column in table.columns.values() if column.is_time]
    slow_labels = [table.columns[slow].label for slow, _ in table.speedup_pairs]
    sentences = [f"CPU time: {quantity.explanation}." for quantity in quantities]
    sentences += [
        f"Speed-up: CPU time of {label} by that of the algorithm." for label in slow_labels
    ]
    return list(dict.fromkeys(sentences))


def changes_note(table: Table) -> str | None:
    """Return a sentence on settings that differ from the definition; None if none does."""
    return f"Not as the table is defined: {', '.join(table.changes)}." if table.changes else None


def table_notes(table: Table) -> list[str]:
    """Return all sentences below a comparison: `remarks`, then `freshness_notes`."""
    return remarks(table) + freshness_notes(table.cells.values(), table.last_round_cells)


def remarks(table: Table) -> list[str]:
    """Return the remarks that a reader needs beside the numbers, one sentence each."""
    cells = table.cells.values()
    # 1) Numbers that are absent, or that do not count.
    sentences = list(table.remarks)
    absent = dict.fromkeys(
        table.rows[row] for (row, _), cell in table.cells.items() if not cell.available
    )
    if absent:
        sentences.append(f"Data not available: {', '.join(absent)}.")
    # Rows that do not count matter only below a table with tests.
    if table.uncounted and table.compared_pairs:
        rows = ", ".join(table.rows[row] for row in table.rows if row in table.uncounted)
        sentences.append(f"A second version of the same data, not counted in the tests: {rows}.")
    sentences += partial_notes(table)
    if any(cell.status == "not reached" for cell in cells):
        sentences.append("Not reached: fewer boosting rounds were asked for.")
    sentences += _not_recorded_notes(table)
    # 2) Published numbers, and the intervals of the verdicts on them.
    if any(cell.departures and cell.target for cell in cells):
        sentences.append(
            f"{OTHER_SETTINGS} published of another protocol or other parameters, so there is no "
            "verdict."
        )
    if any(cell.agreement and cell.agreement.basis == "pool" for cell in cells):
        sentences.append(POOL_NOTE)
    if any(cell.agreement and cell.fold_ratio != INDEPENDENT for cell in cells):
        sentences.append(FOLD_NOTE)
    return sentences


def _not_recorded_notes(table: Table) -> list[str]:
    """Return a sentence on algorithms whose fits did not record the quantity; or an empty list."""
    cells = table.cells.values()
    titles = dict.fromkeys(cell.title for cell in cells if cell.status == "not recorded")
    if not titles:
        return []
    advice = ""
    if any(cell.quantity.name in SCORES for cell in cells):
        # Fits of earlier versions recorded no scores.
        advice = f" If they have scores, 'boostbench table {table.name} rerun=all' records them."
    return [f"Not recorded: fits of {', '.join(titles)} do not tell this number.{advice}"]


def partial_notes(table: Table) -> list[str]:
    """Return a sentence that explains `PARTIAL` and names its cells; or an empty list."""
    cells = {place: cell for place, cell in table.cells.items() if cell.is_partial}
    places = [
        f"{table.columns[column].label} on {table.rows[row]} ({format_splits(cell)})"
        for (row, column), cell in cells.items()
    ]
    if len(places) > _MAX_NAMED_CELLS:
        counts = Counter(map(format_splits, cells.values()))
        places = [f"{splits} (in {n} cell{'s' * (n > 1)})" for splits, n in counts.items()]
    return [f"{PARTIAL} over a part of the splits: {', '.join(places)}."] if places else []


def freshness_notes(
    cells: Iterable[CellResult], last_round_cells: Iterable[CellResult]
) -> list[str]:
    """Return sentences on stale records and on refits, which verify records by repeating them.

    Parameters
    ----------
    cells : iterable of CellResult
        All cells that are shown.
    last_round_cells : iterable of CellResult
        Cells after the last round, see `Table.last_round_cells`, so that a fit counts once.
    """
    stale = (
        f"{STALE} of an older edition of the algorithm, or not what it gives today, at least in "
        "part; rerun=stale runs it again."
    )
    sentences = [stale] if any(cell.stale for cell in cells) else []
    recorded = [cell for cell in last_round_cells if cell.n_finished]
    findings = [cell.finding for cell in recorded if cell.finding]
    if not findings:
        return sentences
    last = max(findings, key=lambda finding: finding.when)
    n_verified = sum(finding.is_verified for finding in findings)
    verified = f"{n_verified} of {len(recorded)} results are verified by refits"
    return [*sentences, f"{verified}; last on {last.when[:10]} (commit {last.commit})."]
