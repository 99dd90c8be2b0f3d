"""Tables of cells, rows are data sets and columns are algorithms; and one table from several."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.fitting.quantities import TEST_ERROR, Quantity
from boostbench.papers.notes import Claim
from boostbench.papers.published import Published, find_quantity
from boostbench.util import numbers
from boostbench.util.errors import join_words


@dataclass(frozen=True)
class Column:
    """Column of a table: a quantity of an algorithm.

    Attributes
    ----------
    label : str
        Name of the column in sentences and lists.
    title : str
        Heading.
    group : str, default=""
        Heading over several columns.
    quantity : Quantity, default=TEST_ERROR
        Quantity of the column. The best is sought among columns of equal `quantity` and `rounds`.
    rounds : int, default=None
        Number of boosting rounds after which the quantity is read. None: after the last.
    timed_column : str, default=None
        For a column of CPU times, the name of the column of results whose fits took them; None for
        a column of results.
    """

    label: str
    title: str
    group: str = ""
    quantity: Quantity = TEST_ERROR
    rounds: int | None = None
    timed_column: str | None = None

    @property
    def is_time(self) -> bool:
        """True if the column shows CPU times of the fits of another column."""
        return self.timed_column is not None

    @property
    def label_without_rounds(self) -> str:
        """Label of the algorithm, the `group` of its columns for several numbers of rounds."""
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
        Name of the table, and of its files.
    title : str
        Heading.
    rows : dict of str to str
        Titles of the data sets, by name.
    columns : dict of str to Column
        Columns by name; a column of CPU times follows its `timed_column`.
    cells : dict of (str, str) to Cell
        Cells by the names of their row and column; columns of CPU times have no cells.
    compared_pairs : list of ColumnPair
        Pairs of columns for the significance tests below the table.
    classes : dict of str to int
        Numbers of classes by row, where the table shows them.
    uncounted : set of str
        Names of rows that are a second version of another row's data and take no part in the tests.
    changes : list of str
        Settings that differ from the definition, e.g. ``"protocol.n_splits=3"``.
    remarks : list of str
        Remarks on the numbers, one sentence each.
    speedup_pairs : list of (str, str)
        Pairs of columns of CPU times of which the first is divided by the second.
    paper : str, default=""
        The paper whose table it is, e.g. ``"randomboost"``.
    claims : list of Claim
        Claims of the paper.
    has_matrix : bool, default=False
        Whether every two columns are compared, below the table.
    rope : float, default=None
        Region of practical equivalence in this matrix: numbers that differ by no more are equal
        for practical purposes. None: one point of a percentage.
    """

    name: str
    title: str
    rows: dict[str, str]
    columns: dict[str, Column]
    cells: dict[tuple[str, str], Cell]
    compared_pairs: list[ColumnPair] = field(default_factory=list)
    classes: dict[str, int] = field(default_factory=dict)
    uncounted: set[str] = field(default_factory=set)
    changes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    speedup_pairs: list[tuple[str, str]] = field(default_factory=list)
    paper: str = ""
    claims: list[Claim] = field(default_factory=list)
    has_matrix: bool = False
    rope: float | None = None

    @cached_property
    def result_columns(self) -> dict[str, Column]:
        """Columns with cells, that is, without columns of CPU times."""
        return {name: column for name, column in self.columns.items() if not column.is_time}

    @property
    def quantity(self) -> Quantity:
        """Quantity of the results."""
        return next(iter(self.columns.values())).quantity

    @cached_property
    def last_round_labels(self) -> dict[str, str]:
        """Labels of the algorithms by the name of their column after the last round."""
        last = list(self.result_columns.values())[-1].rounds
        return {
            name: column.label_without_rounds
            for name, column in self.result_columns.items()
            if column.rounds == last
        }

    @property
    def last_round_cells(self) -> list[Cell]:
        """Cells of the columns after the last round, so that each fit is there once."""
        return [
            cell for (_, column), cell in self.cells.items() if column in self.last_round_labels
        ]

    def replace_rule(self, rule: str) -> "Table":
        """Return the same table with verdicts by another rule, ``"tost"`` or ``"power"``."""
        cells = {place: replace(cell, rule=rule) for place, cell in self.cells.items()}
        return replace(self, cells=cells)

    def cpu_time(self, row: str, name: str) -> float | None:
        """Return the CPU time of a column of times; None if it is unknown."""
        column = self.columns[name]
        return self.cells[row, column.timed_column].finished_splits.average(column.quantity)

    def published_cpu_time(self, row: str, name: str) -> Published | None:
        """Return the published CPU time of a column of times; None if there is none."""
        column = self.columns[name]
        return find_quantity(self.cells[row, column.timed_column].published, column.quantity.name)

    def cpu_time_ratio(self, row: str, pair: tuple[str, str]) -> float | None:
        """Return a column's CPU time divided by another's; None if one of them is unknown."""
        slow, fast = (self.cpu_time(row, name) for name in pair)
        return slow / fast if slow is not None and fast else None

    def best_columns(self, row: str) -> set[str]:
        """Return the columns with the best printed number of a row, among equal rounds."""
        # Losses (less is better) of the columns, by quantity and rounds: only these compete.
        losses = defaultdict(dict)
        for name, column in self.columns.items():
            number = self._printed_number(row, name)
            if number is not None:
                losses[column.quantity.name, column.rounds][name] = column.quantity.sign * number
        return {
            name
            for group in losses.values()
            for name, loss in group.items()
            if loss == min(group.values())
        }

    def _printed_number(self, row: str, name: str) -> float | None:
        """Return the number of a cell as it is printed, for `best_columns`.

        None without a number, and for a quantity of which neither more nor less is better.
        """
        column = self.columns[name]
        if column.is_time:
            time = self.cpu_time(row, name)
            return None if time is None else float(numbers.format_seconds(time))
        cell = self.cells[row, name]
        if column.quantity.better is None or not cell.numbers:
            return None
        return float(numbers.rounded(cell.mean, column.quantity.digits))


