"""Search for the best stump on fresh random projections of the data: the weak learner of RpBoost.

Every round sees its own random matrix, so that nothing can be sorted once per fit. But no matrix
depends on what the rounds before have found. So the matrices of many rounds are drawn, multiplied
and sorted in one go, and a round is left with a gather, prefix sums and an arg-max. What was sorted
can be kept for the next fit to the same data, which then sees the same projections.
"""

import numpy as np

from boostbench.core.learners.perceptrons import Perceptron
from boostbench.core.stumps.screening import of_one_size
from boostbench.core.stumps.thresholds import above_middle
from boostbench.core.stumps.ties import EQUAL, first_largest
from boostbench.core.weak_learner import Found

# Projected values of a batch of rounds: few enough to stay in the cache while they are sorted.
_BATCH_VALUES = 2**16

# No more positions than that are kept for the next fit; the others are drawn and sorted again.
_MAX_CACHED_POSITIONS = 2**24

# Values on a direction that are closer than 2 ** -_RESOLUTION of the largest, the precision of
# float32, are one value: features that differ by rounding only must not be parted.
_RESOLUTION_BITS = 23

# Prefix sums are products with a triangular matrix, block by block: np.cumsum waits for each sum.
_BLOCK = 16
_ONES = np.ones(_BLOCK, np.float32)
_TRIANGLE = np.triu(np.ones((_BLOCK, _BLOCK), np.float32))


