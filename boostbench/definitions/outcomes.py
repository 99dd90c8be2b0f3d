"""What comes of experiments: they run where something lacks and their data are at hand."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostbench.config.table_request import TableRequest
from boostbench.config.tables import Key
from boostbench.data.dataset import Dataset
from boostbench.data.loading import load, load_each
from boostbench.data.sources.lookup import (
    DataNotAvailable,
    Offline,
    first_available_source,
    openml_name,
)
from boostbench.execution.plan import Experiment
from boostbench.execution.progress import progress
from boostbench.execution.runner import Report, Run, check_rerun
from boostbench.execution.shards import Shard
from boostbench.records.archive import Recorded, Records
from boostbench.util import configs
from boostbench.util.errors import UserError, print_error
from boostbench.util.printable import echo
from boostbench.util.spinner import spinner


def execute(specs: Sequence[dict]) -> Report:
    """Run what is missing of some experiments, all in one go, so that no core is idle.

    Progress is shown on stderr.

    Parameters
    ----------
    specs : sequence of dict
        Resolved configs. The first says where results go and how to run in parallel.

    Returns
    -------
    Report
        What there is now. Its warnings have been shown.

    Raises
    ------
    UserError
        For what the user can put right; nothing was run then.
    """
    datasets = load_each([spec["data"] for spec in specs])
    run = _plan(specs, datasets, Records(Path(specs[0]["results"])))
    return _carry_out(run, specs[0])


@dataclass(frozen=True)
class Found:
    """What is on record of a table, and what has to run.

    Attributes
    ----------
    request : TableRequest
        What is asked of the table.
    recorded : dict
        What there is, by row and column, of the cells that are run at all.
    datasets : dict of Key to Dataset
        The data of cells, of all that lack something and of others that were at hand.
    lacking : list of Key
        The cells that may lack something.
    run : Run or None
        What is missing of these.
    """

    request: TableRequest
    recorded: dict[Key, Recorded]
    datasets: dict[Key, Dataset] = field(default_factory=dict)
    lacking: list[Key] = field(default_factory=list)
    run: Run | None = None

    def complete(self) -> dict[Key, Recorded]:
        """Run what is missing, and give what there is then."""
        if self.run is None:
            return self.recorded
        report = _carry_out(self.run, self.request.common)
        return self.recorded | dict(zip(self.lacking, report.outcomes, strict=True))


def find(request: TableRequest) -> Found:
    """Find what is on record of a table, and what lacks, as far as ``rerun`` asks for it.

    The data of complete rows are not downloaded. A named data set is one, whatever copy of it is at
    hand: what is on record of another copy is not run again. A file of one's own is what is in it.
    What cannot run is complained of, and so are damaged lines.

    Parameters
    ----------
    request : TableRequest
        What is asked of it.

    Returns
    -------
    Found

    Raises
    ------
    UserError
        If nothing can run and nothing is on record, or by ``rerun`` nothing can be meant.
    """
    specs, rerun = request.specs, request.common["rerun"]
    check_rerun(rerun)
    Shard.parse(request.common["shard"])
    records = Records(request.results)
    with spinner("reading records"):
        recorded = records.find_each(request.experiments)
    for warning in records.new_warnings():
        print_error(warning)
    if rerun == "never":
        return Found(request, recorded)
    whole = {key for key, cell in recorded.items() if cell.is_whole(rerun)}
    data = {key: specs[key]["data"] for key in recorded}
    with spinner("loading data"):
        datasets, notes = load_rows(data, recorded.keys() - whole)
    lacking, elsewhere = [], []
    for key in recorded:
        if key not in datasets:
            continue
        there = recorded[key].records
        other = bool(there) and there[0]["config"]["data"]["checksum"] != datasets[key].checksum
        # How many fixed splits there are, only the data tell.
        fixed = specs[key]["protocol"].get("sampling") == "fixed"
        if key not in whole or (data[key].get("path") if other else fixed):
            lacking.append(key)
        elif other:
            elsewhere.append(f"{key[0]} ({datasets[key].source})")
    if elsewhere:
        notes.append(
            "what is on record rests on other copies than those at hand: "
            f"{', '.join(dict.fromkeys(elsewhere))}. It is shown and not run again; rerun=all does"
        )
    if not lacking and not any(cell.records for cell in recorded.values()):
        raise UserError("; ".join(notes))
    for note in notes:
        print_error(note)
    if not lacking:
        return Found(request, recorded, datasets)
    asked = [specs[key] for key in lacking], [datasets[key] for key in lacking]
    return Found(request, recorded, datasets, lacking, _plan(*asked, records))


def _plan(specs: Sequence[dict], datasets: Sequence[Dataset], records: Records) -> Run:
    """Plan what is missing of some experiments; the first config says how all run."""
    common, parallel = specs[0], specs[0]["parallel"]
    experiments = list(map(Experiment.from_config, specs, datasets))
    with spinner("reading records"):
        return Run.of(
            experiments,
            records,
            n_jobs=parallel["n_jobs"],
            backend=parallel["backend"],
            scheduler=parallel.get("scheduler"),
            rerun=common["rerun"],
            shard=Shard.parse(common["shard"]),
        )


def _carry_out(run: Run, common: Mapping) -> Report:
    """Do what is planned, show how far it is, and say what is wrong with files."""
    with progress() as listener:
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


def load_rows(
    data: Mapping[Key, Mapping[str, Any]], needed: Collection[Key]
) -> tuple[dict[Key, Dataset], list[str]]:
    """Load the data of a table's cells that are needed or here, equal data once.

    Parameters
    ----------
    data : mapping of Key to mapping
        Configs of data by row and column, see `boostbench.data.loading`. Mostly those of a row
        are equal; a column may cut its data otherwise, or fill what they lack.
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
        put = "put NAME.svm (or .arff, .csv, .npz) into $BOOSTBENCH_DATA"
        offline = any(isinstance(error, Offline) for _, error in absent.values())
        put = f"OpenML cannot be reached; {put}" if offline else put[0].upper() + put[1:]
        notes.insert(0, f"{are} data are not at hand: {where}. {put}")
    return datasets, notes


def _source(data: Mapping[str, Any]) -> str:
    return openml_name(data) or configs.read_summary("data", data["name"]) or "no source is known"
