"""``boostbench table``: a cross of data sets and algorithms, run where it lacks something."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from rich.console import Console

from boostbench import configs
from boostbench.cli.compose import experiments
from boostbench.cli.main import complain
from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.errors import UserError, unknown
from boostbench.experiment.plan import Experiment
from boostbench.experiment.progress import Progress
from boostbench.experiment.runner import run
from boostbench.report.cells import Cell
from boostbench.report.csv_file import to_csv
from boostbench.report.markdown import markdown
from boostbench.report.published import Published, find
from boostbench.report.tables import Table
from boostbench.report.terminal import print_judgement, print_summary, print_table


@dataclass(frozen=True)
class Definition:
    """A table as ``conf/table/*.yaml`` defines it.

    Attributes
    ----------
    name : str
        Name of the file.
    title : str
        Heading.
    rows, columns : dict of str to list of str
        Data sets and algorithms, each with the overrides that hold for it alone.
    overrides : list of str
        Hydra overrides that hold for all cells.
    published : str or None
        Name of the published table.
    published_as : dict of str to str
        Published name of a data set that is a second version of the same data.
    """

    name: str
    title: str
    rows: dict[str, list[str]]
    columns: dict[str, list[str]]
    overrides: list[str]
    published: str | None
    published_as: dict[str, str]

    @classmethod
    def read(cls, name: str) -> "Definition":
        """Read a table's definition.

        Parameters
        ----------
        name : str
            Name of a file in ``conf/table``, or path of any YAML file.

        Raises
        ------
        UserError
            No such table, or one whose keys are not those of a table.
        """
        path = Path(name)
        if path.suffix != ".yaml":
            if name not in configs.names("table"):
                raise unknown("table", name, configs.names("table"))
            path = configs.conf_dir() / "table" / f"{name}.yaml"
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError) as error:
            raise UserError(
                f"cannot read the table {path}: {' '.join(str(error).split())}"
            ) from None
        wanted = {"title", "rows", "columns", "overrides", "published", "published_as"}
        if not isinstance(content, dict) or not {"title", "rows", "columns"} <= content.keys():
            raise UserError(f"{path} is not a table: it needs title, rows and columns")
        if not content.keys() <= wanted:
            strange = ", ".join(sorted(content.keys() - wanted))
            raise UserError(f"{path}: a table has no {strange}; it may have {', '.join(wanted)}")
        return cls(
            name=path.stem,
            title=content["title"],
            rows=_names(content["rows"]),
            columns=_names(content["columns"]),
            overrides=content.get("overrides", []),
            published=content.get("published"),
            published_as=content.get("published_as", {}),
        )

    def cell(self, row: str, column: str) -> list[str]:
        """Collect the overrides of a cell."""
        chosen = [f"data={row}", f"algo={column}"]
        return chosen + self.overrides + self.rows[row] + self.columns[column]

    def find_published(self, row: str, algo: dict) -> Published | None:
        """Look up the published number of a row for a resolved config of an algorithm."""
        if self.published is None:
            return None
        return find(self.published, self.published_as.get(row, row), algo["name"], algo)


def _names(entries: list) -> dict[str, list[str]]:
    """Read ``[wine, {usps: [protocol.samples_per_class=100]}]``."""
    named = (entry if isinstance(entry, dict) else {entry: []} for entry in entries)
    return {name: overrides for entry in named for name, overrides in entry.items()}


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
    first = specs[0]
    with Progress() as progress:
        report = run(
            [Experiment.from_config(spec, datasets[row]) for (row, _), spec in cells.items()],
            results=Path(first["results"]),
            n_jobs=first["parallel"]["n_jobs"],
            backend=first["parallel"]["backend"],
            rerun=first["rerun"],
            on_event=progress,
        )
    for warning in report.warnings:
        complain(warning)
    algos = [spec["algo"] for spec in cells.values()]
    table = Table(
        title=definition.title,
        rows=list(definition.rows),
        columns={algo["name"]: algo["title"] for algo in algos},
        cells={
            key: Cell.of(
                outcome, spec["algo"]["title"], definition.find_published(key[0], spec["algo"])
            )
            for (key, spec), outcome in zip(cells.items(), report.outcomes, strict=True)
        },
        unavailable=list(unavailable),
        uncounted=set(definition.published_as),
        overrides=[o for o in overrides if not o.startswith(("results=", "rerun=", "parallel"))],
    )
    _print(table, datasets)
    _write(table, Path(first["results"]) / "tables" / definition.name)
    if report.failed:
        n_splits = sum(len(o.records) + len(o.failures) for o in report.outcomes)
        complain(f"{report.failed} of {n_splits} splits failed")
    return int(report.failed > 0)


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
    path.parent.mkdir(parents=True, exist_ok=True)
    for suffix, text in ((".md", markdown(table)), (".csv", to_csv(table))):
        path.with_suffix(suffix).write_text(text, encoding="utf-8")
    print(f"\nwritten: {path}.md, {path}.csv")
