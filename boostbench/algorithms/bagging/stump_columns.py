"""Stumps as the columns of a bag, and sums of derivatives over the samples above thresholds."""

from itertools import pairwise

import numpy as np
from scipy import sparse

from boostbench.core.sparse_products import add_sparse_product

# Numeric columns use histograms if there are at least this many samples per bin. With fewer samples
# a comparison with the drawn thresholds is faster than the prefix sums of the bins.
_SAMPLES_PER_BIN = 2


class BagStumps:
    """All stumps of a bag, grouped in columns, one for each view that varies.

    In every round each member draws one stump of each column. A view of a number is a *numeric
    column* with several thresholds. A category and the missing values of a feature are *cell
    columns* with one stump each, which is +1 in one bin of the feature.

    The sums of cell columns are read from histograms of the features. The sums of numeric columns
    are read from histograms too if there is one score and there are enough samples. Otherwise each
    sample is compared with the drawn thresholds, because dense products are faster for several
    scores.

    Parameters
    ----------
    table : boostbench.core.stumps.feature_codes.FeatureCodes
        Training data as codes, with their stumps.
    n_scores : int
        Number of scores of a sample.

    Attributes
    ----------
    view : ndarray of shape (n_columns,), dtype=int64
        View of each column.
    start : ndarray of shape (n_columns,), dtype=int64
        Index of the first stump of each column.
    counts : ndarray of shape (n_columns,), dtype=int64
        Number of stumps of each column.
    n_histogram_rows : int
        Number of bins of the histograms.
    n_compared : int
        Number of columns whose thresholds the samples are compared with.
    """

    def __init__(self, table, n_scores):
        self._table = table
        self.view, self.start, self.counts = np.unique(
            table.view, return_index=True, return_counts=True
        )
        is_cell = table.is_equality[self.start]
        self._cell_columns, self._numeric_columns = (
            np.flatnonzero(is_cell),
            np.flatnonzero(~is_cell),
        )
        self._missing_above = np.flatnonzero(
            table.is_missing_above[self.start[self._numeric_columns]]
        )
        n_bins = len(np.unique(table.bin[~table.is_equality]))
        self._is_binned = n_scores == 1 and table.n_samples >= _SAMPLES_PER_BIN * n_bins
        self._cell_bins = table.bin[self.start[self._cell_columns]]
        # Row of each bin in the histograms; -1 for a bin that no column needs.
        self._row_of_bin = np.full(table.n_joint_bins, -1, np.int32)
        rows = np.arange(table.n_joint_bins) if self._is_binned else self._cell_bins
        self._row_of_bin[rows] = np.arange(len(rows))
        self.n_histogram_rows = len(rows)
        self._cell_rows = self._row_of_bin[self._cell_bins]
        compared = [] if self._is_binned else self._numeric_columns
        self.n_compared = len(compared)
        dtype = np.min_scalar_type(self.counts[compared].max(initial=0))
        # The sparse matrices of all blocks share their entries, which are all 1.
        self._ones = np.ones(0, np.float32)
        self._n_below = np.empty((self.n_compared, table.n_samples), dtype)
        for codes, column in zip(self._n_below, compared, strict=True):
            codes[:] = self._count_thresholds_below(column)

    def _count_thresholds_below(self, column):
        """Return the number of thresholds below each sample, in a numeric column."""
        table, first, count = self._table, self.start[column], self.counts[column]
        feature = table.view_feature[self.view[column]]
        bins = table.bin[first : first + count] - table.first_bin[feature]
        below = np.searchsorted(bins, np.arange(table.n_bins[feature]))
        if table.is_missing_above[first]:
            below[0] = count
        return below.astype(np.min_scalar_type(count)).take(table.codes[feature])

    def block_stumps(self, rows):
        """Return the stumps on a block of samples.

        Parameters
        ----------
        rows : ndarray of shape (n_samples,), dtype=int64
            Indices of the samples of the block.

        Returns
        -------
        BlockStumps
        """
        features = zip(self._table.codes, pairwise(self._table.first_bin), strict=True)
        bins = [
            self._row_of_bin[start:end].take(codes.take(rows))
            for codes, (start, end) in features
            if (self._row_of_bin[start:end] >= 0).any()
        ]
        bins = np.stack(bins, axis=1) if bins else np.empty((len(rows), 0), np.int32)
        has_row = bins >= 0
        starts = np.append(0, np.cumsum(has_row.sum(axis=1))).astype(np.int32)
        if len(self._ones) < starts[-1]:
            self._ones = np.ones(starts[-1], np.float32)
        entries = self._ones[: starts[-1]], bins[has_row], starts
        matrix = sparse.csc_array(entries, (self.n_histogram_rows, len(rows)))
        n_total = self._table.n_bins[0] if self._is_binned else 0
        return BlockStumps(self._n_below.take(rows, axis=1), matrix, n_total)

    def admissible_ranges(self, is_out_of_bag):
        """Return the stumps with in-bag samples on both sides, which are consecutive in a column.

        Parameters
        ----------
        is_out_of_bag : ndarray of shape (n_members, n_samples), dtype=bool
            True where a sample is out of a member's bag.

        Returns
        -------
        first : ndarray of shape (n_members, n_columns), dtype=int64
            Index of the first admissible stump within its column. It is arbitrary if there is none.
        count : ndarray of shape (n_members, n_columns), dtype=int64
            Number of admissible stumps.
        """
        table = self._table
        index_in_column = np.arange(len(table.view)) - np.repeat(self.start, self.counts)
        last = np.repeat(self.counts - 1, self.counts)
        first, count = np.zeros((2, len(is_out_of_bag), len(self.counts)), int)
        joint_bins = table.joint_bins()
        for member, is_in_bag in enumerate(~is_out_of_bag):
            n_in_bag = np.count_nonzero(is_in_bag)
            bin_counts = np.bincount(joint_bins[is_in_bag].ravel(), minlength=table.n_joint_bins)
            is_admissible = np.abs(table.edges(bin_counts, n_in_bag)) < n_in_bag
            first[member] = np.minimum.reduceat(
                np.where(is_admissible, index_in_column, last), self.start
            )
            count[member] = np.add.reduceat(is_admissible, self.start, dtype=int)
        return first, count

    def block_draws(self, draws):
        """Return drawn stumps in the form that `BlockStumps` takes.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_columns), dtype=int64
            Index of the drawn stump within its column, for each member.

        Returns
        -------
        ndarray of shape (n_members, n_compared), dtype=unsigned int
        """
        compared = self._numeric_columns[: self.n_compared]
        return draws[:, compared].astype(self._n_below.dtype)

    def sums_above(self, draws, total, compared, histograms):
        """Return the sums over the samples above the drawn thresholds.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_columns), dtype=int64
            Index of the drawn stump within its column, for each member.
        total : ndarray of shape (n_sums, n_members), dtype=float64
            Sums over all samples.
        compared, histograms : ndarray, dtype=float64
            Results of `BlockStumps.derivative_sums`, added up over the blocks.

        Returns
        -------
        ndarray of shape (n_members, n_sums, n_columns), dtype=float64
        """
        above = np.empty((len(draws), len(total), len(self.counts)))
        above[:, :, self._cell_columns] = histograms[:, self._cell_rows].transpose(2, 0, 1)
        if self._is_binned:
            bins = histograms.transpose(1, 0, 2)
            threshold_bins, members = self._threshold_bins(draws)
            below = self._table.running_sums(bins)[threshold_bins, :, members]
            missing_bins = self._missing_bins()
            below[:, self._missing_above] -= bins[missing_bins].transpose(2, 0, 1)
            above[:, :, self._numeric_columns] = (total.T[:, None] - below).transpose(0, 2, 1)
        else:
            above[:, :, self._numeric_columns] = compared
        return above

    def addends(self, draws, difference):
        """Return addends above the drawn thresholds, in the form that `BlockStumps` takes.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_columns), dtype=int64
            Index of the drawn stump within its column, for each member.
        difference : ndarray of shape (n_members, n_scores, n_columns), dtype=float64
            Addend above each threshold minus the addend below it.

        Returns
        -------
        compared : ndarray of shape (n_members, n_scores, n_compared), dtype=float32
            Addends of the columns whose thresholds the samples are compared with.
        histograms : ndarray of shape (n_scores, n_histogram_rows, n_members), dtype=float32
            Addends of the samples in each bin.
        """
        n_members, n_scores, _ = difference.shape
        column_differences = difference.transpose(2, 1, 0)
        if self._is_binned:
            # The addend of a bin is the prefix sum of the differences at the thresholds below it.
            steps = np.zeros((self._table.n_joint_bins, n_scores, n_members))
            threshold_bins, members = self._threshold_bins(draws)
            is_above = np.zeros(len(self._numeric_columns), bool)
            is_above[self._missing_above] = True
            # A feature has at most one view of each kind, so no index occurs twice in one addition.
            for is_kind in (is_above, ~is_above):
                differences = column_differences[self._numeric_columns[is_kind]].transpose(2, 0, 1)
                steps[threshold_bins[:, is_kind] + 1, :, members] += differences
            rows = self._table.running_sums(steps)
            rows[self._missing_bins()] += column_differences[self._numeric_columns[is_above]]
        else:
            rows = np.zeros((self.n_histogram_rows, n_scores, n_members))
        rows[self._cell_rows] += column_differences[self._cell_columns]
        histograms = np.ascontiguousarray(rows.transpose(1, 0, 2), np.float32)
        compared = self._numeric_columns[: self.n_compared]
        return difference[:, :, compared].astype(np.float32), histograms

    def _threshold_bins(self, draws):
        """Return the last bin below each drawn numeric threshold, and the members as an index."""
        threshold_bins = self._table.bin[(self.start + draws)[:, self._numeric_columns]]
        return threshold_bins, np.arange(len(draws))[:, None]

    def _missing_bins(self):
        """Return the bins of missing values of the columns that place them above all thresholds."""
        return self._table.missing_bin[self.start[self._numeric_columns[self._missing_above]]]


