"""Sums of the weights of samples below thresholds, of one column and by pairs of features.

A sample is added once to a joint bin of two features, instead of once to a bin of each. The table
of a pair stays in the cache, and the samples' weights and bins are read in order.
"""

import numpy as np
from scipy import sparse

from boostbench.core.weak.layout import Layout

# Bins of a table: in single precision half of a second-level cache.
_MOST_BINS = 2**16

# Bins are added up in runs of that many, and then the runs: few additions one after the other.
_RUN = 16

# Fewer samples are not worth adding up the tables.
_MANY_SAMPLES = 2**16


class FeaturePairs(Layout):
    """A layout of one column of weights.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,)
        Of each feature, how many of its thresholds the samples are above.
    n_thresholds : ndarray of shape (n_features,)
    cut : ndarray of shape (n_positions,)
        As of `boostbench.core.weak.layouts.Dense`; not negative.

    Attributes
    ----------
    cut, additions
        As of `boostbench.core.weak.layouts.Dense`.
    """

    def __init__(self, codes, n_thresholds, cut):
        self.cut = cut
        # A table has whole runs of rows and of columns.
        width = -(-(int(n_thresholds.max(initial=0)) + 1) // _RUN) * _RUN
        self._width = width
        first_cut = np.cumsum(n_thresholds) - n_thresholds
        first_of_row = np.arange(len(codes)) * width - first_cut
        self._place = cut + np.repeat(first_of_row, n_thresholds)[cut]
        self._tables, deepest = [], 0
        for first in range(0, len(codes), 2):
            joint = codes[first].astype(np.int32)
            joint *= width
            if first + 1 < len(codes):
                joint += codes[first + 1]
            # One column, whose entries are the weights: so its product is with a number.
            table = sparse.csc_array((width * width, 1), dtype=np.float32)
            table.indices, table.indptr = joint, np.array([0, len(joint)], np.int32)
            self._tables.append(table)
            deepest = max(deepest, int(np.bincount(joint).max()))
        # In a bin of a table, in a run, over the runs; what follows is in double precision.
        self.additions = deepest + _RUN + width // _RUN + 1

    @staticmethod
    def suits(codes, n_thresholds):
        """Return whether there are enough samples, and few enough bins for pairs of features."""
        return len(codes[0]) >= _MANY_SAMPLES and (n_thresholds.max() + 1) ** 2 <= _MOST_BINS

    def pieces(self, W, total):
        """Edges, all at a time; as `boostbench.core.weak.layouts.Dense.pieces`."""
        weights = np.ascontiguousarray(W[:, 0])
        one = np.ones(1, W.dtype)
        width = self._width
        run, runs = np.ones(_RUN, W.dtype), np.ones(width // _RUN, W.dtype)
        bins = np.empty((2 * len(self._tables), width), W.dtype)
        for table, first, second in zip(self._tables, bins[::2], bins[1::2], strict=True):
            table.data = weights
            sums = table @ one
            table.data = one
            np.matmul((sums.reshape(-1, _RUN) @ run).reshape(width, -1), runs, out=first)
            np.matmul(run, (runs @ sums.reshape(len(runs), -1)).reshape(_RUN, -1), out=second)
        below = np.cumsum(bins, axis=1, dtype=np.float64)
        yield (total - 2.0 * below.take(self._place))[:, None]
