"""Kill runs at any moment, go on, and compare with a run that was left alone.

::

    python scripts/check_kills.py --kills 20 --backends loky,dask,serial

Each experiment is a tuned run of a small classifier. It gets SIGKILL, SIGTERM or SIGINT when a
random number of its records is there, once or twice, with two worker processes or none. Counted
are records that a later look no longer finds, torn lines that do not mend, keys that occur twice,
processes that outlive their parent, and results that are not those of the run that was left
alone.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from boostbench.experiment.records import read, record_paths

_RUN = "import sys; from boostbench.cli import main; sys.exit(main())"
_ASKED = [
    *("run", "data=wine", "algo._target_=sklearn.ensemble.RandomForestClassifier"),
    *("+algo.n_estimators=20", "+algo.grid={max_depth: [1, 2, 3]}", "protocol.tune=every_split"),
    *("protocol.n_folds=2", "protocol.n_splits=5"),
]
_BACKENDS = {
    "serial": ["parallel=serial"],
    "loky": ["parallel=joblib", "parallel.n_jobs=2"],
    "dask": ["parallel=dask", "parallel.n_jobs=2"],
}
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: Seconds that workers have to see that their parent is gone.
_PATIENCE = 90


def start(results: Path, backend: str) -> subprocess.Popen:
    """Start a run in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", _RUN, *_ASKED, *_BACKENDS[backend], f"results={results}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def look(results: Path) -> tuple[dict, int]:
    """Give what counts of each record by its key, and how many bad lines there are."""
    found, n_bad = {}, 0
    for path in record_paths(results):
        records, warnings = read(path)
        n_bad += len(warnings)
        for record in records:
            names = ("test_error", "validation_error", "chosen", "digests", "digest", "error")
            found[path.name, record["key"]] = tuple(str(record.get(name)) for name in names)
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


def main() -> int:
    """Kill, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=10, help="of each backend; default 10")
    parser.add_argument("--backends", default="serial,loky,dask", help="default: all three")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    args = parser.parse_args()
    chance, failed = random.Random(args.seed), 0
    with tempfile.TemporaryDirectory() as top:
        start(Path(top) / "alone", "serial").communicate()
        alone, _ = look(Path(top) / "alone")
        print(f"left alone: {len(alone)} records", flush=True)
        for backend in args.backends.split(","):
            counts: Counter = Counter()
            while counts["signals"] < args.kills:
                results = Path(top) / f"{backend}{counts['experiments']}"
                counts["experiments"] += 1
                experiment(results, backend, len(alone), chance, counts)
                process = start(results, backend)
                process.communicate()
                counts["unlike"] += look(results) != (alone, 0)
                counts["twice"] += count_lines(results) != len(alone)
            wrong = {name: counts[name] for name in ("lost", "torn", "twice", "orphans", "unlike")}
            failed += sum(wrong.values())
            kinds = ", ".join(f"{counts[one.name]} {one.name}" for one in _SIGNALS)
            told = ", ".join(f"{count} {name}" for name, count in wrong.items())
            print(
                f"{backend}: {counts['signals']} signals ({kinds}) in {counts['experiments']} "
                f"experiments, {counts['partial']} with some but not all records: {told}",
                flush=True,
            )
    return int(failed > 0)


def experiment(results: Path, backend: str, n_records: int, chance, counts: Counter):
    """Start a run and signal it, once or twice, when some of its records are there."""
    before: dict = {}
    for _ in range(chance.choice([1, 2])):
        process = start(results, backend)
        enough = chance.randrange(n_records)
        while count_lines(results) < enough and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.3))
        if process.poll() is None:
            kind = chance.choice(_SIGNALS)
            process.send_signal(kind)
            counts["signals"] += 1
            counts[kind.name] += 1
        process.communicate()
        counts["orphans"] += outlives(process.pid)
        now, n_bad = look(results)
        counts["torn"] += n_bad
        counts["lost"] += any(now.get(key) != value for key, value in before.items())
        counts["partial"] += 0 < len(now) < n_records
        before = now


if __name__ == "__main__":
    sys.exit(main())
