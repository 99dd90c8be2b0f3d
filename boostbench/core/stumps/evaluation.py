"""Edges of all stumps of a training set.

A stump is ``h(x) = +1 if x[feature] > threshold else -1``. For a weight matrix ``G`` of shape
(n_samples, n_columns), its edge in column ``c`` is ``sum_i G[i, c] h(x_i)``: the column total minus
twice the sum of ``G`` over the samples at or below the threshold.

`StumpEvaluator` computes edges. `boostbench.core.stumps.search` selects the best stump.

A *layout* is an arrangement of the training data from which the edges of all stumps are computed
(`boostbench.core.stumps.layouts.layout`). The number of distinct values determines the fastest one:

==================  ======================================  =================================
layout              work per round                          for
==================  ======================================  =================================
``JointHistogram``  a sparse product, then cumulative sums  few distinct values, many samples
``Sorted``          rows of G in order, then prefix sums    values that are mostly distinct
``SparseBins``      a sparse product, then prefix sums      sparse matrices
==================  ======================================  =================================

A *position* is a row of the layout's edges. A layout may have unused (*padding*) positions. The
*stump index* numbers the stumps by feature, then threshold.
"""

from functools import cached_property

import numpy as np
from scipy import sparse

from boostbench.core.stumps.feature_codes import fit_feature_codes, numeric_feature_codes
from boostbench.core.stumps.layouts.joint_histogram import JointHistogram
from boostbench.core.stumps.layouts.layout import UNIT_ROUNDOFF
from boostbench.core.stumps.layouts.sorted import Sorted
from boostbench.core.stumps.layouts.sparse import SparseBins, SparseFeatures
from boostbench.core.stumps.stump import BLOCK_OUTPUTS, Stump
from boostbench.core.stumps.thresholds import bin_indices, find_thresholds, iter_columns
from boostbench.core.stumps.views import ViewedFeatures

# Each stump is evaluated separately if at most this number beyond one per feature is requested. For
# more, computing the edges of all stumps is faster.
_MAX_EXTRA_SINGLE_STUMPS = 32

# A matrix of at most this many values is copied to column order as a whole, before its columns are
# read.
_MAX_COPIED = 2**20

# `Sorted` is faster than histograms from this number of thresholds per value on: gathering a row
# takes half the time of adding it to a bin, but every sample takes a position.
_SORTED_THRESHOLDS_PER_VALUE = 0.4

# Number of samples from which the share of distinct values is estimated.
_SAMPLE_SIZE = 2**13


