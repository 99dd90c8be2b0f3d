"""From what is asked of a table and what is on record to the table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import msgspec

from boostbench.analysis.cells import Cell
from boostbench.analysis.tables import Column, ColumnPair, Table
from boostbench.config.table_request import TableRequest
from boostbench.config.tables import Key, TableDefinition, all_definitions
from boostbench.fitting.quantities import QUANTITIES, Quantity
from boostbench.records.archive import Recorded, Records
from boostbench.spec import measures
from boostbench.util.errors import print_error

_NOTHING = Recorded(records=[], failures=[], missing=0, stale=0)


def assemble(request: TableRequest, recorded: Mapping[Key, Recorded]) -> Table:
    """Make a table of what is recorded of its cells.

    Parameters
    ----------
    request : TableRequest
        What is asked of the table.
    recorded : mapping
        What there is of the cells that are run, by row and column.

    Returns
    -------
    Table
    """
    definition, specs = request.definition, request.specs
    first_row = next(iter(definition.rows))
    algos = {column: specs[first_row, column]["algo"] for column in definition.columns}
    quantity = definition.displayed_quantity(measures.find(request.common["measure"]).quantity)
    shown = {c: _columns(definition, c, algos[c], quantity) for c in definition.columns}
    tried = {row for (row, _), cell in recorded.items() if cell.records or cell.failures}
    cells = {}
    for key, spec in specs.items():
        row, algo = key[0], spec["algo"]
        at_hand = row in tried or _is_known(spec["data"])
        for name, column in shown[key[1]].items():
            if column.beside is not None:
                continue
            if at_hand and key in recorded:
                outcome, about = recorded[key], {"rounds": column.rounds}
                about["departures"] = request.departures.get(key, ())
            else:
                outcome, about = _NOTHING, {"available": at_hand}
            about["published"] = definition.find_published(*key, algo, column.rounds)
            about["command"] = request.command(*key) if definition.is_run(*key) else ""
            names = spec["data"]["name"], algo["name"], column.label
            cells[row, name] = Cell.of(outcome, *names, quantity=column.quantity, **about)
    # Of several rounds, the last are compared; and of these the times behind them.
    times = {column: list(columns)[-1] for column, columns in shown.items()}
    last = {column: shown[column][time].beside or time for column, time in times.items()}
    return Table(
        name=request.name,
        title=request.title,
        changes=request.changes,
        rows={row: entry.title for row, entry in definition.rows.items()},
        columns={name: column for columns in shown.values() for name, column in columns.items()},
        cells=cells,
        compare=[
            ColumnPair(last[a], last[b], definition.find_statement(a, b, algos))
            for a, b in definition.pairs
        ],
        classes=_expected_classes(specs) | _classes(recorded) if definition.classes else {},
        uncounted=set(definition.published_as),
        remarks=definition.remarks,
        speedup=[tuple(times[column] for column in pair) for pair in definition.speedup],
        paper=definition.paper,
        claims=[
            msgspec.structs.replace(
                claim,
                better=[[last[name] for name in pair] for pair in claim.better],
                alike=[[last[name] for name in pair] for pair in claim.alike],
                rows=claim.rows or list(definition.rows),
            )
            for claim in definition.claims
        ],
        matrix=definition.matrix,
        rope=definition.rope,
    )


def _columns(
    definition: TableDefinition, name: str, algo: Mapping, quantity: Quantity
) -> dict[str, Column]:
    """Make the columns that show an algorithm: one, or one for each number of rounds.

    Behind the last stands one of CPU times, if the definition asks for it.
    """
    title, label = definition.heading(name, algo), definition.label(name, algo)
    what = quantity.title.split()[0]
    if not definition.rounds:
        columns = {name: Column(label, title, definition.columns[name].group or "", quantity)}
    else:
        columns = {
            f"{name}@{rounds}": Column(
                f"{label}, T={rounds}", f"{what} {rounds}", label, quantity, rounds
            )
            for rounds in definition.rounds
        }
    if definition.seconds:
        last, column = list(columns.items())[-1]
        time = replace(column, quantity=QUANTITIES[definition.seconds], beside=last)
        columns[f"{last}:{definition.seconds}"] = time
    return columns


def _expected_classes(specs: Mapping[Key, dict]) -> dict[str, int]:
    """Give each row's number of classes, as far as its config of data tells."""
    expected = {row: spec["data"].get("expect") or {} for (row, _), spec in specs.items()}
    return {row: expect["classes"] for row, expect in expected.items() if "classes" in expect}


def _classes(recorded: Mapping[Key, Recorded]) -> dict[str, int]:
    """Give each row's number of classes, as far as records tell."""
    return {
        row: cell.records[0]["config"]["data"]["n_classes"]
        for (row, _), cell in recorded.items()
        if cell.records
    }


def read_tables(
    names: Sequence[str] | None,
    records: Records,
    tell: Callable[..., None] = lambda what, share=None: None,
) -> list[Table]:
    """Make tables of records alone; nothing is run, and no data set is loaded.

    Parameters
    ----------
    names : sequence of str or None
        Names of tables, or paths of YAML files that define some; None for all in ``conf/table``.
    records : Records
        What is on record.
    tell : callable, default=nothing
        Hears what goes on, and the share of it that is done, see `boostbench.util.spinner.spinner`.

    Returns
    -------
    list of Table
        Damaged lines of the files of records are left out, and complained of.

    Raises
    ------
    UserError
        Unknown table.
    """
    if names is None:
        definitions = list(all_definitions().values())
    else:
        definitions = [TableDefinition.read(name) for name in names]
    tell("composing configs")
    requests = [TableRequest.from_definition(definition) for definition in definitions]
    tables = []
    for number, request in enumerate(requests):
        tell("reading records", number / len(requests))
        tables.append(assemble(request, records.find_each(request.experiments)))
    for warning in records.new_warnings():
        print_error(warning)
    return tables


def _is_known(data: Mapping) -> bool:
    """Whether a config of data names a source, or says what a file must hold.

    One that does neither stands for data of a paper of which no copy is known.
    """
    sources = ("path", "openml_task", "openml", "sklearn", "generate", "expect")
    return any(data.get(key) for key in sources)
