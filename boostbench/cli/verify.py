"""``boostbench verify``: whether today's code gives what is on record."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from rich.console import Console

from boostbench.config import definition_files as files
from boostbench.config.table_request import TableRequest
from boostbench.config.tables import TableDefinition
from boostbench.config.words import split_words
from boostbench.data.dataset import Dataset
from boostbench.execution.forecast import Forecast
from boostbench.execution.progress import progress
from boostbench.execution.queue import Finished
from boostbench.execution.runner import Interrupted, Planned
from boostbench.execution.verification import session
from boostbench.execution.verification.recorded_data import find_data
from boostbench.execution.verification.refit import measure_of
from boostbench.execution.verification.tally import GroupTally, Member
from boostbench.execution.workers import Workers, terminable
from boostbench.records.archive import Records
from boostbench.records.environment import blas, commit, now
from boostbench.records.makers import Maker
from boostbench.records.verified import STATES, Finding, Group, Verified, add_finding, tidy
from boostbench.report.renderers.printing import make_grid
from boostbench.util import configs
from boostbench.util.console import make_console
from boostbench.util.errors import UserError, first_line, print_error, unknown_name_error
from boostbench.util.spinner import spinner

_UNITS = {"s": 1, "m": 60, "h": 3600}


def verify(
    words: Sequence[str],
    budget: str | None = None,
    n_jobs: int = -1,
    dry_run: bool = False,
    against: Path | None = None,
    equivalent: bool = False,
) -> int:
    """Fit a draw of the records again, and compare what comes out.

    Parameters
    ----------
    words : sequence of str
        Algorithms, their classes, or tables; by default all on record; and perhaps ``results=DIR``.
    budget : str, default=None
        How much CPU time the fits may have taken when they were recorded: ``"2m"``. By default five
        records of each group are drawn.
    n_jobs : int, default=-1
        How many fits run at a time; -1 for all cores.
    dry_run : bool, default=False
        Only say what would be fitted.
    against : Path, default=None
        Folder of results that were made on this machine by other code, to compare with instead.
        Then nothing is written.
    equivalent : bool, default=False
        Where records come out otherwise, fit more, and see whether they are as good.

    Returns
    -------
    int
        0, or 1 where a group is refuted.

    Raises
    ------
    UserError
        For a mistake.
    KeyboardInterrupt
        On Ctrl-C, and its kind `Terminated` on SIGTERM; what had been found is filed.
    """
    names, results = split_words("verify", words)
    left = float("inf") if budget is None else _seconds(budget)
    workers = Workers(n_jobs, "loky")
    started = now()
    with spinner("reading records"):
        records = Records(results if against is None else against)
        verified = Verified() if against else records.verified
        tallies = _tallies(_chosen(names, records), verified)
    if not tallies:
        raise UserError(f"{records.results} holds no records that today's code could give")
    for warning in records.new_warnings():
        print_error(warning)
    console, kernel, salt = make_console(), blas(), commit()
    passes = list(session.draws(tallies, salt, kernel))
    if dry_run:
        affordable = {member.key for _, member in session.within(chain(*passes), left)}
        kept = ([pair for pair in drawn if pair[1].key in affordable] for drawn in passes)
        _print_plan(console, kept)
        return 0

    def file(tally: GroupTally) -> None:
        if against is None:
            add_finding(results, tally.finding(salt, kernel, started))

    def carry_out(drawn: Sequence[tuple[GroupTally, Member]]) -> None:
        about = {"budget": left, "is_same_kernel": against is not None}
        fits = session.fit(drawn, _data_of, workers, kernel, **about)
        _follow(fits, list(session.within(drawn, left)), file)

    with terminable():
        carry_out(list(chain(*passes)))
        if equivalent:
            carry_out(session.further(tallies, salt))
            for reason in session.settle_equivalence(tallies):
                print_error(reason)
    looked = [tally for tally in tallies if tally.same or tally.unlike or tally.refuted]
    if against is None and looked:
        for tally in looked if equivalent else ():
            file(tally)
        tidy(results)
    findings = [tally.finding(salt, kernel, started) for tally in looked]
    _print_findings(console, tallies, findings)
    return int(any(finding.state == "refuted" for finding in findings))


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match:
        raise UserError(f"--budget is {text!r}; write 90s, 30m or 2h")
    return float(match[1]) * _UNITS[match[2]]


def _chosen(names: Sequence[str], records: Records) -> list[tuple[str, Mapping]]:
    """Give the records of some algorithms, classes and tables, each with its algorithm's name."""
    named = [(algo, record) for (_, algo, _), record in records.each() if "error" not in record]
    if not names:
        return named
    classes = {record["config"]["algo"]["_target_"].rpartition(".")[2] for _, record in named}
    algorithms = {*configs.list_options("algo"), *(name for name, _ in named), *classes}
    known = {*algorithms, *configs.list_options("table")}
    for name in names:
        if name not in known and not name.endswith(files.ENDINGS):
            raise unknown_name_error("algorithm or table", name, known, is_listed=False)
    tables = [name for name in names if name not in algorithms]
    groups = set(chain.from_iterable(_groups(name, records) for name in tables))
    return [
        (name, record)
        for name, record in named
        if name in names
        or record["config"]["algo"]["_target_"].rpartition(".")[2] in names
        or Group.of(record["config"]) in groups
    ]


