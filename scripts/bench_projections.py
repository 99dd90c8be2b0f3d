"""Time RBoost^rank's search, averaged over a fit, in ns per feature, sample and class.

A whole fit of the reference mode; beside it the same search without bounds, which looks at all
features over all points, on the weights of every 20th round; and a whole fit of the fast mode.

    python scripts/bench_projections.py [NAME ...]
"""

import sys

import numpy as np
from timing import on_one_core, print_table, timed, training_part

from boostbench import RBoostRank
from boostbench.core.learners.projected_stumps import (
    IndependentProjectionSearch,
    PooledProjectionSearch,
)

DATA = ["wine", "glass", "vowel", "pendigits:100"]
EVERY = 20


def main(names):
    """Print a row per data set."""
    rows = []
    for name in names:
        X, y = training_part(name)
        n_points = X.shape[0] * len(np.unique(y))
        unit = RBoostRank().n_projections * n_points * 1e-9
        clocks = [_Clock(IndependentProjectionSearch), _Clock(PooledProjectionSearch)]
        for clock, mode in zip(clocks, ("independent", "pooled"), strict=True):
            with clock:
                RBoostRank(projections=mode, random_state=0).fit(X, y)
        reference, fast = (np.mean(clock.seconds) / unit for clock in clocks)
        plain = np.median(clocks[0].plain) / unit
        cells = plain, reference, plain / reference, fast
        rows.append([name, n_points, len(clocks[0].seconds), *(f"{cell:.3f}" for cell in cells)])
    headers = ["data", "points", "rounds", "all ns", "reference ns", "ratio", "fast ns"]
    print_table(headers, rows)


class _Clock:
    """Measures a kind of search while models are trained."""

    def __init__(self, kind):
        self.kind, self.search = kind, kind._find_largest
        self.seconds, self.plain = [], []

    def __enter__(self):
        def without_bounds(search, G):
            np.abs(search.prefix_sum_search.tables.below(G.T.ravel().astype(np.float32))).argmax()

        def largest(search, G):
            seconds, found = timed(self.search, search, G)
            self.seconds.append(seconds)
            if self.kind is IndependentProjectionSearch and len(self.seconds) % EVERY == 0:
                self.plain.append(timed(without_bounds, search, G)[0])
            return found

        self.kind._find_largest = largest

    def __exit__(self, *exception):
        self.kind._find_largest = self.search


if __name__ == "__main__":
    on_one_core(main, sys.argv[1:] or DATA)
