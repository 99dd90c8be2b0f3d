"""Search for the best decision stump: features x thresholds x columns, the hot loop of everything.

A stump is ``h(x) = +1 if x[feature] > threshold else -1``. For a weight matrix ``G`` of shape
(n_samples, n_columns) its edge in column ``c`` is ``sum_i G[i, c] h(x_i)``: the column total less
twice the sum of ``G`` below the threshold. A search scores every stump of a training set against
every column at once, and is built once per fit.

`StumpSearch` is what the algorithms use; how the sums below the thresholds come about is in
`boostbench.core.stumps.layouts.choice`.
"""

from functools import cached_property

import numpy as np
from scipy import sparse

from boostbench.core.stumps.feature_codes import FeatureCodes
from boostbench.core.stumps.float32 import flush_negligible
from boostbench.core.stumps.layouts.base import UNIT_ROUNDOFF
from boostbench.core.stumps.layouts.choice import choose_layout, try_sorted_layout
from boostbench.core.stumps.layouts.joint_histogram import JointHistogram
from boostbench.core.stumps.layouts.sorted import PIECE
from boostbench.core.stumps.layouts.sparse import SparseBins, SparseFeatures
from boostbench.core.stumps.screening import (
    MaxAbsEdge,
    RowCriterion,
    SumAbsEdge,
    abs_column_sums,
    near_max,
    near_max_per_column,
    rescale_pow2,
)
from boostbench.core.stumps.stump import BLOCK_OUTPUTS, Stump
from boostbench.core.stumps.thresholds import bin_indices, find_thresholds, iter_columns
from boostbench.core.stumps.ties import TIE_TOLERANCE, argmax_with_tolerance
from boostbench.core.stumps.views import ViewedFeatures
from boostbench.core.weak_learner import SearchResult

# `best_each` searches that many edges at a time (a block of columns), so that they stay in the
# cache, but in rows long enough to copy and add up fast.
_BLOCK_EDGES = 2**21
_BLOCK_COLUMNS = 8

# No positions.
_NONE = np.empty(0, np.int64)

# So many stumps beside one for each feature are evaluated again one by one, more by another search.
_FEW_EXACT = 32

# Features of no more values than that are copied together.
_COPIED_VALUES = 2**20

# Columns that are not mirrored differ in so many rows, as a rule.
_FEW_ROWS = 64

# A size by the edges of k columns has no more than k (k + _MORE) roundings: that of mixed norms has
# k sums of up to k terms.
_MORE = 4

# Of sums of that size neither squares of the weights nor sums of edges leave the range of single
# precision.
_RANGE = 2.0**-20, 2.0**60

# With fewer weights to add up, in all features, single precision saves less time than it takes to
# evaluate a few stumps again.
_MANY_SUMS = 2**20

# Of fewer weights the search takes hardly longer than to look for those that add up to nothing.
_MANY_WEIGHTS = 2**12


