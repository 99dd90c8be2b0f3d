"""Sparse features, and the layouts of a sparse matrix.

`boostbench.core.stumps.evaluation` uses `SparseBins` for sparse training data: the work of a search
is in proportion to the nonzero values. `SparseBlocks` saves a part of it where a feature has many
thresholds.
"""

from functools import cached_property

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import CompressedMatrix, sparse_product
from boostbench.core.stumps.layouts.layout import Layout
from boostbench.core.stumps.thresholds import argsort_with_values, find_thresholds, midpoint

# Largest number of thresholds in a block. Smaller blocks have tighter bounds, but there are more.
_BLOCK_THRESHOLDS = 32

# Minimum mean number of thresholds of a block, and maximum number of stored values per threshold,
# for `SparseBlocks`: with fewer thresholds, the products for the bounds take longer than all prefix
# sums.
_THRESHOLDS_PER_BLOCK = 8
_VALUES_PER_THRESHOLD = 4

# Largest fraction of the thresholds that is evaluated in single blocks; for more, evaluating all
# thresholds is faster.
_MAX_OPEN = 1 / 4


class SparseFeatures:
    """Sparse matrix in column order; indexing returns dense columns.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_samples, n_features)

    Attributes
    ----------
    matrix : scipy.sparse.csc_array of shape (n_samples, n_features), dtype=float64
        Matrix without stored zeros.
    shape : tuple of int
    used : ndarray of shape (n_used,), dtype=int64
        Features with a non-zero value, often a small fraction.

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

    def find_thresholds(self, max_bins=None, sample_weight=None):
        """Return the thresholds of each feature, and the bin of each stored value.

        Parameters
        ----------
        max_bins : int or None, default=None
            Largest number of bins of a feature; None keeps all midpoints of consecutive values.
        sample_weight : ndarray of shape (n_samples,), default=None
            Counts of the samples in the quantiles; None: 1 for each.

        Returns
        -------
        thresholds : list of ndarray
            Thresholds of each feature, ascending.
        codes : ndarray of shape (n_stored,), dtype=int64
            Number of thresholds of its feature that each element of ``matrix.data`` exceeds.
        """
        # 1) Sort all stored values by feature and value. The zeros of a feature are one more value,
        #    after all stored ones.
        n_stored = np.diff(self.matrix.indptr)
        with_zeros = np.flatnonzero((n_stored > 0) & (n_stored < len(self)))
        feature = np.repeat(np.arange(self.shape[1]), n_stored)
        feature = np.concatenate([feature, with_zeros])
        order, values = argsort_with_values(np.append(self.matrix.data, np.zeros(len(with_zeros))))
        # Sort by feature, in linear time, and keep the order of values: in a matrix with a row for
        # each feature and a column for each rank, the conversion from columns to rows lists the
        # ranks of each feature ascending.
        columns = values, feature[order], np.arange(len(order) + 1)
        by_feature = sparse.csc_array(columns, (self.shape[1], len(order))).tocsr()
        order, values = order[by_feature.indices], by_feature.data
        feature = feature[order]
        # 2) A threshold lies between two different consecutive values of a feature. `is_threshold`
        #    is True at the upper value, and `above` has the indices of the upper values.
        is_threshold = np.zeros(len(values), bool)
        is_threshold[1:] = (values[1:] > values[:-1]) & (feature[1:] == feature[:-1])
        upper = np.flatnonzero(is_threshold)
        middle = midpoint(values[upper - 1], values[upper])
        n_per_feature = np.bincount(feature[upper], minlength=self.shape[1])
        # 3) Keep the thresholds at the quantiles of features with too many of them.
        if max_bins is not None:
            ends = np.cumsum(n_per_feature)
            is_chosen = np.ones(len(middle), bool)
            for j in np.flatnonzero(n_per_feature >= max_bins):
                chunk = slice(ends[j] - n_per_feature[j], ends[j])
                values_of_j, counts = self._values(j, sample_weight)
                quantiles = find_thresholds(values_of_j, max_bins, counts)
                is_chosen[chunk] = np.isin(middle[chunk], quantiles, assume_unique=True)
            is_threshold[upper] = is_chosen
            middle = middle[is_chosen]
            n_per_feature = np.bincount(feature[upper[is_chosen]], minlength=self.shape[1])
        # 4) The code of a value is the number of thresholds of its feature up to it: the number of
        #    all thresholds up to it, less the thresholds of earlier features.
        ends = np.cumsum(n_per_feature)
        codes = np.empty(len(order), np.int64)
        codes[order] = np.cumsum(is_threshold) - (ends - n_per_feature)[feature]
        thresholds = [np.empty(0)] * self.shape[1]
        for j in self.used:
            thresholds[j] = middle[ends[j] - n_per_feature[j] : ends[j]]
        return thresholds, codes[: self.matrix.nnz]

    def _values(self, feature, sample_weight):
        """Return the values of a feature and their counts; all zeros are one value."""
        stored = slice(*self.matrix.indptr[feature : feature + 2])
        values, samples = self.matrix.data[stored], self.matrix.indices[stored]
        weights = np.ones(len(self)) if sample_weight is None else sample_weight
        counts = weights[samples]
        if len(values) < len(self):
            values = np.append(values, 0.0)
            counts = np.append(counts, weights.sum() - counts.sum())
        return values, counts


class SparseBins(Layout):
    """Layout of a sparse matrix, whose work is in proportion to its non-zero values.

    The edge of a threshold below 0 is computed from the weights of the values below it, and the
    edge of any other threshold from the weights of the values above it, so that the zeros do not
    enter the sums. A *run* is a sequence of positions whose sums are prefix sums: the thresholds of
    a feature below 0, ascending, or its other thresholds, descending.

    Parameters
    ----------
    X : SparseFeatures
    thresholds, codes
        Results of `SparseFeatures.find_thresholds`.

    Attributes
    ----------
    feature, stump_index : ndarray of shape (n_positions,), dtype=int64
        Feature at each position, and the index of its stump.
    additions : int
        Largest number of roundings of a weight in an edge.
    """

    dtype = np.float64

    def __init__(self, X, thresholds, codes):
        # 1) Number the positions. `rank` is the index of a position in its feature, and `zero_bin`
        #    the number of thresholds of a feature below 0, which is the bin of the zeros. With the
        #    thresholds -2, -1, 1, 2 and 3, the positions have -2, -1, 3, 2 and 1: `descending` is
        #    the index of the threshold at a position after those below 0.
        n_thresholds = np.array([len(feature_thresholds) for feature_thresholds in thresholds])
        first = np.cumsum(n_thresholds) - n_thresholds
        self.feature = np.repeat(np.arange(len(thresholds)), n_thresholds)
        rank = np.arange(len(self.feature)) - first[self.feature]
        is_below = np.concatenate([np.empty(0), *thresholds]) < 0.0
        zero_bin = np.bincount(self.feature[is_below], minlength=len(thresholds))
        descending = (n_thresholds + zero_bin)[self.feature] - 1 - rank
        self.stump_index = first[self.feature] + np.where(is_below, rank, descending)
        # An edge is total - 2 * (sum below) = -(total - 2 * (sum above)).
        self._sign = np.where(is_below, 1.0, -1.0)[:, None]
        # 2) Find the first position of each run, and the lengths of the runs.
        self._run_start = np.flatnonzero((rank == 0) | (rank == zero_bin[self.feature]))
        self._run_lengths = np.diff(self._run_start, append=len(self.feature))
        # 3) Make the matrix of positions by samples: -2 at the first position of a run whose sum
        #    contains the sample. A value below 0 with the code c is first below threshold c, and a
        #    value above 0 first above threshold c - 1, the closest one in each case. In the
        #    example, the value 1.5 has the code 3 and the position 5 + 2 - 3 = 4, the threshold 1.
        #    Values in the bin of the zeros are in no sum.
        feature = np.repeat(np.arange(len(thresholds)), np.diff(X.matrix.indptr))
        zero_bin = zero_bin[feature]
        is_in_sum = codes != zero_bin
        rows = np.where(codes < zero_bin, codes, n_thresholds[feature] + zero_bin - codes)
        rows += first[feature]
        coordinates = rows[is_in_sum], X.matrix.indices[is_in_sum]
        values = np.full(len(coordinates[0]), -2.0)
        shape = len(self.feature), len(X)
        matrix = sparse.csr_array((values, coordinates), shape)
        self._samples = CompressedMatrix("csr", shape, matrix.indptr, matrix.indices, matrix.data)
        # Largest number of runs that contain one sample.
        self._max_runs = int(np.bincount(self._samples.indices).max(initial=1))
        # 4) A weight is added up in its bin, over the bins of the feature, and with the total.
        largest_bin = int(np.diff(self._samples.indptr).max(initial=0))
        self.additions = largest_bin + int(n_thresholds.max(initial=0)) + 4

    def screening_layout(self, n_columns):
        """Return the layout that finds the largest edges fastest; see `Layout`."""
        return self._blocks or self

    @cached_property
    def _blocks(self):
        """Search in blocks of thresholds, made when it is needed; None if it saves no time."""
        n_blocks = int((-(-self._run_lengths // _BLOCK_THRESHOLDS)).sum())
        is_fast = (
            n_blocks * _THRESHOLDS_PER_BLOCK <= self.n_positions
            and len(self._samples.data) <= self.n_positions * _VALUES_PER_THRESHOLD
        )
        return SparseBlocks(self, self._samples, self._run_lengths, self._sign) if is_fast else None

    def cumulative_sum_bound(self, W):
        """Return a bound of the cumulative sum through all runs, for the unit of `prefix_sums`.

        A sample is in at most `_max_runs` runs, each time with -2 times its weight.
        """
        return 2 * self._max_runs * float(np.abs(W).sum(axis=0).max())

    def iter_edges(self, W, total):
        """Yield all edges at once; see `Layout.iter_edges`."""
        sums = sparse_product(self._samples, W)
        if len(self._run_start) < len(sums):
            sums = prefix_sums(sums, self._run_start, self.cumulative_sum_bound(W))
        sums += total
        sums *= self._sign
        yield sums


class SparseBlocks(Layout):
    """Exact search of the largest scores of `SparseBins` in a few blocks of thresholds.

    The thresholds of each run are divided into blocks. A threshold inside a block differs from the
    ends of the block by the weights of samples in it. Let a and b be the scores at both ends, and M
    the sum of the change bounds in the block. No score inside is larger than (a + b) / 2 + M, as in
    `boostbench.core.stumps.layouts.rank_blocks`. Only blocks whose bound reaches the largest score
    at an end are evaluated.

    Parameters
    ----------
    full_layout : SparseBins
        Layout with the same positions.
    samples : CompressedMatrix of shape (n_positions, n_samples)
        -2 for each sample in the bin of a position.
    run_lengths : ndarray of shape (n_runs,), dtype=int64
        Number of positions of each run, whose prefix sums start at 0.
    sign : ndarray of shape (n_positions, 1)
        Sign of the edges relative to the sums.

    Attributes
    ----------
    feature, stump_index, additions
        Attributes of `SparseBins`; `additions` counts the roundings of a bound.
    """

    dtype = np.float64

    def __init__(self, full_layout, samples, run_lengths, sign):
        self._full_layout, self._samples, self._sign = full_layout, samples, sign
        self.feature, self.stump_index = full_layout.feature, full_layout.stump_index
        n_blocks = -(-run_lengths // _BLOCK_THRESHOLDS)
        # Divide each run into blocks of `_BLOCK_THRESHOLDS` positions; the last may have fewer.
        self._first_block_of_run = np.cumsum(n_blocks) - n_blocks
        block_in_run = ranges(np.zeros_like(n_blocks), n_blocks)
        first_position = np.repeat(np.cumsum(run_lengths) - run_lengths, n_blocks)
        self._block_start = first_position + _BLOCK_THRESHOLDS * block_in_run
        self._block_length = np.diff(self._block_start, append=self.n_positions)
        # Merge the rows of the positions of each block: the entries stay as they are, and the row
        # of a block begins where the row of its first position begins.
        indptr = np.append(samples.indptr[self._block_start], samples.indptr[-1])
        shape = len(self._block_start), samples.shape[1]
        self._block_samples = samples._replace(indptr=indptr, shape=shape)
        # A bound contains a weight and its change bound, each summed in a block and over the
        # blocks.
        self.additions = 2 * (int(np.diff(indptr).max(initial=0)) + full_layout.additions)

    def iter_candidates(self, W, total, tolerance, criterion):
        """Yield all edges that may be the largest; see `Layout.iter_candidates`."""
        # 1) Compute the edges at the two ends of each block: `before` has the sums before it.
        cumulative_sum_bound = self._full_layout.cumulative_sum_bound(W)
        sums = prefix_sums(
            sparse_product(self._block_samples, W), self._first_block_of_run, cumulative_sum_bound
        )
        before = np.zeros_like(sums)
        before[1:] = sums[:-1]
        before[self._first_block_of_run] = 0.0
        # 2) Bound the scores in each block.
        sign = self._sign[self._block_start]
        scores = criterion.scores((sums + total) * sign)
        bound = criterion.scores((before + total) * sign)
        bound += scores
        bound *= 0.5
        # Add M, the sums of the change bounds. The entries of the matrix are -2, and the factor
        # -0.5 makes them 1.
        bound -= 0.5 * sparse_product(self._block_samples, criterion.change_bounds(W))
        # 3) Select the blocks that may contain the largest score. Blocks with excluded positions
        #    are selected too, because the caller needs their edges; their ends may be excluded.
        excluded = np.searchsorted(self._block_start, criterion.excluded, side="right") - 1
        scores[excluded] = -np.inf
        is_open = (bound >= scores.max() - tolerance).any(axis=1)
        is_open[excluded] = True
        block = np.flatnonzero(is_open)
        length = self._block_length[block]
        if length.sum() > _MAX_OPEN * self.n_positions:
            yield from self._full_layout.iter_edge_slices(W, total)
            return
        # 4) Compute all edges in these blocks: the sum before a block is added at its first
        #    position, from which the prefix sums of the block start.
        positions = ranges(self._block_start[block], length)
        block_start = np.cumsum(length) - length
        sums = sparse_product(self._select_rows(positions), W)
        sums[block_start] += before[block]
        edges = prefix_sums(sums, block_start, cumulative_sum_bound)
        edges += total
        edges *= self._sign[positions]
        yield positions, edges

    def _select_rows(self, positions):
        """Return the rows of the matrix of samples at the given positions."""
        _, (_, n_samples), indptr, indices, data = self._samples
        first = indptr[positions]
        n_stored = indptr[positions + 1] - first
        stored = ranges(first, n_stored)
        row_starts = np.append(0, np.cumsum(n_stored)).astype(indptr.dtype)
        shape = len(positions), n_samples
        return CompressedMatrix("csr", shape, row_starts, indices[stored], data[stored])


def ranges(first, lengths):
    """Return the integers of several ranges, one range after the other.

    Parameters
    ----------
    first, lengths : ndarray of shape (n_ranges,), dtype=int

    Returns
    -------
    ndarray of shape (lengths.sum(),), dtype=int64

    Examples
    --------
    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    starts = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(first - starts, lengths)


