"""Codes: how classes become the labels -1 and +1 of binary problems."""

import numpy as np


def random_half(n_classes, rng):
    """Draw a random half of the classes.

    Parameters
    ----------
    n_classes : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n_classes,), dtype=float64
        +1 for ``n_classes // 2`` classes, -1 for the others.
    """
    code = np.full(n_classes, -1.0)
    code[rng.permutation(n_classes)[: n_classes // 2]] = 1.0
    return code


def exhaustive_codes(n_classes):
    """List every division of the classes into two sides, once.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    ndarray of shape (2 ** (n_classes - 1) - 1, n_classes), dtype=float64
        -1 or +1; the first class is +1 in every code, and no code has one side only.

    Examples
    --------
    >>> exhaustive_codes(3)
    array([[ 1., -1.,  1.],
           [ 1.,  1., -1.],
           [ 1., -1., -1.]])
    """
    negative = np.arange(1, 2 ** (n_classes - 1))[:, None] >> np.arange(n_classes - 1) & 1
    return np.concatenate([np.ones((len(negative), 1)), 1.0 - 2.0 * negative], axis=1)
