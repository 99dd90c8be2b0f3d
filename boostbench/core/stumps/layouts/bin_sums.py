"""Sums of the weights of samples in bins, which layouts compute the edges of all stumps from.

- `JointBinSums` has the bins of all features. Features that together take few values share combined
  bins, so that a sample is added once for all of them: a *combined bin* is a combination of one bin
  of each feature.
- `SampleBins` is the matrix of bins by samples, whose product with weights has the sums. The bins
  form *groups*: a group has the bins of one feature, or the combined bins of several features, and
  a sample is in one bin of each group.
- `bins_by_rank` divides the samples of each feature into bins of consecutive ranks.

A *part* is a matrix of consecutive groups, a *chunk* a matrix of consecutive samples, and a *block*
the samples that are copied at a time.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import sparse_product

# A feature joins a group if the expansion of the combined bins to the bins of each feature then
# needs at most n_samples / _SAMPLES_PER_EXPANSION_ADDITION more additions.
_SAMPLES_PER_EXPANSION_ADDITION = 2

# Maximum number of combined bins of a group, whose sums then stay in the cache.
_MAX_COMBINED_BINS = 2**13

# Maximum number of pairs of a combined bin and a bin of the next feature: counting the samples of
# more pairs takes longer than it saves.
_MAX_PAIRS = 2**20

# Number of samples whose pairs are counted first: twice the maximum number of combined bins. This
# rejects most features with many values.
_SAMPLE_SIZE = 2 * _MAX_COMBINED_BINS

# Samples whose bins are transposed at a time, few enough for the cache.
_BLOCK_SAMPLES = 2**13

# Number of entries of the matrix of a chunk of samples: enough to make the overhead of a call
# negligible, few enough for the cache, and few enough to limit the number of successive additions
# in a bin, and thus the rounding error.
_CHUNK_ENTRIES = 2**18

# The product adds four columns of weights in single precision at a time, and the remaining ones
# one by one. Columns of zeros therefore save time if they pad the weights to a multiple of four.
_UNROLLED_COLUMNS = 4

# Padding copies a row of weights for each sample, and a row of sums for each bin. It saves time if
# the number of additions of a sample to a bin, divided by the number of copied rows, exceeds this.
_ADDITIONS_PER_COPIED_ROW = 12

# Number of bins whose sums fit the cache, with ten columns. If there are more bins, the groups are
# divided into parts of about this number of bins.
_PART_BINS = 2**13


class JointBinSums:
    """Sums of weights in the bins of all features.

    If several features together take few values, a sample is added once to a combined bin of them,
    and the sums of the combined bins are expanded to the bins of each feature.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,), dtype=unsigned int
        Bin of each sample, for each feature.
    n_bins : ndarray of shape (n_features,), dtype=int64
        Number of bins of each feature. The bins of all features are numbered feature by feature.

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
        # 1) Group the features. Without a group of several features, no expansion is needed.
        max_additions = n_samples // _SAMPLES_PER_EXPANSION_ADDITION
        groups = list(_group_features(codes, n_bins, max_additions))
        self._expansion, n_expansion_additions = None, 0
        if len(groups) < len(codes):
            self._expansion = _expansion_matrix(groups, n_bins)
            n_expansion_additions = int(np.bincount(self._expansion.indices).max(initial=0))
        # 2) Write the combined bin of each sample in all groups, a block of samples at a time. The
        #    combined bins of all groups are numbered group by group.
        sizes = [len(group.member_bins) for group in groups]
        first_combined_bin = np.cumsum([0, *sizes], dtype=np.int32)
        sample_bins = np.empty((n_samples, len(groups)), np.int32)
        for start in range(0, n_samples, _BLOCK_SAMPLES):
            block = slice(start, start + _BLOCK_SAMPLES)
            columns = zip(groups, first_combined_bin, sample_bins[block].T, strict=False)
            for group, first, column in columns:
                np.add(group.combined_bins[block], first, out=column)
        self._samples = SampleBins(sample_bins, int(first_combined_bin[-1]))
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
        ndarray of shape (n_bins.sum(), n_columns)
            Sums in the bins of all features.
        """
        sums = self._samples.sums(W)
        return sums if self._expansion is None else sparse_product(self._expansion, sums)


class _Group(NamedTuple):
    """Features that share combined bins.

    Attributes
    ----------
    members : list of int
        Indices of the features.
    combined_bins : ndarray of shape (n_samples,), dtype=int32
        Combined bin of each sample.
    member_bins : ndarray of shape (n_combined_bins, n_members), dtype=int64
        Bin of each feature in each combined bin.
    """

    members: list[int]
    combined_bins: np.ndarray
    member_bins: np.ndarray


def _group_features(codes, n_bins, max_additions):
    """Yield groups of consecutive features that take few joint values.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,)
        Bins of the samples, for each feature.
    n_bins : ndarray of shape (n_features,), dtype=int64
        Number of bins of each feature.
    max_additions : int
        A feature joins a group if the expansion of the combined bins then needs at most this many
        more additions.

    Yields
    ------
    _Group
    """
    group = None
    for feature, feature_codes in enumerate(codes):
        alone = _Group(
            [feature], feature_codes.astype(np.int32), np.arange(n_bins[feature])[:, None]
        )
        joined = None if group is None else _join(group, alone, max_additions)
        if group is not None and joined is None:
            yield group
        group = alone if joined is None else joined
    yield group


def _join(group, other, max_additions):
    """Return the group with the feature of another group added, or None if that saves no time."""
    n_other_bins = len(other.member_bins)
    n_pairs = len(group.member_bins) * n_other_bins
    if n_pairs > _MAX_PAIRS or _has_many_pairs(
        group.combined_bins, other.combined_bins, n_other_bins
    ):
        return None
    # 1) Number the pairs of bins that occur: they are the combined bins of the larger group.
    pairs = group.combined_bins * np.int32(n_other_bins) + other.combined_bins
    used_pairs = np.flatnonzero(np.bincount(pairs, minlength=n_pairs))
    # 2) The expansion adds the sum of each combined bin to a bin of each member. It has
    #    ``len(used_pairs) * n_members`` additions in the larger group, and ``member_bins.size`` and
    #    `n_other_bins` in the two groups apart.
    n_members = len(group.members) + 1
    extra_additions = len(used_pairs) * n_members - group.member_bins.size - n_other_bins
    if len(used_pairs) > _MAX_COMBINED_BINS or extra_additions > max_additions:
        return None
    combined_bin_of_pair = np.zeros(n_pairs, np.int32)
    combined_bin_of_pair[used_pairs] = np.arange(len(used_pairs))
    group_bin, other_bin = np.divmod(used_pairs, n_other_bins)
    return _Group(
        members=[*group.members, *other.members],
        combined_bins=combined_bin_of_pair.take(pairs),
        member_bins=np.column_stack([group.member_bins[group_bin], other.member_bins[other_bin]]),
    )


def _has_many_pairs(combined_bins, feature_codes, n_feature_bins):
    """Return True if the first samples have more than the maximum number of combined bins.

    Each pair of a combined bin of the group and a bin of the feature is a combined bin of the
    larger group.
    """
    if len(feature_codes) <= _SAMPLE_SIZE:
        return False
    pairs = combined_bins[:_SAMPLE_SIZE] * np.int32(n_feature_bins) + feature_codes[:_SAMPLE_SIZE]
    return np.count_nonzero(np.bincount(pairs)) > _MAX_COMBINED_BINS


def _expansion_matrix(groups, n_bins):
    """Return the matrix that expands the sums of combined bins to the bins of each feature.

    Parameters
    ----------
    groups : list of _Group
    n_bins : ndarray of shape (n_features,), dtype=int64
        Number of bins of each feature.

    Returns
    -------
    csc_array of shape (n_bins.sum(), n_combined_bins)
        A column is a combined bin: it has a 1 in the row of the bin of each member of its group.
        The rows and the columns are numbered feature by feature and group by group.
    """
    first_bin = np.cumsum(n_bins) - n_bins
    rows = [(group.member_bins + first_bin[group.members]).ravel() for group in groups]
    entries_per_column = np.concatenate(
        [np.full(len(group.member_bins), len(group.members)) for group in groups]
    )
    rows = np.concatenate(rows)
    matrix = np.ones(len(rows)), rows, np.append(0, np.cumsum(entries_per_column))
    return sparse.csc_array(matrix, (int(n_bins.sum()), len(entries_per_column)))


class SampleBins:
    """Sparse matrix of bins by samples, whose product with weights is the sum of each bin.

    The matrix has a column for each sample, so that a product reads the weights in order, and the
    sums of the bins stay in the cache. It is divided into parts (consecutive groups), and each part
    into chunks (consecutive samples).

    Parameters
    ----------
    bins : ndarray of shape (n_samples, n_groups), dtype=int32
        Bin of each sample in each group, from 0 to n_bins - 1. No two groups have a common bin.
    n_bins : int
        Number of bins of all groups together.

    Attributes
    ----------
    additions : int
        Largest number of successive additions in a bin. Callers bound the rounding error of
        the sums by it; see `boostbench.core.stumps.layouts.layout`.

    Examples
    --------
    >>> bins = SampleBins(np.array([[0, 2], [1, 2]], np.int32), n_bins=3)
    >>> bins.sums(np.array([[1.0], [2.0]])).tolist()
    [[1.0], [2.0], [3.0]]
    """

    def __init__(self, bins, n_bins):
        self._n_bins = n_bins
        n_parts = min(bins.shape[1], -(-n_bins // _PART_BINS))
        if n_parts <= 1:
            self._parts, self._used_bins = [_Part(bins, n_bins)], None
        else:
            # A part has a matrix with rows for its own bins only. `used_bins` has the bins of
            # these rows, and `index_in_part` the row of each bin.
            self._parts, self._used_bins = [], []
            for part_bins in np.array_split(bins, n_parts, axis=1):
                is_used = np.zeros(n_bins, bool)
                is_used[part_bins] = True
                used_bins = np.flatnonzero(is_used)
                index_in_part = np.empty(n_bins, np.int32)
                index_in_part[used_bins] = np.arange(len(used_bins))
                self._parts.append(_Part(index_in_part[part_bins], len(used_bins)))
                self._used_bins.append(used_bins)
        self.additions = max(part.additions for part in self._parts)

    def set_dtype(self, dtype):
        """Set the precision of the sums, unless the weights have a higher one."""
        for part in self._parts:
            part.set_dtype(dtype)

    def sums(self, W):
        """Return the sums of the weights in each bin.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns)
            Weights.

        Returns
        -------
        ndarray of shape (n_bins, n_columns)
        """
        if W.shape[1] == 1:
            # A product with a vector has the faster loop.
            return self._sum_over_parts(W[:, 0])[:, None]
        return self._sum_over_parts(W)

    def _sum_over_parts(self, W):
        """Return the sums for one vector or several columns of weights."""
        if self._used_bins is None:
            return self._parts[0].sums(W)
        sums = np.zeros((self._n_bins, *W.shape[1:]), np.result_type(W, self._parts[0].dtype))
        for part, used_bins in zip(self._parts, self._used_bins, strict=True):
            sums[used_bins] = part.sums(W)
        return sums


class _Part:
    """Matrix of the bins of consecutive groups by samples, in chunks of samples.

    Parameters and attributes are the same as for `SampleBins`, with the bins of these groups only.
    All entries of the matrix are 1, and all columns have the same number of entries. The matrices
    of all chunks therefore share their arrays of entries and of column ends.
    """

    def __init__(self, bins, n_bins):
        n_samples, n_groups = bins.shape
        self._chunk_length = max(1, min(n_samples, _CHUNK_ENTRIES // max(1, n_groups)))
        ones = np.ones(self._chunk_length * n_groups)
        column_ends = np.arange(
            0, self._chunk_length * n_groups + 1, max(1, n_groups), dtype=np.int32
        )
        self._chunk_slices = [
            slice(start, start + self._chunk_length)
            for start in range(0, n_samples, self._chunk_length)
        ]
        self._chunks = []
        for chunk_slice in self._chunk_slices:
            chunk_bins = bins[chunk_slice]
            matrix = sparse.csc_array((n_bins, len(chunk_bins)))
            # The constructor would copy the shared arrays.
            matrix.data, matrix.indices = ones[: chunk_bins.size], chunk_bins.ravel()
            matrix.indptr = column_ends[: len(chunk_bins) + 1]
            self._chunks.append(matrix)
        chunk_additions = [np.bincount(chunk.indices).max(initial=0) for chunk in self._chunks]
        # The sums of the chunks are added one after another.
        self.additions = int(max(chunk_additions)) + len(self._chunks) - 1

    @property
    def dtype(self):
        """Precision of the sums, unless the weights have a higher one."""
        return self._chunks[0].dtype

    def set_dtype(self, dtype):
        """Set the precision of the sums; see `SampleBins.set_dtype`."""
        ones = self._chunks[0].data.astype(dtype)
        for chunk in self._chunks:
            chunk.data = ones[: chunk.nnz]

    def sums(self, W):
        """Return the sums for W of shape (n_samples,) or (n_samples, n_columns)."""
        if W.ndim == 1 or not W.shape[1] % _UNROLLED_COLUMNS or not self._should_pad(W):
            return self._sum_over_chunks(W[chunk_slice] for chunk_slice in self._chunk_slices)
        n_columns = W.shape[1]
        padded = np.zeros((self._chunk_length, n_columns + -n_columns % _UNROLLED_COLUMNS), W.dtype)

        def padded_chunks():
            for chunk_slice in self._chunk_slices:
                weights = W[chunk_slice]
                padded[: len(weights), :n_columns] = weights
                yield padded[: len(weights)]

        return np.ascontiguousarray(self._sum_over_chunks(padded_chunks())[:, :n_columns])

    def _sum_over_chunks(self, weight_chunks):
        """Return the sums of the products of the chunks with an iterator of their weights."""
        first_chunk, *later_chunks = self._chunks
        sums = sparse_product(first_chunk, next(weight_chunks))
        for chunk, weights in zip(later_chunks, weight_chunks, strict=True):
            sums += sparse_product(chunk, weights)
        return sums

    def _should_pad(self, W):
        """Return True if columns of zeros save more time than the copies take."""
        n_additions = sum(chunk.nnz for chunk in self._chunks)
        is_single_precision = W.dtype == self.dtype == np.float32
        return is_single_precision and n_additions > _ADDITIONS_PER_COPIED_ROW * (
            len(W) + self._chunks[0].shape[0]
        )


def bins_by_rank(order, n_samples, bin_size, dtype):
    """Return the bin of each sample in each feature, if samples are binned by rank.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_places), dtype=int32
        Samples of each feature in ascending order of its values; see `RankBins`.
    n_samples : int
    bin_size : int
        Number of samples in a bin; the last bin may have fewer.
    dtype : dtype

    Returns
    -------
    list of ndarray of shape (n_samples,)
        Bin of each sample, for each feature.
    """
    codes = np.empty((len(order), n_samples), dtype)
    bins = np.arange(n_samples) // bin_size
    for feature_codes, feature_order in zip(codes, order, strict=True):
        # The places from `n_samples` on are padding.
        feature_codes[feature_order[:n_samples]] = bins
    return list(codes)
