"""Environment of a record: versions of libraries, processor, commit and time of its fit.

The last digits of results depend on the processor and the libraries of linear algebra. A record
therefore states the environment of its fit, in its provenance.
"""

import functools
import importlib.metadata
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import joblib
import numpy as np
import scipy.linalg  # noqa: F401, loads the BLAS of SciPy
from threadpoolctl import threadpool_info

from boostbench.spec.trusted_imports import distribution_of

#: Distributions whose versions every record has.
PACKAGES = ("boostbench", "numpy", "scipy", "scikit-learn")


@functools.cache
def environment(package: str) -> dict:
    """Return a description of this process's machine and libraries.

    Parameters
    ----------
    package : str
        Top-level package of the estimator. Its version is included.

    Returns
    -------
    dict
        Versions of Python (``python``) and of each distribution, by name; ``system``; model of the
        processor (``cpu``); number of cores that this process may use (``n_cores``); libraries of
        linear algebra (``blas``).
    """
    distributions = set(PACKAGES)
    # A user's own module is in no distribution.
    if distribution := package if package in PACKAGES else distribution_of(package):
        distributions.add(distribution)
    versions = {name: importlib.metadata.version(name) for name in sorted(distributions)}
    return {
        "python": platform.python_version(),
        **versions,
        "system": system(),
        "cpu": cpu_model(),
        "n_cores": joblib.cpu_count(),
        "blas": blas(),
    }


def system() -> str:
    """Return the operating system and the kind of processor: ``"Linux x86_64"``."""
    return f"{platform.system()} {platform.machine()}"


@functools.cache
def blas() -> str:
    """Return the libraries of linear algebra and their kernels: ``"openblas 0.3.31 Haswell"``.

    A kernel is written for a family of processors, and its order of summation differs from others.
    """
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    names = [
        " ".join(
            filter(None, (library["internal_api"], library["version"], library.get("architecture")))
        )
        for library in libraries
    ]
    # Accelerate, which is a part of macOS, is unknown to threadpoolctl.
    if not names:
        built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
        names = [f"{built} {platform.mac_ver()[0]}".strip()]
    return ", ".join(sorted(set(names)))


@functools.cache
def commit() -> str:
    """Return the commit of boostbench that is checked out, or the released version.

    Returns
    -------
    str
        Abbreviated hash of the commit, followed by ``"+"`` if the package has uncommitted changes.
        Outside of a git checkout of its own, the version of the package.
    """
    package = Path(__file__).parents[1]
    try:
        _git(package, "ls-files", "--error-unmatch", "__init__.py")
        changed = _git(package, "status", "--porcelain", "--untracked-files=all", "--", ".")
        return _git(package, "rev-parse", "--short=7", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return importlib.metadata.version(package.name)


def now() -> str:
    """Return the time in the format of records, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _git(folder: Path, *arguments: str) -> str:
    """Return the output of a command of git in a folder; raise an error if it fails."""
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    return done.stdout.strip()


def cpu_model() -> str:
    """Return the operating system's name of the processor."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
