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

Every layout adds up in the precision that the weights come in. Its attribute `dtype` is the one
that pays: double precision where adding a number to a bin takes as long in both, single precision
where half of the bytes are half of the time.

**Rounding.** An edge is the sum of the total and of the weights below a threshold, times -2.
Let D be `additions`, the most roundings that a number goes through on its way into an edge, u the
unit roundoff, and T the sum of the sizes of the weights of a column. In whatever order numbers are
added, each then comes out multiplied with D factors between 1 - u and 1 + u at most [1]_. Their
sizes add up to 3 T at most: once in the total and twice below the threshold; or, where a layout
subtracts half of all from each, thrice in the block of the threshold and once elsewhere. So an edge
is off by no more than ``3 gamma T`` with ``gamma = D u / (1 - D u)``, which `rounding` gives as a
part of T.

References
----------
.. [1] N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002,
   sections 3.1 and 4.2.
"""

import numpy as np
from scipy import sparse

# Of rounding to the nearest number, relative to it.
UNIT_ROUNDOFF = {np.float32: 2.0**-24, np.float64: 2.0**-53}

# Dense: 2 n_thresholds n_samples n_columns flops at BLAS speed cost as much as n_features n_samples
# n_columns scattered additions at about that many thresholds per feature.
_DENSE_THRESHOLDS_PER_FEATURE = 6
_DENSE_MAX_BYTES = 2**28

# Samples of a block of that product, which bounds how many numbers are added one after the other.
_DENSE_SAMPLES = 1024

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

# Histogram: after more additions in single precision too many stumps may be the best one.
_FEW_ADDITIONS = 512

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


class Layout:
    """What the layouts have in common."""

    dtype = np.float32

    def rounding(self, dtype, more=0):
        """By how much an edge may be off, as a part of the sum of the sizes of its weights.

        Parameters
        ----------
        dtype : numpy.float32 or numpy.float64
            What the weights come in.
        more : int, default=0
            Roundings of what is done with the edges after that.

        Returns
        -------
        float
        """
        # One is the conversion of the weights, and one for numbers too small for their precision.
        part = (self.additions + more + 2) * UNIT_ROUNDOFF[dtype]
        return 3 * part / (1 - part) if part < 1 else np.inf


class Dense(Layout):
    """Sums below the thresholds as one product with a matrix (n_thresholds, n_samples) of 0 and -2.

    Parameters
    ----------
    X, cuts
        As of `choose_layout`.

    Attributes
    ----------
    feature, cut : ndarray of shape (n_positions,), dtype=int64
        The feature at each position, and the number of its threshold through all features; -1 where
        there is none.
    additions : int
        Roundings on the way of a weight into an edge, at most.
    """

    def __init__(self, X, cuts):
        below = [X[:, j] <= c[:, None] for j, c in enumerate(cuts)]
        self._below = np.multiply(np.concatenate(below), -2.0, dtype=np.float32)
        self.feature = np.repeat(np.arange(len(cuts)), [len(c) for c in cuts])
        self.cut = np.arange(len(self.feature))
        n_blocks = -(-len(X) // _DENSE_SAMPLES)
        # In a block, then over the blocks, with the total.
        self.additions = min(len(X), _DENSE_SAMPLES) + n_blocks + 1

    def pieces(self, W, total):
        """Edges, a few features at a time.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns), dtype=float32 or float64
            The weights, in C order.
        total : ndarray of shape (n_columns,), dtype=float64
            The sums of the weights.

        Yields
        ------
        ndarray of shape (n_some, n_columns)
            Edges at the next positions, in the precision of W or in double precision, without
            meaning where there is no threshold.
        """
        edges = np.empty((len(self._below), W.shape[1]), W.dtype)
        edges[:] = total
        for start in range(0, len(W), _DENSE_SAMPLES):
            some = slice(start, start + _DENSE_SAMPLES)
            edges += self._below[:, some].astype(W.dtype, copy=False) @ W[some]
        yield edges


class Histogram(Layout):
    """Sums of bins by a sparse product, and prefix sums over them.

    Where several features together take few values, a sample is added once to a joint bin of them
    and the joint bins are spread over the bins of each, instead of a sample to a bin of each.

    Parameters
    ----------
    X, cuts
        As of `choose_layout`.

    Attributes
    ----------
    feature, cut, additions
        As of `Dense`.
    """

    def __init__(self, X, cuts):
        n_thresholds = np.array([len(c) for c in cuts])
        n_blocks = _n_blocks(cuts)
        first_block = np.cumsum(n_blocks) - n_blocks
        self._block_feature = np.repeat(np.arange(len(cuts)), n_blocks)
        self._in_features = RunningSums(
            np.arange(n_blocks.sum()) - first_block[self._block_feature]
        )
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
        self._products = [_ones(np.concatenate(joint), samples, (n_joint, len(X))), -2 * spread]
        if len(joint) == len(cuts):
            self._products = [self._products[1] @ self._products[0]]
        # In a bin, in its block, over the blocks of the feature, with the total.
        in_bin = sum(matrix.getnnz(axis=1).max() for matrix in self._products)
        self.additions = int(in_bin + 2 * _BLOCK + n_blocks.max(initial=0) + 3)
        if self.additions > _FEW_ADDITIONS:
            self.dtype = np.float64
        # By samples: their weights are read in order, and the sums stay in the cache.
        self._products = [matrix.tocsc().astype(self.dtype) for matrix in self._products]

    def _bin_sums(self, W):
        """Sum -2 W in each bin; returns shape (_BLOCK, n_blocks, n_columns)."""
        n_columns = W.shape[1]
        for matrix in self._products:
            W = matrix @ W
        return W.reshape(_BLOCK, -1, n_columns)

    def pieces(self, W, total):
        """Edges, all at a time; as `Dense.pieces`."""
        sums = self._bin_sums(W)
        blocks = sums.sum(axis=0)
        sums[0] += total
        sums[0] += self._in_features.before(blocks)
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
    feature, cut, additions
        As of `Dense`.
    """

    def __init__(self, X, cuts):
        super().__init__(X, cuts)
        self._within = np.tri(_BLOCK, dtype=self.dtype)
        self._earlier = np.tri(len(self._block_feature), k=-1, dtype=self.dtype)
        self._earlier *= self._block_feature[:, None] == self._block_feature

    def pieces(self, W, total):
        """Edges, all at a time; as `Dense.pieces`."""
        bins = self._bin_sums(W)
        blocks = self._within[-1] @ bins.reshape(_BLOCK, -1)
        bins[0] += self._earlier @ blocks.reshape(bins[0].shape) + total.astype(bins.dtype)
        yield (self._within @ bins.reshape(_BLOCK, -1)).reshape(-1, W.shape[1])


class Sorted(Layout):
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
    feature, cut, additions
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
        # In a block, over the blocks, and again in a block.
        self.additions = 2 * self._length + n_blocks + 1
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
        padded = np.zeros((len(W) + 1, W.shape[1]), W.dtype)
        np.multiply(W, -2.0, out=padded[:-1])
        for rows in self._rows:
            sums = padded.take(rows, axis=0, mode="clip")
            blocks = sums.reshape(self._length, len(self._carry), -1)
            blocks[0] += self._carry @ blocks.sum(axis=0)
            for place in range(1, self._length):
                blocks[place] += blocks[place - 1]
            yield sums


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
    return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape)
