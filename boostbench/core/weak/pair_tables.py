"""Sums of weights in the bins of all features, by tables of the joint bins of two of them.

A sample is added once to a joint bin of two features, instead of once to a bin of each. The table
of a pair stays in the cache, and the samples' weights and bins are read in order.
"""

import numpy as np
from scipy import sparse

from boostbench.core.sparse_products import product

# Bins of a table: in single precision half of a second-level cache.
MOST_BINS = 2**16

# Fewer samples are not worth adding up the tables.
MANY_SAMPLES = 2**16

# Bins are added up in runs of that many, and then the runs: few additions one after the other.
_RUN = 16


class PairTables:
    """Sums of one column of weights in the bins of each feature.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,)
        The bin of each sample, of each feature.
    n_bins : int
        Of a feature, at most; `width` is what makes whole runs of it.
    n_layers : int, default=1
        Samples are added up apart in that many layers.

    Attributes
    ----------
    width : int
    additions : int
        Roundings on the way of a weight into a sum, at most, in the precision of the weights.

    Examples
    --------
    >>> codes = [np.array([0, 2, 2]), np.array([1, 1, 0])]
    >>> PairTables(codes, n_bins=3).sums(np.array([1.0, 2.0, 3.0]))[:, 0, :3]
    array([[1., 0., 5.],
           [3., 3., 0.]])
    """

    def __init__(self, codes, n_bins, n_layers=1):
        self.width = width = -(-n_bins // _RUN) * _RUN
        self._n_layers = n_layers
        self._layer = np.int32(0)
        self._tables, deepest = [], 0
        for first in range(0, len(codes), 2):
            joint = codes[first].astype(np.int32)
            joint *= width
            if first + 1 < len(codes):
                joint += codes[first + 1]
            # One column, whose entries are the weights: so its product is with a number.
            table = sparse.csc_array((n_layers * width**2, 1), dtype=np.float32)
            table.indices, table.indptr = joint, np.array([0, len(joint)], np.int32)
            self._tables.append(table)
            deepest = max(deepest, int(np.bincount(joint).max()))
        # In a bin of a table, in a run, over the runs.
        self.additions = deepest + _RUN + width // _RUN

    def sums(self, weights, layer=None):
        """Add up the weights in each bin.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
        layer : ndarray of shape (n_samples,), dtype=int32, default=None
            The layer of each sample; None: the first.

        Returns
        -------
        ndarray of shape (n_features or one more, n_layers, width)
        """
        width, n_layers = self.width, self._n_layers
        one = np.ones(1, weights.dtype)
        run, runs = np.ones(_RUN, weights.dtype), np.ones(width // _RUN, weights.dtype)
        bins = np.empty((2 * len(self._tables), n_layers, width), weights.dtype)
        if layer is not None:
            self._move_to(layer)
        for table, own, other in zip(self._tables, bins[::2], bins[1::2], strict=True):
            table.data = weights
            sums = product(table, one)
            table.data = one
            of_runs = (sums.reshape(-1, _RUN) @ run).reshape(n_layers, width, -1)
            np.matmul(of_runs, runs, out=own)
            of_runs = runs @ sums.reshape(n_layers, len(runs), -1)
            np.matmul(run, of_runs.reshape(n_layers, _RUN, width), out=other)
        return bins

    def _move_to(self, layer):
        """Add up samples in other layers; as a rule they are in the same as before."""
        change = layer - self._layer
        if change.any():
            change *= np.int32(self.width**2)
            for table in self._tables:
                table.indices += change
            self._layer = layer
