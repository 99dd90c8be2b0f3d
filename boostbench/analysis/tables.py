"""A table of a paper, from cells: rows are data sets, columns are algorithms."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.fitting.quantities import TEST_ERROR, Quantity
from boostbench.papers.notes import Claim
from boostbench.papers.published import Published
from boostbench.util import numbers


@dataclass(frozen=True)
class Column:
    """Column of a table: a quantity of an algorithm.

    Attributes
    ----------
    label : str
        Names the column where it stands alone, in sentences and lists.
    title : str
        Heading.
    group : str, default=""
        Heading over several columns.
    quantity : Quantity, default=TEST_ERROR
        Quantity of the column. The best is sought among columns of equal `quantity` and `rounds`.
    rounds : int, default=None
        Number of boosting rounds after which the quantity is read. None: after the last.
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
        """Name of the fit; several numbers of rounds share a fit, their `group`."""
        return self.group if self.rounds else self.label


class ColumnPair(NamedTuple):
    """Pair of columns that is compared, and the paper's own result as a sentence, if any."""

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
        Columns by name; a column of CPU times follows the column that it is `beside`.
    cells : dict
        ``Cell`` of each ``(row, column)``, without the columns of CPU times.
    compare : list of ColumnPair
        Pairs of columns for the significance test.
    classes : dict of str to int
        Numbers of classes by row, where the table shows them.
    uncounted : set of str
        Rows that are a second version of another row's data: they take no part in the tests.
    changes : list of str
        Settings that differ from the definition, e.g. ``"protocol.n_splits=3"``.
    remarks : list of str
        Remarks on the numbers, one sentence each.
    speedup : list of (str, str)
        Pairs of columns of CPU times of which the first is divided by the second.
    paper : str, default=""
        The paper whose table it is, e.g. ``"randomboost"``.
    claims : list of Claim
        Claims of the paper.
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
        """Columns with cells, that is, without columns of CPU times."""
        return {name: column for name, column in self.columns.items() if column.beside is None}

    @property
    def quantity(self) -> Quantity:
        """Quantity of the results."""
        return next(iter(self.columns.values())).quantity

    @property
    def fits(self) -> dict[str, str]:
        """Names of the fits by their column after the last round."""
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
        """Return the CPU time of a column of times; None if it is unknown."""
        column = self.columns[name]
        return self.cells[row, column.beside].average(column.quantity)

    def published_time(self, row: str, name: str) -> Published | None:
        """Return the published CPU time of a column of times; None if there is none."""
        column = self.columns[name]
        return self.cells[row, column.beside].published.get(column.quantity.name)

    def ratio(self, row: str, pair: tuple[str, str]) -> float | None:
        """Return the ratio of the CPU times of two columns; None if one is unknown."""
        slow, fast = (self.time(row, name) for name in pair)
        return slow / fast if slow is not None and fast else None

    def best(self, row: str) -> set[str]:
        """Return the columns with the best printed number of a row, among equal rounds."""
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
        """Return the printed number of a cell; None without a number or a better direction."""
        column = self.columns[name]
        if column.beside is not None:
            time = self.time(row, name)
            return None if time is None else float(numbers.seconds(time))
        cell = self.cells[row, name]
        if column.quantity.better is None or not cell.values:
            return None
        return float(numbers.rounded(cell.mean, column.quantity.digits))
