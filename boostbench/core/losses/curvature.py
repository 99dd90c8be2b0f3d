"""Which curvatures make up a Hessian: it only decides how fast Newton's method goes."""

import numpy as np

# What has together less than this part of all curvature is left out: most have next to none.
_NEGLIGIBLE = 1e-3

# Equal margins have equal curvature but for rounding: all of them are left out, or none.
_SAME = 1e-6


def significant_mask(curvature):
    """Tell what is not negligible, row by row.

    Parameters
    ----------
    curvature : ndarray of shape (n,) or (n_rows, n), dtype=float64
        Not negative.

    Returns
    -------
    ndarray of the same shape, dtype=bool

    Examples
    --------
    >>> significant_mask(np.array([[1.0, 1e-9, 1.0], [1e-9, 1e-9, 1e-9]]))
    array([[ True, False,  True],
           [ True,  True,  True]])
    """
    ascending = np.sort(curvature, axis=-1)
    sums = np.cumsum(ascending, axis=-1)
    rank = np.sum(sums <= _NEGLIGIBLE * sums[..., -1:], axis=-1, keepdims=True)
    least = np.take_along_axis(ascending, np.minimum(rank, curvature.shape[-1] - 1), axis=-1)
    return curvature >= (1 - _SAME) * least
