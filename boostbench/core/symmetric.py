"""Symmetric matrices, by half of the work that others take."""

import numpy as np
from scipy.linalg.lapack import dpotri


def weighted_gram(rows, weights):
    """Multiply all pairs of rows, with weights: ``(rows * weights) @ rows.T``.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns), dtype=float64
    weights : ndarray of shape (n_columns,), dtype=float64
        Not negative.

    Returns
    -------
    ndarray of shape (n_rows, n_rows)

    Examples
    --------
    >>> weighted_gram(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 4.0]))
    array([[17., 35.],
           [35., 73.]])
    """
    scaled = rows * np.sqrt(weights)
    return scaled @ scaled.T


def inverse_from_cholesky(factor):
    """Invert a positive definite matrix by its Cholesky factor.

    Parameters
    ----------
    factor : ndarray of shape (n, n), dtype=float64
        As LAPACK's ``potrf`` gives it with ``lower=1``.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> inverse_from_cholesky(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.25  , 0.    ],
           [0.    , 0.0625]])
    """
    lower, _ = dpotri(factor, lower=1)
    return np.tril(lower) + np.tril(lower, -1).T
