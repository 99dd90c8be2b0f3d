"""Small classification problems."""

import numpy as np


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
    """Draw labels that do not depend on the features: a training stays far from perfect."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(n_samples) % n_classes
    return rng.normal(size=(n_samples, n_features)), y
