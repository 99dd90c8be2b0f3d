"""Compare models on tables as people have them: holes, words, flags, counts.

Five splits of each table of `messy_tables.py`: 500 rows to train on, or three quarters of fewer,
and the others to test on. All models have the settings they come with; the bag with pairs has ten.
Every model gets the same data frame. The boosters take it as it is; the linear model is a pipeline
with medians, flags for what is missing, and columns of 0 and 1.

Of classes: test error, log-loss, and area under the ROC curve (of many classes the mean of each
against the rest). Of numbers: the root of the mean squared error, in percent of that of the mean of
the training rows. Of both: CPU seconds of the fit, one thread, in one process.

    python scripts/bench_messy.py
    python scripts/bench_messy.py --numbers                 # regression
    python scripts/bench_messy.py BaggedMCBoost LightGBM    # these only; EBM takes most of the time
    python scripts/bench_messy.py --kept messy.jsonl        # goes on from what is in the file
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
    """What is compared: models by name on tables by name, by some measures.

    `scores` gives the measures of a fitted model on test rows; `decimals` are theirs, by name, the
    first `n_shown` of them are printed for each table.
    """

    tables: dict[str, Callable]
    models: dict[str, Callable]
    scores: Callable
    decimals: dict[str, int]
    n_shown: int
    stratified: bool


def linear(model):
    """A pipeline that makes numbers of the table."""
    is_number = make_column_selector(dtype_include=["number", "bool"])
    is_word = make_column_selector(dtype_include="category")
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore", min_frequency=5)
    return make_pipeline(make_column_transformer((numbers, is_number), (words, is_word)), model)


def models(bag, ebm, lightgbm, hist, of_numbers):
    """Give the models by name, as they come."""
    return {
        bag.__name__: partial(bag, random_state=0),
        "with pairs": partial(bag, interactions=10, random_state=0),
        "EBM, no pairs": partial(ebm, interactions=0, n_jobs=1),
        "EBM": partial(ebm, n_jobs=1),
        "LightGBM": partial(lightgbm, n_jobs=1, verbosity=-1, random_state=0),
        "HistGB": partial(hist, random_state=0),
        **of_numbers,
    }


def of_classes(model, X, y, y_train):
    """Error in percent, log-loss and AUC."""
    found = model.predict_proba(X)
    return (
        100 * np.mean(model.classes_[found.argmax(axis=1)] != y),
        log_loss(y, found, labels=model.classes_),
        roc_auc_score(y, found[:, 1] if found.shape[1] == 2 else found, multi_class="ovr"),
    )


def of_numbers(model, X, y, y_train):
    """Root of the mean squared error, in percent of that of the mean of the training rows."""
    of_mean = np.mean((y - y_train.mean()) ** 2)
    return (100 * np.sqrt(np.mean((y - model.predict(X)) ** 2) / of_mean),)


CLASSES = Kind(
    messy_tables.CLASSES,
    models(
        BaggedMCBoost,
        ExplainableBoostingClassifier,
        LGBMClassifier,
        HistGradientBoostingClassifier,
        {"logistic": lambda: linear(LogisticRegression(max_iter=1000))},
    ),
    of_classes,
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
    of_numbers,
    {"error, %": 1},
    n_shown=1,
    stratified=False,
)


def measured(kind, name, table, split):
    """Fit a model on one split of a table, and return its scores and CPU seconds."""
    X, y = kind.tables[table]()
    rows, others = train_test_split(
        np.arange(len(y)),
        train_size=_n_train(y),
        stratify=y if kind.stratified else None,
        random_state=split,
    )
    model = kind.models[name]()
    started = time.process_time()
    model.fit(X.iloc[rows], y[rows])
    seconds = time.process_time() - started
    return *kind.scores(model, X.iloc[others], y[others], y[rows]), seconds


def _n_train(y):
    return min(N_TRAIN, 3 * len(y) // 4)


def main(kind, names, kept, n_splits):
    """Measure what is not in the file `kept`, then print all models side by side."""
    lines = kept.read_text().splitlines() if kept and kept.is_file() else []
    found = {tuple(key): numbers for key, numbers in map(json.loads, lines)}
    for key in itertools.product(range(n_splits), kind.tables, names):
        if key in found:
            continue
        split, table, name = key
        found[key] = measured(kind, name, table, split)
        line = json.dumps([key, found[key]])
        print(line, flush=True)
        if kept:
            with kept.open("a") as file:
                file.write(line + "\n")
    numbers = [
        [[found[split, table, name] for name in names] for table in kind.tables]
        for split in range(n_splits)
    ]
    means = np.mean(numbers, axis=0)
    decimals = [*kind.decimals.values(), 2]
    rows = [
        [table, _n_train(kind.tables[table]()[1]), *(_cell(scores, decimals) for scores in some)]
        for table, some in zip(kind.tables, means[..., : kind.n_shown], strict=True)
    ]
    for at, label in enumerate([*kind.decimals, "CPU s"]):
        total = means[..., at].mean(axis=0)
        rows.append([f"mean {label}", "", *(_cell([value], decimals[at:]) for value in total)])
    print(tabulate(rows, ["table", "rows", *names], disable_numparse=True, tablefmt="github"))


def _cell(scores, decimals):
    return ", ".join(f"{value:.{n}f}" for value, n in zip(scores, decimals, strict=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help="all, where none is named")
    parser.add_argument("--numbers", action="store_true", help="regression instead of classes")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="what is measured, line by line")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    args = parser.parse_args()
    kind = NUMBERS if args.numbers else CLASSES
    warnings.filterwarnings("ignore", category=UserWarning)
    with threadpool_limits(1):
        main(kind, args.models or list(kind.models), args.kept, args.splits)
