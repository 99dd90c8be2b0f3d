"""Runs: plan the missing fits of experiments, execute them, and collect the records.

`boostbench.execution.jobs` makes a `Run` of the experiments of a command and executes it. A run
sends events (`Planned`, `Finished`, `Waiting`, `Interrupted`) to the display of its progress.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from boostbench.execution.plan import Experiment, Task, split_task, tuning_tasks
from boostbench.execution.queue import Queue
from boostbench.execution.run_records import FitGroup, Forecast, RunRecords, Shard, forecast
from boostbench.execution.workers import Workers, terminable
from boostbench.fitting.splits import Split
from boostbench.fitting.trial import Outcome
from boostbench.fitting.tuning import Choice, choose
from boostbench.records.index import ExperimentResults, Records
from boostbench.records.store import check_writable
from boostbench.spec.data import selecting_options
from boostbench.util.errors import UserError, did_you_mean

RERUNS = ("never", "missing", "stale", "all")


@dataclass(frozen=True)
class Planned:
    """Event before the first fit.

    Attributes
    ----------
    n_trials : int
        Number of cross-validation trials to run.
    n_splits : int
        Number of splits to run.
    n_recorded : int
        Number of splits that are on record and need not run.
    forecast : Forecast or None, default=None
        Expected times; None: no forecast.
    """

    n_trials: int
    n_splits: int
    n_recorded: int
    forecast: Forecast | None = field(default=None, compare=False)


class Interrupted(NamedTuple):
    """Event after Ctrl-C or SIGTERM.

    Attributes
    ----------
    done : int
        Number of finished trials and splits.
    planned : int
        Number of trials and splits of the plan.
    reruns_all : bool, default=False
        True if the same command repeats the finished trials and splits.
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
    """Results of a run.

    Attributes
    ----------
    results : list of RunResults
        Records of each experiment, in the order of the experiments.
    warnings : list of str
        Warnings about damaged lines of record files.
    """

    results: list[RunResults]
    warnings: list[str]

    @property
    def ran(self) -> int:
        """Number of splits that this run executed."""
        return sum(results.ran for results in self.results)

    @property
    def failed(self) -> int:
        """Number of failed splits."""
        return sum(len(results.failures) for results in self.results)


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
    tuning_tasks : list of Task
        Missing cross-validation trials.
    ready_tasks : list of Task
        Missing splits whose parameters are known: nothing is tuned, or the choice is on record.
    waiting_splits : list of (Experiment, Split)
        Missing splits whose parameters the trials choose.
    """

    experiments: list[Experiment]
    run_records: RunRecords
    workers: Workers | None = None
    planned: Planned | None = None
    tuning_tasks: Sequence[Task] = ()
    ready_tasks: Sequence[Task] = ()
    waiting_splits: Sequence[tuple[Experiment, Split]] = ()

    @classmethod
    def plan(
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
        # 1) Find the missing splits, by the index of their file and the key of their record.
        #    Experiments may share splits, and each split is planned once.
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
        missing_trials, ready_tasks, waiting_splits = {}, [], []
        for experiment, split in missing.values():
            choice = _find_recorded_choice(experiment, run_records)
            if choice:
                ready_tasks.append(split_task(experiment, split, *choice))
                continue
            waiting_splits.append((experiment, split))
            for task in tuning_tasks(experiment, experiment.tuning_split(split)):
                if run_records.find_finished(task, task.key) is None:
                    missing_trials[run_records.file_for(task), task.key] = task
        # 3) Start the workers. A class without a source or a file that cannot be written raises its
        #    error here, before the first fit.
        for experiment, _ in missing.values():
            experiment.spec.code_version  # noqa: B018  This property reads the sources.
        workers = Workers(n_jobs, backend, scheduler)
        check_writable({file.path for file, _ in (*missing, *missing_trials)})
        planned = Planned(
            n_trials=len(missing_trials),
            n_splits=len(missing),
            n_recorded=n_splits - len(missing),
            forecast=_forecast(missing.values(), missing_trials.values(), run_records),
        )
        return cls(
            experiments,
            run_records,
            workers,
            planned,
            list(missing_trials.values()),
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
        on_event : callable, default=lambda event: None
            Function that is called with each event: `Planned`, `Finished`, `Waiting` and
            `Interrupted`.

        Returns
        -------
        Report

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, and its subclass `Terminated` on SIGTERM; finished fits are recorded.
        """
        recorded_splits: set[tuple[Experiment, str]] = set()
        if self.planned:
            with terminable():
                recorded_splits = self._execute(on_event)
        report = _collect_results(self.experiments, self.run_records, recorded_splits)
        if self.run_records.rerun != "never":
            _record_data_options(report.results, self.run_records)
        return report

    def _execute(self, on_event: Callable) -> set[tuple[Experiment, str]]:
        """Execute the plan, and return the experiments and keys of the splits that it executed."""
        on_event(self.planned)
        queue = Queue(self.run_records, self.workers, on_event, self.planned.forecast)
        try:
            queue.carry_out([*self.tuning_tasks, *self.ready_tasks])
            tuned_tasks = []
            for experiment, split in self.waiting_splits:
                choice = _choose_by_trials(experiment, split, self.run_records)
                if isinstance(choice, Outcome):
                    # The split fails without a chosen point.
                    queue.record(split_task(experiment, split, {}, None), choice)
                else:
                    tuned_tasks.append(split_task(experiment, split, *choice))
            queue.carry_out(tuned_tasks)
        except KeyboardInterrupt:
            n_planned = self.planned.n_trials + self.planned.n_splits
            on_event(Interrupted(queue.done, n_planned, self.run_records.rerun == "all"))
            raise
        finally:
            queue.close()
        return queue.recorded_splits


