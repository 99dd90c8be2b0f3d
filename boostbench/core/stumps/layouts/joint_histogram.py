"""Histograms: sums of weights in the bins of all features, and the edges of all stumps from them.

`JointHistogram` is the layout of features with few distinct values, of categories and of missing
values. It delegates one column of weights of many samples to `OneColumnHistogram`, which adds up
the weights with `PairTables`. The searches of projected features use `PrefixSumTables`.

The *table* of two features has a *cell* for each pair of their bins. A sample is added once to a
cell, instead of once to a bin of each feature, and the sums of the rows and columns of the table
are the sums of the bins. The table stays in the cache, and weights and cells are read in order.
With few samples, one sparse product computes several tables. If a table has many cells per sample,
each feature has its own table, whose cells are its bins.
"""

from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import sparse_product
from boostbench.core.stumps.layouts.bin_sums import JointBinSums
from boostbench.core.stumps.layouts.layout import UNIT_ROUNDOFF, Layout

# Maximum number of roundings of a weight in single precision. With more, too many stumps are within
# rounding error of the best one.
_MAX_ADDITIONS = 512

# Largest number of cells of a table: in single precision, half of a second-level cache.
MAX_CELLS = 2**16

# Number of samples below which summing the tables of pairs takes longer than it saves.
MIN_SAMPLES = 2**16

# The number of bins of a feature is padded to a multiple of this, since BLAS is faster for full
# vectors.
_WIDTH_MULTIPLE = 16

# Number of samples times tables in one sparse product: enough to make the overhead of a call
# negligible, few enough for the weights to stay in the cache.
_PRODUCT_SAMPLES = 2**18

# Number of cells of all tables in one sparse product, few enough for the cache.
_PRODUCT_CELLS = 2**17

# Number of cells whose summation takes the time that one sample saves.
_CELLS_PER_SAMPLE = 2


class JointHistogram(Layout):
    """Layout whose positions are the stumps of features with few distinct values.

    Parameters
    ----------
    feature_codes : boostbench.core.stumps.feature_codes.FeatureCodes

    Attributes
    ----------
    additions, total_additions : int
        Largest number of roundings of a weight and of the total in an edge, in the precision of the
        weights.
    """

    # The total and the edges are in double precision.
    total_additions = 2

    def __init__(self, feature_codes):
        self.feature_codes = feature_codes
        self._one_column_layout = None
        if feature_codes.n_samples >= MIN_SAMPLES and feature_codes.n_bins.max() ** 2 <= MAX_CELLS:
            one_column = OneColumnHistogram(feature_codes)
            self._one_column_layout = one_column if one_column.additions <= _MAX_ADDITIONS else None

    def layout_for_columns(self, n_columns):
        """Return the layout for a number of columns; one column of many samples has its own."""
        return (
            self._one_column_layout
            if n_columns == 1 and self._one_column_layout is not None
            else self
        )

    @property
    def n_positions(self):
        """Number of positions."""
        return len(self.feature_codes.view_of_stump)

    @cached_property
    def feature(self):
        """View at each position."""
        return self.feature_codes.view_of_stump

    @cached_property
    def stump_index(self):
        """Stump at each position."""
        return np.arange(self.n_positions)

    @cached_property
    def _sums(self):
        """Sums of the bins, made when they are needed: `OneColumnHistogram` does without them."""
        sums = JointBinSums(self.feature_codes.codes, self.feature_codes.n_bins)
        is_single = sums.additions + self.total_additions <= _MAX_ADDITIONS
        sums.set_dtype(np.float32 if is_single else np.float64)
        return sums

    @property
    def additions(self):
        """Largest number of roundings of a weight in an edge, in the precision of the weights."""
        return self._sums.additions + self.total_additions

    @property
    def dtype(self):
        """Precision in which the search is fastest."""
        return self._sums.dtype

    def error_bound(self, dtype, n_roundings=0):
        """Return a bound of the rounding error; see `Layout.error_bound`."""
        # Prefix sums are in double precision and never exceed the sum of the sizes.
        after_histogram = 4 * self.feature_codes.n_joint_bins * UNIT_ROUNDOFF[np.float64]
        return super().error_bound(dtype, n_roundings) + after_histogram

    def above(self, feature, stump_index):
        """Return where a stump is +1: (n_samples,), dtype=bool."""
        return self.feature_codes.above(stump_index)

    def bin_sums(self, W):
        """Return the sums of the weights in each joint bin.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_joint_bins, n_columns)
            Sums in the precision of the weights, or in double precision.
        """
        return self._sums(W)

    def iter_edges(self, W, total):
        """Yield all edges at once; see `Layout.iter_edges`."""
        sums = self.bin_sums(W)
        if W.shape[1] == 1:
            # NumPy's loops over vectors are faster than its loops over matrices of one column.
            yield self.feature_codes.edges(sums[:, 0], total[0])[:, None]
        else:
            yield self.feature_codes.edges(sums, total)


