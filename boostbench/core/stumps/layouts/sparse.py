"""Features most of whose values are 0: what a search of stumps needs of them."""

import numpy as np
from scipy import sparse

from boostbench.core.stumps.layouts.base import Layout


class SparseFeatures:
    """A sparse matrix by its columns, of which some are made dense where that is asked for.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_samples, n_features)

    Attributes
    ----------
    matrix : scipy.sparse.csc_array of shape (n_samples, n_features), dtype=float64
        Without zeros on record.
    shape : tuple of int
    used : ndarray of shape (n_used,), dtype=int64
        The features that are not 0 everywhere, often a small part of them.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = SparseFeatures(csr_array(np.array([[0.0, 2.0], [3.0, 0.0]])))
    >>> X[:, 1]
    array([2., 0.])
    >>> X[:, np.array([1, 0])]
    array([[2., 0.],
           [0., 3.]])
    """

    def __init__(self, X):
        self.matrix = sparse.csc_array(X, dtype=np.float64, copy=True)
        self.matrix.sum_duplicates()
        self.matrix.eliminate_zeros()
        self.shape = self.matrix.shape
        self.used = np.flatnonzero(np.diff(self.matrix.indptr))

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, key):
        _, features = key
        columns = self.matrix[:, np.atleast_1d(features)].toarray()
        return columns[:, 0] if np.ndim(features) == 0 else columns

    def columns(self, sample_weight=None):
        """Yield the values of each used feature and how often each counts; all zeros are one value.

        Parameters
        ----------
        sample_weight : ndarray of shape (n_samples,), default=None
            How often each sample counts; None: once.

        Yields
        ------
        values, counts : ndarray of shape (n_values,)
        """
        weights = np.ones(len(self)) if sample_weight is None else sample_weight
        total = weights.sum()
        ends = self.matrix.indptr
        for start, stop in zip(ends[self.used], ends[self.used + 1], strict=True):
            values, counts = self.matrix.data[start:stop], weights[self.matrix.indices[start:stop]]
            if len(values) < len(self):
                values, counts = np.append(values, 0.0), np.append(counts, total - counts.sum())
            yield values, counts


class SparseBins(Layout):
    """Layout of a sparse matrix, whose work is in proportion to its non-zero values.

    Thresholds below 0 sum up the weights of what is below them, the others those of what is above
    them: the zeros are on the other side, and never looked at.

    Parameters
    ----------
    X : SparseFeatures
    cuts : list of ndarray
        The thresholds of each feature, ascending.

    Attributes
    ----------
    feature, cut : ndarray of shape (n_positions,), dtype=int64
        The feature at each position, and the number of its threshold through all features.
    additions : int
        Roundings on the way of a weight into an edge, at most.
    """

    dtype = np.float64

    def __init__(self, X, cuts):
        n_thresholds = np.array([len(c) for c in cuts])
        first = np.cumsum(n_thresholds) - n_thresholds
        zero = np.zeros(len(cuts), np.int64)
        zero[X.used] = [np.searchsorted(cuts[j], 0.0) for j in X.used]
        self.feature = np.repeat(np.arange(len(cuts)), n_thresholds)
        place = np.arange(len(self.feature)) - first[self.feature]
        is_below = place < zero[self.feature]
        # From below up to 0, then from above down to it, so that sums run on from bin to bin.
        turned = (n_thresholds + zero)[self.feature] - 1 - place
        self.cut = first[self.feature] + np.where(is_below, place, turned)
        self._sign = np.where(is_below, 1.0, -1.0)[:, None]
        # Where a sum begins anew: at each feature's first threshold, and at its first above 0.
        begins = (place == 0) | (place == zero[self.feature])
        self._start = np.flatnonzero(begins)
        self._run = np.cumsum(begins) - 1

        ends = X.matrix.indptr
        rows, columns = [np.empty(0, np.int64)], [X.matrix.indices[:0]]
        for j in X.used:
            cut, some = cuts[j], slice(ends[j], ends[j + 1])
            bins = np.searchsorted(cut, X.matrix.data[some])
            # What is in the bin of the zeros is on their side of every threshold.
            apart = bins != zero[j]
            bins = bins[apart]
            at = np.where(bins < zero[j], bins, len(cut) + zero[j] - bins)
            rows.append(first[j] + at)
            columns.append(X.matrix.indices[some][apart])
        rows, columns = np.concatenate(rows), np.concatenate(columns)
        shape = len(self.feature), len(X)
        self._samples = sparse.csc_array((np.full(len(rows), -2.0), (rows, columns)), shape)
        # No sample is in more sums than that.
        self._most = int(np.diff(self._samples.indptr).max(initial=1))
        # In a bin, over the bins of the feature, with the total.
        self.additions = int(np.bincount(rows).max(initial=0) + n_thresholds.max(initial=0)) + 4

    def pieces(self, W, total):
        """Edges, all at a time; as `boostbench.core.stumps.layouts.dense.Dense.pieces`."""
        sums = self._samples @ W
        if len(self._start) < len(sums):
            sums = self._running(sums, 2 * self._most * float(np.abs(W).sum(axis=0).max()))
        sums += total
        sums *= self._sign
        yield sums

    def _running(self, sums, largest):
        """Add up the sums of a run from its start, where none of all runs is beyond `largest`.

        One sum goes on through all runs, and what it was before a run is subtracted. Of numbers
        rounded to one grid it is exact; their remainders add up to next to nothing.
        """
        shift = 1.5 * 2.0 ** np.ceil(np.log2(max(largest, np.finfo(float).tiny)) + 2)
        coarse = (sums + shift) - shift
        parts = np.cumsum(coarse, axis=0), np.cumsum(sums - coarse, axis=0)
        before = [part[self._start] for part in parts]
        before[0] -= coarse[self._start]
        before[1] -= (sums - coarse)[self._start]
        return sum(part - first[self._run] for part, first in zip(parts, before, strict=True))
