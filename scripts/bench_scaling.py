"""Show that a round of MCBoost costs in proportion to samples, features and classes, on one core.

One of the three is varied at a time, on synthetic data: features of 256 values, as pixels have, and
of values that are all different. Each line is a process of its own, so that its peak of memory can
be told. With --largest comes the largest data set, 60 000 samples with 2 000 features of 256 values
in 10 classes, which is allowed 16 GiB. With values that are all different it would take more, about
160 bytes each, until `max_bins` makes them few.

    python scripts/bench_scaling.py [pixels|distinct] [--largest]
"""

import resource
import sys

import numpy as np
from timing import in_a_process, peak, print_table, timed

from boostbench.algorithms import MCBoost

BASE = {"m": 7500, "d": 250, "k": 10}
VARIED = {
    "m": [7500, 15_000, 30_000, 60_000],
    "d": [125, 250, 500, 1000, 2000],
    "k": [5, 10, 20, 40],
}
LARGEST = {"m": 60_000, "d": 2000, "k": 10}
MEMORY = 16 * 2**30
VALUES = {"pixels": 256, "distinct": None}
# Rounds are timed until they have taken that many CPU seconds, the first one apart.
SECONDS, MIN_ROUNDS, MAX_ROUNDS = 2.0, 3, 20


def main(arguments):
    """Print a table for each kind of values."""
    for kind in [kind for kind in VALUES if kind in arguments] or VALUES:
        print(f"\n{kind}:")
        rows = []
        for name, sizes in VARIED.items():
            points = [BASE | {name: size} for size in sizes]
            results = [in_a_process(measure, kind, **point) for point in points]
            slope = np.polyfit(np.log(sizes), np.log([ms for ms, *_ in results]), 1)[0]
            rows += lines(points, results)
            rows[-1][-1] = f"{name}: {slope:.2f}"
        if "--largest" in arguments and kind == "pixels":
            rows += lines([LARGEST], [in_a_process(measure, kind, **LARGEST)])
        headers = [*BASE, "ms per\nround", "ns per\nm d k", "setup\ns", "peak\nGiB", "slope"]
        print_table(headers, rows)


def lines(points, results):
    """Lay out points and what was measured there."""
    rows = []
    for point, (ms, setup, gigabytes) in zip(points, results, strict=True):
        of_value = ms * 1e6 / np.prod(list(point.values()), dtype=float)
        measured = f"{ms:.2f}", f"{of_value:.2f}", f"{setup:.1f}", f"{gigabytes:.2f}"
        rows.append([*point.values(), *measured, ""])
    return rows


def measure(kind, m, d, k):
    """Return milliseconds per round, seconds before the first, and the peak of memory in GiB."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    rng = np.random.default_rng(0)
    X = np.empty((m, d))
    for feature in X.T:
        values = rng.integers(VALUES[kind], size=m) if VALUES[kind] else rng.random(m)
        feature[:] = values
    labels = rng.integers(k, size=m)
    model = MCBoost()
    model.classes_ = np.arange(k)
    setup, master = timed(model._make_master, X, labels, None)

    def one_round():
        master.correct(master.generate())

    one_round()
    rounds = []
    while len(rounds) < MIN_ROUNDS or (sum(rounds) < SECONDS and len(rounds) < MAX_ROUNDS):
        rounds.append(timed(one_round)[0])
    return 1e3 * min(rounds), setup, peak()


if __name__ == "__main__":
    main(sys.argv[1:])
