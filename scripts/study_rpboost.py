"""Search for reasons of RpBoost's published accuracies that the algorithm does not give.

1. The column "super" of its Tables 12.4 and 12.6: one stump and one step for each projected feature
   instead of one for all features, all added in the same round.
2. The columns "sub" and "same" of Table 12.6, which are N in the paper's text: N and U, and
   attributes as whole numbers instead of scaled.
3. monks-1, monks-2 and monks-3 in Table 12.7, scaled and as whole numbers.

    python scripts/study_rpboost.py
"""

import itertools

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit, cross_val_score
from tabulate import tabulate

from boostbench import data
from boostbench.algorithms import RpBoost
from boostbench.core.learners.perceptrons import edges_on_lines
from boostbench.papers.published import find_published, find_quantity
from boostbench.util import configs

SPACES = {"sub": 0.5, "same": 1.0, "super": 2.0}
PATTERNS = ["sine", "linear", "parity", "annulus", "parabolic", "polynomial", "checkerboard"]
N_ROUNDS = 500
FOLDS = RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0)


def main():
    """Print the three tables."""
    rows = []
    for name in [*PATTERNS, "fawcett-disjunctive"]:
        X, y = load(name)
        splitter = StratifiedShuffleSplit(3, train_size=1000, random_state=0)
        for penalty in (0.0, 1000.0):
            accuracies = [
                np.mean(
                    [
                        joint(X[train] / 2 - 1, y[train], X / 2 - 1, y, share, penalty)
                        for train, _ in splitter.split(X, y)
                    ]
                )
                for share in SPACES.values()
            ]
            rows.append([name, penalty, *accuracies, *published("rpboost-table12.4", name)])
    print("1. A stump for each projected feature")
    print(table(rows, ["data", "penalty", *SPACES, *(f"published {name}" for name in SPACES)]))
    rows = []
    for name in ("monks-1", "monks-2", "monks-3", "tic-tac-toe"):
        X, y = load(name)
        for way, Z in (("scaled", X), ("whole numbers", codes(X))):
            settings = itertools.product(("normal", "sign"), ("sub", "same"))
            accuracies = [
                cross_validated(Z, y, projection=projection, space=space)
                for projection, space in settings
            ]
            rows.append([name, way, *accuracies, *published("rpboost-table12.6", name)[:2]])
    print("\n2. Table 12.6, without a penalty")
    print(
        table(rows, ["data", "", "N sub", "N same", "U sub", "U same", "publ. sub", "publ. same"])
    )
    rows = []
    for name, space, projection, accuracy in (
        ("monks-1", "same", "normal", 0.953),
        ("monks-2", "super", "orthonormal", 0.916),
        ("monks-3", "same", "normal", 0.972),
    ):
        X, y = load(name)
        scores = [
            cross_validated(Z, y, penalty=1000, space=space, projection=projection)
            for Z in (X, codes(X))
        ]
        rows.append([name, *scores, accuracy])
    print("\n3. Table 12.7, penalty 1000")
    print(table(rows, ["data", "scaled", "whole numbers", "published"]))


def codes(X):
    """Stretch features from [-1, 1] to steps of 1."""
    return X * (np.array([len(np.unique(column)) for column in X.T]) - 1) / 2


def joint(X, y, X_test, y_test, share, penalty):
    """Train with a stump and a step for each projected feature, and return the test accuracy."""
    rng = np.random.default_rng(0)
    k = max(1, int(share * X.shape[1]))
    y = np.sign(y).astype(float)
    residual, scores = y - y.mean(), np.full(len(X_test), y.mean())
    for _ in range(N_ROUNDS):
        R = rng.normal(size=(X.shape[1], k))
        values = (X @ R).T
        order, edges = edges_on_lines(values, np.broadcast_to(residual, values.shape))
        best = np.abs(edges).argmax(axis=1)
        lines = np.arange(k)
        low, high = (values[lines, order[lines, best + i]] for i in (0, 1))
        thresholds, steps = (low + high) / 2, edges[lines, best] / (len(X) + penalty)
        residual = residual - np.where(X @ R > thresholds, 1.0, -1.0) @ steps
        scores += np.where(X_test @ R > thresholds, 1.0, -1.0) @ steps
        if not np.isfinite(scores).all():
            break
    return np.mean(np.where(scores > 0, 1, -1) == np.sign(y_test))


def cross_validated(X, y, **params):
    """Return the mean accuracy of RpBoost over two times ten folds."""
    return cross_val_score(RpBoost(random_state=0, **params), X, y, cv=FOLDS).mean()


def published(table, name):
    """Return the published numbers of the three spaces."""
    name = name.removeprefix("fawcett-")
    found = [
        find_published(table, name, "rpboost", {"space": space, "projection": "normal"})
        for space in SPACES
    ]
    return [find_quantity(numbers, "accuracy").mean / 100 for numbers in found]


def load(name):
    """Return X and y of a data set."""
    dataset = data.load(configs.read_option("data", name))
    return dataset.X, dataset.y


def table(rows, headers):
    """Set a table of accuracies."""
    return tabulate(rows, headers, floatfmt=".3f")


if __name__ == "__main__":
    main()
