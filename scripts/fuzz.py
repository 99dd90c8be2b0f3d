"""Feed boostbench with generated, mostly damaged input, and count the outcomes.

::

    python scripts/fuzz.py --share 0.001                    # a thousandth, about two minutes
    python scripts/fuzz.py --log fuzz.jsonl                 # all pieces; a second call continues
    python scripts/fuzz.py --seconds 60 --only tables --start 7000000

Each piece must be accepted, or refused in one line, within ten CPU seconds and within the memory
of `bench_memory.py`: an allowance plus ten times the size of its files. Any other outcome is
printed and counted, and gives exit code 1. Pieces are numbered, and a number is the same piece on
every machine (`tests/fuzzing.py` makes them).
"""

import argparse
import ctypes
import json
import logging
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import fuzzing
import hostile
from bench_memory import ALLOWANCE
from bench_memory import LIMIT as MULTIPLE

from boostbench.records.environment import commit

#: Pieces of each kind: a million files and records, ten thousand values.
GOALS = {
    "data files": 320_000,
    "long data files": 2_000,
    "texts as data files": 250_000,
    "files of records": 300_000,
    "findings": 130_000,
    "nested records": 5_000,
    "values of configs": 10_000,
    "command lines": 1_000,
    "tables": 10_000,
    "figures": 10_000,
    "hostile tables": 3_000,
    "hostile figures": 1_000,
    "hostile folders of configs": 1_500,
    "hostile command lines": 1_500,
    "hostile calls": 3_000,
    "hostile bundles": 500,
    "hostile records": 500,
}
_ALL = fuzzing.ALL | hostile.ALL
#: CPU seconds for a piece at most.
LIMIT = 10
#: Pieces in a batch, which is a line of the log; the clock is read after each batch.
BATCH = 100
_RESET_PEAK = "5"  # see proc(5), clear_refs


class Hanging(BaseException):
    """A piece took longer than `LIMIT`."""


def main() -> int:
    """Run the pieces; return 1 if one escaped."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--share", type=float, default=1, help="of all pieces; default 1")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="at most so long")
    parser.add_argument("--only", choices=list(GOALS), help="one kind of input")
    parser.add_argument("--start", type=int, default=0, help="number of the first; default 0")
    parser.add_argument("--log", type=Path, help="file of what has run, which does not run again")
    args = parser.parse_args()
    done = Progress(args.log)
    kinds = [args.only] if args.only else list(GOALS)
    goals = {kind: max(BATCH, round(args.share * GOALS[kind])) for kind in kinds}
    end = time.monotonic() + args.seconds
    logging.disable()
    signal.signal(signal.SIGPROF, _alarm)
    with fuzzing.quarantine() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while time.monotonic() < end:
            kind = min(goals, key=lambda kind: done.pieces[kind] / goals[kind])
            if done.pieces[kind] >= goals[kind]:
                break
            done.add(kind, run(kind, args.start + done.pieces[kind], folder / "own"))
    for kind in kinds:
        print(done.line(kind), flush=True)
    print(f"of {sum(done.pieces.values())} pieces, escaped: {done.escaped}")
    return int(done.escaped > 0)


class Progress:
    """Outcomes of the pieces so far, by kind."""

    def __init__(self, log: Path | None):
        self.log = log and log.absolute()
        self.counts = {kind: Counter() for kind in GOALS}
        self.pieces: Counter = Counter()
        self.most: Counter = Counter()
        for line in self.log.read_text().splitlines() if log and log.exists() else ():
            self._count(**json.loads(line))

    def add(self, kind: str, found: dict) -> None:
        """Add the counts of a batch."""
        self._count(kind, **found)
        if self.log:
            with self.log.open("a") as file:
                file.write(json.dumps({"kind": kind, **found, "commit": commit()}) + "\n")

    def _count(self, kind, start, counts, kb, commit=None) -> None:
        self.counts[kind].update(counts)
        self.pieces[kind] += sum(counts.values())
        self.most[kind] = max(self.most[kind], kb)

    @property
    def escaped(self) -> int:
        """Number of pieces that were neither accepted nor refused in one line."""
        return sum(counts["escaped"] for counts in self.counts.values())

    def line(self, kind: str) -> str:
        """Return a line with the counts of a kind."""
        told = ", ".join(f"{n} {what}" for what, n in sorted(self.counts[kind].items()))
        return f"{kind}: {self.pieces[kind]}, up to {self.most[kind] / 1e3:.0f} MB: {told}"


def run(kind: str, start: int, own: Path) -> dict:
    """Run a batch of pieces, and return the counts of their outcomes."""
    counts: Counter = Counter()
    most = 0
    for number in range(start, start + BATCH):
        own.mkdir()
        # The alarm repeats each second, in case the code under test catches the exception.
        signal.setitimer(signal.ITIMER_PROF, LIMIT, 1)
        try:
            kb, became = measured(_ALL[kind], own, number)
            counts[became] += 1
            most = max(most, kb)
        except (Exception, Hanging) as error:
            counts["escaped"] += 1
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
            print(f"{kind}, number {number}: {where}: {str(error)[:300]!r}", flush=True)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            shutil.rmtree(own, ignore_errors=True)
    return {"start": start, "counts": counts, "kb": most}


def measured(function: Callable, own: Path, number: int) -> tuple[int, str]:
    """Run a piece; return its peak memory in kilobytes and its outcome."""
    if number % BATCH == 0:
        ctypes.CDLL(None).malloc_trim(0)  # so that what others have left does not hide them
    Path("/proc/self/clear_refs").write_text(_RESET_PEAK)
    before = _memory("VmRSS")
    became = function(own, number)
    taken = max(_memory("VmHWM") - before, 0)
    size = sum(file.stat().st_size for file in own.rglob("*") if file.is_file())
    if 1024 * taken > MULTIPLE * size + ALLOWANCE:
        raise MemoryError(f"{taken} kB for files of {size} bytes")
    return taken, became


def _memory(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0])


def _alarm(number, frame):
    raise Hanging(f"more than {LIMIT} CPU seconds")


if __name__ == "__main__":
    sys.exit(main())
