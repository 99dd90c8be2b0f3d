"""Stumps on directions of the feature space: perceptrons, one and many, and all cuts of a line."""

from typing import NamedTuple

import numpy as np

from boostbench.core.weak_learner import Stack

# Values on a direction that are closer than this part of the largest are one value.
_RESOLUTION = np.finfo(np.float32).eps


class Perceptron(NamedTuple):
    """A weak learner: ``+1 if direction @ x > threshold else -1``.

    There is no polarity: the direction has two ends.
    """

    direction: np.ndarray
    threshold: float

    def __call__(self, X):
        """Evaluate it for X of shape (n_samples, n_features): -1 or +1 for each sample."""
        return np.where(X @ self.direction > self.threshold, 1.0, -1.0)


class Perceptrons(Stack):
    """T stacked perceptrons.

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

    def outputs(self, X, some=slice(None)):
        """Evaluate some as `Stack.outputs`: -1 or +1, of shape (n_samples, n_some)."""
        # Without hypotheses there is no number of features to take from them.
        directions = self.directions[some].reshape(-1, X.shape[1])
        return np.where(X @ directions.T > self.threshold[some], 1.0, -1.0)


def edges_on_lines(values, weights):
    """Edges of the stumps that cut lines between neighbouring points.

    Parameters
    ----------
    values : ndarray of shape (n_lines, n_points)
        Where the points are on each line.
    weights : ndarray of shape (n_lines, n_points)
        Signed.

    Returns
    -------
    order : ndarray of shape (n_lines, n_points), dtype=int64
        The points of each line in ascending order.
    edges : ndarray of shape (n_lines, n_points - 1)
        Of the stump that is +1 above the first point, the second, and so on.

    Examples
    --------
    >>> edges_on_lines(np.array([[3.0, 1.0, 2.0]]), np.array([[1.0, -2.0, 0.5]]))
    (array([[1, 2, 0]]), array([[3.5, 2.5]]))
    """
    order = values.argsort(axis=1)
    below = np.take_along_axis(weights, order, axis=1).cumsum(axis=1)
    return order, below[:, -1:] - 2 * below[:, :-1]


def is_separable(values):
    """Tell which neighbours in ascending rows a threshold parts: not those that rounding parts."""
    largest = np.maximum(-values[:, :1], values[:, -1:])
    return np.diff(values, axis=1) > _RESOLUTION * largest
