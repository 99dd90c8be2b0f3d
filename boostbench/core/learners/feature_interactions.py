"""Cells of pairs of features: tables of two features, and which pairs a loss asks for.

The ranking of pairs is that of FAST [1]_: of each two features the best cut of both into four
quadrants, each with a step of its own.

References
----------
.. [1] Y. Lou, R. Caruana, J. Gehrke and G. Hooker, "Accurate intelligible models with pairwise
   interactions", KDD 2013.
"""

from typing import NamedTuple

import numpy as np

from boostbench.core.stumps.views import MISSING

# Added to curvatures, so that few samples say little.
_DAMPING = 1.0


class Axis(NamedTuple):
    """A feature, cut into cells.

    Attributes
    ----------
    feature : int
    views : ndarray of int
        Of the feature; see `boostbench.core.stumps.views.Views`.
    thresholds : ndarray of shape (n_thresholds,) or None
        Of the first view, where the feature is a number: cells are the steps between them, and one
        for missing values where the training had some. None for categories: a cell of each.
    has_missing : bool
    """

    feature: int
    views: np.ndarray
    thresholds: np.ndarray | None
    has_missing: bool

    @property
    def n_cells(self):
        """How many there are."""
        if self.thresholds is not None:
            return len(self.thresholds) + 1 + self.has_missing
        return max(2, len(self.views))

    def cell_indices(self, Z):
        """Find the cell of each sample from what views show of it, a row of Z."""
        if self.thresholds is None:
            if len(self.views) == 1:
                return (Z[:, self.views[0]] > 0.5).astype(int)
            return Z[:, self.views].argmax(axis=1)
        cells = self.thresholds.searchsorted(Z[:, self.views[0]])
        if self.has_missing:
            cells[Z[:, self.views[-1]] > 0.5] = self.n_cells - 1
        return cells

    def stumps(self, fill):
        """List stumps that can add up to any function of the cells.

        Parameters
        ----------
        fill : float
            What the first view shows of a missing value.

        Returns
        -------
        views, thresholds : ndarray of shape (n_stumps,)
        outputs : ndarray of shape (n_cells, n_stumps)
            -1 and +1.
        """
        if self.thresholds is None:
            eye = np.eye(self.n_cells)[:, -len(self.views) :]
            return self.views, np.full(len(self.views), 0.5), 2 * eye - 1
        views = np.repeat(self.views[0], len(self.thresholds))
        above = np.arange(self.n_cells)[:, None] > np.arange(len(self.thresholds))
        thresholds = self.thresholds
        if self.has_missing:
            above[-1] = fill > thresholds
            above = np.column_stack([above, np.arange(self.n_cells) == self.n_cells - 1])
            views, thresholds = np.append(views, self.views[-1]), np.append(thresholds, 0.5)
        return views, thresholds, 2.0 * above - 1.0


def make_axes(views, thresholds, max_thresholds):
    """Cut features into cells.

    Parameters
    ----------
    views : boostbench.core.stumps.views.Views
    thresholds : dict of int to ndarray
        Of each view that varies, ascending.
    max_thresholds : int
        Thresholds of a feature; of more, some at equal distances in their order.

    Returns
    -------
    list of Axis
        Of the features that vary.
    """
    axes = []
    for feature in range(views.n_features):
        of_feature = np.flatnonzero(views.feature == feature)
        if np.isnan(views.category[of_feature]).any():
            cuts = thresholds.get(int(of_feature[0]), np.empty(0))
            if len(cuts) > max_thresholds:
                cuts = cuts[np.linspace(0, len(cuts) - 1, max_thresholds).round().astype(int)]
            is_missing = bool((views.category[of_feature] == MISSING).any())
            if len(cuts):
                axes.append(Axis(feature, of_feature, cuts, is_missing))
        elif any(int(view) in thresholds for view in of_feature):
            axes.append(
                Axis(feature, of_feature, None, bool(np.isinf(views.category[of_feature]).any()))
            )
    return axes


def rank_pairs(is_above, feature_of_cut, slopes, curvatures):
    """Rank pairs of features by what four quadrants lower a loss by.

    Parameters
    ----------
    is_above : ndarray of shape (n_samples, n_cuts)
        0 or 1: on which side of each cut a sample is.
    feature_of_cut : ndarray of shape (n_cuts,)
        The feature that each cut is of, ascending, from 0 on.
    slopes, curvatures : ndarray of shape (n_scores, n_samples)
        Slopes down, and curvatures, of the loss.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2)
        All pairs, that of the largest fall first.
    gains : ndarray of shape (n_pairs,)
    """
    total = 0.0
    for slope, curvature in zip(slopes, curvatures, strict=True):
        quadrants = []
        for values in (slope, curvature):
            both = is_above.T @ (is_above * values[:, None])
            single = np.diag(both)
            first, second = single[:, None] - both, single - both
            quadrants.append(np.stack([both, first, second, values.sum() - both - first - second]))
        total = total + (quadrants[0] ** 2 / (quadrants[1] + _DAMPING)).sum(axis=0)
    starts = np.unique(feature_of_cut, return_index=True)[1]
    best_gains = np.maximum.reduceat(np.maximum.reduceat(total, starts, axis=0), starts, axis=1)
    pairs = np.stack(np.triu_indices(len(starts), 1), axis=1)
    gains = best_gains[pairs[:, 0], pairs[:, 1]]
    order = np.argsort(-gains, kind="stable")
    return pairs[order], gains[order]


def purify(table, weights):
    """Take from a table what is of one feature alone.

    What is left has the weighted mean 0 in every row and every column: it is what least squares by
    a number for each row and each column do not explain.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns, n_scores)
    weights : ndarray of shape (n_rows, n_columns)
        Of the samples in each cell.

    Returns
    -------
    table : ndarray of shape (n_rows, n_columns, n_scores)
    rows : ndarray of shape (n_rows, n_scores)
    columns : ndarray of shape (n_columns, n_scores)
        The three add up to the table that was given.

    Examples
    --------
    >>> table, rows, columns = purify(np.arange(4.0).reshape(2, 2, 1), np.ones((2, 2)))
    >>> bool(np.allclose(table, 0)), rows[:, 0].round(3), columns[:, 0].round(3)
    (True, array([-0.25,  1.75]), array([0.25, 1.25]))
    """
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
