"""A small data set of which everything is known."""

import numpy as np

from boostbench.data.dataset import Dataset


def make_dataset(counts=(40, 40, 40), name="toy", splits=None, seed=0):
    """A data set with as many samples per class as asked for, in 3 noisy features."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    X = y[:, None] + rng.normal(scale=0.8, size=(len(y), 3))
    order = rng.permutation(len(y))
    labels = np.array(["a", "b", "c", "d", "e"])[y]
    return Dataset(name=name, X=X[order], y=labels[order], source="generated", splits=splits)
