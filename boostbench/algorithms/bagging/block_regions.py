"""Regions on a block of samples: sums of derivatives in them, and changes of the scores.

A *region* is a set of samples that a member of a bag draws: the samples where a stump is +1, or a
quadrant of two features. Each block of samples in training has the regions of one class of this
module. `boostbench.algorithms.bagging.bag_stumps` makes the regions of stumps, and
`boostbench.algorithms.bagging.interactions` makes the quadrants.
"""

from abc import ABC, abstractmethod

import numpy as np

from boostbench.core.linear_algebra import add_sparse_product


class BlockRegions(ABC):
    """Base of the regions on a block of samples.

    The argument `draws` of the methods is the result of `JointBoostingMaster.draw_regions`: the
    regions that each member drew.
    """

    @abstractmethod
    def zero_sums(self, n_sums, n_members):
        """Return the arrays of zeros, dtype float32, that `add_derivative_sums` adds to.

        Parameters
        ----------
        n_sums : int
            Number of derivatives of each sample and member: a slope and a curvature per score.
        n_members : int

        Returns
        -------
        tuple of ndarray
        """

    @abstractmethod
    def add_derivative_sums(self, derivatives, draws, sums):
        """Add sums of derivatives over the samples of the block.

        Parameters
        ----------
        derivatives : list of n_sums ndarray of shape (n_samples, n_members), dtype=float32
            Derivatives of the loss: the slopes of all scores, then the curvatures.
        draws : ndarray
        sums : tuple of ndarray
            From `zero_sums`. Overwritten.
        """

    @abstractmethod
    def score_changes(self, constant, draws, *addends):
        """Return the sum of the addends of each sample.

        Parameters
        ----------
        constant : ndarray of shape (n_scores, n_members), dtype=float32
            Addend of all samples.
        draws : ndarray
        *addends : ndarray, dtype=float32
            Addends of the samples in regions.

        Returns
        -------
        ndarray of shape (n_scores, n_samples, n_members), dtype=float32
        """


class HistogramBlock(BlockRegions):
    """Stumps whose sums are read from sums in bins, so that the blocks need no draws.

    `HistogramStumps` has blocks of this class. A `ComparedBlock` contains one for the bins of its
    equality groups.

    Parameters
    ----------
    bins_by_sample : CompressedMatrix of shape (n_bins, n_samples), dtype=float32
        1 where a sample is in a bin, in compressed columns.
    """

    def __init__(self, bins_by_sample):
        self._bins_by_sample = bins_by_sample
        # The transpose shares the arrays of the matrix, so that it needs no memory.
        self._samples_by_bin = bins_by_sample.T

    def zero_sums(self, n_sums, n_members):
        """Return the zeros of one array, the histograms: (n_sums, n_bins, n_members)."""
        n_bins, _ = self._bins_by_sample.shape
        return (np.zeros((n_sums, n_bins, n_members), np.float32),)

    def add_derivative_sums(self, derivatives, draws, sums):
        """Add the sums over the samples in each bin; see `BlockRegions.add_derivative_sums`."""
        (histograms,) = sums
        for bin_sums, values in zip(histograms, derivatives, strict=True):
            add_sparse_product(self._bins_by_sample, values, bin_sums)

    def score_changes(self, constant, draws, bin_addends):
        """Return the changes, given addends of each bin: (n_scores, n_bins, n_members)."""
        changes = np.repeat(constant[:, None], self._bins_by_sample.shape[1], axis=1)
        self.add_bin_addends(bin_addends, changes)
        return changes

    def add_bin_addends(self, bin_addends, changes):
        """Add the addends of each sample's bins to changes: (n_scores, n_samples, n_members)."""
        for sample_changes, values in zip(changes, bin_addends, strict=True):
            add_sparse_product(self._samples_by_bin, values, sample_changes)


