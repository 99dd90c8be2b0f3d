"""Three ways to get the sums of weights below all thresholds of all features at once.

A layout puts the thresholds of a training set at positions. It has the feature and the number of
the threshold ("cut", counted through all features) at each position, the positions ``without_cut``
where no threshold is, and ``edges(W)``, which takes ``W = -2 G`` and returns the stumps' edges
(see `boostbench.core.weak.stumps`). Which is fastest depends on how many distinct values there are:

=============  ==========================================  ==============================
layout         work per round                              for
=============  ==========================================  ==============================
``Dense``      a product with a 0/1 matrix, by BLAS        a few thresholds per feature
``Histogram``  a sparse product, then prefix sums          few values, many samples
``Sorted``     rows of W in order, then prefix sums        values that are mostly distinct
=============  ==========================================  ==============================
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse

# Dense: 2 n_thresholds n_samples n_columns flops at BLAS speed cost as much as n_features n_samples
# n_columns scattered additions at about that many thresholds per feature.
_DENSE_THRESHOLDS_PER_FEATURE = 6
_DENSE_MAX_BYTES = 2**28

# Sorted: gathering a row is about half the price of adding it to a bin, but every sample takes a
# position.
_SORTED_THRESHOLDS_PER_VALUE = 0.4

# Prefix sums: positions of a block are added one after the other, in that many vector additions,
# long ones, since they run over all blocks and columns.
_BLOCK = 16

# Histogram: features share joint bins as long as those are fewer than the samples by this factor,
# so that spreading joint bins over the features' own bins costs little.
_SAMPLES_PER_JOINT_BIN = 3


def choose_layout(X, cuts):
    """Make the layout that suits the data.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    cuts : list of ndarray
        The thresholds of each feature, ascending; each lies between two of its values.

    Returns
    -------
    Dense, Histogram or Sorted
    """
    n_thresholds = sum(len(c) for c in cuts)
    if (
        n_thresholds <= _DENSE_THRESHOLDS_PER_FEATURE * X.shape[1]
        and 4 * n_thresholds * len(X) <= _DENSE_MAX_BYTES
    ):
        return Dense(X, cuts)
    if n_thresholds >= _SORTED_THRESHOLDS_PER_VALUE * X.size:
        return Sorted(X, cuts)
    return Histogram(X, cuts)


class Dense:
    """Sums below the thresholds as one product with a 0/1 matrix (n_thresholds, n_samples).

    Parameters
    ----------
    X, cuts
        As of `choose_layout`.
    """

    def __init__(self, X, cuts):
        below = [X[:, j] <= c[:, None] for j, c in enumerate(cuts)]
        self._below = np.concatenate(below).astype(np.float32)
        self.feature = np.repeat(np.arange(len(cuts)), [len(c) for c in cuts])
        self.cut = np.arange(len(self.feature))
        self.without_cut = np.empty(0, np.int64)

    def edges(self, W):
        """Edges at all positions.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns), dtype=float32
            -2 times the weights.

        Returns
        -------
        ndarray of shape (n_positions, n_columns), dtype=float32
            Without meaning at the positions `without_cut`.
        """
        return self._below @ W - 0.5 * W.sum(axis=0)


class _PrefixSums(ABC):
    """Sums below the thresholds as prefix sums over bins.

    The bins of a feature are laid out in blocks of ``_BLOCK``; the place inside the block is the
    slow axis, (feature, block, column) the fast one. So a prefix sum inside all blocks is
    ``_BLOCK - 1`` long vector additions, several times faster than ``np.cumsum`` along a short
    axis; each block then starts from the sum of those before it.
    """

    def _lay_out(self, n_bins):
        """Set where the bins go; return feature, block and bin number at each position."""
        n_blocks = -(-n_bins // _BLOCK)
        first_block = np.cumsum(n_blocks) - n_blocks
        self._n_blocks = int(n_blocks.sum())
        place, block = np.divmod(np.arange(_BLOCK * self._n_blocks), self._n_blocks)
        feature = np.repeat(np.arange(len(n_bins)), n_blocks)[block]
        within = (block - first_block[feature]) * _BLOCK + place
        return feature, block, within

    @abstractmethod
    def _bin_sums(self, W):
        """Sum W in each bin; returns shape (n_positions, n_columns)."""

    @abstractmethod
    def _block_starts(self, block_sums, W):
        """Sum W before each block, less half of its total; shape (n_blocks, n_columns)."""

    def edges(self, W):
        """Edges at all positions; as `Dense.edges`."""
        sums = self._bin_sums(W).reshape(_BLOCK, self._n_blocks, W.shape[1])
        sums[0] += self._block_starts(sums.sum(axis=0), W)
        for place in range(1, _BLOCK):
            sums[place] += sums[place - 1]
        return sums.reshape(-1, W.shape[1])


class Histogram(_PrefixSums):
    """Sums of bins by a sparse product, and prefix sums over them.

    Where several features together take few values, a sample is added once to a joint bin of them
    and the joint bins are spread over the bins of each, instead of a sample to a bin of each.

    Parameters
    ----------
    X, cuts
        As of `choose_layout`.
    """

    def __init__(self, X, cuts):
        n_thresholds = np.array([len(c) for c in cuts])
        self.feature, block, within = self._lay_out(n_thresholds)
        self._feature_start = (block - within // _BLOCK)[: self._n_blocks]
        first_cut = np.cumsum(n_thresholds) - n_thresholds
        self.cut = first_cut[self.feature] + np.minimum(within, n_thresholds[self.feature] - 1)
        self.without_cut = np.empty(0, np.int64)
        n_positions = len(self.feature)
        position = np.zeros((len(cuts), within.max() + 1), np.int64)
        position[self.feature, within] = np.arange(n_positions)

        rows, columns, joint = [], [], []
        n_joint = 0
        bins = np.array([np.searchsorted(c, x) for c, x in zip(cuts, X.T, strict=True)])
        for members, codes, sample in _joint_bins(bins, len(X) // _SAMPLES_PER_JOINT_BIN):
            for j in members:
                # Samples above the last threshold of a feature are below none of them. Leaving
                # them out makes the padding of its last block repeat the last sum.
                inside = np.flatnonzero(bins[j, sample] < n_thresholds[j])
                rows.append(position[j, bins[j, sample[inside]]])
                columns.append(n_joint + inside)
            joint.append(n_joint + codes)
            n_joint += len(sample)
        spread = _ones(np.concatenate(rows), np.concatenate(columns), (n_positions, n_joint))
        samples = np.tile(np.arange(len(X)), len(joint))
        self._products = [_ones(np.concatenate(joint), samples, (n_joint, len(X))), spread]
        if len(joint) == len(cuts):
            self._products = [spread @ self._products[0]]

    def _bin_sums(self, W):
        for matrix in self._products:
            W = matrix @ W
        return W

    def _block_starts(self, block_sums, W):
        # In double precision: the running sum goes on from one feature to the next.
        before = np.cumsum(block_sums, axis=0, dtype=np.float64) - block_sums
        return before - before[self._feature_start] - 0.5 * W.sum(axis=0)


class Sorted(_PrefixSums):
    """Prefix sums over the rows of W in the order of each feature: every sample is a bin.

    Parameters
    ----------
    X, cuts
        As of `choose_layout`.
    """

    def __init__(self, X, cuts):
        n_samples, n_features = X.shape
        self.feature, _, within = self._lay_out(np.full(n_features, n_samples))
        n_blocks = self._n_blocks // n_features
        self._carry = (np.tri(n_blocks, k=-1) - 0.5).astype(np.float32)
        order = X.argsort(axis=0)
        values = np.take_along_axis(X, order, axis=0)
        # A threshold is at the last sample below it.
        n_thresholds = np.array([len(c) for c in cuts])
        last = [np.searchsorted(v, c, "right") - 1 for c, v in zip(cuts, values.T, strict=True)]
        cut = np.full((n_features, n_samples), -1)
        cut[np.repeat(np.arange(n_features), n_thresholds), np.concatenate(last)] = np.arange(
            n_thresholds.sum()
        )
        sample = np.minimum(within, n_samples - 1)
        self._rows = np.where(within < n_samples, order[sample, self.feature], n_samples)
        self.cut = np.where(within < n_samples, cut[self.feature, sample], -1)
        self.without_cut = np.flatnonzero(self.cut < 0)

    def _bin_sums(self, W):
        # The padding gathers a row of zeros.
        padded = np.concatenate([W, np.zeros((1, W.shape[1]), W.dtype)])
        return padded.take(self._rows, axis=0, mode="clip")

    def _block_starts(self, block_sums, W):
        # All features have the same number of blocks, and the blocks hold all samples.
        n_blocks, n_columns = len(self._carry), W.shape[1]
        starts = self._carry @ block_sums.reshape(-1, n_blocks, n_columns)
        return starts.reshape(-1, n_columns)


def _joint_bins(bins, limit):
    """Group consecutive features as long as they take at most `limit` joint values.

    Parameters
    ----------
    bins : ndarray of shape (n_features, n_samples)
    limit : int

    Yields
    ------
    members : list of int
        The features of the group.
    codes : ndarray of shape (n_samples,)
        The joint bin of each sample.
    sample : ndarray of shape (n_joint_bins,)
        A sample of each joint bin.
    """
    group = None
    for j, own in enumerate(bins):
        if group is not None:
            members, codes, _ = group
            _, sample, joint = np.unique(
                codes * (own.max() + 1) + own, return_index=True, return_inverse=True
            )
            if len(sample) <= limit:
                group = [*members, j], joint, sample
                continue
            yield group
        _, sample, codes = np.unique(own, return_index=True, return_inverse=True)
        group = [j], codes, sample
    yield group


def _ones(rows, columns, shape):
    return sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape)
