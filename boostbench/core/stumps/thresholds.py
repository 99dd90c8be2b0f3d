"""Thresholds of features, all or at the quantiles, and the bins of values.

The time is in proportion to the number of samples. Quantiles are located by the counts of the cells
of a grid, and only the cells that contain a quantile are sorted. To find its bin, a value is
compared with the few thresholds in its cell of another grid, or with all thresholds if there are
few.
"""

import numpy as np

# Fraction of a gap by which thresholds on projected values lie above its middle.
_OFFSET = 2.0**-20

# Below this many values, sorting and binary search are faster than grids.
_MIN_VALUES = 2**14

# Number of cells of the grid that locates quantiles. Cells of a few values make sorting them cheap.
_N_CELLS = 2**14

# Number of cells of the grid that locates the thresholds below a value; the counts of all cells
# stay in the first-level cache.
_N_THRESHOLD_CELLS = 2**12

# A grid saves no time if the cells of the quantiles contain more than this fraction of all values.
_MAX_SORTED_PART = 0.25

# A grid saves no time if one cell contains more than this number of thresholds.
_MAX_PER_CELL = 4

# Up to this many thresholds, a value is compared with all of them.
_MAX_COMPARED = 32

# Number of values that stay in the cache during several passes.
_BLOCK_VALUES = 2**13

# Features that are copied from rows at a time: one cache line.
_BLOCK_FEATURES = 8


def find_thresholds(values, max_bins=None, weights=None):
    """Return the midpoints between consecutive distinct values, all or those at the quantiles.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
    max_bins : int or None, default=None
        Largest number of bins: at most ``max_bins - 1`` thresholds. None keeps all midpoints.
    weights : ndarray of shape (n_values,), default=None
        Counts of the values in the quantiles. None means one for each.

    Returns
    -------
    ndarray of shape (n_thresholds,), dtype=float64
        Ascending. Each is at least the value below it and less than the one above it.

    Examples
    --------
    >>> find_thresholds(np.array([3.0, 0.0, 1.0, 1.0]))
    array([0.5, 2. ])
    >>> find_thresholds(np.arange(9.0), max_bins=3)
    array([2.5, 5.5])
    """
    # 1) Avoid sorting many values if only the quantiles are needed.
    if max_bins is not None and weights is None and len(values) >= _MIN_VALUES:
        thresholds = _thresholds_by_grid(values, max_bins)
        if thresholds is not None:
            return thresholds
    # 2) Compute all midpoints.
    distinct, counts = np.unique(values, return_counts=True)
    midpoints = midpoint(distinct[:-1], distinct[1:])
    if max_bins is None or len(distinct) <= max_bins:
        return midpoints
    # 3) Select the midpoint above the value at each quantile. `ranks` has the number, or the sum of
    #    the weights, of the values up to each quantile.
    if weights is None:
        ranks = _quantile_ranks(len(values), max_bins)
    else:
        counts = np.bincount(np.searchsorted(distinct, values), weights)
        # Rounding errors may move a sum of weights below a quantile that it equals. Lower the ranks
        # by more than these errors: each addition has at most eps / 2, relative to the sum.
        rounding = len(values) * 2.0**-52
        ranks = counts.sum() * (np.arange(1, max_bins) / max_bins - rounding)
    indices = np.searchsorted(np.cumsum(counts)[:-1], ranks)
    return midpoints[np.unique(indices.clip(0, len(midpoints) - 1))]


