"""``boostbench table``: a cross of data sets and algorithms, run where it lacks something."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from boostbench.busy import busy
from boostbench.data.dataset import Dataset
from boostbench.definitions.assemble import assemble, recorded_table
from boostbench.definitions.compose import experiments
from boostbench.definitions.execute import execute, load_rows
from boostbench.definitions.reference import departures
from boostbench.definitions.table import TableDefinition
from boostbench.errors import UserError, complain, writing
from boostbench.experiment.archive import Recorded, Records
from boostbench.report.tables import Table
from boostbench.report.writers.csv_file import to_csv
from boostbench.report.writers.latex import latex
from boostbench.report.writers.markdown import markdown
from boostbench.report.writers.terminal import (
    print_headline,
    print_judgement,
    print_summary,
    print_table,
)

#: Overrides that change where and how a table is made, and not what is in it.
_WITHOUT_EFFECT = ("results=", "rerun=", "shard=", "parallel=", "parallel.")

_WRITERS = {".md": markdown, ".csv": to_csv, ".tex": latex}

#: Row and column of a cell.
_Key = tuple[str, str]


def make_table(name: str, overrides: Sequence[str]) -> int:
    """Run what a table lacks, print it, and write it under ``results/tables``.

    Parameters
    ----------
    name : str
        Name of the table, or path of a YAML file that defines one.
    overrides : sequence of str
        Hydra overrides for every cell. Those that change what is in the table change its file name
        too.

    Returns
    -------
    int
        0, or 1 when splits failed.

    Raises
    ------
    UserError
        For what the user can put right; nothing was run or written then.
    """
    definition = TableDefinition.read(name)
    keys = [(row, column) for row in definition.rows for column in definition.columns]
    with busy("composing configs"):
        cells = experiments([definition.cell(*key) + list(overrides) for key in keys])
    specs = dict(zip(keys, cells, strict=True))
    _check_rounds(definition, specs)
    given = [override for override in overrides if not override.startswith(_WITHOUT_EFFECT)]
    changes, different = _changes(definition, specs) if given else ([], {})
    common = specs[keys[0]]
    if common["rerun"] == "never":
        table, datasets = _recorded(definition, specs, different), {}
    else:
        datasets, outcomes = _run(definition, specs)
        if common["shard"]:  # the numbers of one shard are no table
            return int(any(outcome.failures for outcome in outcomes.values()))
        classes = {row: dataset.n_classes for row, dataset in datasets.items()}
        table = assemble(definition, specs, outcomes, classes, set(datasets), different)
    name = "-".join([definition.name, *map(_slug, given if changes else [])])
    table = replace(table, name=name, changes=changes)
    _print(table, datasets)
    _write(table, Path(common["results"]) / "tables")
    failed = sum(len(cell.failures) for cell in table.fitted)
    if failed:
        n_splits = failed + sum(len(cell.records) for cell in table.fitted)
        complain(f"{failed} of {n_splits} splits failed")
    return int(failed > 0)


def _recorded(
    definition: TableDefinition, specs: Mapping[_Key, dict], departures: Mapping
) -> Table:
    """Make the table of what is recorded, for which no data have to be at hand."""
    with busy("reading records"):
        records = Records(Path(next(iter(specs.values()))["results"]))
        table = recorded_table(definition, specs, records, departures)
    for warning in records.warnings:
        complain(warning)
    return table


def _run(
    definition: TableDefinition, specs: Mapping[_Key, dict]
) -> tuple[dict[str, Dataset], dict[_Key, Recorded]]:
    """Run what is missing of the rows whose data are at hand.

    Returns
    -------
    datasets : dict
        By row.
    outcomes : dict
        What there is now, by cell.

    Raises
    ------
    UserError
        If there is none.
    """
    with busy("loading data"):
        datasets = load_rows(specs)
    if not datasets:
        raise UserError(f"none of the data sets of table {definition.name} is available")
    runs = [key for key in specs if key[0] in datasets and definition.runs(*key)]
    report = execute([specs[key] for key in runs], [datasets[row] for row, _ in runs])
    return datasets, dict(zip(runs, report.outcomes, strict=True))


def _check_rounds(definition: TableDefinition, specs: Mapping[_Key, dict]) -> None:
    """Refuse rounds at which no test error is recorded."""
    for spec in specs.values():
        unknown = set(definition.rounds) - set(spec["protocol"]["checkpoints"])
        if unknown:
            rounds = ", ".join(map(str, sorted(unknown)))
            raise UserError(
                f"no test error is recorded after {rounds} rounds; add them to the table's "
                "overrides: protocol.checkpoints=[...]"
            )


def _changes(
    definition: TableDefinition, specs: Mapping[_Key, dict]
) -> tuple[list[str], dict[_Key, tuple[str, ...]]]:
    """Tell what is not as the definition says.

    Returns
    -------
    changes : list of str
        In the first row: ``["protocol.n_splits=3"]``.
    different : dict
        What makes each cell another experiment.
    """
    defined = dict(zip(specs, experiments([definition.cell(*key) for key in specs]), strict=True))
    first = next(iter(definition.rows))
    changes = {}
    for column in definition.columns:
        then, now = _values(defined[first, column]), _values(specs[first, column])
        changes |= {f"{key}={value}": 0 for key, value in now.items() if then.get(key) != value}
    different = {key: departures(defined[key], spec) for key, spec in specs.items()}
    return list(changes), different


def _values(spec: Mapping) -> dict[str, object]:
    """Give each value of a config that decides what is in a table, under its dotted key."""
    values = {"profile": spec["profile"]["name"], "seed": spec["seed"]}
    for group in ("data", "protocol", "algo"):
        values |= {f"{group}.{key}": value for key, value in spec[group].items()}
    return values


def _slug(override: str) -> str:
    """Shorten an override for a file name: ``protocol=quick`` to ``quick``.

    Examples
    --------
    >>> _slug("protocol=quick"), _slug("algo.n_iterations=5"), _slug("algo.grid.nu=[1e-3,1e-4]")
    ('quick', 'n_iterations=5', 'nu=1e-3,1e-4')
    """
    key, _, value = override.lstrip("+~").partition("=")
    short = f"{key.rpartition('.')[2]}={value}" if "." in key else value
    return re.sub(r"[^\w.=,-]+", "", short)[:60]


def _print(table: Table, datasets: dict[str, Dataset]) -> None:
    console = Console()
    print_headline(console, table)
    if len(table.rows) == 1:
        dataset = next(iter(datasets.values()), None)
        print_summary(console, dataset, list(table.cells.values()))
    else:
        print_table(console, table)
    print_judgement(console, table)


def _write(table: Table, folder: Path) -> None:
    path = folder / table.name
    with writing(path):
        for suffix, write in _WRITERS.items():
            path.with_name(path.name + suffix).write_text(write(table), encoding="utf-8")
    print(f"\nwritten: {path}" + ", ".join(_WRITERS))
