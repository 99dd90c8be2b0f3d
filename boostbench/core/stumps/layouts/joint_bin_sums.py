"""Sums of the weights of samples in the bins of all features, by joint bins of several features."""

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import sparse_product
from boostbench.core.stumps.layouts.sample_bins import SampleBins

# A feature joins a group if the expansion of the joint bins to the bins of each feature then needs
# at most n_samples / _SAMPLES_PER_EXPANSION_ADDITION more additions, and if the joint bins fit the
# cache. Counting more than _MAX_PAIRS pairs of bins takes longer than counting the samples.
_SAMPLES_PER_EXPANSION_ADDITION = 2
_MAX_JOINT_BINS = 2**13
_MAX_PAIRS = 2**20

# Number of samples whose pairs are counted first, which rejects most features with many values:
# twice the largest number of joint bins.
_SAMPLE_SIZE = 2 * _MAX_JOINT_BINS

# Samples whose bins are transposed at a time, few enough for the cache.
_BLOCK_SAMPLES = 2**13


class JointBinSums:
    """Sums of weights in the bins of all features.

    If several features together take few values, a sample is added once to a joint bin of them, and
    the sums of the joint bins are expanded to the bins of each feature.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,), dtype=unsigned int
        Bin of each sample, for each feature.
    rows : sequence of ndarray of shape (n_bins,), dtype=int64
        Row of each bin in the result, for each feature. The row `n_rows` omits the bin.
    n_rows : int
        Number of rows of the result.

    Attributes
    ----------
    additions : int
        Largest number of successive additions in a sum.
    dtype : numpy.float32 or numpy.float64
        Precision of the sums, unless the weights have a higher one.

    Examples
    --------
    >>> codes, rows = [np.array([0, 1, 1]), np.array([1, 0, 2])], [np.arange(2), np.arange(2, 5)]
    >>> sums = JointBinSums(codes, rows, n_rows=5)
    >>> sums.set_dtype(np.float64)
    >>> sums(np.array([[1.0], [2.0], [4.0]])).ravel()
    array([1., 6., 2., 1., 4.])
    """

    def __init__(self, codes, rows, n_rows):
        self._n_rows = n_rows
        n_samples = len(codes[0])
        groups = list(_group_features(codes, n_samples // _SAMPLES_PER_EXPANSION_ADDITION))
        if len(groups) == len(codes):
            self._expansion, n_expansion_additions = None, 0
            # An extra row collects the omitted bins.
            joint_rows, n_joint, n_kept_rows = rows, n_rows + 1, n_rows
        else:
            sizes = [len(bins) for _, _, bins in groups]
            n_joint = n_kept_rows = sum(sizes)
            joint_rows = np.split(np.arange(n_joint), np.cumsum(sizes)[:-1])
            expansion_rows = [
                np.column_stack(
                    [rows[j][bin_rows] for j, bin_rows in zip(members, bins.T, strict=True)]
                )
                for members, _, bins in groups
            ]
            n_members = np.concatenate(
                [np.full(*group_rows.shape) for group_rows in expansion_rows]
            )
            expansion_rows = np.concatenate([group_rows.ravel() for group_rows in expansion_rows])
            ends = np.append(0, np.cumsum(n_members))
            matrix = np.ones(len(expansion_rows)), expansion_rows, ends
            self._expansion = sparse.csc_array(matrix, (n_rows + 1, n_joint))
            n_expansion_additions = int(np.bincount(expansion_rows)[:n_rows].max(initial=0))
        bins = np.empty((n_samples, len(groups)), np.int32)
        for start in range(0, n_samples, _BLOCK_SAMPLES):
            block = slice(start, start + _BLOCK_SAMPLES)
            for group_bins, bin_rows, (_, joint, _) in zip(
                bins[block].T, joint_rows, groups, strict=True
            ):
                group_bins[:] = bin_rows.take(joint[block])
        self._samples = SampleBins(bins, n_joint, n_kept_bins=n_kept_rows)
        self.additions = self._samples.additions + n_expansion_additions

    def set_dtype(self, dtype):
        """Change the precision of the sums."""
        self.dtype = dtype
        self._samples.set_dtype(dtype)
        if self._expansion is not None:
            self._expansion = self._expansion.astype(dtype)

    def __call__(self, W):
        """Return the sums of weights in the bins of all features.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
        """
        sums = self._samples.sums(W)
        sums = sums if self._expansion is None else sparse_product(self._expansion, sums)
        return sums[: self._n_rows]


def _group_features(codes, max_additions):
    """Group consecutive features that take few joint values.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,)
        Bins of each feature.
    max_additions : int
        A feature joins a group if the expansion of the joint bins then needs at most this many more
        additions.

    Yields
    ------
    members : list of int
        Indices of the features of the group.
    joint : ndarray of shape (n_samples,)
        Joint bin of each sample.
    bins : ndarray of shape (n_joint_bins, n_members)
        Bin of each member in each joint bin.
    """
    group = None
    for j, feature_codes in enumerate(codes):
        feature_bins = np.arange(int(feature_codes.max()) + 1)[:, None]
        if group is not None:
            members, joint, bins = group
            if len(bins) * len(feature_bins) <= _MAX_PAIRS and not _has_many_pairs(
                joint, feature_codes, len(feature_bins)
            ):
                pairs = joint * np.int32(len(feature_bins)) + feature_codes
                used = np.flatnonzero(np.bincount(pairs, minlength=len(bins) * len(feature_bins)))
                additions = len(used) * (len(members) + 1) - bins.size - len(feature_bins)
                if len(used) <= _MAX_JOINT_BINS and additions <= max_additions:
                    joint_bin_of_pair = np.zeros(len(bins) * len(feature_bins), np.int32)
                    joint_bin_of_pair[used] = np.arange(len(used))
                    old_bin, feature_bin = np.divmod(used, len(feature_bins))
                    new_bins = np.column_stack([bins[old_bin], feature_bins[feature_bin]])
                    group = [*members, j], joint_bin_of_pair.take(pairs), new_bins
                    continue
            yield group
        group = [j], feature_codes.astype(np.int32), feature_bins
    yield group


def _has_many_pairs(joint, feature_codes, n_feature_bins):
    """Return True if the first samples have more than the maximum number of joint bins.

    Each pair of a joint bin of the group and a bin of the feature is a joint bin of the larger
    group.
    """
    if len(feature_codes) <= _SAMPLE_SIZE:
        return False
    pairs = joint[:_SAMPLE_SIZE] * np.int32(n_feature_bins) + feature_codes[:_SAMPLE_SIZE]
    return np.count_nonzero(np.bincount(pairs)) > _MAX_JOINT_BINS
