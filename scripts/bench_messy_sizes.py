"""Compare models on messy tables of several sizes: CPU seconds and errors.

A table has 12 columns: 8 numbers, of which 4 have 10 % missing values, and 4 categories with 5, 20,
60 and 200 levels. The label, of two classes, depends on two numbers and two categories. All models
run on one thread, in turns, and the time is the least of several fits.

- boosters: MCBoost and LightGBM's stumps, 100 rounds and at most 256 bins, five fits.
- bags: BaggedMCBoost and InterpretML's explainable boosting machine (EBM) without interactions, by
  default, two fits.

    python scripts/bench_messy_sizes.py [boosters] [bags] [--rows 3000 30000 80000]
"""

import argparse

import numpy as np
import pandas as pd
from timing import on_one_core, print_table, timed

from boostbench import BaggedMCBoost, MCBoost

try:
    from interpret.glassbox import ExplainableBoostingClassifier
    from lightgbm import LGBMClassifier
except ImportError as error:
    raise SystemExit(f"{error}; install what this compares with: pip install '.[bench]'") from None

N_ROUNDS, N_TEST = 100, 20_000
LEVELS = 5, 20, 60, 200
MODELS = {
    "boosters": {
        "MCBoost": lambda: MCBoost(n_iterations=N_ROUNDS, max_bins=256),
        "LightGBM": lambda: LGBMClassifier(
            n_estimators=N_ROUNDS, num_leaves=2, learning_rate=0.3, n_jobs=1, verbosity=-1
        ),
    },
    "bags": {
        "BaggedMCBoost": lambda: BaggedMCBoost(random_state=0),
        "EBM": lambda: ExplainableBoostingClassifier(interactions=0, n_jobs=1, random_state=0),
    },
}
N_REPEATS = {"boosters": 5, "bags": 2}


def main():
    """Print a table for each pair of models, with a row for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    # argparse of Python 3.11 looks up the empty list, too, if no kind is named.
    parser.add_argument(
        "kinds",
        nargs="*",
        choices=[*MODELS, []],
        metavar="KIND",
        help="boosters or bags; default: both",
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[3000, 30_000, 80_000])
    arguments = parser.parse_args()
    for kind in arguments.kinds or MODELS:
        models = MODELS[kind]
        compare(models, 500)  # imports, and the first calls of each library
        rows = [compare(models, n_rows, N_REPEATS[kind]) for n_rows in arguments.rows]
        header = ["rows", *(f"{name}, {unit}" for unit in ("s", "error, %") for name in models)]
        print_table([*header, "ratio of seconds"], rows)


def compare(models, n_rows, n_repeats=1):
    """Return the number of rows, seconds and errors of two models, and the ratio of seconds."""
    X, y = messy_table(n_rows + N_TEST)
    seconds, errors = dict.fromkeys(models, np.inf), {}
    for _ in range(n_repeats):
        for name, model in models.items():
            fit_seconds, fitted = timed(model().fit, X[:n_rows], y[:n_rows])
            seconds[name] = min(seconds[name], fit_seconds)
            errors[name] = 100 * np.mean(fitted.predict(X[n_rows:]) != y[n_rows:])
    first, second = seconds.values()
    cells = [f"{value:.3f}" for value in (first, second)]
    cells += [f"{value:.1f}" for value in errors.values()]
    return [n_rows, *cells, f"{first / second:.3f}"]


def messy_table(n_rows):
    """Return a data frame and its labels."""
    rng = np.random.default_rng(0)
    columns = {f"number{i}": rng.normal(size=n_rows) for i in range(8)}
    for i, n_levels in enumerate(LEVELS):
        columns[f"category{i}"] = pd.Categorical(rng.integers(0, n_levels, n_rows))
    X = pd.DataFrame(columns)
    score = X.number0 - 0.5 * X.number1**2 + (X.category0.cat.codes == 1)
    score += 1.2 * (X.category2.cat.codes % 7 == 3)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(int)
    X.iloc[:, :4] = X.iloc[:, :4].mask(rng.random((n_rows, 4)) < 0.1)
    return X, y


if __name__ == "__main__":
    on_one_core(main)
