"""One experiment of ``boostbench run``, and the table of a sweep over several."""

import importlib.util
from collections.abc import Sequence
from math import nan
from pathlib import Path
from statistics import fmean

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from boostbench.analysis.cells import Cell
from boostbench.cli.baselines import baselines, below_the_constant
from boostbench.cli.sweeps import JobFailed, results_of, swept
from boostbench.config.compose import experiment, one_line_errors, resolve
from boostbench.config.overrides import settings as read_settings
from boostbench.config.reference import find_reference
from boostbench.execution.jobs import execute
from boostbench.execution.runner import Report
from boostbench.fitting.quantities import TEST_ERROR, Quantity, get_quantity
from boostbench.records.archive import Records
from boostbench.records.keys import digest
from boostbench.report.renderers.printing import make_grid, named
from boostbench.report.renderers.terminal import print_freshness, print_summary
from boostbench.spec import measures
from boostbench.util.console import make_console
from boostbench.util.errors import UserError, is_debugging, print_error
from boostbench.util.printable import echo


def job(cfg: DictConfig, varied: Sequence[str] = ()) -> float:
    """Run one experiment and print its summary.

    Parameters
    ----------
    cfg : DictConfig
        The composed config.
    varied : sequence of str, default=()
        Keys in which it differs from other jobs of the same sweep.

    Returns
    -------
    float
        Mean over the splits of what a Hydra sweeper minimises: the test error, a fraction, or what
        the measure takes for it.

    Raises
    ------
    JobFailed
        In a sweep, after the reason was printed; the other jobs run.
    SystemExit
        The same outside a sweep. The exit code is 1 when splits failed or, with ``rerun=never``,
        there are none; 2 for a user's mistake.
    """
    settings = HydraConfig.get()
    sweep = settings.mode == RunMode.MULTIRUN
    # SystemExit would end a sweep; of any other exception outside one Hydra has a line of its own.
    stop = JobFailed if sweep else SystemExit
    try:
        with one_line_errors():
            report = _run_experiment(cfg, settings, varied)
    except UserError as error:
        if is_debugging():
            raise
        print_error(f"{' '.join(settings.overrides.task)}: {error}" if sweep else error)
        raise stop(2) from error
    outcome, *_ = report.outcomes
    if cfg.shard and not outcome.failures:
        return nan  # of a part of the splits
    if outcome.failures:
        n_failed = len(outcome.failures)
        n_splits = len(outcome.records) + n_failed
        print_error(f"{outcome.experiment.label}: {n_failed} of {n_splits} splits failed")
        raise stop(1)
    if not outcome.records:
        print_error(f"{outcome.experiment.label}: nothing is recorded")
        raise stop(1)
    return fmean(map(outcome.experiment.measure.objective, outcome.records))


def _run_experiment(cfg: DictConfig, settings: DictConfig, varied: Sequence[str]) -> Report:
    spec = resolve(cfg, settings)
    # A launcher that runs jobs side by side has given each job its share of the machine.
    alone = settings.launcher._target_.endswith("BasicLauncher")
    given = any(override.startswith("parallel") for override in settings.overrides.task)
    if not (alone or given):
        spec["parallel"]["n_jobs"] = 1
    specs = [spec, *baselines(spec)]
    report = execute(specs)
    if spec["shard"]:
        return report
    if varied:
        own = [o for o in settings.overrides.task if o.partition("=")[0] in varied]
        make_console().print(f"{' '.join(own)}", style="bold yellow")
    _print(specs, report)
    if varied:
        echo()
    return report


def _print(specs: Sequence[dict], report: Report) -> None:
    cells = []
    for spec, outcome in zip(specs, report.outcomes, strict=True):
        algo, data = spec["algo"], spec["data"]["name"]
        published, departures = find_reference(spec)
        quantity = get_quantity(outcome.experiment.measure.quantity)
        about = {"published": published, "quantity": quantity, "departures": departures}
        cells.append(Cell.of(outcome, data, algo["name"], algo["title"], **about))
    console = make_console()
    print_summary(console, report.outcomes[0].experiment.dataset, cells)
    print_freshness(console, cells)
    if below := below_the_constant(cells[0], cells[1:]):
        console.print(below, style="yellow")


def print_sweep(settings: Sequence[Sequence[str]]) -> None:
    """Print a table of all jobs of a sweep, of what is on record.

    Parameters
    ----------
    settings : sequence of sequence of str
        The overrides of each job.
    """
    keys = swept(settings)
    cells = [_cell(overrides) for overrides in settings]
    quantity = next((cell.quantity for cell in cells if cell), TEST_ERROR)
    error = f"{quantity.title} {quantity.symbol}".rstrip()
    grid = make_grid([*keys, error, "splits", "fit s"], left=len(keys))
    for overrides, cell in zip(settings, cells, strict=True):
        values = dict(override.split("=", 1) for override in overrides)
        shown = [cell.text + cell.mark, cell.splits, cell.seconds("fit")] if cell else ["-"] * 3
        grid.add_row(*(values[key] for key in keys), *shown)
    console = make_console()
    console.print(f"{len(settings)} settings", style="bold")
    console.print(grid)
    if importlib.util.find_spec("matplotlib") is None:
        console.print("A picture of it needs matplotlib: 'pip install matplotlib'.")
    elif sum(bool(cell and cell.values) for cell in cells) > 1:
        echo(f"\nwritten: {named(_draw_sweep(keys, settings, cells, quantity))}")


def _draw_sweep(
    keys: Sequence[str],
    settings: Sequence[Sequence[str]],
    cells: Sequence[Cell | None],
    quantity: Quantity,
) -> list[Path]:
    """Draw a sweep; its files are named by what it varies and a digest of all of its settings."""
    from boostbench.figures.style import save
    from boostbench.figures.sweep import Point, draw_sweep

    values = [dict(override.split("=", 1) for override in overrides) for overrides in settings]
    points = [
        Point(
            {key: own[key] for key in keys}, cell.mean if cell else nan, cell.std if cell else nan
        )
        for own, cell in zip(values, cells, strict=True)
    ]
    name = "-".join(["sweep", *(key.rpartition(".")[2] for key in keys), digest(settings)[:6]])
    caption = "; ".join(" ".join(overrides) for overrides in settings)
    figure = draw_sweep(points, quantity)
    return save(
        figure, results_of(settings) / "figures" / name, f"{len(settings)} settings", caption
    )


def _cell(overrides: Sequence[str]) -> Cell | None:
    """Find what is on record of one job; None where it could not be run."""
    try:
        spec = experiment(read_settings(overrides))
        recorded = Records(Path(spec["results"])).find(spec)
        quantity = get_quantity(measures.find(spec["measure"]).quantity)
    except UserError:
        return None
    return Cell.of(recorded, spec["data"]["name"], spec["algo"]["name"], "", quantity=quantity)
