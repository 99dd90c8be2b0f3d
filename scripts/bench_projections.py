"""Time RBoost^rank's search in ns per feature x point, in the reference and in the fast mode.

A point is a pair of a sample and a class, a feature a row of the projection matrices.

    python scripts/bench_projections.py [NAME ...]
"""

import sys
from functools import partial

import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from timing import medians, training_part

from boostbench.core.losses.pairwise import pairwise_weights
from boostbench.core.weak.projected import IndependentProjections, PooledProjections

DATA = ["wine", "glass", "vowel"]
N_PROJECTIONS = 20000
N_BINS = 32
POOL_SIZE = 1000


def main(names):
    """Print a row per data set."""
    rows = []
    for name in names:
        X, y = training_part(name)
        classes, labels = np.unique(y, return_inverse=True)
        own = labels[:, None] == np.arange(len(classes))
        G = pairwise_weights(np.where(own, 0.0, np.random.default_rng(0).random(own.shape)), own)
        arguments = (X, len(classes), N_PROJECTIONS, N_BINS, np.random.default_rng(0))
        searches = IndependentProjections(*arguments), PooledProjections(*arguments, POOL_SIZE)
        seconds = medians([partial(search.best, G) for search in searches], repeats=9)
        ns = seconds / (N_PROJECTIONS * own.size) * 1e9
        cells = [*(f"{s * 1e3:.1f}" for s in seconds), *(f"{n:.3f}" for n in ns)]
        rows.append([name, own.size, *cells])
    headers = ["data", "points", "reference ms", "fast ms", "reference ns", "fast ns"]
    print(tabulate(rows, headers, disable_numparse=True))


if __name__ == "__main__":
    with threadpool_limits(1):
        main(sys.argv[1:] or DATA)
