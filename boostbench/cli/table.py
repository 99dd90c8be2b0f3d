"""``boostbench table``: a cross of data sets and algorithms, run where it lacks something."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from boostbench.cli.complaints import complain
from boostbench.cli.compose import experiments
from boostbench.cli.definition import Definition
from boostbench.cli.execute import execute
from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.errors import UserError
from boostbench.experiment.runner import Report
from boostbench.report.cells import Cell
from boostbench.report.csv_file import to_csv
from boostbench.report.markdown import markdown
from boostbench.report.tables import Table
from boostbench.report.terminal import print_judgement, print_summary, print_table

#: Overrides that change where and how a table is made, and not what is in it.
_WITHOUT_EFFECT = ("results=", "rerun=", "parallel=", "parallel.")


def make_table(name: str, overrides: Sequence[str]) -> int:
    """Run what a table lacks, print it, and write it under ``results/tables``.

    Parameters
    ----------
    name : str
        Name of the table, or path of a YAML file that defines one.
    overrides : sequence of str
        Hydra overrides for every cell.

    Returns
    -------
    int
        0, or 1 when splits failed.

    Raises
    ------
    UserError
        For what the user can put right; nothing was run or written then.
    """
    definition = Definition.read(name)
    keys = [(row, column) for row in definition.rows for column in definition.columns]
    specs = experiments([definition.cell(*key) + list(overrides) for key in keys])
    cells = dict(zip(keys, specs, strict=True))
    datasets, unavailable = _load(cells)
    for row, why in unavailable.items():
        complain(f"{row} is left out: {why}")
    if not datasets:
        raise UserError(f"none of the data sets of table {name} is available")
    cells = {key: spec for key, spec in cells.items() if key[0] in datasets}
    report = execute(list(cells.values()), [datasets[row] for row, _ in cells])
    table = _table(definition, cells, report)
    table.unavailable.extend(unavailable)
    table.overrides.extend(o for o in overrides if not o.startswith(_WITHOUT_EFFECT))
    path = Path(specs[0]["results"]) / "tables" / definition.name
    _write(table, path)
    _print(table, datasets)
    print(f"\nwritten: {path}.md, {path}.csv")
    if report.failed:
        n_splits = sum(len(o.records) + len(o.failures) for o in report.outcomes)
        complain(f"{report.failed} of {n_splits} splits failed")
    return int(report.failed > 0)


def _table(definition: Definition, specs: dict[tuple[str, str], dict], report: Report) -> Table:
    cells = {}
    for (row, column), outcome in zip(specs, report.outcomes, strict=True):
        algo = specs[row, column]["algo"]
        published = definition.find_published(row, algo)
        cells[row, column] = Cell.of(outcome, algo["title"], published)
    return Table(
        title=definition.title,
        rows=list(definition.rows),
        columns={column: cell.title for (_, column), cell in cells.items()},
        cells=cells,
        uncounted=set(definition.published_as),
    )


def _load(cells: dict[tuple[str, str], dict]) -> tuple[dict[str, Dataset], dict[str, str]]:
    """Load each row's data set once; tell why some cannot be had."""
    datasets, unavailable = {}, {}
    for (row, _), spec in cells.items():
        if row not in datasets and row not in unavailable:
            try:
                datasets[row] = load(spec["data"])
            except UserError as error:
                unavailable[row] = str(error)
    return datasets, unavailable


def _print(table: Table, datasets: dict[str, Dataset]) -> None:
    console = Console()
    console.print(table.title, style="bold", markup=False, highlight=False)
    if len(table.rows) == 1:
        print_summary(console, datasets[table.rows[0]], list(table.cells.values()))
    else:
        print_table(console, table)
    print_judgement(console, table)


def _write(table: Table, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for suffix, text in ((".md", markdown(table)), (".csv", to_csv(table))):
            path.with_name(path.name + suffix).write_text(text, encoding="utf-8")
    except OSError as error:
        why = error.strerror
        raise UserError(f"cannot write {path}: {why}; choose another folder by results=") from error