class ComparedBlock(BlockRegions):
    """Stumps of a block of `ComparedStumps`.

    The samples are compared with the drawn thresholds of numeric groups. The stump of an equality
    group is +1 in one bin.

    Parameters
    ----------
    n_below : ndarray of shape (n_compared, n_samples), dtype=unsigned int
        Number of thresholds below each sample, in each numeric group.
    compared_groups : ndarray of shape (n_compared,), dtype=int64
        Indices of the numeric groups, columns of `draws`.
    equality_block : HistogramBlock
        Bins of the equality groups.
    """

    def __init__(self, n_below, compared_groups, equality_block):
        self._n_below, self._compared_groups = n_below, compared_groups
        self._equality_block = equality_block

    def zero_sums(self, n_sums, n_members):
        """Return zeros; see `BlockRegions.zero_sums`.

        Returns
        -------
        total : ndarray of shape (n_sums, n_members), dtype=float32
            Sums over all samples.
        compared_sums : ndarray of shape (n_members, n_sums, n_compared), dtype=float32
            Sums over the samples above the drawn thresholds of the numeric groups.
        equality_sums : ndarray of shape (n_sums, n_equality_groups, n_members), dtype=float32
            Sums over the samples in the bin of each equality group.
        """
        total = np.zeros((n_sums, n_members), np.float32)
        compared_sums = np.zeros((n_members, n_sums, len(self._n_below)), np.float32)
        return total, compared_sums, *self._equality_block.zero_sums(n_sums, n_members)

    def add_derivative_sums(self, derivatives, draws, sums):
        """Add the sums of `zero_sums`; see `BlockRegions.add_derivative_sums`."""
        total, compared_sums, *equality_sums = sums
        total += sum_samples(derivatives)
        self._equality_block.add_derivative_sums(derivatives, draws, equality_sums)
        # All features may be categories, whose groups are equality groups.
        if len(self._n_below):
            compared_sums += sum_by_region(derivatives, self._is_above(draws))

    def score_changes(self, constant, draws, compared_addends, bin_addends):
        """Return the sum of the addends of each sample; see `BlockRegions.score_changes`.

        Parameters
        ----------
        constant, draws
            See `BlockRegions.score_changes`.
        compared_addends : ndarray of shape (n_members, n_scores, n_compared), dtype=float32
            Addends of the samples above the drawn thresholds.
        bin_addends : ndarray of shape (n_scores, n_equality_groups, n_members), dtype=float32
            Addends of the samples in the bin of each equality group.

        Returns
        -------
        ndarray of shape (n_scores, n_samples, n_members), dtype=float32
        """
        if len(self._n_below):
            changes = add_region_addends(constant, compared_addends, self._is_above(draws))
        else:
            changes = np.repeat(constant[:, None], self._n_below.shape[1], axis=1)
        self._equality_block.add_bin_addends(bin_addends, changes)
        return changes

    def _is_above(self, draws):
        """Return an array of shape (n_members, n_compared, n_samples): 1 above, 0 below."""
        # A sample is above threshold k of a group if more than k thresholds are below it. Numbers
        # of one data type are compared without a conversion of `n_below`.
        thresholds = draws.take(self._compared_groups, axis=1).astype(self._n_below.dtype)
        above = np.empty((*thresholds.shape, self._n_below.shape[1]), np.float32)
        return np.greater(self._n_below, thresholds[:, :, None], out=above)


class BlockQuadrants(BlockRegions):
    """Quadrants of pairs of features.

    In each round a member draws some cells of each axis, a feature divided into cells. The quadrant
    of a pair contains the samples in drawn cells of both axes. It is called so although a drawn set
    of categories is no interval.

    The argument `draws` of the methods has the shape (n_members, n_axes, n_cells), dtype=float32:
    1 for the cells of each axis that a member drew, else 0.

    Parameters
    ----------
    cells : ndarray of shape (n_axes, n_samples), dtype=int64
        Cell of each sample on each axis.
    pairs : ndarray of shape (n_pairs, 2)
        Indices of the two axes of each pair.
    """

    def __init__(self, cells, pairs):
        self._cells, self._pairs = cells, pairs

    def zero_sums(self, n_sums, n_members):
        """Return zeros; see `BlockRegions.zero_sums`.

        Returns
        -------
        total : ndarray of shape (n_sums, n_members), dtype=float32
            Sums over all samples.
        quadrants : ndarray of shape (n_members, n_sums, n_pairs), dtype=float32
            Sums over the samples in each quadrant.
        """
        shape = n_members, n_sums, len(self._pairs)
        return np.zeros((n_sums, n_members), np.float32), np.zeros(shape, np.float32)

    def add_derivative_sums(self, derivatives, draws, sums):
        """Add the sums of `zero_sums`; see `BlockRegions.add_derivative_sums`."""
        total, quadrants = sums
        total += sum_samples(derivatives)
        quadrants += sum_by_region(derivatives, self._is_in_quadrant(draws))

    def score_changes(self, constant, draws, addends):
        """Return the changes, given addends of quadrants: (n_members, n_scores, n_pairs)."""
        return add_region_addends(constant, addends, self._is_in_quadrant(draws))

    def _is_in_quadrant(self, is_drawn_cell):
        """Return an array of shape (n_members, n_pairs, n_samples): 1 in a quadrant, else 0."""
        # Axes (member, axis of a feature, sample).
        is_drawn = np.take_along_axis(is_drawn_cell, self._cells[None], axis=2)
        return is_drawn[:, self._pairs[:, 0]] * is_drawn[:, self._pairs[:, 1]]


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
