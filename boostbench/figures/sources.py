"""Cells, tables and experiments that figures show, and base classes with the keys that choose them.

A figure is about a table (`TableFigure`), about several algorithms on several data sets
(`CrossFigure`), or about one fit (`FitFigure`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import product
from math import nan
from pathlib import Path
from typing import NamedTuple

import msgspec

from boostbench.analysis.cells import Cell
from boostbench.analysis.result_table import Table, find_column
from boostbench.config.choices import (
    AlgorithmChoice,
    check_applicable,
    data_settings,
    select_applicable,
)
from boostbench.config.compose import compose_experiment
from boostbench.config.overrides import Settings, parse_overrides
from boostbench.config.table_definitions import TableDefinition
from boostbench.data.dataset import Dataset
from boostbench.execution.jobs import execute
from boostbench.figures.definition import FigureDefinition, stale_note
from boostbench.records.index import Records
from boostbench.records.schema import Record
from boostbench.report.assemble import read_tables
from boostbench.report.wording import format_splits
from boostbench.spec.experiment import ExperimentConfig
from boostbench.util.errors import UserError
from boostbench.util.files import parse_names_and_results
from boostbench.util.terminal import spinner
from boostbench.util.validation import check_names


class CrossColumn(msgspec.Struct, frozen=True, kw_only=True):
    """Column of a figure: an algorithm.

    Attributes
    ----------
    algo : str
        Name of the algorithm.
    title : str, default=None
        Heading; by default the title of the algorithm.
    overrides : Settings
        Hydra overrides of this column.
    """

    algo: str
    title: str | None = None
    overrides: Settings = msgspec.field(default_factory=Settings)


class CrossFigure(FigureDefinition, frozen=True, kw_only=True):
    """Base of figures that cross several algorithms with several data sets.

    Attributes
    ----------
    rows : list of str
        Names of the data sets, or paths of files.
    columns : list of CrossColumn
        Algorithms.
    overrides : Settings
        Hydra overrides of all columns; the overrides of a column come later.
    """

    rows: list[str]
    columns: list[CrossColumn]
    overrides: Settings = msgspec.field(default_factory=Settings)

    def compose(
        self, command_overrides: Sequence[str], measure: str
    ) -> tuple[list[tuple[str, CrossColumn]], list[ExperimentConfig]]:
        """Compose the configs of all cells.

        Parameters
        ----------
        command_overrides : sequence of str
            Overrides of the command line, which come last.
        measure : str
            Name of the measure: the kind of result that a split records.

        Returns
        -------
        cells : list of (str, CrossColumn)
            Row and column of each cell, row by row.
        configs : list of ExperimentConfig
            Config of each cell.

        Raises
        ------
        UserError
            If an override applies to none of the algorithms, or is not valid.
        """
        cells = list(product(self.rows, self.columns))
        last_overrides = parse_overrides(command_overrides)
        choices = [AlgorithmChoice(column.algo) for column in self.columns]
        check_applicable(self.overrides, choices, f"figure {self.name}")
        check_applicable(last_overrides, choices)
        configs = []
        for row, column in cells:
            # Later settings take precedence over earlier ones.
            choice = AlgorithmChoice(column.algo)
            settings = (
                data_settings(row)
                | {"algo": column.algo}
                | select_applicable(self.overrides, choice)
                | column.overrides
                | select_applicable(last_overrides, choice)
                | {"measure": measure}
            )
            configs.append(compose_experiment(settings, user_keys=last_overrides))
        return cells, configs


class FitFigure(FigureDefinition, frozen=True, kw_only=True):
    """Base of figures of one fit.

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

    def compose(self, settings: Settings, measure: str) -> ExperimentConfig:
        """Return the config of the fit.

        Parameters
        ----------
        settings : Settings
            Settings of the fit besides `data` and `algo`; the caller has added `overrides`.
        measure : str
            Name of the measure: the kind of result that a split records.
        """
        return compose_experiment(
            {"data": self.data, "algo": self.algo} | settings | {"measure": measure}
        )

    def fit(self, config: ExperimentConfig, result: str) -> tuple[Dataset, Record, list[str]]:
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
        record : Record
            Record of the first split.
        notes : list of str
            A note if the record is stale; else empty.

        Raises
        ------
        UserError
            The fit failed.
        """
        [outcome] = execute([config]).results
        if not outcome.records:
            raise UserError(f"no {result} of {self.algo} on {self.data}; see above")
        stale = [f"{config.algorithm.title} on {self.data}"] if outcome.stale else []
        return outcome.experiment.dataset, outcome.records[0], stale_note(stale)


class RowCells(NamedTuple):
    """Cells of a row of a table, which have the titles of the row and of their columns.

    Attributes
    ----------
    name : str
        Name of the row.
    cells : list of Cell
        Cells with an algorithm, in the order of the columns; a column may have published numbers
        alone.
    """

    name: str
    cells: list[Cell]


def find_cells(
    name: str,
    overrides: list[str],
    rows: Collection[str] = (),
    columns: Collection[str] = (),
) -> tuple[list[RowCells], Path]:
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
    rows : list of RowCells
        Rows with a cell that has an algorithm.
    results : Path
        The folder of the records.

    Raises
    ------
    UserError
        If there is no such table, row or column, or none of its cells is run or recorded.
    """
    table = TableDefinition.read(name)
    check_names(rows, table.row_names, f"table {table.name} has no row")
    check_names(columns, table.column_names, f"table {table.name} has no column")
    table.check_is_run(rows, columns)
    recorded_rows: list[RowCells] = []
    with spinner("reading records"):
        cells = [cell for cell in table.compose(overrides, rows, columns) if cell.is_run]
        results = cells[0].config.results
        records = Records(results)
        for cell in cells:
            # A row of the table begins when its name changes, as cells are in the order of rows.
            if not recorded_rows or recorded_rows[-1].name != cell.row:
                recorded_rows.append(RowCells(cell.row, []))
            recorded_rows[-1].cells.append(
                Cell.from_results(
                    records.find(cell.config.spec),
                    data=table.row(cell.row).title,
                    algo=cell.column,
                    title=table.column(cell.column).label(cell.config.algorithm.title),
                )
            )
    if not any(cell.n_finished for row in recorded_rows for cell in row.cells):
        raise UserError(
            f"nothing of table {table.name} is recorded in {results}; "
            f"'boostbench table {name}' runs it"
        )
    return recorded_rows, results


