"""Pairs of features in a bag of sums of stumps: tables that are trained after the functions."""

from typing import NamedTuple

import numpy as np

from boostbench.algorithms.bagging.stump_columns import moves_above, sums, sums_above
from boostbench.algorithms.explanation.stump_sums import StumpSum
from boostbench.core.learners.feature_interactions import Axis, make_axes, purify, rank_pairs
from boostbench.core.stumps.stump import Stump, Stumps

# Thresholds of a feature in a table, and in the ranking of pairs, at most.
MOST_CUTS, COARSE_CUTS = 31, 7


class Pair(NamedTuple):
    """What two features add to the scores together, besides what each adds alone.

    Attributes
    ----------
    axes : tuple of two boostbench.core.learners.feature_interactions.Axis
    table : ndarray of shape (n_cells, n_cells, n_scores)
        In every row and column it has the mean 0 over the training data.
    """

    axes: tuple[Axis, Axis]
    table: np.ndarray

    def of(self, Z):
        """Look up what views show of samples; of shape (n_samples, n_scores)."""
        first, second = self.axes
        return self.table[first.cell_indices(Z), second.cell_indices(Z)]

    @property
    def n_cells(self):
        """Number of cells of the table."""
        return self.table.shape[0] * self.table.shape[1]

    def flat_cells(self, Z):
        """Return the cell of each sample, as a place in the raveled table."""
        cells = [axis.cell_indices(Z) for axis in self.axes]
        return np.ravel_multi_index(cells, self.table.shape[:2])


class PairColumns:
    """Quadrants of pairs of features on the samples of a block.

    Parameters
    ----------
    cells : ndarray of shape (n_axes, n_samples), dtype=int64
        Cell of each sample, for each axis.
    pairs : ndarray of shape (n_pairs, 2)
        Numbers of axes.
    """

    def __init__(self, cells, pairs):
        self._cells, self._pairs = cells, pairs

    def sums(self, derivatives, sides):
        """Sum up derivatives over the samples in each quadrant.

        Parameters
        ----------
        derivatives : ndarray of shape (n_sums, n_samples, n_members), dtype=float32
        sides : ndarray of shape (n_members, n_axes, n_cells), dtype=float32
            1 for the cells of each axis that a member draws, else 0.

        Returns
        -------
        total : ndarray of shape (n_sums, n_members), dtype=float32
        of_quadrants : ndarray of shape (n_members, n_sums, n_pairs), dtype=float32
        """
        return sums(derivatives), sums_above(derivatives, self._above(sides))

    def moves(self, constant, sides, addends):
        """Sum up the addends of each sample, as `moves_above`."""
        return moves_above(constant, addends, self._above(sides))

    def _above(self, sides):
        """Return 1 where a sample is in a quadrant: (n_members, n_pairs, n_samples)."""
        on = np.take_along_axis(sides, self._cells[None], axis=2)
        return on[:, self._pairs[:, 0]] * on[:, self._pairs[:, 1]]


def chosen_pairs(main):
    """Choose pairs of features by what the functions of single ones leave.

    Parameters
    ----------
    main : boostbench.algorithms.bagging.stump_rounds.BagMaster
        Trained.

    Returns
    -------
    axes : list of boostbench.core.learners.feature_interactions.Axis
        Of the features of the pairs. Features that are held to one direction are in none.
    pairs : ndarray of shape (n_pairs, 2)
        Numbers of axes.
    """
    views, table = main.params.views_, main.table
    cuts = {int(view): table.threshold[table.view == view] for view in np.unique(table.view)}
    held = set(views.feature[main.signs != 0])
    coarse, fine = (
        [axis for axis in make_axes(views, cuts, most) if axis.feature not in held]
        for most in (COARSE_CUTS, MOST_CUTS)
    )
    if len(fine) < 2:
        return [], np.empty((0, 2), int)
    ranked = _ranked(main, coarse)[: main.params.interactions]
    used, pairs = np.unique(ranked, return_inverse=True)
    return [fine[at] for at in used], pairs.reshape(-1, 2)


def _ranked(main, axes):
    """Rank pairs by the derivatives at the out-of-bag scores."""
    rows = np.concatenate(main.rows)
    parts = zip(main.blocks, main.best_scores, strict=True)
    scores = np.concatenate([block.out_of_bag_scores(best) for block, best in parts], axis=1)
    is_tested = np.concatenate([block.test_weights for block in main.blocks]) > 0
    rows, scores = rows[is_tested], scores[:, is_tested, None]
    fill, X = main.params.views_.fill, main.X[rows]
    above = [axis.stumps(fill[axis.views[0]])[2][axis.cell_indices(X)] > 0 for axis in axes]
    axis_of = np.repeat(np.arange(len(axes)), [some.shape[1] for some in above])
    weights = main.weights[rows, None].astype(np.float32)
    loss = main.loss.of_block(main.loss.target[rows], weights)
    slopes, curvatures = loss.derivatives(scores)[..., 0].astype(float)
    return rank_pairs(np.hstack(above).astype(float), axis_of, slopes, curvatures)[0]


def with_functions(pairs, total, views, X, weights):
    """Purify pairs, and give what is of one feature to the stumps.

    Parameters
    ----------
    pairs : list of Pair
    total : boostbench.algorithms.explanation.stump_sums.StumpSum
    views : boostbench.core.stumps.views.Views
    X : ndarray of shape (n_samples, n_views)
        The training data, as views show it.
    weights : ndarray of shape (n_samples,)

    Returns
    -------
    pairs : list of Pair
    total : StumpSum
    """
    stumps, coefficients, intercept = total
    keys = [np.stack([stumps.feature, stumps.threshold])]
    intercept = np.atleast_1d(intercept)
    votes = [coefficients.reshape(len(stumps), len(intercept))]
    purified_pairs = []
    for axes, table in pairs:
        cells = [axis.cell_indices(X) for axis in axes]
        shape = table.shape[:2]
        flat = np.ravel_multi_index(cells, shape)
        of_cells = np.bincount(flat, weights, table[..., 0].size).reshape(shape)
        table, *of_axes = purify(table, of_cells)
        purified_pairs.append(Pair(axes, table))
        for axis, values in zip(axes, of_axes, strict=True):
            at, thresholds, outputs = axis.stumps(views.fill[axis.views[0]])
            constant = np.ones((len(outputs), 1))
            solved = np.linalg.lstsq(np.hstack([constant, outputs]), values)[0]
            intercept = intercept + solved[0]
            keys.append(np.stack([at, thresholds]))
            votes.append(solved[1:])
    keys, at = np.unique(np.hstack(keys), axis=1, return_inverse=True)
    merged = np.zeros((keys.shape[1], len(intercept)))
    np.add.at(merged, at, np.concatenate(votes))
    stumps = Stumps([Stump(int(view), threshold) for view, threshold in keys.T])
    if coefficients.ndim == 1:
        return purified_pairs, StumpSum(stumps, merged[:, 0], intercept[0])
    return purified_pairs, StumpSum(stumps, merged, intercept)
