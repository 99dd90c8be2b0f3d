"""Processes that fit by the code of one checkout each, and what they have done so far on disk."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from boostbench.data.dataset import Dataset
from boostbench.errors import UserError
from boostbench.experiment import refit
from boostbench.experiment.certify import first_schema
from boostbench.experiment.journal import appending
from boostbench.experiment.keys import digest

_ENTRY = Path("boostbench", "experiment", "refit.py")
# One thread for each process; its own libraries may read any of these.
_SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Died(Exception):
    """A process has ended without an answer; the argument is the last that it wrote on stderr."""


class Child:
    """A process that answers one job after the other by the code of a checkout.

    Parameters
    ----------
    source : Path
        Where the checkout's modules are imported from.

    Raises
    ------
    Died
        If it does not come up.
    """

    def __init__(self, source: Path):
        entry = source / _ENTRY
        own = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        paths = [str(source), *(os.path.abspath(path) for path in own if path)]
        call = [sys.executable, "-P", "-m", "boostbench.experiment.refit"]
        if entry.parents[1].is_dir() and not entry.exists():
            call = [sys.executable, "-P", first_schema.__file__, refit.__file__]
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115, closed by stop
        self._process = subprocess.Popen(
            call,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            cwd=source,
            env={**os.environ, **_SINGLE, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self.about = self._receive()
        if entry.parents[1].is_dir() and Path(self.about["package"]) != entry.parents[1].resolve():
            raise Died(f"boostbench was imported from {self.about['package']}")

    def ask(self, job: Mapping) -> dict:
        """Have a job done; see `boostbench.experiment.refit`."""
        try:
            print(json.dumps(job), file=self._process.stdin, flush=True)
        except OSError:
            raise Died(self._last_words()) from None
        return self._receive()

    def stop(self) -> None:
        """End the process at once, in the midst of whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._complaints):
            with contextlib.suppress(OSError):
                stream.close()

    def _receive(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise Died(self._last_words())
        return json.loads(line)

    def _last_words(self) -> str:
        self._process.wait()
        with contextlib.suppress(OSError, ValueError):  # closed by stop
            self._complaints.seek(0)
            lines = self._complaints.read().decode(errors="replace").strip().splitlines()
            if lines:
                return lines[-1]
        return f"exit code {self._process.returncode}"


@dataclass(frozen=True, eq=False)
class Fit:
    """What one code shall fit.

    Attributes
    ----------
    commit : str
        Of the checkout.
    code : str
        Fingerprint.
    name : list
        In JSON types, tells the fit from all others of that code.
    job : callable
        Makes the job, see `boostbench.experiment.refit`, with ``data`` the checksum of data that
        are shared. The text of a `UserError` that it raises is the answer, as ``skipped``.
    """

    commit: str
    code: str
    name: list
    job: Callable[[], dict]


class Fleet:
    """Children of several checkouts, so many at work at a time, and their answers on disk.

    To be used as a context manager: leaving it stops all of them.

    Parameters
    ----------
    sources : mapping of str to Path
        By commit, where its modules are imported from.
    n_jobs : int
        How many fits run at a time.
    kept : Path
        File of the answers: what has been fitted once is not fitted again.

    Attributes
    ----------
    environments : dict of str to dict
        By commit, the machine and the libraries.
    """

    def __init__(self, sources: Mapping[str, Path], n_jobs: int, kept: Path):
        self.sources, self.n_jobs, self.kept = dict(sources), n_jobs, kept
        self.environments: dict[str, dict] = {}
        self._answers = _read(kept)
        self._idle: dict[str, list[Child]] = {commit: [] for commit in self.sources}
        self._children: list[Child] = []
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(n_jobs)
        self._data = tempfile.TemporaryDirectory(prefix="boostbench-data-")

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(self, *exception) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for child in self._children:
                child.stop()
        self._pool.shutdown()
        self._data.cleanup()

    def check(self, commit: str, request: Mapping, code: str) -> None:
        """Make sure that a commit's code runs, and is the code that it is said to be.

        Raises
        ------
        UserError
            If it does not run, has no such class, or has another fingerprint.
        """
        try:
            child = self._take(commit)
            found = child.ask(request)
        except Died as death:
            raise UserError(f"the code of commit {commit[:12]} does not run: {death}") from None
        self._idle[commit].append(child)
        target = request["target"]
        if "error" in found:
            raise UserError(f"commit {commit[:12]} has no {target} that runs: {found['error']}")
        if found["code"] != code:
            raise UserError(
                f"commit {commit[:12]} is not the code that the records name: the fingerprint of "
                f"{target} is {found['code']} there, and {code} on record"
            )

    def share(self, dataset: Dataset) -> None:
        """Put a data set where the children find it."""
        folder = Path(self._data.name, dataset.checksum)
        if folder.exists():
            return
        folder.mkdir()
        # As the runner gives them: class numbers, which every classifier takes.
        np.save(folder / "y.npy", np.unique(dataset.y, return_inverse=True)[1])
        if dataset.is_sparse:
            sparse.save_npz(folder / "X.npz", dataset.X, compressed=False)
        else:
            np.save(folder / "X.npy", dataset.X)

    def is_kept(self, fit: Fit) -> bool:
        """Whether a fit has been done before."""
        return self._key(fit) in self._answers

    def run(self, fits: Iterable[Fit]) -> Iterator[tuple[Fit, dict]]:
        """Carry out fits, taking them one by one as workers become free.

        Yields
        ------
        (Fit, dict)
            Each with its answer, as they finish.
        """
        running = {}
        for fit in fits:
            if self.is_kept(fit):
                yield fit, self._answers[self._key(fit)]
                continue
            try:
                job = fit.job()
            except UserError as error:
                yield fit, {"skipped": str(error)}
                continue
            running[self._pool.submit(self._carry_out, fit, job)] = fit
            # One in store for each worker.
            while len(running) >= 2 * self.n_jobs:
                yield from _finished(running)
        while running:
            yield from _finished(running)

    def _carry_out(self, fit: Fit, job: Mapping) -> dict:
        data = str(Path(self._data.name, job["data"]))
        try:
            child = self._take(fit.commit)
            found = child.ask({**job, "data": data})
        except Died as death:
            return {"error": f"the process died: {death}"}
        self._idle[fit.commit].append(child)
        if "error" not in found:
            with self._lock:
                self._keep(fit, found)
        return found

    def _keep(self, fit: Fit, found: dict) -> None:
        key = self._key(fit)
        with appending(self.kept, "fits to ", lambda line: _parse(line) is not None) as file:
            file.write((json.dumps({"key": key, "answer": found}) + "\n").encode())
        self._answers[key] = found

    def _take(self, commit: str) -> Child:
        with contextlib.suppress(IndexError):
            return self._idle[commit].pop()
        child = Child(self.sources[commit])
        with self._lock:
            self._children.append(child)
        self.environments[commit] = child.about["environment"]
        return child

    def _key(self, fit: Fit) -> str:
        # An answer from another machine says nothing about this one.
        return digest([fit.code, self.environments[fit.commit], fit.name])


def _finished(running: dict[Future, Fit]) -> Iterator[tuple[Fit, dict]]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        yield running.pop(future), future.result()


def _read(kept: Path) -> dict[str, dict]:
    """Read what has been fitted; what cannot be read is fitted again."""
    lines = kept.read_bytes().splitlines() if kept.is_file() else []
    return dict(pair for pair in map(_parse, lines) if pair is not None)


def _parse(line: bytes) -> tuple[str, dict] | None:
    try:
        content = json.loads(line)
        return content["key"], content["answer"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
