"""Run what is missing of some experiments, and gather what there is."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from boostbench.execution.forecast import Forecast, forecast
from boostbench.execution.ledgers import Ledgers
from boostbench.execution.plan import Experiment, Task, split_task, tuning_tasks
from boostbench.execution.queue import Queue
from boostbench.execution.shards import Shard
from boostbench.execution.workers import Workers, terminable
from boostbench.fitting.splits import Split
from boostbench.fitting.tuning import choose
from boostbench.records.archive import Recorded, Records
from boostbench.records.cuts import is_cut_so, with_cut
from boostbench.records.store import check_writable
from boostbench.spec.data import key_options
from boostbench.util.errors import UserError, did_you_mean

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


class Interrupted(NamedTuple):
    """Event: Ctrl-C or SIGTERM, when so many of the planned trials and splits were done.

    `anew` says whether the same command does them all again.
    """

    done: int
    planned: int
    anew: bool = False


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


class Report(NamedTuple):
    """What there is of several experiments, in their order, and what is wrong with the files."""

    outcomes: list[Outcome]
    warnings: list[str]

    @property
    def ran(self) -> int:
        """Number of splits that have run now."""
        return sum(outcome.ran for outcome in self.outcomes)

    @property
    def failed(self) -> int:
        """Number of failed splits."""
        return sum(len(outcome.failures) for outcome in self.outcomes)


def check_rerun(rerun: str) -> None:
    """Refuse what says nothing of what runs."""
    if rerun not in RERUNS:
        raise UserError(f"rerun is {rerun!r}; {did_you_mean(rerun, RERUNS)}")


@dataclass(frozen=True)
class Run:
    """What is missing of some experiments: planned by `of`, and done by `carry_out`.

    Attributes
    ----------
    experiments : list of Experiment
    ledgers : Ledgers
        What is on record of them, and where more is added.
    workers : Workers or None
        Who does it; None where nothing is missing.
    planned : Planned or None
        How much that is; None where nothing is missing.
    tuning : list of Task
        Cross-validation trials that are missing.
    ready : list of Task
        Splits whose parameters are known.
    waiting : list of (Experiment, Split)
        Splits that wait for trials.
    """

    experiments: list[Experiment]
    ledgers: Ledgers
    workers: Workers | None = None
    planned: Planned | None = None
    tuning: Sequence[Task] = ()
    ready: Sequence[Task] = ()
    waiting: Sequence[tuple[Experiment, Split]] = ()

    @classmethod
    def of(
        cls,
        experiments: Iterable[Experiment],
        records: Records,
        *,
        n_jobs: int = 1,
        backend: str = "loky",
        scheduler: str | None = None,
        rerun: str = "missing",
        shard: Shard | None = None,
    ) -> "Run":
        """Plan what is missing.

        Parameters
        ----------
        experiments : iterable of Experiment
        records : Records
            What is on record.
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
            Runs only what belongs to it, and records it in a folder of its own below that of
            `records`, to which no other shard writes. What both folders have is known.

        Raises
        ------
        UserError
            For what can be known to be wrong before the first trial; then nothing is written.
        """
        check_rerun(rerun)
        experiments = list(experiments)
        if rerun == "never":
            return cls(experiments, Ledgers(records, rerun))
        ledgers = Ledgers(records, rerun, shard)
        missing, tuning, n_splits = {}, {}, 0
        for experiment in experiments:
            experiment.check()
            for split in ledgers.splits(experiment):
                n_splits += 1
                key = experiment.key(split)
                if ledgers.finished(experiment, key) is None:
                    missing[ledgers.of(experiment), key] = experiment, split
        ready, waiting = [], []
        for experiment, split in missing.values():
            known = _known_choice(experiment, ledgers)
            if known:
                ready.append(split_task(experiment, split, *known))
                continue
            waiting.append((experiment, split))
            for task in tuning_tasks(experiment, experiment.tuning_split(split)):
                if ledgers.finished(task, task.key) is None:
                    tuning[ledgers.of(task), task.key] = task
        if not missing:
            return cls(experiments, ledgers)
        workers = Workers(n_jobs, backend, scheduler)
        check_writable({ledger.path for ledger, _ in (*missing, *tuning)})
        planned = Planned(
            len(tuning),
            len(missing),
            n_splits - len(missing),
            _forecast(list(missing.values()), list(tuning.values()), ledgers),
        )
        return cls(experiments, ledgers, workers, planned, [*tuning.values()], ready, waiting)

    def carry_out(self, on_event: Callable = lambda event: None) -> Report:
        """Do what is planned, recording each piece of work as it finishes.

        First all cross-validation trials and the splits that need none, then the splits that waited
        for them. What another run on this machine is doing at the same time is left to it, and
        taken from the files when it is there. The point of the grid with the smallest mean
        validation error is taken, the first such in the order of the grid; a point with a failed
        trial is out. The results are the same for every number of workers.

        Parameters
        ----------
        on_event : callable, default=nothing
            Called with each `Planned`, `Finished`, `Waiting` and `Interrupted`.

        Returns
        -------
        Report

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, and its kind `Terminated` on SIGTERM; all that had finished is recorded.
        """
        ran: set[tuple[Experiment, str]] = set()
        if self.planned:
            with terminable():
                ran = self._carry_out(on_event)
        report = _gathered(self.experiments, self.ledgers, ran)
        if self.ledgers.rerun != "never":
            _note_cuts(report.outcomes, self.ledgers)
        return report

    def _carry_out(self, on_event: Callable) -> set[tuple[Experiment, str]]:
        """Do what is planned, and give the splits that have run here."""
        on_event(self.planned)
        queue = Queue(self.ledgers, self.workers, on_event, self.planned.forecast.each)
        try:
            queue.carry_out([*self.tuning, *self.ready])
            tuned = []
            for experiment, split in self.waiting:
                chosen, error, failure = _choice(experiment, split, self.ledgers)
                task = split_task(experiment, split, chosen, error)
                if failure:
                    queue.file(task, failure)
                else:
                    tuned.append(task)
            queue.carry_out(tuned)
        except KeyboardInterrupt:
            planned, anew = self.planned.tuning + self.planned.splits, self.ledgers.rerun == "all"
            on_event(Interrupted(queue.done, planned, anew))
            raise
        finally:
            queue.close()
        return queue.ran


def _forecast(
    missing: Sequence[tuple[Experiment, Split]], tuning: Sequence[Task], ledgers: Ledgers
) -> Forecast:
    """Say how long work will take, by the records of the files that it writes to."""
    trials = Counter(task.experiment for task in tuning)

    def of(experiment: Experiment, tuning: bool) -> list[dict]:
        is_read = experiment in trials or not tuning
        return list(ledgers.of(experiment, tuning).records.values()) if is_read else []

    splits = Counter(experiment for experiment, _ in missing)
    work = [((e, False), n, e.config, [of(e, False), of(e, True)]) for e, n in splits.items()]
    work += [((e, True), n, e.config, [of(e, True), of(e, False)]) for e, n in trials.items()]
    return forecast(work)


def _known_choice(experiment: Experiment, ledgers: Ledgers) -> tuple[dict, float | None] | None:
    """Give the parameters that are known without cross-validation, and their error in it."""
    if not experiment.is_tuned:
        return experiment.spec.points[0], None
    if experiment.spec.protocol.tune == "first_split":
        for split in experiment.splits:
            record = ledgers.finished(experiment, experiment.key(split))
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
    chosen, error = choose(experiment.spec.points, judged)
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
                experiment.spec.code_version,
                ledgers.verified,
                experiment=experiment,
                ran=sum((experiment, key) in ran for key in keys),
            )
        )
    return Report(outcomes, ledgers.new_warnings())


def _note_cuts(outcomes: list[Outcome], ledgers: Ledgers) -> None:
    """Note the ways in which the data of finished records were asked for, where they are new."""
    for outcome in outcomes:
        ledger = ledgers.of(outcome.experiment)
        cut = key_options(outcome.experiment.config["data"].get("cut", {}))
        # As they are by now: an experiment before this one may share them.
        known = ledger.records
        for record in [known[record["key"]] for record in outcome.records]:
            if not is_cut_so(record, cut):
                ledger.add(with_cut(record, cut))
