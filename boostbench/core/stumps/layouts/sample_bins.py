"""Sums of the weights of samples in bins, with the same number of bins for each sample."""

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import sparse_product

# Entries of the matrix of a chunk: enough to make the overhead of a call negligible, few enough for
# the cache, and few enough to limit the number of successive additions in a bin.
_CHUNK_ENTRIES = 2**18

# In single precision the product adds this many columns at a time, and the remaining ones one by
# one. Padding with columns of zeros saves time if the additions per copied row exceed
# _ADDITIONS_PER_COPY.
_LANES = 4
_ADDITIONS_PER_COPY = 12

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
    n_counted : int, default=None
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

    def __init__(self, bins, n_bins, n_counted=None):
        self._n_bins = n_bins
        n_counted = n_bins if n_counted is None else n_counted
        n_parts = min(bins.shape[1], -(-n_bins // _PART_BINS))
        if n_parts <= 1:
            self._parts, self._rows = [_Part(bins, n_bins, n_counted)], None
        else:
            self._parts, self._rows = [], []
            for part_bins in np.array_split(bins, n_parts, axis=1):
                is_used = np.zeros(n_bins, bool)
                is_used[part_bins] = True
                rows = np.flatnonzero(is_used)
                number = np.empty(n_bins, np.int32)
                number[rows] = np.arange(len(rows))
                part_counted = int(np.searchsorted(rows, n_counted))
                self._parts.append(_Part(number[part_bins], len(rows), part_counted))
                self._rows.append(rows)
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
        if self._rows is None:
            return self._parts[0].sums(W)
        sums = np.zeros((self._n_bins, *W.shape[1:]), np.result_type(W, self._parts[0].dtype))
        for part, rows in zip(self._parts, self._rows, strict=True):
            sums[rows] = part.sums(W)
        return sums


class _Part:
    """Matrix of consecutive groups, in chunks of samples; see `SampleBins` for parameters."""

    def __init__(self, bins, n_bins, n_counted):
        n_samples, n_groups = bins.shape
        self._length = max(1, min(n_samples, _CHUNK_ENTRIES // max(1, n_groups)))
        entries = np.ones(self._length * n_groups)
        ends = np.arange(0, self._length * n_groups + 1, max(1, n_groups), dtype=np.int32)
        self._slices = [
            slice(start, start + self._length) for start in range(0, n_samples, self._length)
        ]
        self._chunks = []
        for rows in self._slices:
            chunk_bins = bins[rows]
            matrix = sparse.csc_array((n_bins, len(chunk_bins)))
            # The constructor would copy the entries.
            matrix.data, matrix.indices = entries[: chunk_bins.size], chunk_bins.ravel()
            matrix.indptr = ends[: len(chunk_bins) + 1]
            self._chunks.append(matrix)
        depths = [np.bincount(chunk.indices)[:n_counted].max(initial=0) for chunk in self._chunks]
        self.additions = int(max(depths)) + len(self._chunks) - 1

    @property
    def dtype(self):
        return self._chunks[0].dtype

    def set_dtype(self, dtype):
        entries = self._chunks[0].data.astype(dtype)
        for chunk in self._chunks:
            chunk.data = entries[: chunk.nnz]

    def sums(self, W):
        if W.ndim == 1 or not W.shape[1] % _LANES or not self._should_pad(W):
            return self._bin_sums(W[rows] for rows in self._slices)
        n_columns = W.shape[1]
        padded = np.zeros((self._length, n_columns + -n_columns % _LANES), W.dtype)

        def padded_chunks():
            for rows in self._slices:
                chunk = W[rows]
                padded[: len(chunk), :n_columns] = chunk
                yield padded[: len(chunk)]

        return np.ascontiguousarray(self._bin_sums(padded_chunks())[:, :n_columns])

    def _bin_sums(self, chunks):
        first, *others = self._chunks
        sums = sparse_product(first, next(chunks))
        for chunk, weights in zip(others, chunks, strict=True):
            sums += sparse_product(chunk, weights)
        return sums

    def _should_pad(self, W):
        n_additions = sum(chunk.nnz for chunk in self._chunks)
        single = W.dtype == self.dtype == np.float32
        return single and n_additions > _ADDITIONS_PER_COPY * (len(W) + self._chunks[0].shape[0])
