"""A table as the page shows it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isnan

from boostbench.report.blocks import Entry as Printed
from boostbench.report.blocks import Line
from boostbench.report.cells import PARTIAL, STALE, Cell
from boostbench.report.document import compose
from boostbench.report.overview import short_title
from boostbench.report.page.details import details
from boostbench.report.page.typeset import identifier
from boostbench.report.tables import Table
from boostbench.report.verdicts import Tally

#: Stands behind a number with a note on why it differs.
NOTE = "*"


@dataclass(frozen=True)
class Head:
    """Heading of a column.

    Attributes
    ----------
    title : str
        What is written.
    find : str
        What the search box finds it by.
    """

    title: str
    find: str


@dataclass(frozen=True)
class Entry:
    """What stands in a place of the table.

    Attributes
    ----------
    text, published : str
        Our number, or why there is none; the paper's, empty where it has none.
    value : float or None
        What the column is sorted by.
    best : bool
        Whether it is the best of its row.
    marks : str
        Of stale and of partial numbers, and of those with a note.
    verdict : str
        Of a result; empty for times and their ratios.
    id, heading : str
        Of the details; empty where there are none.
    details : list of (str, str)
        Terms and what they are.
    """

    text: str
    published: str = ""
    value: float | None = None
    best: bool = False
    marks: str = ""
    verdict: str = ""
    id: str = ""
    heading: str = ""
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Row:
    """A data set: its title, what the search box finds it by, its entries under the heads."""

    title: str
    find: str
    entries: list[Entry]


class TableView:
    """A table, and all that stands around it.

    Parameters
    ----------
    table : Table
        The table.
    """

    def __init__(self, table: Table):
        self.table = table
        self.document = compose(table)
        self.id = identifier("table", table.name)
        self.title = short_title(table)
        self.tally = Tally.of(table.cells.values())
        self.heads = list(_heads(table))
        self.groups = _groups(table)
        self.rows = [
            _row(table, row, printed.entries, self.id)
            for row, printed in zip(table.rows, self.document.rows, strict=True)
        ]
        self.listings = [one for one in self.document.listings if not one.is_appendix]
        self.reasons = [reason for one in self.listings for reason in one.reasons]

    def found(self, line: Line) -> str:
        """Say what the search box finds a line of a list by: its data, and its algorithm."""
        row, column = line.place
        cell = self.table.cells[row, column]
        data, algo = line.texts[:2]
        return str((f"{data} {row} {cell.data}".lower(), f"{algo} {cell.algo}".lower()))

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it is on record."""
        return not any(cell.records for cell in self.table.cells.values())


def _heads(table: Table) -> Iterator[Head]:
    titles = [title for _, title in table.heads]
    speedups = [f"{table.columns[fast].label} speed-up" for _, fast in table.speedup]
    finds = [f"{column.label} {_algo(table, name)}" for name, column in table.columns.items()]
    for title, find in zip(titles, finds + speedups, strict=True):
        yield Head(title, find.lower())


def _algo(table: Table, name: str) -> str:
    """Name the algorithm of a column."""
    name = table.columns[name].beside or name
    return next(cell.algo for (_, other), cell in table.cells.items() if other == name)


def _groups(table: Table) -> list[tuple[str, int]]:
    """Give the headings over several columns, and over how many; none where there are none."""
    groups = [(name, len(list(same))) for name, same in groupby(group for group, _ in table.heads)]
    return groups if any(name for name, _ in groups) else []


def _row(table: Table, row: str, entries: Sequence[Printed], table_id: str) -> Row:
    printed = iter(entries)
    entries = []
    for name, column in table.columns.items():
        if column.beside is None:
            heading = f"{column.label} on {table.rows[row]}"
            about = heading, identifier(table_id, row, name)
            entries.append(_result(table.cells[row, name], next(printed).best, *about))
        else:
            entries.append(_time(table, row, name, next(printed)))
    for pair in table.speedup:
        entries.append(Entry(next(printed).text, value=table.ratio(row, pair)))
    data = next(cell.data for (other, _), cell in table.cells.items() if other == row)
    return Row(table.label(row), f"{table.rows[row]} {row} {data}".lower(), entries)


def _result(cell: Cell, best: bool, heading: str, identity: str) -> Entry:
    return Entry(
        text=cell.text.removesuffix(STALE),
        published=cell.reference,
        value=None if isnan(cell.mean) else cell.mean,
        best=best,
        marks=_marks(cell),
        verdict=cell.verdict,
        id=identity,
        heading=heading,
        details=tuple(details(cell)),
    )


def _marks(cell: Cell) -> str:
    marks = {STALE: cell.stale, PARTIAL: cell.is_partial, NOTE: cell.note}
    return "".join(mark for mark, holds in marks.items() if holds)


def _time(table: Table, row: str, name: str, printed: Printed) -> Entry:
    published = table.published_time(row, name)
    return Entry(
        text=printed.text,
        published=str(published) if published else "",
        value=table.time(row, name),
        best=printed.best,
    )
