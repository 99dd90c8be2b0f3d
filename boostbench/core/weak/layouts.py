"""Ways to get the sums of weights below all thresholds of all features at once.

A layout puts the thresholds of a training set at positions. Its attributes `feature` and `cut` say
which feature and which threshold (counted through all features) is at each position; ``cut`` is -1
where there is none. ``pieces(W, total)`` yields the edges of the stumps, a few features at a time
where that keeps the sums in the cache (see `boostbench.core.weak.stumps`). Which layout is fastest
depends on how many distinct values there are:

==============  ==============================================  ================================
layout          work per round                                  for
==============  ==============================================  ================================
``Dense``       a product with a 0/1 matrix, by BLAS            a few thresholds per feature
``FewBins``     a sparse product, then triangular products      few values, many samples
``Histogram``   a sparse product, then prefix sums              the same, with more thresholds
``Sorted``      rows of W in order, then prefix sums            values that are mostly distinct
==============  ==============================================  ================================
"""

import numpy as np
from scipy import sparse

# Dense: 2 n_thresholds n_samples n_columns flops at BLAS speed cost as much as n_features n_samples
# n_columns scattered additions at about that many thresholds per feature.
_DENSE_THRESHOLDS_PER_FEATURE = 6
_DENSE_MAX_BYTES = 2**28

# Sorted: gathering a row is about half the price of adding it to a bin, but every sample takes a
# position.
_SORTED_THRESHOLDS_PER_VALUE = 0.4

# Positions of a piece: few enough for their sums to stay in the cache, and worth the calls.
PIECE = 40_000

# Bins of a block of a histogram. The place in the block is the slow axis, so that a prefix sum in
# all blocks is so many vector additions, long ones, since they run over all blocks and columns.
_BLOCK = 16

