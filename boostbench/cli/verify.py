"""Fit a random sample of the records again, and compare the results."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from boostbench.util import configs
from boostbench.util.errors import UserError, first_line, print_error, unknown_name_error
from boostbench.util.files import parse_names_and_results, user_path
from boostbench.util.terminal import spinner

if TYPE_CHECKING:
    from rich.console import Console

    from boostbench.execution.verification import GroupCheck, Refit
    from boostbench.records.index import Records
    from boostbench.records.schema import Config, Record
    from boostbench.records.verified import Finding, Group, RefitFindings
    from boostbench.spec.class_facts import CodeVersion


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    named = "algorithms and tables; default: all; also results=DIR"
    parser.add_argument("words", nargs="*", metavar="NAME", help=named)
    budget = "recorded CPU time of the sample: 90s, 30m or 2h"
    parser.add_argument("--budget", metavar="TIME", help=budget)
    parser.add_argument(
        "--dry-run", action="store_true", help="only print the number of refits and their time"
    )
    jobs = "processes; default: all cores"
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help=jobs)
    against = "records that other code made on this machine"
    parser.add_argument("--against", type=user_path, metavar="DIR", help=against)


def complete(before: list[str], word: str) -> list[str]:
    """Return the names that may come next."""
    return configs.list_options("algo")


def run(args: Namespace) -> int:
    """Verify the records."""
    return verify(
        args.words, args.budget, n_jobs=args.jobs, dry_run=args.dry_run, against=args.against
    )


#: Seconds of the units of a budget: seconds, minutes and hours.
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def verify(
    words: Sequence[str],
    budget: str | None = None,
    n_jobs: int = -1,
    dry_run: bool = False,
    against: Path | None = None,
) -> int:
    """Fit a sample of the records again, and compare the results.

    Parameters
    ----------
    words : sequence of str
        Algorithms, their classes, or tables, and perhaps ``results=DIR``; without names, all
        records.
    budget : str, default=None
        Recorded CPU time of the sample: ``"2m"``. None: five records of each group.
    n_jobs : int, default=-1
        Number of worker processes; -1 for all cores.
    dry_run : bool, default=False
        Only print the number of refits and their time.
    against : Path, default=None
        Folder of records that other code made on this machine. The findings are then printed and
        not written.

    Returns
    -------
    int
        Exit code: 1 if a refit is different or failed, else 0.

    Raises
    ------
    UserError
        If a name is unknown, the budget is no time, or there are no records.
    KeyboardInterrupt
        On Ctrl-C, and its subclass `Terminated` on SIGTERM; findings so far are written.
    """
    with spinner("starting"):
        from boostbench.execution import verification
        from boostbench.execution.workers import Workers, terminable
        from boostbench.records.environment import blas, commit, now
        from boostbench.records.index import Records
        from boostbench.records.verified import RefitFindings, add_finding, compact
        from boostbench.util.terminal import make_console

    names, results = parse_names_and_results("verify", words)
    seconds = float("inf") if budget is None else _parse_budget(budget)
    workers = Workers(n_jobs, "loky")
    started = now()
    # 1) Draw records.
    with spinner("reading records"):
        records = Records(results if against is None else against)
        past_findings = records.findings if against is None else RefitFindings()
        group_checks = _group_records(_select_records(names, records), past_findings)
    if not group_checks:
        raise UserError(f"{records.results} holds no records that today's code could give")
    for warning in records.pop_warnings():
        print_error(warning)
    # The kernel is the processor-specific code of BLAS, on which rounding depends. The commit is
    # the salt of the random draw, so that another version of the code draws other records.
    console, kernel, salt = make_console(), blas(), commit()
    refits = verification.draw_refits(group_checks, salt, kernel)
    affordable = list(verification.select_affordable(refits, seconds))
    if dry_run:
        _print_plan(console, affordable)
        return 0
    # 2) Fit them, and write each finding as soon as it is known.
    written_groups = set()
    with terminable():
        fits = verification.refit_records(
            refits,
            verification.load_recorded_data,
            workers,
            kernel,
            budget=seconds,
            is_same_kernel=against is not None,
        )
        for group_check in _track_progress(fits, affordable):
            if against is None:
                add_finding(results, group_check.conclude(salt, kernel, started))
                written_groups.add(group_check.group)
    # 3) Write the other findings, and print a summary. A record for which today's code draws other
    #    rows is different without a fit, so that step 2 may not have written its group.
    findings = [
        group_check.conclude(salt, kernel, started) if group_check.refitted else None
        for group_check in group_checks
    ]
    new_findings = [finding for finding in findings if finding is not None]
    if against is None and new_findings:
        for finding in new_findings:
            if finding.group not in written_groups:
                add_finding(results, finding)
        compact(results)
    _print_findings(console, group_checks, findings)
    return int(any(finding.state != "same" for finding in new_findings))


def _parse_budget(text: str) -> float:
    """Return the seconds of a budget such as ``"90s"``, ``"30m"`` or ``"1.5h"``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match:
        raise UserError(f"--budget is {text!r}; write 90s, 30m or 2h")
    return float(match[1]) * _SECONDS[match[2]]


