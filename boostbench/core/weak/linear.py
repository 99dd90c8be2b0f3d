"""Linear perceptrons: stumps on a direction of the feature space, one and many."""

from typing import NamedTuple

import numpy as np

from boostbench.core.weak.base import Stack


class Perceptron(NamedTuple):
    """A weak learner: ``+1 if direction @ x > threshold else -1``.

    There is no polarity: the direction has two ends.
    """

    direction: np.ndarray
    threshold: float

    def __call__(self, X):
        """Evaluate the perceptron.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), dtype=float64
            -1 or +1.
        """
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
        """Evaluate some of the hypotheses.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        some : slice, default=slice(None)
            Which; all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_some), dtype=float64
            -1 or +1.
        """
        # Without hypotheses there is no number of features to take from them.
        directions = self.directions[some].reshape(-1, X.shape[1])
        return np.where(X @ directions.T > self.threshold[some], 1.0, -1.0)
