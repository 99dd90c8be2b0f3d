"""Selection of the best decision stump of a training set.

The methods of `StumpSearch` differ in the criterion that the selected stump maximises:

=========================  ===============================================================
Method                     Criterion
=========================  ===============================================================
`best`                     absolute edge in one column
`best_sum_abs_edge`        sum of the absolute edges in all columns
`best_per_column`          absolute edge in each column: one stump per column
`best_position`            any function of the edges in all columns
`best_position_excluding`  the same, with a known bound on its changes; excludes positions
=========================  ===============================================================

`best_position_excluding` excludes positions from one search and returns their edges, for a booster
that needs the edges of the selected stumps in each round. `StumpSearchWithExclusion` excludes a
stump from all later searches.

The methods have three steps. `best_position` screens in double precision, so it skips the second:

1. *Screen*: compute the scores of all stumps in the precision that is fastest. A stump is a
   *candidate* if rounding alone could make it the best one.
2. *Evaluate*: compute the scores of the candidates again in double precision. Usually there is only
   one candidate, so that this step is skipped.
3. *Break ties*: if scores differ by rounding only, the first in the canonical order (feature,
   threshold, column) wins, so that the result does not depend on the layout or the processor.

A *position* is a row of the array of edges: it holds a stump, ``search.stump(position)``, or is
*padding* without one (`boostbench.core.stumps.evaluation`). The *stump index* numbers the stumps by
feature, then threshold.

The *scale* of scores is the number that their rounding errors are relative to, such as the largest
sum of the absolute weights of a column. Scores are equal if they differ by at most `TIE_TOLERANCE`
times the scale. The `tolerance` of the screening is this number plus the largest rounding error of
the difference of two scores, which is twice the error of a score.
"""

from typing import NamedTuple

import numpy as np

from boostbench.core.stumps.evaluation import StumpEvaluator, weights_and_total
from boostbench.core.stumps.layouts.sorted import PIECE
from boostbench.core.stumps.screening import (
    AllColumnsCriterion,
    MaxAbsEdge,
    SumAbsEdge,
    abs_column_sums,
    flush_negligible,
    rescale_pow2,
    select_max_candidates,
    select_max_candidates_per_column,
)
from boostbench.core.stumps.stump import Stump
from boostbench.core.weak_learner import TIE_TOLERANCE, SearchResult, argmax_with_tolerance

# Number of edges that `best_per_column` computes at a time, few enough for the cache.
_BLOCK_EDGES = 2**21

# The number of columns that `best_per_column` searches at a time is a multiple of this, so that
# rows are long enough for fast copies and additions.
_BLOCK_COLUMNS = 8

# Number of rows that are compared first, which suffices for most columns that are not
# antisymmetric.
_N_QUICK_CHECK_ROWS = 64

# A score of k edges has at most k (k + _NORM_ROUNDINGS) roundings: up to k sums of k terms, and
# _NORM_ROUNDINGS operations on each sum.
_NORM_ROUNDINGS = 4

# Lowest and highest sum of absolute weights for which neither squares of the weights nor sums of
# edges leave the range of single precision.
_MIN_FLOAT32_SCALE = 2.0**-20
_MAX_FLOAT32_SCALE = 2.0**60

# Below this number of weights times features, single precision saves less time than the evaluation
# of a few candidates takes.
_MIN_FLOAT32_SUMS = 2**20

# Below this many weights, flushing negligible ones to zero costs as much as it saves.
_MIN_FLUSHED = 2**12


class Candidates(NamedTuple):
    """Scores of a screening that are near the best score, with the stump and column of each.

    Attributes
    ----------
    positions : ndarray of shape (n_candidates,), dtype=int64
    columns : ndarray of shape (n_candidates,), dtype=int64
        All 0 if the criterion has one score for all columns.
    scores : ndarray of shape (n_candidates,), dtype=float32 or float64
    """

    positions: np.ndarray
    columns: np.ndarray
    scores: np.ndarray

    def within(self, tolerance):
        """Return the candidates with a score within `tolerance` of the largest one."""
        is_near = self.scores >= self.scores.max() - tolerance
        return Candidates(*(values[is_near] for values in self))


