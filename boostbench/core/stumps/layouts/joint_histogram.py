"""Layouts that compute the edges of all stumps from one histogram of the codes of all features."""

from functools import cached_property

import numpy as np

from boostbench.core.stumps.layouts.base import UNIT_ROUNDOFF, Layout
from boostbench.core.stumps.layouts.joint_bin_sums import JointBinSums
from boostbench.core.stumps.layouts.pair_tables import MAX_BINS, MIN_SAMPLES, PairTables

# Bins of a block of a `BlockHistogram`: the two products cost least for blocks of about this size.
BLOCK_BINS = 16

# With more additions in single precision, too many stumps are within rounding error of the best
# one.
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
        self._of_one = None
        if table.n_samples >= MIN_SAMPLES and table.n_bins.max() ** 2 <= MAX_BINS:
            of_one = OneColumnHistogram(table)
            self._of_one = of_one if of_one.additions <= _MAX_ADDITIONS else None

    def layout_for_columns(self, n_columns):
        """Return the layout for a number of columns; one column of many samples has its own."""
        return self._of_one if n_columns == 1 and self._of_one is not None else self

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

    # With many samples and one column, these sums are not needed.
    @cached_property
    def _sums(self):
        sums = JointBinSums(self.table.codes, *self._bin_rows())
        is_single = sums.additions + self.total_additions <= _MAX_ADDITIONS
        sums.set_dtype(np.float32 if is_single else np.float64)
        return sums

    def _bin_rows(self):
        """Return the row of the sums for each bin of each feature, and the number of rows."""
        n_rows = self.table.n_joint_bins
        return np.split(np.arange(n_rows), self.table.first_bin[1:-1]), n_rows

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


class BlockHistogram(JointHistogram):
    """Layout of numbers with few thresholds, whose prefix sums are two matrix products.

    The bins of a feature are divided into blocks of `BLOCK_BINS` bins. A row of the sums is the
    place of a bin in its block, then the block. So the prefix sums in all blocks are one product
    with a triangular matrix, and the sums of the earlier blocks of each feature are another. For
    small tables this takes a third of the time of a cumulative sum, whose additions depend on each
    other.

    Parameters
    ----------
    table : boostbench.core.stumps.feature_codes.FeatureCodes
        Features without missing values and categories.
    """

    def __init__(self, table):
        super().__init__(table)
        n_blocks = -(-(table.n_bins - 1) // BLOCK_BINS)
        self._block_feature = np.repeat(np.arange(len(n_blocks)), n_blocks)
        # A weight is added up in its block, then over the blocks, then with the total.
        self.total_additions = int(n_blocks.max(initial=0)) + 2 * BLOCK_BINS + 3

    def error_bound(self, dtype, n_roundings=0):
        """Return a bound of the rounding error; see `Layout.error_bound`."""
        return Layout.error_bound(self, dtype, n_roundings)

    def _bin_rows(self):
        first_block = np.searchsorted(self._block_feature, np.arange(len(self.table.n_bins)))
        n_rows = BLOCK_BINS * len(self._block_feature)
        rows = []
        for first, n_bins in zip(first_block, self.table.n_bins, strict=True):
            block, place = np.divmod(np.arange(n_bins), BLOCK_BINS)
            rows.append(place * len(self._block_feature) + first + block)
            # No threshold is above the last bin, so that its sum is not needed.
            rows[-1][-1] = n_rows
        return rows, n_rows

    @cached_property
    def _stump_rows(self):
        return np.concatenate([rows[:-1] for rows in self._bin_rows()[0]])

    @cached_property
    def _prefix(self):
        """Matrix of the prefix sums in a block, times -2: an edge loses twice a weight."""
        return -2 * np.tri(BLOCK_BINS, dtype=self.dtype)

    @cached_property
    def _earlier(self):
        """Matrix of the earlier blocks of the same feature; None if no feature has several."""
        is_same = self._block_feature[:, None] == self._block_feature
        earlier = np.tri(len(is_same), k=-1, dtype=self.dtype) * is_same
        return earlier if earlier.any() else None

    def pieces(self, W, total):
        """Yield all edges at once; see `Layout.pieces`."""
        sums = self._sums(W)
        blocks = sums.reshape(BLOCK_BINS, -1)
        # Each block starts from the total and the sums of the earlier blocks, in units of -2.
        start = np.multiply(total, -0.5, dtype=sums.dtype)
        if self._earlier is not None:
            block_sums = np.ones(BLOCK_BINS, sums.dtype) @ blocks
            start = self._earlier @ block_sums.reshape(-1, W.shape[1]) + start
        sums[: len(self._block_feature)] += start
        yield (self._prefix @ blocks).reshape(sums.shape).take(self._stump_rows, axis=0)


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
