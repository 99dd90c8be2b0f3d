"""What a search of stumps is for, and which are so near to the best that rounding may decide.

Edges are looked through in the precision that they come in. What is left are few stumps, as a rule
one, among which a search chooses (see `boostbench.core.stumps.ties`).
"""

import numpy as np

from boostbench.core.stumps.layouts.base import UNIT_ROUNDOFF

# No places.
_NO_POSITIONS = np.empty(0, np.int64)

# Columns are looked through in that many slices of rows.
_N_SLICES = 16


class MaxAbsEdge:
    """The largest edges of all stumps and columns."""

    # Roundings between edges and sizes.
    n_roundings = 0

    # Positions that are left out.
    excluded = _NO_POSITIONS

    def scale(self, sums):
        """Give the sum of sizes that rounding is relative to.

        Parameters
        ----------
        sums : ndarray of shape (n_columns,)
            Of the sizes of the weights in each column.

        Returns
        -------
        float
        """
        return float(sums.max(initial=0.0))

    def bound(self, W):
        """Give what the `scale` of weights W does not exceed, in far less time than that."""
        return _cauchy_bound(W, len(W))

    def scores(self, edges):
        """Give the sizes of stumps.

        Parameters
        ----------
        edges : ndarray of shape (n_some, n_columns)
            Overwritten.

        Returns
        -------
        ndarray of shape (n_some, width)
        """
        return np.abs(edges, out=edges)

    def masses(self, W):
        """Bound what each sample can do.

        Adding its weights to edges changes a size by its mass at most.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_samples, width)
        """
        return np.abs(W)

    def exact_scores(self, search, G, positions, columns):
        """Sizes of some stumps in some columns, in double precision."""
        return np.abs(search.exact_edges(G, positions, columns))


class RowCriterion:
    """The largest of sizes that stumps have by their edges in all columns.

    Parameters
    ----------
    size : callable
        Takes edges of shape (n_some, n_columns), which it may overwrite, and returns sizes of shape
        (n_some,).
    mass : callable, default=None
        Takes weights of samples, as `size` takes edges, and bounds what they can do: adding them to
        edges changes the size by no more than their mass. None where that is not known.
    beside : ndarray, dtype=int64
        Positions that are left out; none by default.
    """

    def __init__(self, size, mass=None, excluded=_NO_POSITIONS):
        self._size, self._mass = size, mass
        self.excluded = excluded

    def scores(self, edges):
        """Give the sizes of stumps; as `Entries.sizes`, of width 1."""
        return self._size(edges)[:, None]

    def masses(self, W):
        """Give the masses of samples; as `Entries.masses`."""
        return self._mass(W.copy())[:, None]


class SumAbsEdge(RowCriterion):
    """The largest sums of the sizes of the edges that a stump has in all columns.

    Parameters
    ----------
    n_columns : int
    """

    def __init__(self, n_columns):
        super().__init__(_abs_row_sums, _abs_row_sums)
        self.n_roundings = n_columns

    def scale(self, sums):
        """Give the sum of sizes that rounding is relative to; as `Entries.scale`."""
        return float(sums.sum())

    def bound(self, W):
        """Give what the `scale` of some weights does not exceed; as `Entries.bound`."""
        return _cauchy_bound(W, W.size)

    def exact_scores(self, search, G, positions, columns):
        """Sizes of some stumps, in double precision."""
        return np.abs(search.exact_rows(G, positions)).sum(axis=1)


def near_max(sizes, padding, best_score, tolerance):
    """Find what may be the largest.

    Parameters
    ----------
    sizes : ndarray of shape (n_some, width)
        Overwritten.
    padding : ndarray of shape (n_some,), dtype=bool
        Rows to leave out.
    best_score : float
        Elsewhere.
    tolerance : float
        So much less than the largest is enough.

    Returns
    -------
    largest : float
        Minus infinity where there is none.
    at : int or ndarray of int
        One or several places in all sizes, row by row.
    size : float or ndarray
    """
    flat, width = sizes.ravel(), sizes.shape[1]
    at = int(flat.argmax())
    if padding[at // width] and flat[at] >= best_score - tolerance:
        # What is left out hides the largest of the others.
        sizes[padding] = -np.inf
        at = int(flat.argmax())
    largest = flat[at]
    least = max(best_score, largest) - tolerance
    if not largest >= least > -np.inf:
        return -np.inf, _NO_POSITIONS, _NO_POSITIONS
    # As a rule the second largest is far away.
    flat[at] = -np.inf
    if flat.max() < least:
        return largest, at, largest
    flat[at] = largest
    several = np.flatnonzero(flat >= least)
    several = several[~padding[several // width]]
    return largest, several, flat[several]


def rescale_pow2(G, axis=None):
    """Bring the largest of some weights near to 1 by a power of 2, which keeps their digits.

    Parameters
    ----------
    G : ndarray of shape (n_samples, ...), dtype=float64
    axis : int, default=None
        Along which each has a largest weight of its own; None: one of all.

    Returns
    -------
    ndarray
        Of the shape of `G`.
    """
    _, exponent = np.frexp(np.maximum(G.max(axis=axis), -G.min(axis=axis)))
    return G * np.ldexp(1.0, np.minimum(-exponent, 1000))


def abs_column_sums(W):
    """Add up the sizes of the weights of each column; no less than the exact sums.

    Parameters
    ----------
    W : ndarray of shape (n_samples, n_columns), dtype=float32 or float64

    Returns
    -------
    ndarray of shape (n_columns,), dtype=float64
    """
    sums = np.ones(len(W), W.dtype).dot(np.abs(W))
    return np.float64(1.0 + len(W) * UNIT_ROUNDOFF[W.dtype.type]) * sums


def _cauchy_bound(W, n):
    """What the sizes of n of the weights add up to at most, by Cauchy's inequality."""
    return (n * float(np.vdot(W, W))) ** 0.5 * (1 + W.size * UNIT_ROUNDOFF[W.dtype.type])


def _abs_row_sums(edges):
    np.abs(edges, out=edges)
    # A product with ones sums short rows at BLAS speed; np.sum over a short axis does not.
    return edges @ np.ones(edges.shape[1], edges.dtype)


def near_max_per_column(sizes, best_score, tolerance):
    """Find what may be the largest of each column.

    Parameters
    ----------
    sizes : ndarray of shape (n_rows, n_columns)
        Not negative; -inf where there is no stump.
    best_score : ndarray of shape (n_columns,)
        Elsewhere.
    tolerance : ndarray of shape (n_columns,)
        So much less than the largest is enough.

    Returns
    -------
    row, column : ndarray of int
    size : ndarray
    """
    n_rows = len(sizes)
    # The rows are cut into slices of equal length, whose maximum is taken value by value; then few
    # places are left to look at in all slices.
    length = -(-n_rows // _N_SLICES)
    tops = sizes[:length].copy()
    for start in range(length, n_rows, length):
        rows = sizes[start : start + length]
        np.maximum(tops[: len(rows)], rows, out=tops[: len(rows)])
    least = np.maximum(best_score, tops.max(axis=0)) - tolerance
    row, column = np.nonzero(tops >= least)
    rows = row + np.arange(0, n_rows, length)[:, None]
    inside = rows < n_rows
    values = sizes[np.minimum(rows, n_rows - 1), column]
    at, place = np.nonzero(inside & (values >= least[column]))
    return rows[at, place], column[place], values[at, place]
