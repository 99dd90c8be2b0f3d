"""Execution of experiments, and of the fits that a table lacks, with progress on stderr.

The commands `run`, `table` and `figure` call this module with resolved configs.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from boostbench.data.dataset import Dataset
from boostbench.data.loading import load, load_each
from boostbench.data.sources import (
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
from boostbench.records.index import ExperimentResults, Records
from boostbench.spec.data import DataSpec
from boostbench.spec.experiment import ExperimentConfig, TableCell
from boostbench.util.configs import read_summary
from boostbench.util.errors import UserError, print_error
from boostbench.util.terminal import echo, spinner


def execute(configs: Sequence[ExperimentConfig]) -> Report:
    """Run the missing fits of several experiments together, so that no core is idle.

    Progress is shown on stderr.

    Parameters
    ----------
    configs : sequence of ExperimentConfig
        Configs of the experiments. The first one has the folder of the results, and the settings of
        workers, reruns and shards.

    Returns
    -------
    Report
        Records of each experiment. Its warnings have been printed.

    Raises
    ------
    UserError
        If a config is invalid; nothing was run.
    """
    datasets = load_each([config.data for config in configs])
    run = _plan_run(configs, datasets, Records(configs[0].results))
    return _carry_out(run, configs[0])


@dataclass(frozen=True)
class RecordedCell:
    """Cell of a table with its records, and with its data set if fits may be missing.

    `records_suffice` is judged from the records alone, before data are loaded. `is_other_copy` and
    `may_lack_splits` compare the records with the loaded data. A cell that may lack splits is
    planned (`is_planned`) if its data are loaded.

    Attributes
    ----------
    cell : TableCell
        Row, column and config.
    results : ExperimentResults
        Records of the experiment.
    records_suffice : bool
        True if ``rerun`` asks for no fit, as far as is known without the data.
    dataset : Dataset or None, default=None
        None: the data were not loaded.
    """

    cell: TableCell
    results: ExperimentResults
    records_suffice: bool
    dataset: Dataset | None = None

    @property
    def row(self) -> str:
        """Name of the row."""
        return self.cell.row

    @property
    def config(self) -> ExperimentConfig:
        """Config of the experiment."""
        return self.cell.config

    @property
    def is_other_copy(self) -> bool:
        """True if the records are of another copy of the data than the loaded one."""
        records = self.results.records
        return bool(records) and records[0].config.data.checksum != self.dataset.checksum

    @property
    def may_lack_splits(self) -> bool:
        """True if the loaded data have to be compared with the records split by split."""
        if not self.records_suffice:
            return True
        if self.is_other_copy:
            # Another file of the user has other data, which lack all splits. A named data set is
            # the same one in every copy, and lacks none.
            return bool(self.config.data.path)
        # The number of fixed splits is known from the data only.
        return self.config.protocol.sampling == "fixed"

    @property
    def is_planned(self) -> bool:
        """True if a run looks for missing splits of the cell, whose data are loaded."""
        return self.dataset is not None and self.may_lack_splits


@dataclass(frozen=True)
class TablePlan:
    """Records of a table, and the plan of the missing fits.

    Attributes
    ----------
    common : ExperimentConfig
        Config of the first cell, with the folder of the results and the settings of the run.
    cells : list of RecordedCell
        Cells that can run.
    run : Run or None, default=None
        Plan of the missing fits of the cells with `is_planned`, in their order. None: there is no
        such cell.
    """

    common: ExperimentConfig
    cells: list[RecordedCell]
    run: Run | None = None

    @property
    def results(self) -> list[ExperimentResults]:
        """Records of each cell."""
        return [cell.results for cell in self.cells]

    @property
    def datasets(self) -> list[Dataset]:
        """Different data sets that were loaded."""
        datasets = (cell.dataset for cell in self.cells if cell.dataset is not None)
        return list({id(dataset): dataset for dataset in datasets}.values())

    def run_missing_fits(self) -> "TablePlan":
        """Run the missing fits, and return the table with the new records, without a plan."""
        if self.run is None:
            return self
        report = _carry_out(self.run, self.common)
        # The report has the results of the planned cells, in their order.
        new_results = iter(report.results)
        cells = [
            replace(cell, results=next(new_results)) if cell.is_planned else cell
            for cell in self.cells
        ]
        return TablePlan(self.common, cells)


def plan_table(cells: Sequence[TableCell]) -> TablePlan:
    """Look up the records of a table, and plan the fits that ``rerun`` asks for.

    Data of complete rows are not downloaded. A named data set is the same one in every copy, so
    that records of another copy are not repeated; a file of the user is identified by its content.
    Warnings about damaged lines and about rows that cannot run are printed.

    Parameters
    ----------
    cells : sequence of TableCell
        Cells that can run. The first one has the settings of the run.

    Returns
    -------
    TablePlan

    Raises
    ------
    UserError
        If no cell can run and none has records, or ``rerun`` or ``shard`` are invalid.
    """
    common = cells[0].config
    rerun = common.rerun
    check_rerun(rerun)
    Shard.parse(common.shard)
    # 1) Find the records.
    records = Records(common.results)
    with spinner("reading records"):
        results = [records.find(cell.config.spec) for cell in cells]
    for warning in records.pop_warnings():
        print_error(warning)
    recorded_cells = [
        RecordedCell(cell, cell_results, rerun == "never" or cell_results.is_sufficient(rerun))
        for cell, cell_results in zip(cells, results, strict=True)
    ]
    if rerun == "never":
        return TablePlan(common, recorded_cells)
    # 2) Load the data of cells that lack splits, and of other cells if that needs no network.
    with spinner("loading data"):
        recorded_cells, notes = load_cell_data(recorded_cells)
    # 3) Find the cells that may lack splits. A cell with all records, of another copy of the data,
    #    does not.
    planned = [cell for cell in recorded_cells if cell.is_planned]
    other_copies = [
        f"{cell.row} ({cell.dataset.source})"
        for cell in recorded_cells
        if cell.dataset is not None and cell.is_other_copy and not cell.may_lack_splits
    ]
    if other_copies:
        notes.append(
            "records rest on other copies of the data than the copies at hand: "
            f"{', '.join(dict.fromkeys(other_copies))}. They are shown, and only rerun=all repeats "
            "them"
        )
    if not planned and not any(cell.results.records for cell in recorded_cells):
        raise UserError("; ".join(notes))
    for note in notes:
        print_error(note)
    # 4) Plan the missing fits.
    if not planned:
        return TablePlan(common, recorded_cells)
    run = _plan_run([cell.config for cell in planned], [cell.dataset for cell in planned], records)
    return TablePlan(common, recorded_cells, run)


def _plan_run(
    configs: Sequence[ExperimentConfig], datasets: Sequence[Dataset], records: Records
) -> Run:
    """Plan the missing fits of experiments; the first config has the settings of the run."""
    common = configs[0]
    specs = [config.spec for config in configs]
    experiments = list(map(Experiment.from_spec, specs, datasets))
    with spinner("reading records"):
        return Run.plan(
            experiments,
            records,
            n_jobs=common.parallel.n_jobs,
            backend=common.parallel.backend,
            scheduler=common.parallel.scheduler,
            rerun=common.rerun,
            shard=Shard.parse(common.shard),
        )


def _carry_out(run: Run, common: ExperimentConfig) -> Report:
    """Execute a run, show its progress, and print warnings about damaged lines."""
    with ProgressDisplay() as listener:
        report = run.carry_out(listener)
    for warning in report.warnings:
        print_error(warning)
    if common.shard is not None:
        splits = "split has" if report.ran == 1 else "splits have"
        counts = f"shard {common.shard}: {report.ran} {splits} run, {report.failed} failed"
        # The argument of `merge` is the folder of the shards; `results=` names the folder that they
        # are added to, if it is not the default.
        folder = common.results
        arguments = f"{folder} results={folder}" if folder != Path("results") else folder
        echo(f"{counts}; 'boostbench merge {arguments}' adds the records of all shards")
    return report


def load_cell_data(cells: Sequence[RecordedCell]) -> tuple[list[RecordedCell], list[str]]:
    """Load the data of a table's cells, equal data once.

    Data of cells whose records suffice are loaded only if that needs no network.

    Parameters
    ----------
    cells : sequence of RecordedCell
        Cells of a row mostly share their data; a column may cut its data in another way, or fill
        missing values.

    Returns
    -------
    cells : list of RecordedCell
        The cells in their order, with the data that could be loaded.
    notes : list of str
        Rows that lack splits and do not run, with the reason.
    """
    cells_by_data = defaultdict(list)
    for cell in cells:
        cells_by_data[repr(cell.config.data)].append(cell)
    loaded, notes, absent_rows = {}, [], []
    for data, cells_of_data in cells_by_data.items():
        spec = cells_of_data[0].config.data
        rows = dict.fromkeys(cell.row for cell in cells_of_data if not cell.records_suffice)
        source = first_available_source(spec)
        if not rows and (not source or source.startswith("OpenML")):
            continue
        try:
            loaded[data] = load(spec)
        except DataNotAvailable as error:
            absent_rows += [_AbsentRow(row, spec, error) for row in rows]
        except UserError as error:
            notes += [f"{row} is not run: {error}" for row in rows]
    if absent_rows:
        notes.insert(0, _absent_data_note(absent_rows))
    return [replace(cell, dataset=loaded.get(repr(cell.config.data))) for cell in cells], notes


class _AbsentRow(NamedTuple):
    """Row of a table whose data are not at hand, with the specification and the error of loading.

    Cells of a row may have several specifications; each is an absent row.
    """

    name: str
    spec: DataSpec
    error: DataNotAvailable


def _absent_data_note(absent_rows: Sequence[_AbsentRow]) -> str:
    """Return the note that names the rows without data, and says how to get the data."""
    rows = {row.name: row for row in absent_rows}
    if len(rows) == 1:
        reason = "1 row is not run, as its data are not at hand"
    else:
        reason = f"{len(rows)} rows are not run, as their data are not at hand"
    sources = ", ".join(f"{name} ({_source(row.spec)})" for name, row in rows.items())
    files = f"{file_names('NAME')} into $BOOSTBENCH_DATA"
    is_offline = any(isinstance(row.error, Offline) for row in rows.values())
    advice = f"OpenML cannot be reached; put {files}" if is_offline else f"Put {files}"
    return f"{reason}: {sources}. {advice}"


def _source(data: DataSpec) -> str:
    """Return the place from which a data set can be had, for the note on absent data."""
    return openml_name(data) or read_summary("data", data.name) or "no source is known"
