"""Encoding of categories as columns of 0 and 1, for estimators that need numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class CategoricalColumn(NamedTuple):
    """Column of a feature matrix that holds codes of categories.

    Attributes
    ----------
    column : int
        Index of the column.
    words : tuple of str
        Categories. A value of the column is the index of its category, or NaN if it is missing.
    """

    column: int
    words: tuple[str, ...]


def encode_one_hot(X: np.ndarray, sizes: Sequence[tuple[int, int]]) -> np.ndarray:
    """Replace each column of codes by a column of 0 and 1 for each category.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns), float64
        Numbers and codes.
    sizes : sequence of (int, int)
        Column of codes and number of its categories, in the order of the columns.

    Returns
    -------
    ndarray of shape (n_samples, n_features), float64
        X itself if there are no columns of codes. A missing category is NaN in all its columns.

    Examples
    --------
    >>> encode_one_hot(np.array([[7.0, 2.0], [8.0, 0.0], [9.0, np.nan]]), [(1, 3)])
    array([[ 7.,  0.,  0.,  1.],
           [ 8.,  1.,  0.,  0.],
           [ 9., nan, nan, nan]])
    """
    if not sizes:
        return X
    columns, counts = np.transpose(sizes)
    widths = np.ones(X.shape[1], dtype=np.intp)
    widths[columns] = counts
    starts = np.cumsum(widths) - widths
    encoded = np.zeros((len(X), widths.sum()))
    numbers = np.setdiff1d(np.arange(X.shape[1]), columns)
    encoded[:, starts[numbers]] = X[:, numbers]

    codes = X[:, columns]
    is_missing = np.isnan(codes)
    rows, positions = np.nonzero(~is_missing)
    encoded[rows, starts[columns][positions] + codes[rows, positions].astype(np.intp)] = 1
    if is_missing.any():
        is_one_hot = np.repeat(np.isin(np.arange(X.shape[1]), columns), widths)
        block = encoded[:, is_one_hot]
        block[np.repeat(is_missing, counts, axis=1)] = np.nan
        encoded[:, is_one_hot] = block
    return encoded
