"""Tables from their definitions and the records.

``boostbench table`` assembles one table after its runs; ``check``, ``report`` and ``compare`` read
several tables and run nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import msgspec

from boostbench.analysis.cells import Cell, empty_cell
from boostbench.analysis.result_table import Column, ColumnPair, Table
from boostbench.config.table_definitions import TableDefinition, read_definitions
from boostbench.config.table_request import TableRequest
from boostbench.fitting.quantities import QUANTITIES, Quantity
from boostbench.records.index import ExperimentResults, Records
from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.data import DataCounts, DataSpec
from boostbench.util.errors import print_error


class NamedColumn(NamedTuple):
    """Name of a column of a table, and the column."""

    name: str
    column: Column


class AlgorithmColumns(NamedTuple):
    """Columns of a table that show one algorithm, which is one column of its definition.

    Attributes
    ----------
    result_columns : list of NamedColumn
        Columns of results: one, or one for each number of rounds of the definition.
    time_column : NamedColumn or None
        Column of CPU times beside the last one; None if the definition asks for none.
    """

    result_columns: list[NamedColumn]
    time_column: NamedColumn | None

    @property
    def last_name(self) -> str:
        """Name of the column after the last round."""
        return self.result_columns[-1].name

    @property
    def columns(self) -> list[NamedColumn]:
        """Columns of results, and the column of CPU times if there is one."""
        return [*self.result_columns, *([self.time_column] if self.time_column else [])]


def assemble(request: TableRequest, recorded: Sequence[ExperimentResults]) -> Table:
    """Return the table of a definition and the records of its cells.

    Parameters
    ----------
    request : TableRequest
        Definition and configurations.
    recorded : sequence of ExperimentResults
        Records of each cell of `TableRequest.runnable_cells`.

    Returns
    -------
    Table
    """
    # 1) Make the columns of each column of the definition: one, or one for each number of rounds.
    definition = request.definition
    # A column has the same algorithm in all rows, so that the first row gives it.
    first_row = request.cells[: len(definition.columns)]
    algorithms = {cell.column: cell.config.algorithm for cell in first_row}
    quantity = definition.displayed_quantity(measures.find(request.shared_config.measure).quantity)
    algorithm_columns = {
        name: _make_columns(definition, name, algorithm, quantity)
        for name, algorithm in algorithms.items()
    }
    # 2) Make the cells: without data (no source, no records), with data but not runnable, or with
    #    results, which may be empty. The data of a row with records were available when it ran. An
    #    experiment has a cell for each number of rounds, and these cells share its records.
    results_of = {
        (cell.row, cell.column): results
        for cell, results in zip(request.runnable_cells, recorded, strict=True)
    }
    rows_with_records = {
        row for (row, _), results in results_of.items() if results.records or results.failures
    }
    cells = {}
    for request_cell in request.cells:
        row, name, config = request_cell.row, request_cell.column, request_cell.config
        is_available = row in rows_with_records or _has_source(config.data)
        results = results_of.get((row, name)) if is_available else None
        if results is None:
            cell = empty_cell(config.data.name, config.algorithm.name, "")
        else:
            cell = Cell.from_results(results, config.data.name, config.algorithm.name, "")
        for column_name, column in algorithm_columns[name].result_columns:
            cells[row, column_name] = replace(
                cell,
                title=column.label,
                available=is_available,
                departures=() if results is None else request_cell.departures,
                command=request.command(request_cell) if request_cell.is_run else "",
                quantity=column.quantity,
                rounds=None if results is None else column.rounds,
                published=definition.find_published(row, name, config.algorithm, column.rounds),
            )
    # 3) Put them together. Comparisons and claims are about the columns after the last round.
    last_name_of = {name: columns.last_name for name, columns in algorithm_columns.items()}
    return Table(
        name=request.name,
        title=request.title,
        changes=request.changes,
        rows={row.name: row.title for row in definition.rows},
        columns=dict(
            chain.from_iterable(columns.columns for columns in algorithm_columns.values())
        ),
        cells=cells,
        compared_pairs=[
            ColumnPair(
                last_name_of[a],
                last_name_of[b],
                definition.find_statement([a, b], [algorithms[a], algorithms[b]]),
            )
            for a, b in definition.pairs
        ],
        classes=_class_counts(request, cells) if definition.classes else {},
        uncounted={row.name for row in definition.rows if row.published_as},
        remarks=definition.remarks,
        speedup_pairs=[
            (algorithm_columns[slow].time_column.name, algorithm_columns[fast].time_column.name)
            for slow, fast in definition.speedup
        ],
        paper=definition.paper,
        claims=[
            msgspec.structs.replace(
                claim,
                better=[[last_name_of[name] for name in pair] for pair in claim.better],
                alike=[[last_name_of[name] for name in pair] for pair in claim.alike],
                rows=claim.rows or definition.row_names,
            )
            for claim in definition.claims
        ],
        has_matrix=definition.matrix,
        rope=definition.rope,
    )


def _class_counts(request: TableRequest, cells: Mapping[tuple[str, str], Cell]) -> dict[str, int]:
    """Return the number of classes of each row, by its records or else by its config."""
    n_classes = {}
    for request_cell in request.cells:
        counts = request_cell.config.data.expect
        if counts and counts.classes:
            n_classes[request_cell.row] = counts.classes
    for (row, _), cell in cells.items():
        if cell.n_finished:
            n_classes[row] = cell.config.data.n_classes
    return n_classes


def _make_columns(
    definition: TableDefinition, name: str, algorithm: AlgorithmSpec, quantity: Quantity
) -> AlgorithmColumns:
    """Return the columns of an algorithm, which is the column `name` of the definition."""
    column_definition = definition.column(name)
    title = column_definition.heading(algorithm.title)
    label = column_definition.label(algorithm.title)
    if definition.rounds:
        results = [
            NamedColumn(
                f"{name}@{rounds}",
                Column(
                    label=f"{label}, T={rounds}",
                    title=f"{quantity.title.split()[0]} {rounds}",
                    group=label,
                    quantity=quantity,
                    rounds=rounds,
                ),
            )
            for rounds in definition.rounds
        ]
    else:
        group = column_definition.group or ""
        results = [NamedColumn(name, Column(label, title, group, quantity))]
    if not definition.seconds:
        return AlgorithmColumns(results, None)
    last, column = results[-1]
    time = replace(column, quantity=QUANTITIES[definition.seconds], timed_column=last)
    return AlgorithmColumns(results, NamedColumn(f"{last}:{definition.seconds}", time))


def read_tables(
    names: Sequence[str] | None,
    records: Records,
    show_step: Callable[..., None] = lambda step, share=None: None,
) -> list[Table]:
    """Return tables of records; nothing is run, and no data set is loaded.

    Parameters
    ----------
    names : sequence of str or None
        Names of tables, or paths of their YAML files. None: all in ``conf/table``.
    records : Records
        Records of a results folder.
    show_step : callable, default=None
        Receives the current step and the finished share, see `boostbench.util.terminal.spinner`.

    Returns
    -------
    list of Table
        Damaged lines of records are left out, and a warning names them.

    Raises
    ------
    UserError
        Unknown table.
    """
    if names is None:
        definitions = read_definitions()
    else:
        definitions = [TableDefinition.read(name) for name in names]
    show_step("composing configs")
    requests = [TableRequest.compose(definition) for definition in definitions]
    tables = []
    for number, request in enumerate(requests):
        show_step("reading records", number / len(requests))
        tables.append(
            assemble(request, [records.find(cell.config.spec) for cell in request.runnable_cells])
        )
    for warning in records.pop_warnings():
        print_error(warning)
    return tables


def _has_source(data: DataSpec) -> bool:
    """Return True if a config of data has a source, or the expected content of a file.

    A config without both stands for data of a paper without a known copy.
    """
    sources = (data.path, data.openml_task, data.openml, data.sklearn, data.generate)
    return any(sources) or data.expect not in (None, DataCounts())