class StumpEvaluator:
    """All stumps of a training set, and their edges for any weights.

    Parameters
    ----------
    X : ndarray, sparse matrix or ViewedFeatures of shape (n_samples, n_features)
        Training data.
    max_bins : int or None, default=None
        Largest number of bins of a feature: at most ``max_bins - 1`` thresholds, at the quantiles.
        None keeps all midpoints between consecutive distinct values.
    sample_weight : ndarray of shape (n_samples,), default=None
        Counts of the samples in the quantiles. None means 1 for each sample.

    Attributes
    ----------
    feature : ndarray of shape (n_positions,), dtype=int64
        Feature of the stump at each position.
    threshold : ndarray of shape (n_positions,), dtype=float64
        Threshold of the stump at each position.
    stump_index : ndarray of shape (n_positions,), dtype=int64
        Stump index at each position; -1 for padding.
    is_padding : ndarray of shape (n_positions,), dtype=bool
        True for positions without a stump, which no search returns.
    feature_codes : boostbench.core.stumps.feature_codes.FeatureCodes or None
        Codes of the features if X is `ViewedFeatures`. The positions are the stumps of this table.
    """

    def __init__(self, X, max_bins=None, sample_weight=None):
        # 1) Make the layout, and find the thresholds of each feature or view.
        self.feature_codes = None
        if sparse.issparse(X):
            self.X = SparseFeatures(X)
            thresholds, codes = self.X.find_thresholds(max_bins, sample_weight)
            self._layout = SparseBins(self.X, thresholds, codes)
        elif isinstance(X, ViewedFeatures):
            self.X = X
            self.feature_codes = fit_feature_codes(X.features, X.views, max_bins, sample_weight)
            self._layout = JointHistogram(self.feature_codes)
            thresholds = np.split(
                self.feature_codes.threshold_of_stump, self.feature_codes.first_stump[1:-1]
            )
        else:
            self.X = np.asarray(X, dtype=np.float64)
            if self.X.size <= _MAX_COPIED:
                self.X = np.asfortranarray(self.X)
            self._layout, thresholds = _dense_layout(self.X, max_bins, sample_weight)
        # 2) Number the stumps.
        self._thresholds = thresholds
        self._first_stump_index = np.cumsum(
            [0] + [len(feature_thresholds) for feature_thresholds in thresholds]
        )

    # Arrays over all positions may be as large as X, so they are computed when they are needed.
    @property
    def feature(self):
        """Feature of the stump at each position."""
        return self._layout.feature

    @property
    def stump_index(self):
        """Stump index at each position; -1 for padding."""
        return self._layout.stump_index

    @cached_property
    def threshold(self):
        """Threshold of the stump at each position."""
        thresholds = np.concatenate(self._thresholds)
        return thresholds[self.stump_index] if len(thresholds) else thresholds

    @cached_property
    def is_padding(self):
        """True for positions without a stump."""
        return self.stump_index < 0

    @property
    def n_positions(self):
        """Number of positions; 0 if no feature varies."""
        return self._layout.n_positions

    def stump(self, position, polarity=1):
        """Return the `Stump` at a position, with the given polarity."""
        return self._make_stump(*self._layout.feature_and_stump_at(position), polarity)

    def edges(self, G):
        """Return the edges of all stumps.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_positions, n_columns), dtype=float32
            ``sum_i G[i, c] h(x_i)``; 0 for padding. The caller may overwrite it.
        """
        edges = np.empty((self.n_positions, G.shape[1]), np.float32)
        dtype = self._layout.layout_for_columns(G.shape[1]).dtype
        for positions, chunk_edges in self._iter_edge_slices(*weights_and_total(G, dtype)):
            edges[positions] = chunk_edges
        edges[self.is_padding] = 0.0
        return edges

    def error_bound(self, n_columns, n_roundings):
        """Return a bound of the rounding error of `edges`, relative to the sum of absolute weights.

        Parameters
        ----------
        n_columns : int
            Number of columns of the weights.
        n_roundings : int
            Number of roundings, in single precision, of later operations on the edges.

        Returns
        -------
        float
        """
        # `edges` rounds its results to single precision, which is one more rounding. D roundings
        # change a number by a factor of at most 1 + D u / (1 - D u), with the unit roundoff u. This
        # is at most 1 + 2 D u.
        conversion_error = (1 + n_roundings) * UNIT_ROUNDOFF[np.float32]
        layout = self._layout.layout_for_columns(n_columns)
        return layout.error_bound(layout.dtype) + 2 * conversion_error

    def exact_edges(self, G, positions, columns):
        """Return the edges of selected stumps in one column each, in double precision.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
        positions, columns : ndarray of shape (n_selected,)

        Returns
        -------
        ndarray of shape (n_selected,), dtype=float64
        """
        edges = np.empty(len(positions))
        # A full pass computes all columns, and the evaluation of a single stump only one: the
        # number of stumps is divided by the number of columns.
        if self._is_full_pass_faster(len(positions) / G.shape[1]):
            for selected, chunk_edges in self._iter_exact_edges(G, positions):
                edges[selected] = chunk_edges[np.arange(len(chunk_edges)), columns[selected]]
            return edges
        stumps = zip(*self._layout.feature_and_stump_at(positions), columns, strict=True)
        for index, (feature, stump_index, column) in enumerate(stumps):
            edges[index] = G[:, column] @ _signs(self._is_above(feature, stump_index))
        return edges

    def exact_edges_all_columns(self, G, positions):
        """Return the edges of selected stumps in all columns, in double precision.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
        positions : ndarray of shape (n_selected,)

        Returns
        -------
        ndarray of shape (n_selected, n_columns), dtype=float64
        """
        edges = np.empty((len(positions), G.shape[1]))
        if self._is_full_pass_faster(len(positions)):
            for selected, chunk_edges in self._iter_exact_edges(G, positions):
                edges[selected] = chunk_edges
            return edges
        width = max(1, BLOCK_OUTPUTS // len(self.X))
        for start in range(0, len(positions), width):
            block = slice(start, start + width)
            stumps = zip(*self._layout.feature_and_stump_at(positions[block]), strict=True)
            edges[block] = _signs(np.stack([self._is_above(*stump) for stump in stumps])) @ G
        return edges

    def bin_sums(self, G):
        """Return the sums of the weights in each bin of the `feature_codes`, in double precision.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_joint_bins, n_columns), dtype=float64
        """
        return self._layout.bin_sums(np.ascontiguousarray(G, dtype=np.float64))

    def class_sum_search(self, labels):
        """Return a search by prefix sums of classes, or None if a search by edges is faster.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
            Class of each sample, from 0 to n_classes - 1.

        Returns
        -------
        boostbench.core.stumps.layouts.sorted.ClassPrefixSums or None
        """
        return self._layout.class_sum_search(labels)

    def _stump_and_outputs(self, position):
        """Return the stump at a position, with polarity 1, and its outputs."""
        stump = self._layout.feature_and_stump_at(position)
        return self._make_stump(*stump), _signs(self._is_above(*stump))

    def _make_stump(self, feature, stump_index, polarity=1):
        """Return the `Stump` with an index, on a feature or view."""
        threshold = self._thresholds[feature][stump_index - self._first_stump_index[feature]]
        return Stump(int(feature), float(threshold), polarity)

    def _is_above(self, feature, stump_index):
        """Return a mask of the samples above a threshold."""
        above = self._layout.above(feature, stump_index)
        if above is None:
            rank = int(stump_index - self._first_stump_index[feature])
            above = self.X[:, feature] > self._thresholds[feature][rank]
        return above

    def _is_padding_at(self, positions):
        """Return `is_padding` for a slice or an array of positions."""
        # A subclass may have marked excluded stumps in the cached property.
        if isinstance(positions, slice) or "is_padding" in vars(self):
            return self.is_padding[positions]
        return self._layout.feature_and_stump_at(positions)[1] < 0

    def _iter_edge_slices(self, W, total):
        """Yield slices of positions and the edges there; see `Layout.iter_edge_slices`."""
        return self._layout.layout_for_columns(W.shape[1]).iter_edge_slices(W, total)

    def _iter_exact_edges(self, G, positions):
        """Yield the indices of the positions in each chunk, and their edges in double precision."""
        for chunk, edges in self._iter_edge_slices(*weights_and_total(G, np.float64)):
            selected = np.flatnonzero((positions >= chunk.start) & (positions < chunk.stop))
            yield selected, edges[positions[selected] - chunk.start]

    def _is_full_pass_faster(self, n_stumps):
        """Return True if all edges are computed faster than the edges of `n_stumps` stumps."""
        return n_stumps > _MAX_EXTRA_SINGLE_STUMPS + self.X.shape[1]


def weights_and_total(G, dtype):
    """Return the weights in the given precision and C order, and the sum of each column.

    Parameters
    ----------
    G : ndarray of shape (n_samples, n_columns), dtype=float64
    dtype : numpy.float32 or numpy.float64

    Returns
    -------
    W : ndarray of shape (n_samples, n_columns), dtype=dtype
    total : ndarray of shape (n_columns,), dtype=float64
    """
    # The sums are in double precision, because the error of a total affects all edges of a column.
    total = G[:, 0].sum(keepdims=True) if G.shape[1] == 1 else np.ones(len(G)).dot(G)
    return np.ascontiguousarray(G, dtype=dtype), total


def _signs(is_above):
    """Return +1 where a sample is above a threshold, else -1, of the shape of the mask."""
    # `np.where` takes several times as long.
    outputs = np.multiply(is_above, 2.0)
    outputs -= 1.0
    return outputs


def _dense_layout(X, max_bins, sample_weight):
    """Return the fastest layout of a dense matrix, and the thresholds of each feature.

    The parameters are the parameters of `StumpEvaluator`.
    """
    layout = try_sorted_layout(X) if max_bins is None else None
    if layout is not None:
        return layout, layout.thresholds
    thresholds, codes = [], []
    for values in iter_columns(X):
        thresholds.append(find_thresholds(values, max_bins, sample_weight))
        if max_bins is not None:
            # Computing the bins here reads the column from the cache.
            codes.append(bin_indices(values, thresholds[-1]))
    return choose_layout(X, thresholds, codes or None), thresholds


def choose_layout(X, thresholds, codes=None):
    """Return the fastest layout for the data.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    thresholds : list of ndarray
        Thresholds of each feature, ascending; each lies between two of its values.
    codes : list of ndarray of shape (n_samples,), default=None
        Number of thresholds below each sample, for each feature. None if it is not known.

    Returns
    -------
    JointHistogram or Sorted
    """
    n_thresholds = sum(map(len, thresholds))
    layout = Sorted if _is_mostly_distinct(n_thresholds, X) else make_joint_histogram
    return layout(X, thresholds, codes)


def make_joint_histogram(X, thresholds, codes=None):
    """Return a `JointHistogram` of numbers; see `choose_layout` for the parameters."""
    if codes is None:
        codes = [
            bin_indices(values, feature_thresholds)
            for values, feature_thresholds in zip(iter_columns(X), thresholds, strict=True)
        ]
    return JointHistogram(numeric_feature_codes(codes, thresholds))


def try_sorted_layout(X):
    """Return the layout `Sorted` with all thresholds, from one sort of each feature.

    Return None if there are few samples, or if many values are equal.
    """
    # 1) Count the thresholds of the first samples: one between two different values in order.
    sample = np.sort(X[:_SAMPLE_SIZE], axis=0)
    if len(X) == len(sample) or not _is_mostly_distinct(np.sum(sample[1:] > sample[:-1]), sample):
        return None
    # 2) Sort all samples. The later ones may repeat values.
    layout = Sorted(X)
    return layout if _is_mostly_distinct(sum(map(len, layout.thresholds)), X) else None


def _is_mostly_distinct(n_thresholds, X):
    """Return True if `Sorted` is faster than a histogram for X with this number of thresholds."""
    return n_thresholds >= _SORTED_THRESHOLDS_PER_VALUE * X.size
