"""Compare MultiBoost's test errors by the way its coefficients are found, and how far it goes.

Ours goes by Newton's method, as far as the next stump needs; the MCBoost paper's by L-BFGS-B with
100 iterations at most. The last line has one iteration a round instead, and no end before the last
round.

    python scripts/study_multiboost.py [NAME[:SAMPLES_PER_CLASS]] [--splits N]
"""

import argparse

import lbfgsb
import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from timing import parts

from boostbench.algorithms import MultiBoost
from boostbench.core.losses.margin import get_loss
from boostbench.core.losses.pairwise import PairwiseLoss
from boostbench.core.weak.stumps import Stumps, StumpSearch

N_ROUNDS = 500


def main():
    """Print the mean test error and number of rounds of each way, over the splits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="pendigits:50", help="data set")
    parser.add_argument("--splits", type=int, default=10)
    args = parser.parse_args()
    ways = {
        "Newton, nu = 1e-4": (newton, 1e-4),
        "L-BFGS-B, nu = 1e-4": (stepwise, 1e-4, 100, True),
        "L-BFGS-B, nu = 1e-5, 1 iteration, no stop": (stepwise, 1e-5, 1, False),
    }
    found = {way: [] for way in ways}
    for training, test in parts(args.name, args.splits):
        for way, (fit, *how) in ways.items():
            found[way].append(fit(training, test, *how))
    rows = [[way, *np.mean(results, axis=0)] for way, results in found.items()]
    print(tabulate(rows, ["", "error %", "rounds"], floatfmt=".1f"))


def newton(training, test, nu):
    """Return test error in percent and rounds of ours."""
    model = MultiBoost(n_iterations=N_ROUNDS, nu=nu).fit(*training)
    return 100 * (1 - model.score(*test)), model.n_iterations_


def stepwise(training, test, nu, max_iter, stops):
    """Return test error in percent and rounds with the coefficients by L-BFGS-B.

    Without `stops`, stumps whose dual constraint is not violated are added as well.
    """
    (X, y), (X_test, y_test) = training, test
    classes = np.unique(y)
    own = classes[:, None] == y
    search = StumpSearch(X)
    stumps, outputs, W, dual = [], [], np.zeros((len(own), 0)), 0.5 * ~own
    for _ in range(N_ROUNDS):
        stump, _, edge = search.best((own * dual.sum(axis=0) - dual).T)
        if stops and edge <= 1.01 * nu * own.size:
            break
        stumps.append(stump)
        outputs.append(stump(X))
        problem = PairwiseLoss(np.array(outputs), own, get_loss("logistic"))
        W = lbfgsb.correct(problem, W, nu, max_iter)
        problem.move(W)
        dual = problem.dual
    scores = Stumps(stumps).outputs(X_test) @ W.T
    return 100 * np.mean(classes[scores.argmax(axis=1)] != y_test), len(stumps)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
