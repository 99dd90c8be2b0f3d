"""From a table's definition and what is on record to the table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from boostbench import configs
from boostbench.definitions.table import Key, TableDefinition
from boostbench.errors import complain
from boostbench.experiment import measures
from boostbench.experiment.quantities import Quantity, get_quantity
from boostbench.records.archive import Recorded, Records
from boostbench.report.cells import Cell
from boostbench.report.tables import Claim, Column, Pair, Table

_NOTHING = Recorded(records=[], failures=[], missing=0, stale=0)


def assemble(
    definition: TableDefinition,
    specs: Mapping[Key, dict],
    recorded: Mapping[Key, Recorded],
    departures: Mapping[Key, tuple[str, ...]] | None = None,
    **own,
) -> Table:
    """Make a table of what is recorded of its cells.

    Parameters
    ----------
    definition : TableDefinition
        What the table shows.
    specs : mapping
        Resolved config of each cell.
    recorded : mapping
        What there is of the cells that are run.
    departures : mapping, default=None
        What is not as the definition says, by cell; None: nothing.
    **own
        Attributes of the table that are not the definition's: its name, its title, its changes.

    Returns
    -------
    Table
    """
    first_row = next(iter(definition.rows))
    algos = {column: specs[first_row, column]["algo"] for column in definition.columns}
    measure = specs[first_row, next(iter(definition.columns))]["measure"]
    quantity = definition.shown(measures.find(measure).quantity)
    shown = {c: _columns(definition, c, algos[c], quantity) for c in definition.columns}
    tried = {row for (row, _), found in recorded.items() if found.records or found.failures}
    cells = {}
    for key, spec in specs.items():
        there = key[0] in tried or _is_known(spec["data"])
        names = spec["data"]["name"], spec["algo"]["name"]
        for name, column in shown[key[1]].items():
            published = definition.find_published(*key, spec["algo"], column.rounds)
            more = {"published": published, "quantity": column.quantity}
            if column.beside is None and there and key in recorded:
                more |= {"rounds": column.rounds, "departures": (departures or {}).get(key, ())}
                cells[key[0], name] = Cell.of(recorded[key], *names, column.label, **more)
            elif column.beside is None:
                cells[key[0], name] = Cell.of(
                    _NOTHING, *names, column.label, **more, available=there
                )
    # Of several rounds, the last are compared; and of these the times behind them.
    times = {column: list(columns)[-1] for column, columns in shown.items()}
    last = {column: shown[column][time].beside or time for column, time in times.items()}
    return Table(
        **{"name": definition.name, "title": definition.title, **own},
        rows={row: entry.title for row, entry in definition.rows.items()},
        columns={name: column for columns in shown.values() for name, column in columns.items()},
        cells=cells,
        compare=[
            Pair(last[a], last[b], definition.find_statement(a, b, algos))
            for a, b in definition.pairs
        ],
        classes=_expected_classes(specs) | _classes(recorded) if definition.classes else {},
        uncounted=set(definition.published_as),
        remarks=definition.remarks,
        speedup=[tuple(times[column] for column in pair) for pair in definition.speedup],
        paper=definition.paper,
        claims=[
            Claim(
                claim.says,
                [(last[a], last[b]) for a, b in claim.better or claim.alike],
                claim.rows or list(definition.rows),
                claim.within,
                claim.times,
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
        time = replace(column, quantity=get_quantity(definition.seconds), beside=last)
        columns[f"{last}:{definition.seconds}"] = time
    return columns


def _expected_classes(specs: Mapping[Key, dict]) -> dict[str, int]:
    """Give each row's number of classes, as far as its config of data tells."""
    expected = {row: spec["data"].get("expect") or {} for (row, _), spec in specs.items()}
    return {row: expect["classes"] for row, expect in expected.items() if "classes" in expect}


def _classes(recorded: Mapping[Key, Recorded]) -> dict[str, int]:
    """Give each row's number of classes, as far as records tell."""
    return {
        row: found.records[0]["config"]["data"]["n_classes"]
        for (row, _), found in recorded.items()
        if found.records
    }


def read_tables(
    names: Sequence[str] | None,
    results: Path | Records,
    tell: Callable[..., None] = lambda what, share=None: None,
) -> list[Table]:
    """Make tables of records alone; nothing is run, and no data set is loaded.

    Parameters
    ----------
    names : sequence of str or None
        Names of tables, or paths of YAML files that define some; None for all in ``conf/table``.
    results : Path or Records
        Folder of the records, or these.
    tell : callable, default=nothing
        Hears what goes on, and the share of it that is done, see `boostbench.busy.busy`.

    Returns
    -------
    list of Table
        Damaged lines of the files of records are left out, and complained of.

    Raises
    ------
    UserError
        Unknown table.
    """
    names = configs.names("table") if names is None else names
    definitions = [TableDefinition.read(name) for name in names]
    tell("composing configs")
    composed = [definition.compose() for definition in definitions]
    records = results if isinstance(results, Records) else Records(results)
    tables = []
    for number, (definition, specs) in enumerate(zip(definitions, composed, strict=True)):
        tell("reading records", number / len(definitions))
        tables.append(assemble(definition, specs, find_recorded(definition, specs, records)))
    for warning in records.warnings:
        complain(warning)
    return tables


def find_recorded(
    definition: TableDefinition, specs: Mapping[Key, dict], records: Records
) -> dict[Key, Recorded]:
    """Find what is on record of the cells of a table that are run.

    Parameters
    ----------
    definition : TableDefinition
        What the table shows.
    specs : mapping
        Resolved config of each cell.
    records : Records
        Where it is looked for.

    Returns
    -------
    dict
        By row and column.
    """
    return {key: records.find(spec) for key, spec in specs.items() if definition.runs(*key)}


def _is_known(data: Mapping) -> bool:
    """Whether a config of data names a source, or says what a file must hold.

    One that does neither stands for data of a paper of which no copy is known.
    """
    sources = ("path", "openml_task", "openml", "sklearn", "generate", "expect")
    return any(data.get(key) for key in sources)