def _thresholds_by_grid(values, max_bins):
    """Return the thresholds at the quantiles without sorting all values.

    Return None if that saves no time, or if two quantiles may have the same threshold.
    """
    # 1) Count the values in the cells of a regular grid.
    n_values = len(values)
    cells = _grid_cells(values, values.min(), values.max(), _N_CELLS)
    if cells is None or n_values < max_bins:
        return None
    counts = np.bincount(cells, minlength=_N_CELLS)
    cumulative_counts = np.cumsum(counts)
    # 2) Find the cells of the last value below each threshold and of the first value above it, by
    #    the ranks of these values, which begin at 0.
    rank_below = _quantile_ranks(n_values, max_bins) - 1
    rank_above = rank_below + 1
    low_cell, high_cell = (
        np.searchsorted(cumulative_counts, rank, "right") for rank in (rank_below, rank_above)
    )
    is_needed = np.zeros(_N_CELLS, bool)
    is_needed[low_cell] = is_needed[high_cell] = True
    needed_counts = np.where(is_needed, counts, 0)
    if needed_counts.sum() > _MAX_SORTED_PART * n_values:
        return None
    # 3) Sort the values in these cells. The rank of a value among them is its rank among all
    #    values, less the number of values in the skipped cells before its own cell: the values in
    #    all earlier cells, less the values in the needed ones of these.
    candidates = np.sort(values[is_needed.take(cells)])
    n_before = cumulative_counts - counts
    n_needed_before = np.cumsum(needed_counts) - needed_counts
    n_skipped = n_before - n_needed_before
    low, high = (
        candidates[rank_below - n_skipped[low_cell]],
        candidates[rank_above - n_skipped[high_cell]],
    )
    # Equal values cannot be separated: their threshold needs the exact method.
    return midpoint(low, high) if (low < high).all() else None


