"""Workers, which execute tasks: this process, processes of joblib, or a Dask cluster.

Runs (`boostbench.execution.queue`) and verifications (`boostbench.execution.verification`) pass
tasks to `Workers` and take their outcomes as they finish.
"""

import contextlib
import functools
import multiprocessing
import multiprocessing.util
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import joblib
from joblib.parallel import get_active_backend

from boostbench.execution import deadline
from boostbench.execution.cluster import Cluster
from boostbench.fitting.trial import DIED, Outcome, Trial, Work
from boostbench.util.errors import Terminated, UserError, did_you_mean
from boostbench.util.process import end_workers

BACKENDS = ("loky", "dask")

# Seconds between two looks of a worker for its parent: an orphan wastes at most this time.
_PARENT_CHECK_INTERVAL = 1


class Workers:
    """Callable that executes tasks and yields their outcomes as they finish.

    In a process that is itself a worker of a pool, such as the pool of a Hydra launcher, tasks run
    in this process, as the other cores are busy.

    Parameters
    ----------
    n_jobs : int
        Number of worker processes. 1: tasks run in this process. A negative number counts from the
        number of cores: -1 is a process per core, -2 one less.
    backend : {"loky", "dask"}
        ``"loky"``: processes of joblib on this machine. ``"dask"``: a Dask cluster.
    scheduler : str, default=None
        Address of Dask's scheduler. None: the value of ``DASK_SCHEDULER_ADDRESS``, or a cluster on
        this machine.

    Attributes
    ----------
    n_jobs : int
        Number of worker processes, at least 1.
    cluster : Cluster or None
        Dask cluster; None: processes on this machine.

    Raises
    ------
    UserError
        If `n_jobs` is 0, or the backend does not exist or is not installed, or no scheduler
        answers.
    """

    def __init__(self, n_jobs: int, backend: str, scheduler: str | None = None):
        if backend not in BACKENDS:
            raise UserError(f"parallel.backend is {backend!r}; {did_you_mean(backend, BACKENDS)}")
        if not isinstance(n_jobs, int) or n_jobs == 0:
            raise UserError(f"parallel.n_jobs is {n_jobs!r}; take 1, 2, ... or -1 for all cores")
        n_cores = joblib.cpu_count()
        self.n_jobs = n_jobs if n_jobs > 0 else max(1, n_cores + 1 + n_jobs)
        self.cluster: Cluster | None = None
        if scheduler is not None and (backend != "dask" or not isinstance(scheduler, str)):
            raise UserError(
                f"parallel.scheduler is {scheduler!r}; it is the address of a Dask scheduler, "
                "such as tcp://head:8786, for parallel=dask"
            )
        if _is_inside_worker():
            self.n_jobs = 1
        elif backend == "dask":
            self.cluster = Cluster(self.n_jobs, scheduler)

    def __call__(self, tasks: Iterable[Work]) -> Iterator[tuple[Work, Outcome]]:
        """Execute tasks.

        Parameters
        ----------
        tasks : iterable of Work
            Tasks. The next one is drawn when a worker is free, perhaps in another thread.

        Yields
        ------
        (Work, Outcome)
            Each task once with its outcome, in the order in which they finish. If a worker process
            dies, the task that it executed fails.
        """
        # 1) A cluster, or this process.
        if self.cluster:
            yield from self.cluster(tasks)
            return
        if self.n_jobs == 1:
            for task in tasks:
                data = task.dataset
                outcome = deadline.run_with_time_limit(
                    task.trial, data.X, data.class_indices, expendable=False
                )
                yield task, outcome
            return
        # 2) Processes of joblib. Tasks have numbers, as workers return outcomes without the tasks.
        numbered_tasks = enumerate(tasks)
        dispatched = {}
        while True:
            try:
                for number, outcome in self._run_in_pool(numbered_tasks, dispatched):
                    yield dispatched.pop(number), outcome
                return
            except BrokenProcessPool:
                # A dispatched task killed its worker, and with it the pool. Each of these tasks
                # runs again in a pool of its own, to find out which one it was.
                for number in list(dispatched):
                    yield self._run_in_own_pool(dispatched.pop(number))

    def _run_in_pool(
        self,
        numbered_tasks: Iterable[tuple[int, Work]],
        dispatched: dict[int, Work],
        trace: str = os.devnull,
    ) -> Iterator[tuple[int, Outcome]]:
        """Execute tasks by joblib's pool of processes.

        Parameters
        ----------
        numbered_tasks : iterable of (int, Work)
            Tasks and their numbers.
        dispatched : dict of int to Work
            Tasks that the pool has drawn are added, by their numbers.
        trace : str, default=os.devnull
            Path of the file to which the deadline writes before it ends a worker.

        Yields
        ------
        (int, Outcome)
            Number of a task, and its outcome.

        Raises
        ------
        BrokenProcessPool
            If a worker died.
        """
        _end_workers_at_exit(os.getpid())

        def draw_calls():
            """Yield the calls that joblib makes in its processes, and note their tasks."""
            for number, task in numbered_tasks:
                dispatched[number] = task
                # Pass the same array object for each task: joblib writes a large one to a file
                # once, and every worker maps it into its memory.
                data = task.dataset
                yield joblib.delayed(_run_in_worker)(
                    number,
                    task.trial,
                    data.X,
                    data.class_indices,
                    parent=os.getpid(),
                    trace=trace,
                )

        with joblib.parallel_config("loky", n_jobs=self.n_jobs):
            parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1)
        outcomes = parallel(draw_calls())
        with warnings.catch_warnings():
            # joblib puts a new worker in the place of one that has grown by 300 MB.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
            try:
                # "yield from" would close the generator before its warning is ignored.
                for numbered_outcome in outcomes:  # noqa: UP028
                    yield numbered_outcome
            finally:
                # If the caller stops early, joblib warns that tasks are cancelled, as intended.
                warnings.simplefilter("ignore")
                outcomes.close()

    def _run_in_own_pool(self, task: Work) -> tuple[Work, Outcome]:
        """Execute a task that may kill its worker, and return it with its outcome."""
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace"
            try:
                [(_, outcome)] = self._run_in_pool([(0, task)], {}, str(trace))
            except BrokenProcessPool:
                limit = task.trial.protocol.time_limit
                outcome = deadline.find_timeout(trace, limit) or DIED
        return task, outcome


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Return a context in which SIGTERM raises `Terminated`, a subclass of KeyboardInterrupt."""

    def raise_terminated(signal_number, frame):
        raise Terminated

    # Python lets only the main thread handle signals.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caller_handler = signal.signal(signal.SIGTERM, raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, caller_handler)


@functools.cache
def _end_workers_at_exit(process_id: int) -> None:
    """Arrange that worker processes end before `multiprocessing` waits for them.

    At the end of a child process, `multiprocessing` waits for the processes that it has started,
    and loky ends its workers later. A forked process that used workers would wait for ever.

    Parameters
    ----------
    process_id : int
        Identity of this process, by which the cache keeps apart a process and its forks.
    """
    if multiprocessing.parent_process() is not None:
        multiprocessing.util.Finalize(None, end_workers, exitpriority=0)


def _run_in_worker(
    number: int, trial: Trial, X, y, *, parent: int, trace: str = os.devnull
) -> tuple[int, Outcome]:
    """Run a trial in a worker process, and return its number and its outcome.

    Parameters
    ----------
    number : int
        Number of the task.
    trial, X, y
        See `boostbench.fitting.trial.run_trial`.
    parent : int
        Process id of the run.
    trace : str, default=os.devnull
        See `boostbench.execution.deadline.run_with_time_limit`.
    """
    _follow_parent(parent)
    return number, deadline.run_with_time_limit(trial, X, y, expendable=True, trace=trace)


@functools.cache
def _follow_parent(parent: int) -> None:
    """Ignore Ctrl-C and SIGTERM, upon which the parent ends its workers, and end with the parent.

    Parameters
    ----------
    parent : int
        Process id of the parent. It comes with the task: if the parent ends before this worker
        starts, `os.getppid` returns the process that inherited the worker.
    """

    def exit_after_parent():
        # Windows keeps the parent's id in a process after the parent has ended.
        if sys.platform == "win32":
            multiprocessing.parent_process().join()
        else:
            while os.getppid() == parent:
                time.sleep(_PARENT_CHECK_INTERVAL)
        os._exit(1)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=exit_after_parent, daemon=True).start()


def _is_inside_worker() -> bool:
    """Return True if this process is a worker of joblib or of `multiprocessing`."""
    backend, _ = get_active_backend()
    return bool(backend.nesting_level) or multiprocessing.current_process().daemon
