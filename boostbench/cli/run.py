"""Run one experiment, or several with -m."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from math import nan
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING

import yaml

from boostbench.util import configs
from boostbench.util.errors import UserError, did_you_mean, is_debugging, join_words, print_error
from boostbench.util.files import user_path
from boostbench.util.terminal import echo, spinner

if TYPE_CHECKING:
    from boostbench.analysis.cells import Cell
    from boostbench.execution.runner import Report
    from boostbench.fitting.quantities import Quantity
    from boostbench.spec.experiment import ExperimentConfig

#: Algorithms beside a result on a user's own file.
_BASELINES = ("constant", "logistic_regression")
#: Measures that any classifier supports.
_BASELINE_MEASURES = ("prediction", "predictions", "scores", "scores_by_auc", "scores_by_log_loss")


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    overrides = "group=option or key=value; see below"
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help=overrides)
    sweep = "sweep: run every combination of values separated by commas"
    parser.add_argument("-m", "--multirun", action="store_true", help=sweep)
    parser.add_argument("--cfg", choices=("job",), help="print the composed config and stop")
    folder = "folder of configs that is searched before the project's"
    parser.add_argument("--config-dir", type=user_path, metavar="DIR", help=folder)
    shell = "shell completion, e.g. install=bash; docs/running.md"
    parser.add_argument("-sc", "--shell-completion", metavar="ACTION", help=shell)


def epilog() -> str:
    """Return examples, and all groups, measures and values, for the help text."""
    from boostbench.spec import measures

    # 1) Collect the groups, the values that a user may change, and the measures.
    base = configs.base_config()
    groups = [("algo, data", "see 'boostbench list'")]
    groups += [
        (group, ", ".join(configs.list_options(group)))
        for group in base.options
        if group not in ("algo", "data")
    ]
    values = base.values | {
        group: base.values.get(group, {}) | configs.read_option(group, name)
        for group, name in base.options.items()
    }
    recorded = fill(", ".join(measures.names()), 78)
    # 2) Write the sections.
    return "\n".join(
        [
            "examples:",
            "  boostbench run algo=rboost_proj data=wine",
            "  boostbench run algo=adaboost_mh data.path=my.csv protocol.n_splits=3",
            "  boostbench run algo._target_=sklearn.ensemble.RandomForestClassifier data=wine",
            "  boostbench run -m algo=rboost_proj,adaboost_mh data=wine,iris",
            '  eval "$(boostbench -sc install=bash)"    # completion of names and keys',
            "",
            "== Groups: choose with group=name ==",
            *(f"  {group:19}{options}" for group, options in groups),
            "",
            "== Recorded results: choose with measure=name; prediction by default ==",
            *(f"  {line}" for line in recorded.splitlines()),
            "",
            "== Values: change with key=value, add with +key=value ==",
            yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=80),
        ]
    )


def complete(before: list[str], word: str) -> list[str]:
    """Return groups, options and keys that may come next."""
    from boostbench.config.compose import merge_configs
    from boostbench.config.overrides import parse_overrides
    from boostbench.spec import measures

    group, equals, _ = word.partition("=")
    if equals:
        names = measures.names() if group == "measure" else []
        if group in configs.base_config().options:
            names = configs.list_options(group)
        return [f"{group}={name}" for name in names]
    try:
        tree = merge_configs(parse_overrides(override for override in before if "=" in override))
    except UserError:
        tree = merge_configs({})
    keys = tree.keys()
    parents = {key.rpartition(".")[0] for key in keys}
    # Offer the keys as deep as the word: "algo." has depth 1, and is followed by algo.n_iterations.
    depth = word.count(".")
    candidates = [
        f"{key}{'.' if key in parents else '='}" for key in keys if key.count(".") == depth
    ]
    choices = [f"{group}=" for group in configs.base_config().options]
    return candidates if depth else ["-m", "--cfg", "--config-dir", *choices, *candidates]


def run(args: Namespace) -> int:
    """Run the missing splits of one experiment or of each job of a sweep, and print a summary.

    Returns
    -------
    int
        0; 1 if splits failed or nothing is recorded; 2 if a job of a sweep is not possible. The
        other jobs of the sweep run.

    Raises
    ------
    UserError
        If an override is not valid. Nothing was run then.
    """
    if args.shell_completion:
        from boostbench.cli._commands import complete_shell

        return complete_shell(args.shell_completion)
    with spinner("starting"):
        from boostbench.config.compose import compose_config, compose_experiment
        from boostbench.config.overrides import (
            check_no_conflicting_values,
            expand_sweep,
            parse_overrides,
            varying_keys,
        )
    # 1) Check the words, and expand a sweep into jobs, each the overrides of one experiment.
    folders = [args.config_dir] if args.config_dir else []
    for folder in folders:
        if not folder.is_dir():
            raise UserError(f"there is no folder {folder}; check --config-dir")
    _check_words(args.words)
    check_no_conflicting_values(args.words)
    jobs = expand_sweep(args.words, folders)
    varied_keys = varying_keys(jobs)
    if varied_keys and not args.multirun:
        raise UserError(
            f"{varied_keys[0]} is given several values; -m runs each of them, [1,2] is a list, and "
            "quotes go around a text"
        )
    # 2) Compose the configs of all jobs, so that an error is reported before the first job runs.
    compose = compose_config if args.cfg else compose_experiment
    configs_of_jobs = []
    for job in jobs:
        try:
            configs_of_jobs.append(compose(parse_overrides(job), folders=folders))
        except UserError as error:
            raise UserError(f"{' '.join(job)}: {error}" if len(jobs) > 1 else error) from None
    if args.cfg:
        for config in configs_of_jobs:
            echo(yaml.safe_dump(config, sort_keys=False, allow_unicode=True).rstrip())
        return 0
    if len({config.results for config in configs_of_jobs}) > 1:
        raise UserError("a sweep has one folder of results; run it once for each folder")
    # 3) Run the jobs one after another; the highest exit code is the command's.
    codes, durations = [], []
    for number, (job, config) in enumerate(zip(jobs, configs_of_jobs, strict=True), start=1):
        heading = " ".join(word for word in job if word.partition("=")[0] in varied_keys)
        heading = f"setting {number} of {len(jobs)}: {heading}" if varied_keys else ""
        if heading:
            echo(heading + _remaining_time(durations, len(jobs) - number + 1), file=sys.stderr)
        start = time.monotonic()
        try:
            codes.append(_run_job(config, heading))
            durations.append(time.monotonic() - start)
        except UserError as error:
            if len(jobs) == 1 or is_debugging():
                raise
            print_error(f"{' '.join(job)}: {error}")
            codes.append(2)
    if len(jobs) > 1 and not configs_of_jobs[0].shard:
        _print_sweep(varied_keys, jobs, configs_of_jobs)
    return max(codes)


def _check_words(words: Sequence[str]) -> None:
    """Raise an error if words are no overrides, with the overrides that they may stand for."""
    bare_words = [word for word in words if "=" not in word and not word.startswith("~")]
    if not bare_words:
        return
    group_of_name = {
        name: group for group in ("data", "algo") for name in configs.list_options(group)
    }
    meant = []
    for word in words:
        if word not in bare_words:
            meant.append(word)
        elif word in group_of_name:
            meant.append(f"{group_of_name[word]}={word}")
        elif os.path.isfile(user_path(word)):
            meant.append(f"data.path={word}")
        else:
            near = did_you_mean(word, group_of_name)
            advice = f"; {near}" if near.startswith("did you mean") else ""
            raise UserError(
                f"cannot read {word!r} as an override: KEY=VALUE is expected, such as algo=mcboost"
                f"{advice}"
            )
    raise UserError(f"names need their groups: 'boostbench run {' '.join(meant)}'")


def _remaining_time(durations: Sequence[float], n_jobs: int) -> str:
    """Return the expected time of the remaining jobs of a sweep, by the jobs that ran.

    Examples
    --------
    >>> _remaining_time([0.1, 40, 60], n_jobs=9)
    '; about 0:07:30 for the remaining 9'
    """
    # Jobs that are on record take less than a second.
    run_times = [seconds for seconds in durations if seconds >= 1]
    if not run_times:
        return ""
    seconds = round(fmean(run_times) * n_jobs)
    return f"; about {timedelta(seconds=seconds)} for the remaining {n_jobs}"


def _run_job(config: ExperimentConfig, heading: str) -> int:
    """Run and print one experiment, with baselines for a user's file.

    Parameters
    ----------
    config : ExperimentConfig
    heading : str
        Number and varied settings of a job of a sweep; empty for a single experiment.

    Returns
    -------
    int
        1 if splits failed or nothing is recorded; else 0. A shard, which is one machine's part of
        the splits, may have nothing to record. The baselines do not count.
    """
    with spinner("starting"):
        from boostbench.execution.jobs import execute
        from boostbench.util.terminal import make_console

    experiments = [config, *_baselines(config)]
    report = execute(experiments)
    outcome, *_ = report.results
    if not config.shard:
        if heading:
            make_console().print(heading, style="bold yellow")
        _print_job(experiments, report)
        if heading:
            echo()
    label, n_failed = outcome.experiment.label, len(outcome.failures)
    if n_failed:
        print_error(f"{label}: {n_failed} of {len(outcome.records) + n_failed} splits failed")
    elif not outcome.records and not config.shard:
        print_error(f"{label}: nothing is recorded")
    return int(bool(n_failed) or (not outcome.records and not config.shard))


def _baselines(config: ExperimentConfig) -> list[ExperimentConfig]:
    """Return the experiments of the baselines, for a file that the user names."""
    if not config.data.path or config.measure not in _BASELINE_MEASURES:
        return []
    from msgspec.structs import replace as replace_fields

    from boostbench.spec.algorithm import AlgorithmSpec

    algorithms = [
        AlgorithmSpec.from_config(configs.read_option("algo", name)) for name in _BASELINES
    ]
    return [
        replace_fields(config, algorithm=algorithm)
        for algorithm in algorithms
        if algorithm.target != config.algorithm.target
    ]


def _print_job(experiments: Sequence[ExperimentConfig], report: Report) -> None:
    """Print the results of an experiment and of its baselines.

    Parameters
    ----------
    experiments : sequence of ExperimentConfig
        The experiment, and the baselines after it.
    report : Report
        Its `results` are the outcomes of `experiments`, in the same order.
    """
    from boostbench.analysis.cells import Cell
    from boostbench.config.table_request import find_reference
    from boostbench.fitting.quantities import get_quantity
    from boostbench.report.document import make_summary
    from boostbench.report.renderers.console import print_summary, print_warnings
    from boostbench.report.wording import STALE, freshness_notes
    from boostbench.util.terminal import make_console

    # 1) Make the cell of each experiment, with its published number if there is one.
    cells = []
    for config, outcome in zip(experiments, report.results, strict=True):
        algorithm, data = config.algorithm, config.data.name
        published, departures = find_reference(config)
        quantity = get_quantity(outcome.experiment.measure.quantity)
        cells.append(
            Cell.from_results(
                outcome,
                data,
                algorithm.name,
                algorithm.title,
                published=published,
                quantity=quantity,
                departures=departures,
            )
        )
    # 2) Print the cells, notes on stale results, and a warning if the constant is as good.
    console = make_console()
    print_summary(console, make_summary(report.results[0].experiment.dataset, cells))
    for note in freshness_notes(cells, cells):
        console.print(note, style="yellow" if note.startswith(STALE) else "")
    print_warnings(console, filter(None, [constant_baseline_warning(cells[0], cells[1:])]))


def constant_baseline_warning(cell: Cell, baselines: Sequence[Cell]) -> str | None:
    """Return a warning if a classifier is no better than the constant, as the numbers are printed.

    All quantities that were recorded count: where one class is rare, the constant has a low test
    error, and a classifier that ranks the samples well may not have a lower one.

    Parameters
    ----------
    cell : Cell
        Result of the classifier.
    baselines : sequence of Cell
        Results of the baselines.

    Returns
    -------
    str or None
        None: the classifier is better by the quantity that the cell shows.
    """
    from boostbench.fitting.quantities import QUANTITIES, SCORES

    constant = next((baseline for baseline in baselines if baseline.algo == _BASELINES[0]), None)
    if constant is None:
        return None
    quantities = [cell.quantity, *(QUANTITIES[name] for name in ("test_error", *SCORES))]
    # Losses of the classifier and of the constant. NaN, for a quantity that one of them lacks, is
    # neither better nor worse.
    losses = {
        quantity.phrase: (_printed_loss(cell, quantity), _printed_loss(constant, quantity))
        for quantity in quantities
    }
    better = [name for name, (loss, constant_loss) in losses.items() if loss < constant_loss]
    worse = [name for name, (loss, constant_loss) in losses.items() if loss >= constant_loss]
    if cell.quantity.phrase not in worse:
        return None
    text = (
        f"By {join_words(worse)}, {cell.title} is no better than the constant, which predicts the "
        "most frequent class of the training part for every sample."
    )
    return f"{text} By {join_words(better)} it is better." if better else text


def _printed_loss(cell: Cell, quantity: Quantity) -> float:
    """Return the mean of a quantity as it is printed, the lower the better; NaN without one.

    The sign of a quantity is 1 if low values are good, and -1 if high values are.
    """
    from boostbench.util import numbers

    mean = replace(cell, quantity=quantity).mean
    return numbers.rounded(quantity.sign * mean, quantity.digits)


def _print_sweep(
    varied_keys: Sequence[str],
    jobs: Sequence[Sequence[str]],
    experiments: Sequence[ExperimentConfig],
) -> None:
    """Print a table of the recorded results of all jobs of a sweep, and draw it.

    Parameters
    ----------
    varied_keys : sequence of str
        Keys that differ between the jobs; each is a column of the table.
    jobs : sequence of (sequence of str)
        Overrides of each job.
    experiments : sequence of ExperimentConfig
        Config of each job.
    """
    from boostbench.fitting.quantities import TEST_ERROR
    from boostbench.report.renderers.console import make_grid, short_names
    from boostbench.report.wording import format_number, format_splits, format_time, stale_mark
    from boostbench.util.terminal import make_console

    cells = [_recorded_cell(config) for config in experiments]
    quantity = next((cell.quantity for cell in cells if cell), TEST_ERROR)
    quantity_heading = f"{quantity.title} {quantity.symbol}".rstrip()
    grid = make_grid([*varied_keys, quantity_heading, "splits", "fit s"], n_left=len(varied_keys))
    for job, cell in zip(jobs, cells, strict=True):
        values = dict(override.split("=", 1) for override in job)
        texts = ["-"] * 3
        if cell:
            number = format_number(cell) + stale_mark(cell)
            texts = [number, format_splits(cell), format_time(cell, "fit")]
        grid.add_row(*(values[key] for key in varied_keys), *texts)
    console = make_console()
    console.print(f"{len(jobs)} settings", style="bold")
    console.print(grid)
    if importlib.util.find_spec("matplotlib") is None:
        console.print("A picture of it needs matplotlib: 'pip install matplotlib'.")
    elif sum(bool(cell and cell.numbers) for cell in cells) > 1:
        results = experiments[0].results
        echo(f"\nwritten: {short_names(_draw_sweep(results, varied_keys, jobs, cells, quantity))}")


def _recorded_cell(config: ExperimentConfig) -> Cell | None:
    """Return the recorded results of one job; None: it cannot be run."""
    from boostbench.analysis.cells import Cell
    from boostbench.fitting.quantities import get_quantity
    from boostbench.records.index import Records
    from boostbench.spec import measures

    try:
        recorded = Records(config.results).find(config.spec)
        quantity = get_quantity(measures.find(config.measure).quantity)
    except UserError:
        return None
    names = config.data.name, config.algorithm.name
    return Cell.from_results(recorded, *names, "", quantity=quantity)


def _draw_sweep(
    results: Path,
    varied_keys: Sequence[str],
    jobs: Sequence[Sequence[str]],
    cells: Sequence[Cell | None],
    quantity: Quantity,
) -> list[Path]:
    """Draw a sweep; its files are named after the varied keys and a digest of all overrides.

    Parameters
    ----------
    results : Path
        Folder of results.
    varied_keys, jobs
        See `_print_sweep`.
    cells : sequence of (Cell or None)
        Recorded results of each job. None: the job cannot be run.
    quantity : Quantity
        Quantity that is drawn.

    Returns
    -------
    list of Path
        Written files.
    """
    from boostbench.figures.style import save
    from boostbench.figures.sweep import Setting, draw_sweep
    from boostbench.spec.keys import digest

    values = [dict(override.split("=", 1) for override in job) for job in jobs]
    settings = [
        Setting(
            {key: values_of_job[key] for key in varied_keys},
            cell.mean if cell else nan,
            cell.std if cell else nan,
        )
        for values_of_job, cell in zip(values, cells, strict=True)
    ]
    name = "-".join(["sweep", *(key.rpartition(".")[2] for key in varied_keys), digest(jobs)[:6]])
    caption = "; ".join(" ".join(job) for job in jobs)
    figure = draw_sweep(settings, quantity)
    return save(figure, results / "figures" / name, f"{len(jobs)} settings", caption)
