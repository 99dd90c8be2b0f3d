"""Sign convention for eigenvectors, whose sign is arbitrary."""

import numpy as np

# Magnitudes that differ by less than this fraction are equal: rounding must not choose.
_RELATIVE_TOLERANCE = 1e-6


def canonical_signs(columns):
    """Return the sign for each column that makes its entry of largest magnitude positive.

    Ties, up to rounding, go to the first entry.

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
