"""Operations on symmetric matrices at half of the cost of general ones."""

import numpy as np
from scipy.linalg.lapack import dpotri


def weighted_gram(rows, weights):
    """Return the weighted Gram matrix ``(rows * weights) @ rows.T``.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns), dtype=float64
    weights : ndarray of shape (n_columns,), dtype=float64
        Nonnegative weights.

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
    """Return the inverse of a positive definite matrix from its Cholesky factor.

    Parameters
    ----------
    factor : ndarray of shape (n, n), dtype=float64
        Lower triangular factor, as returned by LAPACK's ``potrf`` with ``lower=1``.

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
