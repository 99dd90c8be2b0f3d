"""Compare bags of MCBoost with what people use on small data: test errors and CPU seconds.

The bag whose members are trained together; a bag of the boosters as they are, each stopped by
itself; MCBoost without a bag and without early stopping; InterpretML's explainable boosting
machine (EBM) without interactions, which is a bag of sums of step functions too; scikit-learn's
HistGradientBoosting and AdaBoost with stumps; LightGBM. All are as by default, on one core, and
take the same stratified splits. The sets are in `small_sets`.

The settings of the bags were fixed before. Of `BaggedMCBoost`, the number of members and the part
that is held out are those of the EBM; the rest was chosen on the sets of --tuning, none of which is
among the others.

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
    known = BENCHMARK | TUNING
    parser.add_argument("--data", nargs="+", choices=known, metavar="NAME")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--tuning", action="store_true", help="the sets that settings come from")
    arguments = parser.parse_args()
    rows, means = [], []
    for name in arguments.data or (TUNING if arguments.tuning else BENCHMARK):
        splits = [known[name].split(seed) for seed in range(arguments.splits)]
        found = [compare(*split, arguments.models) for split in splits]
        mean = np.mean(found, axis=0)
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
    found = []
    for name in models:
        seconds, model = timed(MODELS[name]().fit, X, y)
        found.append((error(model, X_test, y_test), seconds))
    return found


if __name__ == "__main__":
    on_one_core(main)
