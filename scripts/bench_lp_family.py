"""Time NM-Boost, LPBoost and ERLPBoost against colboost, on one core, and compare their objectives.

colboost solves by Gurobi, whose licence without payment is for small programs. It is no dependency
of this project: `pip install colboost`, somewhere on the path, for its half of the table. Both do
the same rounds with the stump of the largest edge for the weights of the samples. These need not
be unique, and so stumps differ; the objectives are those of our program and of colboost's for the
stumps that colboost found.

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
# Of each algorithm: nothing is tuned here.
NM_C, LP_C, NU = 0.01, 0.1, 0.1


class Stump(ClassifierMixin, BaseEstimator):
    """Our search as a weak learner of colboost's, which has no place to keep what was sorted."""

    seconds = 0.0

    def fit(self, X, y, sample_weight):
        """Find the stump of the largest edge."""
        self.classes_ = np.array([-1, 1])
        seconds, found = timed(lambda: StumpSearch(X).best((y * sample_weight)[:, None]))
        self.stumps_ = Stumps([found.learner])
        Stump.seconds += seconds
        return self

    def predict(self, X):
        """Give -1 or +1."""
        return self.stumps_.outputs(X)[:, 0]


def eta(n_samples):
    """The one that ERLPBoost of colboost 0.1.5 has, whatever it is asked for."""
    return np.log(n_samples) / 0.495


def family(n):
    """Estimator, program, colboost's parameter and its objective by our value; for n samples."""
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
        # Their entropy is that of d, ours relative to equal weights.
        "erlp_boost": (
            ERLPBoost(ROUNDS, nu=NU, epsilon=epsilon, tol=0.0),
            lambda: EntropyMarginProgram(even, NU, eta(n)),
            NU * n,
            lambda value: value - np.log(n) / eta(n),
        ),
    }


def solved(program, margins):
    """Add the weak learners one by one."""
    for column in margins:
        program.add(column)
    return program


def theirs(solver, parameter, X, y):
    """Fit colboost, timed without its weak learners; or None and the text of its error."""
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
    except Exception as failure:  # gurobipy's have no base that is there without it
        return None, f"{type(failure).__name__}: {failure}"
    return seconds - Stump.seconds, fitted


def main(names):
    """Print a row for each data set and algorithm."""
    if EnsembleClassifier is None:
        print("colboost is not installed: ours alone")
    rows, failures = [], []
    for name in names:
        (X, labels), (X_test, labels_test) = parts(name)[0]
        y, y_test = (np.where(some == labels.max(), 1, -1) for some in (labels, labels_test))
        for solver, (model, program, parameter, as_theirs) in family(len(y)).items():
            seconds, fitted = timed(model.fit, X, y)
            row = [name, len(y), type(model).__name__, fitted.n_iterations_, f"{seconds:.3f}"]
            row += [f"{error(fitted, X_test, y_test):.1f}"]
            if EnsembleClassifier is not None:
                seconds_theirs, other = theirs(solver, parameter, X, y)
                if seconds_theirs is None:
                    failures.append(f"{name}, colboost's {solver}: {other}")
                else:
                    margins = [y * learner.predict(X) for learner in other.learners]
                    seconds_program, ours = timed(solved, program(), margins)
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
