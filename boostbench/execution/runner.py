"""Runs: plan the missing fits of experiments, execute them, and collect the records."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from boostbench.execution.forecast import Forecast, forecast
from boostbench.execution.plan import Experiment, Task, split_task, tuning_tasks
from boostbench.execution.queue import Queue
from boostbench.execution.run_records import RunRecords, Shard
from boostbench.execution.workers import Workers, terminable
from boostbench.fitting.splits import Split
from boostbench.fitting.trial import Outcome
from boostbench.fitting.tuning import Point, choose
from boostbench.records.archive import ExperimentResults, Records
from boostbench.records.store import check_writable
from boostbench.spec.data import key_options
from boostbench.util.errors import UserError, did_you_mean

RERUNS = ("never", "missing", "stale", "all")


@dataclass(frozen=True)
class Planned:
    """Event before the first fit.

    Attributes
    ----------
    tuning, splits : int
        Numbers of cross-validation trials and splits to run.
    recorded : int
        Number of splits that need not run.
    forecast : Forecast or None, default=None
        Expected times.
    """

    tuning: int
    splits: int
    recorded: int
    forecast: Forecast | None = field(default=None, compare=False)


class Interrupted(NamedTuple):
    """Event after Ctrl-C or SIGTERM.

    Attributes
    ----------
    done, planned : int
        Numbers of finished and of planned trials and splits.
    reruns_all : bool, default=False
        True if the same command repeats the finished ones.
    """

    done: int
    planned: int
    reruns_all: bool = False


@dataclass(frozen=True, kw_only=True)
class RunResults(ExperimentResults):
    """Records of one experiment after a run.

    Attributes
    ----------
    experiment : Experiment
    ran : int
        Number of splits that this run executed, including failures.
    """

    experiment: Experiment
    ran: int = 0


class Report(NamedTuple):
    """Outcomes of the experiments of a run, in their order, and warnings about damaged lines."""

    outcomes: list[RunResults]
    warnings: list[str]

    @property
    def ran(self) -> int:
        """Number of splits that this run executed."""
        return sum(outcome.ran for outcome in self.outcomes)

    @property
    def failed(self) -> int:
        """Number of failed splits."""
        return sum(len(outcome.failures) for outcome in self.outcomes)


def check_rerun(rerun: str) -> None:
    """Raise a UserError if `rerun` is unknown."""
    if rerun not in RERUNS:
        raise UserError(f"rerun is {rerun!r}; {did_you_mean(rerun, RERUNS)}")


@dataclass(frozen=True)
class Run:
    """Plan of the missing fits of experiments; `carry_out` executes it.

    Attributes
    ----------
    experiments : list of Experiment
    run_records : RunRecords
        Existing records, and the files for new ones.
    workers : Workers or None
        None: nothing is missing.
    planned : Planned or None
        Numbers of missing fits. None: nothing is missing.
    tuning : list of Task
        Missing cross-validation trials.
    ready_tasks : list of Task
        Missing splits whose parameters are chosen.
    waiting_splits : list of (Experiment, Split)
        Missing splits whose parameters depend on trials.
    """

    experiments: list[Experiment]
    run_records: RunRecords
    workers: Workers | None = None
    planned: Planned | None = None
    tuning: Sequence[Task] = ()
    ready_tasks: Sequence[Task] = ()
    waiting_splits: Sequence[tuple[Experiment, Split]] = ()

    @classmethod
    def from_experiments(
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
        """Plan the missing fits.

        Parameters
        ----------
        experiments : iterable of Experiment
        records : Records
            Existing records.
        n_jobs : int, default=1
            Number of worker processes. 1: this process; -1: one per core.
        backend : {"loky", "dask"}, default="loky"
            Processes on this machine, or a Dask cluster.
        scheduler : str, default=None
            Address of Dask's scheduler, see `boostbench.execution.workers.Workers`.
        rerun : {"never", "missing", "stale", "all"}, default="missing"
            Splits that run. ``"never"``: none. ``"missing"``: splits without a finished record.
            ``"stale"``: also splits whose record has an older edition, or is contradicted by a
            refit. ``"all"``: all splits. Failed splits run again, except with ``"never"``.
        shard : Shard, default=None
            Part of the work that runs. Its records go to a folder below the folder of `records`,
            and records of both folders are reused. None: all.

        Raises
        ------
        UserError
            If an experiment is impossible, which is known before the first fit, or a file cannot
            be written.
        """
        check_rerun(rerun)
        experiments = list(experiments)
        if rerun == "never":
            return cls(experiments, RunRecords(records, rerun))
        run_records = RunRecords(records, rerun, shard)
        # 1) Find the missing splits. Experiments may share splits; each is planned once.
        missing, n_splits = {}, 0
        for experiment in experiments:
            experiment.check()
            for split in run_records.list_splits(experiment):
                n_splits += 1
                key = experiment.key(split)
                if run_records.find_finished(experiment, key) is None:
                    missing[run_records.file_for(experiment), key] = experiment, split
        if not missing:
            return cls(experiments, run_records)
        # 2) Find the missing trials of those splits whose parameters are not chosen yet.
        tuning, ready_tasks, waiting_splits = {}, [], []
        for experiment, split in missing.values():
            choice = _find_recorded_choice(experiment, run_records)
            if choice:
                ready_tasks.append(split_task(experiment, split, *choice))
                continue
            waiting_splits.append((experiment, split))
            for task in tuning_tasks(experiment, experiment.tuning_split(split)):
                if run_records.find_finished(task, task.key) is None:
                    tuning[run_records.file_for(task), task.key] = task
        # 3) Find the sources of classes, start the workers, and check that records are writable.
        for experiment, _ in missing.values():
            experiment.spec.code_version  # noqa: B018  An error now costs no fit.
        workers = Workers(n_jobs, backend, scheduler)
        check_writable({file.path for file, _ in (*missing, *tuning)})
        expected = _forecast(list(missing.values()), list(tuning.values()), run_records)
        planned = Planned(len(tuning), len(missing), n_splits - len(missing), expected)
        return cls(
            experiments,
            run_records,
            workers,
            planned,
            [*tuning.values()],
            ready_tasks,
            waiting_splits,
        )

    def carry_out(self, on_event: Callable = lambda event: None) -> Report:
        """Execute the plan, and record each fit as it finishes.

        Cross-validation trials and splits without them run first, then the splits whose parameters
        the trials choose: the point of the grid with the smallest mean validation error, the first
        one of equal points. A point with a failed trial is excluded. Work of a concurrent run on
        this machine is left to it, and its records are adopted. The results are the same for
        every number of workers.

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
            On Ctrl-C, and its subclass `Terminated` on SIGTERM; finished fits are recorded.
        """
        ran: set[tuple[Experiment, str]] = set()
        if self.planned:
            with terminable():
                ran = self._execute(on_event)
        report = _collect_outcomes(self.experiments, self.run_records, ran)
        if self.run_records.rerun != "never":
            _note_cuts(report.outcomes, self.run_records)
        return report

    def _execute(self, on_event: Callable) -> set[tuple[Experiment, str]]:
        """Execute the plan, and return the splits that this run executed."""
        on_event(self.planned)
        queue = Queue(self.run_records, self.workers, on_event, self.planned.forecast)
        try:
            queue.carry_out([*self.tuning, *self.ready_tasks])
            tuned_tasks = []
            for experiment, split in self.waiting_splits:
                point, error, failure = _choose_by_trials(experiment, split, self.run_records)
                task = split_task(experiment, split, point, error)
                if failure:
                    queue.record(task, failure)
                else:
                    tuned_tasks.append(task)
            queue.carry_out(tuned_tasks)
        except KeyboardInterrupt:
            n_planned = self.planned.tuning + self.planned.splits
            on_event(Interrupted(queue.done, n_planned, self.run_records.rerun == "all"))
            raise
        finally:
            queue.close()
        return queue.ran


def _forecast(
    missing: Sequence[tuple[Experiment, Split]], tuning: Sequence[Task], run_records: RunRecords
) -> Forecast:
    """Return the expected times, by past records of the same algorithms and data."""
    n_splits = Counter(experiment for experiment, _ in missing)
    n_trials = Counter(task.experiment for task in tuning)
    kinds = []
    for experiment, number in n_splits.items():
        splits = run_records.past_records(experiment)
        trials = []
        if experiment in n_trials:
            trials = run_records.past_records(experiment, tuning=True)
            kind = (experiment, True)
            kinds.append((kind, n_trials[experiment], experiment.config, [trials, splits]))
        kinds.append(((experiment, False), number, experiment.config, [splits, trials]))
    return forecast(kinds)


def _find_recorded_choice(
    experiment: Experiment, run_records: RunRecords
) -> tuple[Point, float | None] | None:
    """Return the chosen point and its validation error, unless they depend on missing trials."""
    if not experiment.is_tuned:
        return experiment.spec.points[0], None
    if experiment.spec.protocol.tune == "first_split":
        for split in experiment.splits:
            record = run_records.find_finished(experiment, experiment.key(split))
            if record and run_records.is_fresh(experiment, record):
                return record.chosen, record.validation_error
    return None


def _choose_by_trials(
    experiment: Experiment, split: Split, run_records: RunRecords
) -> tuple[Point, float | None, Outcome | None]:
    """Return the chosen point, its mean validation error, and the failure if all points failed."""
    file = run_records.file_for(experiment, tuning=True)
    tasks = tuning_tasks(experiment, experiment.tuning_split(split))
    trials = [(task.points, file.get(task.key)) for task in tasks]
    point, error = choose(experiment.spec.points, trials)
    if point is not None:
        return point, error, None
    failed = next(record for _, record in trials if record.is_failed)
    error = f"no point of the grid could be fitted; one of them: {failed.error}"
    return {}, None, Outcome(error=error, where=failed.where)


def _collect_outcomes(
    experiments: list[Experiment], run_records: RunRecords, ran: set[tuple[Experiment, str]]
) -> Report:
    """Return the records of each experiment."""
    outcomes = []
    for experiment in experiments:
        file = run_records.file_for(experiment)
        keys = [experiment.key(split) for split in experiment.splits]
        outcomes.append(
            RunResults.from_splits(
                [record for key in keys if (record := file.get(key))],
                len(keys),
                experiment.spec.code_version,
                run_records.verified,
                experiment=experiment,
                ran=sum((experiment, key) in ran for key in keys),
            )
        )
    return Report(outcomes, run_records.pop_warnings())


def _note_cuts(outcomes: list[RunResults], run_records: RunRecords) -> None:
    """Record new options by which the data of finished records were requested."""
    for outcome in outcomes:
        file = run_records.file_for(outcome.experiment)
        cut = key_options(outcome.experiment.config.data.cut)
        # Read the records again: an earlier experiment of this loop may have changed them.
        for record in [file.get(record.key) for record in outcome.records]:
            if not record.has_options(cut):
                file.add(record.add_options(cut))