# A histogram with more blocks than that needs too large a matrix of all pairs of blocks.
_FEW_BLOCKS = 256

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
    Dense, FewBins, Histogram or Sorted
    """
    n_thresholds = sum(len(c) for c in cuts)
    if (
        n_thresholds <= _DENSE_THRESHOLDS_PER_FEATURE * X.shape[1]
        and 4 * n_thresholds * len(X) <= _DENSE_MAX_BYTES
    ):
        return Dense(X, cuts)
    if n_thresholds >= _SORTED_THRESHOLDS_PER_VALUE * X.size:
        return Sorted(X, cuts)
    return (FewBins if sum(_n_blocks(cuts)) <= _FEW_BLOCKS else Histogram)(X, cuts)


class Dense:
    """Sums below the thresholds as one product with a 0/1 matrix (n_thresholds, n_samples).

    Parameters
    ----------
    X, cuts
        As of `choose_layout`.

    Attributes
    ----------
    feature, cut : ndarray of shape (n_positions,), dtype=int64
        The feature at each position, and the number of its threshold through all features; -1 where
        there is none.
    """

    def __init__(self, X, cuts):
        below = [X[:, j] <= c[:, None] for j, c in enumerate(cuts)]
        self._below = np.concatenate(below).astype(np.float32)
        self.feature = np.repeat(np.arange(len(cuts)), [len(c) for c in cuts])
        self.cut = np.arange(len(self.feature))

    def pieces(self, W, total):
        """Edges, a few features at a time.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns), dtype=float32
            -2 times the weights.
        total : ndarray of shape (n_columns,), dtype=float64
            The sums of the weights.

        Yields
        ------
        ndarray of shape (n_some, n_columns), dtype=float32
            Edges at the next positions, without meaning where there is no threshold.
        """
        edges = self._below @ W
        edges += total.astype(np.float32)
        yield edges


class Histogram:
    """Sums of bins by a sparse product, and prefix sums over them.

    Where several features together take few values, a sample is added once to a joint bin of them
    and the joint bins are spread over the bins of each, instead of a sample to a bin of each.

    Parameters
    ----------
    X, cuts
        As of `choose_layout`.

    Attributes
    ----------
    feature, cut
        As of `Dense`.
    """

    def __init__(self, X, cuts):
        n_thresholds = np.array([len(c) for c in cuts])
        n_blocks = _n_blocks(cuts)
        first_block = np.cumsum(n_blocks) - n_blocks
        self._block_feature = np.repeat(np.arange(len(cuts)), n_blocks)
        self._first_block = first_block[self._block_feature]
        place, block = np.divmod(np.arange(_BLOCK * n_blocks.sum()), n_blocks.sum())
        self.feature = self._block_feature[block]
        bin_ = (block - first_block[self.feature]) * _BLOCK + place
        # The padding of the last block of a feature repeats its last threshold.
        first_cut = np.cumsum(n_thresholds) - n_thresholds
        self.cut = first_cut[self.feature] + np.minimum(bin_, n_thresholds[self.feature] - 1)
        n_positions = len(self.feature)
        position = np.zeros((len(cuts), bin_.max() + 1), np.int64)
        position[self.feature, bin_] = np.arange(n_positions)

        rows, columns, joint = [], [], []
        n_joint = 0
        bins = np.array([np.searchsorted(c, x) for c, x in zip(cuts, X.T, strict=True)])
        for members, codes, sample in _joint_bins(bins, len(X) // _SAMPLES_PER_JOINT_BIN):
            for j in members:
                # Samples above the last threshold of a feature are below none of them. Without
                # them the padding has the last sum.
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
        """Sum W in each bin; returns shape (_BLOCK, n_blocks, n_columns)."""
        n_columns = W.shape[1]
        for matrix in self._products:
            W = matrix @ W
        return W.reshape(_BLOCK, -1, n_columns)

    def pieces(self, W, total):
        """Edges, all at a time; as `Dense.pieces`."""
        sums = self._bin_sums(W)
        blocks = sums.sum(axis=0)
        # In double precision: the running sum goes on from one feature to the next.
        before = np.cumsum(blocks, axis=0, dtype=np.float64) - blocks
        sums[0] += before - before[self._first_block] + total
        for place in range(1, _BLOCK):
            sums[place] += sums[place - 1]
        yield sums.reshape(-1, W.shape[1])


class FewBins(Histogram):
    """A histogram whose prefix sums are products with triangular matrices.

    Parameters
    ----------
    X, cuts
        As of `choose_layout`.

    Attributes
    ----------
    feature, cut
        As of `Dense`.
    """

    def __init__(self, X, cuts):
        super().__init__(X, cuts)
        self._within = np.tri(_BLOCK, dtype=np.float32)
        self._earlier = np.tri(len(self._block_feature), k=-1, dtype=np.float32)
        self._earlier *= self._block_feature[:, None] == self._block_feature

    def pieces(self, W, total):
        """Edges, all at a time; as `Dense.pieces`."""
        bins = self._bin_sums(W)
        sums = (self._within @ bins.reshape(_BLOCK, -1)).reshape(bins.shape)
        sums += self._earlier @ sums[-1] + total.astype(np.float32)
        yield sums.reshape(-1, W.shape[1])


class Sorted:
    """Prefix sums over the rows of W in the order of each feature: every sample is a position.

    Features come a few at a time. In such a piece the slow axis is the place in a block, then come
    block, feature and column. So the blocks of all features of a piece start from one product with
    a triangular matrix. Since that grows with the number of blocks, there are about as many of them
    as places in one.

    Parameters
    ----------
    X, cuts
        As of `choose_layout`.

    Attributes
    ----------
    feature, cut
        As of `Dense`.
    """

    def __init__(self, X, cuts):
        n_samples, n_features = X.shape
        order = X.argsort(axis=0)
        values = np.take_along_axis(X, order, axis=0)
        # A threshold is at the last sample below it.
        n_thresholds = np.array([len(c) for c in cuts])
        last = [np.searchsorted(v, c, "right") - 1 for c, v in zip(cuts, values.T, strict=True)]
        cut = np.full((n_samples, n_features), -1)
        feature = np.arange(n_features)
        cut[np.concatenate(last), np.repeat(feature, n_thresholds)] = np.arange(n_thresholds.sum())

        self._length = 2 ** ((n_samples.bit_length() - 1) // 2)
        n_blocks = -(-n_samples // self._length)
        # Each block starts from the sum of those before it, less half of the sum of all.
        self._carry = (np.tri(n_blocks, k=-1) - 0.5).astype(np.float32)
        width = max(1, PIECE // n_samples)

        def pieces(of_samples, padding):
            """Lay out what belongs to the samples of each feature, in their order."""
            shape = n_blocks * self._length, n_features
            padded = np.full(shape, padding)
            padded[:n_samples] = of_samples
            by_block = padded.reshape(n_blocks, self._length, -1)
            some = np.split(by_block, range(width, n_features, width), axis=2)
            return [piece.transpose(1, 0, 2).ravel() for piece in some]

        # The padding gathers a row of zeros.
        self._rows = pieces(order, n_samples)
        self.cut = np.concatenate(pieces(cut, -1))
        self.feature = np.concatenate(pieces(feature, 0))

    def pieces(self, W, total):
        """Edges, a few features at a time; as `Dense.pieces`, but `total` is not used."""
        padded = np.concatenate([W, np.zeros((1, W.shape[1]), W.dtype)])
        for rows in self._rows:
            sums = padded.take(rows, axis=0, mode="clip")
            blocks = sums.reshape(self._length, len(self._carry), -1)
            blocks[0] += self._carry @ blocks.sum(axis=0)
            for place in range(1, self._length):
                blocks[place] += blocks[place - 1]
            yield sums


def _n_blocks(cuts):
    """Blocks of each feature of a histogram."""
    return np.array([-(-len(c) // _BLOCK) for c in cuts])


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