class RandomProjectionSearch:
    """Stumps on random projections: of its own for every call of `best`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    draw : callable
        Takes the number of a batch and a number of rounds; returns as many matrices, of shape
        (n_rounds, n_features, n_projections), the same whenever it is asked.
    n_projections : int
    keep : bool, default=False
        Whether to keep what was sorted, so that `restart` is cheap.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> search = RandomProjectionSearch(X, lambda batch, n_rounds: np.ones((n_rounds, 1, 1)), 1)
    >>> found = search.best(np.array([[-1.0], [-1.0], [1.0], [1.0]]))
    >>> round(found.learner.threshold, 5), float(found.edge)
    (1.5, 4.0)
    """

    def __init__(self, X, draw, n_projections, keep=False):
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self._draw = draw
        self._n_rounds = max(1, _BATCH_VALUES // (len(X) * n_projections))
        positions = self._n_rounds * n_projections * (len(X) + _BLOCK)
        self._n_cached = _MAX_CACHED_POSITIONS // positions if keep else 0
        self._cache = []
        # Behind the samples one of no weight, which fills the last block.
        self._weights = np.zeros(len(X) + 1, np.float32)
        self._sorter = _LineSorter((self._n_rounds, n_projections, len(X)))
        self.restart()

    def restart(self):
        """Go back to the first projection."""
        self._batch_number = 0
        self._batch = iter(())

    def best(self, G):
        """Find the largest absolute edge on the next projection, of either sign; see `Search.best`.

        The constant stump is among them, with an infinite threshold.
        """
        projection, order, is_tied = self._next_round()
        n_samples = len(self.X)
        weights = of_one_size(G[:, 0])
        self._weights[:-1] = weights
        # Less half of all weights, a sum below a threshold is -1/2 of the stump's edge. In the last
        # column, where every sample is below, stands that of the constant stump.
        sums = _prefix_sums(self._weights.take(order), -weights.sum() / 2)
        feature, rank = self._select_first(weights, order, is_tied, np.abs(sums, out=sums))
        direction, threshold = projection[:, feature].copy(), np.inf
        if rank < n_samples - 1:
            low, high = self.X[order[feature, rank : rank + 2]] @ direction
            threshold = float(above_middle(low, high))
        outputs = np.ones(n_samples + 1)
        outputs[order[feature, : rank + 1]] = -1.0
        outputs = outputs[:-1]
        return Found(Perceptron(direction, threshold), outputs, float(outputs @ G[:, 0]))

    def _select_first(self, weights, order, is_tied, magnitudes):
        """Choose the first of the largest sums, in double precision where single cannot tell."""
        n_samples = len(weights)
        # Where all edges are small, rounding must not make one of these near to the largest.
        magnitudes[is_tied] = -np.inf
        scale = np.abs(weights).sum()
        # A sum has that many roundings: within its block, of the blocks before, of the weights. Two
        # sums are off by half of eps each, relative to all sizes.
        roundings = _BLOCK + magnitudes.shape[1] // _BLOCK + 2
        slack = (roundings * float(np.finfo(np.float32).eps) + EQUAL) * scale
        features, ranks = np.nonzero(magnitudes[:, :n_samples] >= magnitudes.max() - slack)
        if len(features) > 1:
            rows, row_of_candidate = np.unique(features, return_inverse=True)
            exact = np.cumsum(weights[order[rows, :n_samples]], axis=1) - weights.sum() / 2
            first = first_largest(np.abs(exact[row_of_candidate, ranks]), scale)
            features, ranks = features[first:], ranks[first:]
        return features[0], ranks[0]

    def _next_round(self):
        """Give the next matrix, the order of its projections, and what a threshold cannot part."""
        projection = next(self._batch, None)
        if projection is None:
            self._batch = iter(self._prepare_batch(self._batch_number))
            self._batch_number += 1
            projection = next(self._batch)
        return projection

    def _prepare_batch(self, number):
        """Draw, multiply and sort a batch of rounds, or take what is kept of it."""
        if number < len(self._cache):
            return self._cache[number]
        matrices = self._draw(number, self._n_rounds)
        np.matmul(matrices.transpose(0, 2, 1), self.X.T, out=self._sorter.values)
        order, is_tied = self._sorter.sort()
        if number < self._n_cached:
            self._cache.append(list(zip(matrices, order.copy(), is_tied.copy(), strict=True)))
        return zip(matrices, order, is_tied, strict=True)


class _LineSorter:
    """Sorts samples on many lines at once, in memory of its own.

    A value, as a whole number of more than enough digits, and its sample make one integer: integers
    sort several times as fast as an arg-sort, and in one order on every machine. To ask for fresh
    memory again and again would take longer than to sort.

    Parameters
    ----------
    shape : tuple of int
        The last of them is the number of samples.

    Attributes
    ----------
    values : ndarray of that shape, dtype=float64
        Of the samples on each line, to be set before `sort`, which overwrites them.
    """

    def __init__(self, shape):
        *lines, n_samples = shape
        n_positions = -(-n_samples // _BLOCK) * _BLOCK
        self.values = np.empty(shape)
        self._keys = np.empty(shape, np.int64)
        self._order = np.full((*lines, n_positions), n_samples)
        self._is_tied = np.zeros((*lines, n_positions), bool)
        self._bits = n_samples.bit_length()

    def sort(self):
        """Sort samples on each line, and tell which neighbours are of one value.

        Returns
        -------
        order : ndarray of shape (..., n_positions), dtype=int64
            Samples in ascending order, then `n_samples` up to the end of the last block.
        is_tied : ndarray of shape (..., n_positions), dtype=bool
            Where no threshold can be, as the next sample has the same value.
        """
        values, keys = self.values, self._keys
        n_samples, digits = values.shape[-1], 62 - self._bits
        largest = np.maximum(values.max(axis=-1), -values.min(axis=-1))[..., None]
        values /= np.where(largest > 0, largest, 1.0)
        values *= 2.0**digits
        np.copyto(keys, values, casting="unsafe")
        keys <<= self._bits
        keys |= np.arange(n_samples)
        keys.sort(axis=-1)
        np.bitwise_and(keys, 2**self._bits - 1, out=self._order[..., :n_samples])
        keys >>= self._bits
        gaps = values.view(np.int64)[..., 1:]
        np.subtract(keys[..., 1:], keys[..., :-1], out=gaps)
        max_gap = 2 ** (digits - _RESOLUTION_BITS)
        np.less_equal(gaps, max_gap, out=self._is_tied[..., : n_samples - 1])
        return self._order, self._is_tied


def _prefix_sums(values, start):
    """Add up the values of each row from a start; overwrites them.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_positions), dtype=float32
        With full blocks.
    start : float

    Returns
    -------
    ndarray of shape (n_rows, n_positions), dtype=float32
    """
    blocks = values.reshape(-1, _BLOCK)
    totals = (blocks @ _ONES).reshape(len(values), -1)
    firsts = values[:, ::_BLOCK]
    firsts += start
    firsts[:, 1:] += np.cumsum(totals[:, :-1], axis=1)
    return (blocks @ _TRIANGLE).reshape(values.shape)