def prefix_sums(sums, start, cumulative_sum_bound):
    """Return prefix sums that restart in each run.

    The cumulative sum runs through all runs, and the total of a run is subtracted where the next
    one begins. Sums are split into multiples of one power of 2, whose additions are exact, and
    remainders, whose rounding errors are negligible.

    Parameters
    ----------
    sums : ndarray of shape (n_positions, n_columns), dtype=float64
        Overwritten.
    start : ndarray of shape (n_runs,), dtype=int64
        First position of each run.
    cumulative_sum_bound : float
        Bound of the absolute sums of all runs together.

    Returns
    -------
    ndarray of shape (n_positions, n_columns), dtype=float64

    Examples
    --------
    >>> sums, run_start = np.array([[1.0], [2.0], [4.0]]), np.array([0, 2])
    >>> prefix_sums(sums, run_start, cumulative_sum_bound=7.0).ravel()
    array([1., 3., 4.])
    """
    # Adding and subtracting `shift`, a number far larger than the sums, rounds them to multiples of
    # its last digit. The factor 1.5 and the exponent + 2 keep `shift` plus a sum between the same
    # powers of 2 for either sign.
    shift = 1.5 * 2.0 ** np.ceil(np.log2(max(cumulative_sum_bound, np.finfo(float).tiny)) + 2)
    coarse = sums + shift
    coarse -= shift
    sums -= coarse
    for part in (coarse, sums):
        totals = np.add.reduceat(part, start, axis=0)
        part[start[1:]] -= totals[:-1]
        np.cumsum(part, axis=0, out=part)
    coarse += sums
    return coarse
