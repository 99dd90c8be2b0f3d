"""Run what is missing of some experiments, and gather what there is."""

import contextlib
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from boostbench.errors import UserError, hint
from boostbench.experiment.schema import BadLine
from boostbench.experiment.splits import Split
from boostbench.experiment.tuning import choose
from boostbench.records.archive import Recorded
from boostbench.records.store import Follower, append, check_writable, read
from boostbench.records.verified import Verified
from boostbench.running.claims import Claims
from boostbench.running.forecast import Forecast, forecast
from boostbench.running.plan import Experiment, Task, split_task, tuning_tasks
from boostbench.running.shards import Shard
from boostbench.running.workers import Workers, terminable

RERUNS = ("never", "missing", "stale", "all")
#: Seconds between looks at what other runs have done.
_PAUSE = 0.3


@dataclass(frozen=True)
class Planned:
    """Event: so many cross-validation trials and splits will run; `recorded` splits need not.

    `forecast` says how long they will take.
    """

    tuning: int
    splits: int
    recorded: int
    forecast: Forecast | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Finished:
    """Event: a cross-validation trial or a split is done and recorded.

    `label` says which in words, `error` and `where` are those of a failure, else None.
    """

    tuning: bool
    label: str
    error: str | None
    where: str | None


@dataclass(frozen=True)
class Waiting:
    """Event: so many trials and splits are left, which other runs are doing."""

    left: int


@dataclass(frozen=True)
class Interrupted:
    """Event: Ctrl-C or SIGTERM, when so many of the planned trials and splits were done."""

    done: int
    planned: int


@dataclass(frozen=True, kw_only=True)
class Outcome(Recorded):
    """What there is of one experiment, and how much of it has run now.

    Attributes
    ----------
    experiment : Experiment
    ran : int
        Number of splits that have run now, failures among them.
    """

    experiment: Experiment
    ran: int = 0


@dataclass(frozen=True)
class Report:
    """What there is of several experiments, in their order, and what is wrong with the files."""

    outcomes: list[Outcome]
    warnings: list[str] = field(default_factory=list)

    @property
    def ran(self) -> int:
        """Number of splits that have run now."""
        return sum(outcome.ran for outcome in self.outcomes)

    @property
    def failed(self) -> int:
        """Number of failed splits."""
        return sum(len(outcome.failures) for outcome in self.outcomes)


def run(
    experiments: Iterable[Experiment],
    *,
    results: Path,
    n_jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    rerun: str = "missing",
    shard: Shard | None = None,
    on_event: Callable | None = None,
) -> Report:
    """Run what is missing, recording each piece of work as it finishes.

    First all cross-validation trials and the splits that need none, then the splits that waited
    for them. What another run on this machine is doing at the same time is left to it, and taken
    from the files when it is there. The point of the grid with the smallest mean validation error
    is taken, the first such in the order of the grid; a point with a failed trial is out. The
    results are the same for every `n_jobs`.

    Parameters
    ----------
    experiments : iterable of Experiment
    results : Path
        Folder of the records.
    n_jobs : int, default=1
        Number of worker processes; 1 means this process, and -1 one for each core.
    backend : {"loky", "dask"}, default="loky"
        Where the workers are.
    scheduler : str, optional
        Address of Dask's scheduler.
    rerun : {"never", "missing", "stale", "all"}, default="missing"
        What runs: nothing, so that only what is recorded is gathered; splits without a finished
        record; also those whose record is of another edition than today's, or refuted; or all.
        Failed splits run again, except with ``"never"``.
    shard : Shard, optional
        Runs only what belongs to it, and records it in a folder of its own below `results`, to
        which no other shard writes. What both folders have is known.
    on_event : callable, optional
        Called with each `Planned`, `Finished`, `Waiting` and `Interrupted`.

    Returns
    -------
    Report

    Raises
    ------
    UserError
        For what can be known to be wrong before the first trial; then nothing is written.
    KeyboardInterrupt
        On Ctrl-C, and its kind `Terminated` on SIGTERM; all that had finished is recorded.
    """
    check_rerun(rerun)
    if rerun == "never":
        return collect(experiments, results=results)
    on_event = _ignore if on_event is None else on_event
    session = _Session(list(experiments), Path(results), rerun, on_event, shard)
    plan = session.plan()
    if plan.splits:
        workers = Workers(n_jobs, backend, scheduler)
        check_writable(session.paths(plan))
        with terminable():
            session.carry_out(plan, workers)
    return session.report()


