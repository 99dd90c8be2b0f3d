"""Run experiments with progress on stderr: what ``run`` and ``table`` have in common."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from boostbench.data.dataset import Dataset
from boostbench.data.load import Offline, load
from boostbench.errors import UserError, complain
from boostbench.experiment.plan import Experiment
from boostbench.experiment.progress import progress
from boostbench.experiment.runner import Report, run
from boostbench.experiment.shards import Shard


def execute(
    specs: Sequence[dict],
    datasets: Sequence[Dataset],
    n_jobs: int | None = None,
    measure: str | None = None,
) -> Report:
    """Run what is missing of some experiments, all in one go, so that no core is idle.

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

    Returns
    -------
    Report
        What there is now. Its warnings have been told.
    """
    common = specs[0]
    experiments = [
        Experiment.from_config(spec, dataset, measure)
        for spec, dataset in zip(specs, datasets, strict=True)
    ]
    shard = Shard.parse(common["shard"])
    with progress() as listener:
        report = run(
            experiments,
            results=Path(common["results"]),
            n_jobs=common["parallel"]["n_jobs"] if n_jobs is None else n_jobs,
            backend=common["parallel"]["backend"],
            scheduler=common["parallel"].get("scheduler"),
            rerun=common["rerun"],
            shard=shard,
            on_event=listener,
        )
    for warning in report.warnings:
        complain(warning)
    if shard:
        print(f"shard {shard}: {report.ran} splits have run, {report.failed} failed", end="; ")
        print(f"'boostbench merge {shard.folder(common['results']).parent}/*' unites all shards")
    return report


def load_rows(specs: Mapping[tuple[str, str], dict]) -> dict[str, Dataset]:
    """Load the rows' data sets, equal ones once; complain of those not at hand, and leave them out.

    Parameters
    ----------
    specs : mapping
        Resolved configs by row and column.

    Returns
    -------
    dict of str to Dataset
        By row.
    """
    datasets, absent = {}, {}
    loaded: dict[str, Dataset] = {}
    for (row, _), spec in specs.items():
        if row not in datasets and row not in absent:
            asked = repr(spec["data"])
            try:
                if asked not in loaded:
                    loaded[asked] = load(spec["data"])
                datasets[row] = loaded[asked]
            except UserError as error:
                absent[row] = error
    offline = [row for row, error in absent.items() if isinstance(error, Offline)]
    if len(offline) > 1:
        complain(
            f"{len(offline)} rows are left out, as OpenML cannot be reached: {', '.join(offline)}. "
            "Put their files, NAME.svm (or .arff, .csv, .npz), into $BOOSTBENCH_DATA"
        )
        absent = {row: error for row, error in absent.items() if row not in offline}
    for row, error in absent.items():
        complain(f"{row} is left out: {error}")
    return datasets
