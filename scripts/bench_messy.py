"""Compare models on tables as people have them: holes, words, flags, counts.

Twelve tables, five splits of each: 500 rows to train on, or three quarters of fewer, and the others
to test on. All models have the settings they come with; the bag with pairs has ten. Tables are
drawn, or they are data sets of scikit-learn and of the papers into which `holed` puts missing
values and words. Every model gets the same data frame. The boosters take it as it is; the logistic
regression is a pipeline with medians, flags for what is missing, and columns of 0 and 1.

For each model: test error, log-loss, area under the ROC curve (of many classes the mean of each
against the rest), and CPU seconds of the fit, one thread, in one process.

    python scripts/bench_messy.py
    python scripts/bench_messy.py BaggedMCBoost LightGBM    # these only; EBM takes most of the time
    python scripts/bench_messy.py --kept messy.jsonl        # goes on from what is in the file
"""

import argparse
import itertools
import json
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tabulate import tabulate
from threadpoolctl import threadpool_limits

from boostbench import BaggedMCBoost, configs, data

try:
    from interpret.glassbox import ExplainableBoostingClassifier
    from lightgbm import LGBMClassifier
except ImportError as error:
    raise SystemExit(f"{error}; install what this compares with: pip install '.[bench]'") from None

N_SPLITS, N_TRAIN = 5, 500


def logistic_regression():
    """A pipeline that makes numbers of the table."""
    is_number = make_column_selector(dtype_include=["number", "bool"])
    is_word = make_column_selector(dtype_include="category")
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore", min_frequency=5)
    return make_pipeline(
        make_column_transformer((numbers, is_number), (words, is_word)),
        LogisticRegression(max_iter=1000),
    )


MODELS = {
    "BaggedMCBoost": partial(BaggedMCBoost, random_state=0),
    "with pairs": partial(BaggedMCBoost, interactions=10, random_state=0),
    "EBM, no pairs": partial(ExplainableBoostingClassifier, interactions=0, n_jobs=1),
    "EBM": partial(ExplainableBoostingClassifier, n_jobs=1),
    "LightGBM": partial(LGBMClassifier, n_jobs=1, verbosity=-1, random_state=0),
    "HistGB": partial(HistGradientBoostingClassifier, random_state=0),
    "logistic": logistic_regression,
}


