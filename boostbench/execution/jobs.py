"""Execution of experiments, and of the cells that a table lacks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostbench.data.dataset import Dataset
from boostbench.data.loading import load, load_each
from boostbench.data.sources.lookup import (
    DataNotAvailable,
    Offline,
    file_names,
    first_available_source,
    openml_name,
)
from boostbench.execution.plan import Experiment
from boostbench.execution.progress import ProgressDisplay
from boostbench.execution.runner import Report, Run, check_rerun
from boostbench.execution.shards import Shard
from boostbench.records.archive import ExperimentResults, Records
from boostbench.util import configs
from boostbench.util.errors import UserError, print_error
from boostbench.util.printable import echo
from boostbench.util.spinner import spinner

#: Row and column of a cell.
Key = tuple[str, str]


def execute(specs: Sequence[dict]) -> Report:
    """Run the missing fits of several experiments together, so that no core is idle.

    Progress is shown on stderr.

    Parameters
    ----------
    specs : sequence of dict
        Resolved configs. The first says where results go and how to run in parallel.

    Returns
    -------
    Report
        Records of each experiment. Warnings were printed.

    Raises
    ------
    UserError
        If a config is invalid; nothing was run.
    """
    datasets = load_each([spec["data"] for spec in specs])
    run = _plan(specs, datasets, Records(Path(specs[0]["results"])))
    return _execute_plan(run, specs[0])


@dataclass(frozen=True)
class TablePlan:
    """Records of a table, and the plan of the missing fits.

    Attributes
    ----------
    common : mapping
        Config of the first cell, with the folder of the results and the settings of the run.
    recorded : dict of Key to ExperimentResults
        Records of each cell that can run.
    datasets : dict of Key to Dataset
        Data of the incomplete cells, and of the others as far as no download is needed.
    incomplete : list of Key
        Cells that may lack splits.
    run : Run or None
        Plan of their missing fits; None: no cell is incomplete.
    """

    common: Mapping[str, Any]
    recorded: dict[Key, ExperimentResults]
    datasets: dict[Key, Dataset] = field(default_factory=dict)
    incomplete: list[Key] = field(default_factory=list)
    run: Run | None = None

    def complete(self) -> dict[Key, ExperimentResults]:
        """Run the missing fits, and return the records of each cell."""
        if self.run is None:
            return self.recorded
        report = _execute_plan(self.run, self.common)
        return self.recorded | dict(zip(self.incomplete, report.outcomes, strict=True))


def plan_table(specs: Mapping[Key, dict]) -> TablePlan:
    """Look up the records of a table, and plan the fits that ``rerun`` asks for.

    Data of complete rows are not downloaded. A named data set is the same one in every copy, so
    that records of another copy are not repeated; a file of the user is identified by its content.
    Warnings about damaged lines and about rows that cannot run are printed.

    Parameters
    ----------
    specs : mapping of Key to dict
        Resolved config of each cell that can run. The first one has the settings of the run.

    Returns
    -------
    TablePlan

    Raises
    ------
    UserError
        If no cell can run and none has records, or ``rerun`` or ``shard`` are invalid.
    """
    common = next(iter(specs.values()))
    rerun = common["rerun"]
    check_rerun(rerun)
    Shard.parse(common["shard"])
    records = Records(Path(common["results"]))
    with spinner("reading records"):
        recorded = records.find_each(specs)
    for warning in records.pop_warnings():
        print_error(warning)
    if rerun == "never":
        return TablePlan(common, recorded)
    complete = {key for key, cell in recorded.items() if cell.is_complete(rerun)}
    # 1) Load the data of incomplete rows, and of others if that needs no network.
    with spinner("loading data"):
        datasets, notes = load_table_data(
            {key: spec["data"] for key, spec in specs.items()}, recorded.keys() - complete
        )
    # 2) Find the cells that may lack splits. The records of a complete cell may be of another copy
    #    of its data; and only the data determine the number of fixed splits.
    incomplete, other_copies = [], []
    for key in filter(datasets.__contains__, recorded):
        dataset, records_of_cell, spec = datasets[key], recorded[key].records, specs[key]
        is_other_copy = bool(records_of_cell) and (
            records_of_cell[0]["config"]["data"]["checksum"] != dataset.checksum
        )
        has_fixed_splits = spec["protocol"].get("sampling") == "fixed"
        if key not in complete or (spec["data"].get("path") if is_other_copy else has_fixed_splits):
            incomplete.append(key)
        elif is_other_copy:
            other_copies.append(f"{key[0]} ({dataset.source})")
    if other_copies:
        notes.append(
            "what is on record rests on other copies than those at hand: "
            f"{', '.join(dict.fromkeys(other_copies))}. It is shown and not run again; rerun=all "
            "does"
        )
    if not incomplete and not any(cell.records for cell in recorded.values()):
        raise UserError("; ".join(notes))
    for note in notes:
        print_error(note)
    if not incomplete:
        return TablePlan(common, recorded, datasets)
    # 3) Plan the missing fits.
    run = _plan([specs[key] for key in incomplete], [datasets[key] for key in incomplete], records)
    return TablePlan(common, recorded, datasets, incomplete, run)


def _plan(specs: Sequence[dict], datasets: Sequence[Dataset], records: Records) -> Run:
    """Plan the missing fits of experiments; the first config has the settings of the run."""
    common, parallel = specs[0], specs[0]["parallel"]
    experiments = list(map(Experiment.from_config, specs, datasets))
    with spinner("reading records"):
        return Run.from_experiments(
            experiments,
            records,
            n_jobs=parallel["n_jobs"],
            backend=parallel["backend"],
            scheduler=parallel.get("scheduler"),
            rerun=common["rerun"],
            shard=Shard.parse(common["shard"]),
        )


def _execute_plan(run: Run, common: Mapping) -> Report:
    """Execute a plan, show its progress, and print warnings about damaged lines."""
    with ProgressDisplay() as listener:
        report = run.carry_out(listener)
    for warning in report.warnings:
        print_error(warning)
    if common["shard"] is not None:
        splits = "split has" if report.ran == 1 else "splits have"
        done = f"shard {common['shard']}: {report.ran} {splits} run, {report.failed} failed"
        folder = common["results"]
        where = f"{folder} results={folder}" if Path(folder) != Path("results") else folder
        echo(f"{done}; 'boostbench merge {where}' adds what all shards have")
    return report


def load_table_data(
    data: Mapping[Key, Mapping[str, Any]], needed: Collection[Key]
) -> tuple[dict[Key, Dataset], list[str]]:
    """Load the data of a table's cells that are needed or here, equal data once.

    Parameters
    ----------
    data : mapping of Key to mapping
        Configs of data by row and column, see `boostbench.data.loading`. The configs of a row are
        mostly equal; a column may cut its data in another way, or fill missing values.
    needed : collection of Key
        Cells whose data have to be loaded; others are if that takes no network.

    Returns
    -------
    datasets : dict of Key to Dataset
    notes : list of str
        Which rows do not run though they are needed, and why.
    """
    alike: dict[str, list[Key]] = {}
    for key, spec in data.items():
        alike.setdefault(repr(spec), []).append(key)
    datasets: dict[Key, Dataset] = {}
    absent: dict[str, tuple[Mapping[str, Any], DataNotAvailable]] = {}
    notes = []
    for keys in alike.values():
        spec = data[keys[0]]
        where, rows = (
            first_available_source(spec),
            dict.fromkeys(key[0] for key in keys if key in needed),
        )
        if not rows and (not where or where.startswith("OpenML")):
            continue
        try:
            datasets |= dict.fromkeys(keys, load(spec))
        except DataNotAvailable as error:
            absent |= dict.fromkeys(rows, (spec, error))
        except UserError as error:
            notes += [f"{row} is not run: {error}" for row in rows]
    if absent:
        n = len(absent)
        are = "1 row is not run, as its" if n == 1 else f"{n} rows are not run, as their"
        where = ", ".join(f"{row} ({_source(spec)})" for row, (spec, _) in absent.items())
        put = f"put {file_names('NAME')} into $BOOSTBENCH_DATA"
        offline = any(isinstance(error, Offline) for _, error in absent.values())
        put = f"OpenML cannot be reached; {put}" if offline else put[0].upper() + put[1:]
        notes.insert(0, f"{are} data are not at hand: {where}. {put}")
    return datasets, notes


def _source(data: Mapping[str, Any]) -> str:
    return openml_name(data) or configs.read_summary("data", data["name"]) or "no source is known"
