"""Run experiments with progress on stderr: what ``run`` and ``table`` have in common."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from boostbench.data.dataset import Dataset
from boostbench.errors import complain
from boostbench.running.plan import Experiment
from boostbench.running.progress import progress
from boostbench.running.runner import Planned, Report, run
from boostbench.running.shards import Shard


def execute(
    specs: Sequence[dict],
    datasets: Sequence[Dataset],
    n_jobs: int | None = None,
    measure: str | None = None,
    before: Callable[[], None] | None = None,
    told: Collection[str] = (),
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
    before : callable, default=None
        Is called before the first fit, and not where nothing has to run.
    told : collection of str, default=()
        Warnings that were told before.

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

        def heard(event) -> None:
            if before and isinstance(event, Planned):
                before()
            listener(event)

        report = run(
            experiments,
            results=Path(common["results"]),
            n_jobs=common["parallel"]["n_jobs"] if n_jobs is None else n_jobs,
            backend=common["parallel"]["backend"],
            scheduler=common["parallel"].get("scheduler"),
            rerun=common["rerun"],
            shard=shard,
            on_event=heard,
        )
    for warning in report.warnings:
        if warning not in told:
            complain(warning)
    if shard:
        print(f"shard {shard}: {report.ran} splits have run, {report.failed} failed", end="; ")
        print(f"'boostbench merge {shard.folder(common['results']).parent}/*' unites all shards")
    return report
