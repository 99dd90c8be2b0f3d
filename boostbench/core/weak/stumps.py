"""Search for the best decision stump: features x thresholds x columns, the hot loop of everything.

A stump is ``h(x) = +1 if x[feature] > threshold else -1``. For a weight matrix ``G`` of shape
(n_samples, n_columns) its edge in column ``c`` is ``sum_i G[i, c] h(x_i)``: the column total less
twice the sum of ``G`` below the threshold. A search scores every stump of a training set against
every column at once, and is built once per fit.

`StumpSearch` is what the algorithms use; how the sums below the thresholds come about is in
`boostbench.core.weak.layouts`.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from boostbench.core.weak.base import Found, Stack, largest_entry, midpoint
from boostbench.core.weak.layouts import PIECE, choose_layout
from boostbench.core.weak.sparse_features import SparseBins, SparseFeatures

# `best_each` searches that many edges at a time (a block of columns), so that they stay in the
# cache, but in rows long enough to copy and add up fast.
_BLOCK_EDGES = 2**19
_BLOCK_COLUMNS = 8

# Outputs of that many samples and stumps at a time stay in the cache between the comparison with
# the thresholds and the product with the coefficients.
_BLOCK_OUTPUTS = 2**17

# So few stumps are not worth to turn anything.
_FEW_STUMPS = 16

# No positions.
_NONE = np.empty(0, np.int64)

# An arg-max along columns starts with that many rows of long slices.
_SLICES = 16


class Stump(NamedTuple):
    """A weak learner: ``polarity * (+1 if x[feature] > threshold else -1)``.

    The fields may be arrays of one length, for many weak learners at once.
    """

    feature: int
    threshold: float
    polarity: int = 1

    def __call__(self, X):
        """Evaluate the stump.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_stumps), dtype=float64
            -1 or +1.
        """
        above = X[:, self.feature] > self.threshold
        return (2.0 * above - 1.0) * self.polarity


class Stumps(Stack):
    """T stacked stumps.

    Parameters
    ----------
    stumps : sequence of Stump

    Attributes
    ----------
    feature : ndarray of shape (n_hypotheses,), dtype=int64
    threshold : ndarray of shape (n_hypotheses,), dtype=float64
    polarity : ndarray of shape (n_hypotheses,), dtype=float64

    Examples
    --------
    >>> stumps = Stumps([Stump(0, 1.5), Stump(0, 0.5, -1)])
    >>> stumps.scores(np.array([[0.0], [1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[-1.,  1.],
           [-1., -1.]])
    """

    def __init__(self, stumps):
        self.feature = np.array([s.feature for s in stumps], dtype=np.int64)
        self.threshold = np.array([s.threshold for s in stumps], dtype=np.float64)
        self.polarity = np.array([s.polarity for s in stumps], dtype=np.float64)

    def __len__(self):
        return len(self.feature)

    def __repr__(self):
        if self.feature.ndim > 1:
            return super().__repr__()
        shown = 4
        tests = [
            f"{'+' if polarity > 0 else '-'}(x[{feature}] > {threshold:.4g})"
            for feature, threshold, polarity in zip(
                self.feature[:shown], self.threshold, self.polarity, strict=False
            )
        ]
        rest = ["..."] * (len(self) > shown)
        return f"<{len(self)} Stumps: {', '.join(tests + rest)}>"

    def outputs(self, X, some=slice(None)):
        """Evaluate some of the stumps.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        some : slice, default=slice(None)
            Which; all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_some), dtype=float64
            -1 or +1.
        """
        above = X[:, self.feature[some]] > self.threshold[some]
        return np.where(above, self.polarity[some], -self.polarity[some])

    def scores(self, X, coefficients, some=slice(None)):
        """Add up some of the stumps; as `Stack.scores`, several times faster."""
        feature, threshold = self.feature[some], self.threshold[some, None]
        if len(feature) <= _FEW_STUMPS:
            return super().scores(X, coefficients, some)
        votes = np.ascontiguousarray(coefficients[some].T) * self.polarity[some]
        scores = np.repeat(-votes.sum(axis=-1, keepdims=True), len(X), axis=-1)
        votes *= 2.0
        # With features in rows, those of the stumps are copied row by row.
        if len(feature) > X.shape[1]:
            turned = np.ascontiguousarray(X.T)
        else:
            turned, feature = X.T[feature], np.arange(len(feature))
        width = max(1, _BLOCK_OUTPUTS // max(1, len(X)))
        for start in range(0, len(feature), width):
            block = slice(start, start + width)
            above = turned.take(feature[block], axis=0) > threshold[block]
            scores += votes[..., block] @ above.astype(np.float64)
        return scores.T


class StumpSearch:
    """All stumps of a training set, ready to be scored against any weights.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
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
        The stump at each position. A stump may be at several positions.
    is_padding : ndarray of shape (n_positions,), dtype=bool
        Positions without a stump, which no search finds.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> G = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> found = StumpSearch(X).best(G)
    >>> found.learner, found.column, found.edge
    (Stump(feature=0, threshold=1.5, polarity=1), 0, 4.0)
    """

    def __init__(self, X, max_bins=None, sample_weight=None):
        if sparse.issparse(X):
            self.X = SparseFeatures(X)
            cuts = [_thresholds(v, max_bins, counts) for v, counts in self.X.columns(sample_weight)]
            self._layout = SparseBins(self.X, cuts)
        else:
            self.X = np.asfortranarray(X, dtype=np.float64)
            cuts = [_thresholds(column, max_bins, sample_weight) for column in self.X.T]
            self._layout = choose_layout(self.X, cuts)
        self.feature = self._layout.feature
        self.is_padding = self._layout.cut < 0
        self._padding = np.flatnonzero(self.is_padding)
        thresholds = np.concatenate(cuts)
        self.threshold = thresholds[self._layout.cut] if len(thresholds) else thresholds

    @property
    def n_positions(self):
        """Number of positions; 0 where no feature varies."""
        return len(self.feature)

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
        pieces = [edges for _, edges in self._pieces(G)]
        edges = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        edges[self._padding] = 0.0
        return edges

    def best(self, G):
        """Stump and column of the largest absolute edge.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        Found or None
            The stump with the polarity that makes its edge in `column` positive. None where no
            feature varies.
        """
        at = self._largest(G, _largest_magnitude)
        if at is None:
            return None
        position, column = at
        stump = self.stump(position)
        outputs = stump(self.X)
        edge = float(G[:, column] @ outputs)
        if edge < 0:
            stump, outputs, edge = self.stump(position, -1), -outputs, -edge
        return Found(stump, outputs, edge, column)

    def best_vote(self, G):
        """Stump of the largest ``sum_c |edge in column c|``, with the signs of its edges.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        Found or None
            The stump with polarity +1: the `votes` have the signs. Its edge is
            ``sum_i h(x_i) sum_c votes[c] G[i, c]``. None where no feature varies.
        """
        at = self._largest(G, _largest_row)
        if at is None:
            return None
        stump = self.stump(at[0])
        outputs = stump(self.X)
        edges = outputs @ G
        votes = np.where(edges >= 0, 1.0, -1.0)
        return Found(stump, outputs, float(np.abs(edges).sum()), votes=votes)

    def best_each(self, G):
        """Stump of the largest absolute edge in every column, for many columns.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
            The columns may differ in size by more than single precision can hold.

        Returns
        -------
        ndarray of shape (n_columns,), dtype=int64, or None
            Positions: see the attributes `feature` and `threshold`. None where no feature varies.
        """
        if not self.n_positions:
            return None
        at_a_time = _BLOCK_EDGES // min(self.n_positions, PIECE)
        width = max(1, at_a_time // _BLOCK_COLUMNS) * _BLOCK_COLUMNS
        positions = np.zeros(G.shape[1], np.int64)
        for start in range(0, G.shape[1], width):
            columns = G[:, start : start + width]
            # Brought to one size by powers of 2, which changes no digit.
            _, exponent = np.frexp(np.maximum(columns.max(axis=0), -columns.min(axis=0)))
            largest = np.full(columns.shape[1], -1.0, np.float32)
            for some, edges in self._pieces(columns * np.ldexp(1.0, np.minimum(-exponent, 1000))):
                np.abs(edges, out=edges)
                edges[self._padding_in(some)] = 0.0
                rows = _largest_rows(edges)
                sizes = edges[rows, np.arange(len(rows))]
                better = np.flatnonzero(sizes > largest)
                largest[better] = sizes[better]
                positions[start + better] = some.start + rows[better]
        return positions

    def best_position(self, G, size, beside=_NONE):
        """Position of the stump whose edges in the columns are of the largest size.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
        size : callable
            Takes edges of shape (n_some, n_columns), which it may overwrite, and returns sizes of
            shape (n_some,), not negative.
        beside : ndarray of shape (n_beside,), dtype=int64
            Positions to leave out; none by default.

        Returns
        -------
        (int, ndarray of shape (n_beside, n_columns), dtype=float32) or None
            The position, and the edges at those left out. None where no feature varies.
        """
        if not self.n_positions:
            return None
        edges_beside = np.empty((len(beside), G.shape[1]), np.float32)
        best, found = -1.0, 0
        for some, edges in self._pieces(G):
            here = (beside >= some.start) & (beside < some.stop)
            rows = beside[here] - some.start
            edges_beside[here] = edges[rows]
            sizes = size(edges)
            sizes[self._padding_in(some)] = 0.0
            sizes[rows] = 0.0
            row = int(sizes.argmax())
            if sizes[row] > best:
                best, found = sizes[row], some.start + row
        return found, edges_beside

    def stump(self, position, polarity=1):
        """Return the `Stump` at a position, with the given polarity."""
        return Stump(int(self.feature[position]), float(self.threshold[position]), polarity)

    def _pieces(self, G):
        """Yield slices of the positions and the edges there."""
        # The factor of the sums below the thresholds goes in here, where the matrix is small.
        W = np.multiply(G, -2.0, dtype=np.float32, casting="same_kind", order="C")
        # In double precision: an error here moves all edges of a column alike.
        total = np.ones(len(G)) @ G
        start = 0
        for edges in self._layout.pieces(W, total):
            yield slice(start, start + len(edges)), edges
            start += len(edges)

    def _padding_in(self, some):
        """Rows of the padding in a piece."""
        start, stop = self._padding.searchsorted([some.start, some.stop])
        return self._padding[start:stop] - some.start

    def _largest(self, G, largest):
        """Position and column of the largest entry that is no padding; None without positions."""
        best, found = -1.0, None
        if not self.n_positions:
            return found
        for some, edges in self._pieces(G):
            row, column, size = largest(edges)
            if size > best and self.is_padding[some.start + row]:
                # Rarely is the sum up to a sample that no threshold follows the largest.
                edges[self._padding_in(some)] = 0.0
                row, column, size = largest(edges)
            if size > best:
                best, found = size, (some.start + row, column)
        return found


class WithConstant:
    """A search of stumps, and the constant one beside them.

    A sum of stumps that are -1 or +1 has no offset of its own: the constant stump is what moves it.

    Parameters
    ----------
    search : StumpSearch

    Examples
    --------
    >>> search = WithConstant(StumpSearch(np.array([[0.0], [1.0], [2.0]])))
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
        column = int(np.abs(totals).argmax())
        edge = abs(float(totals[column]))
        if found is not None and found.edge >= edge:
            return found
        sign = 1 if totals[column] >= 0 else -1
        return Found(Stump(0, np.inf, -sign), np.full(len(G), float(sign)), edge, column)


def _largest_magnitude(edges):
    """Row, column and size of the entry of the largest magnitude."""
    row, column, edge = largest_entry(edges)
    return row, column, abs(edge)


def _largest_row(edges):
    """Row of the largest sum of magnitudes, 0, and that sum; overwrites the edges."""
    np.abs(edges, out=edges)
    # A product with ones sums short rows at BLAS speed; np.sum over a short axis does not.
    totals = edges @ np.ones(edges.shape[1], np.float32)
    row = int(totals.argmax())
    return row, 0, totals[row]


def _largest_rows(values):
    """Row of the largest value in each column: ``values.argmax(axis=0)``, many times faster.

    The rows are cut into slices of equal length, whose maximum is taken value by value; then only
    one value per slice and column is left to look at.
    """
    n_rows, n_columns = values.shape
    length = -(-n_rows // _SLICES)
    largest = values[:length].copy()
    for start in range(length, n_rows, length):
        rows = values[start : start + length]
        np.maximum(largest[: len(rows)], rows, out=largest[: len(rows)])
    column = np.arange(n_columns)
    rows = np.minimum(largest.argmax(axis=0) + length * np.arange(_SLICES)[:, None], n_rows - 1)
    return rows[values[rows, column].argmax(axis=0), column]


def _thresholds(values, max_bins, weights):
    """Midpoints between consecutive distinct values, all or those at the quantiles."""
    distinct, counts = np.unique(values, return_counts=True)
    low, high = distinct[:-1], distinct[1:]
    middle = midpoint(low, high)
    if max_bins is None or len(distinct) <= max_bins:
        return middle
    if weights is not None:
        counts = np.bincount(np.searchsorted(distinct, values), weights)
    wanted = counts.sum() * np.arange(1, max_bins) / max_bins
    return middle[np.unique(np.searchsorted(np.cumsum(counts)[:-1], wanted).clip(0, len(low) - 1))]
