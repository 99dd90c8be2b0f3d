"""Weighted Fisher linear discriminant analysis (WLDA): a weak learner of paper 1, Table VI."""

import numpy as np

# Directions in which the classes vary less than this part of the most are left out: rounding, or a
# constant feature.
_RANK_TOLERANCE = 1e-10


def fisher_direction(within, difference):
    r"""Solve for :math:`(\Sigma_1 + \Sigma_2)^{-1} (\mu_1 - \mu_2)`, by the pseudo-inverse.

    Parameters
    ----------
    within : ndarray of shape (..., n_features, n_features)
        :math:`\Sigma_1 + \Sigma_2`, symmetric.
    difference : ndarray of shape (..., n_features)
        :math:`\mu_1 - \mu_2`.

    Returns
    -------
    ndarray of shape (..., n_features)

    Examples
    --------
    >>> print(fisher_direction(np.diag([2.0, 0.0]), np.array([1.0, 1.0])))
    [0.5 0. ]
    """
    inverse = np.linalg.pinv(within, rcond=_RANK_TOLERANCE, hermitian=True)
    return np.matmul(inverse, difference[..., None])[..., 0]