def _forecast(
    missing: Iterable[tuple[Experiment, Split]], trials: Iterable[Task], run_records: RunRecords
) -> Forecast:
    """Return the expected times, by past records of the same algorithms and data.

    Parameters
    ----------
    missing : iterable of (Experiment, Split)
        Missing splits.
    trials : iterable of Task
        Missing cross-validation trials.
    run_records : RunRecords
    """
    n_splits = Counter(experiment for experiment, _ in missing)
    n_trials = Counter(task.experiment for task in trials)
    # The missing splits of an experiment are a group of fits, and so are its missing trials.
    groups = []
    for experiment in n_splits:
        # If no split was recorded yet, the times of trials are used for splits, and vice versa.
        split_records, trial_records = run_records.past_records(experiment), []
        if experiment in n_trials:
            trial_records = run_records.past_records(experiment, tuning=True)
            groups.append(
                FitGroup(
                    key=(experiment, True),
                    n_fits=n_trials[experiment],
                    config=experiment.config,
                    record_sources=[trial_records, split_records],
                )
            )
        groups.append(
            FitGroup(
                key=(experiment, False),
                n_fits=n_splits[experiment],
                config=experiment.config,
                record_sources=[split_records, trial_records],
            )
        )
    return forecast(groups)


def _find_recorded_choice(experiment: Experiment, run_records: RunRecords) -> Choice | None:
    """Return the choice for all splits of an experiment; None if it depends on trials."""
    if not experiment.is_tuned:
        return Choice(experiment.spec.algorithm.points()[0], None)
    # All splits share one choice, which the record of any finished split has.
    if experiment.spec.protocol.tune == "first_split":
        for split in experiment.splits:
            record = run_records.find_finished(experiment, experiment.key(split))
            if record and run_records.is_fresh(experiment, record):
                return Choice(record.chosen, record.validation_error)
    return None


def _choose_by_trials(
    experiment: Experiment, split: Split, run_records: RunRecords
) -> Choice | Outcome:
    """Return the choice for a split by its recorded trials.

    Returns
    -------
    Choice or Outcome
        Outcome: failure of the split, as no point of the grid could be fitted.
    """
    file = run_records.file_for(experiment, tuning=True)
    tasks = tuning_tasks(experiment, experiment.tuning_split(split))
    trials = [(task.points, file.get(task.key)) for task in tasks]
    choice = choose(experiment.spec.algorithm.points(), trials)
    if choice is not None:
        return choice
    failed_trial = next(record for _, record in trials if record.is_failed)
    message = f"no point of the grid could be fitted; one of them: {failed_trial.error}"
    return Outcome(error=message, where=failed_trial.where)


def _collect_results(
    experiments: list[Experiment],
    run_records: RunRecords,
    recorded_splits: set[tuple[Experiment, str]],
) -> Report:
    """Return the records of each experiment.

    Parameters
    ----------
    experiments : list of Experiment
    run_records : RunRecords
    recorded_splits : set of (Experiment, str)
        Experiments and keys of the splits that this run executed.
    """
    results = []
    for experiment in experiments:
        file = run_records.file_for(experiment)
        keys = [experiment.key(split) for split in experiment.splits]
        results.append(
            RunResults.from_splits(
                [record for key in keys if (record := file.get(key))],
                len(keys),
                experiment.spec.code_version,
                run_records.findings,
                experiment=experiment,
                ran=sum((experiment, key) in recorded_splits for key in keys),
            )
        )
    return Report(results, run_records.pop_warnings())


def _record_data_options(results: list[RunResults], run_records: RunRecords) -> None:
    """Add the options by which data were requested to finished records that lack them.

    A record is found by its checksum of the data, and also by the options that gave the data, such
    as ``data.classes=3``. Different options may give the same data: then a later run finds the
    record by the new options without loading the data.
    """
    for results_of_experiment in results:
        experiment = results_of_experiment.experiment
        file = run_records.file_for(experiment)
        options = selecting_options(experiment.config.data.data_options)
        # Read the records again: an earlier experiment of this loop may have changed them.
        for record in [file.get(record.key) for record in results_of_experiment.records]:
            if not record.has_options(options):
                file.add(record.add_options(options))
