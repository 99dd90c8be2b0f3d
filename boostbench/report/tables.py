"""A table of a paper, from cells: rows are data sets, columns are algorithms."""

from dataclasses import dataclass, field
from typing import NamedTuple

from boostbench.report import numbers
from boostbench.report.cells import STALE, Cell

#: Stands behind a number that not all splits are behind.
PARTIAL = "‡"

#: Which part of a record's seconds can be shown: what it is, and how many of its unit are a second.
PARTS = {
    "fit": ("seconds per split of the whole fit", 1),
    "weak_learner": ("seconds per split to find the weak learners", 1),
    "coefficients": ("seconds per split to find the coefficients", 1),
    "predict_per_instance": ("microseconds to predict an instance of the test part", 1e6),
}


@dataclass(frozen=True)
class Column:
    """What is shown of one algorithm.

    Attributes
    ----------
    label : str
        Names the column where it stands alone, in sentences and lists.
    title : str
        Heading.
    group : str, default=""
        Heading over several columns.
    rounds : int, default=None
        The test error is that after so many rounds; the best is sought among columns of equal
        `rounds`.
    seconds : {"fit", "weak_learner", "coefficients", "predict_per_instance"}, default=None
        CPU time that is shown in a column of its own.
    """

    label: str
    title: str
    group: str = ""
    rounds: int | None = None
    seconds: str | None = None

    @property
    def fit(self) -> str:
        """Name what was fitted: several numbers of rounds are of one fit, their `group`."""
        return self.group if self.rounds else self.label

    def in_unit(self, seconds: float) -> float:
        """Convert `seconds` to the unit in which this column shows them."""
        return seconds * PARTS[self.seconds][1]

    def spent(self, cell: Cell) -> float | None:
        """Give a cell's CPU time, in the unit in which it is shown; None where it is not known."""
        seconds = cell.seconds(self.seconds)
        return None if seconds is None else self.in_unit(seconds)


@dataclass(frozen=True)
class Pair:
    """Two columns to be compared, and what the paper says of them, if anything."""

    a: str
    b: str
    published: str | None = None


class Entry(NamedTuple):
    """Text in a table, and whether it is the best of its row."""

    text: str
    best: bool


