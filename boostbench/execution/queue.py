"""Queue of tasks that a run shares with concurrent runs on the machine.

A `boostbench.execution.runner.Run` passes its tasks to a `Queue`, which executes them by workers
and appends their records. `Locks` keep two runs from executing the same task.
"""

import contextlib
import errno
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from boostbench.execution.plan import Experiment, Task
from boostbench.execution.run_records import Forecast, RunRecords
from boostbench.execution.workers import Workers
from boostbench.fitting.trial import Outcome
from boostbench.records.schema import BadLine, Record
from boostbench.spec.keys import digest
from boostbench.util.files import open_in_place

try:
    import fcntl
except ImportError:  # Windows, where every lock is granted
    fcntl = None

#: Seconds between two looks at the records of other runs: shorter than most fits, and longer than
#: the reading of a few files takes.
_POLL_INTERVAL = 0.3


class Finished(NamedTuple):
    """Event after a cross-validation trial or a split is recorded.

    Attributes
    ----------
    is_tuning : bool
        True for a cross-validation trial.
    label : str
        Algorithm, data set, split and fold.
    error : str or None
        Error of a failed fit; None: the fit finished.
    where : str or None
        Module and line of the error.
    expected : float, default=None
        CPU seconds that the fit was expected to take. None: no estimate.
    is_by_other_run : bool, default=False
        True if a concurrent run executed the fit, which took no time of this run.
    """

    is_tuning: bool
    label: str
    error: str | None
    where: str | None
    expected: float | None = None
    is_by_other_run: bool = False


class Waiting(NamedTuple):
    """Event when all remaining fits are being executed by concurrent runs.

    Attributes
    ----------
    n_remaining : int
        Number of remaining trials and splits.
    """

    n_remaining: int


