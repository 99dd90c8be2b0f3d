"""Stumps as the columns of a bag: their order, and their sums over the samples of a block."""

from itertools import pairwise

import numpy as np
from scipy import sparse

from boostbench.core.sparse_products import add_sparse_product

# Numbers have bins if there are this many samples for each bin. With fewer samples the comparison
# with the drawn thresholds is faster than the prefix sums of the bins.
_SAMPLES_PER_BIN = 2


class BagStumps:
    """Stumps of a training set, by views, and the form in which blocks of samples take them.

    The views that vary are the *columns*. In every round each member draws one stump of each
    column. A view of a number is a column of several thresholds. A category and a missing value are
    *cells*: columns of one stump, which is +1 in one bin of the feature.

    Sums over the samples of a cell are histograms of the feature. Numbers have histograms too if
    there is one score and there are many samples. Otherwise the samples are compared with the
    thresholds that the members draw, because dense products add up several scores faster.

    Parameters
    ----------
    table : boostbench.core.stumps.feature_codes.FeatureCodes
    n_scores : int

    Attributes
    ----------
    view : ndarray of shape (n_columns,), dtype=int64
        View of each column.
    start, counts : ndarray of shape (n_columns,), dtype=int64
        First stump of each column, and number of its stumps.
    n_histogram_rows : int
        Number of bins in the histograms.
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
        # The row of each bin in the histograms; -1 where a bin has none.
        self._row_of_bin = np.full(table.n_joint_bins, -1, np.int32)
        rows = np.arange(table.n_joint_bins) if self._is_binned else self._cell_bins
        self._row_of_bin[rows] = np.arange(len(rows))
        self.n_histogram_rows = len(rows)
        self._cell_rows = self._row_of_bin[self._cell_bins]
        compared = [] if self._is_binned else self._numeric_columns
        self.n_compared = len(compared)
        dtype = np.min_scalar_type(self.counts[compared].max(initial=0))
        # Entries of the matrices of all blocks.
        self._ones = np.ones(0, np.float32)
        self._n_below = np.empty((self.n_compared, table.n_samples), dtype)
        for codes, column in zip(self._n_below, compared, strict=True):
            codes[:] = self._count_thresholds_below(column)

    def _count_thresholds_below(self, column):
        """Return the number of thresholds that each sample is above, in a column of a number."""
        table, first, count = self._table, self.start[column], self.counts[column]
        feature = table.view_feature[self.view[column]]
        bins = table.bin[first : first + count] - table.first_bin[feature]
        below = np.searchsorted(bins, np.arange(table.n_bins[feature]))
        if table.is_missing_above[first]:
            below[0] = count
        return below.astype(np.min_scalar_type(count)).take(table.codes[feature])

    def block_stumps(self, rows):
        """Return the columns of a block of samples.

        Parameters
        ----------
        rows : ndarray of shape (n_samples,), dtype=int64

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
        """Return the stumps that have seen samples on both sides; they follow one another.

        Parameters
        ----------
        is_out_of_bag : ndarray of shape (n_members, n_samples), dtype=bool

        Returns
        -------
        first, count : ndarray of shape (n_members, n_columns), dtype=int64
            Number of the first of these stumps in its column, and number of stumps. If there is
            none, the first is any stump.
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
        """Return drawn thresholds as `BlockStumps` take them.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_columns), dtype=int64
            Number of the stump that each member draws in each column.

        Returns
        -------
        ndarray of shape (n_members, n_compared), dtype=unsigned int
        """
        compared = self._numeric_columns[: self.n_compared]
        return draws[:, compared].astype(self._n_below.dtype)

    def sums_above(self, draws, total, compared, histograms):
        """Return the sums over the samples above the drawn stumps.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_columns), dtype=int64
        total : ndarray of shape (n_sums, n_members), dtype=float64
            Sums over all samples.
        compared, histograms : ndarray, dtype=float64
            Sums of the parts of `BlockStumps.derivative_sums`.

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
        """Return the addends of the samples above the drawn stumps, as `BlockStumps` take them.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_columns), dtype=int64
        difference : ndarray of shape (n_members, n_scores, n_columns), dtype=float64

        Returns
        -------
        compared : ndarray of shape (n_members, n_scores, n_compared), dtype=float32
        histograms : ndarray of shape (n_scores, n_rows, n_members), dtype=float32
        """
        n_members, n_scores, _ = difference.shape
        column_differences = difference.transpose(2, 1, 0)
        if self._is_binned:
            # The addend of a number is the prefix sum of its steps behind the thresholds.
            steps = np.zeros((self._table.n_joint_bins, n_scores, n_members))
            threshold_bins, members = self._threshold_bins(draws)
            is_above = np.zeros(len(self._numeric_columns), bool)
            is_above[self._missing_above] = True
            # A feature has one view of each kind at most: no two of its steps are added at once.
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
        """Return the last bin below each drawn threshold of a number, and members to index with."""
        threshold_bins = self._table.bin[(self.start + draws)[:, self._numeric_columns]]
        return threshold_bins, np.arange(len(draws))[:, None]

    def _missing_bins(self):
        """Return the bin of missing values of each column that has them above its thresholds."""
        return self._table.missing_bin[self.start[self._numeric_columns[self._missing_above]]]