class MergedTable(NamedTuple):
    """Table of rows from several tables.

    Attributes
    ----------
    table : Table
    sources : list of str
        Name of the table that each row comes from, in the order of the rows.
    """

    table: Table
    sources: list[str]


class _MergedRow(NamedTuple):
    """Row of a merged table.

    Attributes
    ----------
    name, title : str
        Name of the row in its table, and title of the data set.
    table : str
        Name of the table that the row comes from.
    cells : tuple of Cell
        A cell for each algorithm, in the order in which they are asked for.
    """

    name: str
    title: str
    table: str
    cells: tuple[Cell, ...]

    @property
    def n_numbers(self) -> int:
        """Number of cells that have a number."""
        return sum(bool(cell.numbers) for cell in self.cells)

    @property
    def checksums(self) -> set[str]:
        """Checksums of the recorded data."""
        return {checksum for cell in self.cells for checksum in cell.finished_splits["checksum"]}

    def has_other_data(self, other: "_MergedRow") -> bool:
        """Return True if both rows have records, and no data set in common."""
        ours, theirs = self.checksums, other.checksums
        return bool(ours and theirs) and ours.isdisjoint(theirs)


def find_column(columns: Iterable[str], name: str) -> str | None:
    """Find an algorithm among the columns of a table.

    Parameters
    ----------
    columns : iterable of str
        Names of columns, such as ``rboost_proj`` or, after 50 rounds, ``rboost_proj@50``; columns
        of CPU times are left out.
    name : str
        One of them, with or without its rounds.

    Returns
    -------
    str or None
        Without rounds, the column of the last; None where there is none.

    Examples
    --------
    >>> find_column(["a@50", "a@100", "b"], "a"), find_column(["a@50", "a@100"], "a@50")
    ('a@100', 'a@50')
    """
    columns = list(columns)
    if name in columns:
        return name
    of_algorithm = [column for column in columns if column.partition("@")[0] == name]
    return of_algorithm[-1] if of_algorithm else None