class OneColumnHistogram(JointHistogram):
    """Layout for one column of weights, whose samples are added to tables of pairs of features.

    Parameters
    ----------
    feature_codes : boostbench.core.stumps.feature_codes.FeatureCodes
        Codes of many samples, with few bins of each feature.
    """

    dtype = np.float32

    def __init__(self, feature_codes):
        self.feature_codes = feature_codes
        self._tables = PairTables(feature_codes.codes, int(feature_codes.n_bins.max()))
        # Index of each joint bin in the tables' sums, an array of shape (n_features, 1, width).
        self._padded_index_of_bin = np.concatenate(
            [
                feature * self._tables.width + np.arange(n)
                for feature, n in enumerate(feature_codes.n_bins)
            ]
        )

    def layout_for_columns(self, n_columns):
        """Return this layout."""
        return self

    @property
    def additions(self):
        """Largest number of roundings of a weight in an edge, in the precision of the weights."""
        return self._tables.additions + self.total_additions

    def bin_sums(self, W):
        """Return the sums of the weights; see `JointHistogram.bin_sums`."""
        padded_sums = self._tables.sums(np.ascontiguousarray(W[:, 0]))
        return padded_sums.ravel().take(self._padded_index_of_bin)[:, None]


class PairTables:
    """Sums of one column of weights in the bins of each feature.

    The tables are computed by sparse matrices of shape (n_cells of all tables, n_tables). A column
    is a table, and has one entry per sample, in the row of its cell. With the weights as these
    entries, the product with ones is the sum of the weights in each cell.

    Parameters
    ----------
    codes : sequence of ndarray of shape (n_samples,)
        Bin of each sample, for each feature.
    n_bins : int
        Largest number of bins of a feature; `width` rounds it up to a multiple of 16.
    n_layers : int, default=1
        Number of layers: samples of different layers have separate sums. With two, positive and
        negative weights are summed separately. A layer is an offset of the cell number.

    Attributes
    ----------
    width : int
        Number of bins of each feature in the results. The bins after the bins of a feature are
        empty.

    Examples
    --------
    >>> codes = [np.array([0, 2, 2]), np.array([1, 1, 0])]
    >>> PairTables(codes, n_bins=3).sums(np.array([1.0, 2.0, 3.0]))[:, 0, :3]
    array([[1., 0., 5.],
           [3., 3., 0.]])
    """

    def __init__(self, codes, n_bins, n_layers=1):
        # 1) Choose the number of features of a table, two or one, and of tables per product.
        n_samples = len(codes[0])
        self.width = width = _padded_width(n_bins)
        self._n_layers = n_layers
        # Layer of each sample in the last call of `_set_layers`: an array from the first call on,
        # and before it one number, as all are in layer 0.
        self._layer_of_sample = np.int32(0)
        self._features_per_table = 2 if _pair_cost(n_samples, width) <= n_samples else 1
        self._cells_per_layer = width**self._features_per_table
        n_cells = n_layers * self._cells_per_layer
        tables_per_product = max(
            1, min(_PRODUCT_SAMPLES // max(1, n_samples), _PRODUCT_CELLS // n_cells)
        )
        # 2) Make the matrix of each product. In layer 0, the cell of a sample in a table is
        #    ``first code * width + second code``, and its row is ``table * n_cells + cell``. With
        #    an odd number of features, the second code is 0 in the last table.
        #    `cells` has the shape (n_tables, n_samples).
        self._incidence_matrices = []
        for first in range(0, len(codes), self._features_per_table * tables_per_product):
            table_codes = codes[first : first + self._features_per_table * tables_per_product]
            cells = np.array(table_codes[:: self._features_per_table], np.int32)
            if self._features_per_table == 2:
                cells *= width
                for table_cells, second_codes in zip(cells, table_codes[1::2], strict=False):
                    table_cells += second_codes
            cells += np.arange(len(cells), dtype=np.int32)[:, None] * n_cells
            self._incidence_matrices.append(_incidence_matrix(cells, n_cells))

    @cached_property
    def additions(self):
        """Largest number of roundings of a weight in a sum, in the precision of the weights."""
        max_depth = max(
            int(np.bincount(matrix.indices).max()) for matrix in self._incidence_matrices
        )
        # A weight is added up in a cell of a table, then over the bins of the other feature.
        return max_depth + (self.width if self._features_per_table == 2 else 0)

    def sums(self, weights, layer=None):
        """Return the sums of the weights in each bin.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
        layer : ndarray of shape (n_samples,), dtype=int32, default=None
            Layer of each sample, from 0 on; None for tables with one layer.

        Returns
        -------
        ndarray of shape (n_features or one more, n_layers, width)
            With tables of pairs and an odd number of features, the last row is for no feature.
        """
        return np.concatenate(list(self.iter_sums(weights, layer)))

    def iter_sums(self, weights, layer=None):
        """Yield consecutive rows of the result of `sums`: the features of one sparse product."""
        tables_per_product = self._incidence_matrices[0].shape[1]
        repeated = weights if tables_per_product == 1 else np.tile(weights, tables_per_product)
        ones = np.ones(tables_per_product, weights.dtype)
        if layer is not None:
            self._set_layers(layer)
        for matrix in self._incidence_matrices:
            n_tables = matrix.shape[1]
            # The weights are the entries of each column (table) of the matrix. A short array takes
            # their place until the next call, so that the layout keeps no weights in memory.
            matrix.data = repeated[: n_tables * len(weights)]
            cells = sparse_product(matrix, ones[:n_tables])
            matrix.data = ones
            yield self._feature_sums(cells)

    def _feature_sums(self, cells):
        """Return the sums of the bins of each feature.

        Parameters
        ----------
        cells : ndarray of shape (n_tables * n_cells,)
            Sums of the weights in the cells of the tables.

        Returns
        -------
        ndarray of shape (n_tables * features per table, n_layers, width)
        """
        width, n_layers = self.width, self._n_layers
        if self._features_per_table == 1:
            return cells.reshape(-1, n_layers, width)
        ones = np.ones(width, cells.dtype)
        # The axes are table, layer, bin of the first feature and bin of the second feature: the
        # sums of the first feature are over the last axis.
        pair_grid = cells.reshape(-1, n_layers, width, width)
        bins = np.empty((len(pair_grid), 2, n_layers, width), cells.dtype)
        np.matmul(pair_grid, ones, out=bins[:, 0])
        np.matmul(ones, pair_grid, out=bins[:, 1])
        return bins.reshape(-1, n_layers, width)

    def _set_layers(self, layer):
        """Assign samples to layers, given the layer of each sample: (n_samples,), dtype=int32.

        `boostbench.core.stumps.layouts.sorted.RankBins` has a layer for the positive and a layer
        for the negative weights. A sample moves if its weight changes its sign: its cell number
        changes by the number of cells of a layer.
        """
        change = layer - self._layer_of_sample
        if change.any():
            change *= np.int32(self._cells_per_layer)
            for matrix in self._incidence_matrices:
                # The reshaped array is a view, so that the indices change in place.
                cells = matrix.indices.reshape(matrix.shape[1], -1)
                cells += change
            self._layer_of_sample = layer


def addition_cost(n_samples, n_bins):
    """Return the cost of the sums of a feature by `PairTables`, by which layouts are compared.

    Parameters
    ----------
    n_samples : int or ndarray of int
    n_bins : int
        Number of bins of a feature.

    Returns
    -------
    float or ndarray
        Cost, in units of the addition of a sample to a bin.
    """
    return np.minimum(n_samples, _pair_cost(n_samples, _padded_width(n_bins)))


def _pair_cost(n_samples, width):
    """Return the cost of a feature in a table of two, in the unit of `addition_cost`."""
    return (n_samples + width**2 / _CELLS_PER_SAMPLE) / 2


def _padded_width(n_bins):
    """Return the number of bins, rounded up to a multiple of `_WIDTH_MULTIPLE`."""
    return -(-n_bins // _WIDTH_MULTIPLE) * _WIDTH_MULTIPLE


def _incidence_matrix(cells, n_cells):
    """Return a sparse matrix of the cells of samples, with one column per table.

    Parameters
    ----------
    cells : ndarray of shape (n_tables, n_samples), dtype=int32
        Cell of each sample in each table, numbered through all tables.
    n_cells : int
        Number of cells of a table.

    Returns
    -------
    csc_array of shape (n_tables * n_cells, n_tables)
    """
    matrix = sparse.csc_array((len(cells) * n_cells, len(cells)), dtype=np.float32)
    matrix.indptr = np.arange(len(cells) + 1, dtype=np.int32) * np.int32(cells.shape[1])
    matrix.indices = cells.ravel()
    return matrix


class PrefixSumTables(PairTables):
    """Sums of weights below the thresholds of very many features, such as random projections.

    A point is a pair of a class and a sample, which the class projects in its own way.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_points), dtype=unsigned int
        Number of thresholds below each point, for each feature.
    n_thresholds : int
        Number of thresholds of a feature.

    Examples
    --------
    >>> codes = np.array([[1, 1, 0], [0, 0, 1]], np.uint8)
    >>> points = PrefixSumTables(codes, n_thresholds=1)
    >>> points.below(np.array([-5, 3, 2], np.float32)).tolist()
    [[2.0, -2.0]]
    """

    def __init__(self, codes, n_thresholds):
        super().__init__(codes, n_thresholds + 1)
        self._n_features, self._n_thresholds = len(codes), n_thresholds

    @property
    def additions(self):
        """Largest number of roundings of a weight in a sum below a threshold."""
        return super().additions + self._n_thresholds

    def below(self, weights):
        """Return the sums of the weights below each threshold.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32

        Returns
        -------
        ndarray of shape (n_thresholds, n_features), dtype=float32
        """
        sums, start = np.empty((self._n_thresholds, self._n_features), np.float32), 0
        for bins in self.iter_sums(weights):
            selected_sums = sums[:, start : start + len(bins)]
            # Thresholds are rows, since the caller computes the largest sum of each feature over
            # them.
            selected_sums[:] = bins[: selected_sums.shape[1], 0, : self._n_thresholds].T
            start += len(bins)
        for before, after in pairwise(sums):
            after += before
        return sums
