"""Execution of a trial by a Dask worker, which loads the data and checks the code."""

import functools
import hashlib
import json
import platform
import tempfile
from dataclasses import dataclass
from pathlib import Path

import boostbench
from boostbench.data.dataset import Dataset
from boostbench.data.loading import load
from boostbench.execution import deadline
from boostbench.fitting.trial import Outcome, Trial
from boostbench.util.errors import UserError, first_line


@dataclass(frozen=True)
class DataReference:
    """A data set that a worker loads from where it is.

    Attributes
    ----------
    spec : str
        Config of the data set, name and all, in JSON.
    checksum : str
        Expected checksum.
    """

    spec: str
    checksum: str


# Trials of one data set mostly follow each other.
@functools.lru_cache(maxsize=3)
def load_reference(reference: DataReference) -> Dataset:
    """Load a data set, and cache it.

    Raises
    ------
    UserError
        If the data cannot be loaded here, or are others.
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
    """Return arrays that were sent; Dask keeps them on the worker."""
    return X, y


def run_task(
    trial: Trial, data: DataReference | tuple, expected_digest: str, trace_name: str
) -> Outcome:
    """Run a trial.

    Parameters
    ----------
    trial : Trial
    data : DataReference or (X, y)
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
    outcome = take_late_outcome(trial, trace_name)
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


def take_late_outcome(trial: Trial, trace_name: str) -> Outcome | None:
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
    outcome = deadline.find_late_outcome(trace, trial.protocol.time_limit)
    trace.unlink(missing_ok=True)
    return outcome


def _trace_path(name: str) -> Path:
    return Path(tempfile.gettempdir()) / name


@functools.cache
def code_digest() -> str:
    """Return the digest of all source files of the package."""
    folder = Path(boostbench.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()
