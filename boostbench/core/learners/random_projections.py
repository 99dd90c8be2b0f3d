"""Search for the best stump on new random projections of the data: the weak learner of RpBoost.

Every round has its own random matrix, so samples cannot be sorted once per fit. But no matrix
depends on earlier rounds. Therefore the matrices of many rounds are drawn, multiplied and sorted in
one batch, and a round consists of a gather, prefix sums and an arg-max. The sorted batches can be
cached for the next fit to the same data, which then has the same projections.

Samples on a projected feature are points on a line. A stump has the output -1 up to a threshold and
+1 above it, so that its edge is the sum of all weights minus twice the sum below the threshold.
"""

import numpy as np

from boostbench.core.learners.perceptrons import Perceptron
from boostbench.core.stumps.screening import rescale_pow2
from boostbench.core.stumps.thresholds import above_middle
from boostbench.core.weak_learner import TIE_TOLERANCE, SearchResult, argmax_with_tolerance

# Number of projected values in a batch of rounds, so that they fit in the cache while they are
# sorted.
_BATCH_VALUES = 2**16

# Maximum number of positions (sorted points and padding) that are kept for the next fit: 144 MB, 9
# bytes each. Further batches are drawn and sorted again.
_MAX_CACHED_POSITIONS = 2**24

# Values on a direction are equal if their difference is at most 2 ** -_RESOLUTION_BITS of the
# largest absolute value. Samples that differ by rounding errors must not be separated.
_RESOLUTION_BITS = 23

# Length of the blocks of points whose prefix sums are products with a triangular matrix. This is
# faster than np.cumsum, where each addition waits for the previous one.
_BLOCK_POINTS = 16

# Factors of a block: its product with the ones is its sum, and its product with the triangle is its
# prefix sums.
_ONES = np.ones(_BLOCK_POINTS, np.float32)
_TRIANGLE = np.triu(np.ones((_BLOCK_POINTS, _BLOCK_POINTS), np.float32))