@dataclass(frozen=True)
class Table:
    """Results in a paper's layout.

    Attributes
    ----------
    name : str
        Names the files.
    title : str
        Heading.
    rows : dict of str to str
        Titles of the data sets, by name.
    columns : dict of str to Column
        Columns by name.
    cells : dict
        ``Cell`` of each ``(row, column)``.
    compare : list of Pair
        Pairs of columns for the significance test.
    classes : dict of str to int
        Numbers of classes by row, where the table shows them.
    uncounted : set of str
        Rows that are a second version of another row's data: they take no part in the tests.
    changes : list of str
        What is not as the table is defined, e.g. ``"protocol.n_splits=3"``.
    remarks : list of str
        What a reader must know beside the numbers, one sentence each.
    speedup : list of (str, str)
        Pairs of columns of which the CPU time of the first is divided by that of the second.
    paper : str, default=""
        The paper whose table it is, e.g. ``"randomboost"``.
    """

    name: str
    title: str
    rows: dict[str, str]
    columns: dict[str, Column]
    cells: dict[tuple[str, str], Cell]
    compare: list[Pair] = field(default_factory=list)
    classes: dict[str, int] = field(default_factory=dict)
    uncounted: set[str] = field(default_factory=set)
    changes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    speedup: list[tuple[str, str]] = field(default_factory=list)
    paper: str = ""

    @property
    def heads(self) -> list[tuple[str, str]]:
        """Group and title of each column that is printed."""
        heads = []
        for column in self.columns.values():
            if column.seconds:
                group = column.label
                heads += [(group, "Test error"), (group, "CPU time")]
            else:
                heads.append((column.group, column.title))
        return heads + [("Speed-up", self.columns[fast].label) for _, fast in self.speedup]

    @property
    def fits(self) -> dict[str, str]:
        """What was fitted, by the column of its last round."""
        last = list(self.columns.values())[-1].rounds
        return {name: column.fit for name, column in self.columns.items() if column.rounds == last}

    def entries(self, row: str) -> list[Entry]:
        """Give what is printed of a row, under `heads`."""
        entries = []
        best, fastest = self.best(row), self.fastest(row)
        for name, column in self.columns.items():
            cell = self.cells[row, name]
            text = cell.text + (PARTIAL if cell.is_partial else "")
            entries.append(Entry(text, name in best))
            if column.seconds:
                spent = numbers.seconds(column.spent(cell))
                entries.append(Entry(spent, name in fastest))
        ratios = [numbers.seconds(self.ratio(row, pair)) for pair in self.speedup]
        return entries + [Entry(ratio, False) for ratio in ratios]

    def ratio(self, row: str, pair: tuple[str, str]) -> float | None:
        """Divide the CPU time of one column by that of another; None where one is not known."""
        slow, fast = (self.columns[name].spent(self.cells[row, name]) for name in pair)
        return slow / fast if slow is not None and fast else None

    def label(self, row: str) -> str:
        """``"dna (3 classes)"``, or only the title."""
        n_classes = self.classes.get(row)
        return self.rows[row] + (f" ({n_classes} classes)" if n_classes else "")

    def best(self, row: str) -> set[str]:
        """Columns with the lowest mean of a row, as printed, among those of equal rounds."""
        errors = {
            name: (column.rounds, round(self.cells[row, name].mean, 1))
            for name, column in self.columns.items()
            if self.cells[row, name].errors
        }
        return _lowest(errors)

    def fastest(self, row: str) -> set[str]:
        """Columns with the least CPU time of a row, as printed."""
        spent = {
            name: column.spent(self.cells[row, name])
            for name, column in self.columns.items()
            if column.seconds
        }
        return _lowest(
            {
                name: (None, float(numbers.seconds(value)))
                for name, value in spent.items()
                if value is not None
            }
        )

    @property
    def caption(self) -> str:
        """What the numbers are."""
        counts = sorted({len(cell.errors) for cell in self.cells.values() if cell.errors})
        splits = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "the"
        text = f"Test error in percent: mean (standard deviation) over {splits} splits."
        text = " ".join([text, *self.times])
        if len({column.rounds for column in self.columns.values()}) > 1:
            return f"{text} Best in bold, among those after the same number of rounds."
        return f"{text} Best in bold."

    @property
    def times(self) -> list[str]:
        """What the CPU times are, and their ratios."""
        parts = dict.fromkeys(c.seconds for c in self.columns.values() if c.seconds)
        slow = dict.fromkeys(self.columns[slow].label for slow, _ in self.speedup)
        return [
            *(f"CPU time: {PARTS[part][0]}." for part in parts),
            *(f"Speed-up: CPU time of {label} by that of the algorithm." for label in slow),
        ]

    @property
    def headline(self) -> str | None:
        """Tell what is not as the table is defined; None when nothing is."""
        return f"Not as the table is defined: {', '.join(self.changes)}." if self.changes else None

    @property
    def notes(self) -> list[str]:
        """What a reader must know beside the numbers, one sentence each."""
        cells = self.cells
        absent = dict.fromkeys(
            self.rows[row] for (row, _), cell in cells.items() if not cell.available
        )
        partial = [
            f"{self.columns[column].label} on {self.rows[row]} ({cell.splits})"
            for (row, column), cell in cells.items()
            if cell.is_partial
        ]
        notes = [*self.remarks, *([f"Not available: {', '.join(absent)}."] if absent else [])]
        if self.uncounted and self.compare:
            rows = ", ".join(self.rows[row] for row in self.rows if row in self.uncounted)
            notes.append(f"A second version of the same data, not counted in the tests: {rows}.")
        if partial:
            notes.append(f"{PARTIAL} over a part of the splits: {', '.join(partial)}.")
        if any(cell.text == "not reached" for cell in cells.values()):
            notes.append("Not reached: fewer boosting rounds were asked for.")
        if any(cell.stale for cell in cells.values()):
            notes.append(stale_note())
        return notes


def stale_note() -> str:
    """Explain the mark of stale numbers."""
    return f"{STALE} made by other code than today's, at least in part; rerun=stale runs it again."


def _lowest(values: dict[str, tuple]) -> set[str]:
    """Give the names whose value is the lowest of their class, from ``{name: (class, value)}``."""
    lowest = {}
    for kind, value in values.values():
        lowest[kind] = min(value, lowest.get(kind, value))
    return {name for name, (kind, value) in values.items() if value == lowest[kind]}