def check_rerun(rerun: str) -> None:
    """Refuse what says nothing of what runs."""
    if rerun not in RERUNS:
        raise UserError(f"rerun is {rerun!r}; {hint(rerun, RERUNS)}")


def collect(experiments: Iterable[Experiment], *, results: Path) -> Report:
    """Gather what is recorded, and run nothing.

    Parameters
    ----------
    experiments : iterable of Experiment
    results : Path
        Folder of the records.

    Returns
    -------
    Report
    """
    return _Session(list(experiments), Path(results), "missing", _ignore).report()


@dataclass(frozen=True)
class _Plan:
    splits: list[tuple[Experiment, Split]]  # all that run
    ready: list[Task]  # those of them whose parameters are known
    waiting: list[tuple[Experiment, Split]]  # those that wait for cross-validation
    tuning: list[Task]


class _Session:
    """What is on record of some experiments.

    `files` holds the records of each file by key, but for those of `unread`, which were written
    since: `_records_of` reads these when it is asked, so that a long run takes no memory for them.
    """

    def __init__(
        self,
        experiments: list[Experiment],
        results: Path,
        rerun: str,
        on_event: Callable,
        shard: Shard | None = None,
    ):
        self.experiments = experiments
        self.results = results
        self.rerun = rerun
        self.on_event = on_event
        self.shard = shard
        self.verified = Verified.read(results)
        self.warnings: list[str] = list(self.verified.warnings)
        self.files: dict[Path, dict[str, dict]] = {}
        self.unread: defaultdict[Path, set[str]] = defaultdict(set)
        self.claims: Claims | None = None
        self.followers: dict[Path, Follower] = {}
        self.news: dict[tuple[Path, str], dict] = {}
        self.filed: defaultdict[Path, set[str]] = defaultdict(set)
        self.ran: defaultdict[Path, set[str]] = defaultdict(set)
        self.done = 0

    def plan(self) -> _Plan:
        """Find the splits that have to run, and the cross-validation trials that they wait for."""
        missing, tuning = {}, {}
        for experiment in self.experiments:
            experiment.check()
            for split in experiment.splits:
                if self._finished(experiment, split) is None and self._is_ours(experiment, split):
                    place = experiment.path(self.results), experiment.key(split)
                    missing[place] = experiment, split
        ready, waiting = [], []
        for experiment, split in missing.values():
            known = self._known_choice(experiment)
            if known:
                ready.append(split_task(experiment, split, *known))
                continue
            waiting.append((experiment, split))
            for task in tuning_tasks(experiment, experiment.tuning_split(split)):
                if self._needs_trial(task):
                    tuning[self._path(task), task.key] = task
        return _Plan(list(missing.values()), ready, waiting, list(tuning.values()))

    def paths(self, plan: _Plan) -> set[Path]:
        """Give the files that the plan writes to."""
        splits = {experiment.path(self.results) for experiment, _ in plan.splits}
        return set(map(self._own, splits | {self._path(task) for task in plan.tuning}))

    def carry_out(self, plan: _Plan, workers: Workers) -> None:
        """Run all that is planned."""
        n_missing = len(plan.splits)
        ours = [(e, s) for e in self.experiments for s in e.splits if self._is_ours(e, s)]
        recorded = len(ours) - n_missing
        self.on_event(Planned(len(plan.tuning), n_missing, recorded, self._forecast(plan)))
        if self.rerun != "all":  # who wants all anew wants no one else's
            self.claims = Claims(self._own(self.results / "records"))
        try:
            self._run(workers, [*plan.tuning, *plan.ready])
            tuned = []
            for experiment, split in plan.waiting:
                chosen, error, failure = self._choose(experiment, split)
                task = split_task(experiment, split, chosen, error)
                if failure:
                    self._file(task, failure)
                else:
                    tuned.append(task)
            self._run(workers, tuned)
        except KeyboardInterrupt:
            self.on_event(Interrupted(self.done, len(plan.tuning) + n_missing))
            raise
        finally:
            if self.claims:
                self.claims.close()

    def _forecast(self, plan: _Plan) -> Forecast:
        """Say how long a plan will take, by the records of the files that it writes to."""
        splits = Counter(experiment for experiment, _ in plan.splits)
        trials = Counter(task.experiment for task in plan.tuning)
        records = {path: list(known.values()) for path, known in self.files.items()}

        def of(experiment: Experiment, tuning: bool) -> list[dict]:
            return records.get(experiment.path(self.results, tuning), [])

        work = [(n, one.config, [of(one, False), of(one, True)]) for one, n in splits.items()]
        work += [(n, one.config, [of(one, True), of(one, False)]) for one, n in trials.items()]
        return forecast(work)

    def report(self) -> Report:
        """Gather what there is."""
        outcomes = []
        for experiment in self.experiments:
            path = experiment.path(self.results)
            keys = [experiment.key(split) for split in experiment.splits]
            known = self._records_of(path)
            found = [known[key] for key in keys if key in known]
            records = [record for record in found if "error" not in record]
            outcomes.append(
                Outcome(
                    experiment=experiment,
                    records=records,
                    failures=[record for record in found if "error" in record],
                    missing=len(keys) - len(found),
                    finding=self.verified.find(records[0]) if records else None,
                    stale=sum(not self._is_fresh(experiment, record) for record in records),
                    ran=sum(key in self.ran[path] for key in keys),
                )
            )
        return Report(outcomes, self.warnings)

    def _run(self, workers: Workers, tasks: list[Task]) -> None:
        told = False
        while tasks:
            before, left, theirs = self.done, [], deque()
            # Closing stops the workers at once, whatever happened here.
            with contextlib.closing(workers(self._ours(tasks, left, theirs))) as finished:
                for task, outcome in finished:
                    self._file(task, outcome)
                    self._take_over(theirs)
            self._take_over(theirs)
            tasks = left
            if left and not told:
                self.on_event(Waiting(len(left)))
                told = True
            if left and self.done == before:
                time.sleep(_PAUSE)

    def _ours(self, tasks: list[Task], left: list[Task], theirs: deque) -> Iterator[Task]:
        """Yield what no other run does; `left` is what one is at, `theirs` what one has done."""
        for task in tasks:
            if self.claims is None:
                yield task
                continue
            record = self._newly_recorded(task)
            if not record and not self.claims.take(task.key):
                left.append(task)
                continue
            # Once more: whoever had claimed it may have ended between the two.
            record = record or self._newly_recorded(task)
            if record:
                theirs.append((task, record))
            else:
                yield task

    def _newly_recorded(self, task: Task) -> dict | None:
        """Give the record of another run, if it would spare this one."""
        path = self._own(self._path(task))
        for record in self.followers[path].new():
            if record["key"] not in self.filed[path]:
                self.news[path, record["key"]] = record
        record = self.news.get((path, task.key))
        if record is None or (not task.tuning and self.rerun == "missing"):
            return record
        return record if self._is_fresh(task.experiment, record) else None

    def _take_over(self, theirs: deque) -> None:
        """File what other runs have recorded, and tell."""
        while theirs:
            task, record = theirs.popleft()
            path = self._path(task)
            self._forget(path, record["key"])
            self.news.pop((self._own(path), record["key"]), None)
            self.done += 1
            error, where = record.get("error"), record.get("where")
            self.on_event(Finished(task.tuning, task.label, error, where))

    def _file(self, task: Task, outcome: dict) -> None:
        """Put an outcome on record, and tell."""
        path = self._path(task)
        try:
            record = append(self._own(path), task.record(outcome))
        except BadLine as error:
            outcome = {"error": f"what was measured cannot be recorded: {error}", "where": "?"}
            record = append(self._own(path), task.record(outcome))
        self._forget(path, record["key"])
        self.filed[self._own(path)].add(record["key"])
        self.done += 1
        if not task.tuning:
            self.ran[path].add(record["key"])
        self.on_event(Finished(task.tuning, task.label, outcome.get("error"), outcome.get("where")))

    def _records_of(self, path: Path) -> dict[str, dict]:
        """Give the records of a file, those that were written since it was read as well."""
        known, unread = self._file_of(path), self.unread.pop(path, ())
        if unread:
            records, _ = read(self._own(path))
            known |= {one["key"]: one for one in records if one["key"] in unread}
            if not known.keys() >= unread:
                raise UserError(
                    f"{self._own(path)} has lost records that were just written to it; the same "
                    "command makes them again"
                )
        return known

    def _forget(self, path: Path, key: str) -> None:
        self._file_of(path).pop(key, None)
        self.unread[path].add(key)

    def _file_of(self, path: Path) -> dict[str, dict]:
        if path not in self.files:
            self.files[path] = {}
            own = self._own(path)
            self.followers[own] = Follower(own)
            files = dict.fromkeys((path, own))
            for one in files if self.rerun != "all" else ():
                records, warnings = read(one)
                self.files[path] |= {record["key"]: record for record in records}
                self.warnings += warnings
        return self.files[path]

    def _own(self, path: Path) -> Path:
        """Give the file that is written in the place of a file of all records."""
        if self.shard is None:
            return path
        return self.shard.folder(self.results) / path.relative_to(self.results)

    def _is_ours(self, experiment: Experiment, split: Split) -> bool:
        return self.shard is None or self.shard.takes(experiment.shard_key(split))

    def _path(self, task: Task) -> Path:
        return task.experiment.path(self.results, task.tuning)

    def _finished(self, experiment: Experiment, split: Split) -> dict | None:
        """Give the record that spares running the split, if there is one."""
        record = self._file_of(experiment.path(self.results)).get(experiment.key(split))
        if record is None or "error" in record:
            return None
        return record if self.rerun == "missing" or self._is_fresh(experiment, record) else None

    def _needs_trial(self, task: Task) -> bool:
        # Stale trials must not compete with fresh ones.
        record = self._file_of(self._path(task)).get(task.key)
        return record is None or "error" in record or not self._is_fresh(task.experiment, record)

    def _is_fresh(self, experiment: Experiment, record: dict) -> bool:
        return not self.verified.is_stale(record, experiment.maker)

    def _known_choice(self, experiment: Experiment) -> tuple[dict, float | None] | None:
        """Give the parameters that are known without cross-validation, and their error in it."""
        if not experiment.is_tuned:
            return experiment.points[0], None
        if experiment.protocol.tune == "first_split":
            for split in experiment.splits:
                record = self._finished(experiment, split)
                if record and self._is_fresh(experiment, record):
                    return record["chosen"], record["validation_error"]
        return None

    def _choose(self, experiment: Experiment, split: Split) -> tuple[dict, float, dict | None]:
        """Choose by cross-validation: the point, its mean error, and the failure if all failed."""
        trials = self._records_of(experiment.path(self.results, tuning=True))
        tasks = tuning_tasks(experiment, experiment.tuning_split(split))
        judged = [(task.points, trials[task.key]) for task in tasks]
        chosen, error = choose(experiment.points, judged)
        if chosen is not None:
            return chosen, error, None
        failed = next(record for _, record in judged if "error" in record)
        error = f"no point of the grid could be fitted; one of them: {failed['error']}"
        return {}, None, {"error": error, "where": failed["where"]}


def _ignore(event) -> None:
    pass
