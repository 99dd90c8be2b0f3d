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
    n_bins : ndarray of shape (n_features,), dtype=int64
        Number of bins of each feature. The joint bins of all features are numbered feature by
        feature.

    Attributes
    ----------
    additions : int
        Largest number of successive additions in a sum.
    dtype : numpy.float32 or numpy.float64
        Precision of the sums, unless the weights have a higher one.

    Examples
    --------
    >>> codes = [np.array([0, 1, 1]), np.array([1, 0, 2])]
    >>> sums = JointBinSums(codes, n_bins=np.array([2, 3]))
    >>> sums.set_dtype(np.float64)
    >>> sums(np.array([[1.0], [2.0], [4.0]])).ravel()
    array([1., 6., 2., 1., 4.])
    """

    def __init__(self, codes, n_bins):
        n_samples = len(codes[0])
        max_additions = n_samples // _SAMPLES_PER_EXPANSION_ADDITION
        groups = list(_group_features(codes, n_bins, max_additions))
        sizes = [len(bins) for _, _, bins in groups]
        first_in_group = np.cumsum([0, *sizes], dtype=np.int32)
        # 1) Make the matrix that expands the sums of the groups' bins to the bins of each feature.
        self._expansion, n_expansion_additions = None, 0
        if len(groups) < len(codes):
            first_bin = np.cumsum(n_bins) - n_bins
            rows = [bins + first_bin[members] for members, _, bins in groups]
            n_members = np.concatenate([np.full(*group_rows.shape) for group_rows in rows])
            rows = np.concatenate([group_rows.ravel() for group_rows in rows])
            matrix = np.ones(len(rows)), rows, np.append(0, np.cumsum(n_members))
            self._expansion = sparse.csc_array(matrix, (int(n_bins.sum()), int(first_in_group[-1])))
            n_expansion_additions = int(np.bincount(rows).max(initial=0))
        # 2) Write the bins of each sample in all groups, a block of samples at a time.
        bins = np.empty((n_samples, len(groups)), np.int32)
        for start in range(0, n_samples, _BLOCK_SAMPLES):
            block = slice(start, start + _BLOCK_SAMPLES)
            for column, first, (_, joint, _) in zip(
                bins[block].T, first_in_group, groups, strict=False
            ):
                np.add(joint[block], first, out=column)
        self._samples = SampleBins(bins, int(first_in_group[-1]))
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
        ndarray of shape (n_joint_bins, n_columns)
        """
        sums = self._samples.sums(W)
        return sums if self._expansion is None else sparse_product(self._expansion, sums)


def _group_features(codes, n_bins, max_additions):
    """Group consecutive features that take few joint values.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,)
        Bins of the samples, for each feature.
    n_bins : ndarray of shape (n_features,), dtype=int64
        Number of bins of each feature.
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
        feature_bins = np.arange(n_bins[j])[:, None]
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