class RandomProjectionSearch:
    """Search for the best stump on random projections, with a new matrix in every call of `best`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    draw : callable
        Deterministic function of the index of a batch and a number of rounds that returns
        matrices of shape (n_rounds, n_features, n_projections).
    n_projections : int
        Number of projected features in each round.
    cache_batches : bool, default=False
        True: cache sorted batches, so that the rounds after `restart` are cheap.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> search = RandomProjectionSearch(X, lambda batch, n_rounds: np.ones((n_rounds, 1, 1)), 1)
    >>> result = search.best(np.array([[-1.0], [-1.0], [1.0], [1.0]]))
    >>> round(result.learner.threshold, 5), float(result.edge)
    (1.5, 4.0)
    """

    def __init__(self, X, draw, n_projections, cache_batches=False):
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self._draw = draw
        self._rounds_per_batch = max(1, _BATCH_VALUES // (len(X) * n_projections))
        positions_per_batch = self._rounds_per_batch * n_projections * (len(X) + _BLOCK_POINTS)
        self._max_cached_batches = (
            _MAX_CACHED_POSITIONS // positions_per_batch if cache_batches else 0
        )
        self._cache = []
        # The last entry is the weight 0 of a sample that does not exist. The orders of the samples
        # are padded with it to the end of the last block.
        self._weights = np.zeros(len(X) + 1, np.float32)
        self._sorter = _LineSorter((self._rounds_per_batch, n_projections, len(X)))
        self.restart()

    def restart(self):
        """Go back to the first round, for the next fit."""
        self._batch_number = 0
        self._batch = iter(())

    def best(self, G):
        """Return the stump with the largest absolute edge on the projections of the next round.

        The constant stump, which has an infinite threshold, is a candidate. See `Search.best`.
        """
        # 1) Sum the weights below all thresholds, in single precision.
        projection, order, is_tied = self._next_round()
        n_samples = len(self.X)
        weights = rescale_pow2(G[:, 0])
        self._weights[:-1] = weights
        # A sum below a threshold minus half of all weights is -1/2 of the stump's edge: the prefix
        # sums start at minus this half. In the last column all samples are below: it belongs to the
        # constant stump.
        negative_half_edges = _prefix_sums(self._weights.take(order), -weights.sum() / 2)
        # 2) Select the largest magnitude, and put the threshold between two neighbours.
        feature, rank = self._select_first(
            weights, order, is_tied, np.abs(negative_half_edges, out=negative_half_edges)
        )
        direction, threshold = projection[:, feature].copy(), np.inf
        if rank < n_samples - 1:
            low, high = self.X[order[feature, rank : rank + 2]] @ direction
            threshold = float(above_middle(low, high))
        # 3) Compute the outputs from the order. The index n_samples stands for padding, so that
        # `outputs` has a spare entry for it.
        outputs = np.ones(n_samples + 1)
        outputs[order[feature, : rank + 1]] = -1.0
        outputs = outputs[:-1]
        return SearchResult(Perceptron(direction, threshold), outputs, float(outputs @ G[:, 0]))

    def _select_first(self, weights, order, is_tied, magnitudes):
        """Return the feature and rank of the first of the largest magnitudes.

        Magnitudes that are equal within rounding errors are compared in double precision.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
        order, is_tied : ndarray of shape (n_projections, n_positions)
            See `_LineSorter.sort`.
        magnitudes : ndarray of shape (n_projections, n_positions), dtype=float32
            Half of the absolute edges. Overwritten.

        Returns
        -------
        feature : int
            Index of the projected feature.
        rank : int
            Number of samples below the threshold minus 1.
        """
        # 1) Find the positions of the largest magnitude, within rounding errors. Positions between
        # equal values hold no stump. Column n_samples - 1 is the constant stump; the later columns
        # are padding, which repeats it, and are left out.
        n_samples = len(weights)
        magnitudes[is_tied] = -np.inf
        scale = np.abs(weights).sum()
        # A weight in a sum is rounded once for each point of its block, once for each block, and
        # twice by itself. The error of each rounding is at most eps / 2, relative to the sum of
        # absolute weights. Two sums are compared: 2 r eps / 2 = r eps.
        roundings = _BLOCK_POINTS + magnitudes.shape[1] // _BLOCK_POINTS + 2
        slack = (roundings * float(np.finfo(np.float32).eps) + TIE_TOLERANCE) * scale
        features, ranks = np.nonzero(magnitudes[:, :n_samples] >= magnitudes.max() - slack)
        # 2) Compare them in double precision, from the prefix sums of their features.
        first = 0
        if len(features) > 1:
            rows, row_of_candidate = np.unique(features, return_inverse=True)
            exact = np.cumsum(weights[order[rows, :n_samples]], axis=1) - weights.sum() / 2
            first = argmax_with_tolerance(np.abs(exact[row_of_candidate, ranks]), scale)
        return features[first], ranks[first]

    def _next_round(self):
        """Return the arrays of the next round.

        Returns
        -------
        projection : ndarray of shape (n_features, n_projections)
            Random matrix.
        order, is_tied : ndarray of shape (n_projections, n_positions)
            See `_LineSorter.sort`.
        """
        next_round = next(self._batch, None)
        if next_round is None:
            self._batch = iter(self._prepare_batch(self._batch_number))
            self._batch_number += 1
            next_round = next(self._batch)
        return next_round

    def _prepare_batch(self, number):
        """Return the rounds of a batch, from the cache if it is there.

        Parameters
        ----------
        number : int
            Index of the batch.

        Returns
        -------
        iterable of tuple
            Results of `_next_round`. They are valid until the next batch is prepared.
        """
        if number < len(self._cache):
            return self._cache[number]
        matrices = self._draw(number, self._rounds_per_batch)
        np.matmul(matrices.transpose(0, 2, 1), self.X.T, out=self._sorter.values)
        order, is_tied = self._sorter.sort()
        if number < self._max_cached_batches:
            self._cache.append(list(zip(matrices, order.copy(), is_tied.copy(), strict=True)))
        return zip(matrices, order, is_tied, strict=True)


class _LineSorter:
    """Sort samples on many lines at once, in preallocated memory.

    A value is rounded to an integer, and combined with the index of its sample into one integer.
    Sorting integers is several times as fast as an arg-sort, and gives the same order on every
    machine. Allocating the arrays in every call would take longer than sorting.

    Parameters
    ----------
    shape : tuple of int
        Shape (..., n_samples) of the values.

    Attributes
    ----------
    values : ndarray of shape (..., n_samples), dtype=float64
        Coordinates of the samples on each line. Set them before `sort`, which overwrites them.
    """

    def __init__(self, shape):
        # `n_positions` is n_samples rounded up to whole blocks. `_bits` is the number of bits of an
        # index of a sample.
        *lines, n_samples = shape
        n_positions = -(-n_samples // _BLOCK_POINTS) * _BLOCK_POINTS
        self.values = np.empty(shape)
        self._keys = np.empty(shape, np.int64)
        self._order = np.full((*lines, n_positions), n_samples)
        self._is_tied = np.zeros((*lines, n_positions), bool)
        self._bits = n_samples.bit_length()

    def sort(self):
        """Sort the samples on each line, and mark neighbours with equal values.

        Returns
        -------
        order : ndarray of shape (..., n_positions), dtype=int64
            Samples in ascending order, padded with `n_samples` to the end of the last block.
        is_tied : ndarray of shape (..., n_positions), dtype=bool
            True if the next sample has the same value, so that no threshold lies between them.
        """
        # 1) Scale the values to [-1, 1], round them to integers, and append the index of the sample
        # as the lowest bits. An integer has 62 bits and a sign.
        values, keys = self.values, self._keys
        n_samples, digits = values.shape[-1], 62 - self._bits
        largest = np.maximum(values.max(axis=-1), -values.min(axis=-1))[..., None]
        values /= np.where(largest > 0, largest, 1.0)
        values *= 2.0**digits
        np.copyto(keys, values, casting="unsafe")
        keys <<= self._bits
        keys |= np.arange(n_samples)
        # 2) Sort, and split the integers into index and value again.
        keys.sort(axis=-1)
        np.bitwise_and(keys, 2**self._bits - 1, out=self._order[..., :n_samples])
        keys >>= self._bits
        # 3) Compare neighbours, in the memory of the values.
        gaps = values.view(np.int64)[..., 1:]
        np.subtract(keys[..., 1:], keys[..., :-1], out=gaps)
        max_gap = 2 ** (digits - _RESOLUTION_BITS)
        np.less_equal(gaps, max_gap, out=self._is_tied[..., : n_samples - 1])
        return self._order, self._is_tied


def _prefix_sums(values, start):
    """Return `start` plus the prefix sums of each row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_positions), dtype=float32
        Values, whose number of columns is a multiple of `_BLOCK_POINTS`. Overwritten.
    start : float

    Returns
    -------
    ndarray of shape (n_rows, n_positions), dtype=float32
    """
    # A block times the triangle of ones is its prefix sums, which contain the first value of the
    # block each. Before this product, the first value is therefore raised by `start` and by the sum
    # of all earlier blocks of the row, and all prefix sums rise by as much.
    blocks = values.reshape(-1, _BLOCK_POINTS)
    totals = (blocks @ _ONES).reshape(len(values), -1)
    # `firsts` is a view: the additions change `blocks`.
    firsts = values[:, ::_BLOCK_POINTS]
    firsts += start
    firsts[:, 1:] += np.cumsum(totals[:, :-1], axis=1)
    return (blocks @ _TRIANGLE).reshape(values.shape)
