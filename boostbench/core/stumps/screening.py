"""Criteria of the stump search, weights in single precision, and the selection of candidates.

`boostbench.core.stumps.search` *screens* all stumps: it computes their scores in the precision that
is fastest. A *candidate* is a stump whose screened score is within rounding error of the best
score. Usually there is one; ties are broken by the rule of `boostbench.core.weak_learner`.

A *criterion* turns the edges of stumps, of shape (n_stumps, n_columns), into scores of shape
(n_stumps, width): one score for each column, or one for all columns.
"""

import numpy as np

from boostbench.core.stumps.layouts.layout import UNIT_ROUNDOFF

# Empty array of positions.
_NO_POSITIONS = np.empty(0, np.int64)

# Number of slices of rows in `select_max_candidates_per_column`: one pass over the rows leaves a
# sixteenth of them to be searched for large scores.
_N_SLICES = 16

# Weights below this fraction of the largest are negligible: their sum is less than its rounding
# error. If boosting separates the training data, most weights are far smaller, and processors add
# subnormal numbers ten to a hundred times as slowly.
_NEGLIGIBLE = 2.0**-64


class MaxAbsEdge:
    """Criterion of the largest absolute edge over all stumps and columns.

    Attributes
    ----------
    n_roundings : int
        Number of roundings between edges and scores.
    excluded : ndarray of shape (n_excluded,), dtype=int64
        Positions that the search excludes.
    """

    # A score has the same digits as an edge.
    n_roundings = 0

    # The default excludes no position from the search.
    excluded = _NO_POSITIONS

    def scale(self, sums):
        """Return the sum of absolute weights that rounding errors are relative to.

        Parameters
        ----------
        sums : ndarray of shape (n_columns,)
            Sum of the absolute weights of each column.

        Returns
        -------
        float
        """
        return float(sums.max(initial=0.0))

    def scale_bound(self, W):
        """Return an upper bound on the `scale` of weights W, which takes less time to compute."""
        return _cauchy_bound(W, len(W))

    def scores(self, edges):
        """Return the scores of stumps.

        Parameters
        ----------
        edges : ndarray of shape (n_stumps, n_columns)
            Overwritten.

        Returns
        -------
        ndarray of shape (n_stumps, width)
        """
        return np.abs(edges, out=edges)

    def change_bounds(self, W):
        """Return a bound of the change of a score by the weights of each sample.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_samples, width)
        """
        return np.abs(W)

    def exact_scores(self, search, G, positions, columns):
        """Return scores in double precision, of shape (n_selected,).

        `search` is the `StumpEvaluator` that calls, for weights G of shape (n_samples, n_columns);
        `positions` and `columns` are the stump and the column of each score.
        """
        return np.abs(search.exact_edges(G, positions, columns))


class AllColumnsCriterion:
    """Criterion of the largest score, a function of the edges of a stump in all columns.

    It is for searches that get the scale of the scores from their caller, and therefore has neither
    `scale` nor `scale_bound` nor `exact_scores`; `SumAbsEdge` adds them.

    Parameters
    ----------
    score : callable
        Function of edges of shape (n_stumps, n_columns), which it may overwrite. It returns scores
        of shape (n_stumps,).
    change_bound : callable, default=None
        Function of weights of shape (n_samples, n_columns) that returns bounds of shape
        (n_samples,): adding the weights of a sample to edges changes the score by no more than its
        bound. None if no bound is known.
    excluded : ndarray, dtype=int64
        Positions that the search excludes; none by default.
    """

    def __init__(self, score, change_bound=None, excluded=_NO_POSITIONS):
        self._score, self._change_bound = score, change_bound
        self.excluded = excluded

    def scores(self, edges):
        """Return the scores of stumps; see `MaxAbsEdge.scores`. The width is 1."""
        return self._score(edges)[:, None]

    def change_bounds(self, W):
        """Return bounds of the changes of scores; see `MaxAbsEdge.change_bounds`."""
        return self._change_bound(W.copy())[:, None]


class SumAbsEdge(AllColumnsCriterion):
    """Criterion of the largest sum of the absolute edges of a stump in all columns.

    Parameters
    ----------
    n_columns : int
    """

    def __init__(self, n_columns):
        super().__init__(_abs_row_sums, _abs_row_sums)
        self.n_roundings = n_columns

    def scale(self, sums):
        """Return the sum that rounding errors are relative to; see `MaxAbsEdge.scale`."""
        return float(sums.sum())

    def scale_bound(self, W):
        """Return an upper bound on the `scale` of all W; see `MaxAbsEdge.scale_bound`."""
        return _cauchy_bound(W, W.size)

    def exact_scores(self, search, G, positions, columns):
        """Return the scores of selected stumps, in double precision."""
        return np.abs(search.exact_edges_all_columns(G, positions)).sum(axis=1)


