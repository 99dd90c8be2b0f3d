"""Interactions of pairs of features: tables over cells of both, and a ranking of the pairs.

Bags of boosters add such tables to their sums of stumps. A *cell* of a feature is an interval of
its values, a category, or the missing values; a table has a value for each combination of a cell of
one feature and a cell of the other. Cells are found from the *views* of a feature: numeric columns
that are derived from it (its values, missing or not, one category or not), see
`boostbench.core.stumps.views`.

The ranking is FAST [1]_: the score of a pair is the gain of its best cut into four quadrants with
one step each.

References
----------
.. [1] Y. Lou, R. Caruana, J. Gehrke and G. Hooker, "Accurate intelligible models with pairwise
   interactions", KDD 2013.
"""

from typing import NamedTuple

import numpy as np

from boostbench.core.stumps.views import MISSING

# Added to the curvature of a quadrant, so that quadrants with few samples have a small gain.
_DAMPING = 1.0


class Axis(NamedTuple):
    """Cells of one feature, an axis of a table.

    Attributes
    ----------
    feature : int
        Index of the feature.
    views : ndarray of int
        Indices of its views; see `boostbench.core.stumps.views.Views`. A numeric feature has the
        view of its values, and last, if `has_missing`, the view that is 1 for missing values. A
        categorical feature has one view for each category.
    thresholds : ndarray of shape (n_thresholds,) or None
        Thresholds of the first view for a numeric feature. Its cells are the intervals between
        them, and one cell for missing values if `has_missing`. None: a categorical feature, whose
        cells are its categories.
    has_missing : bool
        True if the training data has missing values of the feature.
    """

    feature: int
    views: np.ndarray
    thresholds: np.ndarray | None
    has_missing: bool

    @property
    def n_cells(self):
        """Number of cells."""
        if self.thresholds is not None:
            return len(self.thresholds) + 1 + self.has_missing
        # A feature of two categories has only one view, which is 1 for one of them.
        return max(2, len(self.views))

    def cell_indices(self, Z):
        """Return the cell of each sample.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_views)
            Views of the samples.

        Returns
        -------
        ndarray of shape (n_samples,), dtype=int64
            Index of each sample's cell, from 0 to n_cells - 1.
        """
        if self.thresholds is None:
            # The only view of a feature of two categories is 1 in cell 1.
            if len(self.views) == 1:
                return (Z[:, self.views[0]] > 0.5).astype(int)
            return Z[:, self.views].argmax(axis=1)
        cells = self.thresholds.searchsorted(Z[:, self.views[0]])
        if self.has_missing:
            cells[Z[:, self.views[-1]] > 0.5] = self.n_cells - 1
        return cells

    def stumps(self, fill):
        """Return stumps that span all functions of the cells, up to a constant.

        The main effect of a table on an axis, a number for each cell, is stored as their sum.

        Parameters
        ----------
        fill : float
            Value of the first view for missing values.

        Returns
        -------
        views, thresholds : ndarray of shape (n_stumps,)
            View and threshold of each stump.
        outputs : ndarray of shape (n_cells, n_stumps)
            Output of each stump in each cell, -1 or +1.
        """
        if self.thresholds is None:
            # Each view is 1 in the cell of its category. The only view of a feature of two
            # categories is 1 in cell 1: only the last column remains.
            eye = np.eye(self.n_cells)[:, -len(self.views) :]
            return self.views, np.full(len(self.views), 0.5), 2 * eye - 1
        # Cell c is above the thresholds 0 to c - 1 in the first view.
        views = np.repeat(self.views[0], len(self.thresholds))
        is_above = np.arange(self.n_cells)[:, None] > np.arange(len(self.thresholds))
        thresholds = self.thresholds
        if self.has_missing:
            # A missing value has the value `fill` in the first view. A stump on the last view
            # separates missing values from all others.
            is_above[-1] = fill > thresholds
            is_above = np.column_stack([is_above, np.arange(self.n_cells) == self.n_cells - 1])
            views, thresholds = np.append(views, self.views[-1]), np.append(thresholds, 0.5)
        return views, thresholds, 2.0 * is_above - 1.0


def make_axes(views, thresholds, max_thresholds):
    """Return the cells of all features that vary.

    Parameters
    ----------
    views : boostbench.core.stumps.views.Views
    thresholds : dict of int to ndarray
        Ascending thresholds of each view that varies, by the index of the view.
    max_thresholds : int
        Maximum number of thresholds of a feature. If it has more, evenly spaced ones are selected.

    Returns
    -------
    list of Axis
    """
    axes = []
    for feature in range(views.n_features):
        feature_views = np.flatnonzero(views.feature == feature)
        categories = views.category[feature_views]
        has_missing = bool((categories == MISSING).any())
        # `category` is NaN for a view of the values of a numeric feature, MISSING for the view of
        # missing values, and else the category.
        is_numeric = np.isnan(categories).any()
        if is_numeric:
            values = thresholds.get(int(feature_views[0]), np.empty(0))
            if len(values) > max_thresholds:
                values = values[np.linspace(0, len(values) - 1, max_thresholds).round().astype(int)]
            if len(values):
                axes.append(Axis(feature, feature_views, values, has_missing))
        elif any(int(view) in thresholds for view in feature_views):
            axes.append(Axis(feature, feature_views, None, has_missing))
    return axes


