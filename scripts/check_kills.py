"""Kill runs at random moments, continue them, and compare with an undisturbed run.

::

    python scripts/check_kills.py --kills 20 --backends loky,dask,serial

Each experiment is a tuned run of a small classifier. It gets SIGKILL, SIGTERM or SIGINT after a
random number of records, once or twice, with two worker processes or none. Workers of Dask belong
to a scheduler on the loopback interface and stay. Runs are forks of this process, as the imports
take longer than such a run. The script counts lost records, torn lines that are not repaired,
duplicated keys, processes that outlive their parent, and results that differ from the undisturbed
run.
"""

import argparse
import atexit
import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import sklearn.ensemble  # noqa: F401  imported before runs are forked
from bench_overhead import cluster

import boostbench.execution.jobs  # noqa: F401  imported before runs are forked
from boostbench.cli import main
from boostbench.records.store import read_records, record_paths

_ASKED = [
    *("run", "data=wine", "algo._target_=sklearn.ensemble.RandomForestClassifier"),
    *("+algo.n_estimators=20", "+algo.grid={max_depth: [1, 2, 3]}", "protocol.tune=every_split"),
    *("protocol.n_folds=2", "protocol.n_splits=5"),
]
_BACKENDS = {
    "serial": ["parallel=serial"],
    "loky": ["parallel=joblib", "parallel.n_jobs=2"],
    "dask": ["parallel=dask"],
}
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: Seconds that workers have to see that their parent is gone.
_PATIENCE = 90
WRONG = ("lost", "torn", "twice", "orphans", "unlike")


class Run:
    """A run in a new process group."""

    def __init__(self, results: Path, backend: str, *more: str):
        self.pid = os.fork()
        if self.pid:
            return
        code = 1
        try:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nowhere, stream)
            code = main([*_ASKED, *_BACKENDS[backend], *more, f"results={results}"])
            threading._shutdown()
            atexit._run_exitfuncs()
        finally:
            os._exit(code)

    def wait(self) -> None:
        """Wait until it has ended."""
        if self.pid:
            os.waitpid(self.pid, 0)
            self.pid = 0

    def is_over(self) -> bool:
        """Whether it has ended."""
        if self.pid and os.waitpid(self.pid, os.WNOHANG)[0]:
            self.pid = 0
        return not self.pid


def look(results: Path) -> tuple[dict, int]:
    """Return the compared part of each record by its key, and the number of bad lines."""
    found, n_bad = {}, 0
    for path in record_paths(results):
        records, warnings = read_records(path)
        n_bad += len(warnings)
        for record in records:
            names = ("test_error", "validation_error", "chosen", "digests", "digest", "error")
            found[path.name, record.key] = tuple(str(record.get(name)) for name in names)
    return found, n_bad


def count_lines(results: Path) -> int:
    """Count the lines that are records."""
    files = record_paths(results)
    return sum(path.read_bytes().count(b'"schema":2') for path in files)


def outlives(group: int) -> bool:
    """Whether processes of a group are left after a while; they are ended then."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.2)
    os.killpg(group, signal.SIGKILL)
    return True


def check() -> int:
    """Kill, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=10, help="of each backend; default 10")
    parser.add_argument("--backends", default="serial,loky,dask", help="default: all three")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    args = parser.parse_args()
    chance, failed = random.Random(args.seed), 0
    with folder() as top:
        Run(top / "alone", "serial").wait()
        alone, _ = look(top / "alone")
        print(f"left alone: {len(alone)} records", flush=True)
        for backend in args.backends.split(","):
            counts: Counter = Counter()
            with contextlib.ExitStack() as stack:
                more = []
                if backend == "dask":
                    address, _ = stack.enter_context(cluster(str(top)))
                    more = [f"parallel.scheduler={address}"]
                while counts["signals"] < args.kills:
                    results = top / f"{backend}{counts['experiments']}"
                    counts["experiments"] += 1
                    experiment(results, backend, more, len(alone), chance, counts)
                    Run(results, backend, *more).wait()
                    counts["unlike"] += look(results) != (alone, 0)
                    counts["twice"] += count_lines(results) != len(alone)
                    if counts["experiments"] % 3 == 0:
                        print(told(backend, counts), flush=True)
            print(told(backend, counts), flush=True)
            failed += sum(counts[name] for name in WRONG)
    return int(failed > 0)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Make a folder for a while, which forks do not take away at their end."""
    path = Path(tempfile.mkdtemp())
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def told(backend: str, counts: Counter) -> str:
    """Return a sentence with the counts."""
    kinds = ", ".join(f"{counts[one.name]} {one.name}" for one in _SIGNALS)
    wrong = ", ".join(f"{counts[name]} {name}" for name in WRONG)
    return (
        f"{backend}: {counts['signals']} signals ({kinds}) in {counts['experiments']} experiments, "
        f"{counts['partial']} with some but not all records: {wrong}"
    )


def experiment(results: Path, backend: str, more, n_records: int, chance, counts: Counter):
    """Start a run and signal it, once or twice, when some of its records are there."""
    before: dict = {}
    for _ in range(chance.choice([1, 2])):
        first = Run(results, backend, *more)
        group, enough = first.pid, chance.randrange(n_records)
        while count_lines(results) < enough and not first.is_over():
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.3))
        if not first.is_over():
            kind = chance.choice(_SIGNALS)
            os.kill(group, kind)
            counts["signals"] += 1
            counts[kind.name] += 1
        first.wait()
        counts["orphans"] += outlives(group)
        now, n_bad = look(results)
        counts["torn"] += n_bad
        counts["lost"] += any(now.get(key) != value for key, value in before.items())
        counts["partial"] += 0 < len(now) < n_records
        before = now


if __name__ == "__main__":
    sys.exit(check())
