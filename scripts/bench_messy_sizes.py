"""Compare MCBoost with LightGBM's stumps on messy tables of several sizes: CPU seconds and errors.

A table has 12 columns: 8 numbers, of which 4 have 10 % missing values, and 4 categories with 5, 20,
60 and 200 levels. The label, of two classes, depends on two numbers and two categories. Both models
take 100 rounds and at most 256 bins, on one thread, in turns; the time is the least of five fits.

    python scripts/bench_messy_sizes.py [--rows 3000 30000 80000]
"""

import argparse

import numpy as np
import pandas as pd
from timing import on_one_core, print_table, timed

from boostbench import MCBoost

try:
    from lightgbm import LGBMClassifier
except ImportError as error:
    raise SystemExit(f"{error}; install what this compares with: pip install '.[bench]'") from None

N_ROUNDS, N_TEST, N_REPEATS = 100, 20_000, 5
LEVELS = 5, 20, 60, 200
MODELS = {
    "MCBoost": lambda: MCBoost(n_iterations=N_ROUNDS, max_bins=256),
    "LightGBM": lambda: LGBMClassifier(
        n_estimators=N_ROUNDS, num_leaves=2, learning_rate=0.3, n_jobs=1, verbosity=-1
    ),
}


def main():
    """Print a row for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[3000, 30_000, 80_000])
    compare(500)  # imports, and the first calls of each library
    rows = [compare(n_rows) for n_rows in parser.parse_args().rows]
    header = ["rows", *(f"{name}, {unit}" for unit in ("s", "error, %") for name in MODELS)]
    print_table([*header, "ratio of seconds"], rows)


def compare(n_rows):
    """Return the number of rows, seconds and errors of both models, and the ratio of seconds."""
    X, y = messy_table(n_rows + N_TEST)
    seconds, errors = dict.fromkeys(MODELS, np.inf), {}
    for _ in range(N_REPEATS):
        for name, model in MODELS.items():
            own, fitted = timed(model().fit, X[:n_rows], y[:n_rows])
            seconds[name] = min(seconds[name], own)
            errors[name] = 100 * np.mean(fitted.predict(X[n_rows:]) != y[n_rows:])
    cells = [f"{value:.3f}" for value in seconds.values()]
    cells += [f"{value:.1f}" for value in errors.values()]
    return [n_rows, *cells, f"{seconds['MCBoost'] / seconds['LightGBM']:.2f}"]


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
