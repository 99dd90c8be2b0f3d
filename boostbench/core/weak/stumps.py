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

from boostbench.core.weak.layouts import choose_layout

# `best_each` searches that many edges at a time (a block of columns), so that they stay in the
# cache, but in rows long enough to copy and add up fast.
_BLOCK_EDGES = 2**19
_BLOCK_COLUMNS = 8

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


class Stumps:
    """T stacked stumps.

    Parameters
    ----------
    stumps : sequence of Stump

    Attributes
    ----------
    feature : ndarray of shape (n_hypotheses,), dtype=int64
    threshold : ndarray of shape (n_hypotheses,), dtype=float64
    polarity : ndarray of shape (n_hypotheses,), dtype=float64
    """

    def __init__(self, stumps):
        self.feature = np.array([s.feature for s in stumps], dtype=np.int64)
        self.threshold = np.array([s.threshold for s in stumps], dtype=np.float64)
        self.polarity = np.array([s.polarity for s in stumps], dtype=np.float64)

    def __len__(self):
        return len(self.feature)

    def outputs(self, X, some=slice(None)):
        """Evaluate some of the hypotheses.

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


class StumpSearch:
    """All stumps of a training set, ready to be scored against any weights.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    max_bins : int or None, default=None
        None keeps every threshold: the midpoints between consecutive distinct values of a feature.
        An integer keeps at most ``max_bins - 1`` of them per feature, at the quantiles.

    Attributes
    ----------
    feature : ndarray of shape (n_positions,), dtype=int64
    threshold : ndarray of shape (n_positions,), dtype=float64
        The stump at each position. Layouts pad: a stump may stand at several positions, and at all
        but one of them `edges` may be 0 instead of its own.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> G = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> StumpSearch(X).best(G)
    (Stump(feature=0, threshold=1.5, polarity=1), 0, 4.0)
    """

    def __init__(self, X, max_bins=None):
        self.X = np.asfortranarray(X, dtype=np.float64)
        cuts = [_thresholds(column, max_bins) for column in self.X.T]
        self._layout = choose_layout(self.X, cuts)
        self.feature = self._layout.feature
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
            ``sum_i G[i, c] h(x_i)``. The caller may overwrite it.
        """
        edges = self._all_edges(G)
        edges[self._layout.without_cut] = 0.0
        return edges

    def _all_edges(self, G):
        # The factor of the sums below the thresholds goes in here, where the matrix is small.
        weights = np.multiply(G, -2.0, dtype=np.float32, casting="same_kind", order="C")
        return self._layout.edges(weights)

    def best(self, G):
        """Stump and column of the largest absolute edge.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        stump : Stump
            With the polarity that makes the edge positive.
        column : int
        edge : float
            Recomputed in double precision.
        """
        edges = self.edges(G).ravel()
        high, low = edges.argmax(), edges.argmin()
        at = high if edges[high] >= -edges[low] else low
        position, column = divmod(int(at), G.shape[1])
        stump = self.stump(position, 1 if edges[at] >= 0 else -1)
        return stump, column, float(G[:, column] @ stump(self.X))

    def best_vote(self, G):
        """Stump of the largest ``sum_c |edge in column c|``, with the signs of its edges.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        stump : Stump
            Of polarity +1: the votes carry the signs.
        votes : ndarray of shape (n_columns,), dtype=float64
            -1 or +1.
        edge : float
            ``sum_i h(x_i) sum_c votes[c] G[i, c]``, recomputed in double precision.
        """
        edges = self._all_edges(G)
        np.abs(edges, out=edges)
        # A product with ones sums short rows at BLAS speed; np.sum over a short axis does not.
        totals = edges @ np.ones(G.shape[1], np.float32)
        totals[self._layout.without_cut] = 0.0
        stump = self.stump(int(totals.argmax()))
        column_edges = stump(self.X) @ G
        return stump, np.where(column_edges >= 0, 1.0, -1.0), float(np.abs(column_edges).sum())

    def best_each(self, G):
        """Stump of the largest absolute edge in every column, for many columns.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_columns)
            The columns may differ in size by more than single precision can hold.

        Returns
        -------
        ndarray of shape (n_columns,), dtype=int64
            Positions: see the attributes `feature` and `threshold`.
        """
        width = max(1, _BLOCK_EDGES // self.n_positions // _BLOCK_COLUMNS) * _BLOCK_COLUMNS
        positions = []
        for start in range(0, G.shape[1], width):
            columns = G[:, start : start + width]
            # Brought to one size by powers of 2, which changes no digit.
            _, exponent = np.frexp(np.maximum(columns.max(axis=0), -columns.min(axis=0)))
            edges = self.edges(columns * np.ldexp(1.0, np.minimum(-exponent, 1000)))
            positions.append(_largest_rows(np.abs(edges, out=edges)))
        return np.concatenate(positions)

    def stump(self, position, polarity=1):
        """Return the `Stump` at a position, with the given polarity."""
        return Stump(int(self.feature[position]), float(self.threshold[position]), polarity)


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


def _thresholds(values, max_bins):
    """Midpoints between consecutive distinct values, all or those at the quantiles."""
    distinct, counts = np.unique(values, return_counts=True)
    low, high = distinct[:-1], distinct[1:]
    # Halved first, since the sum may overflow. The midpoint of neighbouring doubles may round to
    # the upper one, which must stay above it.
    middle = low / 2 + high / 2
    middle = np.where((low <= middle) & (middle < high), middle, low)
    if max_bins is None or len(distinct) <= max_bins:
        return middle
    wanted = len(values) * np.arange(1, max_bins) / max_bins
    return middle[np.unique(np.searchsorted(np.cumsum(counts)[:-1], wanted).clip(0, len(low) - 1))]
