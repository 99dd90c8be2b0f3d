"""What comes of experiments: they run where something lacks and their data are at hand."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from boostbench.busy import busy
from boostbench.data.dataset import Dataset
from boostbench.data.rows import load_rows
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
        recorded = records.find_each(request.experiments)
    for warning in records.new_warnings():
        complain(warning)
    if rerun == "never":
        return recorded, {}
    whole = {key for key, cell in recorded.items() if cell.is_whole(rerun)}
    data = {row: spec["data"] for (row, _), spec in specs.items()}
    with busy("loading data"):
        datasets, notes = load_rows(data, {row for row, _ in recorded.keys() - whole})
    lacking, elsewhere = [], []
    for key in recorded:
        row = key[0]
        if row not in datasets:
            continue
        there = recorded[key].records
        other = bool(there) and there[0]["config"]["data"]["checksum"] != datasets[row].checksum
        # How many fixed splits there are, only the data tell.
        fixed = specs[key]["protocol"].get("sampling") == "fixed"
        if key not in whole or (data[row].get("path") if other else fixed):
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
