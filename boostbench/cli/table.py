"""``boostbench table``: a cross of data sets and algorithms, run where it lacks something."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from boostbench.busy import busy
from boostbench.data.dataset import Dataset
from boostbench.definitions.assemble import assemble, find_recorded
from boostbench.definitions.outcomes import complete
from boostbench.definitions.overrides import check_once
from boostbench.definitions.reference import departures
from boostbench.definitions.table import Key, TableDefinition
from boostbench.errors import UserError, complain, writing
from boostbench.records.archive import Records
from boostbench.report.blocks import Document
from boostbench.report.document import compose
from boostbench.report.renderers.csv_file import to_csv
from boostbench.report.renderers.latex import latex, latex_notes
from boostbench.report.renderers.markdown import markdown
from boostbench.report.renderers.terminal import (
    print_headline,
    print_judgement,
    print_summary,
    print_table,
)
from boostbench.report.tables import Table

#: Overrides that change where and how a table is made, and not what is in it.
_WITHOUT_EFFECT = ("results=", "rerun=", "shard=", "parallel=", "parallel.")

_RENDERERS = {".md": markdown, ".tex": latex, "-notes.tex": latex_notes}


def make_table(
    name: str, overrides: Sequence[str], rows: Sequence[str] = (), columns: Sequence[str] = ()
) -> int:
    """Run what a table lacks, print it, and write it under ``results/tables``.

    Parameters
    ----------
    name : str
        Name of the table, or path of a YAML file that defines one.
    overrides : sequence of str
        Hydra overrides for every cell. Those that change what is in the table change its file name
        too.
    rows, columns : sequence of str, default=()
        Those that are run and shown, see `TableDefinition.part`; all if there are none.

    Returns
    -------
    int
        0, or 1 when splits failed.

    Raises
    ------
    UserError
        For what the user can put right; nothing was run or written then.
    """
    check_once(overrides)
    definition = TableDefinition.read(name).part(rows, columns)
    with busy("composing configs"):
        specs = definition.compose(overrides)
    _check_rounds(definition, specs)
    given = [override for override in overrides if not override.startswith(_WITHOUT_EFFECT)]
    changes, different = _changes(definition, specs) if given else ([], {})
    common = next(iter(specs.values()))
    results = Path(common["results"])
    with busy("reading records"):
        records = Records(results)
        recorded = find_recorded(definition, specs, records)
    for warning in records.warnings:
        complain(warning)
    own = {
        "name": "-".join([definition.name, *rows, *columns, *map(_slug, given if changes else [])]),
        "title": definition.title + _glance(common),
        "changes": changes,
    }
    datasets = {}
    if common["rerun"] != "never":
        first = partial(assemble, definition, specs, recorded, different, **own)
        recorded, datasets = complete(
            specs, recorded, lambda: _print_first(first()), records.warnings
        )
    if common["shard"] and common["rerun"] != "never":  # the numbers of one shard are no table
        return int(any(found.failures for found in recorded.values()))
    table = assemble(definition, specs, recorded, different, **own)
    document = compose(table)
    _print(table, document, datasets)
    _write(document, to_csv(table), results / "tables")
    failed = sum(len(cell.failures) for cell in table.fitted)
    if failed:
        n_splits = failed + sum(len(cell.records) for cell in table.fitted)
        complain(f"{failed} of {n_splits} splits failed")
    return int(failed > 0)


def _glance(spec: Mapping) -> str:
    """Say in a title that a profile limits what is run: `` (quick: 3 splits, 200 rounds)``."""
    profile = spec["profile"]
    if profile["name"] == "paper":
        return ""
    limits = {
        "splits": profile["protocol"].get("n_splits"),
        "rounds": profile["algo"].get("all", {}).get("n_iterations"),
    }
    told = ", ".join(f"{number} {what}" for what, number in limits.items() if number)
    return f" ({profile['name']}{told and f': at most {told}'})"


def _check_rounds(definition: TableDefinition, specs: Mapping[Key, dict]) -> None:
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
    definition: TableDefinition, specs: Mapping[Key, dict]
) -> tuple[list[str], dict[Key, tuple[str, ...]]]:
    """Tell what is not as the definition says.

    Returns
    -------
    changes : list of str
        In the first row: ``["protocol.n_splits=3"]``.
    different : dict
        What makes each cell another experiment.
    """
    defined = definition.compose()
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


def _print_first(table: Table) -> None:
    """Print what is on record before the rest is run, if there is anything."""
    if any(cell.records for cell in table.cells.values()):
        console = Console()
        console.print(Text("On record, before what is missing runs:", "bold"))
        print_table(console, compose(table))
        console.print()


def _print(table: Table, document: Document, datasets: dict[str, Dataset]) -> None:
    console = Console()
    print_headline(console, document)
    if len(table.rows) == 1:
        dataset = next(iter(datasets.values()), None)
        print_summary(console, dataset, list(table.cells.values()))
    else:
        print_table(console, document)
    print_judgement(console, document)


def _write(document: Document, csv: str, folder: Path) -> None:
    path = folder / document.name
    with writing(path):
        texts = {suffix: render(document) for suffix, render in _RENDERERS.items()}
        for suffix, text in {".csv": csv, **texts}.items():
            path.with_name(path.name + suffix).write_text(text, encoding="utf-8")
    print(f"\nwritten: {path}.md, .csv, .tex, -notes.tex")
