"""What is drawn of a shape function of numbers."""

import numpy as np


def visible_steps(term, X):
    """Cut a shape function down to the range of samples.

    Parameters
    ----------
    term : boostbench.algorithms.explanation.shape_functions.Term
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    edges, values : ndarray
        As of `Term.steps`.
    deciles : ndarray of shape (9,)
        Of the values that are not missing; all are 0 where none is there.
    """
    values = X[:, term.feature]
    values = values[~np.isnan(values)] if not np.isnan(values).all() else np.zeros(1)
    return *term.steps(values.min(), values.max()), np.quantile(values, np.arange(1, 10) / 10)
