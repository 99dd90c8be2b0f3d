"""Where and when a record was made: versions, processor, commit, time."""

import functools
import importlib.metadata
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import joblib
import numpy as np
import scipy.linalg  # noqa: F401, so that its BLAS is known too
from threadpoolctl import threadpool_info

# To look up all packages that are installed takes as long as to read thousands of records.
_KNOWN = {"boostbench": "boostbench", "sklearn": "scikit-learn"}
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
        ``python`` and the distributions by name to their versions, ``system``, ``cpu`` (model),
        ``n_cores`` (that this process may use), ``blas``.
    """
    distribution = package if package in PACKAGES else distribution_of(package)
    distributions = {*PACKAGES, distribution or "boostbench"}
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
    """Name the operating system and the kind of processor: ``"Linux x86_64"``."""
    return f"{platform.system()} {platform.machine()}"


@functools.cache
def blas() -> str:
    """Name the libraries of linear algebra and their kernels: ``"openblas 0.3.31 Haswell"``.

    A kernel is written for a family of processors, and adds numbers up in an order of its own.
    """
    about = [library for library in threadpool_info() if library["user_api"] == "blas"]
    names = [
        " ".join(
            filter(None, (library["internal_api"], library["version"], library.get("architecture")))
        )
        for library in about
    ]
    if not names:  # threadpoolctl does not see Accelerate, which is a part of macOS
        built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
        names = [f"{built} {platform.mac_ver()[0]}".strip()]
    return ", ".join(sorted(set(names)))


def distribution_of(package: str) -> str | None:
    """Name the distribution that a top-level package was installed from, if it was."""
    if package in _KNOWN:
        return _KNOWN[package]
    return min(_distributions().get(package, []), default=None)


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


@functools.cache
def commit() -> str:
    """Name the code of boostbench by the commit that is checked out, or by the released version.

    Returns
    -------
    str
        The commit, shortened; ``"+"`` after it says that the package has been changed since.
        Where the package is in no git checkout of its own, its version.
    """
    package = Path(__file__).parents[1]
    try:
        _git(package, "ls-files", "--error-unmatch", "__init__.py")
        changed = _git(package, "status", "--porcelain", "--untracked-files=all", "--", ".")
        return _git(package, "rev-parse", "--short=7", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return importlib.metadata.version(package.name)


def now() -> str:
    """Give the time, UTC, as records have it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


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
