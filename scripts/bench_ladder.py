"""Time LADDER against MCBoost with codewords, and the ranking of hash codes, on one core.

A cycle of LADDER is 2 boosting rounds and 4 codeword steps: 6 steps. It stands beside 2 rounds and
beside 6 rounds of MCBoost. The codes are 8000 queries and a data base of 50 000, of 64 bits.

    python scripts/bench_ladder.py [NAME[:SAMPLES_PER_CLASS] ...]
"""

import sys
import time
from functools import partial

import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from timing import medians, training_part

from boostbench.algorithms import LADDER, CodewordMCBoost
from boostbench.experiment.measures.retrieval import mean_average_precision

DATA = ["vowel", "letter:100", "usps:200"]
N_ROUNDS = 200
CYCLE = 2
STEPS = 6


def main(names):
    """Print a row per data set and dimension, and the seconds of a ranking."""
    rows = []
    for name in names:
        X, y = training_part(name)
        for n_components in (2, len(np.unique(y)) - 1):
            models = [
                model(N_ROUNDS, n_components, random_state=0) for model in (CodewordMCBoost, LADDER)
            ]
            plain, ladder = medians([partial(m.fit, X, y) for m in models], repeats=3) / N_ROUNDS
            cycle = CYCLE * ladder
            ratios = (cycle / (rounds * plain) for rounds in (CYCLE, STEPS))
            times = (f"{1e6 * seconds:.0f}" for seconds in (plain, cycle))
            rows.append([name, *X.shape, n_components, *times, *(f"{r:.2f}" for r in ratios)])
    headers = ["data", "samples", "features", "d", "round us", "cycle us", "of 2", "of 6 rounds"]
    print(tabulate(rows, headers, disable_numparse=True))
    print(f"\nmean average precision of 8000 x 50000 codes: {ranking():.1f} s")


def ranking():
    """Time the mean average precision of random codes."""
    rng = np.random.default_rng(0)
    queries, codes = (rng.random((n, 64)) < 0.5 for n in (8000, 50_000))
    labels = [rng.integers(0, 10, size=n) for n in (8000, 50_000)]
    start = time.process_time()
    mean_average_precision(queries, labels[0], codes, labels[1])
    return time.process_time() - start


if __name__ == "__main__":
    with threadpool_limits(1):
        main(sys.argv[1:] or DATA)
