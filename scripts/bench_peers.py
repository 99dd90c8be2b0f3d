"""Time whole fits of ours against what people use, on one core, and compare test errors.

First MCBoost beside scikit-learn's AdaBoostClassifier with stumps, then SAMME beside the same with
trees of three leaves, then MCBoost beside LightGBM and XGBoost with trees of depth 1 (all of them
with 500 rounds, and otherwise as by default). In a round MCBoost adds one stump with a coefficient
for each class, LightGBM and XGBoost a tree for each class. All take turns on one stratified 75/25
split, and the least CPU time counts.

    python scripts/bench_peers.py
"""

from functools import partial

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from timing import minima, parts

from boostbench.algorithms import SAMME, MCBoost

try:
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier
except ImportError as error:
    raise SystemExit(f"{error}; install what this compares with: pip install '.[bench]'") from None

N_ROUNDS = 500
ADABOOST = ["vowel", "pendigits:100", "letter:50", "letter"]
TREES = ["glass", "vowel", "dna", "satimage", "usps:100", "letter:50"]
GRADIENT_BOOSTING = ["vowel", "letter:50", "usps:100", "pendigits:100", "satimage"]


def main():
    """Print a table for each kind of peer."""
    mcboost = MCBoost(n_iterations=N_ROUNDS)
    compare(
        ADABOOST,
        {
            "MCBoost": mcboost,
            "AdaBoost": AdaBoostClassifier(n_estimators=N_ROUNDS, random_state=0),
        },
        repeats=3,
    )
    print()
    compare(
        TREES,
        {
            "SAMME": SAMME(n_iterations=N_ROUNDS, weak_learner="tree"),
            "AdaBoost": AdaBoostClassifier(
                DecisionTreeClassifier(max_leaf_nodes=3), n_estimators=N_ROUNDS, random_state=0
            ),
        },
        repeats=1,
    )
    print()
    compare(
        GRADIENT_BOOSTING,
        {
            "MCBoost": mcboost,
            "LightGBM": LGBMClassifier(
                n_estimators=N_ROUNDS, max_depth=1, num_leaves=2, n_jobs=1, verbosity=-1
            ),
            "XGBoost": XGBClassifier(
                n_estimators=N_ROUNDS, max_depth=1, tree_method="hist", n_jobs=1
            ),
        },
        repeats=5,
    )


def compare(names, models, repeats):
    """Print a row per data set: seconds and test errors, and seconds of the others by the first."""
    ours, *peers = models
    rows = []
    for name in names:
        [both] = parts(name)
        # XGBoost takes classes 0, 1, ... only.
        (X, y), (X_test, y_test) = [(X, np.unique(y, return_inverse=True)[1]) for X, y in both]
        seconds = minima([partial(model.fit, X, y) for model in models.values()], repeats)
        errors = [100 * np.mean(model.predict(X_test) != y_test) for model in models.values()]
        cells = [f"{s:.2f}, {e:.1f}" for s, e in zip(seconds, errors, strict=True)]
        ratios = [f"{s:.2f}" for s in seconds[1:] / seconds[0]]
        beside = [text for pair in zip(cells[1:], ratios, strict=True) for text in pair]
        rows.append([name, *X.shape, cells[0], *beside])
    headers = ["data", "m", "d", f"{ours}\ns, %"]
    for name in peers:
        headers += [f"{name}\ns, %", "ratio"]
    print(tabulate(rows, headers, disable_numparse=True))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
