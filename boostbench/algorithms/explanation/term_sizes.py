"""Mean absolute terms of a fitted model over its training rows, the basis of importances."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from boostbench.algorithms.base.decisions import ROUNDING


class TermSizes(NamedTuple):
    """Mean absolute terms of features and of pairs.

    Attributes
    ----------
    features : ndarray of shape (n_used,), dtype=int64
        Indices of the features in use.
    sizes : ndarray of shape (n_used,), dtype=float64
        Mean absolute term of each of them.
    pair_sizes : ndarray of shape (n_pairs,), dtype=float64
        Mean absolute entry of the table of each pair.
    row_weights : list of ndarray of shape (n_rows,), dtype=float64
        Sum of the sample weights in each row of the table of each used feature.
    """

    features: np.ndarray
    sizes: np.ndarray
    pair_sizes: np.ndarray
    row_weights: list

    @property
    def total(self):
        """Sum over the features; over the pairs if it is 0; 1 if both are 0."""
        return self.sizes.sum() or self.pair_sizes.sum() or 1.0


def term_sizes(shapes, X, weights=None):
    r"""Compute the mean absolute terms over samples.

    With the mean 0 over the samples, the term of feature j is :math:`f_{jr}` for the score of class
    r. Its size is

    .. math:: \frac{1}{k \sum_i s_i} \sum_{i, r} s_i |f_{jr}(x_{ij}) - \bar f_j(x_{ij})|

    with the weights s of the samples and, for more than two classes, the mean :math:`\bar f_j` over
    the k classes, which changes no prediction. For two classes and for a regressor there is one
    score: k is 1 and :math:`\bar f_j` is 0. The sums run over the rows of a table, not over
    samples.

    Parameters
    ----------
    shapes : boostbench.algorithms.explanation.shape_functions.ShapeFunctions
    X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features), dtype=float64
        Checked samples, with codes for categories and NaN for missing values.
    weights : ndarray of shape (n_samples,), default=None
        Positive sample weights; None: all are 1.

    Returns
    -------
    TermSizes
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    columns = X.tocsc() if sparse.issparse(X) else X
    row_weights = []
    for term in shapes.terms:
        values, counts = _values_and_weights(columns, term.feature, weights)
        row_weights.append(np.bincount(term.row_indices(values), counts, len(term.table)))
    sizes = [
        mean_absolute(term.table, counts)
        for term, counts in zip(shapes.terms, row_weights, strict=True)
    ]
    pair_sizes = [
        mean_absolute(pair.table.reshape(len(cells), -1), cells)
        for pair, cells in zip(shapes.pairs, shapes.cell_weights(X, weights), strict=True)
    ]
    features = np.array([term.feature for term in shapes.terms], dtype=np.int64)
    return TermSizes(
        features, np.array(sizes, dtype=float), np.array(pair_sizes, dtype=float), row_weights
    )


def _values_and_weights(X, feature, weights):
    """Return the values of a feature and their weights; zeros of a sparse feature are one value."""
    if not sparse.issparse(X):
        return X[:, feature], weights
    entries = slice(*X.indptr[feature : feature + 2])
    entry_weights = weights[X.indices[entries]]
    zero_weight = max(0.0, weights.sum() - entry_weights.sum())
    return np.append(X.data[entries], 0.0), np.append(entry_weights, zero_weight)


def mean_absolute(table, weights):
    """Return the mean absolute entry of a table whose rows have weights."""
    weights = weights / weights.sum()
    centred = table - weights @ table
    if table.shape[1] > 1:
        centred -= centred.mean(axis=1, keepdims=True)
    size = float(np.mean(weights @ np.abs(centred)))
    # A term that is equal for all classes is 0 up to rounding errors.
    return size if size > ROUNDING * np.abs(table).max() else 0.0
