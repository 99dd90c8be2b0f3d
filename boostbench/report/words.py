"""The words around a table: what its numbers are, and what a reader must know."""

from collections import Counter
from collections.abc import Iterable

from boostbench.analysis.cells import ELSEWHERE, PARTIAL, STALE, Cell
from boostbench.analysis.statistics.folds import INDEPENDENT
from boostbench.analysis.tables import Table

POOL_NOTE = (
    "Where samples are drawn first, the paper seems to have drawn them once for all splits of a "
    "table. So the intervals there include the variance of this draw."
)

FOLD_NOTE = (
    "The splits are folds. So the intervals there use the variance between whole cross-validations "
    "and not that of independent splits."
)

#: So many partial means are named one by one.
_NAMED = 6


def caption(table: Table) -> str:
    """Say what the numbers are."""
    counts = sorted({len(cell.values) for cell in table.cells.values() if cell.values})
    number = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "the"
    splits = f"{number} split" if counts == [1] else f"{number} splits"
    unit = f" in {table.quantity.unit}" if table.quantity.unit else ""
    text = f"{table.quantity.title}{unit}: mean (standard deviation) over {splits}."
    text = " ".join([text, *times(table)])
    if len({column.rounds for column in table.columns.values()}) > 1:
        return f"{text} Best in bold, among those after the same number of rounds."
    return f"{text} Best in bold."


def times(table: Table) -> list[str]:
    """Say what the CPU times are, and their ratios."""
    shown = [column.quantity for column in table.columns.values() if column.beside is not None]
    slow = [table.columns[slow].label for slow, _ in table.speedup]
    sentences = [f"CPU time: {quantity.explanation}." for quantity in shown]
    sentences += [f"Speed-up: CPU time of {label} by that of the algorithm." for label in slow]
    return list(dict.fromkeys(sentences))


def changes_note(table: Table) -> str | None:
    """Say what is not as the table is defined; None when nothing is."""
    return f"Not as the table is defined: {', '.join(table.changes)}." if table.changes else None


def notes(table: Table) -> list[str]:
    """Return the remarks on a table, and the sentences on stale numbers and refits."""
    return remarks(table) + freshness(table.cells.values(), table.fitted)


def remarks(table: Table) -> list[str]:
    """Return the remarks that a reader needs beside the numbers, one sentence each."""
    cells = table.cells
    absent = dict.fromkeys(
        table.rows[row] for (row, _), cell in cells.items() if not cell.available
    )
    sentences = [*table.remarks, *([f"Data not available: {', '.join(absent)}."] if absent else [])]
    if table.uncounted and table.compare:
        rows = ", ".join(table.rows[row] for row in table.rows if row in table.uncounted)
        sentences.append(f"A second version of the same data, not counted in the tests: {rows}.")
    sentences += partial(table)
    if any(cell.text == "not reached" for cell in cells.values()):
        sentences.append("Not reached: fewer boosting rounds were asked for.")
    silent = (cell.title for cell in cells.values() if cell.text == "not recorded")
    if titles := ", ".join(dict.fromkeys(silent)):
        sentences.append(f"Not recorded: fits of {titles} do not tell this number.")
    if any(cell.departures and cell.target for cell in cells.values()):
        sentences.append(
            f"{ELSEWHERE} published of another protocol or other parameters, so there is no "
            "verdict."
        )
    if any(cell.agreement and cell.agreement.basis == "pool" for cell in cells.values()):
        sentences.append(POOL_NOTE)
    if any(cell.agreement and cell.fold_ratio != INDEPENDENT for cell in cells.values()):
        sentences.append(FOLD_NOTE)
    return sentences


def partial(table: Table) -> list[str]:
    """Explain the mark of partial means, if there are any: where they are, or of many how many."""
    cells = {place: cell for place, cell in table.cells.items() if cell.is_partial}
    places = [
        f"{table.columns[column].label} on {table.rows[row]} ({cell.splits})"
        for (row, column), cell in cells.items()
    ]
    if len(places) > _NAMED:
        counts = Counter(cell.splits for cell in cells.values())
        places = [f"{splits} (in {n} cell{'s' * (n > 1)})" for splits, n in counts.items()]
    return [f"{PARTIAL} over a part of the splits: {', '.join(places)}."] if places else []


def freshness(cells: Iterable[Cell], fitted: Iterable[Cell]) -> list[str]:
    """Say what today's code does not give, and what it was seen to give.

    Parameters
    ----------
    cells, fitted : iterable of Cell
        All that are shown; of these, each fit once.
    """
    stale = (
        f"{STALE} of an older edition of the algorithm, or not what it gives today, at least in "
        "part; rerun=stale runs it again."
    )
    sentences = [stale] if any(cell.stale for cell in cells) else []
    fitted = [cell for cell in fitted if cell.records]
    findings = [cell.finding for cell in fitted if cell.finding]
    if not findings:
        return sentences
    last = max(findings, key=lambda finding: finding.when)
    n_verified = sum(finding.is_verified for finding in findings)
    verified = f"{n_verified} of {len(fitted)} results are verified by refits"
    return [*sentences, f"{verified}; last on {last.when[:10]} (commit {last.commit})."]
