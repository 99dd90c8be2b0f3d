"""Perceptrons, which are stumps on a direction of the feature space, and edges along directions.

Boosters on random projections or discriminants have such weak learners.
"""

from typing import NamedTuple

import numpy as np

from boostbench.core.weak_learner import LearnerStack

# Values on a direction whose difference is at most this fraction of the largest absolute value are
# equal: they may differ by rounding errors only.
_RESOLUTION = np.finfo(np.float32).eps


class Perceptron(NamedTuple):
    """Weak learner: ``+1 if direction @ x > threshold else -1``.

    It has no polarity, since a negative direction has the same effect.

    Attributes
    ----------
    direction : ndarray of shape (n_features,), dtype=float64
    threshold : float
    """

    direction: np.ndarray
    threshold: float

    def __call__(self, X):
        """Return -1 or +1 for each row of X, of shape (n_samples, n_features)."""
        return np.where(X @ self.direction > self.threshold, 1.0, -1.0)


class Perceptrons(LearnerStack):
    """Stack of perceptrons.

    Parameters
    ----------
    perceptrons : sequence of Perceptron

    Attributes
    ----------
    directions : ndarray of shape (n_hypotheses, n_features), dtype=float64
    threshold : ndarray of shape (n_hypotheses,), dtype=float64
    """

    def __init__(self, perceptrons):
        self.directions = np.array([p.direction for p in perceptrons], dtype=np.float64)
        self.threshold = np.array([p.threshold for p in perceptrons], dtype=np.float64)

    def __len__(self):
        return len(self.threshold)

    def outputs(self, X, selection=slice(None)):
        """Return -1 and +1, of shape (n_samples, n_selected); see `LearnerStack.outputs`."""
        # An empty stack does not know the number of features, hence the reshape.
        directions = self.directions[selection].reshape(-1, X.shape[1])
        return np.where(X @ directions.T > self.threshold[selection], 1.0, -1.0)


def edges_on_lines(values, weights):
    """Return the edges of all stumps that separate neighbouring points on lines.

    Parameters
    ----------
    values : ndarray of shape (n_lines, n_points)
        Coordinate of each point on each line, its projection on a direction.
    weights : ndarray of shape (n_lines, n_points)
        Signed weights of the points.

    Returns
    -------
    order : ndarray of shape (n_lines, n_points), dtype=int64
        Points of each line in ascending order.
    edges : ndarray of shape (n_lines, n_points - 1)
        Edge i belongs to the stump with output +1 above the points ``order[:, : i + 1]``.

    Examples
    --------
    >>> edges_on_lines(np.array([[3.0, 1.0, 2.0]]), np.array([[1.0, -2.0, 0.5]]))
    (array([[1, 2, 0]]), array([[3.5, 2.5]]))
    """
    # The edge is the sum of the weights above minus the sum below: the sum of all weights minus
    # twice the sum below.
    order = values.argsort(axis=1)
    sums_below = np.take_along_axis(weights, order, axis=1).cumsum(axis=1)
    return order, sums_below[:, -1:] - 2 * sums_below[:, :-1]


def differs_from_next(values):
    """Return whether each value differs from the next one in its row by more than rounding errors.

    Parameters
    ----------
    values : ndarray of shape (n_lines, n_points)
        Coordinates, ascending in each row.

    Returns
    -------
    ndarray of shape (n_lines, n_points - 1), dtype=bool
    """
    largest = np.maximum(-values[:, :1], values[:, -1:])
    return np.diff(values, axis=1) > _RESOLUTION * largest
