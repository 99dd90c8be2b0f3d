"""Time CGENS against LPBoost, on one core: odd against even digits of MNIST, as CGENS's Fig. 2.

LPBoost goes on from its last linear program by HiGHS's dual simplex method, which is far faster
than from nothing each time. Both search the same stumps; the times are of whole fits.

    python scripts/bench_lpboost.py [--largest]
"""

import sys

import numpy as np
from timing import error, on_one_core, print_table, timed

from boostbench import data
from boostbench.algorithms import CGENS, LPBoost
from boostbench.util import configs

# Samples and rounds. The largest are the paper's, of which LPBoost takes many minutes.
SIZES = [(1_000, 100), (10_000, 100)]
LARGEST = [(10_000, 500), (60_000, 100)]
# Errors of the training part are alike with these, and no run ends before its last round.
CGENS_C, LPBOOST_C = 0.01, 0.01


def main(sizes):
    """Print a row for each size."""
    dataset = data.load(configs.read_option("data", "mnist"))
    order = np.random.default_rng(0).permutation(60_000)
    rows = []
    for n_samples, n_rounds in sizes:
        chosen = order[:n_samples]
        X, y = dataset.X[chosen], dataset.y[chosen] % 2
        X_test, y_test = dataset.X[60_000:], dataset.y[60_000:] % 2
        row = [n_samples, n_rounds]
        taken = []
        for model in (CGENS(n_rounds, CGENS_C), LPBoost(n_rounds, LPBOOST_C)):
            seconds, _ = timed(model.fit, X, y)
            taken.append(seconds)
            wrong = error(model, X_test, y_test)
            row += [model.n_iterations_, f"{seconds:.2f}", f"{wrong:.1f}"]
        rows.append([*row, f"{taken[1] / taken[0]:.0f}"])
        print(rows[-1], file=sys.stderr)
    headers = ["samples", "rounds"]
    for name in ("CGENS", "LPBoost"):
        headers += [f"{name}\nrounds", "seconds", "test %"]
    print_table([*headers, "ratio"], rows)


if __name__ == "__main__":
    on_one_core(main, SIZES + LARGEST if "--largest" in sys.argv[1:] else SIZES)
