"""Tables of all data sets on which several tables have the same algorithms."""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from boostbench.analysis.cells import Cell
from boostbench.analysis.tables import Column, ColumnPair, Table


class _MergedRow(NamedTuple):
    """A data set: its title, the name of its table, and a cell by the name of each algorithm."""

    title: str
    table: str
    cells: dict[str, Cell]

    @property
    def n_numbers(self) -> int:
        return sum(bool(cell.values) for cell in self.cells.values())

    @property
    def checksums(self) -> set[str]:
        """Checksums of the data that its numbers are of."""
        return {checksum for cell in self.cells.values() for checksum in cell.rows["checksum"]}

    def is_of_other_data(self, other: "_MergedRow") -> bool:
        """Return True if both have records, and none of them are of one data set."""
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
    staged = [column for column in columns if column.partition("@")[0] == name]
    return name if name in columns else (staged or [None])[-1]


def merge(
    tables: Sequence[Table], names: Sequence[str], data: Collection[str] = ()
) -> tuple[Table, dict[str, str]]:
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
    table : Table
        With a column for each of `names`, all of them to be compared with each other. Its `remarks`
        name the table of each number, and the tables that were left out.
    sources : dict of str to str
        Name of the table of each row.
    """
    first = tables[0]
    titles = _titles(first, names)
    rows: dict[str, _MergedRow] = {}
    others = []
    for table in tables:
        called = _titles(table, names)
        if table.quantity.name != first.quantity.name:
            others.append(f"Left out is {table.name}, of another quantity.")
            continue
        if called != titles:
            strange = [
                f"{name} is {called[name]}" for name in names if called[name] != titles[name]
            ]
            others.append(f"Left out is {table.name}, where {join(strange)}.")
            continue
        for row, title in table.rows.items():
            cells = {name: table.cells[row, find_column(table.results, name)] for name in names}
            merged = _MergedRow(title, table.name, cells)
            asked = row in data if data else row not in table.uncounted
            if row in rows and merged.is_of_other_data(rows[row]):
                row = f"{row} ({table.name})"
                merged = merged._replace(title=f"{title} ({table.name})")
            if asked and (row not in rows or merged.n_numbers > rows[row].n_numbers):
                rows[row] = merged
    labels = {name: _label(first, name) for name in names}
    # A statement of the paper is about its whole table.
    whole = first if len(tables) - len(others) == 1 and not data else None
    table = Table(
        name="compare",
        title=(" against ".join if len(names) == 2 else join)(list(labels.values())),
        rows={name: row.title for name, row in rows.items()},
        columns={
            name: Column(label, label, quantity=first.quantity) for name, label in labels.items()
        },
        cells={(row, name): cell for row in rows for name, cell in rows[row].cells.items()},
        compare=[ColumnPair(a, b, _statement(whole, a, b)) for a, b in combinations(names, 2)],
        remarks=[*_sources(row for row in rows.values() if row.n_numbers == len(names)), *others],
    )
    return table, {name: row.table for name, row in rows.items()}


def _label(table: Table, name: str) -> str:
    """Return a column's label, without its rounds unless `name` has them."""
    column = table.columns[find_column(table.results, name)]
    return column.label if "@" in name else column.fit


def _titles(table: Table, names: Sequence[str]) -> dict[str, str]:
    """Return the titles of algorithms in a table, without groups and numbers of rounds."""
    columns = {name: table.columns[find_column(table.results, name)] for name in names}
    return {name: own.group if own.rounds else own.title for name, own in columns.items()}


def _statement(table: Table | None, a: str, b: str) -> str | None:
    if table is None:
        return None
    pair = {find_column(table.results, name) for name in (a, b)}
    return next((told.published for told in table.compare if {told.a, told.b} == pair), None)


def _sources(rows: Iterable[_MergedRow]) -> list[str]:
    """Return a sentence on the tables that the rows come from."""
    titles: dict[str, list[str]] = {}
    for row in rows:
        titles.setdefault(row.table, []).append(row.title)
    if len(titles) < 2:
        return [f"Numbers of table {table}." for table in titles]
    sources = [f"{table} ({', '.join(its)})" for table, its in titles.items()]
    return [f"Numbers of tables {join(sources)}."]


def join(words: Sequence[str]) -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
