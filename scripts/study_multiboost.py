"""Compare MultiBoost's test errors by the way its coefficients are found, and how far it goes.

Newton's method goes as far as the next stump needs; L-BFGS has 100 iterations at most, as in the
MCBoost paper. The last line has one iteration of L-BFGS-B a round instead, and no end before the
last round.

    python scripts/study_multiboost.py [NAME[:SAMPLES_PER_CLASS]] [--splits N]
"""

import argparse

import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from timing import parts

from boostbench.algorithms import MultiBoost
from boostbench.core.losses.objective import get_loss
from boostbench.core.losses.restricted_problems import PairwiseLoss, pairwise_weights
from boostbench.core.solvers.lbfgs import scipy_lbfgsb
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stumps

N_ROUNDS = 500


def main():
    """Print the mean test error and number of rounds of each way, over the splits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="pendigits:50", help="data set")
    parser.add_argument("--splits", type=int, default=10)
    args = parser.parse_args()
    paper = {"solver": "lbfgs", "solver_iterations": 100}
    ways = {
        "Newton, nu = 1e-4": (converged, {"nu": 1e-4}),
        "L-BFGS, nu = 1e-4": (converged, {"nu": 1e-4, **paper}),
        "L-BFGS-B, nu = 1e-5, 1 iteration, no stop": (one_iteration_a_round, {"nu": 1e-5}),
    }
    found = {way: [] for way in ways}
    for training, test in parts(args.name, args.splits):
        for way, (fit, params) in ways.items():
            found[way].append(fit(training, test, **params))
    rows = [[way, *np.mean(results, axis=0)] for way, results in found.items()]
    print(tabulate(rows, ["", "error %", "rounds"], floatfmt=".1f"))


def converged(training, test, **params):
    """Return test error in percent and rounds of MultiBoost."""
    model = MultiBoost(n_iterations=N_ROUNDS, **params).fit(*training)
    return 100 * (1 - model.score(*test)), model.n_iterations_


def one_iteration_a_round(training, test, nu):
    """Return the same where stumps are added whether their constraints are violated or not."""
    (X, y), (X_test, y_test) = training, test
    classes = np.unique(y)
    own = classes[:, None] == y
    search = StumpSearch(X)
    stumps, outputs, W, dual = [], [], np.zeros((len(own), 0)), 0.5 * ~own
    for _ in range(N_ROUNDS):
        found = search.best(pairwise_weights(dual.T, own.T))
        stumps.append(found.learner)
        outputs.append(found.outputs)
        problem = PairwiseLoss(np.array(outputs), own, get_loss("logistic"))
        start = np.column_stack([W, np.zeros(len(own))])
        W = scipy_lbfgsb(problem.move, start, nu * own.size, max_iter=1).w
        problem.move(W)
        dual = problem.dual
    scores = Stumps(stumps).outputs(X_test) @ W.T
    return 100 * np.mean(classes[scores.argmax(axis=1)] != y_test), len(stumps)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
