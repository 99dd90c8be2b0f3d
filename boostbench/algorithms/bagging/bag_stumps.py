"""Stumps of a bag in groups, and sums of derivatives over the samples above drawn thresholds.

A stump tests a *view*, a numeric column derived from a feature (`boostbench.core.stumps.views`).
The stumps of a view form a *stump group*. In each round, each member of the bag draws one stump of
each group.

Two classes compute the sums: `HistogramStumps` reads them from histograms of the features, and
`ComparedStumps` compares each sample with the drawn thresholds. `make_bag_stumps` chooses the
faster one.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from itertools import pairwise

import numpy as np

from boostbench.algorithms.bagging.block_regions import ComparedBlock, HistogramBlock
from boostbench.core.linear_algebra import CompressedMatrix, sparse_from_columns, sparse_product

# Histograms are used if there are at least this many samples per bin. With fewer samples, comparing
# the samples with the drawn thresholds is faster than computing prefix sums of the bins.
_SAMPLES_PER_BIN = 2

# Number of samples that are counted at a time. Single precision counts them without rounding.
_BLOCK_SAMPLES = 2**14

# Maximum number of counts, one for each bin and member, that are kept at a time: 8 MB.
_MAX_COUNTS = 2**20


def make_bag_stumps(codes, n_scores):
    """Return the stumps of a bag, of the class with the faster sums.

    Parameters
    ----------
    codes : boostbench.core.stumps.feature_codes.FeatureCodes
        Training data as codes (bin of each value), with their stumps.
    n_scores : int
        Number of scores of a sample.

    Returns
    -------
    HistogramStumps or ComparedStumps
    """
    # Comparisons lead to dense products, which are faster for several scores.
    n_threshold_bins = len(np.unique(codes.bin_of_stump[~codes.is_equality]))
    has_enough_samples = codes.n_samples >= _SAMPLES_PER_BIN * n_threshold_bins
    return HistogramStumps(codes) if n_scores == 1 and has_enough_samples else ComparedStumps(codes)


class BagStumps(ABC):
    """All stumps of a bag, in one group for each view that varies.

    A view of numbers has a *numeric group* of stumps with different thresholds. A view that
    indicates one category or the missing values of a feature has an *equality group* of one stump,
    which is +1 in one bin of the feature.

    A master (`boostbench.algorithms.bagging.stump_rounds`) draws stumps, and calls in each round:

    1. `BlockRegions.add_derivative_sums` for each block of samples.
    2. `sums_above`, from which it computes a step on each side of the drawn thresholds.
    3. `score_addends` of the steps, and `BlockRegions.score_changes` for each block.

    Parameters
    ----------
    codes : boostbench.core.stumps.feature_codes.FeatureCodes
        Training data as codes, with their stumps. Its *joint bins* are the bins of all features,
        numbered one feature after another.

    Attributes
    ----------
    view : ndarray of shape (n_groups,), dtype=int64
        View of each group.
    first_stump : ndarray of shape (n_groups,), dtype=int64
        Index of the first stump of each group.
    n_stumps : ndarray of shape (n_groups,), dtype=int64
        Number of stumps of each group.
    n_summed_bins : int
        Number of bins whose sums of derivatives are computed.
    n_compared : int
        Number of groups whose drawn thresholds are compared with the samples.
    """

    def __init__(self, codes):
        self._codes = codes
        self.view, self.first_stump, self.n_stumps = np.unique(
            codes.view_of_stump, return_index=True, return_counts=True
        )
        is_equality = codes.is_equality[self.first_stump]
        self._numeric_groups = np.flatnonzero(~is_equality)
        self._equality_groups = np.flatnonzero(is_equality)
        # Joint bin that the stump of each equality group tests for; all are different.
        self._equality_bins = codes.bin_of_stump[self.first_stump[is_equality]]
        # Memory of `_shared_ones`.
        self._ones = np.ones(0, np.float32)

    @abstractmethod
    def block_stumps(self, samples):
        """Return the stumps on a block of samples.

        Parameters
        ----------
        samples : ndarray of shape (n_samples,), dtype=int64
            Indices of the samples of the block.

        Returns
        -------
        boostbench.algorithms.bagging.block_regions.BlockRegions
        """

    @abstractmethod
    def sums_above(self, draws, *block_sums):
        """Return the sums over all samples, and over the samples where the drawn stumps are +1.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_groups), dtype=int64
            Index of the drawn stump within its group, for each member.
        *block_sums : ndarray, dtype=float64
            Arrays of `BlockRegions.add_derivative_sums`, summed over all blocks.

        Returns
        -------
        total : ndarray of shape (n_sums, n_members), dtype=float64
            Sums of each derivative: the slopes of all scores, then the curvatures.
        above : ndarray of shape (n_members, n_sums, n_groups), dtype=float64
        """

    @abstractmethod
    def score_addends(self, draws, step_differences):
        """Return the arguments `addends` of `BlockRegions.score_changes`.

        Parameters
        ----------
        draws : ndarray of shape (n_members, n_groups), dtype=int64
            Index of the drawn stump within its group, for each member.
        step_differences : ndarray of shape (n_members, n_scores, n_groups), dtype=float64
            Change of the scores where a drawn stump is +1, minus the change where it is -1.

        Returns
        -------
        tuple of ndarray, dtype=float32
        """

    def _shared_ones(self, count):
        """Return `count` ones: the entries of a sparse matrix, whose memory all blocks share."""
        # Threads may replace the array at the same time; each keeps one that is long enough.
        ones = self._ones
        if len(ones) < count:
            self._ones = ones = np.ones(count, np.float32)
        return ones[:count]

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
        # 2) For a few members at a time, find the stumps that divide the in-bag samples.
        n_in_bag = np.count_nonzero(~is_out_of_bag, axis=1)
        n_members = max(1, _MAX_COUNTS // codes.n_joint_bins)
        for start in range(0, len(is_out_of_bag), n_members):
            members = slice(start, start + n_members)
            counts = self._count_samples(~is_out_of_bag[members])
            # Edge of a stump under unit weights: the in-bag samples where it is +1, less those
            # where it is -1. It is +-n_in_bag if one side is empty.
            edges = codes.edges(counts, n_in_bag[members])
            is_admissible = np.abs(edges) < n_in_bag[members]
            # First admissible index of each group; inadmissible stumps count as the last one.
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
            matrix = sparse_from_columns(joint_bins[samples], ones, len(counts))
            is_member = np.ascontiguousarray(is_in_bag[:, samples].T, np.float32)
            counts += sparse_product(matrix, is_member)
        return counts


class HistogramStumps(BagStumps):
    """Stumps of a bag whose sums are read from histograms: sums of derivatives in all joint bins.

    A sample has one score: the axis of the scores has the length 1.
    """

    n_compared = 0

    def __init__(self, codes):
        super().__init__(codes)
        self.n_summed_bins = codes.n_joint_bins
        # Missing values are in the first bin of a feature, below all thresholds. The mask has an
        # entry for each numeric group: True if its stumps are +1 for missing values all the same.
        first_stump = self.first_stump[self._numeric_groups]
        self._is_missing_above = codes.is_missing_above[first_stump]
        # Bin of the missing values for each True of the mask.
        self._missing_bins = codes.first_bin_of_stump[first_stump[self._is_missing_above]]

    def block_stumps(self, samples):
        """Return the `HistogramBlock` of a block of samples; see `BagStumps.block_stumps`."""
        block_codes = [feature_codes.take(samples) for feature_codes in self._codes.codes]
        joint_bins = replace(self._codes, codes=block_codes).joint_bins()
        ones = self._shared_ones(joint_bins.size)
        return HistogramBlock(sparse_from_columns(joint_bins, ones, self.n_summed_bins))

    def sums_above(self, draws, histograms):
        """Return the sums over all samples, and where the drawn stumps are +1.

        See `BagStumps.sums_above`; `histograms` has the shape (n_sums, n_joint_bins, n_members).
        """
        # Each sample is in one bin of feature 0.
        total = histograms[:, : self._codes.n_bins[0]].sum(axis=1)
        above = np.empty((len(draws), len(total), len(self.n_stumps)))
        # 1) The sum above a threshold is the total, less the sum up to the last bin below it.
        # Axes (bin, sum, member).
        bin_sums = histograms.transpose(1, 0, 2)
        threshold_bins, members = self._threshold_bins(draws)
        # Axes (member, numeric group, sum).
        below = self._codes.running_sums(bin_sums)[threshold_bins, :, members]
        # The sums up to a bin include the missing values; subtract them where they count as above.
        below[:, self._is_missing_above] -= bin_sums[self._missing_bins].transpose(2, 0, 1)
        above[:, :, self._numeric_groups] = (total.T[:, None] - below).transpose(0, 2, 1)
        # 2) The sum of an equality group is the sum in its bin.
        above[:, :, self._equality_groups] = histograms[:, self._equality_bins].transpose(2, 0, 1)
        return total, above

    def score_addends(self, draws, step_differences):
        """Return the addends of each bin: a tuple of one array, (1, n_joint_bins, n_members).

        See `BagStumps.score_addends`.
        """
        n_bins, n_members = self._codes.n_joint_bins, len(draws)
        # Axes (member, numeric group).
        numeric_differences = step_differences[:, 0, self._numeric_groups]
        # 1) Numeric groups add to a bin the differences of all thresholds below it: a running sum
        #    of jumps within the feature. A jump is in the first bin above a threshold. Two groups
        #    of a feature may draw the same bin; `np.bincount` adds both.
        threshold_bins, members = self._threshold_bins(draws)
        flat_bins = (threshold_bins + 1) * n_members + members
        jumps = np.bincount(flat_bins.ravel(), numeric_differences.ravel(), n_bins * n_members)
        jumps = jumps.reshape(n_bins, n_members)
        # Axes (bin, member).
        addends = self._codes.running_sums(jumps)
        # 2) Add the differences of single bins: the missing values above all thresholds, and the
        #    bins of the equality groups.
        addends[self._missing_bins] += numeric_differences[:, self._is_missing_above].T
        addends[self._equality_bins] += step_differences[:, 0, self._equality_groups].T
        return (addends[None].astype(np.float32),)

    def _threshold_bins(self, draws):
        """Return the last joint bin below each drawn threshold, and an index of the members.

        The shapes are (n_members, n_numeric_groups) and (n_members, 1); together, they index the
        axes of bins and members of an array.
        """
        drawn_stumps = (self.first_stump + draws)[:, self._numeric_groups]
        return self._codes.bin_of_stump[drawn_stumps], np.arange(len(draws))[:, None]


class ComparedStumps(BagStumps):
    """Stumps of a bag, with each sample compared with the drawn thresholds of the numeric groups.

    The sum of an equality group is the sum in its bin.
    """

    def __init__(self, codes):
        super().__init__(codes)
        self.n_summed_bins = len(self._equality_bins)
        # Number of the equality group that tests for each joint bin, from 0; -1: no group does.
        self._equality_of_bin = np.full(codes.n_joint_bins, -1, np.int32)
        self._equality_of_bin[self._equality_bins] = np.arange(self.n_summed_bins)
        # Number of thresholds of each numeric group below each sample, in the smallest data type.
        self.n_compared = len(self._numeric_groups)
        dtype = np.min_scalar_type(self.n_stumps[self._numeric_groups].max(initial=0))
        self._n_below = np.empty((self.n_compared, codes.n_samples), dtype)
        for group_n_below, group in zip(self._n_below, self._numeric_groups, strict=True):
            group_n_below[:] = self._count_thresholds_below(group)

    def _count_thresholds_below(self, group):
        """Return the number of thresholds of a numeric group that are below each sample."""
        codes, first, count = self._codes, self.first_stump[group], self.n_stumps[group]
        feature = codes.feature_of_view[self.view[group]]
        # Threshold i is above bin `last_bin_below[i]` and below the next one. The number of
        # thresholds below bin b is thus the number of entries less than b.
        last_bin_below = codes.bin_of_stump[first : first + count] - codes.first_bin[feature]
        n_below = np.searchsorted(last_bin_below, np.arange(codes.n_bins[feature]))
        if codes.is_missing_above[first]:
            # The first bin holds the missing values.
            n_below[0] = count
        return n_below.astype(np.min_scalar_type(count)).take(codes.codes[feature])

    def block_stumps(self, samples):
        """Return the `ComparedBlock` of a block of samples; see `BagStumps.block_stumps`."""
        # 1) Look up the equality group of each sample in each feature; -1 if its bin has none.
        #    Features without an equality group are left out.
        features = zip(self._codes.codes, pairwise(self._codes.first_bin), strict=True)
        groups = [
            self._equality_of_bin[start:end].take(feature_codes.take(samples))
            for feature_codes, (start, end) in features
            if (self._equality_of_bin[start:end] >= 0).any()
        ]
        groups = np.stack(groups, axis=1) if groups else np.empty((len(samples), 0), np.int32)
        # 2) Make the sparse matrix with a column for each sample, and 1 in its groups.
        has_group = groups >= 0
        starts = np.append(0, np.cumsum(has_group.sum(axis=1))).astype(np.int32)
        bins_by_sample = CompressedMatrix(
            format="csc",
            shape=(self.n_summed_bins, len(samples)),
            indptr=starts,
            indices=groups[has_group],
            data=self._shared_ones(starts[-1]),
        )
        n_below = self._n_below.take(samples, axis=1)
        return ComparedBlock(n_below, self._numeric_groups, HistogramBlock(bins_by_sample))

    def sums_above(self, draws, total, compared_sums, equality_sums):
        """Return the sums over all samples, and where the drawn stumps are +1.

        See `BagStumps.sums_above`, and `ComparedBlock.zero_sums` for the shapes of the sums.
        """
        above = np.empty((len(draws), len(total), len(self.n_stumps)))
        above[:, :, self._numeric_groups] = compared_sums
        above[:, :, self._equality_groups] = equality_sums.transpose(2, 0, 1)
        return total, above

    def score_addends(self, draws, step_differences):
        """Return the addends that `ComparedBlock.score_changes` takes.

        See `BagStumps.score_addends`.
        """
        compared_addends = step_differences[:, :, self._numeric_groups].astype(np.float32)
        equality_addends = step_differences[:, :, self._equality_groups].transpose(1, 2, 0)
        return compared_addends, np.ascontiguousarray(equality_addends, np.float32)
