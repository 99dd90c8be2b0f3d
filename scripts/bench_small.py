"""Compare bags of MCBoost with other models on small data: test errors and CPU seconds.

The models are the jointly trained bag, a bag of boosters that are stopped one by one, MCBoost
without a bag and without early stopping, InterpretML's explainable boosting machine (EBM) without
interactions, which is also a bag of sums of step functions, scikit-learn's HistGradientBoosting and
AdaBoost with stumps, and LightGBM. All have their default settings, run on one core, and get the
same stratified splits. The data sets are in `small_sets`.

The settings of the bags were fixed before. `BaggedMCBoost` has the number of members and the
held-out fraction of EBM; its other settings were chosen on the data sets of --tuning, none of which
is among the others.

    python scripts/bench_small.py --splits 10 --data breast_cancer digits
    python scripts/bench_small.py --tuning --models bag
"""

import argparse

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from small_sets import BENCHMARK, TUNING
from timing import error, on_one_core, print_table, timed

from boostbench import BaggedBooster, BaggedMCBoost, MCBoost

try:
    from interpret.glassbox import ExplainableBoostingClassifier
    from lightgbm import LGBMClassifier
except ImportError as error:
    raise SystemExit(f"{error}; install what this compares with: pip install '.[bench]'") from None

MODELS = {
    "bag": lambda: BaggedMCBoost(random_state=0),
    "BaggedBooster": lambda: BaggedBooster(random_state=0),
    "MCBoost": lambda: MCBoost(loss="logistic"),
    "EBM": lambda: ExplainableBoostingClassifier(interactions=0, n_jobs=1, random_state=0),
    "HistGB": lambda: HistGradientBoostingClassifier(random_state=0),
    "LightGBM": lambda: LGBMClassifier(n_jobs=1, verbosity=-1, random_state=0),
    "AdaBoost": lambda: AdaBoostClassifier(random_state=0),
}


def main():
    """Print a row for each data set, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    all_sets = BENCHMARK | TUNING
    parser.add_argument("--data", nargs="+", choices=all_sets, metavar="NAME")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument(
        "--tuning", action="store_true", help="the sets that the settings were chosen on"
    )
    arguments = parser.parse_args()
    rows, means = [], []
    for name in arguments.data or (TUNING if arguments.tuning else BENCHMARK):
        splits = [all_sets[name].split(seed) for seed in range(arguments.splits)]
        results = [compare(*split, arguments.models) for split in splits]
        mean = np.mean(results, axis=0)
        means.append(mean)
        X, _, y, _ = splits[0]
        rows.append([name, *X.shape, y.max() + 1, *(f"{e:.1f}, {s:.2f}" for e, s in mean)])
        print(*rows[-1], flush=True)
    errors, seconds = np.moveaxis(means, 2, 0)
    errors, seconds = errors.mean(axis=0), np.exp(np.log(seconds).mean(axis=0))
    total = [f"{e:.2f}, {s:.2f}" for e, s in zip(errors, seconds, strict=True)]
    rows.append(["mean, geometric mean", "", "", "", *total])
    headers = ["data", "m", "d", "k", *(f"{name}\n%, s" for name in arguments.models)]
    print_table(headers, rows, "github")


def compare(X, X_test, y, y_test, models):
    """Return the test error in percent and the CPU seconds of the fit of each model."""
    results = []
    for name in models:
        seconds, model = timed(MODELS[name]().fit, X, y)
        results.append((error(model, X_test, y_test), seconds))
    return results


if __name__ == "__main__":
    on_one_core(main)
