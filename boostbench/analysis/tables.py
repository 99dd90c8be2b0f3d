"""A table of a paper, from cells: rows are data sets, columns are algorithms."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.fitting.quantities import TEST_ERROR, Quantity
from boostbench.papers.claims import Claim
from boostbench.papers.published import Published
from boostbench.util import numbers


@dataclass(frozen=True)
class Column:
    """One quantity of one algorithm.

    Attributes
    ----------
    label : str
        Names the column where it stands alone, in sentences and lists.
    title : str
        Heading.
    group : str, default=""
        Heading over several columns.
    quantity : Quantity, default=TEST_ERROR
        What it shows. The best is sought among columns of equal `quantity` and `rounds`.
    rounds : int, default=None
        The number is that after so many boosting rounds.
    beside : str, default=None
        Name of the column whose fits it shows a CPU time of; None for a column with cells of its
        own.
    """

    label: str
    title: str
    group: str = ""
    quantity: Quantity = TEST_ERROR
    rounds: int | None = None
    beside: str | None = None

    @property
    def fit(self) -> str:
        """Name what was fitted: several numbers of rounds are of one fit, their `group`."""
        return self.group if self.rounds else self.label


class ColumnPair(NamedTuple):
    """Two columns to be compared, and what the paper says of them, if anything."""

    a: str
    b: str
    published: str | None = None


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
        Columns by name; those of CPU times stand behind the one that they are `beside`.
    cells : dict
        ``Cell`` of each ``(row, column)``, without the columns of CPU times.
    compare : list of ColumnPair
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
        Pairs of columns of CPU times of which the first is divided by the second.
    paper : str, default=""
        The paper whose table it is, e.g. ``"randomboost"``.
    claims : list of Claim
        What the paper says in words.
    matrix : bool, default=False
        Whether every two columns are compared, below the table.
    rope : float, default=None
        For that, numbers that differ by no more are equal for practical purposes.
    """

    name: str
    title: str
    rows: dict[str, str]
    columns: dict[str, Column]
    cells: dict[tuple[str, str], Cell]
    compare: list[ColumnPair] = field(default_factory=list)
    classes: dict[str, int] = field(default_factory=dict)
    uncounted: set[str] = field(default_factory=set)
    changes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    speedup: list[tuple[str, str]] = field(default_factory=list)
    paper: str = ""
    claims: list[Claim] = field(default_factory=list)
    matrix: bool = False
    rope: float | None = None

    @property
    def results(self) -> dict[str, Column]:
        """Columns with cells of their own, that is, without those of CPU times."""
        return {name: column for name, column in self.columns.items() if column.beside is None}

    @property
    def quantity(self) -> Quantity:
        """What the results are."""
        return next(iter(self.columns.values())).quantity

    @property
    def fits(self) -> dict[str, str]:
        """What was fitted, by the column of its last round."""
        last = list(self.results.values())[-1].rounds
        return {name: column.fit for name, column in self.results.items() if column.rounds == last}

    @property
    def fitted(self) -> list[Cell]:
        """Cells of the last round, so that each fit is there once."""
        return [cell for (_, column), cell in self.cells.items() if column in self.fits]

    def judged_by(self, rule: str) -> "Table":
        """Return the same table with the verdicts of another rule; see `Agreement.verdict`."""
        cells = {place: replace(cell, rule=rule) for place, cell in self.cells.items()}
        return replace(self, cells=cells)

    def time(self, row: str, name: str) -> float | None:
        """Give what a column of CPU times shows; None where it is not known."""
        column = self.columns[name]
        return self.cells[row, column.beside].average(column.quantity)

    def published_time(self, row: str, name: str) -> Published | None:
        """Give the published CPU time of a column of them; None where the paper has none."""
        column = self.columns[name]
        return self.cells[row, column.beside].published.get(column.quantity.name)

    def ratio(self, row: str, pair: tuple[str, str]) -> float | None:
        """Divide the CPU time of one column by that of another; None where one is not known."""
        slow, fast = (self.time(row, name) for name in pair)
        return slow / fast if slow is not None and fast else None

    def best(self, row: str) -> set[str]:
        """Columns with the best number of a row, as printed, among those of equal rounds."""
        printed: dict[tuple, dict[str, float]] = {}
        for name, column in self.columns.items():
            number = self._printed(row, name)
            if number is not None:
                kind = (column.quantity.name, column.rounds)
                printed.setdefault(kind, {})[name] = column.quantity.sign * number
        return {
            name
            for of_one_kind in printed.values()
            for name, number in of_one_kind.items()
            if number == min(of_one_kind.values())
        }

    def _printed(self, row: str, name: str) -> float | None:
        """Give the number of a place as it is printed; None without one, or where none is best."""
        column = self.columns[name]
        if column.beside is not None:
            time = self.time(row, name)
            return None if time is None else float(numbers.seconds(time))
        cell = self.cells[row, name]
        if column.quantity.better is None or not cell.values:
            return None
        return float(numbers.rounded(cell.mean, column.quantity.digits))