class StumpSearch:
    """All stumps of a training set, ready to be scored against any weights.

    Parameters
    ----------
    X : ndarray, sparse matrix or ViewedFeatures of shape (n_samples, n_features)
        Training data.
    max_bins : int or None, default=None
        None keeps every threshold: the midpoints between consecutive distinct values of a feature.
        An integer keeps at most ``max_bins - 1`` of them per feature, at the quantiles.
    sample_weight : ndarray of shape (n_samples,), default=None
        How often each sample counts in the quantiles; None: once.

    Attributes
    ----------
    feature : ndarray of shape (n_positions,), dtype=int64
    threshold : ndarray of shape (n_positions,), dtype=float64
        Stump at each position.
    number : ndarray of shape (n_positions,), dtype=int64
        The place of that stump in the order of features and thresholds; -1 where there is none.
    is_padding : ndarray of shape (n_positions,), dtype=bool
        Positions without a stump, which no search finds.
    table : boostbench.core.stumps.feature_codes.FeatureCodes or None
        Codes of the features that X is made of, if it is `ViewedFeatures`: the positions are its
        stumps then.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> G = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> found = StumpSearch(X).best(G)
    >>> found.learner, found.column, found.edge
    (Stump(feature=0, threshold=1.5, polarity=1), 0, 4.0)
    """

    def __init__(self, X, max_bins=None, sample_weight=None):
        self.table = None
        if sparse.issparse(X):
            self.X = SparseFeatures(X)
            thresholds, codes = self.X.find_thresholds(max_bins, sample_weight)
            self._layout = SparseBins(self.X, thresholds, codes)
        elif isinstance(X, ViewedFeatures):
            self.X = X
            self.table = FeatureCodes.from_features(X.features, X.views, max_bins, sample_weight)
            self._layout = JointHistogram(self.table)
            thresholds = np.split(self.table.threshold, self.table.first_stump[1:-1])
        else:
            self.X = np.asarray(X, dtype=np.float64)
            if self.X.size <= _COPIED_VALUES:
                self.X = np.asfortranarray(self.X)
            self._layout = try_sorted_layout(self.X) if max_bins is None else None
            if self._layout is not None:
                thresholds = self._layout.thresholds
            else:
                thresholds, known = [], []
                for values in iter_columns(self.X):
                    thresholds.append(find_thresholds(values, max_bins, sample_weight))
                    if max_bins is not None:
                        # As long as the values are at hand.
                        known.append(bin_indices(values, thresholds[-1]))
                self._layout = choose_layout(self.X, thresholds, known or None)
        self._first_number = np.cumsum([0] + [len(c) for c in thresholds])
        self._thresholds = thresholds

    # Of all positions only where it is needed: there are as many as values.
    @property
    def feature(self):
        """The feature at each position."""
        return self._layout.feature

    @property
    def stump_index(self):
        """The number of the stump at each position."""
        return self._layout.stump_index

    @cached_property
    def threshold(self):
        """The threshold at each position."""
        find_thresholds = np.concatenate(self._thresholds)
        return find_thresholds[self.stump_index] if len(find_thresholds) else find_thresholds

    @cached_property
    def is_padding(self):
        """Whether a position has no stump."""
        return self.stump_index < 0

    def _padding(self, some):
        """As `is_padding`, of a slice or of some positions."""
        if isinstance(some, slice) or "is_padding" in vars(self):
            return self.is_padding[some]
        return self._layout.stumps_at(some)[1] < 0

    @property
    def n_positions(self):
        """Number of positions; 0 where no feature varies."""
        return self._layout.n_positions

    def edges(self, G):
        """Edge of the stump at every position in every column.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_positions, n_columns), dtype=float32
            ``sum_i G[i, c] h(x_i)``; 0 at the padding. The caller may overwrite it.
        """
        edges = np.empty((self.n_positions, G.shape[1]), np.float32)
        for some, piece in self._pieces(
            *_prepared(G, self._layout.for_n_columns(G.shape[1]).dtype)
        ):
            edges[some] = piece
        edges[self.is_padding] = 0.0
        return edges

    def error_bound(self, n_columns, n_roundings):
        """By how much `edges` may be off, as a part of the sums of the sizes of the weights.

        Parameters
        ----------
        n_columns : int
            Of the weights.
        n_roundings : int
            Roundings, in single precision, of what is done with the edges after that.

        Returns
        -------
        float
        """
        converted = (1 + n_roundings) * UNIT_ROUNDOFF[np.float32]
        layout = self._layout.for_n_columns(n_columns)
        return layout.error_bound(layout.dtype) + 2 * converted

    def best(self, G):
        """Find the stump and column of the largest absolute edge; see `Search.best`.

        Its polarity makes its edge in `column` positive; of equally good ones it is the first.
        """
        found = self._first_best(G, MaxAbsEdge())
        if found is None:
            return None
        position, column = found
        stump, outputs = self._evaluated(position)
        edge = float(G[:, column] @ outputs)
        if edge < 0:
            stump, outputs, edge = stump._replace(polarity=-1), -outputs, -edge
        return SearchResult(stump, outputs, edge, column)

    def best_vote(self, G):
        """Stump of the largest ``sum_c |edge in column c|``, with the signs of its edges.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        SearchResult or None
            The stump with polarity +1: the `votes` have the signs. Its edge is
            ``sum_i h(x_i) sum_c votes[c] G[i, c]``. Of equally good stumps it is the first. None
            where there is none.
        """
        found = self._first_best(G, SumAbsEdge(G.shape[1]))
        if found is None:
            return None
        stump, outputs = self._evaluated(found[0])
        edges = outputs @ G
        votes = np.copysign(1.0, edges)
        # An edge of 0 has no sign but that of rounding, which Cauchy's inequality bounds at once.
        sizes = np.abs(edges)
        if sizes.min() <= TIE_TOLERANCE * (len(G) * np.vdot(G, G)) ** 0.5:
            votes[sizes <= TIE_TOLERANCE * abs_column_sums(G)] = 1.0
        return SearchResult(stump, outputs, float(votes @ edges), votes=votes)

    def best_each(self, G):
        """Stump of the largest absolute edge in every column, for many columns.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
            The columns may differ in size by more than single precision can hold.

        Returns
        -------
        ndarray of shape (n_columns,), dtype=int64, or None
            Positions: see the attributes `feature` and `threshold`; of equally good stumps the
            first. None where no feature varies.
        """
        if not self.n_positions:
            return None
        at_a_time = _BLOCK_EDGES // min(self.n_positions, PIECE)
        width = max(1, at_a_time // _BLOCK_COLUMNS) * _BLOCK_COLUMNS
        positions = np.zeros(G.shape[1], np.int64)
        for start in range(0, G.shape[1], width):
            iter_columns = G[:, start : start + width]
            positions[start : start + width] = self._first_of_each(
                rescale_pow2(iter_columns, axis=0)
            )
        return positions

    def best_position(self, G, size, scale):
        """Position of the stump whose edges in the columns are of the largest size.

        A size may be any function of the edges, also one that makes much of a small difference. So
        the edges are added up in double precision.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
        size : callable
            Takes edges of shape (n_some, n_columns), dtype=float64, which it may overwrite, and
            returns sizes of shape (n_some,).
        scale : float
            What a size could be at most, about: sizes that differ by next to nothing of that are
            equal.

        Returns
        -------
        int or None
            Of equally good ones that of the first stump. None where no feature varies.
        """
        criterion, tolerance = RowCriterion(size), TIE_TOLERANCE * scale
        pieces = self._pieces(*_prepared(G, np.float64)) if self.n_positions else ()
        places, *_ = self._near(pieces, criterion, tolerance)
        return self._first_stump(np.atleast_1d(places))

    def best_excluding(self, G, size, mass, scale, beside):
        """Position of the stump of the largest size, other than some; as `best_position`.

        The size changes smoothly, as the mass says, so that sums in single precision tell which few
        stumps may be the best.

        Parameters
        ----------
        G, scale
            As of `best_position`.
        size : callable
            As of `best_position`, of any floating type.
        mass : callable
            Takes weights of samples, as `size` takes edges, and bounds what they can do: adding
            them to edges changes the size by no more than their mass. It is a norm, and does not
            fall where weights grow in size.
        beside : ndarray of shape (n_beside,), dtype=int64
            Positions to leave out, as if they had no edges.

        Returns
        -------
        (int, ndarray of shape (n_beside, n_columns), ndarray of shape (n_columns,)) or None
            The position; the edges at those left out; and by how much these may be off. None where
            no feature varies.
        """
        if not self.n_positions:
            return None
        layout, sums = self._layout_of_largest(G.shape[1]), abs_column_sums(G)
        are_many = G.size * self.X.shape[1] >= _MANY_SUMS
        # Sizes may be of squares, which leave the range of single precision first.
        is_in_range = _RANGE[0] < sums.max() < _RANGE[1]
        dtype = layout.dtype if are_many and is_in_range else np.float64
        tolerance = TIE_TOLERANCE * scale
        criterion, screening_tolerance = RowCriterion(size, mass, beside), tolerance
        if dtype is np.float32:
            n_roundings = len(sums) * (len(sums) + _MORE)
            screening_tolerance += (
                2 * layout.error_bound(dtype, n_roundings) * float(mass(sums[None].copy())[0])
            )
        edges_beside = np.empty((len(beside), len(sums)))

        def pieces():
            for some, edges in layout.candidates(
                *_prepared(G, dtype), screening_tolerance, criterion
            ):
                if isinstance(some, slice):
                    here = (beside >= some.start) & (beside < some.stop)
                    rows = beside[here] - some.start
                else:
                    _, here, rows = np.intersect1d(beside, some, return_indices=True)
                edges_beside[here] = edges[rows]
                edges[rows] = 0.0
                yield some, edges

        places, *_ = self._near(pieces(), criterion, screening_tolerance)
        position = np.atleast_1d(places)
        if dtype is np.float32 and len(position) > 1:
            sizes = size(self.exact_rows(G, position))
            position = position[sizes >= sizes.max() - tolerance]
        first = self._first_stump(position)
        return None if first is None else (first, edges_beside, layout.error_bound(dtype) * sums)

    def class_sums(self, labels):
        """Return what finds positions by the sums of classes, or None: `best_position` is faster.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
            0 to n_classes - 1.

        Returns
        -------
        boostbench.core.stumps.class_prefix_sums.ClassPrefixSums or None
        """
        return self._layout.class_sums(labels)

    def bin_sums(self, G):
        """Return the sums of weights in each bin of the `table`, in double precision.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_joint_bins, n_columns), dtype=float64
        """
        return self._layout.bin_sums(np.ascontiguousarray(G, dtype=np.float64))

    def exact_edges(self, G, positions, iter_columns):
        """Edges of some stumps in one column each, in double precision.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
        positions, columns : ndarray of shape (n_some,)

        Returns
        -------
        ndarray of shape (n_some,), dtype=float64
        """
        edges = np.empty(len(positions))
        if self._are_many(len(positions) / G.shape[1]):
            for here, rows in self._exact_pieces(G, positions):
                edges[here] = rows[np.arange(len(rows)), iter_columns[here]]
            return edges
        stumps = zip(*self._layout.stumps_at(positions), iter_columns, strict=True)
        for i, (feature, number, column) in enumerate(stumps):
            edges[i] = G[:, column] @ _signs(self._above(feature, number))
        return edges

    def exact_rows(self, G, positions):
        """Edges of some stumps in all columns, in double precision.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
        positions : ndarray of shape (n_some,)

        Returns
        -------
        ndarray of shape (n_some, n_columns), dtype=float64
        """
        edges = np.empty((len(positions), G.shape[1]))
        if self._are_many(len(positions)):
            for here, rows in self._exact_pieces(G, positions):
                edges[here] = rows
            return edges
        for some, outputs in self._outputs(positions):
            edges[some] = outputs @ G
        return edges

    def stump(self, position, polarity=1):
        """Return the `Stump` at a position, with the given polarity."""
        return self._numbered(*self._layout.stumps_at(position), polarity)

    def _evaluated(self, position):
        """Return the stump at a position, with the polarity +1, and its outputs."""
        at = self._layout.stumps_at(position)
        return self._numbered(*at), _signs(self._above(*at))

    def _numbered(self, feature, number, polarity=1):
        threshold = self._thresholds[feature][number - self._first_number[feature]]
        return Stump(int(feature), float(threshold), polarity)

    def _above(self, feature, number):
        """Tell which samples are above a threshold."""
        bin_ = int(number - self._first_number[feature])
        above = self._layout.above(feature, number)
        return self.X[:, feature] > self._thresholds[feature][bin_] if above is None else above

    def _pieces(self, W, total):
        """Yield slices of the positions and the edges there; parameters are those of a layout."""
        return self._layout.for_n_columns(W.shape[1]).iter_slices(W, total)

    def _layout_of_largest(self, n_columns):
        return self._layout.screening_layout(n_columns)

    def _first_best(self, G, criterion):
        """Position and column of the first of the best; None where there is none."""
        if not self.n_positions:
            return None
        if G.shape[1] == 2 and _are_mirrored(G):
            # The second column has the edges of the first, of the other sign.
            G = G[:, :1]
        layout = self._layout_of_largest(G.shape[1])
        dtype = layout.dtype
        # What overflows in single precision is out of the range, too.
        with np.errstate(over="ignore"):
            W, total = _prepared(G, dtype)
        bound = criterion.bound(W)
        if not _RANGE[0] < bound < _RANGE[1]:
            G = rescale_pow2(G)
            W, total = _prepared(G, dtype)
            bound = criterion.bound(W)
        if dtype is np.float32 and W.size >= _MANY_WEIGHTS:
            W = flush_negligible(W, bound)
        tolerance = 2 * layout.error_bound(dtype, criterion.n_roundings) + TIE_TOLERANCE
        screening_tolerance = tolerance * bound
        pieces = layout.candidates(W, total, screening_tolerance, criterion)
        at, size, width = self._near(pieces, criterion, screening_tolerance)
        if np.ndim(at) == 0:
            return divmod(int(at), width)
        if len(at) == 0:
            return None
        # The bound may be a rough one, and the sums cost less than to add up what is near.
        scale = criterion.scale(abs_column_sums(W))
        kept = np.flatnonzero(size >= size.max() - tolerance * scale)
        position, column = np.divmod(at[kept], width)
        order = self._layout.stumps_at(position)[1].astype(np.int64) * width + column
        if len(order) == 1:
            return int(position[0]), int(column[0])
        if dtype is np.float32:
            size = criterion.exact_scores(self, G, position, column)
        else:
            size = size[kept]
        equal = size >= size.max() - TIE_TOLERANCE * scale
        first = np.where(equal, order, order.max() + 1).argmin()
        return int(position[first]), int(column[first])

    def _first_stump(self, positions):
        """The position of the first stump of some; None where there is none."""
        return int(positions[self.stump_index[positions].argmin()]) if len(positions) else None

    def _near(self, pieces, criterion, tolerance):
        """Places of what may be the largest in the sizes of all positions; these sizes; width."""
        best_score, kept, width = -np.inf, [], 1
        for some, edges in pieces:
            sizes = criterion.scores(edges)
            width = sizes.shape[1]
            largest, at, size = near_max(sizes, self._padding(some), best_score, tolerance)
            if largest > -np.inf:
                best_score = max(best_score, largest)
                if isinstance(some, slice):
                    at = some.start * width + at
                else:
                    at = some[at // width] * width + at % width
                kept.append((at, size))
        if len(kept) < 2:
            return (*(kept[0] if kept else (_NONE, _NONE)), width)
        at, size = (np.hstack(parts) for parts in zip(*kept, strict=True))
        is_near = size >= best_score - tolerance
        return at[is_near], size[is_near], width

    def _first_of_each(self, G):
        """Position of the first of the best in each column; these are of one size."""
        layout = self._layout.for_n_columns(G.shape[1])
        dtype = layout.dtype
        W, total = _prepared(G, dtype)
        scale = abs_column_sums(W)
        tolerance = (2 * layout.error_bound(dtype) + TIE_TOLERANCE) * scale
        best_score, kept = np.full(G.shape[1], -np.inf), []
        for some, edges in self._pieces(W, total):
            np.abs(edges, out=edges)
            edges[self.is_padding[some]] = -np.inf
            row, column, size = near_max_per_column(edges, best_score, tolerance)
            np.maximum.at(best_score, column, size)
            kept.append((some.start + row, column, size))
        position, column, size = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        near = np.flatnonzero(size >= (best_score - tolerance)[column])
        # By column, and in a column in the order of the stumps.
        near = near[np.lexsort([self.stump_index[position[near]], column[near]])]
        position, column, size = position[near], column[near], size[near].astype(np.float64)
        if dtype is np.float32:
            several = np.flatnonzero(np.bincount(column)[column] > 1)
            size[several] = np.abs(self.exact_edges(G, position[several], column[several]))
        best = np.maximum.reduceat(size, np.searchsorted(column, np.arange(G.shape[1])))
        equal = np.flatnonzero(size >= (best - TIE_TOLERANCE * scale)[column])
        _, first = np.unique(column[equal], return_index=True)
        return position[equal[first]]

    def _outputs(self, positions):
        """Yield slices of positions, and what the stumps there say of the samples."""
        width = max(1, BLOCK_OUTPUTS // len(self.X))
        for start in range(0, len(positions), width):
            some = slice(start, start + width)
            stumps = zip(*self._layout.stumps_at(positions[some]), strict=True)
            yield some, _signs(np.stack([self._above(*stump) for stump in stumps]))

    def _exact_pieces(self, G, positions):
        """Yield which positions are in a piece, and their edges in double precision."""
        for some, edges in self._pieces(*_prepared(G, np.float64)):
            here = np.flatnonzero((positions >= some.start) & (positions < some.stop))
            yield here, edges[positions[here] - some.start]

    def _are_many(self, n_stumps):
        return n_stumps > _FEW_EXACT + self.X.shape[1]


class ExcludingStumpSearch(StumpSearch):
    """All stumps of a training set but those that are left out.

    Where all coefficients are found anew in every round, a stump in use has an edge of the size of
    its coefficient, not 0. It would be found again, though it has nothing to add.

    Parameters
    ----------
    X, max_bins, sample_weight
        As of `StumpSearch`.

    Examples
    --------
    >>> X, G = np.array([[0.0], [1.0], [2.0]]), np.array([[-1.0], [1.0], [1.0]])
    >>> search = ExcludingStumpSearch(X)
    >>> search.exclude(search.best(G).learner)
    >>> search.best(G).learner
    Stump(feature=0, threshold=1.5, polarity=1)
    >>> search.exclude(search.best(G).learner)
    >>> search.best(G) is None
    True
    """

    learners = Stump

    def exclude(self, stump):
        """Find a stump of this search no more."""
        # From now on it is padding, at every position that it has.
        alike = np.flatnonzero(self.threshold == stump.threshold)
        self.is_padding[alike[self.feature[alike] == stump.feature]] = True

    def _layout_of_largest(self, n_columns):
        # The largest edge of all may be that of a used one.
        return self._layout.for_n_columns(n_columns)


class ConstantFallbackSearch:
    """A search of stumps, and the constant one beside them.

    A sum of stumps that are -1 or +1 has no offset of its own: the constant stump is what moves it.

    Parameters
    ----------
    search : StumpSearch

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
        """Stump and column of the largest absolute edge; as `StumpSearch.best`, but never None."""
        found = self._search.best(G)
        totals = G.sum(axis=0)
        scale = float(abs_column_sums(G).max())
        column = int(argmax_with_tolerance(np.abs(totals), scale))
        edge = abs(float(totals[column]))
        if found is not None and found.edge >= edge - TIE_TOLERANCE * scale:
            return found
        sign = 1 if totals[column] >= 0 else -1
        return SearchResult(Stump(0, np.inf, -sign), np.full(len(G), float(sign)), edge, column)


def _signs(above):
    # A choice by `np.where` takes several times as long.
    outputs = np.multiply(above, 2.0)
    outputs -= 1.0
    return outputs


def _prepared(G, dtype):
    """What a layout takes: the weights, and their sums."""
    # The sums are in double precision: an error here moves all edges of a column alike.
    total = G[:, 0].sum(keepdims=True) if G.shape[1] == 1 else np.ones(len(G)).dot(G)
    return np.ascontiguousarray(G, dtype=dtype), total


def _are_mirrored(G):
    """Tell whether the first of two columns is minus the second."""
    # A sum of two numbers is 0 only if one is minus the other. A product is several times as fast
    # as a comparison of columns that are not contiguous.
    return not any((G[rows] @ np.ones(2)).any() for rows in (slice(_FEW_ROWS), slice(None)))
