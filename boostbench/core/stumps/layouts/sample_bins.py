"""Sums of the weights of samples in bins, where each sample is in the same number of bins.

The bins form groups. A group has the bins of one feature, or the joint bins of several features; a
sample is in one bin of each group.
"""

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import sparse_product

# Number of entries of the matrix of a chunk of samples: enough to make the overhead of a call
# negligible, few enough for the cache, and few enough to limit the number of successive additions
# in a bin, and thus the rounding error.
_CHUNK_ENTRIES = 2**18

# The product adds four columns of weights in single precision at a time, and the remaining ones
# one by one. Columns of zeros therefore save time if they pad the weights to a multiple of four.
_UNROLLED_COLUMNS = 4

# Padding copies the weights of each sample and the sums of each bin. It takes less time than it
# saves if a copied row comes with more than this number of additions of a sample to a bin.
_ADDITIONS_PER_COPIED_ROW = 12

# Number of bins whose sums fit the cache, with ten columns. If there are more bins, the groups are
# divided into parts of about this number of bins.
_PART_BINS = 2**13


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
        the sums by it; see `boostbench.core.stumps.layouts.base`.

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
            return self._sums(W[:, 0])[:, None]
        return self._sums(W)

    def _sums(self, W):
        """Return the sums for one vector or several columns of weights."""
        if self._used_bins is None:
            return self._parts[0].sums(W)
        sums = np.zeros((self._n_bins, *W.shape[1:]), np.result_type(W, self._parts[0].dtype))
        for part, used_bins in zip(self._parts, self._used_bins, strict=True):
            sums[used_bins] = part.sums(W)
        return sums


class _Part:
    """Matrix of consecutive groups, in chunks of samples.

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
        return self._chunks[0].dtype

    def set_dtype(self, dtype):
        ones = self._chunks[0].data.astype(dtype)
        for chunk in self._chunks:
            chunk.data = ones[: chunk.nnz]

    def sums(self, W):
        """Return the sums for W of shape (n_samples,) or (n_samples, n_columns)."""
        if W.ndim == 1 or not W.shape[1] % _UNROLLED_COLUMNS or not self._should_pad(W):
            return self._bin_sums(W[chunk_slice] for chunk_slice in self._chunk_slices)
        n_columns = W.shape[1]
        padded = np.zeros((self._chunk_length, n_columns + -n_columns % _UNROLLED_COLUMNS), W.dtype)

        def padded_chunks():
            for chunk_slice in self._chunk_slices:
                weights = W[chunk_slice]
                padded[: len(weights), :n_columns] = weights
                yield padded[: len(weights)]

        return np.ascontiguousarray(self._bin_sums(padded_chunks())[:, :n_columns])

    def _bin_sums(self, weight_chunks):
        """Return the sums of the products of the chunks with an iterator of their weights."""
        first, *others = self._chunks
        sums = sparse_product(first, next(weight_chunks))
        for chunk, weights in zip(others, weight_chunks, strict=True):
            sums += sparse_product(chunk, weights)
        return sums

    def _should_pad(self, W):
        """Return True if columns of zeros save more time than the copies take."""
        n_additions = sum(chunk.nnz for chunk in self._chunks)
        is_single_precision = W.dtype == self.dtype == np.float32
        return is_single_precision and n_additions > _ADDITIONS_PER_COPIED_ROW * (
            len(W) + self._chunks[0].shape[0]
        )