def _select_records(names: Sequence[str], records: Records) -> list[tuple[str, Record]]:
    """Return the finished records of algorithms, classes and tables.

    Parameters
    ----------
    names : sequence of str
        Names of algorithms, classes and tables. Empty: all records.
    records : Records

    Returns
    -------
    list of (str, Record)
        Name of the algorithm, and the record.
    """
    from boostbench.records.verified import Group

    finished = [
        (algo, record) for (_, algo, _), record in records.titled_records() if not record.is_failed
    ]
    if not names:
        return finished
    classes = {_class_name(record) for _, record in finished}
    algorithms = {*configs.list_options("algo"), *(name for name, _ in finished), *classes}
    candidates = {*algorithms, *configs.list_options("table")}
    for name in names:
        if name not in candidates and not name.endswith(configs.DEFINITION_SUFFIXES):
            raise unknown_name_error("algorithm or table", name, candidates, is_listed=False)
    tables = [name for name in names if name not in algorithms]
    groups = set(chain.from_iterable(_table_groups(name, records) for name in tables))
    return [
        (name, record)
        for name, record in finished
        if name in names
        or _class_name(record) in names
        or Group.from_config(record.config) in groups
    ]


def _class_name(record: Record) -> str:
    """Return the name of a record's class, without its module."""
    return record.config.target.rpartition(".")[2]


def _table_groups(table: str, records: Records) -> set[Group]:
    """Return the groups (algorithm, its choices and data set) of a table's records."""
    from boostbench.config.table_definitions import TableDefinition
    from boostbench.config.table_request import TableRequest
    from boostbench.records.verified import Group

    cells = TableRequest.compose(TableDefinition.read(table)).runnable_cells
    recorded = [records.find(cell.config.spec) for cell in cells]
    return {Group.from_config(results.records[0].config) for results in recorded if results.records}


def _group_records(
    records: Iterable[tuple[str, Record]], findings: RefitFindings
) -> list[GroupCheck]:
    """Return the groups of the records that today's code could give.

    A group is an algorithm with its choices on a data set; its `GroupCheck` holds the records that
    may be fitted again, the refits and their results. An edition is the number of changes of an
    algorithm's results; records of earlier editions are left out. An error is printed for each
    experiment whose class cannot be imported.

    Parameters
    ----------
    records : iterable of (str, Record)
        Name of the algorithm, and the record.
    findings : RefitFindings
        Findings of earlier refits.
    """
    from boostbench.execution.verification import GroupCheck, RecordedFit
    from boostbench.records.verified import Group

    by_config = defaultdict(list)
    for name, record in records:
        by_config[record.config].append((name, record))
    fits = defaultdict(list)
    for config, named_records in by_config.items():
        version = _code_version(config, named_records[0][0])
        fits[Group.from_config(config)] += [
            RecordedFit.from_record(record, name)
            for name, record in named_records
            if version is not None and record.provenance.is_from(version)
        ]
    return [
        GroupCheck(group, members, findings.find(members[0].record))
        for group, members in sorted(fits.items())
        if members
    ]


def _code_version(config: Config, name: str) -> CodeVersion | None:
    """Return today's version of the code of a config; None if it cannot be imported.

    Parameters
    ----------
    config : Config
    name : str
        Name of the algorithm, for the message about an error.
    """
    from boostbench.execution import verification
    from boostbench.spec.class_facts import find_code_version
    from boostbench.spec.trusted_imports import class_names

    try:
        measure = verification.find_measure(config)
        return find_code_version(class_names(config.algo), type(measure))
    except (Exception, SystemExit) as error:  # a module may raise anything
        print_error(f"{name}: {first_line(error)}")
        return None


