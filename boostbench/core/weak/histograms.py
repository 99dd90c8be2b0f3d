"""Histograms: sums of the weights of samples in the bins between thresholds, then prefix sums."""

from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from boostbench.core.sparse_products import product
from boostbench.core.weak import quantiles
from boostbench.core.weak.feature_pairs import FeaturePairs
from boostbench.core.weak.layout import Layout
from boostbench.core.weak.sample_bins import SampleBins

# Bins of a block of a histogram. The place in the block is the slow axis, so that a prefix sum in
# all blocks is so many vector additions, long ones, since they run over all blocks and columns.
_BLOCK = 16

# A feature joins others where that makes fewer additions more for spreading joint bins over the
# features' own than the samples are, by this factor; and where the joint bins stay in the cache.
# More pairs than that take longer to count than the samples.
_SAMPLES_PER_SPREAD = 2
_MOST_JOINT_BINS = 2**13
_MOST_PAIRS = 2**20

# Samples that are looked at first, so that most pairs of features with many values are dismissed
# early: twice as many as a pair may take joint bins.
_FIRST_SAMPLES = 2 * _MOST_JOINT_BINS

# After more additions in single precision too many stumps may be the best one.
_FEW_ADDITIONS = 512

# Samples whose bins are turned from features to samples at a time.
_TURNED_SAMPLES = 2**13


class Histogram(Layout):
    """Sums of bins by sparse products, and prefix sums over them.

    Where several features together take few values, a sample is added once to a joint bin of them
    and the joint bins are spread over the bins of each, instead of a sample to a bin of each.

    Parameters
    ----------
    X, cuts, codes
        As of `boostbench.core.weak.layouts.choose_layout`.

    Attributes
    ----------
    feature, cut, additions
        As of `boostbench.core.weak.layouts.Dense`.
    codes : list of ndarray of shape (n_samples,)
        Of each feature, how many of its thresholds the samples are above.
    """

    def __init__(self, X, cuts, codes=None):
        n_thresholds = np.array([len(c) for c in cuts])
        blocks = n_blocks(cuts)
        first_block = np.cumsum(blocks) - blocks
        self._block_feature = np.repeat(np.arange(len(cuts)), blocks)
        self._in_features = RunningSums(np.arange(blocks.sum()) - first_block[self._block_feature])
        place, block = np.divmod(np.arange(_BLOCK * blocks.sum()), blocks.sum())
        self.feature = self._block_feature[block]
        bin_ = (block - first_block[self.feature]) * _BLOCK + place
        # The padding of the last block of a feature repeats its last threshold.
        first_cut = np.cumsum(n_thresholds) - n_thresholds
        self.cut = first_cut[self.feature] + np.minimum(bin_, n_thresholds[self.feature] - 1)
        # Samples above the last threshold of a feature are below none of them: they go behind all
        # positions. So the padding has the last sum.
        position = np.zeros((len(cuts), bin_.max() + 2), np.int64)
        position[self.feature, bin_] = np.arange(len(self.feature))
        position[np.arange(len(cuts)), n_thresholds] = len(self.feature)
        if codes is None:
            values = quantiles.columns(X)
            codes = [quantiles.codes(x, c) for c, x in zip(cuts, values, strict=True)]
        self.codes = codes
        self._position = position
        self._more = int(blocks.max(initial=0)) + 2 * _BLOCK + 3
        self._of_one = None
        if FeaturePairs.suits(self.codes, n_thresholds):
            of_one = FeaturePairs(self.codes, n_thresholds, self.cut)
            self._of_one = of_one if of_one.additions <= _FEW_ADDITIONS else None

    def of(self, n_columns):
        """Return the layout for so many columns; as `boostbench.core.weak.layout.Layout.of`."""
        return self._of_one if n_columns == 1 and self._of_one is not None else self

    # Laid out when they are needed: with many samples, one column has a layout of its own.
    @cached_property
    def _joint_sums(self):
        sums = JointSums(self.codes, self._position, len(self.feature) + 1)
        is_single = sums.additions + self._more <= _FEW_ADDITIONS
        sums.convert(np.float32 if is_single else np.float64)
        return sums

    @property
    def additions(self):
        """Roundings on the way of a weight below a threshold into an edge, at most."""
        return self._joint_sums.additions + self._more

    @property
    def of_total(self):
        """Roundings on the way of the total into an edge, at most."""
        return self._more

    @property
    def dtype(self):
        """The precision that pays."""
        return self._joint_sums.dtype

    def pieces(self, W, total):
        """Edges, all at a time; as `boostbench.core.weak.layouts.Dense.pieces`."""
        sums = self._sums_of_bins(W)
        blocks = sums.sum(axis=0)
        sums[0] += total
        sums[0] += self._in_features.before(blocks)
        for before, place in pairwise(sums):
            place += before
        yield sums.reshape(-1, W.shape[1])

    def _sums_of_bins(self, W):
        """Add up by place in a block and by block: shape (_BLOCK, n_blocks, n_columns)."""
        return self._joint_sums(W).reshape(_BLOCK, -1, W.shape[1])


