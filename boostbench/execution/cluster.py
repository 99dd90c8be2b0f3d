"""Workers of a Dask cluster, on this machine or at a scheduler's address.

`Cluster` belongs to the run. Its second part, below, is executed by Dask's workers: they load the
data by reference and check that they have the code of the run.
"""

import functools
import hashlib
import json
import logging
import platform
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import boostbench
from boostbench.data.dataset import Dataset
from boostbench.data.loading import load
from boostbench.execution import deadline
from boostbench.fitting.trial import DIED, Outcome, Trial, Work
from boostbench.util.errors import UserError, first_line

#: Submitted trials per worker process: one that runs, and one that waits, so that the worker need
#: not wait for the scheduler.
_TASKS_PER_WORKER = 2
#: Seconds until a scheduler has to answer.
_CONNECT_TIMEOUT = 10


class Cluster:
    """Dask cluster that executes tasks.

    Parameters
    ----------
    n_jobs : int
        Number of processes of a cluster on this machine.
    scheduler : str or None, default=None
        Address of the scheduler of an existing cluster, such as ``"tcp://head:8786"``. None: the
        value of ``DASK_SCHEDULER_ADDRESS``; without it, the cluster of the current Dask client, or
        a new cluster on this machine.

    Attributes
    ----------
    address : str or None
        Address of the scheduler; None: a cluster on this machine.
    client : dask.distributed.Client
        Connection to the scheduler.

    Raises
    ------
    UserError
        If Dask is not installed, the scheduler does not answer, or its workers have several
        threads.
    """

    def __init__(self, n_jobs: int, scheduler: str | None = None):
        try:
            import dask.config
            from dask.distributed import Client, get_client
        except ImportError:
            raise UserError(
                "parallel.backend=dask needs Dask; install it by pip install 'dask[distributed]', "
                "or take loky"
            ) from None
        _silence_dask()
        # Futures of the arrays that workers hold, by the checksum of their data set.
        self._sent = {}
        # 1) Connect to the scheduler, or start a cluster.
        self.address = scheduler or dask.config.get("scheduler-address", None)
        if self.address is None:
            try:
                self.client = get_client()
            except ValueError:
                self.client = Client(n_workers=n_jobs, threads_per_worker=1)
        else:
            try:
                # A default client would be used by the next run, even if this scheduler does not
                # answer.
                self.client = Client(self.address, timeout=_CONNECT_TIMEOUT, set_as_default=False)
            except (OSError, ValueError, TypeError) as error:
                reason = first_line(error)
                raise UserError(
                    f"no Dask scheduler answers at {self.address!r}: {reason}"
                ) from None
        # 2) Refuse workers with several threads: they would share the CPU seconds of a process.
        threads = max(self.client.nthreads().values(), default=1)
        if threads > 1:
            # The client may belong to the caller if there is no address.
            if self.address:
                self.client.close()
            owner = self.address or "the Dask cluster"
            raise UserError(
                f"the workers of {owner} have up to {threads} threads; "
                "start them by 'dask worker --nthreads 1 --nworkers N', as CPU seconds are those "
                "of a process"
            )

    def __call__(self, tasks: Iterable[Work]) -> Iterator[tuple[Work, Outcome]]:
        """Execute tasks, see `boostbench.execution.workers.Workers.__call__`.

        Parameters
        ----------
        tasks : iterable of Work

        Yields
        ------
        (Work, Outcome)

        Raises
        ------
        UserError
            If the scheduler is gone, or a worker has other code or cannot load the data.
        """
        from distributed import as_completed

        waiting_tasks = iter(tasks)
        # Task of each future, and name of the trace: the file in which the deadline leaves its
        # traceback before it ends a process, see `run_task`.
        in_flight = {}
        finished = as_completed(loop=self.client.loop, with_results=False, raise_errors=False)

        def submit_next() -> None:
            """Submit one task, if there is another one."""
            for task in waiting_tasks:
                data = self._data(task.dataset)
                trace_name = f"boostbench-{uuid.uuid4().hex}"
                future = self.client.submit(
                    run_task, task.trial, data, code_digest(), trace_name, pure=False
                )
                in_flight[future] = task, trace_name
                finished.add(future)
                return

        # Submit the first tasks. Each finished one makes room for the next.
        try:
            for _ in range(_TASKS_PER_WORKER * max(1, len(self.client.nthreads()))):
                submit_next()
            for future in finished:
                task, trace_name = in_flight.pop(future)
                outcome = self._read_outcome(future, task.trial, trace_name)
                submit_next()
                yield task, outcome
        except (OSError, TimeoutError) as error:
            raise self._scheduler_error() from error
        finally:
            if self.client.status == "running":
                self.client.cancel(list(in_flight))

    def _read_outcome(self, future, trial: Trial, trace_name: str) -> Outcome:
        """Return the outcome of the task of a future that is over.

        Parameters
        ----------
        future : dask.distributed.Future
        trial : Trial
            Trial of the task.
        trace_name : str
            Name of its trace, see `run_task`.

        Raises
        ------
        UserError
            See `__call__`.
        """
        from distributed.scheduler import KilledWorker

        if future.status == "finished":
            return future.result()
        error = future.exception() if future.status == "error" else None
        # A future is cancelled or lost if the scheduler is gone.
        if error is None:
            raise self._scheduler_error()
        if isinstance(error, UserError):
            raise error
        if not isinstance(error, KilledWorker):
            reason = f"{type(error).__name__}: {first_line(error)}"
            raise UserError(f"a Dask worker cannot do the work: {reason}")
        return self._find_timeout(trial, trace_name) or DIED

    def _find_timeout(self, trial: Trial, trace_name: str) -> Outcome | None:
        """Return the outcome of a trial that killed its workers if the deadline ended them."""
        if trial.protocol.time_limit is None:
            return None
        # A worker that the deadline ended has left a file on its machine, where other workers are,
        # or the worker that Dask has started in its place.
        answers = self.client.run(pop_timeout, trial, trace_name, on_error="return").values()
        return next((answer for answer in answers if isinstance(answer, Outcome)), None)

    def _data(self, dataset: Dataset):
        """Return the reference by which a worker loads a data set, or the future of its arrays.

        Arrays are sent once if the data set has no config by which a worker could load it.
        """
        if dataset.spec is not None:
            return DataReference(json.dumps(dataset.spec.to_config()), dataset.checksum)
        if dataset.checksum not in self._sent:
            # Dask repeats a task whose result is lost with its worker; data of `scatter` are lost.
            self._sent[dataset.checksum] = self.client.submit(
                keep_arrays, dataset.X, dataset.class_indices, key=f"data-{dataset.checksum}"
            )
        return self._sent[dataset.checksum]

    def _scheduler_error(self) -> UserError:
        """Return the error of a run whose scheduler is gone."""
        where = self.address or "of this machine"
        return UserError(
            f"the Dask scheduler {where} is gone; finished fits are recorded, and only "
            "rerun=all repeats them"
        )


