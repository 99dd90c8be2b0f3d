"""Small classification problems."""

import numpy as np
import pandas as pd


def blobs(n_classes, n_samples=45, n_features=4, seed=0, spread=1.5):
    """Draw overlapping Gaussian classes.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        0 to n_classes - 1, in any order, of almost equal numbers.
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(n_samples) % n_classes
    centres = rng.normal(size=(n_classes, n_features))
    return centres[y] + spread * rng.normal(size=(n_samples, n_features)), y


def noise(n_classes, n_samples=40, n_features=3, seed=0):
    """Draw labels that do not depend on the features, so that training errors remain."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(n_samples) % n_classes
    return rng.normal(size=(n_samples, n_features)), y


def mixed(n_classes, n_samples=300, seed=0):
    """Draw a table whose columns have very different numbers of distinct values.

    Returns
    -------
    X : ndarray of shape (n_samples, 12)
        Three numbers, a count, three flags, of which one is rare, a category of four as columns of
        0 and 1, and a constant.
    y : ndarray of shape (n_samples,)
        0 to n_classes - 1; the last ones are rarer.
    """
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_samples, 3))
    count = rng.poisson(2.0, size=(n_samples, 1))
    flags = rng.random((n_samples, 3)) < [0.5, 0.3, 0.05]
    category = rng.integers(4, size=n_samples)
    one_hot = np.eye(4)[category]
    X = np.hstack([numbers, count, flags, one_hot, np.ones((n_samples, 1))])
    score = numbers[:, 0] + 0.5 * count[:, 0] + flags[:, 0] - (category == 2)
    score += rng.logistic(size=n_samples)
    return X, np.digitize(score, np.quantile(score, 1 - 0.5 ** np.arange(1, n_classes)))


def messy(n_classes, n_samples=300, seed=0):
    """Draw a table with missing values and categories, on which the classes depend.

    Returns
    -------
    X : pandas.DataFrame of shape (n_samples, 7)
        Two numbers, one of them with missing values; words and categories, with missing ones; two
        categories; booleans; whole numbers.
    y : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    """
    rng = np.random.default_rng(seed)
    number, with_holes = rng.normal(size=(2, n_samples))
    with_holes[rng.random(n_samples) < 0.2] = np.nan
    words = rng.choice(["ash", "elm", "fir", "oak", None], n_samples)
    X = pd.DataFrame(
        {
            "number": number,
            "with holes": with_holes,
            "words": words,
            "ordered": pd.Categorical(rng.choice([30, 10, 20], n_samples)),
            "two": pd.Series(rng.choice(["no", "yes"], n_samples), dtype="string"),
            "flag": rng.random(n_samples) < 0.5,
            "count": rng.poisson(2.0, n_samples),
        }
    )
    X.loc[rng.random(n_samples) < 0.1, "ordered"] = None
    score = number + np.where(np.isnan(with_holes), 1.5, with_holes) + 2.0 * (words == "elm")
    score += X["flag"] - 1.5 * (X["ordered"] == 20) + 0.5 * rng.logistic(size=n_samples)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
