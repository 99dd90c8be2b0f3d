"""Half the squared error of numbers, for many models of the same samples at once.

Arrays have the axes of `boostbench.core.losses.member_margins`.
"""

import numpy as np

from boostbench.core.losses.member_margins import second_derivative


class Squares:
    """The loss by one score, the number itself.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_samples, n_models), dtype=float32
        Weights of the terms of the loss.

    Examples
    --------
    >>> loss = Squares(np.array([3.0, -1.0]), np.full((2, 1), 2.0, np.float32))
    >>> loss.derivatives(np.ones((1, 2, 1), np.float32)).ravel().tolist()
    [4.0, -4.0, 2.0, 2.0]
    """

    def __init__(self, y, weights):
        self._y = y.astype(np.float32)[:, None]
        self._weights = weights

    def derivatives(self, scores):
        """Return the negative slope and the curvature; as in `TwoClasses`."""
        derivatives = np.empty((2, *scores.shape), np.float32)
        slopes, curvatures = derivatives
        np.subtract(self._y, scores, out=slopes)
        slopes *= self._weights
        curvatures[:] = self._weights
        return derivatives

    def curvature_along(self, move, curvatures):
        """Return the second derivative along a change; as in `TwoClasses`."""
        return second_derivative(curvatures, move * move)