def _silence_dask() -> None:
    """Keep Dask from logging errors with tracebacks; they are outcomes or one-line errors here."""
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


# ---------------------------------------------------------------------------------------------
# The worker's part


@dataclass(frozen=True)
class DataReference:
    """Reference to a data set, which a worker loads from its own files or from the network.

    Attributes
    ----------
    spec : str
        Config of the data set in JSON, which can be a key of a cache.
    checksum : str
        Expected checksum of the data.
    """

    spec: str
    checksum: str


# Consecutive trials mostly have the same data set, and some data sets are large.
@functools.lru_cache(maxsize=3)
def load_reference(reference: DataReference) -> Dataset:
    """Load a data set, and cache it.

    Raises
    ------
    UserError
        If the data cannot be loaded on this machine, or have another checksum.
    """
    where, spec = f"the Dask worker on {platform.node()}", json.loads(reference.spec)
    try:
        dataset = load(spec)
    except UserError as error:
        raise UserError(f"{where} cannot load its data: {first_line(error)}") from None
    if dataset.checksum != reference.checksum:
        raise UserError(
            f"{where} has other data: {spec['name']!r} from {dataset.source} has the "
            f"checksum {dataset.checksum}, and {reference.checksum} is asked for"
        )
    return dataset


def keep_arrays(X, y) -> tuple:
    """Return the arrays; submitted as a task, its result stays on the worker for other tasks."""
    return X, y


def run_task(
    trial: Trial, data: DataReference | tuple, expected_digest: str, trace_name: str
) -> Outcome:
    """Run a trial.

    Parameters
    ----------
    trial : Trial
    data : DataReference or (X, y)
        Data set of the trial, or its features and class indices.
    expected_digest : str
        Required result of `code_digest`.
    trace_name : str
        Name, which no other task has, of the file in the machine's temporary folder to which the
        deadline writes before it ends the process.

    Returns
    -------
    Outcome

    Raises
    ------
    UserError
        If the worker has other code, or cannot load the data.
    """
    if code_digest() != expected_digest:
        raise UserError(
            f"the Dask worker on {platform.node()} has another version of boostbench; install "
            "the same on all machines, as records name the code"
        )
    # Dask repeats a task whose worker died. A trial that was ended by the deadline would be late
    # again.
    outcome = pop_timeout(trial, trace_name)
    if outcome is not None:
        return outcome
    if isinstance(data, DataReference):
        dataset = load_reference(data)
        data = dataset.X, dataset.class_indices
    X, y = data
    trace = _trace_path(trace_name)
    try:
        return deadline.run_with_time_limit(trial, X, y, expendable=True, trace=str(trace))
    finally:
        trace.unlink(missing_ok=True)


def pop_timeout(trial: Trial, trace_name: str) -> Outcome | None:
    """Return the outcome of a trial if the deadline ended a process of this machine in it.

    The file of the deadline is removed.

    Parameters
    ----------
    trial : Trial
    trace_name : str
        Name that `run_task` got.

    Returns
    -------
    Outcome or None
        None: the deadline ended no process of this machine.
    """
    trace = _trace_path(trace_name)
    outcome = deadline.find_timeout(trace, trial.protocol.time_limit)
    trace.unlink(missing_ok=True)
    return outcome


def _trace_path(name: str) -> Path:
    """Return the path of a file of the deadline, see `run_task`."""
    return Path(tempfile.gettempdir()) / name


@functools.cache
def code_digest() -> str:
    """Return the SHA-256 of all source files of the package, with their names, in hex digits."""
    folder = Path(boostbench.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()
