"""Edges by one product with a dense matrix."""

import numpy as np

from boostbench.core.stumps.layouts.base import Layout

# Samples of a block of the product, which bounds the number of successive additions.
_DENSE_SAMPLES = 1024


class Dense(Layout):
    """Layout of few thresholds: one product with a matrix (n_thresholds, n_samples) of 0 and -2.

    Parameters
    ----------
    X, thresholds, codes
        Parameters of `choose_layout`.

    Attributes
    ----------
    feature, stump_index : ndarray of shape (n_positions,), dtype=int64
        Feature at each position, and the index of its stump; -1 for padding.
    additions, total_additions : int
        Largest number of roundings of a weight below the threshold, and of the total, in an edge.
    """

    def __init__(self, X, thresholds, codes=None):
        below = [X[:, j] <= c[:, None] for j, c in enumerate(thresholds)]
        self._below = np.multiply(np.concatenate(below), -2.0, dtype=np.float32)
        self.feature = np.repeat(np.arange(len(thresholds)), [len(c) for c in thresholds])
        self.stump_index = np.arange(len(self.feature))
        n_blocks = -(-len(X) // _DENSE_SAMPLES)
        # A weight is added up in its block, then over the blocks with the total.
        self.additions = min(len(X), _DENSE_SAMPLES) + n_blocks + 1
        self.total_additions = n_blocks

    def pieces(self, W, total):
        """Yield the edges of the stumps, a few features at a time.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns), dtype=float32 or float64
            Weights in C order.
        total : ndarray of shape (n_columns,), dtype=float64
            Sum of the weights of each column.

        Yields
        ------
        ndarray of shape (n_stumps, n_columns)
            Edges at the next positions, in the precision of W or in double precision; undefined for
            padding. The next piece may overwrite the array.
        """
        edges = np.empty((len(self._below), W.shape[1]), W.dtype)
        edges[:] = total
        for start in range(0, len(W), _DENSE_SAMPLES):
            block = slice(start, start + _DENSE_SAMPLES)
            edges += self._below[:, block].astype(W.dtype, copy=False) @ W[block]
        yield edges
