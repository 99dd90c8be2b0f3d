"""Points in the bins of very many features, and the sums of their weights below thresholds."""

import numpy as np
from scipy import sparse

# Entries of a matrix: so many that the call of a product costs nothing.
_CHUNK_ENTRIES = 2**20


class BinnedPoints:
    """0/1 matrices of feature and bin by point, some features each.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_points), dtype=int32
        The points of a feature in ascending order.
    cuts : ndarray of shape (n_features, n_thresholds)
        The number of points below each threshold of a feature, ascending.
    few : bool, default=False
        Whether a bin has so few points that the rows of the matrices should come bin by bin: those
        of all features are about as long, which processors predict. It takes a copy of `order`.

    Examples
    --------
    >>> order = np.array([[2, 0, 1], [0, 1, 2]], np.int32)
    >>> points = BinnedPoints(order, cuts=np.array([[1], [2]]))
    >>> points.below(np.array([-5, 3, 2], np.float32)).tolist()
    [[2.0, -2.0]]
    """

    def __init__(self, order, cuts, few=False):
        n_features, self._n_points = order.shape
        self._few = few
        self._sums = np.empty((cuts.shape[1], n_features), np.float32)
        width = max(1, _CHUNK_ENTRIES // self._n_points)
        # One array for all, which stays in the cache.
        self._ones = np.ones(min(width, n_features) * self._n_points, np.float32)
        lengths = np.diff(cuts, axis=1, prepend=0, append=self._n_points)
        self._matrices = [
            self._of_features(order[start : start + width], lengths[start : start + width])
            for start in range(0, n_features, width)
        ]

    def _of_features(self, order, lengths):
        points = order.ravel()
        if self._few:
            n_bins = lengths.shape[1]
            # Integers of few bytes are sorted in one pass.
            bins = np.tile(np.arange(n_bins, dtype=np.min_scalar_type(n_bins)), len(lengths))
            points = points[np.repeat(bins, lengths.ravel()).argsort(kind="stable")]
            lengths = lengths.T
        return self._matrix(points, np.append(0, np.cumsum(lengths)))

    def _matrix(self, points, starts):
        matrix = sparse.csr_matrix((len(starts) - 1, self._n_points), dtype=np.float32)
        # The constructor would copy a part of a large array, the one of all ones as well.
        matrix.data, matrix.indices = self._ones[: len(points)], points
        matrix.indptr = starts.astype(np.int32)
        return matrix

    def only(self, some):
        """Leave points out.

        Parameters
        ----------
        some : ndarray of shape (n_points,), dtype=bool
            Those that stay.

        Returns
        -------
        BinnedPoints
            Its `below` takes the weights of all points still.
        """
        fewer = object.__new__(BinnedPoints)
        fewer.__dict__.update(self.__dict__, _matrices=[], _sums=np.empty_like(self._sums))
        for matrix in self._matrices:
            kept = np.flatnonzero(some[matrix.indices])
            starts = np.searchsorted(kept, matrix.indptr)
            fewer._matrices.append(self._matrix(matrix.indices[kept], starts))
        return fewer

    def below(self, weights):
        """Add up weights below thresholds.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32

        Returns
        -------
        ndarray of shape (n_thresholds, n_features), dtype=float32
            Overwritten by the next call.
        """
        sums, start = self._sums, 0
        n_bins = len(sums) + 1
        for matrix in self._matrices:
            bins = matrix @ weights
            bins = bins.reshape(n_bins, -1) if self._few else bins.reshape(-1, n_bins).T
            sums[:, start : start + bins.shape[1]] = bins[:-1]
            start += bins.shape[1]
        for place in range(1, len(sums)):
            sums[place] += sums[place - 1]
        return sums
