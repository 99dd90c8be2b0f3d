"""Visible part of the shape function of a numeric feature."""

import numpy as np


def visible_steps(term, X):
    """Return the steps of a shape function within the range of samples.

    Parameters
    ----------
    term : boostbench.algorithms.explanation.shape_functions.Term
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    edges, values : ndarray
        Result of `Term.steps`.
    deciles : ndarray of shape (9,)
        Deciles of the values that are not missing; 0 if all are missing.
    """
    values = X[:, term.feature]
    values = values[~np.isnan(values)] if not np.isnan(values).all() else np.zeros(1)
    return *term.steps(values.min(), values.max()), np.quantile(values, np.arange(1, 10) / 10)
