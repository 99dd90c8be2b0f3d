"""Selection of the curvatures in a Hessian; it affects only the speed of Newton's method."""

import numpy as np

# The smallest curvatures whose sum is below this fraction of the total are left out. Most samples
# have hardly any curvature.
_NEGLIGIBLE = 1e-3

# Relative difference below which curvatures are equal: equal margins are all kept or all left out.
_SAME = 1e-6


def significant_mask(curvature):
    """Return a mask of the curvatures that are not negligible, row by row.

    Parameters
    ----------
    curvature : ndarray of shape (n,) or (n_rows, n), dtype=float64
        Nonnegative curvatures.

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
