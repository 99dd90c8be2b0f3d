"""Output codes: assignments of the classes to the labels -1 and +1 of binary problems."""

import numpy as np


def random_half(n_classes, rng):
    """Assign +1 to a random half of the classes.

    Parameters
    ----------
    n_classes : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n_classes,), dtype=float64
        +1 for ``n_classes // 2`` classes and -1 for the rest.
    """
    code = np.full(n_classes, -1.0)
    code[rng.permutation(n_classes)[: n_classes // 2]] = 1.0
    return code


def exhaustive_codes(n_classes):
    """Return every division of the classes into two sides, each of them once.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    ndarray of shape (2 ** (n_classes - 1) - 1, n_classes), dtype=float64
        -1 or +1. The first class is +1 in every code, and every code has both signs.

    Examples
    --------
    >>> exhaustive_codes(3)
    array([[ 1., -1.,  1.],
           [ 1.,  1., -1.],
           [ 1., -1., -1.]])
    """
    negative = np.arange(1, 2 ** (n_classes - 1))[:, None] >> np.arange(n_classes - 1) & 1
    return np.concatenate([np.ones((len(negative), 1)), 1.0 - 2.0 * negative], axis=1)