class SplitRecords(NamedTuple):
    """Records of the splits of an algorithm, which are drawn in a panel.

    Attributes
    ----------
    panel, hue : str
        Titles of the panel and of the algorithm.
    records : sequence of Record
        Records of finished splits.
    x : float, default=nan
        Value of the setting that a figure varies; NaN: the records are a curve over the rounds.
    """

    panel: str
    hue: str
    records: Sequence[Record]
    x: float = nan


def caveats(rows: Sequence[RowCells]) -> list[str]:
    """Return notes on cells that are missing, incomplete or stale."""
    notes = []
    for row in rows:
        titles_by_reason = defaultdict(list)
        for cell in row.cells:
            # Splits may have failed, or may not have run yet.
            if cell.n_failed or cell.missing:
                reason = f"only {format_splits(cell)} splits" if cell.n_finished else "not run"
                titles_by_reason[reason].append(cell.title)
        reasons = [
            f"{'all' if len(titles) == len(row.cells) else ', '.join(titles)} ({reason})"
            for reason, titles in titles_by_reason.items()
        ]
        if reasons:
            notes.append(f"Lacking on {row.cells[0].data}: {'; '.join(reasons)}.")
    return notes + stale_cells(cell for row in rows for cell in row.cells)


def stale_cells(cells: Iterable[Cell]) -> list[str]:
    """Return a note that names the stale cells."""
    return stale_note(f"{cell.title} on {cell.data}" for cell in cells if cell.stale)


def read_figure_tables(
    figure: str, names: Sequence[str], overrides: list[str]
) -> tuple[list[Table], Path]:
    """Return the tables of a figure from the records, and the folder of the records.

    Parameters
    ----------
    figure : str
        Name of the figure, for messages.
    names : sequence of str
        Names of the tables.
    overrides : list of str
        Words of the command line; ``results=DIR`` alone is allowed, as nothing is run.

    Raises
    ------
    UserError
        If there is another override, or no such table.
    """
    other_words, results = parse_names_and_results(f"figure {figure}", overrides)
    if other_words:
        raise UserError(f"figure {figure} takes results=DIR alone, not {other_words[0]!r}")
    with spinner("reading records"):
        return read_tables(names, Records(results)), results


class TableFigure(FigureDefinition, frozen=True, kw_only=True):
    """Base of figures over the data sets of a table.

    Attributes
    ----------
    table : str
        Name of the table.
    columns : list of str
        Names of its columns, see `find_column`; empty: all columns.
    """

    table: str
    columns: list[str] = msgspec.field(default_factory=list)

    def read(self, overrides: list[str]) -> tuple[Table, list[str], Path]:
        """Return the table, the names of the columns, and the folder of the results."""
        [table], results = read_figure_tables(self.name, [self.table], overrides)
        named = {
            name: find_column(table.result_columns, name)
            for name in self.columns or table.result_columns
        }
        absent = (name for name, column in named.items() if column is None)
        check_names(absent, table.result_columns, f"table {table.name} has no column")
        return table, list(named.values()), results
