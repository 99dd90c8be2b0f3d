"""Where a record was made: versions, processor, and how fast it is."""

import functools
import importlib.metadata
import os
import platform
import statistics
import subprocess
import time
from pathlib import Path

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

import boostbench
from boostbench.experiment.code import distribution_of

PACKAGES = ("boostbench", "numpy", "scipy", "scikit-learn")


@functools.cache
def environment(package: str) -> dict:
    """Describe this process's machine and libraries.

    Parameters
    ----------
    package : str
        Top-level package of the estimator, whose version is told as well.

    Returns
    -------
    dict
        ``python`` and the distributions by name to their versions, ``system`` (such as
        ``"Linux x86_64"``), ``cpu`` (model), ``n_cores`` (that this process may use).
    """
    distributions = {*PACKAGES, distribution_of(package) or "boostbench"}
    versions = {name: importlib.metadata.version(name) for name in sorted(distributions)}
    return {
        "python": platform.python_version(),
        **versions,
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_model(),
        "n_cores": joblib.cpu_count(),
    }


@functools.cache
def commit() -> str:
    """Name the code of boostbench by the commit that is checked out, or by the released version.

    Returns
    -------
    str
        The commit, shortened; ``"+"`` after it says that the package has been changed since.
        Where the package is in no git checkout of its own, its version.
    """
    package = Path(boostbench.__file__).parent
    try:
        _git(package, "ls-files", "--error-unmatch", Path(boostbench.__file__).name)
        changed = _git(package, "status", "--porcelain", "--untracked-files=all", "--", ".")
        return _git(package, "rev-parse", "--short=7", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return boostbench.__version__


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    return done.stdout.strip()


def cpu_model() -> str:
    """Name the processor as the operating system does."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def calibration() -> float:
    """Measure how fast this process computes, so that CPU times of two machines can be compared.

    The job is what a boosting round is made of: sorting, a matrix product, fancy indexing.

    Returns
    -------
    float
        CPU seconds of the job on one thread, the median of three runs; measured once in a process.
    """
    return _calibration(os.getpid())


@functools.cache
def _calibration(pid: int) -> float:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 10_000))
    square = rng.standard_normal((300, 300))
    order = rng.integers(0, rows.size, 2_000_000)
    seconds = []
    with threadpool_limits(1):
        for _ in range(3):
            start = time.process_time()
            np.sort(rows, axis=1)
            for _ in range(20):
                square @ square
            rows.ravel()[order].sum()
            seconds.append(time.process_time() - start)
    return statistics.median(seconds)
