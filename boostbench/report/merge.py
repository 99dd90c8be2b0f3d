"""The same algorithms in several tables: one table of all data sets on which they meet."""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from boostbench.report.cells import Cell
from boostbench.report.tables import Column, ColumnPair, Table


class _MergedRow(NamedTuple):
    """A data set: its title, the name of its table, and a cell for each algorithm."""

    title: str
    table: str
    cells: list[Cell]

    @property
    def n_numbers(self) -> int:
        return sum(bool(cell.values) for cell in self.cells)


def find_column(columns: Iterable[str], name: str) -> str | None:
    """Find an algorithm among the columns of a table.

    Parameters
    ----------
    columns : iterable of str
        Names of columns, such as ``rboost_proj`` or, after 50 rounds, ``rboost_proj@50``.
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
    """Collect what several tables hold of some algorithms.

    Parameters
    ----------
    tables : sequence of Table
        Tables that have all of the columns. A row that stands in several of them under one name
        counts once: taken from the one that has numbers of the most of the algorithms there, the
        first of equals. Tables in which a name has another heading than in the first are left out,
        and those of another quantity.
    names : sequence of str
        Names of columns, see `find_column`.
    data : collection of str, default=()
        Names of the rows; by default all, without second versions of the same data.

    Returns
    -------
    table : Table
        With a column for each of `names`, all of them to be compared with each other. Its `remarks`
        tell which numbers are of which table, and what was left out.
    sources : dict of str to str
        Name of the table of each row.
    """
    columns = [[find_column(table.columns, name) for name in names] for table in tables]
    titles = [
        [_title(table.columns[column]) for column in own]
        for table, own in zip(tables, columns, strict=True)
    ]
    rows: dict[str, _MergedRow] = {}
    others = []
    for table, own, called in zip(tables, columns, titles, strict=True):
        if table.quantity.name != tables[0].quantity.name:
            others.append(f"Left out is {table.name}, of another quantity.")
            continue
        if called != titles[0]:
            triples = zip(names, titles[0], called, strict=True)
            strange = [f"{name} is {title}" for name, first, title in triples if title != first]
            others.append(f"Left out is {table.name}, where {join(strange)}.")
            continue
        for name, title in table.rows.items():
            row = _MergedRow(title, table.name, [table.cells[name, column] for column in own])
            asked = name in data if data else name not in table.uncounted
            if asked and (name not in rows or row.n_numbers > rows[name].n_numbers):
                rows[name] = row
    labels = [_label(tables[0].columns[c], name) for c, name in zip(columns[0], names, strict=True)]
    # What the paper says is of its whole table.
    whole = tables[0] if len(tables) - len(others) == 1 and not data else None
    merged = Table(
        name="compare",
        title=" against ".join(labels) if len(names) == 2 else join(labels),
        rows={name: row.title for name, row in rows.items()},
        columns={
            name: Column(label, label, quantity=tables[0].quantity)
            for name, label in zip(names, labels, strict=True)
        },
        cells={
            (row, name): cell
            for row, content in rows.items()
            for name, cell in zip(names, content.cells, strict=True)
        },
        compare=[
            ColumnPair(*(names[i] for i in pair), _statement(whole, *(columns[0][i] for i in pair)))
            for pair in combinations(range(len(names)), 2)
        ],
        remarks=[*_sources(row for row in rows.values() if row.n_numbers == len(names)), *others],
    )
    return merged, {name: row.table for name, row in rows.items()}


def _label(column: Column, name: str) -> str:
    """Give a column's label, without its rounds if they were not asked for."""
    return column.label if "@" in name else column.fit


def _title(column: Column) -> str:
    """Give what a column calls its algorithm, whatever group or number of rounds it is of."""
    return column.group if column.rounds else column.title


def _statement(table: Table | None, a: str, b: str) -> str | None:
    pairs = table.compare if table else []
    return next((pair.published for pair in pairs if {pair.a, pair.b} == {a, b}), None)


def _sources(rows: Iterable[_MergedRow]) -> list[str]:
    """Tell which rows are of which table."""
    titles: dict[str, list[str]] = {}
    for row in rows:
        titles.setdefault(row.table, []).append(row.title)
    if len(titles) < 2:
        return [f"Numbers of table {table}." for table in titles]
    sources = [f"{table} ({', '.join(its)})" for table, its in titles.items()]
    return [f"Numbers of tables {join(sources)}."]


def join(words: Sequence[str]) -> str:
    """Write a list in a sentence.

    Examples
    --------
    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
