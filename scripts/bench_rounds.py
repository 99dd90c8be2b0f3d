"""Time a round of AdaBoost.MH against a round of scikit-learn's AdaBoostClassifier, on one core.

Both boost decision stumps: ours one stump with a vote for every class, scikit-learn's SAMME one
tree of depth 1. The two take turns, and the ratio is that of their medians.

    python scripts/bench_rounds.py [NAME[:SAMPLES_PER_CLASS] ...]
"""

import sys
from functools import partial

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from timing import medians, on_one_core, print_table, training_part

from boostbench.algorithms import AdaBoostMH

DATA = ["vowel", "letter:50", "letter", "usps:100"]
N_ROUNDS = 500


def main(names):
    """Print a row per data set."""
    rows = []
    for name in names:
        X, y = training_part(name)
        # scikit-learn has to do fewer rounds on large data to end in time; a round is a round.
        n_peer = max(5, min(N_ROUNDS, 10_000_000 // X.size))
        ours = AdaBoostMH(n_iterations=N_ROUNDS)
        peer = AdaBoostClassifier(n_estimators=n_peer, random_state=0)
        seconds = medians([partial(model.fit, X, y) for model in (ours, peer)], repeats=3)
        per_round = seconds / [ours.n_iterations_, len(peer.estimators_)] * 1e6
        times = (f"{us:.0f}" for us in per_round)
        ratio = f"{per_round[1] / per_round[0]:.1f}"
        rows.append([name, *X.shape, len(np.unique(y)), *times, ratio])
    headers = ["data", "samples", "features", "classes", "MH us", "scikit-learn us", "ratio"]
    print_table(headers, rows)


if __name__ == "__main__":
    on_one_core(main, sys.argv[1:] or DATA)
