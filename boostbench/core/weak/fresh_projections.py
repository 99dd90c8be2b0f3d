"""Search for the best stump on fresh random projections of the data: the weak learner of RpBoost.

Every round sees its own random matrix, so that nothing can be sorted once per fit. But no matrix
depends on what the rounds before have found. So the matrices of many rounds are drawn, multiplied
and sorted in one go, and a round is left with a gather, a cumulative sum and an arg-max.
"""

import numpy as np

from boostbench.core.weak.base import Found, largest_entry
from boostbench.core.weak.linear import Perceptron

# Projected values of a batch of rounds: their order and values stay in the cache.
_BATCH_VALUES = 2**17

# Values on a direction that are closer than this part of the largest are one value: features that
# differ by rounding only must not be parted.
_RESOLUTION = np.finfo(np.float32).eps


class FreshProjections:
    """Stumps on random projections that are drawn anew for every call of `best`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    draw : callable
        Takes a number of rounds; returns as many matrices, of shape (n_rounds, n_features,
        n_projections).
    n_projections : int

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> search = FreshProjections(X, lambda n_rounds: np.ones((n_rounds, 1, 1)), 1)
    >>> found = search.best(np.array([[-1.0], [-1.0], [1.0], [1.0]]))
    >>> float(found.learner.threshold), float(found.edge)
    (1.5, 4.0)
    """

    def __init__(self, X, draw, n_projections):
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self._draw = draw
        self._n_rounds = max(1, _BATCH_VALUES // (len(X) * n_projections))
        self._batch = iter(())

    def best(self, G):
        """Stump of the largest absolute edge on the next projection, the constant stump among them.

        Parameters
        ----------
        G : ndarray of shape (n_samples, 1)

        Returns
        -------
        Found
            The edge may be of either sign. The constant stump has an infinite threshold.
        """
        matrix, order, values, together = self._next()
        below = G.take(order)
        np.cumsum(below, axis=1, out=below)
        # In the last column, where every sample is below, stands the edge of the constant stump.
        edges = below[0, -1] - 2 * below
        edges[together] = 0.0
        feature, rank, edge = largest_entry(edges)
        if edge == 0:
            rank = len(self.X) - 1  # there may be no other stump
        outputs = np.ones(len(self.X))
        outputs[order[feature, : rank + 1]] = -1.0
        threshold = np.inf
        if rank + 1 < len(self.X):
            threshold = float(values[feature, rank] / 2 + values[feature, rank + 1] / 2)
        learner = Perceptron(matrix[:, feature].copy(), threshold)
        return Found(learner, outputs, float(outputs @ G[:, 0]))

    def _next(self):
        """Give the next matrix, the order and values of its projections, and what is not parted."""
        found = next(self._batch, None)
        if found is None:
            self._batch = self._prepare()
            found = next(self._batch)
        return found

    def _prepare(self):
        matrices = self._draw(self._n_rounds)
        values = np.matmul(matrices.transpose(0, 2, 1), self.X.T)
        order = values.argsort(axis=2)
        values = np.take_along_axis(values, order, axis=2)
        largest = np.maximum(-values[..., :1], values[..., -1:])
        together = np.zeros(values.shape, bool)
        together[..., :-1] = np.diff(values, axis=2) <= _RESOLUTION * largest
        return zip(matrices, order, values, together, strict=True)
