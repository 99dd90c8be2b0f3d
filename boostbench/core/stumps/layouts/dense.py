"""Edges by one product with a dense matrix."""

import numpy as np

from boostbench.core.stumps.layouts.base import Layout

# Samples of a block of that product, which bounds how many numbers are added one after the other.
_DENSE_SAMPLES = 1024


class Dense(Layout):
    """Sums below the thresholds as one product with a matrix (n_thresholds, n_samples) of 0 and -2.

    Parameters
    ----------
    X, thresholds, codes
        As of `choose_layout`.

    Attributes
    ----------
    feature, stump_index : ndarray of shape (n_positions,), dtype=int64
        The feature at each position, and the number of its threshold through all features; -1 where
        there is none.
    additions, total_additions : int
        Roundings on the way of a weight below the threshold, and of the total, into an edge, at
        most.
    """

    def __init__(self, X, thresholds, codes=None):
        below = [X[:, j] <= c[:, None] for j, c in enumerate(thresholds)]
        self._below = np.multiply(np.concatenate(below), -2.0, dtype=np.float32)
        self.feature = np.repeat(np.arange(len(thresholds)), [len(c) for c in thresholds])
        self.stump_index = np.arange(len(self.feature))
        n_blocks = -(-len(X) // _DENSE_SAMPLES)
        # In a block, then over the blocks, with the total.
        self.additions = min(len(X), _DENSE_SAMPLES) + n_blocks + 1
        self.total_additions = n_blocks

    def pieces(self, W, total):
        """Edges, a few features at a time.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns), dtype=float32 or float64
            The weights, in C order.
        total : ndarray of shape (n_columns,), dtype=float64
            The sums of the weights.

        Yields
        ------
        ndarray of shape (n_some, n_columns)
            Edges at the next positions, in the precision of W or in double precision, without
            meaning where there is no threshold. The next piece may overwrite it.
        """
        edges = np.empty((len(self._below), W.shape[1]), W.dtype)
        edges[:] = total
        for start in range(0, len(W), _DENSE_SAMPLES):
            some = slice(start, start + _DENSE_SAMPLES)
            edges += self._below[:, some].astype(W.dtype, copy=False) @ W[some]
        yield edges