class BlockStumps:
    """Stumps on the samples of a block, see `BagStumps`.

    Parameters
    ----------
    codes : ndarray of shape (n_compared, n_samples), dtype=unsigned int
        Number of thresholds that a sample is above, in each column that is compared.
    rows : scipy.sparse.csc_array of shape (n_rows, n_samples), dtype=float32
        1 where a sample is in a bin.
    n_total : int
        Number of first rows that have each sample once; 0 if there are none.
    """

    def __init__(self, codes, rows, n_total):
        self._n_below, self._bins_by_sample, self._n_total = codes, rows, n_total
        # The same arrays by rows: the transpose of a matrix by columns.
        self._samples_by_bin = rows.T

    def derivative_sums(self, derivatives, draws):
        """Sum up derivatives over the samples above thresholds, and over the samples in bins.

        Parameters
        ----------
        derivatives : ndarray of shape (n_sums, n_samples, n_members), dtype=float32
        draws : ndarray of shape (n_members, n_compared), dtype of the codes
            Number of the threshold that each member draws in each column.

        Returns
        -------
        total : ndarray of shape (n_sums, n_members), dtype=float32
        compared : ndarray of shape (n_members, n_sums, n_compared), dtype=float32
        histograms : ndarray of shape (n_sums, n_rows, n_members), dtype=float32
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
        """Sum up the addends of each sample.

        Parameters
        ----------
        constant : ndarray of shape (n_scores, n_members), dtype=float32
            Addend of all samples.
        draws : ndarray of shape (n_members, n_compared)
            As in `derivative_sums`.
        compared : ndarray of shape (n_members, n_scores, n_compared), dtype=float32
            Addends of the samples above thresholds.
        histograms : ndarray of shape (n_scores, n_rows, n_members), dtype=float32
            Addends of the samples in bins.

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
    """Sum up derivatives, (n_sums, n_samples, n_members), over all samples."""
    # A product is several times as fast as a sum.
    return np.ones(derivatives.shape[1], np.float32) @ derivatives


def sum_by_column(derivatives, is_in_column):
    """Sum up derivatives over the samples in each column.

    Parameters
    ----------
    derivatives : ndarray of shape (n_sums, n_samples, n_members), dtype=float32
    is_in_column : ndarray of shape (n_members, n_columns, n_samples), dtype=float32
        1 where a sample is in a column that a member draws, else 0.

    Returns
    -------
    ndarray of shape (n_members, n_sums, n_columns), dtype=float32
    """
    return np.ascontiguousarray(derivatives.transpose(2, 0, 1)) @ is_in_column.transpose(0, 2, 1)


def add_column_addends(constant, addends, is_in_column):
    """Sum up the addends of the columns that a sample is in.

    Parameters
    ----------
    constant : ndarray of shape (n_scores, n_members), dtype=float32
        Addend of all samples.
    addends : ndarray of shape (n_members, n_scores, n_columns), dtype=float32
    is_in_column : ndarray of shape (n_members, n_columns, n_samples), dtype=float32
        As in `sum_by_column`.

    Returns
    -------
    ndarray of shape (n_scores, n_samples, n_members), dtype=float32
        In C order.
    """
    changes = np.repeat(constant[:, None], is_in_column.shape[2], axis=1)
    changes += (addends @ is_in_column).transpose(1, 2, 0)
    return changes
