"""Small data sets: one group compares bags, and the other group chooses their settings.

No set is in both groups. Sets of the papers are parts of the papers' data; the others are drawn by
scikit-learn's generators or come with scikit-learn.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

from boostbench import data
from boostbench.util import configs

# Drawn test rows for the choice of settings; so many that chance is small compared with effects.
_N_TEST = 3000


class SmallSet(NamedTuple):
    """A data set.

    Attributes
    ----------
    draw : callable
        Returns X and y.
    n_train : int or float
        Rows to train on, or their part; the rest is to test on.
    """

    draw: callable
    n_train: int | float = 0.75

    def split(self, seed):
        """Return X_train, X_test, y_train and y_test, stratified; labels are 0 to n_classes - 1."""
        X, y = self.draw()
        y = np.unique(y, return_inverse=True)[1]
        return train_test_split(X, y, train_size=self.n_train, stratify=y, random_state=seed)


def _drawn(n_samples=600, n_features=12, n_informative=5, **params):
    return datasets.make_classification(
        n_samples, n_features, n_informative=n_informative, **{"random_state": 1} | params
    )


def _quantiles(n_samples, n_features, n_classes, seed):
    return datasets.make_gaussian_quantiles(
        n_samples=n_samples, n_features=n_features, n_classes=n_classes, random_state=seed
    )


def _of_papers(name):
    dataset = data.load(configs.read_option("data", name))
    return dataset.values, dataset.class_indices


def _thinned(draw, counts, seed=0):
    """Keep the given number of rows of each class, and no row of further classes."""
    X, y = draw()
    y = np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(len(y))
    rows = [order[y[order] == label][:count] for label, count in enumerate(counts)]
    rows = np.concatenate(rows)
    return X[rows], y[rows]


BENCHMARK = {
    "breast_cancer": partial(datasets.load_breast_cancer, return_X_y=True),
    "digits": partial(datasets.load_digits, return_X_y=True),
    "hastie": partial(datasets.make_hastie_10_2, 800, random_state=0),
    "moons": partial(datasets.make_moons, 500, noise=0.3, random_state=0),
    "circles": partial(datasets.make_circles, 500, noise=0.2, factor=0.5, random_state=0),
    "quantiles": partial(_quantiles, 600, 6, 4, 0),
    "blobs": partial(datasets.make_blobs, 600, 8, centers=5, cluster_std=6.0, random_state=0),
    "drawn2": partial(_drawn, n_classes=2, flip_y=0.1),
    "drawn4": partial(_drawn, n_classes=4, class_sep=1.5),
    "noisy": partial(_drawn, n_classes=2, flip_y=0.3),
    "rare": partial(_drawn, n_classes=2, weights=[0.9]),
    "unequal": partial(_drawn, n_classes=3, weights=[0.6, 0.3], n_clusters_per_class=1),
    # Of many classes.
    "drawn8": partial(_drawn, 800, n_classes=8, n_clusters_per_class=1),
    "blobs10": partial(datasets.make_blobs, 700, 6, centers=10, cluster_std=4.0, random_state=0),
    "rare7": partial(
        _thinned,
        partial(_drawn, 3000, n_classes=7, n_clusters_per_class=1),
        [200, 100, 60, 30, 5, 4, 3],
    ),
    "rare segment": partial(
        _thinned, partial(_of_papers, "segment"), [150, 150, 100, 60, 20, 5, 4]
    ),
    "pendigits:30": partial(_thinned, partial(_of_papers, "pendigits"), [30] * 10),
    "rare pendigits": partial(
        _thinned, partial(_of_papers, "pendigits"), [120, 100, 80, 60, 40, 30, 20, 5, 4, 3]
    ),
}
BENCHMARK = {name: SmallSet(draw) for name, draw in BENCHMARK.items()}

_TUNING_PAPERS = (
    "diabetes",
    "german",
    "glass",
    "heart",
    "sonar",
    "svmguide2",
    "vehicle",
    "wine",
)
_TUNING_DRAWN = {
    "hastie'": (500, lambda n: datasets.make_hastie_10_2(n, random_state=11)),
    "moons'": (300, lambda n: datasets.make_moons(n, noise=0.25, random_state=11)),
    "circles'": (
        400,
        lambda n: datasets.make_circles(n, noise=0.15, factor=0.6, random_state=11),
    ),
    "quantiles'": (450, lambda n: _quantiles(n, 5, 3, 11)),
    "blobs'": (
        400,
        lambda n: datasets.make_blobs(n, 10, centers=4, cluster_std=6.0, random_state=11),
    ),
    "drawn2'": (400, lambda n: _drawn(n, 10, 4, n_classes=2, flip_y=0.05, random_state=11)),
    "drawn5'": (600, lambda n: _drawn(n, 15, 6, n_classes=5, random_state=11)),
    "noisy'": (500, lambda n: _drawn(n, 20, 4, n_classes=2, flip_y=0.35, random_state=12)),
    "rare'": (500, lambda n: _drawn(n, 12, 6, n_classes=2, weights=[0.93], random_state=13)),
    "unequal'": (500, lambda n: _drawn(n, 10, 5, n_classes=3, weights=[0.7, 0.2], random_state=14)),
    "drawn7'": (500, lambda n: _drawn(n, 14, 6, n_classes=7, random_state=15)),
    "drawn10'": (700, lambda n: _drawn(n, 12, 8, n_classes=10, random_state=16)),
    "blobs8'": (
        400,
        lambda n: datasets.make_blobs(n, 5, centers=8, cluster_std=4.0, random_state=17),
    ),
    "rare8'": (
        400,
        lambda n: _drawn(
            n,
            12,
            6,
            n_classes=8,
            n_clusters_per_class=1,
            weights=[0.4, 0.25, 0.15, 0.1, 0.06, 0.02, 0.01],
            random_state=18,
        ),
    ),
}
TUNING = {name: SmallSet(partial(_of_papers, name)) for name in _TUNING_PAPERS}
TUNING |= {
    name: SmallSet(partial(draw, n_train + _N_TEST), n_train)
    for name, (n_train, draw) in _TUNING_DRAWN.items()
}
TUNING |= {
    "vowel": SmallSet(partial(_of_papers, "vowel")),
    "rare vowel": SmallSet(
        partial(_thinned, partial(_of_papers, "vowel"), [90, 70, 50, 40, 20, 10, 5, 4])
    ),
    "rare letter": SmallSet(
        partial(_thinned, partial(_of_papers, "letter"), [80, 60, 50, 40, 30, 20, 5, 5, 4, 3])
    ),
    "satimage:40": SmallSet(partial(_thinned, partial(_of_papers, "satimage"), [40] * 6)),
}
