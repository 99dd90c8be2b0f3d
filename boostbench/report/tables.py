"""A table of a paper, from cells: rows are data sets, columns are algorithms."""

from dataclasses import dataclass, field

from boostbench.report.cells import STALE, Cell
from boostbench.report.significance import wilcoxon

_NOT_AVAILABLE = "not available"


@dataclass(frozen=True)
class Table:
    """Results in a paper's layout.

    Attributes
    ----------
    title : str
        Heading.
    rows : list of str
        Data sets.
    columns : dict of str to str
        Titles of the algorithms, by name.
    cells : dict
        ``Cell`` of each ``(row, column)`` that was asked for and could be had.
    unavailable : list of str
        Data sets that could not be had.
    uncounted : set of str
        Rows that are a second version of another row's data: they take no part in the tests.
    overrides : list of str
        What the user changed in the protocol or the algorithms.
    """

    title: str
    rows: list[str]
    columns: dict[str, str]
    cells: dict[tuple[str, str], Cell]
    unavailable: list[str] = field(default_factory=list)
    uncounted: set[str] = field(default_factory=set)
    overrides: list[str] = field(default_factory=list)

    def text(self, row: str, column: str) -> str:
        """Text of a cell."""
        cell = self.cells.get((row, column))
        return cell.text if cell else _NOT_AVAILABLE

    def best(self, row: str) -> set[str]:
        """Columns with the lowest mean of a row, as printed."""
        means = {
            column: round(self.cells[row, column].mean, 1)
            for column in self.columns
            if (row, column) in self.cells and self.cells[row, column].records
        }
        return {column for column, mean in means.items() if mean == min(means.values())}

    @property
    def caption(self) -> str:
        """What the numbers are."""
        counts = {len(cell.records) for cell in self.cells.values()}
        splits = f"{counts.pop()} splits" if len(counts) == 1 else "the splits"
        return f"Test error in percent: mean (standard deviation) over {splits}."

    @property
    def notes(self) -> list[str]:
        """What a reader must know beside the numbers, one sentence each."""
        notes = [f"Not available: {', '.join(self.unavailable)}."] if self.unavailable else []
        notes += [
            f"{cell.title} on {cell.data}: only {cell.splits} splits, the others failed."
            for cell in self.cells.values()
            if cell.failures
        ]
        if any(cell.stale for cell in self.cells.values()):
            notes.append(stale_note())
        if self.overrides:
            notes.append(f"Changed from the table's definition: {' '.join(self.overrides)}")
        return notes


def stale_note() -> str:
    """Explain the mark of stale numbers."""
    return f"{STALE} made by other code than today's, at least in part; rerun=stale runs it again."


def significance(table: Table) -> list[str]:
    """Compare the first algorithm with each of the others by the Wilcoxon signed-rank test.

    Parameters
    ----------
    table : Table
        The pairs are its data sets; or, when it has only one, the splits.

    Returns
    -------
    list of str
        One sentence for each other column, where there are pairs.
    """
    first, *others = table.columns
    lines = []
    for other in others:
        a, b, pairs = _pairs(table, first, other)
        if len(a) > 1:
            titles = table.columns[first], table.columns[other]
            lines.append(wilcoxon(a, b).sentence(*titles, pairs))
    return lines


def _pairs(table: Table, first: str, other: str) -> tuple[list[float], list[float], str]:
    both = [
        (table.cells[row, first], table.cells[row, other])
        for row in table.rows
        if row not in table.uncounted and {(row, first), (row, other)} <= table.cells.keys()
    ]
    if len(table.rows) == 1:
        errors = [(a.errors, b.errors) for a, b in both]
        splits = [(a[split], b[split]) for a, b in errors for split in a if split in b]
        return [a for a, _ in splits], [b for _, b in splits], "paired splits"
    means = [(a.mean, b.mean) for a, b in both if a.records and b.records]
    return [a for a, _ in means], [b for _, b in means], "data sets"
