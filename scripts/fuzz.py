"""Feed boostbench with generated input, most of it damaged, and count what becomes of it.

::

    python scripts/fuzz.py --seconds 600
    python scripts/fuzz.py --seconds 60 --only tables --seed 7

Each piece has to be taken or refused in one line within ten CPU seconds; what else happens is
printed and counted as escaped or as hanging. The exit code says whether there was any.
`tests/fuzzing.py` makes the pieces. `scripts/bench_memory.py` measures the memory that reading a
file takes.
"""

import argparse
import itertools
import logging
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import fuzzing

#: CPU seconds that a piece may take.
LIMIT = 10
#: Pieces that are generated at once.
BATCH = 200
#: Shares of the time.
SHARES = {"values of configs": 4, "command lines": 3, "tables": 2}


class Hanging(BaseException):
    """A piece took longer than `LIMIT`."""


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="in all; default 60")
    parser.add_argument("--seed", type=int, default=0, help="where to begin; default 0")
    parser.add_argument("--only", choices=list(fuzzing.ALL), help="one kind of input")
    args = parser.parse_args()
    kinds = [args.only] if args.only else list(fuzzing.ALL)
    whole = sum(SHARES.get(kind, 1) for kind in kinds)
    logging.disable()
    signal.signal(signal.SIGPROF, _alarm)
    escaped = Counter()
    with fuzzing.quarantine() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in kinds:
            budget = args.seconds * SHARES.get(kind, 1) / whole
            counts, spent = _run(kind, budget, args.seed, folder, escaped)
            n = sum(counts.values())
            told = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
            print(f"{kind}: {n} in {spent:.0f} s: {told}", flush=True)
    for (kind, where), count in escaped.most_common():
        print(f"  {count} x {kind}: {where}")
    print(f"escaped or hanging in all: {sum(escaped.values())}")
    return int(bool(escaped))


def _run(kind: str, budget: float, start: int, folder: Path, escaped: Counter):
    strategy, function = fuzzing.ALL[kind]
    counts: Counter = Counter()
    begin, own = time.monotonic(), folder / "own"

    def take(case):
        if time.monotonic() - begin > budget:
            return
        own.mkdir()
        # Once more each second, should something swallow it.
        signal.setitimer(signal.ITIMER_PROF, LIMIT, 1)
        try:
            counts[function(own, case)] += 1
        except (Exception, Hanging) as error:
            counts["escaped"] += 1
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
            if (kind, where) not in escaped:
                print(f"{kind}: {where}: {str(error)[:300]!r}\n  {case!r}"[:1500], flush=True)
            escaped[kind, where] += 1
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            shutil.rmtree(own, ignore_errors=True)

    options = settings(
        max_examples=BATCH,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for batch in itertools.count(start):
        if time.monotonic() - begin > budget:
            return counts, time.monotonic() - begin
        seed(batch)(options(given(strategy)(take)))()


def _alarm(number, frame):
    raise Hanging(f"more than {LIMIT} CPU seconds")


if __name__ == "__main__":
    sys.exit(main())