def _groups(table: str, records: Records) -> set[Group]:
    asked = TableRequest.of(TableDefinition.read(table)).experiments
    recorded = records.find_each(asked).values()
    return {Group.of(cell.records[0]["config"]) for cell in recorded if cell.records}


def _tallies(chosen: Iterable[tuple[str, Mapping]], verified: Verified) -> list[GroupTally]:
    """Put records of today's editions into groups; complain of those that nothing here can make."""
    by_group: dict[Group, list[Member]] = {}
    makers: dict[str, Maker | None] = {}
    for name, record in chosen:
        config = record["config"]
        if record["config_hash"] not in makers:
            try:
                makers[record["config_hash"]] = Maker.of(config["algo"], type(measure_of(config)))
            except (Exception, SystemExit) as error:  # an import runs whatever a module holds
                print_error(f"{name}: {first_line(error)}")
                makers[record["config_hash"]] = None
        maker = makers[record["config_hash"]]
        if maker is not None and maker.made(record):
            by_group.setdefault(Group.of(config), []).append(Member.of(record, name))
    return [
        GroupTally(group, members, verified.find(members[0].record))
        for group, members in sorted(by_group.items())
    ]


def _data_of(record: Mapping) -> Dataset:
    return find_data(record["config"]["data"])


def _follow(
    fits: Iterable[tuple[GroupTally, Member]],
    drawn: Sequence[tuple[GroupTally, Member]],
    file: Callable[[GroupTally], None],
) -> None:
    """File what comes out, and show how far it is; Ctrl-C ends it, and what is filed is kept."""
    n_tuning, count = sum("fold" in member.record for _, member in drawn), 0
    with progress() as on_event:
        seconds = Forecast(sum(member.seconds for _, member in drawn), 0, {})
        on_event(Planned(n_tuning, len(drawn) - n_tuning, 0, seconds))
        try:
            for tally, member in fits:
                file(tally)
                count += 1
                is_tuning = "fold" in member.record
                on_event(Finished(is_tuning, member.label, None, None, member.seconds))
        except KeyboardInterrupt:
            on_event(Interrupted(count, len(drawn)))
            raise


def _print_plan(console: Console, passes: Iterable[Sequence[tuple[GroupTally, Member]]]) -> None:
    """Say what would be fitted, and how long it would take."""
    grid = make_grid(["pass", "groups", "records", "CPU min"])
    for number, drawn in enumerate(passes):
        minutes = sum(member.seconds for _, member in drawn) / 60
        groups = {tally.group for tally, _ in drawn}
        grid.add_row(str(number + 1), str(len(groups)), str(len(drawn)), f"{minutes:.1f}")
    console.print(grid)


def _print_findings(
    console: Console, tallies: Sequence[GroupTally], findings: Sequence[Finding]
) -> None:
    grid = make_grid(["algorithm", "groups", *STATES])
    counts: dict[str, Counter] = {}
    for tally in tallies:
        name = tally.group.target.rpartition(".")[2]
        counts.setdefault(name, Counter())["groups"] += 1
    for finding in findings:
        counts[finding.target.rpartition(".")[2]][finding.state] += 1
    for name, count in sorted(counts.items()):
        grid.add_row(name, *(str(count[what] or "-") for what in ("groups", *STATES)))
    console.print(grid)
    skipped = Counter(
        f"{tally.group.data}: {reason}" for tally in tallies for reason in tally.skipped.values()
    )
    for reason, count in skipped.items():
        console.print(f"{count} not fitted, {reason}")
    for finding in findings:
        for words in dict.fromkeys(finding.refuted.values()):
            console.print(f"refuted, {finding.group}: {words}", style="red")
    n_same = sum(len(tally.same) for tally in tallies)
    n_unlike = sum(len({**tally.unlike, **tally.refuted}) for tally in tallies)
    console.print(f"{n_same + n_unlike} fitted again: {n_same} as on record")
