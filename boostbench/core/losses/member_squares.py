"""Half the squared error of numbers, for many models of the same samples at once.

Arrays are laid out as those of `boostbench.core.losses.member_margins`.
"""

import numpy as np

from boostbench.core.losses.member_margins import second_derivative


class Squares:
    """The loss by one score, the number itself.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_models, n_samples), dtype=float32
        Of the terms of the loss.

    Examples
    --------
    >>> loss = Squares(np.array([3.0, -1.0]), np.full((1, 2), 2.0, np.float32))
    >>> loss.derivatives(np.ones((1, 1, 2), np.float32)).ravel().tolist()
    [4.0, -4.0, 2.0, 2.0]
    """

    def __init__(self, y, weights):
        self._y = y.astype(np.float32)
        self._weights = weights

    def derivatives(self, scores):
        """Slope down and curvature; as of `TwoClasses`."""
        derivatives = np.empty((2, *scores.shape), np.float32)
        slopes, curvatures = derivatives
        np.subtract(self._y, scores, out=slopes)
        slopes *= self._weights
        curvatures[:] = self._weights
        return derivatives

    def curvature_along(self, move):
        """Second derivative along a change; as of `TwoClasses`."""
        return second_derivative(self._weights, move * move)
