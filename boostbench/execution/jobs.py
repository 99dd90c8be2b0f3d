"""Execution of experiments, and of the cells that a table lacks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
from boostbench.execution.run_records import Shard
from boostbench.execution.runner import Report, Run, check_rerun
from boostbench.records.archive import ExperimentResults, Records
from boostbench.spec.data import DataSpec
from boostbench.spec.experiment import CellKey, ExperimentConfig
from boostbench.util.configs import read_summary
from boostbench.util.errors import UserError, print_error
from boostbench.util.terminal import echo, spinner


def execute(configs: Sequence[ExperimentConfig]) -> Report:
    """Run the missing fits of several experiments together, so that no core is idle.

    Progress is shown on stderr.

    Parameters
    ----------
    configs : sequence of ExperimentConfig
        Configs. The first says where results go and how to run in parallel.

    Returns
    -------
    Report
        Records of each experiment. Warnings were printed.

    Raises
    ------
    UserError
        If a config is invalid; nothing was run.
    """
    datasets = load_each([config.data for config in configs])
    run = _plan(configs, datasets, Records(configs[0].results))
    return _execute_plan(run, configs[0])


@dataclass(frozen=True)
class TablePlan:
    """Records of a table, and the plan of the missing fits.

    Attributes
    ----------
    common : ExperimentConfig
        Config of the first cell, with the folder of the results and the settings of the run.
    recorded : dict of CellKey to ExperimentResults
        Records of each cell that can run.
    datasets : dict of CellKey to Dataset
        Data of the incomplete cells, and of the others as far as no download is needed.
    incomplete : list of CellKey
        Cells that may lack splits.
    run : Run or None
        Plan of their missing fits; None: no cell is incomplete.
    """

    common: ExperimentConfig
    recorded: dict[CellKey, ExperimentResults]
    datasets: dict[CellKey, Dataset] = field(default_factory=dict)
    incomplete: list[CellKey] = field(default_factory=list)
    run: Run | None = None

    def complete(self) -> dict[CellKey, ExperimentResults]:
        """Run the missing fits, and return the records of each cell."""
        if self.run is None:
            return self.recorded
        report = _execute_plan(self.run, self.common)
        return self.recorded | dict(zip(self.incomplete, report.outcomes, strict=True))


def plan_table(configs: Mapping[CellKey, ExperimentConfig]) -> TablePlan:
    """Look up the records of a table, and plan the fits that ``rerun`` asks for.

    Data of complete rows are not downloaded. A named data set is the same one in every copy, so
    that records of another copy are not repeated; a file of the user is identified by its content.
    Warnings about damaged lines and about rows that cannot run are printed.

    Parameters
    ----------
    configs : mapping of CellKey to ExperimentConfig
        Config of each cell that can run. The first one has the settings of the run.

    Returns
    -------
    TablePlan

    Raises
    ------
    UserError
        If no cell can run and none has records, or ``rerun`` or ``shard`` are invalid.
    """
    common = next(iter(configs.values()))
    rerun = common.rerun
    check_rerun(rerun)
    Shard.parse(common.shard)
    records = Records(common.results)
    with spinner("reading records"):
        recorded = records.find_each({key: config.spec for key, config in configs.items()})
    for warning in records.pop_warnings():
        print_error(warning)
    if rerun == "never":
        return TablePlan(common, recorded)
    complete = {key for key, cell in recorded.items() if cell.is_complete(rerun)}
    # 1) Load the data of incomplete rows, and of others if that needs no network.
    with spinner("loading data"):
        datasets, notes = load_table_data(
            {key: config.data for key, config in configs.items()}, recorded.keys() - complete
        )
    # 2) Find the cells that may lack splits. The records of a complete cell may be of another copy
    #    of its data; and only the data determine the number of fixed splits.
    incomplete, other_copies = [], []
    for key in filter(datasets.__contains__, recorded):
        dataset, records_of_cell, config = datasets[key], recorded[key].records, configs[key]
        is_other_copy = bool(records_of_cell) and (
            records_of_cell[0].config.data.checksum != dataset.checksum
        )
        has_fixed_splits = config.protocol.sampling == "fixed"
        if key not in complete or (config.data.path if is_other_copy else has_fixed_splits):
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
    run = _plan(
        [configs[key] for key in incomplete], [datasets[key] for key in incomplete], records
    )
    return TablePlan(common, recorded, datasets, incomplete, run)


def _plan(
    configs: Sequence[ExperimentConfig], datasets: Sequence[Dataset], records: Records
) -> Run:
    """Plan the missing fits of experiments; the first config has the settings of the run."""
    common = configs[0]
    specs = [config.spec for config in configs]
    experiments = list(map(Experiment.from_spec, specs, datasets))
    with spinner("reading records"):
        return Run.from_experiments(
            experiments,
            records,
            n_jobs=common.parallel.n_jobs,
            backend=common.parallel.backend,
            scheduler=common.parallel.scheduler,
            rerun=common.rerun,
            shard=Shard.parse(common.shard),
        )


def _execute_plan(run: Run, common: ExperimentConfig) -> Report:
    """Execute a plan, show its progress, and print warnings about damaged lines."""
    with ProgressDisplay() as listener:
        report = run.carry_out(listener)
    for warning in report.warnings:
        print_error(warning)
    if common.shard is not None:
        splits = "split has" if report.ran == 1 else "splits have"
        done = f"shard {common.shard}: {report.ran} {splits} run, {report.failed} failed"
        folder = common.results
        where = f"{folder} results={folder}" if folder != Path("results") else folder
        echo(f"{done}; 'boostbench merge {where}' adds what all shards have")
    return report


def load_table_data(
    data: Mapping[CellKey, DataSpec], needed: Collection[CellKey]
) -> tuple[dict[CellKey, Dataset], list[str]]:
    """Load the data of a table's cells that are needed or here, equal data once.

    Parameters
    ----------
    data : mapping of CellKey to DataSpec
        Data by row and column. Cells of a row mostly share them; a column may cut its data in
        another way, or fill missing values.
    needed : collection of CellKey
        Cells whose data have to be loaded; others are if that takes no network.

    Returns
    -------
    datasets : dict of CellKey to Dataset
    notes : list of str
        Which rows do not run though they are needed, and why.
    """
    alike: dict[str, list[CellKey]] = {}
    for key, spec in data.items():
        alike.setdefault(repr(spec), []).append(key)
    datasets: dict[CellKey, Dataset] = {}
    absent: dict[str, tuple[DataSpec, DataNotAvailable]] = {}
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


def _source(data: DataSpec) -> str:
    return openml_name(data) or read_summary("data", data.name) or "no source is known"
