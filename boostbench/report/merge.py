"""The same algorithms in several tables: one table of all data sets on which they meet."""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from boostbench.report.cells import Cell
from boostbench.report.tables import Column, Comparison, Table


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
    found = [column for column in columns if column.partition("@")[0] == name]
    return name if name in columns else (found or [None])[-1]


def merge(
    tables: Sequence[Table], names: Sequence[str], data: Collection[str] = ()
) -> tuple[Table, dict[str, str]]:
    """Collect what several tables hold of some algorithms.

    Parameters
    ----------
    tables : sequence of Table
        Tables that have all of the columns. A row that stands in several of them under one name
        counts once: taken from the first that has a number of each algorithm there. Tables in which
        one of the names has another heading than in the first are left out.
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
    labels = [
        [_label(table.columns[column], name) for column, name in zip(found, names, strict=True)]
        for table, found in zip(tables, columns, strict=True)
    ]
    used = [index for index in range(len(tables)) if labels[index] == labels[0]]
    rows: dict[str, str] = {}
    cells: dict[str, list[Cell]] = {}
    sources: dict[str, str] = {}
    for table, found in ((tables[index], columns[index]) for index in used):
        for row, title in table.rows.items():
            if row not in data if data else row in table.uncounted:
                continue
            own = [table.cells[row, column] for column in found]
            if row not in rows or (_is_complete(own) and not _is_complete(cells[row])):
                rows[row], cells[row], sources[row] = title, own, table.name
    others = [
        f"Left out is {tables[index].name}, where {name} is {other}."
        for index in range(len(tables))
        for name, first, other in zip(names, labels[0], labels[index], strict=True)
        if other != first
    ]
    complete = {row: name for row, name in sources.items() if _is_complete(cells[row])}
    # What the paper says is of the whole table.
    whole = tables[0] if len(used) == 1 and not data else None
    merged = Table(
        name="compare",
        title=" against ".join(labels[0]) if len(names) == 2 else join(labels[0]),
        rows=rows,
        columns={name: Column(label, label) for name, label in zip(names, labels[0], strict=True)},
        cells={
            (row, name): cell
            for row, own in cells.items()
            for name, cell in zip(names, own, strict=True)
        },
        compare=[
            Comparison(*(names[i] for i in pair), _statement(whole, *(columns[0][i] for i in pair)))
            for pair in combinations(range(len(names)), 2)
        ],
        remarks=[*_told(complete, rows), *others],
    )
    return merged, sources


def _label(column: Column, name: str) -> str:
    """Give a column's label, without its rounds if they were not asked for."""
    return column.group if column.rounds and "@" not in name else column.label


def _is_complete(cells: Iterable[Cell]) -> bool:
    return all(cell.errors for cell in cells)


def _statement(table: Table | None, a: str, b: str) -> str | None:
    pairs = table.compare if table else []
    return next((pair.published for pair in pairs if {pair.a, pair.b} == {a, b}), None)


def _told(sources: dict[str, str], rows: dict[str, str]) -> list[str]:
    """Tell which rows are of which table, from the names of their tables."""
    titles: dict[str, list[str]] = {}
    for row, table in sources.items():
        titles.setdefault(table, []).append(rows[row])
    if len(titles) < 2:
        return [f"Numbers of table {table}." for table in titles]
    told = [f"{table} ({', '.join(its)})" for table, its in titles.items()]
    return [f"Numbers of tables {join(told)}."]


def join(words: Sequence[str]) -> str:
    """Write a list in a sentence.

    Examples
    --------
    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
