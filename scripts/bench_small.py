"""Compare bags of MCBoost with what people use on small data: test errors and CPU seconds.

The bag whose members are trained together; a bag of the boosters as they are, each stopped by
itself; MCBoost without a bag and without early stopping; InterpretML's explainable boosting
machine (EBM) without interactions, which is a bag of sums of step functions too; scikit-learn's
HistGradientBoosting and AdaBoost with stumps; LightGBM. All are as by default, on one core, and
take the same stratified 75/25 splits. No set is in the tables of the five papers; most are drawn by
scikit-learn's generators.

The settings of the bags were fixed before. Of `BaggedMCBoost`, the number of members and the part
that is held out are those of the EBM; the rest was chosen on eight sets of the papers and on sets
that scikit-learn's generators drew with other parameters and seeds.

    python scripts/bench_small.py --splits 10 --data breast_cancer digits
"""

import argparse
import time

import numpy as np
from sklearn import datasets
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from tabulate import tabulate
from threadpoolctl import threadpool_limits

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


def _drawn(n_classes, **params):
    return datasets.make_classification(
        600, 12, n_informative=5, n_classes=n_classes, random_state=1, **params
    )


DATA = {
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "hastie": lambda: datasets.make_hastie_10_2(800, random_state=0),
    "moons": lambda: datasets.make_moons(500, noise=0.3, random_state=0),
    "circles": lambda: datasets.make_circles(500, noise=0.2, factor=0.5, random_state=0),
    "quantiles": lambda: datasets.make_gaussian_quantiles(
        n_samples=600, n_features=6, n_classes=4, random_state=0
    ),
    "blobs": lambda: datasets.make_blobs(600, 8, centers=5, cluster_std=6.0, random_state=0),
    "drawn2": lambda: _drawn(2, flip_y=0.1),
    "drawn4": lambda: _drawn(4, class_sep=1.5),
    "noisy": lambda: _drawn(2, flip_y=0.3),
    "rare": lambda: _drawn(2, weights=[0.9]),
    "unequal": lambda: _drawn(3, weights=[0.6, 0.3], n_clusters_per_class=1),
}


def main():
    """Print a row for each data set, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA), metavar="NAME")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--splits", type=int, default=10)
    arguments = parser.parse_args()
    rows, means = [], []
    for name in arguments.data:
        X, y = DATA[name]()
        y = np.unique(y, return_inverse=True)[1]
        found = [compare(X, y, seed, arguments.models) for seed in range(arguments.splits)]
        mean = np.mean(found, axis=0)
        means.append(mean)
        rows.append([name, *X.shape, y.max() + 1, *(f"{e:.1f}, {s:.2f}" for e, s in mean)])
        print(*rows[-1], flush=True)
    errors = np.mean(means, axis=0)[:, 0]
    seconds = np.exp(np.mean(np.log(means), axis=0)[:, 1])
    total = [f"{e:.2f}, {s:.2f}" for e, s in zip(errors, seconds, strict=True)]
    rows.append(["mean, geometric mean", "", "", "", *total])
    headers = ["data", "m", "d", "k", *(f"{name}\n%, s" for name in arguments.models)]
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))


def compare(X, y, seed, models):
    """Return the test error in percent and the CPU seconds of the fit of each model."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    found = []
    for name in models:
        model = MODELS[name]()
        started = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - started
        found.append((100 * np.mean(model.predict(X_test) != y_test), seconds))
    return found


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