class BlockStumps:
    """The stumps of a bag on a block of samples.

    Parameters
    ----------
    codes : ndarray of shape (n_compared, n_samples), dtype=unsigned int
        Number of thresholds below a sample, in each column that is compared.
    rows : scipy.sparse.csc_array of shape (n_histogram_rows, n_samples), dtype=float32
        1 where a sample is in a bin.
    n_total : int
        The first `n_total` rows contain each sample once. 0: there are no such rows.
    """

    def __init__(self, codes, rows, n_total):
        self._n_below, self._bins_by_sample, self._n_total = codes, rows, n_total
        # The transpose shares its arrays with the matrix.
        self._samples_by_bin = rows.T

    def derivative_sums(self, derivatives, draws):
        """Return sums of derivatives over all samples, above thresholds, and in bins.

        Parameters
        ----------
        derivatives : ndarray of shape (n_sums, n_samples, n_members), dtype=float32
            Derivatives of the loss.
        draws : ndarray of shape (n_members, n_compared), dtype of the codes
            Index of the drawn threshold within its column, for each member.

        Returns
        -------
        total : ndarray of shape (n_sums, n_members), dtype=float32
            Sums over all samples.
        compared : ndarray of shape (n_members, n_sums, n_compared), dtype=float32
            Sums over the samples above the drawn thresholds.
        histograms : ndarray of shape (n_sums, n_histogram_rows, n_members), dtype=float32
            Sums over the samples in each bin.
        """
        n_members = derivatives.shape[2]
        histograms = np.zeros(
            (len(derivatives), self._bins_by_sample.shape[0], n_members), np.float32
        )
        if histograms.size:
            for row_sums, values in zip(histograms, derivatives, strict=True):
                add_sparse_product(self._bins_by_sample, values, row_sums)
        total = (
            histograms[:, : self._n_total].sum(axis=1)
            if self._n_total
            else sum_samples(derivatives)
        )
        if not len(self._n_below):
            return total, np.zeros((n_members, len(derivatives), 0), np.float32), histograms
        return total, sum_by_column(derivatives, self._is_above(draws)), histograms

    def score_changes(self, constant, draws, compared, histograms):
        """Return the sum of the addends of each sample.

        Parameters
        ----------
        constant : ndarray of shape (n_scores, n_members), dtype=float32
            Addend of all samples.
        draws : ndarray of shape (n_members, n_compared)
            Index of the drawn threshold within its column, for each member.
        compared : ndarray of shape (n_members, n_scores, n_compared), dtype=float32
            Addends of the samples above the drawn thresholds.
        histograms : ndarray of shape (n_scores, n_histogram_rows, n_members), dtype=float32
            Addends of the samples in each bin.

        Returns
        -------
        ndarray of shape (n_scores, n_samples, n_members), dtype=float32
        """
        if len(self._n_below):
            changes = add_column_addends(constant, compared, self._is_above(draws))
        else:
            changes = np.repeat(constant[:, None], self._n_below.shape[1], axis=1)
        if histograms.size:
            for sample_changes, values in zip(changes, histograms, strict=True):
                add_sparse_product(self._samples_by_bin, values, sample_changes)
        return changes

    def _is_above(self, draws):
        """Return 1 where a sample is above a threshold: (n_members, n_compared, n_samples)."""
        above = np.empty((*draws.shape, self._n_below.shape[1]), np.float32)
        return np.greater(self._n_below, draws[:, :, None], out=above)


