"""Figures of what follows from tables: published against ours, and which algorithms differ."""

from collections.abc import Sequence
from pathlib import Path

from boostbench.cli.figures.drawing import Drawing, stale_note
from boostbench.definitions.figure import FigureDefinition
from boostbench.definitions.recorded import read_tables
from boostbench.definitions.words import split_words
from boostbench.errors import UserError
from boostbench.report.merge import find_column
from boostbench.report.overview import by_table, headline, in_order
from boostbench.report.paired import paired
from boostbench.report.statistics.friedman import friedman
from boostbench.report.tables import Table
from boostbench.report.verdicts import COMPARED, counts

_COUNTED = ["table", "compared", *COMPARED]
_RANKED = ["algorithm", "average rank"]


def scatter(definition: FigureDefinition, overrides: list[str]) -> Drawing:
    """Draw published test errors against ours.

    Parameters
    ----------
    definition : FigureDefinition
        With ``tables``.
    overrides : list of str
        ``results=DIR`` or nothing.

    Returns
    -------
    Drawing

    Raises
    ------
    UserError
        If nothing is recorded.
    """
    from boostbench.report.figures.scatter import draw_scatter

    tables, results = _read(definition, definition.tables, overrides)
    told = counts(tables)
    if not told.total.compared:
        raise UserError(f"nothing is recorded of the tables of figure {definition.name}")
    facts = []
    for line in by_table(told, in_order(tables)):
        if line.tally.compared:
            counted = [line.tally.compared, *(line.tally[verdict] for verdict in COMPARED)]
            facts.append([f"{line.title}: {line.about}".rstrip(": "), *map(str, counted)])
    notes = [headline(told.total), *_stale(tables)]
    return Drawing(draw_scatter(tables), results, notes, facts, _COUNTED)


def ranks(definition: FigureDefinition, overrides: list[str]) -> Drawing:
    """Draw the average ranks of algorithms and which of them do not differ.

    Parameters
    ----------
    definition : FigureDefinition
        With ``ranked`` and ``among``.
    overrides : list of str
        ``results=DIR`` or nothing.

    Returns
    -------
    Drawing

    Raises
    ------
    UserError
        If the table has no such column, or too little is recorded.
    """
    from boostbench.report.figures.critical_difference import draw_critical_difference

    [table], results = _read(definition, [definition.ranked], overrides)
    columns = [_column(table, name) for name in definition.among or table.columns]
    pairs = paired(table, columns)
    if len(columns) < 3 or len(pairs.errors) < 2:
        raise UserError(
            f"figure {definition.name} needs three algorithms or more, and two data sets or more "
            "with a number of each"
        )
    test = friedman(pairs.errors)
    facts = [
        [table.columns[columns[i]].label, f"{test.ranks[i]:.2f}"] for i in test.ranks.argsort()
    ]
    notes = [test.sentence(pairs.unit), *filter(None, [pairs.note]), *_stale([table])]
    return Drawing(draw_critical_difference(table, columns), results, notes, facts, _RANKED)


def _read(
    definition: FigureDefinition, names: Sequence[str], overrides: list[str]
) -> tuple[list[Table], Path]:
    strange, results = split_words(f"figure {definition.name}", overrides)
    if strange:
        raise UserError(f"figure {definition.name} takes results=DIR alone, not {strange[0]!r}")
    return read_tables(names, results), results


def _column(table: Table, name: str) -> str:
    found = find_column(table.columns, name)
    if found is None:
        raise UserError(
            f"table {table.name} has no column {name!r}; it has {', '.join(table.columns)}"
        )
    return found


def _stale(tables: Sequence[Table]) -> list[str]:
    return stale_note(
        f"{cell.title} on {cell.data}"
        for table in tables
        for cell in table.cells.values()
        if cell.stale
    )