def select_max_candidates(scores, is_padding, best_score, tolerance):
    """Return the scores within `tolerance` of the largest one.

    Parameters
    ----------
    scores : ndarray of shape (n_stumps, width)
        Overwritten.
    is_padding : ndarray of shape (n_stumps,), dtype=bool
        Rows that hold no stump.
    best_score : float
        Largest score of the chunks that were searched before.
    tolerance : float
        Upper bound on the rounding error of the difference of two scores.

    Returns
    -------
    largest : float
        Largest score of this chunk; minus infinity if no score is near `best_score`.
    indices : int or ndarray of int
        Flat indices into `scores`, ``row * width + column``; an int if there is only one.
    near_scores : float or ndarray
        Scores at these indices.
    """
    # 1) Find the largest score of a stump.
    flat, width = scores.ravel(), scores.shape[1]
    first = int(flat.argmax())
    if is_padding[first // width] and flat[first] >= best_score - tolerance:
        # The score of a padding row hides the largest score of a stump.
        scores[is_padding] = -np.inf
        first = int(flat.argmax())
    largest = flat[first]
    min_score = max(best_score, largest) - tolerance
    if not largest >= min_score > -np.inf:
        return -np.inf, _NO_POSITIONS, _NO_POSITIONS
    # 2) Find the scores near it. Usually the second largest score is not near.
    flat[first] = -np.inf
    if flat.max() < min_score:
        return largest, first, largest
    flat[first] = largest
    indices = np.flatnonzero(flat >= min_score)
    indices = indices[~is_padding[indices // width]]
    return largest, indices, flat[indices]


def round_to_float32(G):
    """Convert weights to single precision.

    Parameters
    ----------
    G : ndarray of any shape
        Weights, the largest of which is well within the range of single precision.

    Returns
    -------
    ndarray of the same shape, dtype=float32
        In C order. Weights that are negligible beside the largest are 0.

    Examples
    --------
    >>> round_to_float32(np.array([-1.0, 1e-30]))
    array([-1.,  0.], dtype=float32)
    """
    W = np.ascontiguousarray(G, np.float32)
    return flush_negligible(W, max(W.max(initial=0.0), -W.min(initial=0.0)))


def flush_negligible(W, scale):
    """Set weights that are negligible beside `scale` to 0.

    Parameters
    ----------
    W : ndarray of any shape, dtype=float32
    scale : float
        Upper bound on the absolute weights.

    Returns
    -------
    ndarray of the same shape, dtype=float32
    """
    sizes, smallest = np.abs(W), np.float32(_NEGLIGIBLE * scale)
    # The product takes most of the time, and usually no weight is negligible.
    if sizes.min(initial=np.inf) >= smallest:
        return W
    return W * (sizes >= smallest)


def rescale_pow2(G, axis=None):
    """Multiply weights by the power of 2 that moves the largest near to 1, without rounding.

    Parameters
    ----------
    G : ndarray of shape (n_samples, ...), dtype=float64
    axis : int, default=None
        Axis along which the largest weight is determined. None means all axes.

    Returns
    -------
    ndarray
        Same shape as `G`.
    """
    _, exponent = np.frexp(np.maximum(G.max(axis=axis), -G.min(axis=axis)))
    return G * np.ldexp(1.0, np.minimum(-exponent, 1000))


def abs_column_sums(W):
    """Return the sums of absolute weights of each column, no less than the exact sums.

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
    """Return a bound on the sum of n absolute weights, by Cauchy's inequality."""
    return (n * float(np.vdot(W, W))) ** 0.5 * (1 + W.size * UNIT_ROUNDOFF[W.dtype.type])


def _abs_row_sums(edges):
    """Return the sum of the absolute edges in each row; the edges are overwritten."""
    np.abs(edges, out=edges)
    # A product with ones sums short rows at BLAS speed; np.sum over a short axis does not.
    return edges @ np.ones(edges.shape[1], edges.dtype)


def select_max_candidates_per_column(scores, best_score, tolerance):
    """Return the scores within `tolerance` of the largest score of their column.

    Parameters
    ----------
    scores : ndarray of shape (n_stumps, n_columns)
        Not negative; minus infinity in padding rows.
    best_score : ndarray of shape (n_columns,)
        Largest scores of the chunks that were searched before.
    tolerance : ndarray of shape (n_columns,)
        Upper bounds on the rounding errors of differences of two scores.

    Returns
    -------
    row, column : ndarray of int
    near_scores : ndarray
    """
    n_rows = len(scores)
    # 1) Compute the elementwise maximum of slices of equal length.
    length = -(-n_rows // _N_SLICES)
    slice_max = scores[:length].copy()
    for start in range(length, n_rows, length):
        rows = scores[start : start + length]
        np.maximum(slice_max[: len(rows)], rows, out=slice_max[: len(rows)])
    min_score = np.maximum(best_score, slice_max.max(axis=0)) - tolerance
    # 2) Search all slices where the maximum is near the largest score: ``rows[k, m]`` is the row in
    #    slice k that belongs to large maximum m. The last slice may be shorter.
    row, column = np.nonzero(slice_max >= min_score)
    rows = row + np.arange(0, n_rows, length)[:, None]
    values = scores[np.minimum(rows, n_rows - 1), column]
    slice_index, index = np.nonzero((rows < n_rows) & (values >= min_score[column]))
    return rows[slice_index, index], column[index], values[slice_index, index]
