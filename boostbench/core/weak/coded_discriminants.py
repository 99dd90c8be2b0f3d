"""Search for a linear discriminant and a code: eq. (24) with the weak learner of Table VI, paper 1.

A code turns the weights of a sample in the classes into one signed weight, ``sum_r weights[i, r]
code[r]``: the sign is the side that a weak learner should put the sample on, the size is how much
that matters. So every code poses a two-class problem of its own, whose weighted linear discriminant
gives a direction, on which the best stump is found as on a feature.
"""

import numpy as np

from boostbench.core.weak.linear import Perceptron, Perceptrons
from boostbench.core.weak.wlda import fisher_direction

# Codes are tried in blocks, the most promising first, of that many or fewer, so that no array of a
# block has more than that many values.
_BLOCK_CODES = 64
_BLOCK_VALUES = 2**21

# Products of two features come in blocks of that many values, which are kept while they are few.
_PRODUCT_VALUES = 2**21
_MOST_KEPT_VALUES = 2**23

# Values on a direction that are closer than this part of the largest are one value.
_RESOLUTION = np.finfo(np.float32).eps


class CodedDiscriminants:
    """The discriminants of a training set, for any codes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.

    Attributes
    ----------
    stack : type
        Makes one object of the weak learners that were found.
    size : int
        Numbers that a weak learner consists of.
    """

    stack = Perceptrons

    def __init__(self, X):
        self.X = X
        self.size = X.shape[1] + 1
        # No direction depends on where 0 is, but the rounding of variances does.
        self._features = np.ascontiguousarray((X - X.mean(axis=0)).T)
        self._pairs = np.triu_indices(X.shape[1])
        few = len(self._pairs[0]) * len(X) <= _MOST_KEPT_VALUES
        self._kept_products = list(self._products()) if few else None

    def most_violated(self, weights, codes, violation):
        """Discriminant of the largest ``max_v violation[v] + edge for codes[v]``.

        Parameters
        ----------
        weights : ndarray of shape (n_samples, n_classes)
        codes : ndarray of shape (n_codes, n_classes)
        violation : ndarray of shape (n_codes,)

        Returns
        -------
        boostbench.core.weak.linear.Perceptron or None
            None where no discriminant parts any samples.

        Notes
        -----
        A weak learner that has every sample on its right side scores ``violation[v]`` and the sum
        of the sizes of the weights with v. Codes are tried in that order, as long as they may beat
        the best so far.
        """
        block = max(1, min(_BLOCK_CODES, _BLOCK_VALUES // max(len(self.X), self.X.shape[1] ** 2)))
        weights = np.ascontiguousarray(weights.T)
        sizes = [np.abs(some @ weights).sum(axis=1) for some in _blocks(codes, block)]
        bound = violation + np.concatenate(sizes)
        best, found = -np.inf, None
        for some in _blocks(bound.argsort()[::-1], block):
            if bound[some[0]] <= best:
                break
            signed = codes[some] @ weights
            directions = self._directions(signed)
            best, better = self._best_stump(directions, signed, violation[some], best)
            found = better or found
        return found

    def best(self, weights, code):
        """Discriminant for one code; as `CodedStumps.best`."""
        return self.most_violated(weights, code[None], np.zeros(1))

    def _directions(self, signed):
        """Discriminants of signed weights (n_problems, n_samples); (n_problems, n_features).

        With the weights of either side scaled to a sum of 1, the second moments of the two sides
        add up to one moment, and the squares of their means to those of sum and difference.
        """
        positive = np.maximum(signed, 0).sum(axis=1, keepdims=True)
        negative = np.minimum(signed, 0).sum(axis=1, keepdims=True)
        tiny = np.finfo(float).tiny
        shares = signed / np.where(signed > 0, positive + tiny, negative - tiny)
        difference = np.copysign(shares, signed) @ self._features.T
        total = shares @ self._features.T
        within = self._second_moments(shares)
        within -= (_squares(total) + _squares(difference)) / 2
        return fisher_direction(within, difference)

    def _second_moments(self, shares):
        n_features = len(self._features)
        moments = np.empty((len(shares), n_features, n_features))
        for i, j, products in self._kept_products or self._products():
            sums = shares @ products.T
            moments[:, i, j] = sums
            moments[:, j, i] = sums
        return moments

    def _products(self):
        """Yield the products of features i and j, of shape (n_pairs, n_samples), in blocks."""
        rows, columns = self._pairs
        width = max(1, _PRODUCT_VALUES // len(self.X))
        for i, j in zip(_blocks(rows, width), _blocks(columns, width), strict=True):
            yield i, j, self._features[i] * self._features[j]

    def _best_stump(self, directions, signed, violation, floor):
        """Best stump over several directions, each with its own weights, and its score.

        (floor, None) where none scores more than `floor`.
        """
        values = directions @ self._features
        order = values.argsort(axis=1)
        below = np.take_along_axis(signed, order, axis=1).cumsum(axis=1)
        edges = below[:, -1:] - 2 * below[:, :-1]
        scores = np.abs(edges)
        scores += violation[:, None]
        # Most directions fall out here, before it is seen which samples a threshold can part.
        left = np.flatnonzero(scores.max(axis=1) > floor)
        values = np.take_along_axis(values[left], order[left], axis=1)
        largest = np.maximum(-values[:, :1], values[:, -1:])
        apart = np.diff(values, axis=1) > _RESOLUTION * largest
        scores = np.where(apart, scores[left], floor)
        if not (scores > floor).any():
            return floor, None
        v, at = np.unravel_index(scores.argmax(), scores.shape)
        direction = directions[left[v]]
        if edges[left[v], at] < 0:
            direction = -direction
        neighbours = order[left[v], at : at + 2]
        threshold = (self.X[neighbours] @ direction).mean()
        return scores[v, at], Perceptron(direction, float(threshold))


def _blocks(values, length):
    return (values[start : start + length] for start in range(0, len(values), length))


def _squares(vectors):
    return vectors[:, :, None] * vectors[:, None]