def holed(X, y, seed=0):
    """Put holes into a table, and words in the place of every third column, by fifths.

    A tenth of the values is missing, of the upper half of a column three times as many as of the
    lower. Every seventh column becomes a flag.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(np.asarray(X, dtype=float))
    frame.columns = [f"x{at}" for at in range(frame.shape[1])]
    for at, name in enumerate(frame):
        ranks = frame[name].rank(pct=True, method="average")
        values = frame[name]
        if at % 7 == 6:
            frame[name] = ranks > 0.5
            continue
        if at % 3 == 2:
            words = np.array(["very low", "low", "middle", "high", "very high"], dtype=object)
            values = pd.Series(words[np.minimum(4, (5 * ranks).astype(int))])
        values = values.where(rng.random(len(frame)) >= np.where(ranks > 0.5, 0.15, 0.05))
        frame[name] = values.astype("category") if at % 3 == 2 else values
    return frame, np.unique(y, return_inverse=True)[1]


def customers(n_samples=3000, seed=0):
    """Draw customers who leave or stay: a sum of effects of numbers, words and what is missing."""
    rng = np.random.default_rng(seed)
    age, income = rng.normal(45, 14, n_samples), rng.lognormal(10, 0.6, n_samples)
    calls = rng.poisson(1.5, n_samples)
    city = rng.choice([f"city {at}" for at in range(12)], n_samples)
    plan = rng.choice(["basic", "plus", "pro"], n_samples, p=[0.6, 0.3, 0.1])
    has_card = rng.random(n_samples) < 0.4
    months = rng.integers(1, 60, n_samples)
    of_city = dict(zip(np.unique(city), rng.normal(0, 0.8, 12), strict=True))
    score = -2.0 + 0.02 * np.abs(age - 45) + 0.5 * calls - 0.03 * months + (plan == "basic")
    score += np.array([of_city[name] for name in city]) - 0.7 * has_card
    is_hidden = rng.random(n_samples) < 0.25
    score += 0.9 * is_hidden
    frame = pd.DataFrame(
        {
            "age": age.round(),
            "income": np.where(is_hidden, np.nan, income),
            "calls": calls,
            "city": pd.Series(city).astype("category"),
            "plan": pd.Series(plan).where(rng.random(n_samples) > 0.1).astype("category"),
            "card": has_card,
            "months": months,
        }
    )
    return frame, (score + rng.logistic(size=n_samples) > 0).astype(int)


def shops(n_samples=3000, n_shops=60, seed=1):
    """Draw sales whose shop, one of many, says most."""
    rng = np.random.default_rng(seed)
    shop = rng.integers(n_shops, size=n_samples)
    price, size = rng.normal(size=(2, n_samples))
    score = rng.normal(0, 1.3, n_shops)[shop] - price + 0.5 * np.sin(3 * size)
    price[rng.random(n_samples) < 0.1] = np.nan
    names = np.array([f"shop {at}" for at in range(n_shops)])
    frame = pd.DataFrame({"shop": pd.Categorical(names[shop]), "price": price, "size": size})
    frame["noise"] = rng.normal(size=n_samples)
    return frame, (score + rng.logistic(size=n_samples) > 0).astype(int)


def pairs(n_samples=3000, seed=2):
    """Draw samples in which what a number does depends on a word: no sum of functions is right."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 6))
    kind = rng.choice(["a", "b", "c"], n_samples)
    score = np.where(kind == "a", 2 * X[:, 0], -X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3]
    X[rng.random(X.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X, columns=[f"x{at}" for at in range(6)])
    frame["kind"] = pd.Categorical(kind)
    return frame, (score + rng.logistic(size=n_samples) > 0).astype(int)


def _drawn(**params):
    return holed(*datasets.make_classification(random_state=3, **params))


def _of_papers(name):
    dataset = data.load(configs.read("data", name))
    return holed(dataset.values, dataset.class_numbers)


TABLES = {
    "customers": customers,
    "shops": shops,
    "pairs": pairs,
    "drawn2": partial(_drawn, n_samples=3000, n_features=14, n_informative=6, flip_y=0.1),
    "drawn3": partial(_drawn, n_samples=3000, n_features=12, n_informative=6, n_classes=3),
    "hastie": lambda: holed(*datasets.make_hastie_10_2(3000, random_state=4)),
    "breast_cancer": lambda: holed(*datasets.load_breast_cancer(return_X_y=True)),
    "wine": lambda: holed(*datasets.load_wine(return_X_y=True)),
    "diabetes": partial(_of_papers, "diabetes"),
    "german": partial(_of_papers, "german"),
    "heart": partial(_of_papers, "heart"),
    "vehicle": partial(_of_papers, "vehicle"),
}


def measured(model, X, y, rows, others):
    """Fit on rows, and return error, log-loss, AUC and CPU seconds."""
    started = time.process_time()
    model.fit(X.iloc[rows], y[rows])
    seconds = time.process_time() - started
    found = model.predict_proba(X.iloc[others])
    truth = y[others]
    of_classes = found[:, 1] if found.shape[1] == 2 else found
    return (
        100 * np.mean(model.classes_[found.argmax(axis=1)] != truth),
        log_loss(truth, found, labels=model.classes_),
        roc_auc_score(truth, of_classes, multi_class="ovr"),
        seconds,
    )


def fitted(name, table, split):
    """Measure one model on one split of a table; see `measured`."""
    X, y = TABLES[table]()
    rows, others = train_test_split(
        np.arange(len(y)), train_size=_n_train(y), stratify=y, random_state=split
    )
    return measured(MODELS[name](), X, y, rows, others)


def _n_train(y):
    return min(N_TRAIN, 3 * len(y) // 4)


def main(names, kept, n_splits):
    """Measure what is not in the file `kept`, then print all models side by side."""
    lines = kept.read_text().splitlines() if kept and kept.is_file() else []
    found = {tuple(key): numbers for key, numbers in map(json.loads, lines)}
    for key in itertools.product(range(n_splits), TABLES, names):
        if key in found:
            continue
        split, table, name = key
        found[key] = fitted(name, table, split)
        line = json.dumps([key, found[key]])
        print(line, flush=True)
        if kept:
            with kept.open("a") as file:
                file.write(line + "\n")
    numbers = np.array(
        [
            [[found[split, table, name] for name in names] for table in TABLES]
            for split in range(n_splits)
        ]
    )
    means = numbers.mean(axis=0)
    rows = [
        [table, _n_train(TABLES[table]()[1]), *(f"{e:.1f}, {loss:.3f}" for e, loss, _, _ in some)]
        for table, some in zip(TABLES, means, strict=True)
    ]
    total = means.mean(axis=0)
    for label, at, decimals in (
        ("error, %", 0, 1),
        ("log-loss", 1, 3),
        ("AUC", 2, 3),
        ("CPU s", 3, 2),
    ):
        rows.append([f"mean {label}", "", *(f"{value:.{decimals}f}" for value in total[:, at])])
    print(tabulate(rows, ["table", "rows", *names], disable_numparse=True, tablefmt="github"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--kept", type=Path, metavar="FILE", help="what is measured, line by line")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    args = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    with threadpool_limits(1):
        main(args.models or list(MODELS), args.kept, args.splits)
