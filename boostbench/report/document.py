"""From a table to its document: composed once, for the terminal and every kind of file."""

from boostbench.report import words
from boostbench.report.blocks import Document, Listing, Row
from boostbench.report.claims import claims
from boostbench.report.findings import (
    parts_listing,
    published_listing,
    seconds_listing,
    significance,
)
from boostbench.report.matrix import matrix
from boostbench.report.tables import Table


def compose(table: Table) -> Document:
    """Say all that there is to say of a table.

    Parameters
    ----------
    table : Table

    Returns
    -------
    Document
        Without lists that have no line.
    """
    lists: list[Listing | None] = [
        matrix(table),
        published_listing(table),
        seconds_listing(table),
        parts_listing(table),
    ]
    return Document(
        name=table.name,
        title=table.title,
        headline=words.headline(table),
        heads=table.heads,
        rows=[Row(table.rows[row], table.label(row), table.entries(row)) for row in table.rows],
        caption=words.caption(table),
        findings=[*significance(table), *claims(table)],
        notes=words.notes(table),
        listings=[one for one in lists if one and one.lines],
    )