class Queue:
    """Queue that executes tasks and records their outcomes, unless a concurrent run does so.

    A run locks each task while it executes it. Tasks that another run has locked are tried again
    later; tasks whose record another run has written meanwhile are adopted, that is, they count as
    finished with this record.

    Parameters
    ----------
    run_records : RunRecords
        Files of the records.
    workers : Workers
        Callable that executes tasks as they are drawn from an iterator, and yields their outcomes.
    on_event : callable
        Function that is called with each event, `Finished` or `Waiting`.
    forecast : Forecast
        Expected CPU seconds of a split and of a cross-validation trial of each experiment.

    Attributes
    ----------
    run_records, workers, on_event, forecast
        The parameters.
    done : int
        Number of finished tasks, including tasks that concurrent runs executed.
    recorded_splits : set of (Experiment, str)
        Experiments and keys of the splits that this run recorded itself.
    """

    def __init__(
        self,
        run_records: RunRecords,
        workers: Workers,
        on_event: Callable,
        forecast: Forecast,
    ):
        self.run_records, self.workers, self.on_event = run_records, workers, on_event
        self.forecast = forecast
        self.done = 0
        self.recorded_splits: set[tuple[Experiment, str]] = set()
        # If rerun is "all", no result of a concurrent run is reused, and tasks need no locks.
        shares_work = run_records.rerun != "all"
        self._locks = Locks(run_records.folder / "records") if shares_work else None

    def close(self) -> None:
        """Release all locks."""
        if self._locks:
            self._locks.close()

    def carry_out(self, tasks: list[Task]) -> None:
        """Execute tasks, and wait for those that concurrent runs execute."""
        is_wait_announced = False
        while tasks:
            # 1) Execute the tasks that are free. The workers draw them from `_claim` one by one,
            #    which fills both lists meanwhile.
            n_done_before = self.done
            locked: list[Task] = []
            adopted: list[tuple[Task, Record]] = []
            outcomes = self.workers(self._claim(tasks, locked, adopted))
            # Closing stops the workers at once, even after an exception.
            with contextlib.closing(outcomes):
                for task, outcome in outcomes:
                    self.record(task, outcome)
                    self._adopt(adopted)
            self._adopt(adopted)
            # 2) Try the tasks of other runs again; wait first if nothing was finished this time.
            tasks = locked
            if tasks and not is_wait_announced:
                self.on_event(Waiting(len(tasks)))
                is_wait_announced = True
            if tasks and self.done == n_done_before:
                time.sleep(_POLL_INTERVAL)

    def record(self, task: Task, outcome: Outcome) -> None:
        """Append the record of an outcome, and send its event.

        Results that have no record, such as infinite numbers, are recorded as a failure.
        """
        file = self.run_records.file_for(task)
        try:
            key = file.add(task.record(outcome))
        except BadLine as error:
            # The fit itself has succeeded, so that there is no line of code to name.
            outcome = Outcome(error=f"the results cannot be recorded: {error}", where="?")
            key = file.add(task.record(outcome))
        if not task.is_tuning:
            self.recorded_splits.add((task.experiment, key))
        self._finish(task, outcome)

    def _claim(
        self, tasks: list[Task], locked: list[Task], adopted: list[tuple[Task, Record]]
    ) -> Iterator[Task]:
        """Yield the tasks that no concurrent run has claimed, and sort out the others.

        Parameters
        ----------
        tasks : list of Task
        locked : list of Task
            Tasks that a concurrent run is executing are appended.
        adopted : list of (Task, Record)
            Tasks that a concurrent run has finished are appended, with their records.

        Yields
        ------
        Task
            Task to execute; this run has its lock.
        """
        if self._locks is None:
            yield from tasks
            return
        for task in tasks:
            record = self._find_other_result(task)
            if record is None:
                if not self._locks.take(self._lock_key(task)):
                    locked.append(task)
                    continue
                # The run that held the lock may have finished since the first look.
                record = self._find_other_result(task)
            if record is None:
                yield task
            else:
                adopted.append((task, record))

    def _lock_key(self, task: Task) -> str:
        """Return the key of a task's lock, for this code and this file.

        Runs of other code, or into another file, leave no record that this run could use, and have
        another key. The file counts by the names of its folder and itself, as concurrent runs may
        have different paths of one results folder.
        """
        path, version = self.run_records.file_for(task).path, task.experiment.spec.code_version
        return digest([path.parent.name, path.name, task.key, *version])

    def _find_other_result(self, task: Task) -> Record | None:
        """Return the record of a concurrent run that makes a task unnecessary, if there is one."""
        record = self.run_records.file_for(task).find_foreign(task.key)
        if record is None or not self.run_records.makes_rerun_unnecessary(task, record):
            return None
        return record

    def _adopt(self, adopted: list[tuple[Task, Record]]) -> None:
        """Take over the records of concurrent runs, and send their events; empty the list."""
        while adopted:
            task, record = adopted.pop(0)
            self.run_records.file_for(task).adopt(task.key)
            self._finish(task, record, is_by_other_run=True)

    def _finish(self, task: Task, outcome: Outcome | Record, is_by_other_run: bool = False) -> None:
        """Release the lock of a task whose record is on disk, count it, and send its event.

        Parameters
        ----------
        task : Task
        outcome : Outcome or Record
            Outcome of this run, or record of another one: either has `error` and `where`.
        is_by_other_run : bool, default=False
        """
        # The record is written before, so that the next owner of the lock finds it.
        if self._locks:
            self._locks.release(self._lock_key(task))
        self.done += 1
        self.on_event(
            Finished(
                is_tuning=task.is_tuning,
                label=task.label,
                error=outcome.error,
                where=outcome.where,
                expected=self.forecast.find_seconds((task.experiment, task.is_tuning)),
                is_by_other_run=is_by_other_run,
            )
        )


class Locks:
    """Locks of a run on tasks: each locks a byte of one file.

    The system releases the locks of a process when it ends, even if it is killed, so that no lock
    outlives its run. On a system or a file system without such locks, every lock is granted:
    concurrent runs may then execute the same tasks, and no result is lost.

    Parameters
    ----------
    folder : Path
        Folder of the records. The locked file in it is ``.claims``, which stays empty: bytes can be
        locked beyond its end.
    """

    def __init__(self, folder: Path):
        # All locks share one descriptor: closing another one of the same file would release them.
        try:
            self._file = open_in_place(Path(folder) / ".claims", "ab+")
        except OSError:
            self._file = None

    def take(self, key: str) -> bool:
        """Lock a task.

        Parameters
        ----------
        key : str
            Key of the lock, at least 15 hex digits.

        Returns
        -------
        bool
            False if another run has locked the task.
        """
        if fcntl is None or self._file is None:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte_offset(key))
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        return True

    def release(self, key: str) -> None:
        """Release the lock with a key, if this run has it."""
        if fcntl is not None and self._file is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _byte_offset(key))

    def close(self) -> None:
        """Release all locks."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _byte_offset(key: str) -> int:
    """Return the offset of the byte that the lock with a key locks.

    15 hex digits are 60 bits: offsets have 63 bits, and two keys hardly share an offset.
    """
    return int(key[:15], 16)
