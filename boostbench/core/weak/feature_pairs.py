"""Sums of the weights of samples below thresholds, of one column and by pairs of features."""

import numpy as np

from boostbench.core.weak.layout import Layout
from boostbench.core.weak.pair_tables import MANY_SAMPLES, MOST_BINS, PairTables


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
        self._tables = PairTables(codes, int(n_thresholds.max(initial=0)) + 1)
        first_cut = np.cumsum(n_thresholds) - n_thresholds
        first_of_row = np.arange(len(codes)) * self._tables.width - first_cut
        self._place = cut + np.repeat(first_of_row, n_thresholds)[cut]
        # What follows on the tables is in double precision.
        self.additions = self._tables.additions + 1

    @staticmethod
    def suits(codes, n_thresholds):
        """Return whether there are enough samples, and few enough bins for pairs of features."""
        return len(codes[0]) >= MANY_SAMPLES and (n_thresholds.max() + 1) ** 2 <= MOST_BINS

    def pieces(self, W, total):
        """Edges, all at a time; as `boostbench.core.weak.layouts.Dense.pieces`."""
        bins = self._tables.sums(np.ascontiguousarray(W[:, 0]))[:, 0]
        below = np.cumsum(bins, axis=1, dtype=np.float64)
        yield (total - 2.0 * below.take(self._place))[:, None]
