"""Tables as people have them, drawn or made of data sets: holes, words, flags, counts.

`CLASSES` and `NUMBERS` are functions by name, each of which gives a data frame and a target: the
class, or a number. `bench_messy.py` compares models on them.
"""

from functools import partial

import numpy as np
import pandas as pd
from sklearn import datasets

from boostbench import data
from boostbench.util import configs


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
    """Draw customers who leave or stay: a sum of effects of numbers, words and missing values."""
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
    """Draw sales that depend mostly on the shop, a category with many levels."""
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
    """Draw samples in which the effect of a number depends on a word: no sum of functions fits."""
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
    dataset = data.load(configs.read_option("data", name))
    return holed(dataset.values, dataset.class_indices)


CLASSES = {
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


def houses(n_samples=3000, seed=5):
    """Draw prices that multiply: a sum of effects on a logarithm, with words and holes."""
    rng = np.random.default_rng(seed)
    area, year = rng.lognormal(4.6, 0.4, n_samples), rng.integers(1900, 2024, n_samples)
    rooms = np.maximum(1, rng.poisson(area / 30))
    street = rng.choice([f"street {at}" for at in range(40)], n_samples)
    state = rng.choice(["poor", "fair", "good"], n_samples, p=[0.2, 0.5, 0.3])
    has_garden = rng.random(n_samples) < 0.3
    of_street = dict(zip(np.unique(street), rng.normal(0, 0.25, 40), strict=True))
    score = np.log(area) + 0.002 * np.abs(year - 1970) + 0.1 * has_garden - 0.2 * (state == "poor")
    score += np.array([of_street[name] for name in street]) + rng.normal(0, 0.15, n_samples)
    frame = pd.DataFrame(
        {
            "area": area,
            "year": np.where(rng.random(n_samples) < 0.2, np.nan, year),
            "rooms": rooms,
            "street": pd.Categorical(street),
            "state": pd.Series(state).where(rng.random(n_samples) > 0.15).astype("category"),
            "garden": has_garden,
        }
    )
    return frame, 1000 * np.exp(score)


def visits(n_samples=3000, seed=6):
    """Draw Poisson counts whose rate depends on words, numbers and missing values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 5))
    day = rng.choice(["mon", "tue", "wed", "thu", "fri", "sat", "sun"], n_samples)
    is_hidden = rng.random(n_samples) < 0.2
    rate = np.exp(0.8 + 0.5 * X[:, 0] - 0.4 * np.abs(X[:, 1]) + 0.6 * np.isin(day, ["sat", "sun"]))
    frame = pd.DataFrame(X, columns=[f"x{at}" for at in range(5)])
    frame["x2"] = frame["x2"].mask(is_hidden)
    frame["day"] = pd.Categorical(day)
    return frame, rng.poisson(rate * np.where(is_hidden, 1.5, 1.0)).astype(float)


def _numbers(make, **params):
    """Holes and words in a table that scikit-learn draws or has; the target stays."""
    X, y = make(**params)
    return holed(X, y)[0], np.asarray(y, dtype=float)


NUMBERS = {
    "houses": houses,
    "visits": visits,
    "bodies": partial(_numbers, datasets.load_diabetes, return_X_y=True),
    "friedman1": partial(
        _numbers, datasets.make_friedman1, n_samples=3000, noise=2.0, random_state=11
    ),
    "friedman2": partial(
        _numbers, datasets.make_friedman2, n_samples=3000, noise=150.0, random_state=12
    ),
    "friedman3": partial(
        _numbers, datasets.make_friedman3, n_samples=3000, noise=0.1, random_state=13
    ),
    "linear": partial(
        _numbers,
        datasets.make_regression,
        n_samples=3000,
        n_features=15,
        n_informative=6,
        noise=60.0,
        random_state=14,
    ),
    "sparse": partial(_numbers, datasets.make_sparse_uncorrelated, n_samples=3000, random_state=15),
    "s_curve": partial(_numbers, datasets.make_s_curve, n_samples=3000, noise=0.3, random_state=16),
    "swiss_roll": partial(
        _numbers, datasets.make_swiss_roll, n_samples=3000, noise=2.0, random_state=17
    ),
}
