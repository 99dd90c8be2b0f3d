"""Compare models on messy tables: missing values, words, flags and counts.

Each table of `messy_tables.py` is split five times: 500 rows to train on, or three quarters of a
smaller table, and the other rows to test on. All models have their default settings; the bag with
pairs has ten pairs. Every model gets the same data frame. The boosters take it unchanged; the
linear model is a pipeline that fills in medians, and makes indicators of missing values and of
categories.

Classifiers are compared by their test error, log-loss, and area under the ROC curve, for more than
two classes the mean of each class against the rest. Regressors are compared by the root mean
squared error, in percent of the error of predicting the mean of the training rows. The CPU seconds
are for a fit with one thread.

    python scripts/bench_messy.py
    python scripts/bench_messy.py --numbers                 # regression
    python scripts/bench_messy.py BaggedMCBoost LightGBM    # only these; EBM takes most of the time
    python scripts/bench_messy.py --kept messy.jsonl        # resume from the results in the file
"""

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import messy_tables
import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tabulate import tabulate
from threadpoolctl import threadpool_limits

from boostbench import BaggedLsBoostRegressor, BaggedMCBoost

try:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
    from lightgbm import LGBMClassifier, LGBMRegressor
except ImportError as error:
    raise SystemExit(f"{error}; install what this compares with: pip install '.[bench]'") from None

N_SPLITS, N_TRAIN = 5, 500


class Kind(NamedTuple):
    """Tables and models of a comparison.

    Attributes
    ----------
    tables : dict of str to callable
        Functions that return a data frame and its target.
    models : dict of str to callable
        Functions that return an unfitted model.
    scores : callable
        Function of a fitted model, X and y of the test rows and y of the training rows. It returns
        the measures.
    decimals : dict of str to int
        Number of decimals of each measure.
    n_shown : int
        Number of measures, the first ones, that are printed for each table.
    stratified : bool
        True: the splits are stratified by class.
    """

    tables: dict[str, Callable]
    models: dict[str, Callable]
    scores: Callable
    decimals: dict[str, int]
    n_shown: int
    stratified: bool


def linear(model):
    """Return a pipeline that turns a table into numbers for a linear model."""
    is_number = make_column_selector(dtype_include=["number", "bool"])
    is_word = make_column_selector(dtype_include="category")
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore", min_frequency=5)
    return make_pipeline(make_column_transformer((numbers, is_number), (words, is_word)), model)


def models(bag, ebm, lightgbm, hist, linear_model):
    """Return functions that make models with default settings, by name."""
    return {
        bag.__name__: partial(bag, random_state=0),
        "with pairs": partial(bag, interactions=10, random_state=0),
        "EBM, no pairs": partial(ebm, interactions=0, n_jobs=1),
        "EBM": partial(ebm, n_jobs=1),
        "LightGBM": partial(lightgbm, n_jobs=1, verbosity=-1, random_state=0),
        "HistGB": partial(hist, random_state=0),
        **linear_model,
    }


def score_classifier(model, X, y, y_train):
    """Return the error in percent, log-loss and AUC."""
    probabilities = model.predict_proba(X)
    return (
        100 * np.mean(model.classes_[probabilities.argmax(axis=1)] != y),
        log_loss(y, probabilities, labels=model.classes_),
        roc_auc_score(
            y,
            probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities,
            multi_class="ovr",
        ),
    )


def score_regressor(model, X, y, y_train):
    """Return the root mean squared error, in percent of the error of the training rows' mean."""
    error_of_mean = np.mean((y - y_train.mean()) ** 2)
    return (100 * np.sqrt(np.mean((y - model.predict(X)) ** 2) / error_of_mean),)


CLASSES = Kind(
    messy_tables.CLASSES,
    models(
        BaggedMCBoost,
        ExplainableBoostingClassifier,
        LGBMClassifier,
        HistGradientBoostingClassifier,
        {"logistic": lambda: linear(LogisticRegression(max_iter=1000))},
    ),
    score_classifier,
    {"error, %": 1, "log-loss": 3, "AUC": 3},
    n_shown=2,
    stratified=True,
)
NUMBERS = Kind(
    messy_tables.NUMBERS,
    models(
        BaggedLsBoostRegressor,
        ExplainableBoostingRegressor,
        LGBMRegressor,
        HistGradientBoostingRegressor,
        {"ridge": lambda: linear(Ridge())},
    ),
    score_regressor,
    {"error, %": 1},
    n_shown=1,
    stratified=False,
)


def measure(kind, name, table, split):
    """Fit a model on one split of a table, and return its scores and CPU seconds."""
    X, y = kind.tables[table]()
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=_n_train(y),
        stratify=y if kind.stratified else None,
        random_state=split,
    )
    model = kind.models[name]()
    started = time.process_time()
    model.fit(X.iloc[train], y[train])
    seconds = time.process_time() - started
    return *kind.scores(model, X.iloc[test], y[test], y[train]), seconds


def _n_train(y):
    return min(N_TRAIN, 3 * len(y) // 4)


def main(kind, names, kept, n_splits):
    """Measure the results that are not in the file `kept`, and print all models side by side."""
    lines = kept.read_text().splitlines() if kept and kept.is_file() else []
    results = {tuple(key): numbers for key, numbers in map(json.loads, lines)}
    for key in itertools.product(range(n_splits), kind.tables, names):
        if key in results:
            continue
        split, table, name = key
        results[key] = measure(kind, name, table, split)
        line = json.dumps([key, results[key]])
        print(line, flush=True)
        if kept:
            with kept.open("a") as file:
                file.write(line + "\n")
    numbers = [
        [[results[split, table, name] for name in names] for table in kind.tables]
        for split in range(n_splits)
    ]
    means = np.mean(numbers, axis=0)
    decimals = [*kind.decimals.values(), 2]
    rows = [
        [
            table,
            _n_train(kind.tables[table]()[1]),
            *(_cell(scores, decimals) for scores in table_means),
        ]
        for table, table_means in zip(kind.tables, means[..., : kind.n_shown], strict=True)
    ]
    for measure_index, label in enumerate([*kind.decimals, "CPU s"]):
        total = means[..., measure_index].mean(axis=0)
        cells = (_cell([value], decimals[measure_index:]) for value in total)
        rows.append([f"mean {label}", "", *cells])
    print(tabulate(rows, ["table", "rows", *names], disable_numparse=True, tablefmt="github"))


def _cell(scores, decimals):
    return ", ".join(f"{value:.{n}f}" for value, n in zip(scores, decimals, strict=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: all")
    parser.add_argument("--numbers", action="store_true", help="regression instead of classes")
    parser.add_argument(
        "--kept", type=Path, metavar="FILE", help="results of earlier runs, a line for each"
    )
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    args = parser.parse_args()
    kind = NUMBERS if args.numbers else CLASSES
    warnings.filterwarnings("ignore", category=UserWarning)
    with threadpool_limits(1):
        main(kind, args.models or list(kind.models), args.kept, args.splits)