def rank_pairs(is_above, feature_of_cut, negative_slopes, curvatures):
    """Rank pairs of features by the decrease of the loss from steps in four quadrants.

    A cut of each feature divides the samples into four quadrants. With the sums s of the negative
    slopes and c of the curvatures in a quadrant, the best step there is s / (c + 1), and twice the
    decrease of the loss is ``s**2 / (c + 1)``, added up over the quadrants and the outputs of the
    model.

    Parameters
    ----------
    is_above : ndarray of shape (n_samples, n_cuts)
        1 if a sample is above a cut, else 0.
    feature_of_cut : ndarray of shape (n_cuts,)
        Index of the feature of each cut, ascending, from 0 to n_features - 1.
    negative_slopes, curvatures : ndarray of shape (n_outputs, n_samples)
        Negative first derivatives, and second derivatives, of the loss.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2)
        All pairs of features, in descending order of their gains.
    gains : ndarray of shape (n_pairs,)
        Twice the decrease of the damped quadratic approximation of the loss.
    """
    # 1) Compute the gain of each pair of cuts, of shape (n_cuts, n_cuts), summed over the outputs.
    cut_gains = 0.0
    for negative_slope, curvature in zip(negative_slopes, curvatures, strict=True):
        quadrants = []
        for values in (negative_slope, curvature):
            # Sums over the quadrants of each pair of cuts: above both, above the first cut only,
            # above the second cut only, above none. `above_cut` has the sum above each cut.
            above_both = is_above.T @ (is_above * values[:, None])
            above_cut = np.diag(above_both)
            first_only, second_only = above_cut[:, None] - above_both, above_cut - above_both
            above_none = values.sum() - above_both - first_only - second_only
            quadrants.append(np.stack([above_both, first_only, second_only, above_none]))
        slope_sums, curvature_sums = quadrants
        cut_gains = cut_gains + (slope_sums**2 / (curvature_sums + _DAMPING)).sum(axis=0)
    # 2) The gain of a pair of features is the largest gain of a pair of their cuts.
    starts = np.unique(feature_of_cut, return_index=True)[1]
    best_gains = np.maximum.reduceat(np.maximum.reduceat(cut_gains, starts), starts, axis=1)
    # 3) List the pairs of different features, in descending order of their gains.
    pairs = np.stack(np.triu_indices(len(starts), 1), axis=1)
    gains = best_gains[pairs[:, 0], pairs[:, 1]]
    order = np.argsort(-gains, kind="stable")
    return pairs[order], gains[order]


def purify(table, weights):
    """Split a table into an interaction and main effects of its rows and columns.

    The main effects are the weighted least-squares fit of a number for each row and each column.
    The interaction is the residual. Its weighted mean is 0 in every row and every column.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns, n_scores)
    weights : ndarray of shape (n_rows, n_columns)
        Sum of the sample weights in each cell.

    Returns
    -------
    table : ndarray of shape (n_rows, n_columns, n_scores)
        Interaction.
    rows : ndarray of shape (n_rows, n_scores)
        Main effects of the rows.
    columns : ndarray of shape (n_columns, n_scores)
        Main effects of the columns.

    Examples
    --------
    >>> table, rows, columns = purify(np.arange(4.0).reshape(2, 2, 1), np.ones((2, 2)))
    >>> bool(np.allclose(table, 0)), rows[:, 0].round(3), columns[:, 0].round(3)
    (True, array([-0.25,  1.75]), array([0.25, 1.25]))
    """
    # The effects solve the normal equations of least squares, with an unknown for each row and each
    # column. The equations are singular, as a constant can move from the rows to the columns.
    n_rows = len(table)
    row_weights, column_weights = weights.sum(axis=1), weights.sum(axis=0)
    normal_matrix = np.block(
        [[np.diag(row_weights), weights], [weights.T, np.diag(column_weights)]]
    )
    weighted = table * weights[:, :, None]
    sums = np.concatenate([weighted.sum(axis=1), weighted.sum(axis=0)])
    effects = np.linalg.lstsq(normal_matrix, sums)[0]
    rows, columns = effects[:n_rows], effects[n_rows:]
    return table - rows[:, None] - columns, rows, columns
