"""Fit every exported estimator to several data sets, and write the results to a file.

`check_bits.py` starts a process of this script for each way of computing::

    python scripts/fits.py OUT.pickle ROUNDS SPLITS [NAME ...]
"""

import pickle
import sys
import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from boostbench import algorithms, data
from boostbench.util import configs
from boostbench.util.errors import UserError

#: Classes whose defaults are not the only kind of weak learner, loss or solver.
VARIANTS = {
    "AdaBoostECC": [{"votes": "one"}],
    "AdaBoostMH": [{"max_bins": 8}],
    "CGENS": [
        {"C": 1.0, "loss": "hinge"},
        {"C": 0.1, "weak_learner": "perceptron", "n_candidates": 100},
        {"C": 0.1, "weak_learner": "fourier", "n_candidates": 100},
    ],
    "CodewordMCBoost": [{"max_depth": 2, "leaf_values": "vote"}],
    "MCBoost": [{"loss": "logistic"}, {"weak_learner": "tree", "max_leaf_nodes": 3}],
    "MultiBoost": [{"loss": "hinge"}, {"solver": "lbfgs"}, {"start": "zero"}, {"nu": 1e-5}],
    "RBoostProj": [
        {"weak_learner": "wlda"},
        {"rule": "paper"},
        {"rule": "paper", "positive": False},
        {"rule": "greedy"},
        {"tol": 0, "start": "zero"},
        {"nu": 1e-5},
    ],
    "RBoostRank": [{"projections": "pooled", "pool_size": 50}, {"weak_learner": "wlda"}],
    "RBoostRankTC": [{"loss": "exponential"}, {"solver": "lbfgs"}, {"nu": 1e-5}],
    "RpBoost": [{"space": "sub"}, {"space": "super"}, {"projection": "orthonormal"}],
    "SAMME": [{"weak_learner": "tree"}],
}
#: For all, where an estimator has them.
SETTINGS = {
    "random_state": 0,
    "n_projections": 50,
    "n_candidates": 100,
    "n_anchors": 60,
    "n_pairs": 60,
    "n_components": 4,
}
#: Where nu of the default is for another number of rounds.
NU = {"GradBoost": 1e-3, "MultiBoost": 1e-3, "RBoostProj": 1e-3, "RBoostRankTC": 1e-3}
DATA = (
    "iris", "wine", "wdbc", "glass", "vowel", "vehicle", "heart", "german", "diabetes", "annulus",
)  # fmt: skip
#: Training rows at most, so that all fits take minutes.
_MOST_ROWS = 400
#: Rows of each part whose outputs of weak learners are recorded.
_TOLD_ROWS = 100
#: Rounds at most of slow estimators.
_MOST_ROUNDS = {"AdaBoostMO": 20, "MultiBoost(loss=hinge)": 10, "BaggedBooster": 10}


def estimators(rounds: int) -> Iterator[tuple[str, BaseEstimator]]:
    """Make every exported estimator, with its variants."""
    for name in sorted(algorithms.__all__):
        cls = getattr(algorithms, name)
        if not (isinstance(cls, type) and issubclass(cls, BaseEstimator)):
            continue
        for variant in [{}, *VARIANTS.get(name, [])]:
            settings = ", ".join(f"{key}={value}" for key, value in variant.items())
            title = f"{name}({settings})" if settings else name
            known = cls().get_params() if name != "BaggedBooster" else {"random_state": None}
            params = {key: value for key, value in SETTINGS.items() if key in known}
            if "nu" in known and name in NU:
                params["nu"] = NU[name]
            most = next((n for key, n in _MOST_ROUNDS.items() if title.startswith(key)), rounds)
            if name == "BaggedBooster":
                params |= {"estimator": algorithms.AdaBoostMH(n_iterations=10), "n_estimators": 5}
            elif "n_iterations" in known and name not in ("ITQ", "SupervisedITQ"):
                params["n_iterations"] = min(rounds, most)
            yield title, cls(**(params | variant))


def problems(n_splits: int) -> Iterator[tuple[str, int, list[np.ndarray]]]:
    """Load the data sets that are at hand: training and test parts of each, scaled."""
    for name, split in product(DATA, range(n_splits)):
        try:
            dataset = data.load(configs.read_option("data", name))
        except UserError:
            continue
        X = dataset.X.toarray() if hasattr(dataset.X, "toarray") else np.asarray(dataset.X, float)
        y = np.unique(dataset.y, return_inverse=True)[1]
        X, X_test, y, y_test = train_test_split(
            X, y, test_size=0.3, train_size=min(_MOST_ROWS, int(0.7 * len(y))), random_state=split,
            stratify=y,
        )  # fmt: skip
        scaler = MinMaxScaler((-1, 1)).fit(X)
        yield name, split, [scaler.transform(X), scaler.transform(X_test), y, y_test]


def outcome(model, X, X_test, y, y_test) -> dict:
    """Fit; give the outputs of the weak learners, predictions, how many are wrong, and scores."""
    tags = model.__sklearn_tags__()
    if is_classifier(model) and not tags.classifier_tags.multi_class:
        y, y_test = ((labels > 0).astype(int) for labels in (y, y_test))
    model.fit(X, y)
    found = {}
    rows = np.concatenate([X[:_TOLD_ROWS], X_test[:_TOLD_ROWS]])
    hypotheses = getattr(model, "hypotheses_", None)
    if hypotheses is not None and hasattr(hypotheses, "outputs") and len(hypotheses):
        outputs = np.asarray(hypotheses.outputs(rows))
        if outputs.dtype != object:
            found["learners"] = np.moveaxis(outputs, -1, 0).astype(np.float32)
    if is_classifier(model):
        found["predicted"] = model.predict(X_test)
        found["errors"] = int((found["predicted"] != y_test).sum())
        scores = getattr(model, "decision_function", None)
        found["scores"] = None if scores is None else scores(X_test)
    elif hasattr(model, "predict"):
        found["scores"] = model.predict(X_test)
    if hasattr(model, "hash"):
        found["predicted"] = model.hash(X_test)
    if hasattr(model, "transform"):
        found["features"] = model.transform(X_test)
    return found


def main() -> None:
    """Fit all, and write."""
    out, rounds, splits, *names = sys.argv[1:]
    warnings.filterwarnings("ignore")
    found = {}
    cases = list(problems(int(splits)))
    for title, estimator in estimators(int(rounds)):
        if names and not any(title.startswith(name) for name in names):
            continue
        for name, split, parts in cases:
            try:
                found[title, name, split] = outcome(clone(estimator), *parts)
            except Exception as error:  # A fit that fails on one machine only is a difference.
                found[title, name, split] = {"error": f"{type(error).__name__}: {error}"}
    with open(out, "wb") as file:
        pickle.dump(found, file)


if __name__ == "__main__":
    main()
