"""A convention for what comes with either sign: eigenvectors, and what is made of them."""

import numpy as np

# Entries whose magnitudes differ by less than this part are of one size: rounding must not choose.
_RELATIVE_TOLERANCE = 1e-6


def canonical_signs(columns):
    """Choose a sign for each column: that which makes its largest entry positive.

    Of entries that are equally large, but for rounding, the first one counts.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)

    Returns
    -------
    ndarray of shape (n_columns,), dtype=float64
        -1 or +1.

    Examples
    --------
    >>> canonical_signs(np.array([[1.0, -2.0], [-1.0, 1.0]]))
    array([ 1., -1.])
    """
    magnitudes = np.abs(columns)
    first = (magnitudes >= (1 - _RELATIVE_TOLERANCE) * magnitudes.max(axis=0)).argmax(axis=0)
    return np.where(columns[first, np.arange(columns.shape[1])] < 0, -1.0, 1.0)
