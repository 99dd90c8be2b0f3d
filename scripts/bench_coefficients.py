"""Time step 4, the coefficients: MCBoost's of one round at a time against MultiBoost's of all.

MultiBoost is timed twice: by Newton's method, no further than the next stump needs, and by L-BFGS
(100 iterations at most, as in the MCBoost paper, from the coefficients of the round before). It
ends where no constraint is violated any more, often long before 500 rounds: how many columns it has
found stands beside the times.

    python scripts/bench_coefficients.py [NAME[:SAMPLES_PER_CLASS] ...]
"""

import sys

from timing import on_one_core, print_table, training_part

from boostbench.algorithms import MCBoost, MultiBoost

DATA = ["vehicle", "pendigits:50", "letter:50"]
N_ROUNDS = 500
# A strong and a weak one of the paper's grid.
NUS = [1e-4, 1e-6]
SOLVERS = {"newton": {}, "lbfgs": {"solver": "lbfgs", "solver_iterations": 100}}
REPEATS = 5


def main(names):
    """Print a row per data set and nu: rounds and step 4 of MCBoost; columns, step 4 of both."""
    rows = []
    for name in names:
        X, y = training_part(name)
        fits = [MCBoost(n_iterations=N_ROUNDS).fit(X, y) for _ in range(REPEATS)]
        ours = min(fit.coefficient_time_ for fit in fits)
        for nu in NUS:
            row = [name, fits[0].n_iterations_, f"{ours:.3f}", f"{nu:g}"]
            for params in SOLVERS.values():
                model = MultiBoost(n_iterations=N_ROUNDS, nu=nu, **params).fit(X, y)
                seconds = model.coefficient_time_
                row += [model.n_iterations_, f"{seconds:.1f}", f"{seconds / ours:.0f}"]
            rows.append(row)
    headers = ["data", "T", "ours\ns", "nu"]
    for solver in ("Newton", "L-BFGS"):
        headers += ["cols", f"{solver}\ns", "ratio"]
    print_table(headers, rows)


if __name__ == "__main__":
    on_one_core(main, sys.argv[1:] or DATA)
