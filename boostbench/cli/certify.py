"""``boostbench certify``: whether today's code gives what is on record."""

import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import joblib
import yaml
from rich.console import Console

import boostbench
from boostbench import configs
from boostbench.busy import busy
from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.definitions.assemble import read_tables
from boostbench.definitions.files import split_words
from boostbench.definitions.table import TableDefinition
from boostbench.errors import UserError, complain, unknown
from boostbench.experiment.certify.checkouts import Repository
from boostbench.experiment.certify.pairs import Pair
from boostbench.experiment.certify.samples import Group, groups
from boostbench.experiment.certify.session import Finding, Session
from boostbench.experiment.progress import progress
from boostbench.report.writers.printing import make_grid, print_line

_UNITS = {"s": 1, "m": 60, "h": 3600}
_MAX_DIFFERENCES = 10


def certify(words: Sequence[str], budget: str | None, dry_run: bool, n_jobs: int) -> int:
    """Fit samples of the records by the code that made them and by today's, and compare.

    Parameters
    ----------
    words : sequence of str
        Algorithms or their classes, by default all on record; and perhaps ``results=DIR``.
    budget : str or None
        How long it may take: ``"30m"``.
    dry_run : bool
        Only say what would be fitted.
    n_jobs : int
        How many fits run at a time; -1 for all cores.

    Returns
    -------
    int
        0; 1 where records stay stale because the codes differ; 2 where something was refused.

    Raises
    ------
    UserError
        For a mistake, or where nothing can be certified: a changed file of the package, no git.
    """
    names, results = split_words("certify", words)
    limit, workers = None if budget is None else _seconds(budget), _workers(n_jobs)
    with busy("reading records"):
        found, warnings = groups(results)
        session = Session(_chosen(names, found), results, workers, limit)
    repository = None if dry_run else Repository(Path(boostbench.__file__).parent)
    for warning in warnings:
        complain(warning)
    console = Console()
    if not session.findings:
        print_line(console, "nothing to certify: today's code, or a certificate, covers it all")
        return 0
    if dry_run:
        _print_plan(console, session)
        return 0
    session.run(repository, _find, lambda pairs: _verdict_changes(pairs, results), progress)
    return _print_findings(console, session.findings)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match:
        raise UserError(f"--budget is {text!r}; write 90s, 30m or 2h")
    return float(match[1]) * _UNITS[match[2]]


def _workers(n_jobs: int) -> int:
    if n_jobs == 0:
        raise UserError("--jobs is 0; take 1, 2, ... or -1 for all cores")
    return joblib.effective_n_jobs(n_jobs)


def _chosen(names: Sequence[str], found: Sequence[Group]) -> list[Group]:
    """Choose groups by the name of an algorithm or of its class."""
    if not names:
        return list(found)
    known = {*configs.names("algo"), *(group.name for group in found)}
    known |= {_class_of(configs.read("algo", name)["_target_"]) for name in configs.names("algo")}
    for name in names:
        if name not in known:
            raise unknown("algorithm", name, known, listed=False)
    return [group for group in found if {group.name, _class_of(group.target)} & set(names)]


def _class_of(target: str) -> str:
    return target.rpartition(".")[2]


def _find(facts: dict) -> Dataset:
    """Find the data set that a record says it is of; a UserError says why it is not there."""
    name = facts["name"]
    if name not in configs.names("data"):
        raise UserError(f"data set {name!r} has no config, so that it cannot be loaded")
    if facts["checksum"] not in (found := _loaded(name)):
        raise UserError(f"data set {name!r} is no longer what it was: its checksum is another")
    return found[facts["checksum"]]


@functools.cache
def _loaded(name: str) -> dict[str, Dataset]:
    """Load a data set and its parts, by their checksums."""
    whole = load(configs.read("data", name))
    parts = (whole.take_classes(part) for part in _parts(name))
    return {dataset.checksum: dataset for dataset in (whole, *parts)}


def _parts(name: str) -> list[int | list]:
    """List which classes of a data set tables and figures take, where they do not take all."""
    rows = [
        row
        for table in configs.names("table")
        for row in TableDefinition.read(table).rows.values()
        if row.data == name
    ]
    given = [override.partition("=") for row in rows for override in row.overrides]
    parts = [yaml.safe_load(value) for key, _, value in given if key == "data.classes"]
    for figure in map(functools.partial(configs.read, "figure"), configs.names("figure")):
        if figure.get("data") == name and figure.get("classes"):
            parts.append(list(figure["classes"]))
    return parts