class FewBins(Histogram):
    """A histogram whose prefix sums are products with triangular matrices.

    Parameters
    ----------
    X, cuts, codes
        As of `choose_layout`.

    Attributes
    ----------
    feature, cut, additions
        As of `Histogram`.
    """

    @cached_property
    def _within(self):
        return np.tri(_BLOCK, dtype=self.dtype)

    @cached_property
    def _earlier(self):
        """Which blocks of its feature come before a block; None where no feature has several."""
        of_one = self._block_feature[:, None] == self._block_feature
        earlier = np.tri(len(of_one), k=-1, dtype=self.dtype) * of_one
        return earlier if earlier.any() else None

    def pieces(self, W, total):
        """Edges, all at a time; as `boostbench.core.weak.layouts.Dense.pieces`."""
        bins = self._sums_of_bins(W)
        before = total.astype(bins.dtype)
        if self._earlier is not None:
            blocks = self._within[-1] @ bins.reshape(_BLOCK, -1)
            before = before + self._earlier @ blocks.reshape(bins[0].shape)
        bins[0] += before
        yield (self._within @ bins.reshape(_BLOCK, -1)).reshape(-1, W.shape[1])


class JointSums:
    """Sums of multiples of W in the bins of all features, by joint bins of some.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,)
        As of `Histogram`.
    position : ndarray of shape (n_features, n_bins), dtype=int64
        The row of each feature and bin.
    n_rows : int
        The last is left out.
    factor : float, default=-2.0
        What the weights are multiplied with.

    Attributes
    ----------
    additions : int
        One after the other, at most.
    dtype : numpy.float32 or numpy.float64
        In which sums are added up, unless weights come in a higher precision.
    """

    def __init__(self, codes, position, n_rows, factor=-2.0):
        n_samples = len(codes[0])
        groups = list(_joint_bins(codes, n_samples // _SAMPLES_PER_SPREAD))
        n_read = n_rows - 1
        if len(groups) == len(codes):
            self._spread, spread = None, 0
            tables = position
        else:
            ends = np.cumsum([len(bins) for _, _, bins in groups])
            tables = [
                np.arange(end - len(group[2]), end) for end, group in zip(ends, groups, strict=True)
            ]
            rows = [position[members, bins].ravel() for members, _, bins in groups]
            sizes = [np.full(len(bins), len(members)) for members, _, bins in groups]
            starts = np.append(0, np.cumsum(np.concatenate(sizes)))
            rows = np.concatenate(rows)
            matrix = np.full(len(rows), factor), rows, starts
            self._spread = sparse.csc_array(matrix, (n_rows, ends[-1]))
            spread = int(np.bincount(rows)[:n_read].max(initial=0))
            n_rows = n_read = int(ends[-1])
        bins = np.empty((n_samples, len(groups)), np.int32)
        for start in range(0, n_samples, _TURNED_SAMPLES):
            some = slice(start, start + _TURNED_SAMPLES)
            for column, table, (_, joint, _) in zip(bins[some].T, tables, groups, strict=True):
                column[:] = table.take(joint[some])
        factor = factor if self._spread is None else 1.0
        self._samples = SampleBins(bins, n_rows, factor, n_read)
        self.additions = self._samples.additions + spread

    def convert(self, dtype):
        """Add up in some precision."""
        self.dtype = dtype
        self._samples.convert(dtype)
        if self._spread is not None:
            self._spread = self._spread.astype(dtype)

    def __call__(self, W):
        """Add up; returns shape (n_rows - 1, n_columns)."""
        sums = self._samples.sums(W)
        if self._spread is not None:
            sums = product(self._spread, sums)
        return sums[:-1]


class RunningSums:
    """Prefix sums that begin anew at some rows.

    Where a sum runs on over all rows and what came before is subtracted, it is as exact as the sum
    of all rows, which may be far larger. So each row adds the row 1, 2, 4, ... before it, as long
    as that is in its run.

    Parameters
    ----------
    place : ndarray of shape (n_rows,)
        Of a row in its run, from 0 on.

    Examples
    --------
    >>> RunningSums(np.array([0, 1, 2, 0])).before(np.array([[1.0], [2.0], [3.0], [4.0]])).ravel()
    array([0., 1., 3., 0.])
    """

    def __init__(self, place):
        self._first = place == 0
        steps = 2 ** np.arange(max(0, int(place.max(initial=1)) - 1).bit_length())
        self._steps = [(step, np.flatnonzero(place > step)) for step in steps]

    def before(self, values):
        """Sum up what comes before each row in its run; values of shape (n_rows, n_columns)."""
        sums = np.roll(values, 1, axis=0)
        sums[self._first] = 0.0
        for step, rows in self._steps:
            sums[rows] += sums[rows - step]
        return sums


def n_blocks(cuts):
    """Count the blocks of each feature of a histogram."""
    return np.array([-(-len(c) // _BLOCK) for c in cuts])


def _joint_bins(codes, most_additions):
    """Group consecutive features that take few joint values.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,)
        The bins of each feature.
    most_additions : int
        So many more additions may a feature cost that joins others, where its joint bins are spread
        over the bins of each.

    Yields
    ------
    members : list of int
        The features of the group.
    joint : ndarray of shape (n_samples,)
        The joint bin of each sample.
    bins : ndarray of shape (n_joint_bins, n_members)
        Of the features.
    """
    group = None
    for j, own in enumerate(codes):
        of_own = np.arange(int(own.max()) + 1)[:, None]
        if group is not None:
            members, joint, bins = group
            if len(bins) * len(of_own) <= _MOST_PAIRS and not _are_many(joint, own, len(of_own)):
                pairs = joint * np.int32(len(of_own)) + own
                taken = np.flatnonzero(np.bincount(pairs, minlength=len(bins) * len(of_own)))
                additions = len(taken) * (len(members) + 1) - bins.size - len(of_own)
                if len(taken) <= _MOST_JOINT_BINS and additions <= most_additions:
                    number = np.zeros(len(bins) * len(of_own), np.int32)
                    number[taken] = np.arange(len(taken))
                    first, second = np.divmod(taken, len(of_own))
                    both = np.column_stack([bins[first], of_own[second]])
                    group = [*members, j], number.take(pairs), both
                    continue
            yield group
        group = [j], own.astype(np.int32), of_own
    yield group


def _are_many(joint, own, n_own):
    """Return whether the first samples alone take too many pairs of joint bins and own bins."""
    if len(own) <= _FIRST_SAMPLES:
        return False
    pairs = joint[:_FIRST_SAMPLES] * np.int32(n_own) + own[:_FIRST_SAMPLES]
    return np.count_nonzero(np.bincount(pairs)) > _MOST_JOINT_BINS