def _quantile_ranks(n_values, max_bins):
    """Return the number of values at or below each quantile, rounded up."""
    return -(-n_values * np.arange(1, max_bins) // max_bins)


def bin_indices(values, thresholds):
    """Return the number of thresholds below each value.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
    thresholds : ndarray of shape (n_thresholds,)
        Ascending.

    Returns
    -------
    ndarray of shape (n_values,), dtype=smallest sufficient unsigned int

    Examples
    --------
    >>> bin_indices(np.array([3.0, 0.5, 1.0]), np.array([0.5, 2.0]))
    array([2, 0, 1], dtype=uint8)
    """
    dtype = np.min_scalar_type(len(thresholds))
    indices = np.empty(len(values), dtype)
    # 1) With few thresholds, count the thresholds that are not below a value, and subtract their
    #    number from the number of all thresholds.
    if len(thresholds) <= _MAX_COMPARED:
        for start in range(0, len(values), _BLOCK_VALUES):
            block = slice(start, start + _BLOCK_VALUES)
            np.add.reduce(
                values[block] <= thresholds[:, None], axis=0, dtype=dtype, out=indices[block]
            )
        return np.subtract(len(thresholds), indices, out=indices)
    # 2) With few values, or many thresholds close together, use a binary search.
    if len(values) < _MIN_VALUES:
        return np.searchsorted(thresholds, values).astype(dtype)
    threshold_cells = _grid_cells(thresholds, thresholds[0], thresholds[-1], _N_THRESHOLD_CELLS)
    max_per_cell = (
        _MAX_PER_CELL + 1 if threshold_cells is None else np.bincount(threshold_cells).max()
    )
    if max_per_cell > _MAX_PER_CELL:
        return np.searchsorted(thresholds, values).astype(dtype)
    # 3) Locate each value in a regular grid. All thresholds in the cells before its cell are below
    #    it; compare it with the few thresholds in its own cell.
    cells = np.arange(_N_THRESHOLD_CELLS)
    n_thresholds_before = np.searchsorted(threshold_cells, cells).astype(dtype)
    next_threshold = np.append(thresholds, np.inf)
    for start in range(0, len(values), _BLOCK_VALUES):
        block = values[start : start + _BLOCK_VALUES]
        cells = _grid_cells(block, thresholds[0], thresholds[-1], _N_THRESHOLD_CELLS)
        bin_index = n_thresholds_before.take(cells)
        # Go up by one threshold while the value is above the next one.
        for _ in range(max_per_cell):
            bin_index += block > next_threshold.take(bin_index)
        indices[start : start + _BLOCK_VALUES] = bin_index
    return indices


def argsort_with_values(values):
    """Return the order that sorts values, and the sorted values, in half of the time of `argsort`.

    Parameters
    ----------
    values : ndarray of shape (n_values,), dtype=float64
        Values without NaN.

    Returns
    -------
    order : ndarray of shape (n_values,), dtype=int64
    values : ndarray of shape (n_values,)
        Sorted values.

    Examples
    --------
    >>> argsort_with_values(np.array([2.0, -1.0, 0.5]))
    (array([1, 2, 0]), array([-1. ,  0.5,  2. ]))
    """
    bits = values.view(np.int64)
    # The bits of a positive number, read as an integer, grow with the number; the bits except the
    # sign of a negative number grow with its size. If these are inverted in negative numbers, the
    # integers have the order of the values. The index of a value replaces its lowest bits, so that
    # the sorted integers contain the order.
    keys = bits >> 63
    keys &= np.iinfo(np.int64).max
    keys ^= bits
    index_mask = 2 ** len(values).bit_length() - 1
    keys &= ~index_mask
    keys |= np.arange(len(values))
    keys.sort()
    keys &= index_mask
    values = values[keys]
    if (values[:-1] > values[1:]).any():
        # Some values have the same leading bits. A stable sort of nearly sorted values is fast.
        order = values.argsort(kind="stable")
        return keys[order], values[order]
    return keys, values


def iter_columns(X):
    """Yield the columns of a matrix as contiguous arrays; the next column may overwrite one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Yields
    ------
    ndarray of shape (n_samples,)
    """
    if X.flags.f_contiguous:
        yield from X.T
        return
    # One buffer serves all columns, since allocating memory costs more than the copy.
    copies = np.empty((min(_BLOCK_FEATURES, X.shape[1]), len(X)))
    for first in range(0, X.shape[1], _BLOCK_FEATURES):
        block = copies[: X.shape[1] - first]
        for start in range(0, len(X), _BLOCK_VALUES):
            rows = slice(start, start + _BLOCK_VALUES)
            block[:, rows] = X[rows, first : first + _BLOCK_FEATURES].T
        yield from block


def _grid_cells(values, low, high, n_cells):
    """Return the cell of each value in a regular grid, or None if the range is degenerate."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = (n_cells - 1) / (high - low)
    if not 0 < scale < np.inf or not np.isfinite(low):
        return None
    cells = np.empty(len(values), np.int16 if n_cells <= 2**15 else np.int64)
    for start in range(0, len(values), _BLOCK_VALUES):
        block = values[start : start + _BLOCK_VALUES].clip(low, high)
        block -= low
        block *= scale
        # The assignment to an integer array rounds down.
        cells[start : start + _BLOCK_VALUES] = block
    return cells


def midpoint(low, high):
    """Return thresholds between neighbouring values of a feature.

    Parameters
    ----------
    low, high : ndarray or float
        ``low < high``.

    Returns
    -------
    ndarray or float
        At least `low` and less than `high`: ``value > threshold`` separates the values, even if
        they are neighbouring doubles.

    Examples
    --------
    >>> print(midpoint(np.array([0.0, 1e308]), np.array([1.0, 1.7e308])))
    [5.00e-001 1.35e+308]
    """
    # The sum of the values may overflow. The middle of neighbouring doubles may round to the upper
    # one.
    middle = low / 2 + high / 2
    return np.where((low <= middle) & (middle < high), middle, low)


def above_middle(low, high):
    """Return thresholds between projected values, a millionth of the gap above its middle.

    In data on a grid, a third sample may lie in the middle, and the last digit of its projection
    would determine its side. The offset puts it below the threshold, as for features.

    Parameters
    ----------
    low, high : ndarray or float
        Values that differ by more than rounding errors.

    Returns
    -------
    ndarray or float

    Examples
    --------
    >>> float(above_middle(0.0, 2.0**20))
    524289.0
    """
    return low * (0.5 - _OFFSET) + high * (0.5 + _OFFSET)
