"""Stumps of a bag in groups, and sums of derivatives over the samples above drawn thresholds.

A stump tests a *view*, a numeric column derived from a feature (`boostbench.core.stumps.views`).
The stumps of a view form a *stump group*. In each round, each member of the bag draws one stump of
each group. The samples for which a drawn stump is +1 are its *region*.
"""

from itertools import pairwise

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import add_sparse_product, compress_columns, sparse_product

# Numeric groups use histograms if there are at least this many samples per bin. With fewer samples,
# comparing the samples with the drawn thresholds is faster than computing prefix sums of the bins.
_SAMPLES_PER_BIN = 2

# Number of samples that are counted at a time. Single precision counts them without rounding.
_BLOCK_SAMPLES = 2**14

# Maximum number of counts, one for each bin and member, that are kept at a time: 8 MB.
_MAX_COUNTS = 2**20


class BagStumps:
    """All stumps of a bag, in one group for each view that varies.

    A view of numbers has a *numeric group* of stumps with different thresholds. A view that
    indicates one category or the missing values of a feature has an *equality group* of one stump,
    which is +1 in one bin of the feature.

    The sums of equality groups are read from histograms of the features. The sums of numeric groups
    are read from histograms too if there is one score and there are enough samples. Otherwise each
    sample is compared with the drawn thresholds, because dense products are faster for several
    scores.

    A master (`boostbench.algorithms.bagging.stump_rounds`) draws stumps, and calls in each round:

    1. `compared_draws`, and `BlockStumps.add_derivative_sums` for each block of samples.
    2. `sums_above`, from which it computes a step on each side of the drawn thresholds.
    3. `score_addends` of the steps, and `BlockStumps.score_changes` for each block.

    Parameters
    ----------
    codes : boostbench.core.stumps.feature_codes.FeatureCodes
        Training data as codes, with their stumps. Its *joint bins* are the bins of all features,
        numbered one feature after another.
    n_scores : int
        Number of scores of a sample.

    Attributes
    ----------
    view : ndarray of shape (n_groups,), dtype=int64
        View of each group.
    first_stump : ndarray of shape (n_groups,), dtype=int64
        Index of the first stump of each group.
    n_stumps : ndarray of shape (n_groups,), dtype=int64
        Number of stumps of each group.
    n_histogram_rows : int
        Number of rows of the histograms: the joint bins that sums are computed for.
    n_compared : int
        Number of groups whose thresholds the samples are compared with: all numeric groups, or 0
        if histograms are used.
    """

    def __init__(self, codes, n_scores):
        # 1) Divide the stumps into groups: one for each view, of one of two kinds.
        self._codes = codes
        self.view, self.first_stump, self.n_stumps = np.unique(
            codes.view_of_stump, return_index=True, return_counts=True
        )
        is_equality = codes.is_equality[self.first_stump]
        self._equality_groups = np.flatnonzero(is_equality)
        self._numeric_groups = np.flatnonzero(~is_equality)
        # Indices into the numeric groups whose stumps are +1 for missing values.
        self._missing_above_groups = np.flatnonzero(
            codes.is_missing_above[self.first_stump[self._numeric_groups]]
        )
        # 2) Number the rows of the histograms: the bins of all groups, or of the equality groups.
        n_bins = len(np.unique(codes.bin_of_stump[~codes.is_equality]))
        self._uses_histograms = n_scores == 1 and codes.n_samples >= _SAMPLES_PER_BIN * n_bins
        self._equality_bins = codes.bin_of_stump[self.first_stump[self._equality_groups]]
        # Row of each joint bin in the histograms; -1 for a bin that no group needs.
        self._row_of_bin = np.full(codes.n_joint_bins, -1, np.int32)
        needed_bins = (
            np.arange(codes.n_joint_bins) if self._uses_histograms else self._equality_bins
        )
        self._row_of_bin[needed_bins] = np.arange(len(needed_bins))
        self.n_histogram_rows = len(needed_bins)
        self._equality_rows = self._row_of_bin[self._equality_bins]
        # 3) Without histograms, count the thresholds of each numeric group below each sample.
        compared_groups = [] if self._uses_histograms else self._numeric_groups
        self.n_compared = len(compared_groups)
        dtype = np.min_scalar_type(self.n_stumps[compared_groups].max(initial=0))
        # Entries of the sparse matrices of all blocks, which share them because all are 1.
        self._ones = np.ones(0, np.float32)
        self._n_below = np.empty((self.n_compared, codes.n_samples), dtype)
        for group_n_below, group in zip(self._n_below, compared_groups, strict=True):
            group_n_below[:] = self._count_thresholds_below(group)

    def _count_thresholds_below(self, group):
        """Return the number of thresholds of a numeric group that are below each sample."""
        codes, first, count = self._codes, self.first_stump[group], self.n_stumps[group]
        feature = codes.feature_of_view[self.view[group]]
        # A threshold is below the bins after its `bins`, the last bin below it. The first bin holds
        # the missing values.
        bins = codes.bin_of_stump[first : first + count] - codes.first_bin[feature]
        below = np.searchsorted(bins, np.arange(codes.n_bins[feature]))
        if codes.is_missing_above[first]:
            below[0] = count
        return below.astype(np.min_scalar_type(count)).take(codes.codes[feature])

    def block_stumps(self, samples):
        """Return the stumps on a block of samples.

        Parameters
        ----------
        samples : ndarray of shape (n_samples,), dtype=int64
            Indices of the samples of the block.

        Returns
        -------
        BlockStumps
        """
        # 1) Look up the histogram row of each sample in each feature, -1 if its bin has none.
        #    Features without any histogram row are left out.
        features = zip(self._codes.codes, pairwise(self._codes.first_bin), strict=True)
        rows = [
            self._row_of_bin[start:end].take(column.take(samples))
            for column, (start, end) in features
            if (self._row_of_bin[start:end] >= 0).any()
        ]
        rows = np.stack(rows, axis=1) if rows else np.empty((len(samples), 0), np.int32)
        # 2) Make the sparse matrix with a column for each sample and 1 in its histogram rows.
        is_needed = rows >= 0
        starts = np.append(0, np.cumsum(is_needed.sum(axis=1))).astype(np.int32)
        # Several threads may replace the shared entries at the same time.
        ones = self._ones
        if len(ones) < starts[-1]:
            self._ones = ones = np.ones(starts[-1], np.float32)
        entries = ones[: starts[-1]], rows[is_needed], starts
        matrix = sparse.csc_array(entries, (self.n_histogram_rows, len(samples)))
        n_below = self._n_below.take(samples, axis=1)
        return BlockStumps(n_below, matrix, needs_total=not self._uses_histograms)

    def admissible_ranges(self, is_out_of_bag):
        """Return the stumps with in-bag samples on both sides, which are consecutive in a group.

        Parameters
        ----------
        is_out_of_bag : ndarray of shape (n_members, n_samples), dtype=bool
            True where a sample is out of a member's bag.

        Returns
        -------
        first : ndarray of shape (n_members, n_groups), dtype=int64
            Index of the first admissible stump within its group, or an arbitrary index if the
            group has no admissible stump.
        count : ndarray of shape (n_members, n_groups), dtype=int64
            Number of admissible stumps.
        """
        # 1) Number the stumps within their groups.
        codes = self._codes
        index_in_group = np.arange(len(codes.view_of_stump)) - np.repeat(
            self.first_stump, self.n_stumps
        )
        last = np.repeat(self.n_stumps - 1, self.n_stumps)
        first, count = np.zeros((2, len(is_out_of_bag), len(self.n_stumps)), int)
        # 2) For a few members at a time, find the stumps that divide the in-bag samples. Without an
        #    admissible stump, the minimum is over the `last` indices.
        n_in_bag = np.count_nonzero(~is_out_of_bag, axis=1)
        n_members = max(1, _MAX_COUNTS // codes.n_joint_bins)
        for start in range(0, len(is_out_of_bag), n_members):
            members = slice(start, start + n_members)
            counts = self._count_samples(~is_out_of_bag[members])
            # Edge of a stump under unit weights: the in-bag samples where it is +1, less those
            # where it is -1. It is +-n_in_bag if one side is empty.
            edges = codes.edges(counts, n_in_bag[members])
            is_admissible = np.abs(edges) < n_in_bag[members]
            first[members] = np.minimum.reduceat(
                np.where(is_admissible, index_in_group[:, None], last[:, None]), self.first_stump
            ).T
            count[members] = np.add.reduceat(is_admissible, self.first_stump, dtype=int).T
        return first, count

    def _count_samples(self, is_in_bag):
        """Return the number of samples of each bag in each bin: (n_joint_bins, n_members)."""
        joint_bins = self._codes.joint_bins()
        counts = np.zeros((self._codes.n_joint_bins, len(is_in_bag)))
        # Single precision counts the samples of a block without rounding errors.
        for start in range(0, len(joint_bins), _BLOCK_SAMPLES):
            samples = slice(start, start + _BLOCK_SAMPLES)
            ones = np.ones(joint_bins[samples].shape, np.float32)
            matrix = compress_columns(joint_bins[samples], ones, len(counts))
            is_member = np.ascontiguousarray(is_in_bag[:, samples].T, np.float32)
            counts += sparse_product(matrix, is_member)
        return counts

    def compared_draws(self, draws):
        """Return the columns of `draws` for the compared groups, in the small dtype of counts.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_groups), dtype=int64
            Index of the drawn stump within its group, for each member.

        Returns
        -------
        ndarray of shape (n_members, n_compared), dtype=unsigned int
            Argument `draws` of the methods of `BlockStumps`.
        """
        # All numeric groups are compared, or none.
        compared_groups = self._numeric_groups[: self.n_compared]
        return draws[:, compared_groups].astype(self._n_below.dtype)

    def sums_above(self, draws, total, compared_sums, histograms):
        """Return the sums over all samples, and over the samples above the drawn thresholds.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_groups), dtype=int64
            Index of the drawn stump within its group, for each member.
        total, compared_sums, histograms : ndarray, dtype=float64
            Results of `BlockStumps.add_derivative_sums`, summed over all blocks: over all samples,
            above the thresholds of the compared groups, and in the rows of the histograms.

        Returns
        -------
        total : ndarray of shape (n_sums, n_members), dtype=float64
        above : ndarray of shape (n_members, n_sums, n_groups), dtype=float64
        """
        # 1) Read the sums of the equality groups from their bins.
        if self._uses_histograms:
            # Each sample is in one bin of feature 0.
            total = histograms[:, : self._codes.n_bins[0]].sum(axis=1)
        above = np.empty((len(draws), len(total), len(self.n_stumps)))
        above[:, :, self._equality_groups] = histograms[:, self._equality_rows].transpose(2, 0, 1)
        # 2) The sum above a threshold is the total, less the sum up to its last bin. Missing values
        #    are in the first bin; they are subtracted where they are above all thresholds.
        if self._uses_histograms:
            # Axes of `bin_sums` (bin, sum, member), and of `below` (member, group, sum).
            bin_sums = histograms.transpose(1, 0, 2)
            threshold_bins, members = self._threshold_bins(draws)
            below = self._codes.running_sums(bin_sums)[threshold_bins, :, members]
            missing_bins = self._missing_bins()
            below[:, self._missing_above_groups] -= bin_sums[missing_bins].transpose(2, 0, 1)
            above[:, :, self._numeric_groups] = (total.T[:, None] - below).transpose(0, 2, 1)
        else:
            above[:, :, self._numeric_groups] = compared_sums
        return total, above

    def score_addends(self, draws, difference):
        """Return the changes of the scores above each drawn threshold, or in each bin.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_groups), dtype=int64
            Index of the drawn stump within its group, for each member.
        difference : ndarray of shape (n_members, n_scores, n_groups), dtype=float64
            Change of the scores above each threshold minus the change below it.

        Returns
        -------
        compared_addends : ndarray of shape (n_members, n_scores, n_compared), dtype=float32
            Added to the scores of the samples above each threshold of the compared groups.
        bin_addends : ndarray of shape (n_scores, n_histogram_rows, n_members), dtype=float32
            Added to the scores of the samples in each bin.
        """
        # 1) Add up the differences of the numeric groups in each bin, if they use histograms. Axes
        #    of `group_differences` (group, score, member), `addends_by_bin` (bin, score, member).
        n_members, n_scores, _ = difference.shape
        group_differences = difference.transpose(2, 1, 0)
        if self._uses_histograms:
            # The addend of a bin is the sum of the differences at all thresholds below it: a
            # running sum of jumps within its feature. A jump is in the first bin above a threshold.
            jumps = np.zeros((self._codes.n_joint_bins, n_scores, n_members))
            threshold_bins, members = self._threshold_bins(draws)
            is_missing_above = np.zeros(len(self._numeric_groups), bool)
            is_missing_above[self._missing_above_groups] = True
            # Two views of a feature, with missing values above and below all thresholds, may draw
            # the same bin. The fancy-indexed += would add only one of them, so each kind of view
            # has its own addition.
            for is_selected in (is_missing_above, ~is_missing_above):
                differences = group_differences[self._numeric_groups[is_selected]]
                bins = threshold_bins[:, is_selected] + 1
                jumps[bins, :, members] += differences.transpose(2, 0, 1)
            addends_by_bin = self._codes.running_sums(jumps)
            groups = self._numeric_groups[is_missing_above]
            addends_by_bin[self._missing_bins()] += group_differences[groups]
        else:
            addends_by_bin = np.zeros((self.n_histogram_rows, n_scores, n_members))
        # 2) Add the addends of the equality groups in their bins.
        addends_by_bin[self._equality_rows] += group_differences[self._equality_groups]
        bin_addends = np.ascontiguousarray(addends_by_bin.transpose(1, 0, 2), np.float32)
        compared_groups = self._numeric_groups[: self.n_compared]
        compared_addends = difference[:, :, compared_groups].astype(np.float32)
        return compared_addends, bin_addends

    def _threshold_bins(self, draws):
        """Return the last bin below each drawn threshold, and an index of the members.

        The two arrays broadcast to the shape (n_members, n_numeric_groups).
        """
        threshold_bins = self._codes.bin_of_stump[
            (self.first_stump + draws)[:, self._numeric_groups]
        ]
        return threshold_bins, np.arange(len(draws))[:, None]

    def _missing_bins(self):
        """Return the bins of missing values, for groups that place them above all thresholds."""
        groups = self._numeric_groups[self._missing_above_groups]
        return self._codes.first_bin_of_stump[self.first_stump[groups]]


class BlockStumps:
    """The stumps of a bag on a block of samples.

    Parameters
    ----------
    n_below : ndarray of shape (n_compared, n_samples), dtype=unsigned int
        Number of thresholds below each sample, in each compared group.
    bins_by_sample : scipy.sparse.csc_array of shape (n_histogram_rows, n_samples), dtype=float32
        1 where a sample is in a bin.
    needs_total : bool
        True: `add_derivative_sums` adds up all samples. False: `BagStumps.sums_above` computes the
        total from the bins.
    """

    def __init__(self, n_below, bins_by_sample, needs_total):
        self._n_below, self._bins_by_sample = n_below, bins_by_sample
        self._needs_total = needs_total
        # The transpose shares the arrays of the matrix, so that it needs no memory.
        self._samples_by_bin = bins_by_sample.T

    def zero_sums(self, n_sums, n_members):
        """Return zeros that `add_derivative_sums` adds to.

        Returns
        -------
        total : ndarray of shape (n_sums, n_members), dtype=float32
            Sums over all samples.
        compared_sums : ndarray of shape (n_members, n_sums, n_compared), dtype=float32
            Sums over the samples above the drawn thresholds.
        histograms : ndarray of shape (n_sums, n_histogram_rows, n_members), dtype=float32
            Sums over the samples in each bin.
        """
        return (
            np.zeros((n_sums, n_members), np.float32),
            np.zeros((n_members, n_sums, len(self._n_below)), np.float32),
            np.zeros((n_sums, self._bins_by_sample.shape[0], n_members), np.float32),
        )

    def add_derivative_sums(self, derivatives, draws, sums):
        """Add sums of derivatives over all samples, above thresholds, and in bins.

        Parameters
        ----------
        derivatives : list of ndarray of shape (n_samples, n_members), dtype=float32
            Derivatives of the loss.
        draws : ndarray of shape (n_members, n_compared), dtype=unsigned int
            Index of the drawn threshold within its group, for each member.
        sums : tuple of ndarray
            From `zero_sums`. Overwritten.
        """
        total, compared_sums, histograms = sums
        if histograms.size:
            for bin_sums, values in zip(histograms, derivatives, strict=True):
                add_sparse_product(self._bins_by_sample, values, bin_sums)
        if self._needs_total:
            total += sum_samples(derivatives)
        if compared_sums.size:
            compared_sums += sum_by_region(derivatives, self._is_above(draws))

    def score_changes(self, constant, draws, compared_addends, bin_addends):
        """Return the sum of the addends of each sample.

        Parameters
        ----------
        constant : ndarray of shape (n_scores, n_members), dtype=float32
            Addend of all samples.
        draws : ndarray of shape (n_members, n_compared)
            Index of the drawn threshold within its group, for each member.
        compared_addends : ndarray of shape (n_members, n_scores, n_compared), dtype=float32
            Addends of the samples above the drawn thresholds.
        bin_addends : ndarray of shape (n_scores, n_histogram_rows, n_members), dtype=float32
            Addends of the samples in each bin.

        Returns
        -------
        ndarray of shape (n_scores, n_samples, n_members), dtype=float32
        """
        if len(self._n_below):
            changes = add_region_addends(constant, compared_addends, self._is_above(draws))
        else:
            changes = np.repeat(constant[:, None], self._n_below.shape[1], axis=1)
        if bin_addends.size:
            for sample_changes, values in zip(changes, bin_addends, strict=True):
                add_sparse_product(self._samples_by_bin, values, sample_changes)
        return changes

    def _is_above(self, draws):
        """Return an array of shape (n_members, n_compared, n_samples): 1 above, 0 below."""
        above = np.empty((*draws.shape, self._n_below.shape[1]), np.float32)
        return np.greater(self._n_below, draws[:, :, None], out=above)


def sum_samples(derivatives):
    """Return the sums of derivatives over all samples.

    Parameters
    ----------
    derivatives : list of n_sums ndarray of shape (n_samples, n_members), dtype=float32

    Returns
    -------
    ndarray of shape (n_sums, n_members), dtype=float32
    """
    # A matrix product is several times faster than `ndarray.sum`.
    ones = np.ones(len(derivatives[0]), np.float32)
    return np.stack([ones @ values for values in derivatives])


def sum_by_region(derivatives, is_in_region):
    """Return the sums of derivatives over the samples in each region.

    Parameters
    ----------
    derivatives : list of n_sums ndarray of shape (n_samples, n_members), dtype=float32
    is_in_region : ndarray of shape (n_members, n_regions, n_samples), dtype=float32
        1 where a sample is in the region that a member drew, else 0.

    Returns
    -------
    ndarray of shape (n_members, n_sums, n_regions), dtype=float32
    """
    n_members, _, n_samples = is_in_region.shape
    by_member = np.empty((n_members, len(derivatives), n_samples), np.float32)
    for index, values in enumerate(derivatives):
        by_member[:, index] = values.T
    return by_member @ is_in_region.transpose(0, 2, 1)


def add_region_addends(constant, addends, is_in_region):
    """Return, for each sample, the constant plus the addends of the regions that contain it.

    Parameters
    ----------
    constant : ndarray of shape (n_scores, n_members), dtype=float32
        Addend of all samples.
    addends : ndarray of shape (n_members, n_scores, n_regions), dtype=float32
        Addends of the samples in each region.
    is_in_region : ndarray of shape (n_members, n_regions, n_samples), dtype=float32
        1 where a sample is in the region that a member drew, else 0.

    Returns
    -------
    ndarray of shape (n_scores, n_samples, n_members), dtype=float32
        C-contiguous.
    """
    changes = np.repeat(constant[:, None], is_in_region.shape[2], axis=1)
    changes += (addends @ is_in_region).transpose(1, 2, 0)
    return changes
