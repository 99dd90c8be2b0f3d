"""Tie-breaking among weak learners whose edges differ by rounding only.

The last digits of a sum depend on the order of additions, and so on the library of linear algebra,
on the layout of the data, and on whether a sample has weight 2 or occurs twice. If edges differ by
no more than such digits, a search returns the first weak learner in the canonical order (feature,
threshold, column).
"""

import numpy as np

# Sums are equal if they differ by no more than this fraction of the sum of absolute weights. The
# rounding error of sums of n samples in double precision is at most the fraction 3 n 2^-53, far
# less, and differences of this size do not matter to a model.
TIE_TOLERANCE = 2.0**-30


def argmax_with_tolerance(values, scale):
    """Return the index of the first of the numbers that equal the largest within rounding.

    Parameters
    ----------
    values : ndarray of shape (..., n_values)
    scale : float or ndarray of shape (...)
        Sum of the absolute summands. Numbers are equal if they differ by no more than
        `TIE_TOLERANCE` times this sum.

    Returns
    -------
    int or ndarray of shape (...)

    Examples
    --------
    >>> int(argmax_with_tolerance(np.array([0.1, 0.3, 0.1 + 0.2]), scale=1.0))
    1
    """
    lowest_tied = values.max(axis=-1) - TIE_TOLERANCE * np.asarray(scale)
    return (values >= lowest_tied[..., None]).argmax(axis=-1)
