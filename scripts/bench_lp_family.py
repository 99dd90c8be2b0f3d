"""Time NM-Boost, LPBoost and ERLPBoost against colboost, on one core, and compare their objectives.

colboost solves its programs with Gurobi, whose free licence is for small programs. It is no
dependency of this project: `pip install colboost`, somewhere on the path, adds its columns to the
table. Both packages do the same number of rounds with the stump of the largest edge for the weights
of the samples. These weights need not be unique, so that the stumps may differ. The objectives are
the optimal values of our program and of colboost's program for the stumps that colboost found.

    python scripts/bench_lp_family.py [--largest]
"""

import sys

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from timing import error, on_one_core, parts, print_table, timed

from boostbench.algorithms import ERLPBoost, LPBoost, NMBoost
from boostbench.core.solvers.entropy_margin import EntropyMarginProgram
from boostbench.core.solvers.linear_programs import NegativeMarginProgram, SoftMarginProgram
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stumps

try:
    from colboost.ensemble import EnsembleClassifier
except ImportError:
    EnsembleClassifier = None

DATA = ["sonar", "heart"]
LARGEST = ["german", "image"]
ROUNDS = 30
# Parameters that are not tuned: C of NM-Boost and of LPBoost, and nu of ERLPBoost.
NM_C = 0.01
LP_C = 0.1
NU = 0.1


class Stump(ClassifierMixin, BaseEstimator):
    """Our search as a weak learner of colboost, which sorts the features in every round."""

    seconds = 0.0

    def fit(self, X, y, sample_weight):
        """Find the stump of the largest edge."""
        self.classes_ = np.array([-1, 1])
        seconds, result = timed(lambda: StumpSearch(X).best((y * sample_weight)[:, None]))
        self.stumps_ = Stumps([result.learner])
        Stump.seconds += seconds
        return self

    def predict(self, X):
        """Return -1 or +1 for each sample."""
        return self.stumps_.outputs(X)[:, 0]


def eta(n_samples):
    """Return the parameter eta of ERLPBoost, which colboost 0.1.5 does not let users change."""
    return np.log(n_samples) / 0.495


def family(n):
    """Return the algorithms for n samples, by colboost's name of their solver.

    An algorithm is a tuple: our estimator, a function that makes our program, colboost's parameter,
    and a function that turns our optimal value into colboost's.
    """
    epsilon = 2 * np.log(1 / NU) / eta(n)
    even = np.ones(n)
    return {
        "nm_boost": (
            NMBoost(ROUNDS, C=NM_C),
            lambda: NegativeMarginProgram(even, NM_C),
            NM_C,
            lambda value: -n * value,
        ),
        "lp_boost": (
            LPBoost(ROUNDS, C=LP_C),
            lambda: SoftMarginProgram(n, LP_C),
            LP_C,
            lambda value: value,
        ),
        # colboost has the entropy of the weights, and we have it relative to equal weights.
        "erlp_boost": (
            ERLPBoost(ROUNDS, nu=NU, epsilon=epsilon, tol=0.0),
            lambda: EntropyMarginProgram(even, NU, eta(n)),
            NU * n,
            lambda value: value - np.log(n) / eta(n),
        ),
    }


def solve(program, margins):
    """Add the weak learners one by one, and return the program."""
    for column in margins:
        program.add(column)
    return program


def fit_colboost(solver, parameter, X, y):
    """Return the CPU seconds of colboost without its weak learners, and the fitted model.

    If it fails, return None and the text of its error.
    """
    Stump.seconds = 0.0
    model = EnsembleClassifier(
        solver=solver,
        base_estimator=Stump(),
        max_iter=ROUNDS,
        check_dual_const=False,
        early_stopping=False,
        tradeoff_hyperparam=parameter,
    )
    try:
        seconds, fitted = timed(model.fit, X, y)
    except Exception as failure:  # Gurobi's errors have no base class outside of gurobipy
        return None, f"{type(failure).__name__}: {failure}"
    return seconds - Stump.seconds, fitted


def main(names):
    """Print a row for each data set and algorithm."""
    if EnsembleClassifier is None:
        print("colboost is not installed: ours alone")
    rows, failures = [], []
    for name in names:
        (X, labels), (X_test, labels_test) = parts(name)[0]
        y, y_test = (np.where(part == labels.max(), 1, -1) for part in (labels, labels_test))
        for solver, (model, program, parameter, as_theirs) in family(len(y)).items():
            seconds, fitted = timed(model.fit, X, y)
            row = [name, len(y), type(model).__name__, fitted.n_iterations_, f"{seconds:.3f}"]
            row += [f"{error(fitted, X_test, y_test):.1f}"]
            if EnsembleClassifier is not None:
                seconds_theirs, other = fit_colboost(solver, parameter, X, y)
                if seconds_theirs is None:
                    failures.append(f"{name}, colboost's {solver}: {other}")
                else:
                    margins = [y * learner.predict(X) for learner in other.learners]
                    seconds_program, ours = timed(solve, program(), margins)
                    wrong = error(other, X_test, y_test)
                    row += [other.n_iter_, f"{seconds_theirs:.2f}", f"{wrong:.1f}"]
                    row += [f"{seconds_theirs / seconds:.0f}", f"{sum(other.solve_times_):.3f}"]
                    row += [f"{seconds_program:.3f}", f"{other.objective_values_[-1]:.7f}"]
                    row += [f"{as_theirs(ours.value):.7f}"]
            rows.append(row)
            print(row, file=sys.stderr)
    headers = ["data", "samples", "algorithm", "rounds", "seconds", "test %"]
    if EnsembleClassifier is not None:
        headers += ["colboost\nrounds", "seconds", "test %", "ratio"]
        headers += ["Gurobi alone\nseconds", "our program\nseconds"]
        headers += ["objective\ncolboost", "ours"]
    print_table(headers, rows)
    print(*failures, sep="\n")


if __name__ == "__main__":
    on_one_core(main, DATA + LARGEST if "--largest" in sys.argv[1:] else DATA)
