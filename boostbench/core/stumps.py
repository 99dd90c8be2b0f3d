"""Search for the best decision stump: features x thresholds x columns, the hot loop of everything.

A stump is ``h(x) = +1 if x[feature] > threshold else -1``. For a weight matrix ``G`` of shape
(n_samples, n_columns) its edge in column ``c`` is ``sum_i G[i, c] h(x_i)``: twice the column sum of
``G`` above the threshold, less the column total. A search scores every stump of a training set
against every column at once, and is built once per fit.

Both ways to get the sums below all thresholds are here: prefix sums over a histogram, for features
of many distinct values, and one dense product, for few.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

# Positions of a block are added one after the other, in that many vector additions. 16 keeps the
# vectors long (they run over all blocks and columns) and the padding of short features low.
_BLOCK = 16

# The dense product does 2 n_thresholds n_samples n_columns flops at BLAS speed, the histogram
# n_features n_samples n_columns scattered additions; they cost the same at about this many
# thresholds per feature.
_DENSE_THRESHOLDS_PER_FEATURE = 6
_DENSE_MAX_BYTES = 2**28


class Stump(NamedTuple):
    """A weak learner: ``polarity * (+1 if x[feature] > threshold else -1)``."""

    feature: int
    threshold: float
    polarity: int = 1

    def __call__(self, X):
        """Evaluate the stump.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), dtype=float64
            -1 or +1.
        """
        return np.where(X[:, self.feature] > self.threshold, 1.0, -1.0) * self.polarity


class StumpSearch:
    """All stumps of a training set, ready to be scored against any weights.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    max_bins : int or None, default=None
        None keeps every threshold: the midpoints between consecutive distinct values of a feature.
        An integer keeps at most ``max_bins - 1`` of them per feature, at the quantiles.

    Attributes
    ----------
    feature : ndarray of shape (n_positions,), dtype=int64
    threshold : ndarray of shape (n_positions,), dtype=float64
        The stump at each position. The histogram pads short features by repeating their last
        stump, so a stump may stand at several positions.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> G = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> StumpSearch(X).best(G)
    (Stump(feature=0, threshold=1.5, polarity=1), 0, 4.0)
    """

    def __init__(self, X, max_bins=None):
        self.X = np.asfortranarray(X, dtype=np.float64)
        cuts = [_thresholds(column, max_bins) for column in self.X.T]
        n_thresholds = np.array([len(c) for c in cuts])
        total = n_thresholds.sum()
        few = total <= _DENSE_THRESHOLDS_PER_FEATURE * self.X.shape[1]
        layout = _Dense if few and 4 * total * len(X) <= _DENSE_MAX_BYTES else _Histogram
        self._sums = layout(self.X, cuts)
        self.feature = np.repeat(np.arange(len(cuts)), n_thresholds)[self._sums.order]
        self.threshold = np.concatenate(cuts)[self._sums.order] if total else np.empty(0)

    @property
    def n_positions(self):
        """Number of positions; 0 where no feature varies."""
        return len(self.feature)

    def edges(self, G):
        """Edge of the stump at every position in every column.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_positions, n_columns), dtype=float32
            ``sum_i G[i, c] h(x_i)``. The caller may overwrite it.
        """
        # Twice the sum below the threshold is taken off the total, so the factor goes in here,
        # where the matrix is small.
        return self._sums.edges(np.ascontiguousarray(-2.0 * G, dtype=np.float32))

    def best(self, G):
        """Stump and column of the largest absolute edge.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        stump : Stump
            With the polarity that makes the edge positive.
        column : int
        edge : float
            Recomputed in double precision.
        """
        edges = self.edges(G).ravel()
        high, low = edges.argmax(), edges.argmin()
        at = high if edges[high] >= -edges[low] else low
        position, column = divmod(int(at), G.shape[1])
        stump = self.stump(position, 1 if edges[at] >= 0 else -1)
        return stump, column, float(G[:, column] @ stump(self.X))

    def best_vote(self, G):
        """Stump of the largest ``sum_c |edge in column c|``, with the signs of its edges.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        stump : Stump
            Of polarity +1: the votes carry the signs.
        votes : ndarray of shape (n_columns,), dtype=float64
            -1 or +1.
        edge : float
            ``sum_i h(x_i) sum_c votes[c] G[i, c]``, recomputed in double precision.
        """
        edges = self.edges(G)
        np.abs(edges, out=edges)
        # A product with ones sums short rows at BLAS speed; np.sum over a short axis does not.
        stump = self.stump(int((edges @ np.ones(G.shape[1], np.float32)).argmax()))
        column_edges = stump(self.X) @ G
        return stump, np.where(column_edges >= 0, 1.0, -1.0), float(np.abs(column_edges).sum())

    def stump(self, position, polarity=1):
        """Return the `Stump` at a position, with the given polarity."""
        return Stump(int(self.feature[position]), float(self.threshold[position]), polarity)


class _Dense:
    """Sums below the thresholds as one product with a 0/1 matrix (n_thresholds, n_samples)."""

    def __init__(self, X, cuts):
        below = [X[:, j] <= c[:, None] for j, c in enumerate(cuts)]
        self._below = np.concatenate(below).astype(np.float32)
        self.order = np.arange(len(self._below))

    def edges(self, G):
        return self._below @ G - 0.5 * G.sum(axis=0)


class _Histogram:
    """Sums below the thresholds as prefix sums over the histogram of each feature.

    The thresholds of a feature are laid out in blocks of ``_BLOCK``; the place inside the block is
    the slow axis, (feature, block, column) the fast one, so a prefix sum inside all blocks is
    ``_BLOCK - 1`` long vector additions, several times faster than ``np.cumsum`` over a short axis.
    Blocks are then shifted by the sums of the blocks before them.
    """

    def __init__(self, X, cuts):
        n_thresholds = np.array([len(c) for c in cuts])
        n_blocks = -(-n_thresholds // _BLOCK)
        first_block = np.concatenate([[0], np.cumsum(n_blocks)])
        self._n_blocks = first_block[-1]
        self._feature_start = np.repeat(first_block[:-1], n_blocks)

        # Samples above the last threshold of a feature are in no sum below a threshold. Leaving
        # them out makes the padding of its last block repeat the last sum.
        rows, samples = [], []
        for j, c in enumerate(cuts):
            bins = np.searchsorted(c, X[:, j])
            inside = np.flatnonzero(bins < len(c))
            block, place = np.divmod(bins[inside], _BLOCK)
            rows.append(place * self._n_blocks + first_block[j] + block)
            samples.append(inside)
        rows, samples = np.concatenate(rows), np.concatenate(samples)
        shape = (_BLOCK * self._n_blocks, len(X))
        self._one_hot = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, samples)), shape)

        place, block = np.divmod(np.arange(shape[0]), max(self._n_blocks, 1))
        feature = np.repeat(np.arange(len(cuts)), n_blocks)[block]
        within = (block - first_block[feature]) * _BLOCK + place
        first_threshold = np.concatenate([[0], np.cumsum(n_thresholds)])
        self.order = first_threshold[feature] + np.minimum(within, n_thresholds[feature] - 1)

    def edges(self, G):
        sums = (self._one_hot @ G).reshape(_BLOCK, self._n_blocks, G.shape[1])
        for place in range(1, _BLOCK):
            sums[place] += sums[place - 1]
        before = np.zeros((self._n_blocks + 1, G.shape[1]), np.float32)
        np.cumsum(sums[-1], axis=0, out=before[1:])
        sums += before[:-1] - before[self._feature_start] - 0.5 * G.sum(axis=0)
        return sums.reshape(-1, G.shape[1])


def _thresholds(values, max_bins):
    """Midpoints between consecutive distinct values, all or those at the quantiles."""
    distinct, counts = np.unique(values, return_counts=True)
    low, high = distinct[:-1], distinct[1:]
    # The midpoint of neighbouring doubles may round to the upper one, which must stay above it.
    middle = low + (high - low) / 2
    middle = np.where(middle < high, middle, low)
    if max_bins is None or len(distinct) <= max_bins:
        return middle
    wanted = len(values) * np.arange(1, max_bins) / max_bins
    return middle[np.unique(np.searchsorted(np.cumsum(counts)[:-1], wanted).clip(0, len(low) - 1))]
