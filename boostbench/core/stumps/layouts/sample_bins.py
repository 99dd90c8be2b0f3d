"""Sums of the weights of samples in bins, with the same number of bins for each sample."""

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import sparse_product

# Entries of the matrix of a chunk: enough to make the overhead of a call negligible, few enough for
# the cache, and few enough to limit the number of successive additions in a bin.
_CHUNK_ENTRIES = 2**18

# In single precision the product adds this many columns at a time, and the remaining ones one by
# one. Padding with columns of zeros saves time if the additions per copied row exceed
# _ADDITIONS_PER_COPIED_ROW.
_UNROLLED_COLUMNS = 4
_ADDITIONS_PER_COPIED_ROW = 12

# Number of bins whose sums fit the cache, with ten columns. More bins are divided into parts.
_PART_BINS = 2**13


class SampleBins:
    """Sparse matrix of bins by samples, in the order of samples.

    A product reads the weights in order, and the sums of the bins stay in the cache. All entries
    are 1, so that the chunks of samples share one array of entries.

    Parameters
    ----------
    bins : ndarray of shape (n_samples, n_groups), dtype=int32
        Bins of each sample, one of each group. If there are many bins, groups share only the last
        bin, whose sum is then undefined.
    n_bins : int
        Number of bins of all groups.
    n_kept_bins : int, default=None
        Number of bins that count in `additions`, the first ones; None means all.

    Attributes
    ----------
    additions : int
        Largest number of successive additions in a counted bin.

    Examples
    --------
    >>> bins = SampleBins(np.array([[0, 2], [1, 2]], np.int32), n_bins=3)
    >>> bins.sums(np.array([[1.0], [2.0]])).tolist()
    [[1.0], [2.0], [3.0]]
    """

    def __init__(self, bins, n_bins, n_kept_bins=None):
        self._n_bins = n_bins
        n_kept_bins = n_bins if n_kept_bins is None else n_kept_bins
        n_parts = min(bins.shape[1], -(-n_bins // _PART_BINS))
        if n_parts <= 1:
            self._parts, self._used_bins = [_Part(bins, n_bins, n_kept_bins)], None
        else:
            self._parts, self._used_bins = [], []
            for part_bins in np.array_split(bins, n_parts, axis=1):
                is_used = np.zeros(n_bins, bool)
                is_used[part_bins] = True
                used_bins = np.flatnonzero(is_used)
                index_in_part = np.empty(n_bins, np.int32)
                index_in_part[used_bins] = np.arange(len(used_bins))
                n_kept_in_part = int(np.searchsorted(used_bins, n_kept_bins))
                self._parts.append(_Part(index_in_part[part_bins], len(used_bins), n_kept_in_part))
                self._used_bins.append(used_bins)
        self.additions = max(part.additions for part in self._parts)

    def set_dtype(self, dtype):
        """Set the precision of the sums; weights of a higher precision keep it."""
        for part in self._parts:
            part.set_dtype(dtype)

    def sums(self, W):
        """Return the sums of W, of shape (n_samples, n_columns), in bins: (n_bins, n_columns)."""
        if W.shape[1] == 1:
            # A product with a vector has the faster loop.
            return self._sums(W[:, 0])[:, None]
        return self._sums(W)

    def _sums(self, W):
        if self._used_bins is None:
            return self._parts[0].sums(W)
        sums = np.zeros((self._n_bins, *W.shape[1:]), np.result_type(W, self._parts[0].dtype))
        for part, used_bins in zip(self._parts, self._used_bins, strict=True):
            sums[used_bins] = part.sums(W)
        return sums


class _Part:
    """Matrix of consecutive groups, in chunks of samples; see `SampleBins` for parameters."""

    def __init__(self, bins, n_bins, n_kept_bins):
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
            # The constructor would copy the entries.
            matrix.data, matrix.indices = ones[: chunk_bins.size], chunk_bins.ravel()
            matrix.indptr = column_ends[: len(chunk_bins) + 1]
            self._chunks.append(matrix)
        chunk_additions = [
            np.bincount(chunk.indices)[:n_kept_bins].max(initial=0) for chunk in self._chunks
        ]
        self.additions = int(max(chunk_additions)) + len(self._chunks) - 1

    @property
    def dtype(self):
        return self._chunks[0].dtype

    def set_dtype(self, dtype):
        ones = self._chunks[0].data.astype(dtype)
        for chunk in self._chunks:
            chunk.data = ones[: chunk.nnz]

    def sums(self, W):
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
        first, *others = self._chunks
        sums = sparse_product(first, next(weight_chunks))
        for chunk, weights in zip(others, weight_chunks, strict=True):
            sums += sparse_product(chunk, weights)
        return sums

    def _should_pad(self, W):
        n_additions = sum(chunk.nnz for chunk in self._chunks)
        is_single_precision = W.dtype == self.dtype == np.float32
        return is_single_precision and n_additions > _ADDITIONS_PER_COPIED_ROW * (
            len(W) + self._chunks[0].shape[0]
        )