def merge(tables: Sequence[Table], names: Sequence[str], data: Collection[str] = ()) -> MergedTable:
    """Join the rows of several tables that have some algorithms in common.

    Parameters
    ----------
    tables : sequence of Table
        Tables that have all of the columns. A row that several of them have, with one name and data
        set, counts once: in the first table with numbers of the most algorithms. Rows of one name
        and different data are distinguished by the names of their tables. Tables with another
        heading of a name than the first table, or another quantity, are left out.
    names : sequence of str
        Names of columns, see `find_column`.
    data : collection of str, default=()
        Names of the rows; by default all, without second versions of the same data.

    Returns
    -------
    MergedTable
        The table has a column for each of `names`, and compares each two of them. Its `remarks`
        name the table of each number, and the tables that were left out.
    """
    # 1) Choose the tables and their rows. Tables with another quantity or other headings than the
    #    first are left out. A row of several tables is taken from the one with the most numbers.
    first = tables[0]
    rows, left_out = {}, []
    for table in tables:
        difference = _difference_from(first, table, names)
        if difference:
            left_out.append(f"Left out is {table.name}, {difference}.")
            continue
        for row in _rows_to_merge(table, names, data):
            name = row.name
            # A data set of the same name with other content gets a row for itself.
            if name in rows and row.has_other_data(rows[name]):
                name = f"{name} ({table.name})"
                row = row._replace(title=f"{row.title} ({table.name})")
            if name not in rows or row.n_numbers > rows[name].n_numbers:
                rows[name] = row
    # 2) Make the table.
    labels = {name: _algorithm_label(first, name) for name in names}
    # The paper's statement on two algorithms is repeated only beside the numbers of its whole
    # table: not beside chosen rows, or rows of several tables.
    whole_table = first if len(tables) - len(left_out) == 1 and not data else None
    table = Table(
        name="compare",
        title=(" against ".join if len(names) == 2 else join_words)(list(labels.values())),
        rows={name: row.title for name, row in rows.items()},
        columns={
            name: Column(label, label, quantity=first.quantity) for name, label in labels.items()
        },
        cells={
            (name, column): cell
            for name, row in rows.items()
            for column, cell in zip(names, row.cells, strict=True)
        },
        compared_pairs=[
            ColumnPair(a, b, _published_statement(whole_table, a, b))
            for a, b in combinations(names, 2)
        ],
        remarks=[
            *_source_sentence(row for row in rows.values() if row.n_numbers == len(names)),
            *left_out,
        ],
    )
    return MergedTable(table, [row.table for row in rows.values()])


def _difference_from(first: Table, table: Table, names: Sequence[str]) -> str:
    """Return why numbers of a table cannot stand beside the first table's; empty if they can."""
    if table.quantity.name != first.quantity.name:
        return "of another quantity"
    titles = zip(
        names, _algorithm_titles(first, names), _algorithm_titles(table, names), strict=True
    )
    differing = [f"{name} is {title}" for name, expected, title in titles if title != expected]
    return f"where {join_words(differing)}" if differing else ""


def _rows_to_merge(
    table: Table, names: Sequence[str], data: Collection[str]
) -> Iterator[_MergedRow]:
    """Yield the rows of a table that are asked for, see `merge`."""
    columns = [find_column(table.result_columns, name) for name in names]
    for row, title in table.rows.items():
        if row in data if data else row not in table.uncounted:
            cells = tuple(table.cells[row, column] for column in columns)
            yield _MergedRow(row, title, table.name, cells)


def _algorithm_label(table: Table, name: str) -> str:
    """Return a column's label, without its rounds unless `name` has them."""
    column = table.columns[find_column(table.result_columns, name)]
    return column.label if "@" in name else column.label_without_rounds


def _algorithm_titles(table: Table, names: Sequence[str]) -> list[str]:
    """Return the titles of algorithms in a table, without groups and numbers of rounds."""
    columns = [table.columns[find_column(table.result_columns, name)] for name in names]
    return [column.group if column.rounds else column.title for column in columns]


def _published_statement(table: Table | None, a: str, b: str) -> str | None:
    """Return the paper's sentence on two algorithms; None without a table or a sentence."""
    if table is None:
        return None
    pair = {find_column(table.result_columns, name) for name in (a, b)}
    return next((each.published for each in table.compared_pairs if {each.a, each.b} == pair), None)


def _source_sentence(rows: Iterable[_MergedRow]) -> list[str]:
    """Return a sentence on the tables that the rows come from."""
    titles = defaultdict(list)
    for row in rows:
        titles[row.table].append(row.title)
    if len(titles) < 2:
        return [f"Numbers of table {table}." for table in titles]
    sources = [f"{table} ({', '.join(rows)})" for table, rows in titles.items()]
    return [f"Numbers of tables {join_words(sources)}."]
