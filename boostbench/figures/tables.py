"""What figures take from tables: the records of their cells, and the tables as they are judged."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from boostbench.busy import busy
from boostbench.definitions.assemble import read_tables
from boostbench.definitions.files import split_words
from boostbench.definitions.table import TableDefinition, check_names
from boostbench.errors import UserError
from boostbench.figures.drawing import stale_note
from boostbench.records.archive import Recorded, Records
from boostbench.report.merge import find_column
from boostbench.report.tables import Table

#: The parts of a table's cells that are drawn: by row and by the label of the column.
Cells = dict[str, dict[str, Recorded]]


def find_cells(
    name: str,
    overrides: list[str],
    rows: Collection[str] = (),
    columns: Collection[str] = (),
) -> tuple[TableDefinition, Cells, Path]:
    """Find what is recorded of a table.

    Parameters
    ----------
    name : str
        Name of the table, or path of a YAML file that defines one.
    overrides : list of str
        Hydra overrides for every cell.
    rows, columns : collection of str, default=()
        Its rows and columns; all if there are none.

    Returns
    -------
    table : TableDefinition
    cells : dict
        By row and by the label of the column.
    results : Path
        The folder of the records.

    Raises
    ------
    UserError
        No such table, row or column, or none of it is recorded.
    """
    table = TableDefinition.read(name)
    check_names(rows, table.rows, f"table {table.name} has no row")
    check_names(columns, table.columns, f"table {table.name} has no column")
    asked = product(rows or table.rows, columns or table.columns)
    keys = [key for key in asked if table.runs(*key)]
    cells: Cells = {}
    with busy("reading records"):
        specs = table.compose(overrides, keys)
        results = Path(next(iter(specs.values()))["results"])
        records = Records(results)
        for (row, column), spec in specs.items():
            label = table.label(column, spec["algo"])
            cells.setdefault(row, {})[label] = records.find(spec)
    if not any(cell.records for columns in cells.values() for cell in columns.values()):
        raise UserError(
            f"nothing of table {table.name} is recorded in {results}; "
            f"'boostbench table {name}' runs it"
        )
    return table, cells, results


#: What rows vary: by the title of a panel, by algorithm and by value, records.
Lines = dict[str, dict[str, dict[float, list[dict]]]]


@dataclass(frozen=True)
class LinesPanel:
    """A picture of what a table holds.

    Attributes
    ----------
    title : str
        Heading.
    table : str
        The table whose records are drawn.
    rows : dict of str to float
        Rows of it, and where each stands on the horizontal axis.
    """

    title: str
    table: str
    rows: dict[str, float]


def find_lines(
    panels: Sequence[LinesPanel], overrides: list[str]
) -> tuple[Lines, list[str], list[str], Path]:
    """Find the records of what the rows of tables vary.

    Returns
    -------
    lines : dict
        See `Lines`; those of panels of one title together.
    titles : list of str
        Of all algorithms.
    notes : list of str
        What lacks, and what is stale.
    results : Path
        The folder of the records.
    """
    lines: Lines = {}
    titles, notes = {}, {}
    for panel in panels:
        table, cells, results = find_cells(panel.table, overrides, panel.rows)
        own = lines.setdefault(panel.title, {})
        for row, value in panel.rows.items():
            titles |= dict.fromkeys(cells[row])
            for algorithm, cell in cells[row].items():
                if cell.records:
                    own.setdefault(algorithm, {})[value] = cell.records
        notes |= dict.fromkeys(lacking(table, cells) + stale_cells(table, cells))
    return lines, list(titles), list(notes), results


def lacking(table: TableDefinition, cells: Cells) -> list[str]:
    """Name what is not drawn, or is of too few splits."""
    notes = []
    for row, columns in cells.items():
        reasons: dict[str, list[str]] = {}
        for label, cell in columns.items():
            done, lacking = len(cell.records), len(cell.failures) + cell.missing
            if lacking:
                what = f"only {done} of {done + lacking} splits" if done else "not run"
                reasons.setdefault(what, []).append(label)
        reasons = {
            why: ["all"] if len(who) == len(columns) else who for why, who in reasons.items()
        }
        if reasons:
            notes.append(f"Lacking on {table.rows[row].title}: {_sentence(reasons)}.")
    return notes


def _sentence(reasons: Mapping[str, list[str]]) -> str:
    """Join who lacks and why.

    Examples
    --------
    >>> _sentence({"not run": ["AdaBoost.MH", "MultiBoost"], "only 2 of 10 splits": ["SAMME"]})
    'AdaBoost.MH, MultiBoost (not run); SAMME (only 2 of 10 splits)'
    """
    return "; ".join(f"{', '.join(who)} ({why})" for why, who in reasons.items())


def stale_cells(table: TableDefinition, cells: Cells) -> list[str]:
    """Name the cells whose records other code than today's made."""
    return stale_note(
        f"{label} on {table.rows[row].title}"
        for row, columns in cells.items()
        for label, cell in columns.items()
        if cell.stale
    )


def tables_of_figure(
    figure: str, names: Sequence[str], overrides: list[str]
) -> tuple[list[Table], Path]:
    """Make tables of what is recorded for a figure, and say in which folder that is."""
    strange, results = split_words(f"figure {figure}", overrides)
    if strange:
        raise UserError(f"figure {figure} takes results=DIR alone, not {strange[0]!r}")
    with busy("reading records"):
        return read_tables(names, Records(results)), results


@dataclass(frozen=True, kw_only=True)
class OfColumns:
    """Keys of figures of several algorithms over the data sets of a table.

    Attributes
    ----------
    table : str
        The table.
    columns : list of str
        Its columns; by default all.
    """

    table: str
    columns: list[str] = field(default_factory=list)

    def read(self, overrides: list[str]) -> tuple[Table, list[str], Path]:
        """Read the table; give it with the names of the columns and the folder of results."""
        [table], results = tables_of_figure(self.name, [self.table], overrides)
        named = {name: find_column(table.columns, name) for name in self.columns or table.results}
        absent = (name for name, column in named.items() if column is None)
        check_names(absent, table.columns, f"table {table.name} has no column")
        return table, list(named.values()), results


def stale_of(tables: Sequence[Table]) -> list[str]:
    """Name the cells of tables whose records other code than today's made."""
    return stale_note(
        f"{cell.title} on {cell.data}"
        for table in tables
        for cell in table.cells.values()
        if cell.stale
    )
