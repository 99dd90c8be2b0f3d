"""Tests, ranks and effect sizes of numbers as they are printed.

All of them raise a ValueError if a number is NaN or infinite. The caller must first leave out each
data set on which an algorithm has no number; only the caller knows whether such a gap depends on
the numbers.
"""

import numpy as np
from numpy.typing import ArrayLike

#: Significance level of all tests.
LEVEL = 0.05


def finite_array(values: ArrayLike) -> np.ndarray:
    """Return numbers as an array.

    Parameters
    ----------
    values : array-like of float

    Returns
    -------
    ndarray of float64
        Of the shape of `values`.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.

    Examples
    --------
    >>> finite_array([1, float("nan")])
    Traceback (most recent call last):
    ValueError: a number is nan; leave out what has no number
    """
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        odd = values[~np.isfinite(values)][0]
        raise ValueError(f"a number is {odd}; leave out what has no number")
    return values
