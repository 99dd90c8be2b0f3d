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
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from timing import error, minima, on_one_core, parts, print_table

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
    adaboost = AdaBoostClassifier(n_estimators=N_ROUNDS, random_state=0)
    compare(ADABOOST, {"MCBoost": mcboost, "AdaBoost": adaboost}, repeats=3)
    print()
    samme = SAMME(n_iterations=N_ROUNDS, weak_learner="tree")
    adaboost = clone(adaboost).set_params(estimator=DecisionTreeClassifier(max_leaf_nodes=3))
    compare(TREES, {"SAMME": samme, "AdaBoost": adaboost}, repeats=1)
    print()
    stumps = {"n_estimators": N_ROUNDS, "max_depth": 1, "n_jobs": 1}
    lightgbm = LGBMClassifier(**stumps, num_leaves=2, verbosity=-1)
    xgboost = XGBClassifier(**stumps, tree_method="hist")
    models = {"MCBoost": mcboost, "LightGBM": lightgbm, "XGBoost": xgboost}
    compare(GRADIENT_BOOSTING, models, repeats=5)


def compare(names, models, repeats):
    """Print a row per data set: seconds and test errors, and seconds of the others by the first."""
    ours, *peers = models
    rows = []
    for name in names:
        [both] = parts(name)
        # XGBoost takes classes 0, 1, ... only.
        (X, y), (X_test, y_test) = [(X, np.unique(y, return_inverse=True)[1]) for X, y in both]
        seconds = minima([partial(model.fit, X, y) for model in models.values()], repeats)
        errors = [error(model, X_test, y_test) for model in models.values()]
        cells = [f"{s:.2f}, {e:.1f}" for s, e in zip(seconds, errors, strict=True)]
        ratios = [f"{s:.2f}" for s in seconds[1:] / seconds[0]]
        beside = [text for pair in zip(cells[1:], ratios, strict=True) for text in pair]
        rows.append([name, *X.shape, cells[0], *beside])
    headers = ["data", "m", "d", f"{ours}\ns, %"]
    for name in peers:
        headers += [f"{name}\ns, %", "ratio"]
    print_table(headers, rows)


if __name__ == "__main__":
    on_one_core(main)
