"""Run experiments with progress on stderr: what ``run`` and ``table`` have in common."""

from collections.abc import Sequence
from pathlib import Path

from boostbench.data.dataset import Dataset
from boostbench.definitions.complaints import complain
from boostbench.experiment.plan import Experiment
from boostbench.experiment.progress import Progress
from boostbench.experiment.runner import Report, run


def execute(
    specs: Sequence[dict],
    datasets: Sequence[Dataset],
    n_jobs: int | None = None,
    kind: type[Experiment] = Experiment,
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
    kind : type, default=Experiment
        What to make of each config: what is recorded of the fits.

    Returns
    -------
    Report
        What there is now. Its warnings have been told.
    """
    common = specs[0]
    experiments = [
        kind.from_config(spec, dataset) for spec, dataset in zip(specs, datasets, strict=True)
    ]
    with Progress() as progress:
        report = run(
            experiments,
            results=Path(common["results"]),
            n_jobs=common["parallel"]["n_jobs"] if n_jobs is None else n_jobs,
            backend=common["parallel"]["backend"],
            rerun=common["rerun"],
            on_event=progress,
        )
    for warning in report.warnings:
        complain(warning)
    return report
