"""Layouts that compute the edges of all stumps from histograms of the codes of the features.

`JointHistogram` is the layout of features with few distinct values, of categories and of missing
values. It delegates one column of weights of many samples to `OneColumnHistogram`.
"""

from functools import cached_property

import numpy as np

from boostbench.core.stumps.layouts.base import UNIT_ROUNDOFF, Layout
from boostbench.core.stumps.layouts.bin_sums import JointBinSums
from boostbench.core.stumps.layouts.pair_tables import MAX_BINS, MIN_SAMPLES, PairTables

# Maximum number of roundings of a weight in single precision. With more, too many stumps are within
# rounding error of the best one.
_MAX_ADDITIONS = 512


class JointHistogram(Layout):
    """Layout whose positions are the stumps of a table of codes.

    Parameters
    ----------
    table : boostbench.core.stumps.feature_codes.FeatureCodes

    Attributes
    ----------
    additions, total_additions : int
        Largest number of roundings of a weight and of the total in an edge, in the precision of the
        weights.
    """

    # The total and the edges are in double precision.
    total_additions = 2

    def __init__(self, table):
        self.table = table
        self._one_column_layout = None
        if table.n_samples >= MIN_SAMPLES and table.n_bins.max() ** 2 <= MAX_BINS:
            one_column = OneColumnHistogram(table)
            self._one_column_layout = one_column if one_column.additions <= _MAX_ADDITIONS else None

    def layout_for_columns(self, n_columns):
        """Return the layout for a number of columns; one column of many samples has its own."""
        return (
            self._one_column_layout
            if n_columns == 1 and self._one_column_layout is not None
            else self
        )

    @property
    def n_positions(self):
        """Number of positions."""
        return len(self.table.view)

    @cached_property
    def feature(self):
        """View at each position."""
        return self.table.view

    @cached_property
    def stump_index(self):
        """Stump at each position."""
        return np.arange(self.n_positions)

    @cached_property
    def _sums(self):
        """Sums of the bins, made when they are needed: `OneColumnHistogram` does without them."""
        sums = JointBinSums(self.table.codes, self.table.n_bins)
        is_single = sums.additions + self.total_additions <= _MAX_ADDITIONS
        sums.set_dtype(np.float32 if is_single else np.float64)
        return sums

    @property
    def additions(self):
        """Largest number of roundings of a weight in an edge, in the precision of the weights."""
        return self._sums.additions + self.total_additions

    @property
    def dtype(self):
        """Precision in which the search is fastest."""
        return self._sums.dtype

    def error_bound(self, dtype, n_roundings=0):
        """Return a bound of the rounding error; see `Layout.error_bound`."""
        # Prefix sums are in double precision and never exceed the sum of the sizes.
        after_histogram = 4 * self.table.n_joint_bins * UNIT_ROUNDOFF[np.float64]
        return super().error_bound(dtype, n_roundings) + after_histogram

    def above(self, feature, stump_index):
        """Return where a stump is +1: (n_samples,), dtype=bool."""
        return self.table.above(stump_index)

    def bin_sums(self, W):
        """Return the sums of the weights in each joint bin.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_joint_bins, n_columns)
            Sums in the precision of the weights, or in double precision.
        """
        return self._sums(W)

    def pieces(self, W, total):
        """Yield all edges at once; see `Layout.pieces`."""
        sums = self.bin_sums(W)
        if W.shape[1] == 1:
            # NumPy's loops over vectors are faster than its loops over matrices of one column.
            yield self.table.edges(sums[:, 0], total[0])[:, None]
        else:
            yield self.table.edges(sums, total)


class OneColumnHistogram(JointHistogram):
    """Layout for one column of weights, whose samples are added to tables of pairs of features.

    Parameters
    ----------
    table : boostbench.core.stumps.feature_codes.FeatureCodes
        Codes of many samples, with few bins of each feature.
    """

    dtype = np.float32

    def __init__(self, table):
        self.table = table
        self._tables = PairTables(table.codes, int(table.n_bins.max()))
        self._rows = np.concatenate(
            [feature * self._tables.width + np.arange(n) for feature, n in enumerate(table.n_bins)]
        )

    def layout_for_columns(self, n_columns):
        """Return this layout."""
        return self

    @property
    def additions(self):
        """Largest number of roundings of a weight in an edge, in the precision of the weights."""
        return self._tables.additions + self.total_additions

    def bin_sums(self, W):
        """Return the sums of the weights; see `JointHistogram.bin_sums`."""
        return self._tables.sums(np.ascontiguousarray(W[:, 0])).ravel().take(self._rows)[:, None]
