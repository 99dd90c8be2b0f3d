"""``boostbench run``: a Hydra application."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import NoReturn

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig
from rich.console import Console

from boostbench import configs
from boostbench.data.load import load
from boostbench.definitions import overrides as checks
from boostbench.definitions.compose import one_line_errors, resolve
from boostbench.definitions.execute import execute
from boostbench.definitions.reference import find_reference
from boostbench.errors import UserError, complain, debugging
from boostbench.experiment.quantities import get_quantity
from boostbench.experiment.runner import Report
from boostbench.report.cells import Cell
from boostbench.report.writers.terminal import print_stale_note, print_summary


class JobFailed(Exception):
    """A job of a sweep failed, and has said so; its argument is the exit code."""


def run(argv: Sequence[str]) -> int:
    """Hand the arguments to Hydra, which composes the config and calls `job`.

    Parameters
    ----------
    argv : sequence of str
        Everything after ``boostbench run``.

    Returns
    -------
    int
        Exit code.
    """
    # A launcher is a config group, which Hydra writes with a slash; the dot is easily typed.
    argv = [re.sub(r"^hydra\.(launcher|sweeper)=", r"hydra/\1=", arg) for arg in argv]
    parser = get_args_parser()
    parser.error = _refuse
    args = parser.parse_args(argv)
    hydra_knows_better = args.help or args.hydra_help or args.shell_completion or args.config_path
    with one_line_errors(), _hydra_environment(argv):
        if not hydra_knows_better and not any("searchpath" in arg for arg in args.overrides):
            checks.check(args.overrides, [Path(args.config_dir)] if args.config_dir else [])
        try:
            hydra.main(str(configs.conf_dir()), "config", version_base="1.3")(job)()
        except JobFailed as failure:
            return failure.args[0]
    return 0


def _refuse(message: str) -> NoReturn:
    raise UserError(f"{message}; 'boostbench run --hydra-help' shows the flags")


def job(cfg: DictConfig) -> float:
    """Run one experiment and print its summary: the task function of Hydra.

    Parameters
    ----------
    cfg : DictConfig
        The composed config.

    Returns
    -------
    float
        Mean over the splits of what a Hydra sweeper minimises: the test error, a fraction, or what
        the measure takes for it.

    Raises
    ------
    JobFailed
        In a sweep, after the reason was told; the other jobs go on.
    SystemExit
        The same outside a sweep. The exit code is 1 when splits failed or, with ``rerun=never``,
        there are none; 2 for a user's mistake.
    """
    settings = HydraConfig.get()
    sweep = settings.mode == RunMode.MULTIRUN
    # Hydra adds a line of its own to any exception but SystemExit, which would end a sweep.
    stop = JobFailed if sweep else SystemExit
    try:
        with one_line_errors():
            report = _run_experiment(cfg, settings)
    except UserError as error:
        if debugging():
            raise
        complain(f"{' '.join(settings.overrides.task)}: {error}" if sweep else error)
        raise stop(2) from error
    (outcome,) = report.outcomes
    if report.failed:
        n_splits = len(outcome.records) + len(outcome.failures)
        complain(f"{outcome.experiment.label}: {report.failed} of {n_splits} splits failed")
        raise stop(1)
    if not outcome.records:
        complain(f"{outcome.experiment.label}: nothing is recorded")
        raise stop(1)
    return fmean(map(outcome.experiment.measure.objective, outcome.records))


def _run_experiment(cfg: DictConfig, settings: DictConfig) -> Report:
    spec = resolve(cfg, settings)
    # A launcher that runs jobs side by side has given each job its share of the machine.
    alone = settings.launcher._target_.endswith("BasicLauncher")
    given = any(override.startswith("parallel") for override in settings.overrides.task)
    report = execute([spec], [load(spec["data"])], n_jobs=None if alone or given else 1)
    _print(spec, report)
    return report


def _print(spec: dict, report: Report) -> None:
    (outcome,) = report.outcomes
    algo, data = spec["algo"], spec["data"]["name"]
    published, departures = find_reference(spec)
    quantity = get_quantity(outcome.experiment.measure.quantity)
    cell = Cell.of(
        outcome, data, algo["name"], algo["title"], published, quantity, departures=departures
    )
    console = Console()
    print_summary(console, outcome.experiment.dataset, [cell])
    print_stale_note(console, [cell])


@contextmanager
def _hydra_environment(argv: Sequence[str]) -> Iterator[None]:
    """Let Hydra read `argv`, and raise its errors instead of printing them and leaving."""
    arguments = sys.argv
    variables = {"BOOSTBENCH_DEBUG": str(int(debugging())), "HYDRA_FULL_ERROR": "1"}
    before = {name: os.environ.get(name) for name in variables}
    sys.argv = ["boostbench", *argv]
    os.environ.update(variables)
    try:
        yield
    finally:
        sys.argv = arguments
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