def _track_progress(fits: Iterable[Refit], planned: Sequence[Refit]) -> Iterable[GroupCheck]:
    """Yield the group of each refit as soon as the refit is done; show the progress meanwhile.

    Parameters
    ----------
    fits : iterable of (GroupCheck, RecordedFit)
        Refits, each made when it is drawn from the iterator.
    planned : sequence of (GroupCheck, RecordedFit)
        Refits that are expected, for their number and their time.
    """
    from boostbench.execution.progress import ProgressDisplay
    from boostbench.execution.queue import Finished
    from boostbench.execution.run_records import Forecast
    from boostbench.execution.runner import Interrupted, Planned

    n_trials, n_done = sum(fit.is_tuning for _, fit in planned), 0
    with ProgressDisplay() as on_event:
        on_event(
            Planned(
                n_trials=n_trials,
                n_splits=len(planned) - n_trials,
                n_recorded=0,
                forecast=Forecast(sum(fit.seconds for _, fit in planned), n_unknown=0),
            )
        )
        try:
            for group_check, fit in fits:
                yield group_check
                n_done += 1
                on_event(
                    Finished(fit.is_tuning, fit.label, error=None, where=None, expected=fit.seconds)
                )
        except KeyboardInterrupt:
            on_event(Interrupted(n_done, len(planned)))
            raise


def _print_plan(console: Console, refits: Sequence[Refit]) -> None:
    """Print the number and the time of the refits of each algorithm."""
    from boostbench.report.renderers.console import make_grid

    grid = make_grid(["algorithm", "groups", "refits", "CPU min"])
    by_algorithm = defaultdict(list)
    for group_check, fit in refits:
        by_algorithm[group_check.group.class_name].append((group_check, fit))
    for name, members in [*sorted(by_algorithm.items()), ("all", refits)]:
        minutes = sum(fit.seconds for _, fit in members) / 60
        n_groups = len({group_check.group for group_check, _ in members})
        grid.add_row(name, str(n_groups), str(len(members)), f"{minutes:.1f}")
    console.print(grid)


def _print_findings(
    console: Console, group_checks: Sequence[GroupCheck], findings: Sequence[Finding | None]
) -> None:
    """Print the states of all groups by algorithm, the differences, and a summary.

    Parameters
    ----------
    console : Console
    group_checks : sequence of GroupCheck
        Refits of all groups.
    findings : sequence of Finding or None
        Finding of each group; None if no record of the group was fitted again.
    """
    from boostbench.records.verified import STATES
    from boostbench.report.renderers.console import make_grid

    # 1) Count the states of each algorithm.
    counts = Counter()
    for group_check, finding in zip(group_checks, findings, strict=True):
        state = finding.state if finding else "not drawn"
        counts.update((group_check.group.class_name, column) for column in ("groups", state))
    columns = ["groups", *STATES, "not drawn"]
    grid = make_grid(["algorithm", *columns])
    for name in sorted({name for name, _ in counts}):
        grid.add_row(name, *(str(counts[name, column] or "-") for column in columns))
    console.print(grid)
    # 2) Explain the records that were not fitted, and the groups that are not the same.
    skipped = Counter(
        f"{group_check.group.data}: {result.reason}"
        for group_check in group_checks
        for result in group_check.list_results("skipped")
    )
    for reason, number in skipped.items():
        console.print(f"{number} not fitted, {reason}")
    for finding in findings:
        for state in ("different", "failed") if finding else ():
            for sentence in dict.fromkeys(getattr(finding, state).values()):
                console.print(f"{state}, {finding.group}: {sentence}", style="red")
    # 3) Count the refits by their result.
    results = chain.from_iterable(group_check.results for group_check in group_checks)
    states = Counter(result.state for result in results)
    same, other_errors = states["same"], states["other errors"]
    different, failed = states["different"], states["failed"]
    if other_errors:
        console.print(
            f"{other_errors} refits differ from records of another processor, whose errors are "
            "the same on average"
        )
    console.print(
        f"{same + other_errors + different + failed} fitted again: {same + other_errors} same, "
        f"{different} different, {failed} failed"
    )
