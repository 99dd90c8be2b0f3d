"""What comes of experiments: they run where something lacks and their data are at hand."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from boostbench import configs
from boostbench.busy import busy
from boostbench.data.dataset import Dataset
from boostbench.data.load import NotAtHand, Offline, available, load, source_of
from boostbench.definitions.request import TableRequest
from boostbench.definitions.table import Key
from boostbench.errors import UserError, complain
from boostbench.records.archive import Recorded, Records
from boostbench.running.plan import Experiment
from boostbench.running.progress import progress
from boostbench.running.runner import Planned, Report, check_rerun, run
from boostbench.running.shards import Shard


def execute(
    specs: Sequence[dict],
    datasets: Sequence[Dataset],
    n_jobs: int | None = None,
    measure: str | None = None,
    before: Callable[[], None] | None = None,
    records: Records | None = None,
) -> Report:
    """Run what is missing of some experiments, all in one go, so that no core is idle.

    Progress is shown on stderr.

    Parameters
    ----------
    specs : sequence of dict
        Resolved configs. The first says where results go and how to run in parallel.
    datasets : sequence of Dataset
        The data of each.
    n_jobs : int, default=specs[0]["parallel"]["n_jobs"]
        Number of worker processes.
    measure : str, default=spec["measure"]
        What is recorded of the fits.
    before : callable, default=None
        Is called before the first fit, and not where nothing has to run.
    records : Records, default=None
        Those of the folder, if they have been read.

    Returns
    -------
    Report
        What there is now. Its warnings have been shown.
    """
    common = specs[0]
    experiments = [
        Experiment.from_config(spec, dataset, measure)
        for spec, dataset in zip(specs, datasets, strict=True)
    ]
    shard = Shard.parse(common["shard"])
    with progress() as listener:

        def heard(event) -> None:
            if before and isinstance(event, Planned):
                before()
            listener(event)

        report = run(
            experiments,
            results=records or Path(common["results"]),
            n_jobs=common["parallel"]["n_jobs"] if n_jobs is None else n_jobs,
            backend=common["parallel"]["backend"],
            scheduler=common["parallel"].get("scheduler"),
            rerun=common["rerun"],
            shard=shard,
            on_event=heard,
        )
    for warning in report.warnings:
        complain(warning)
    if shard:
        splits = "split has" if report.ran == 1 else "splits have"
        print(f"shard {shard}: {report.ran} {splits} run, {report.failed} failed", end="; ")
        folder = common["results"]
        where = f"{folder} results={folder}" if Path(folder) != Path("results") else folder
        print(f"'boostbench merge {where}' adds what all shards have")
    return report


def find_or_run(
    request: TableRequest, before: Callable[[Mapping[Key, Recorded]], None]
) -> tuple[dict[Key, Recorded], dict[str, Dataset]]:
    """Find what is on record of a table, and run what lacks, as far as ``rerun`` asks for it.

    The data of complete rows are not downloaded. A named data set is one, whatever copy of it is at
    hand: what is on record of another copy is not run again. A file of one's own is what is in it.
    What cannot run is complained of, and so are damaged lines.

    Parameters
    ----------
    request : TableRequest
        What is asked of it.
    before : callable
        Called with what is on record before the first fit, and not where nothing has to run.

    Returns
    -------
    recorded : dict
        What there is now, by row and column, of the cells that are run at all.
    datasets : dict of str to Dataset
        The data of rows, of all that run and of others that were at hand.

    Raises
    ------
    UserError
        If nothing can run and nothing is on record, or by ``rerun`` nothing can be meant.
    """
    specs, rerun = request.specs, request.common["rerun"]
    check_rerun(rerun)
    records = Records(request.results)
    with busy("reading records"):
        recorded = request.find(records)
    for warning in records.new_warnings():
        complain(warning)
    if rerun == "never":
        return recorded, {}
    whole = {key for key, cell in recorded.items() if _is_whole(cell, specs[key], rerun)}
    with busy("loading data"):
        datasets, notes = load_rows(specs, {row for row, _ in recorded.keys() - whole})
    lacking, elsewhere = [], []
    for key in recorded:
        row, data = key[0], specs[key]["data"]
        if row not in datasets:
            continue
        there = recorded[key].records
        other = bool(there) and there[0]["config"]["data"]["checksum"] != datasets[row].checksum
        # How many fixed splits there are, only the data tell.
        fixed = specs[key]["protocol"].get("sampling") == "fixed"
        if key not in whole or (data.get("path") if other else fixed):
            lacking.append(key)
        elif other:
            elsewhere.append(f"{row} ({datasets[row].source})")
    if elsewhere:
        notes.append(
            "what is on record rests on other copies than those at hand: "
            f"{', '.join(dict.fromkeys(elsewhere))}. It is shown and not run again; rerun=all does"
        )
    if not lacking and not any(cell.records for cell in recorded.values()):
        raise UserError("; ".join(notes))
    for note in notes:
        complain(note)
    if not lacking:
        return recorded, datasets
    runs = [specs[key] for key in lacking], [datasets[row] for row, _ in lacking]
    report = execute(*runs, before=lambda: before(recorded), records=records)
    return recorded | dict(zip(lacking, report.outcomes, strict=True)), datasets


def _is_whole(cell: Recorded, spec: Mapping, rerun: str) -> bool:
    """Whether nothing of a cell has to run, as far as is known without its data."""
    if rerun == "all" or (rerun == "stale" and cell.stale):
        return False
    return bool(cell.records) and not cell.failures and not cell.missing


def load_rows(
    specs: Mapping[Key, dict], needed: Collection[str]
) -> tuple[dict[str, Dataset], list[str]]:
    """Load the data of a table that are needed or here, equal data once.

    Parameters
    ----------
    specs : mapping
        Resolved configs by row and column.
    needed : collection of str
        Rows that have to run.

    Returns
    -------
    datasets : dict of str to Dataset
        By row.
    notes : list of str
        Which of the needed ones do not run, and why.
    """
    datasets: dict[str, Dataset] = {}
    loaded: dict[str, Dataset] = {}
    absent: dict[str, NotAtHand] = {}
    notes = []
    data = {row: spec["data"] for (row, _), spec in specs.items()}
    for row in data:
        if row not in needed and not _is_here(data[row]):
            continue
        asked = repr(data[row])
        try:
            if asked not in loaded:
                loaded[asked] = load(data[row])
            datasets[row] = loaded[asked]
        except NotAtHand as error:
            absent |= {row: error} if row in needed else {}
        except UserError as error:
            notes += [f"{row} is not run: {error}"] if row in needed else []
    if absent:
        n = len(absent)
        are = "1 row is not run, as its" if n == 1 else f"{n} rows are not run, as their"
        where = ", ".join(f"{row} ({_source(data[row])})" for row in absent)
        put = "put NAME.svm (or .arff, .csv, .npz) into $BOOSTBENCH_DATA"
        offline = any(isinstance(error, Offline) for error in absent.values())
        put = f"OpenML cannot be reached; {put}" if offline else put[0].upper() + put[1:]
        notes.insert(0, f"{are} data are not at hand: {where}. {put}")
    return datasets, notes


def _is_here(data: Mapping) -> bool:
    """Whether a data set is read without a network."""
    where = available(data)
    return bool(where) and not where.startswith("OpenML")


def _source(data: Mapping) -> str:
    return source_of(data) or configs.summary("data", data["name"]) or "no source is known"