def sum_samples(derivatives):
    """Return the sums of derivatives over all samples.

    Parameters
    ----------
    derivatives : ndarray of shape (n_sums, n_samples, n_members), dtype=float32

    Returns
    -------
    ndarray of shape (n_sums, n_members), dtype=float32
    """
    # A matrix product is several times faster than `ndarray.sum`.
    return np.ones(derivatives.shape[1], np.float32) @ derivatives


def sum_by_column(derivatives, is_in_column):
    """Return the sums of derivatives over the samples in each column.

    Parameters
    ----------
    derivatives : ndarray of shape (n_sums, n_samples, n_members), dtype=float32
    is_in_column : ndarray of shape (n_members, n_columns, n_samples), dtype=float32
        1 where a sample is in the column that a member draws, else 0.

    Returns
    -------
    ndarray of shape (n_members, n_sums, n_columns), dtype=float32
    """
    return np.ascontiguousarray(derivatives.transpose(2, 0, 1)) @ is_in_column.transpose(0, 2, 1)


def add_column_addends(constant, addends, is_in_column):
    """Return the constant plus the addends of the columns that contain a sample.

    Parameters
    ----------
    constant : ndarray of shape (n_scores, n_members), dtype=float32
        Addend of all samples.
    addends : ndarray of shape (n_members, n_scores, n_columns), dtype=float32
        Addends of the samples in each column.
    is_in_column : ndarray of shape (n_members, n_columns, n_samples), dtype=float32
        1 where a sample is in the column that a member draws, else 0.

    Returns
    -------
    ndarray of shape (n_scores, n_samples, n_members), dtype=float32
        C-contiguous.
    """
    changes = np.repeat(constant[:, None], is_in_column.shape[2], axis=1)
    changes += (addends @ is_in_column).transpose(1, 2, 0)
    return changes
