"""Time CGENS against LPBoost, on one core: odd against even digits of MNIST, as CGENS's Fig. 2.

LPBoost goes on from its last linear program by HiGHS's dual simplex method, which is far faster
than from nothing each time. Both search the same stumps; the times are of whole fits.

    python scripts/bench_lpboost.py [--largest]
"""

import sys
import time

import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits

from boostbench import configs, data
from boostbench.algorithms import CGENS, LPBoost

# Samples and rounds. The largest are the paper's, of which LPBoost takes many minutes.
SIZES = [(1_000, 100), (10_000, 100)]
LARGEST = [(10_000, 500), (60_000, 100)]
# Errors of the training part are alike with these, and no run ends before its last round.
CGENS_C, LPBOOST_C = 0.01, 0.01


def seconds(model, X, y):
    """CPU seconds of a fit, and the fitted model."""
    started = time.process_time()
    model.fit(X, y)
    return time.process_time() - started, model


def main(sizes):
    """Print a row for each size."""
    dataset = data.load(configs.read("data", "mnist"))
    order = np.random.default_rng(0).permutation(60_000)
    rows = []
    for n_samples, n_rounds in sizes:
        chosen = order[:n_samples]
        X, y = dataset.X[chosen], dataset.y[chosen] % 2
        X_test, y_test = dataset.X[60_000:], dataset.y[60_000:] % 2
        row = [n_samples, n_rounds]
        taken = []
        for model in (CGENS(n_rounds, CGENS_C), LPBoost(n_rounds, LPBOOST_C)):
            time_taken, fitted = seconds(model, X, y)
            taken.append(time_taken)
            error = 100 * (1 - fitted.score(X_test, y_test))
            row += [fitted.n_iterations_, f"{time_taken:.2f}", f"{error:.1f}"]
        rows.append([*row, f"{taken[1] / taken[0]:.0f}"])
        print(rows[-1], file=sys.stderr)
    headers = ["samples", "rounds"]
    for name in ("CGENS", "LPBoost"):
        headers += [f"{name}\nrounds", "seconds", "test %"]
    print(tabulate(rows, [*headers, "ratio"], disable_numparse=True))


if __name__ == "__main__":
    with threadpool_limits(1):
        main(SIZES + LARGEST if "--largest" in sys.argv[1:] else SIZES)
