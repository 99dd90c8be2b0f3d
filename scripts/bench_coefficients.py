"""Time step 4, the coefficients: MCBoost's of one round at a time against MultiBoost's of all.

MultiBoost is timed twice: as it is here, by Newton's method and no further than the next stump
needs, and as the MCBoost paper has it, by L-BFGS-B (100 iterations at most, from the coefficients
of the round before) on the same columns. It ends where no constraint is violated any more, often
long before 500 rounds: how many columns it has found stands beside the times.

    python scripts/bench_coefficients.py [NAME[:SAMPLES_PER_CLASS] ...]
"""

import sys
import time

import lbfgsb
import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from timing import training_part

from boostbench.algorithms import MCBoost, MultiBoost
from boostbench.core.losses.margin import get_loss
from boostbench.core.losses.pairwise import PairwiseLoss

DATA = ["vehicle", "pendigits:50", "letter:50"]
N_ROUNDS = 500
# A strong and a weak one of the paper's grid.
NUS = [1e-4, 1e-6]
SOLVER_ITERATIONS = 100
REPEATS = 5


def main(names):
    """Print a row per data set and nu: rounds of MCBoost, columns of MultiBoost, step 4 of both."""
    rows = []
    for name in names:
        X, y = training_part(name)
        fits = [MCBoost(n_iterations=N_ROUNDS).fit(X, y) for _ in range(REPEATS)]
        ours = min(fit.coefficient_time_ for fit in fits)
        for nu in NUS:
            model = MultiBoost(n_iterations=N_ROUNDS, nu=nu).fit(X, y)
            cells = []
            for seconds in (model.coefficient_time_, seconds_of_lbfgsb(model, X, y, nu)):
                cells += [f"{seconds:.1f}", f"{seconds / ours:.0f}"]
            rounds = [fits[0].n_iterations_, model.n_iterations_]
            rows.append([name, *rounds, f"{nu:g}", f"{ours:.3f}", *cells])
    headers = ["data", "T", "cols", "nu", "ours\ns", "Newton\ns", "ratio", "L-BFGS-B\ns", "ratio"]
    print(tabulate(rows, headers, disable_numparse=True))


def seconds_of_lbfgsb(model, X, y, nu):
    """Find the coefficients of the model's columns again, round by round, by L-BFGS-B."""
    H = np.ascontiguousarray(model.hypotheses_.outputs(X).T, dtype=np.float32)
    own = model.classes_[:, None] == y
    started = time.process_time()
    W = np.zeros((len(own), 0))
    for t in range(1, len(H) + 1):
        problem = PairwiseLoss(H[:t], own, get_loss("logistic"))
        W = lbfgsb.correct(problem, W, nu, SOLVER_ITERATIONS)
    return time.process_time() - started


if __name__ == "__main__":
    with threadpool_limits(1):
        main(sys.argv[1:] or DATA)