def _verdict_changes(pairs: Sequence[Pair], results: Path) -> list[str]:
    """Name the cells of which another verdict would be reached with the errors of today."""
    sampled = {pair.sample.record["key"]: pair for pair in pairs if not pair.sample.is_tuning}
    changes = []
    for table in read_tables(None, results):
        for (row, column), cell in table.cells.items():
            if any(record["key"] in sampled for record in cell.records):
                revised = [_revised(record, sampled.get(record["key"])) for record in cell.records]
                verdict = replace(cell, records=revised).verdict
                if verdict != cell.verdict:
                    where = f"{table.name}, {column} on {row}"
                    changes.append(f"{where}: {cell.verdict} then, {verdict} today")
    return changes


def _revised(record: dict, pair: Pair | None) -> dict:
    """Add to a record what today's code errs more than that of then."""
    if pair is None:
        return record
    then, today = pair.before["outcome"], pair.after["outcome"]
    shifts = {
        rounds: today["checkpoints"].get(rounds, error) - error
        for rounds, error in then["checkpoints"].items()
    }
    return {
        **record,
        "test_error": record["test_error"] + today["test_error"] - then["test_error"],
        "checkpoints": {
            rounds: error + shifts.get(rounds, 0.0)
            for rounds, error in record["checkpoints"].items()
        },
    }


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def _print_plan(console: Console, session: Session) -> None:
    """Say what would be fitted, and how long it would take."""
    header = ["algorithm", "commit", "records", "configurations", "samples", "CPU min"]
    grid = make_grid(header, left=2)
    drawn, seconds = session.plan()
    totals = [0, 0, 0]
    for finding in session.findings:
        group = finding.group
        own = [each for each in drawn if each[0] is finding]
        hashes = {sample.record["config_hash"] for _, sample in own}
        minutes = sum(session.cost(*each) for each in own) / 60
        numbers = [len(list(group.samples)), len(hashes), len(own)]
        totals = [total + number for total, number in zip(totals, numbers, strict=True)]
        grid.add_row(group.name, _commits(group), *map(str, numbers), f"{minutes:.1f}")
    grid.add_row("all", "", *map(str, totals), f"{seconds / 60:.1f}")
    console.print(grid)
    wall = _duration(seconds / session.n_jobs)
    print_line(console, f"{session.n_jobs} at a time: about {wall}")


def _commits(group: Group) -> str:
    first, *others = group.commits
    return f"{first} and {len(others)} more" if others else first


def _print_findings(console: Console, findings: Sequence[Finding]) -> int:
    """Say what came out; return the exit code."""
    grid = make_grid(["algorithm", "commit", "sampled", "covered", "left", "grade"], left=2)
    for finding in findings:
        grade = finding.grade or ("refused" if finding.is_refused else "stale")
        if not finding.pairs and not finding.is_refused:
            grade = "not sampled"
        numbers = len(finding.pairs), len(finding.covered), len(finding.left)
        grid.add_row(finding.group.name, _commits(finding.group), *map(str, numbers), grade)
    console.print(grid)
    for finding in findings:
        _print_reasons(console, finding)
    if any(finding.is_refused for finding in findings):
        return 2
    return int(any(finding.pairs and not finding.grade for finding in findings))


def _print_reasons(console: Console, finding: Finding) -> None:
    name = finding.group.name
    if finding.is_refused:
        for reason in finding.reasons:
            complain(f"{name}: {reason}")
        return
    lines = list(finding.reasons)
    for pair in finding.differing[:_MAX_DIFFERENCES]:
        lines.append(f"{pair.sample.label}: {'; '.join(pair.differences[:_MAX_DIFFERENCES])}")
    if len(finding.differing) > _MAX_DIFFERENCES:
        lines.append(f"{len(finding.differing) - _MAX_DIFFERENCES} more samples differ")
    lines += [f"not sampled: {reason}" for reason in dict.fromkeys(finding.skipped.values())]
    for line in lines:
        print_line(console, f"{name}: {line}")
