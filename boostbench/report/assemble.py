"""Tables from their definitions and the records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import msgspec

from boostbench.analysis.cells import Cell, empty_cell
from boostbench.analysis.tables import Column, ColumnPair, Table
from boostbench.config.table_request import TableRequest
from boostbench.config.tables import TableDefinition, read_definitions
from boostbench.fitting.quantities import QUANTITIES, Quantity
from boostbench.papers.notes import Claim
from boostbench.records.archive import ExperimentResults, Records
from boostbench.spec import measures
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.data import DataCounts, DataSpec
from boostbench.spec.experiment import CellKey
from boostbench.util.errors import print_error


def assemble(request: TableRequest, recorded: Mapping[CellKey, ExperimentResults]) -> Table:
    """Return the table of a definition and the records of its cells.

    Parameters
    ----------
    request : TableRequest
        Definition and configurations.
    recorded : mapping of CellKey to ExperimentResults
        Records of each cell that can run.

    Returns
    -------
    Table
    """
    # 1) Make the columns of each column of the definition: one, or one for each number of rounds.
    definition = request.definition
    first_row = next(iter(definition.rows))
    algorithms = {
        name: request.cells[first_row, name].config.algorithm for name in definition.columns
    }
    quantity = definition.displayed_quantity(measures.find(request.common.measure).quantity)
    columns = {name: _columns(definition, name, algorithms[name], quantity) for name in algorithms}
    # 2) Make the cells.
    results = _cells(request, recorded)
    cells = {}
    for (row, source), result in results.items():
        algorithm = request.cells[row, source].config.algorithm
        is_run = result.available and (row, source) in recorded
        for name, column in columns[source].items():
            if column.beside is None:
                cells[row, name] = replace(
                    result,
                    title=column.label,
                    quantity=column.quantity,
                    rounds=column.rounds if is_run else None,
                    published=definition.find_published(row, source, algorithm, column.rounds),
                )
    # 3) Comparisons and claims are about the last number of rounds; ratios about the CPU times
    #    beside it.
    times = {source: list(shown)[-1] for source, shown in columns.items()}
    last = {source: columns[source][time].beside or time for source, time in times.items()}
    return Table(
        name=request.name,
        title=request.title,
        changes=request.changes,
        rows={row: entry.title for row, entry in definition.rows.items()},
        columns={name: column for shown in columns.values() for name, column in shown.items()},
        cells=cells,
        compare=[
            ColumnPair(
                last[a], last[b], definition.find_statement([a, b], [algorithms[a], algorithms[b]])
            )
            for a, b in definition.pairs
        ],
        classes=_classes(request, cells) if definition.classes else {},
        uncounted=set(definition.published_as),
        remarks=definition.remarks,
        speedup=[tuple(times[column] for column in pair) for pair in definition.speedup],
        paper=definition.paper,
        claims=[_claim_on(claim, last, definition) for claim in definition.claims],
        matrix=definition.matrix,
        rope=definition.rope,
    )


def _cells(
    request: TableRequest, recorded: Mapping[CellKey, ExperimentResults]
) -> dict[CellKey, Cell]:
    """Return the cell of each row and column of the definition, without published numbers."""
    tried_rows = {row for (row, _), cell in recorded.items() if cell.records or cell.failures}
    cells = {}
    for key, (config, departures) in request.cells.items():
        data, algo = config.data.name, config.algorithm.name
        command = request.command(*key) if request.definition.is_run(*key) else ""
        is_available = key[0] in tried_rows or _has_source(config.data)
        if is_available and key in recorded:
            cell = Cell.from_results(recorded[key], data, algo, "")
            cells[key] = replace(cell, departures=departures, command=command)
        else:
            cell = empty_cell(data, algo, "")
            cells[key] = replace(cell, available=is_available, command=command)
    return cells


def _claim_on(claim: Claim, last: Mapping[str, str], definition: TableDefinition) -> Claim:
    """Return a claim on the last number of rounds of each column, and on explicit rows."""
    return msgspec.structs.replace(
        claim,
        better=[[last[name] for name in pair] for pair in claim.better],
        alike=[[last[name] for name in pair] for pair in claim.alike],
        rows=claim.rows or list(definition.rows),
    )


def _columns(
    definition: TableDefinition, name: str, algorithm: AlgorithmSpec, quantity: Quantity
) -> dict[str, Column]:
    """Return the columns of an algorithm: one, or one for each number of rounds.

    A column of CPU times follows the last one, if the definition asks for it.
    """
    title, label = definition.heading(name, algorithm), definition.label(name, algorithm)
    if not definition.rounds:
        columns = {name: Column(label, title, definition.columns[name].group or "", quantity)}
    else:
        columns = {
            f"{name}@{rounds}": Column(
                f"{label}, T={rounds}",
                f"{quantity.title.split()[0]} {rounds}",
                label,
                quantity,
                rounds,
            )
            for rounds in definition.rounds
        }
    if definition.seconds:
        last, column = list(columns.items())[-1]
        time = replace(column, quantity=QUANTITIES[definition.seconds], beside=last)
        columns[f"{last}:{definition.seconds}"] = time
    return columns


def _classes(request: TableRequest, cells: Mapping[CellKey, Cell]) -> dict[str, int]:
    """Return the number of classes of each row, from the records or else from its config."""
    expected = {row: cell.config.data.expect for (row, _), cell in request.cells.items()}
    classes = {row: counts.classes for row, counts in expected.items() if counts and counts.classes}
    for (row, _), cell in cells.items():
        if cell.n_finished:
            classes[row] = cell.spec["data"]["n_classes"]
    return classes


def read_tables(
    names: Sequence[str] | None,
    records: Records,
    tell: Callable[..., None] = lambda step, share=None: None,
) -> list[Table]:
    """Return tables of records; nothing is run, and no data set is loaded.

    Parameters
    ----------
    names : sequence of str or None
        Names of tables, or paths of their YAML files. None: all in ``conf/table``.
    records : Records
        Records of a results folder.
    tell : callable, default=None
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
    tell("composing configs")
    requests = [TableRequest.from_definition(definition) for definition in definitions]
    tables = []
    for number, request in enumerate(requests):
        tell("reading records", number / len(requests))
        tables.append(
            assemble(request, {key: records.find(spec) for key, spec in request.specs.items()})
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
