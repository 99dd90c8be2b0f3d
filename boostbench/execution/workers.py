"""Run trials in this process, in processes beside it, or on a Dask cluster."""

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
from boostbench.util.compat.joblib import end_workers
from boostbench.util.errors import Terminated, UserError, did_you_mean

BACKENDS = ("loky", "dask")


class Workers:
    """Carries out tasks and hands back their outcomes as they finish.

    Inside a worker of someone else's pool (such as a Hydra launcher's) everything runs in this
    process, where the cores are taken already.

    Parameters
    ----------
    n_jobs : int
        Number of worker processes; 1 means this process, and -1 one for each core.
    backend : {"loky", "dask"}
        Processes on this machine, by joblib, or a Dask cluster.
    scheduler : str, default=None
        Address of Dask's scheduler; None: the value of ``DASK_SCHEDULER_ADDRESS``, or a
        cluster on this machine.

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
        """Carry out tasks.

        Parameters
        ----------
        tasks : iterable of Work
            Drawn when their turn comes, perhaps in another thread.

        Yields
        ------
        (Work, Outcome)
            Each task once with its outcome, in the order in which they finish. A worker that died
            is the failure of the task that it was at.
        """
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
        numbered = enumerate(tasks)
        waiting = {}
        while True:
            try:
                for number, outcome in self._stream(numbered, waiting):
                    yield waiting.pop(number), outcome
                return
            except BrokenProcessPool:
                # A dispatched task killed its worker. Each one runs again in its own pool, to find
                # out which.
                for number in list(waiting):
                    yield self._run_in_own_pool(waiting.pop(number))

    def _stream(
        self,
        numbered: Iterable[tuple[int, Work]],
        waiting: dict[int, Work],
        trace: str = os.devnull,
    ) -> Iterator[tuple[int, Outcome]]:
        """Yield outcomes by their numbers; `waiting` holds the tasks that have been dispatched.

        See `deadline.run_with_time_limit` for `trace`.
        """
        _end_workers_at_exit(os.getpid())

        def calls():
            for number, task in numbered:
                waiting[number] = task
                # Pass the same array object for each task: joblib writes a large one to a file
                # once, and every worker maps it into its memory.
                data = task.dataset
                yield joblib.delayed(_work)(
                    number,
                    task.trial,
                    data.X,
                    data.class_indices,
                    parent=os.getpid(),
                    trace=trace,
                )

        with joblib.parallel_config("loky", n_jobs=self.n_jobs):
            parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1)
        stream = parallel(calls())
        with warnings.catch_warnings():
            # joblib puts a new worker in the place of one that has grown by 300 MB.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
            try:
                # Not "yield from", which would close the stream too early to silence it.
                for finished in stream:  # noqa: UP028
                    yield finished
            finally:
                # joblib says that tasks in flight are given up: just so.
                warnings.simplefilter("ignore")
                stream.close()

    def _run_in_own_pool(self, task: Work) -> tuple[Work, Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace"
            try:
                [(_, outcome)] = self._stream([(0, task)], {}, str(trace))
            except BrokenProcessPool:
                limit = task.trial.protocol.time_limit
                outcome = deadline.find_late_outcome(trace, limit) or DIED
        return task, outcome


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM raise `Terminated`, a subclass of KeyboardInterrupt."""

    def stop(number, frame):
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@functools.cache
def _end_workers_at_exit(process_id: int) -> None:
    """End worker processes before `multiprocessing` waits for them at the end of a child process.

    loky ends them later, together with the threads; so a child process that was forked, such as
    one of a process pool, would wait for ever.
    """
    if multiprocessing.parent_process() is not None:
        multiprocessing.util.Finalize(None, end_workers, exitpriority=0)


def _work(
    number: int, trial: Trial, X, y, *, parent: int, trace: str = os.devnull
) -> tuple[int, Outcome]:
    _follow_parent(parent)
    return number, deadline.run_with_time_limit(trial, X, y, expendable=True, trace=trace)


@functools.cache
def _follow_parent(parent: int) -> None:
    """Leave Ctrl-C and SIGTERM to the parent, which ends its workers, and end when it is gone.

    Its number comes with the task: a worker that starts when the parent is gone already would take
    whoever inherits it for its parent.
    """

    def watch():
        if sys.platform == "win32":  # where a process keeps the number of a parent that is gone
            multiprocessing.parent_process().join()
        else:
            while os.getppid() == parent:
                time.sleep(1)
        os._exit(1)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


def _is_inside_worker() -> bool:
    backend, _ = get_active_backend()
    return bool(backend.nesting_level) or multiprocessing.current_process().daemon
