"""Cells, tables and experiments that figures show, and the keys that choose them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from boostbench.analysis.cells import Cell
from boostbench.analysis.tables import Table, find_column
from boostbench.config.compose import (
    AlgorithmChoice,
    check_applicable,
    compose_experiment,
    data_settings,
    select_applicable,
)
from boostbench.config.overrides import Settings, parse_names_and_results, parse_overrides
from boostbench.config.tables import TableDefinition
from boostbench.data.dataset import Dataset
from boostbench.execution.jobs import execute
from boostbench.figures.definition import FigureDefinition, stale_note
from boostbench.fitting.quantities import Quantity
from boostbench.records.archive import Records
from boostbench.report.assemble import read_tables
from boostbench.report.wording import format_splits
from boostbench.spec.experiment import ExperimentConfig
from boostbench.util.errors import UserError
from boostbench.util.terminal import spinner
from boostbench.util.validation import check_names


class CrossColumn(msgspec.Struct, frozen=True, kw_only=True):
    """An algorithm of a figure.

    Attributes
    ----------
    algo : str
        Its name.
    title : str, default=None
        Heading; by default the title of the algorithm.
    overrides : Settings
        Hydra overrides that hold for it alone.
    """

    algo: str
    title: str | None = None
    overrides: Settings = msgspec.field(default_factory=Settings)


class OfCross(FigureDefinition, frozen=True, kw_only=True):
    """Keys of figures of several algorithms on several data sets.

    Attributes
    ----------
    rows : list of str
        The data sets, by name or by the path of a file.
    columns : list of CrossColumn
        The algorithms.
    overrides : Settings
        Hydra overrides of all columns; the overrides of a column come later.
    """

    rows: list[str]
    columns: list[CrossColumn]
    overrides: Settings = msgspec.field(default_factory=Settings)

    def compose(
        self, given: Sequence[str], measure: str
    ) -> tuple[list[tuple[str, CrossColumn]], list[ExperimentConfig]]:
        """Give row and column of each cell, and its config; `given` overrides come last."""
        cells, asked = list(product(self.rows, self.columns)), parse_overrides(given)
        choices = [AlgorithmChoice(column.algo) for column in self.columns]
        check_applicable(self.overrides, choices, f"figure {self.name}")
        check_applicable(asked, choices)
        specs = []
        for row, column in cells:
            choice = AlgorithmChoice(column.algo)
            for_all, now = (select_applicable(each, choice) for each in (self.overrides, asked))
            chosen = data_settings(row) | {"algo": column.algo} | for_all | column.overrides | now
            specs.append(compose_experiment(chosen | {"measure": measure}, asked))
        return cells, specs


class FitKeys(FigureDefinition, frozen=True, kw_only=True):
    """Keys of figures of one fit.

    Attributes
    ----------
    data, algo : str
        Names of the data set and of the algorithm.
    overrides : Settings
        Hydra overrides.
    """

    data: str
    algo: str
    overrides: Settings = msgspec.field(default_factory=Settings)

    def compose(self, chosen: Mapping[str, Any], measure: str) -> ExperimentConfig:
        """Compose the config; `chosen` has all further choices, `overrides` included."""
        return compose_experiment(
            {"data": self.data, "algo": self.algo} | chosen | {"measure": measure}
        )

    def fit(self, config: ExperimentConfig, result: str) -> tuple[Dataset, dict, list[str]]:
        """Fit the algorithm, if its record is missing.

        Parameters
        ----------
        config : ExperimentConfig
            Result of `compose`.
        result : str
            Name of the recorded result, for the error.

        Returns
        -------
        dataset : Dataset
        record : Measured
        notes : list of str
            Note on a stale record, if it is one.

        Raises
        ------
        UserError
            The fit failed.
        """
        [outcome] = execute([config]).outcomes
        if not outcome.records:
            raise UserError(f"no {result} of {self.algo} on {self.data}; see above")
        stale = [f"{config.algorithm.title} on {self.data}"] if outcome.stale else []
        return outcome.experiment.dataset, outcome.records[0], stale_note(stale)


#: The cells of a table that are drawn, by row; they have the titles of the row and of the column.
Cells = dict[str, list[Cell]]


def find_cells(
    name: str,
    overrides: list[str],
    rows: Collection[str] = (),
    columns: Collection[str] = (),
) -> tuple[Cells, Path]:
    """Find the records of a table.

    Parameters
    ----------
    name : str
        Name of the table, or path of a YAML file that defines one.
    overrides : list of str
        Hydra overrides for every cell.
    rows, columns : collection of str, default=()
        Rows and columns of the table; empty means all.

    Returns
    -------
    cells : dict
    results : Path
        The folder of the records.

    Raises
    ------
    UserError
        If there is no such table, row or column, or none of its cells is run or recorded.
    """
    table = TableDefinition.read(name)
    check_names(rows, table.rows, f"table {table.name} has no row")
    check_names(columns, table.columns, f"table {table.name} has no column")
    keys = table.runnable_cells(rows, columns)
    cells: Cells = {}
    with spinner("reading records"):
        configs = table.compose(overrides, keys)
        results = next(iter(configs.values())).results
        records = Records(results)
        for (row, column), config in configs.items():
            names = table.rows[row].title, column, table.label(column, config.algorithm)
            cells.setdefault(row, []).append(Cell.from_results(records.find(config.spec), *names))
    if not any(cell.n_finished for row in cells.values() for cell in row):
        raise UserError(
            f"nothing of table {table.name} is recorded in {results}; "
            f"'boostbench table {name}' runs it"
        )
    return cells, results


#: Records by the title of a panel, by algorithm and by the varied value.
Lines = dict[str, dict[str, dict[float, list[dict]]]]


class LinesPanel(msgspec.Struct, frozen=True):
    """A panel of numbers of a table.

    Attributes
    ----------
    title : str
        Heading.
    table : str
        Name of the table whose records are drawn.
    rows : dict of str to float
        Rows of the table, with their positions on the horizontal axis.
    """

    title: str
    table: str
    rows: dict[str, float]


def find_lines(
    panels: Sequence[LinesPanel], quantities: Mapping[str, Quantity], overrides: list[str]
) -> tuple[Lines, list[str], list[str], Path]:
    """Find the records of rows that vary a number.

    Parameters
    ----------
    panels : sequence of LinesPanel
        Panels of the figure.
    quantities : mapping of str to Quantity
        Drawn quantity by the title of a panel; records without it are left out.
    overrides : list of str
        Hydra overrides for every cell.

    Returns
    -------
    lines : dict
        See `Lines`; panels of one title are joined.
    titles : list of str
        Titles of all algorithms with the quantity in some record.
    notes : list of str
        Notes on missing and stale results.
    results : Path
        The folder of the records.

    Raises
    ------
    UserError
        Nothing is recorded of a table, or no record of a panel has the quantity.
    """
    lines: Lines = {}
    titles, notes = {}, {}
    for panel in panels:
        cells, results = find_cells(panel.table, overrides, panel.rows)
        panel_lines, quantity = lines.setdefault(panel.title, {}), quantities[panel.title]
        without = {}
        for row, value in panel.rows.items():
            for cell in cells.get(row, []):  # a row may have no column that runs
                records = [
                    record for record in cell.rows.records if quantity.of(record) is not None
                ]
                if records:
                    panel_lines.setdefault(cell.title, {})[value] = records
                silent = cell.n_finished and not records
                (without if silent else titles)[cell.title] = None
        notes |= dict.fromkeys(caveats(cells))
        if without:
            why = f"No line in {panel.title}, as records do not tell {quantity.name}"
            notes[f"{why}: {', '.join(without)}."] = None
    for title, panel_lines in lines.items():
        if not panel_lines:
            raise UserError(f"no record of what {title} shows tells {quantities[title].name}")
        # Rows and tables may be in any order; a line is drawn from left to right.
        lines[title] = {name: dict(sorted(line.items())) for name, line in panel_lines.items()}
    return lines, list(titles), list(notes), results


def caveats(cells: Cells) -> list[str]:
    """Return notes on cells that are missing, incomplete or stale."""
    notes = []
    for row in cells.values():
        reasons: dict[str, list[str]] = {}
        for cell in row:
            if cell.n_failed or cell.missing:
                reason = f"only {format_splits(cell)} splits" if cell.n_finished else "not run"
                reasons.setdefault(reason, []).append(cell.title)
        reasons = {
            reason: ["all"] if len(titles) == len(row) else titles
            for reason, titles in reasons.items()
        }
        if reasons:
            notes.append(f"Lacking on {row[0].data}: {_sentence(reasons)}.")
    return notes + stale_cells(cell for row in cells.values() for cell in row)


def _sentence(reasons: Mapping[str, list[str]]) -> str:
    """Join titles and the reasons why they are missing.

    Examples
    --------
    >>> _sentence({"not run": ["AdaBoost.MH", "MultiBoost"], "only 2 of 10 splits": ["SAMME"]})
    'AdaBoost.MH, MultiBoost (not run); SAMME (only 2 of 10 splits)'
    """
    return "; ".join(f"{', '.join(titles)} ({reason})" for reason, titles in reasons.items())


def stale_cells(cells: Iterable[Cell]) -> list[str]:
    """Return a note that names the stale cells."""
    return stale_note(f"{cell.title} on {cell.data}" for cell in cells if cell.stale)


def read_figure_tables(
    figure: str, names: Sequence[str], overrides: list[str]
) -> tuple[list[Table], Path]:
    """Return the tables of a figure from the records, and the folder of the records."""
    strange, results = parse_names_and_results(f"figure {figure}", overrides)
    if strange:
        raise UserError(f"figure {figure} takes results=DIR alone, not {strange[0]!r}")
    with spinner("reading records"):
        return read_tables(names, Records(results)), results


class ColumnKeys(FigureDefinition, frozen=True, kw_only=True):
    """Keys of figures over the data sets of a table: its name, and columns, by default all."""

    table: str
    columns: list[str] = msgspec.field(default_factory=list)

    def read(self, overrides: list[str]) -> tuple[Table, list[str], Path]:
        """Return the table, the names of the columns, and the folder of the results."""
        [table], results = read_figure_tables(self.name, [self.table], overrides)
        named = {name: find_column(table.results, name) for name in self.columns or table.results}
        absent = (name for name, column in named.items() if column is None)
        check_names(absent, table.results, f"table {table.name} has no column")
        return table, list(named.values()), results