class StumpSearch(StumpEvaluator):
    """Search of the best stump of a training set, for any weights.

    Parameters
    ----------
    X, max_bins, sample_weight
        Parameters of `StumpEvaluator`.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> G = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> result = StumpSearch(X).best(G)
    >>> result.learner, result.column, result.edge
    (Stump(feature=0, threshold=1.5, polarity=1), 0, 4.0)
    """

    def best(self, G):
        """Return the stump and column with the largest absolute edge; see `Search.best`.

        The polarity of the stump makes its edge in the column positive.
        """
        position, column = self._best_position_and_column(G, MaxAbsEdge())
        if position is None:
            return None
        stump, outputs = self._stump_and_outputs(position)
        edge = float(G[:, column] @ outputs)
        if edge < 0:
            stump, outputs, edge = stump._replace(polarity=-1), -outputs, -edge
        return SearchResult(stump, outputs, edge, column)

    def best_sum_abs_edge(self, G):
        """Return the stump with the largest ``sum_c |edge in column c|``.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        SearchResult or None
            The stump has polarity 1, and the `votes` are the signs of its edges. The edge is
            ``sum_i h(x_i) sum_c votes[c] G[i, c]``. None if no feature varies.
        """
        position, _column = self._best_position_and_column(G, SumAbsEdge(G.shape[1]))
        if position is None:
            return None
        stump, outputs = self._stump_and_outputs(position)
        edges = outputs @ G
        votes = np.copysign(1.0, edges)
        # An edge within rounding error of 0 has an arbitrary sign, so its vote is +1. Cauchy's
        # inequality is a quick test for such edges.
        sizes = np.abs(edges)
        if sizes.min() <= TIE_TOLERANCE * (len(G) * np.vdot(G, G)) ** 0.5:
            votes[sizes <= TIE_TOLERANCE * abs_column_sums(G)] = 1.0
        return SearchResult(stump, outputs, float(votes @ edges), votes=votes)

    def best_per_column(self, G):
        """Return the position of the stump with the largest absolute edge in each column.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
            The ratio of the sizes of two columns may exceed the range of single precision.

        Returns
        -------
        ndarray of shape (n_columns,), dtype=int64, or None
            Ties go to the lowest (feature, threshold). None if no feature varies.
        """
        if not self.n_positions:
            return None
        max_columns = _BLOCK_EDGES // min(self.n_positions, PIECE)
        width = max(1, max_columns // _BLOCK_COLUMNS) * _BLOCK_COLUMNS
        positions = np.zeros(G.shape[1], np.int64)
        for start in range(0, G.shape[1], width):
            block = slice(start, start + width)
            positions[block] = self._best_position_per_column(rescale_pow2(G[:, block], axis=0))
        return positions

    def best_position(self, G, score, scale):
        """Return the position of the stump whose edges have the largest score.

        The score may be any function of the edges, even one that amplifies small differences, so
        all edges are computed in double precision.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
        score : callable
            Function of edges of shape (n_selected, n_columns), dtype=float64, which it may
            overwrite. It returns scores of shape (n_selected,).
        scale : float
            Approximate upper bound on the scores. Scores are equal if they differ by at most
            `TIE_TOLERANCE` times `scale`.

        Returns
        -------
        int or None
            Ties go to the lowest (feature, threshold). None if no feature varies.
        """
        if not self.n_positions:
            return None
        chunks = self._iter_edge_slices(*weights_and_total(G, np.float64))
        criterion = AllColumnsCriterion(score)
        candidates = self._collect_candidates(chunks, criterion, TIE_TOLERANCE * scale)
        position, _column = self._first_candidate(candidates)
        return position

    def best_position_excluding(self, G, score, change_bound, scale, excluded):
        """Return the position of the stump with the largest score, without the excluded ones.

        Like `best_position`, for scores that change by at most `change_bound(w)` if w is added to
        the edges; this permits screening in single precision.

        Parameters
        ----------
        G, scale
            Parameters of `best_position`.
        score : callable
            Function of edges, as for `best_position`, in single or double precision.
        change_bound : callable
            Function of weights of shape (n_selected, n_columns) that returns bounds of shape
            (n_selected,): adding the weights to edges changes the score by no more than the bound.
            It is a norm that does not decrease if the sizes of weights increase.
        excluded : ndarray of shape (n_excluded,), dtype=int64
            Positions to exclude: their edges are replaced by 0.

        Returns
        -------
        position : int
        excluded_edges : ndarray of shape (n_excluded, n_columns)
        error_bound : ndarray of shape (n_columns,)
            Bound of the rounding errors of the `excluded_edges`.
            If no feature varies, the result is None instead of the three values.
        """
        if not self.n_positions:
            return None
        layout, abs_sums = self._screening_layout(G.shape[1]), abs_column_sums(G)
        tie_tolerance = tolerance = TIE_TOLERANCE * scale
        # 1) Screen in single precision if that saves time. The score may square the edges.
        is_large = G.size * self.X.shape[1] >= _MIN_FLOAT32_SUMS
        is_in_range = _MIN_FLOAT32_SCALE < abs_sums.max() < _MAX_FLOAT32_SCALE
        dtype = layout.dtype if is_large and is_in_range else np.float64
        if dtype is np.float32:
            # The error of an edge is at most `error_bound` times the absolute sum of its column, so
            # that the change of a score is at most `error_bound` times `max_change`.
            n_roundings = len(abs_sums) * (len(abs_sums) + _NORM_ROUNDINGS)
            max_change = float(change_bound(abs_sums[None].copy())[0])
            tolerance = tie_tolerance + 2 * layout.error_bound(dtype, n_roundings) * max_change
        criterion = AllColumnsCriterion(score, change_bound, excluded)
        chunks = layout.iter_candidates(*weights_and_total(G, dtype), tolerance, criterion)
        excluded_edges = np.empty((len(excluded), len(abs_sums)))
        chunks = _zero_excluded_edges(chunks, excluded, excluded_edges)
        candidates = self._collect_candidates(chunks, criterion, tolerance)
        # 2) Evaluate the candidates in double precision.
        if dtype is np.float32 and len(candidates.scores) > 1:
            scores = score(self.exact_edges_all_columns(G, candidates.positions))
            candidates = candidates._replace(scores=scores).within(tie_tolerance)
        # 3) Break ties.
        position, _column = self._first_candidate(candidates)
        error_bound = layout.error_bound(dtype) * abs_sums
        return None if position is None else (position, excluded_edges, error_bound)

    def _best_position_and_column(self, G, criterion):
        """Return the position and column of the best score; both None if no feature varies."""
        if not self.n_positions:
            return None, None
        if G.shape[1] == 2 and _is_antisymmetric(G):
            # The second column has the negative edges of the first.
            G = G[:, :1]
        # 1) Screen. W contains the weights in the precision of the screening, and `total` the sums
        #    of its columns. The weights must be in the range of single precision: their absolute
        #    sum is infinite if one of them overflows. `scale_bound` is an upper bound of the scale
        #    that takes less time to compute.
        layout = self._screening_layout(G.shape[1])
        dtype = layout.dtype
        with np.errstate(over="ignore"):
            W, total = weights_and_total(G, dtype)
        scale_bound = criterion.scale_bound(W)
        if not _MIN_FLOAT32_SCALE < scale_bound < _MAX_FLOAT32_SCALE:
            G = rescale_pow2(G)
            W, total = weights_and_total(G, dtype)
            scale_bound = criterion.scale_bound(W)
        if dtype is np.float32 and W.size >= _MIN_FLUSHED:
            W = flush_negligible(W, scale_bound)
        relative_tolerance = 2 * layout.error_bound(dtype, criterion.n_roundings) + TIE_TOLERANCE
        tolerance = relative_tolerance * scale_bound
        chunks = layout.iter_candidates(W, total, tolerance, criterion)
        candidates = self._collect_candidates(chunks, criterion, tolerance)
        if len(candidates.scores) > 1:
            # The bound may exceed the scale by far. Computing the scale takes less time than
            # evaluating the candidates that it rejects.
            scale = criterion.scale(abs_column_sums(W))
            candidates = candidates.within(relative_tolerance * scale)
            # 2) Evaluate the candidates in double precision.
            if dtype is np.float32 and len(candidates.scores) > 1:
                scores = criterion.exact_scores(self, G, candidates.positions, candidates.columns)
                candidates = candidates._replace(scores=scores)
            candidates = candidates.within(TIE_TOLERANCE * scale)
        # 3) Break ties.
        return self._first_candidate(candidates)

    def _best_position_per_column(self, G):
        """Return the position of the best stump of each column of weights of similar sizes.

        The local arrays `positions`, `columns` and `scores` have one entry for each candidate.
        """
        # 1) Screen.
        layout = self._layout.layout_for_columns(G.shape[1])
        W, total = weights_and_total(G, layout.dtype)
        scale = abs_column_sums(W)
        tolerance = (2 * layout.error_bound(layout.dtype) + TIE_TOLERANCE) * scale
        best_scores, parts = np.full(G.shape[1], -np.inf), []
        for chunk, edges in layout.iter_edge_slices(W, total):
            abs_edges = np.abs(edges, out=edges)
            abs_edges[self.is_padding[chunk]] = -np.inf
            rows, columns, scores = select_max_candidates_per_column(
                abs_edges, best_scores, tolerance
            )
            np.maximum.at(best_scores, columns, scores)
            parts.append((chunk.start + rows, columns, scores))
        positions, columns, scores = map(np.concatenate, zip(*parts, strict=True))
        near = np.flatnonzero(scores >= (best_scores - tolerance)[columns])
        # Sort the candidates by column, and the candidates of a column in the canonical order. From
        # here on, `columns` is ascending.
        near = near[np.lexsort([self._stump_indices_at(positions[near]), columns[near]])]
        positions, columns, scores = positions[near], columns[near], scores[near].astype(float)
        # 2) Evaluate the candidates of columns with more than one candidate.
        if layout.dtype is np.float32:
            rivals = np.flatnonzero(np.bincount(columns)[columns] > 1)
            scores[rivals] = np.abs(self.exact_edges(G, positions[rivals], columns[rivals]))
        # 3) Break ties. Each column has at least one candidate, so that `reduceat` returns the
        #    maximum of each column.
        first_of_column = np.searchsorted(columns, np.arange(G.shape[1]))
        best_scores = np.maximum.reduceat(scores, first_of_column)
        equal = np.flatnonzero(scores >= (best_scores - TIE_TOLERANCE * scale)[columns])
        _, first_equal = np.unique(columns[equal], return_index=True)
        return positions[equal[first_equal]]

    def _screening_layout(self, n_columns):
        """Return the layout that finds the largest edges fastest."""
        return self._layout.screening_layout(n_columns)

    def _collect_candidates(self, chunks, criterion, tolerance):
        """Return the `Candidates`, with a score within `tolerance` of the largest one.

        Parameters
        ----------
        chunks : iterable of (slice or ndarray, ndarray)
            Positions and their edges.
        criterion : MaxAbsEdge, AllColumnsCriterion or SumAbsEdge
        tolerance : float
            Tolerance of the screening; see the module.
        """
        # 1) Collect the scores of each chunk near the best score so far.
        best_score, parts = -np.inf, []
        for positions, edges in chunks:
            chunk_scores = criterion.scores(edges)
            largest, flat_indices, scores = select_max_candidates(
                chunk_scores, self._is_padding_at(positions), best_score, tolerance
            )
            if largest > -np.inf:
                best_score = max(best_score, largest)
                rows, columns = np.divmod(np.atleast_1d(flat_indices), chunk_scores.shape[1])
                rows = positions.start + rows if isinstance(positions, slice) else positions[rows]
                parts.append(Candidates(rows, columns, np.atleast_1d(scores)))
        # 2) Keep the collected scores near the best score of all chunks.
        if not parts:
            return Candidates(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        if len(parts) == 1:
            return parts[0]
        return Candidates(*map(np.concatenate, zip(*parts, strict=True))).within(tolerance)

    def _first_candidate(self, candidates):
        """Return the position and column of the first candidate in the canonical order.

        Both are None if there are no candidates.
        """
        positions, columns, _scores = candidates
        if len(positions) == 0:
            return None, None
        if len(positions) == 1:
            return int(positions[0]), int(columns[0])
        first = np.lexsort([columns, self._stump_indices_at(positions)])[0]
        return int(positions[first]), int(columns[first])

    def _stump_indices_at(self, positions):
        """Return the stump index at each of the positions.

        Unlike `stump_index`, this does not compute the array of all positions.
        """
        return self._layout.feature_and_stump_at(positions)[1]


def _zero_excluded_edges(chunks, excluded, excluded_edges):
    """Set the edges at the excluded positions to 0, and yield the chunks.

    Parameters
    ----------
    chunks : iterable
        Pairs of positions, a slice or an array, and their edges. The edges are overwritten.
    excluded : ndarray of shape (n_excluded,), dtype=int64
    excluded_edges : ndarray of shape (n_excluded, n_columns)
        Receives the edges at the excluded positions.
    """
    for positions, edges in chunks:
        if isinstance(positions, slice):
            is_here = (excluded >= positions.start) & (excluded < positions.stop)
            rows = excluded[is_here] - positions.start
        else:
            _, is_here, rows = np.intersect1d(excluded, positions, return_indices=True)
        excluded_edges[is_here] = edges[rows]
        edges[rows] = 0.0
        yield positions, edges


def _is_antisymmetric(G):
    """Return True if the first of two columns is minus the second."""
    # A sum of two numbers is 0 only if one is minus the other. A product is several times as fast
    # as a comparison of columns that are not contiguous.
    return not any(
        (G[rows] @ np.ones(2)).any() for rows in (slice(_N_QUICK_CHECK_ROWS), slice(None))
    )


class StumpSearchWithExclusion(StumpSearch):
    """Search of the stumps of a training set that are not excluded.

    If every round fits all coefficients again, the edge of a selected stump is proportional to its
    coefficient, and not 0. Without exclusion, the stump could be selected again in vain.

    Parameters
    ----------
    X, max_bins, sample_weight
        Parameters of `StumpEvaluator`.

    Examples
    --------
    >>> X, G = np.array([[0.0], [1.0], [2.0]]), np.array([[-1.0], [1.0], [1.0]])
    >>> search = StumpSearchWithExclusion(X)
    >>> search.exclude(search.best(G).learner)
    >>> search.best(G).learner
    Stump(feature=0, threshold=1.5, polarity=1)
    >>> search.exclude(search.best(G).learner)
    >>> search.best(G) is None
    True
    """

    learner_type = Stump

    def exclude(self, stump):
        """Exclude a stump from later searches."""
        # The stump becomes padding at all its positions.
        same_threshold = np.flatnonzero(self.threshold == stump.threshold)
        positions = same_threshold[self.feature[same_threshold] == stump.feature]
        self.is_padding[positions] = True

    def _screening_layout(self, n_columns):
        # A layout for screening would skip stumps below the largest edge of an excluded stump.
        return self._layout.layout_for_columns(n_columns)


class ConstantFallbackSearch:
    """Search of stumps and of the constant weak learner.

    A sum of stumps with outputs -1 and +1 has no offset; the constant weak learner provides it.

    Parameters
    ----------
    search : StumpSearch or CategorySetSearch

    Examples
    --------
    >>> search = ConstantFallbackSearch(StumpSearch(np.array([[0.0], [1.0], [2.0]])))
    >>> search.best(np.array([[1.0], [-0.5], [1.0]])).learner
    Stump(feature=0, threshold=inf, polarity=-1)
    """

    def __init__(self, search):
        self.X = search.X
        self._search = search

    def best(self, G):
        """Return the weak learner with the largest absolute edge; stumps win ties. Never None."""
        result = self._search.best(G)
        totals = G.sum(axis=0)
        scale = float(abs_column_sums(G).max())
        column = int(argmax_with_tolerance(np.abs(totals), scale))
        edge = abs(float(totals[column]))
        if result is not None and result.edge >= edge - TIE_TOLERANCE * scale:
            return result
        sign = 1 if totals[column] >= 0 else -1
        outputs = np.full(len(G), float(sign))
        return SearchResult(Stump(0, np.inf, -sign), outputs, edge, column)
