"""Run what is missing of some experiments, and gather what there is."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from boostbench.errors import UserError, hint
from boostbench.experiment.splits import Split
from boostbench.experiment.tuning import choose
from boostbench.records.archive import Recorded, Records
from boostbench.records.store import check_writable
from boostbench.running.forecast import Forecast, forecast
from boostbench.running.ledgers import Ledgers
from boostbench.running.plan import Experiment, Task, split_task, tuning_tasks
from boostbench.running.queue import Queue
from boostbench.running.shards import Shard
from boostbench.running.workers import Workers, terminable

RERUNS = ("never", "missing", "stale", "all")


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
    results: Path | Records,
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
    results : Path or Records
        Folder of the records, or these.
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
    experiments = list(experiments)
    records = results if isinstance(results, Records) else Records(Path(results))
    if rerun == "never":
        return _gathered(experiments, Ledgers(records, "missing"), set())
    ledgers, ran = Ledgers(records, rerun, shard), set()
    plan = _Plan.of(experiments, ledgers)
    if plan.splits:
        workers = Workers(n_jobs, backend, scheduler)
        check_writable(plan.paths(ledgers))
        with terminable():
            ran = _carry_out(plan, ledgers, workers, _ignore if on_event is None else on_event)
    return _gathered(experiments, ledgers, ran)


def check_rerun(rerun: str) -> None:
    """Refuse what says nothing of what runs."""
    if rerun not in RERUNS:
        raise UserError(f"rerun is {rerun!r}; {hint(rerun, RERUNS)}")


@dataclass(frozen=True)
class _Plan:
    """What is to be done.

    Attributes
    ----------
    splits : list of (Experiment, Split)
        All that run.
    ready : list of Task
        Those of them whose parameters are known.
    waiting : list of (Experiment, Split)
        Those that wait for cross-validation.
    tuning : list of Task
        What they wait for, as far as it is not on record.
    n_recorded : int
        How many splits need not run.
    """

    splits: list[tuple[Experiment, Split]]
    ready: list[Task]
    waiting: list[tuple[Experiment, Split]]
    tuning: list[Task]
    n_recorded: int

    @classmethod
    def of(cls, experiments: list[Experiment], ledgers: Ledgers) -> "_Plan":
        missing, tuning, n_splits = {}, {}, 0
        for experiment in experiments:
            experiment.check()
            for split in ledgers.splits(experiment):
                n_splits += 1
                if ledgers.finished(experiment, split) is None:
                    place = ledgers.of(experiment), experiment.key(split)
                    missing[place] = experiment, split
        ready, waiting = [], []
        for experiment, split in missing.values():
            known = _known_choice(experiment, ledgers)
            if known:
                ready.append(split_task(experiment, split, *known))
                continue
            waiting.append((experiment, split))
            for task in tuning_tasks(experiment, experiment.tuning_split(split)):
                record = ledgers.of(task).records.get(task.key, {"error": "not there"})
                if "error" in record or not ledgers.spares(task, record):
                    tuning[ledgers.of(task), task.key] = task
        splits = list(missing.values())
        return cls(splits, ready, waiting, list(tuning.values()), n_splits - len(splits))

    def paths(self, ledgers: Ledgers) -> set[Path]:
        """Give the files that it writes to."""
        work = [*(experiment for experiment, _ in self.splits), *self.tuning]
        return {ledgers.of(each).path for each in work}

    def forecast(self, ledgers: Ledgers) -> Forecast:
        """Say how long it will take, by the records of the files that it writes to."""
        trials = Counter(task.experiment for task in self.tuning)

        def of(experiment: Experiment, tuning: bool) -> list[dict]:
            is_read = experiment in trials or not tuning
            return list(ledgers.of(experiment, tuning).records.values()) if is_read else []

        splits = Counter(experiment for experiment, _ in self.splits)
        work = [(n, e.config, [of(e, False), of(e, True)]) for e, n in splits.items()]
        work += [(n, e.config, [of(e, True), of(e, False)]) for e, n in trials.items()]
        return forecast(work)


def _carry_out(
    plan: _Plan, ledgers: Ledgers, workers: Workers, on_event: Callable
) -> set[tuple[Experiment, str]]:
    """Do what is planned, and give the splits that have run here."""
    n_tuning, n_splits = len(plan.tuning), len(plan.splits)
    on_event(Planned(n_tuning, n_splits, plan.n_recorded, plan.forecast(ledgers)))
    queue = Queue(ledgers, workers, on_event)
    try:
        queue.carry_out([*plan.tuning, *plan.ready])
        tuned = []
        for experiment, split in plan.waiting:
            chosen, error, failure = _choice(experiment, split, ledgers)
            task = split_task(experiment, split, chosen, error)
            if failure:
                queue.file(task, failure)
            else:
                tuned.append(task)
        queue.carry_out(tuned)
    except KeyboardInterrupt:
        on_event(Interrupted(queue.done, n_tuning + n_splits))
        raise
    finally:
        queue.close()
    return queue.ran


def _known_choice(experiment: Experiment, ledgers: Ledgers) -> tuple[dict, float | None] | None:
    """Give the parameters that are known without cross-validation, and their error in it."""
    if not experiment.is_tuned:
        return experiment.points[0], None
    if experiment.protocol.tune == "first_split":
        for split in experiment.splits:
            record = ledgers.finished(experiment, split)
            if record and ledgers.is_fresh(experiment, record):
                return record["chosen"], record["validation_error"]
    return None


def _choice(
    experiment: Experiment, split: Split, ledgers: Ledgers
) -> tuple[dict, float | None, dict | None]:
    """Choose by cross-validation: the point, its mean error, and the failure if all failed."""
    trials = ledgers.of(experiment, tuning=True).records
    tasks = tuning_tasks(experiment, experiment.tuning_split(split))
    judged = [(task.points, trials[task.key]) for task in tasks]
    chosen, error = choose(experiment.points, judged)
    if chosen is not None:
        return chosen, error, None
    failed = next(record for _, record in judged if "error" in record)
    error = f"no point of the grid could be fitted; one of them: {failed['error']}"
    return {}, None, {"error": error, "where": failed["where"]}


def _gathered(
    experiments: list[Experiment], ledgers: Ledgers, ran: set[tuple[Experiment, str]]
) -> Report:
    """Gather what there is."""
    outcomes = []
    for experiment in experiments:
        known = ledgers.of(experiment).records
        keys = [experiment.key(split) for split in experiment.splits]
        outcomes.append(
            Outcome.of(
                [known[key] for key in keys if key in known],
                len(keys),
                experiment.maker,
                ledgers.verified,
                experiment=experiment,
                ran=sum((experiment, key) in ran for key in keys),
            )
        )
    return Report(outcomes, ledgers.new_warnings())


def _ignore(event) -> None:
    pass
