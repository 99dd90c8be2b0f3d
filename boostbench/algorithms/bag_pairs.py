"""Pairs of features in a bag of sums of stumps: tables that are trained after the functions."""

from typing import NamedTuple

import numpy as np

from boostbench.algorithms.bag_block import BagBlock
from boostbench.algorithms.explaining.stump_sums import StumpSum
from boostbench.core.weak.pair_cells import Axis, axes_of, purified, ranked_pairs
from boostbench.core.weak.stump import Stump, Stumps

# Thresholds of a feature in a table, and in the ranking of pairs, at most.
MOST_CUTS, COARSE_CUTS = 31, 7


class Pair(NamedTuple):
    """What two features add to the scores together, besides what each adds alone.

    Attributes
    ----------
    axes : tuple of two boostbench.core.weak.pair_cells.Axis
    table : ndarray of shape (n_cells, n_cells, n_scores)
        In every row and column it has the mean 0 over the training data.
    """

    axes: tuple[Axis, Axis]
    table: np.ndarray

    def of(self, Z):
        """Look up what views show of samples; of shape (n_samples, n_scores)."""
        first, second = self.axes
        return self.table[first.cells(Z), second.cells(Z)]

    @property
    def n_cells(self):
        """Number of cells of the table."""
        return self.table.shape[0] * self.table.shape[1]

    def flat_cells(self, Z):
        """Return the cell of each sample, as a place in the raveled table."""
        cells = [axis.cells(Z) for axis in self.axes]
        return np.ravel_multi_index(cells, self.table.shape[:2])


class PairBlock(BagBlock):
    """Some of the samples of a bag, whose columns are quadrants of pairs instead of stumps."""

    def __init__(self, block, scores, cells, pairs):
        vars(self).update(vars(block))
        self.scores = scores.copy()
        self._cells, self._pairs = cells, pairs

    def _above(self, sides):
        """Which samples are in the quadrants; `sides` says which cells are, of each axis."""
        on = np.take_along_axis(sides, self._cells[None], axis=2)
        return on[:, self._pairs[:, 0]] * on[:, self._pairs[:, 1]]


def chosen_pairs(main):
    """Choose pairs of features by what the functions of single ones leave.

    Parameters
    ----------
    main : boostbench.algorithms.bag_master.BagMaster
        Trained.

    Returns
    -------
    axes : list of boostbench.core.weak.pair_cells.Axis
        Of the features of the pairs. Features that are held to one direction are in none.
    pairs : ndarray of shape (n_pairs, 2)
        Numbers of axes.
    """
    views, search = main.params.views_, main.search
    numbers = search.feature[main.stumps].astype(int)
    cuts = {
        int(view): np.sort(search.threshold[main.stumps[numbers == view]])
        for view in np.unique(numbers)
    }
    held = set(views.feature[main.signs != 0])
    coarse, fine = (
        [axis for axis in axes_of(views, cuts, most) if axis.feature not in held]
        for most in (COARSE_CUTS, MOST_CUTS)
    )
    if len(fine) < 2:
        return [], np.empty((0, 2), int)
    ranked = _ranked(main, coarse)[: main.params.interactions]
    used, pairs = np.unique(ranked, return_inverse=True)
    return [fine[at] for at in used], pairs.reshape(-1, 2)


def _ranked(main, axes):
    """Rank pairs by the derivatives at the scores by members that do not see a sample."""
    tested, fill = main.tested, main.params.views_.fill
    above = [
        axis.stumps(fill[axis.views[0]])[2][axis.cells(main.search.X[tested])] > 0 for axis in axes
    ]
    axis_of = np.repeat(np.arange(len(axes)), [some.shape[1] for some in above])
    scores = sum_of_unseen(main.blocks, main.best_scores)[tested].T[:, None]
    of_rows = main.weights[None, tested].astype(np.float32)
    loss = main.loss.of_block(main.loss.target[tested], of_rows)
    slopes, curvatures = loss.derivatives(np.ascontiguousarray(scores))[:, :, 0].astype(float)
    return ranked_pairs(np.hstack(above).astype(float), axis_of, slopes, curvatures)[0]


def sum_of_unseen(blocks, scores):
    """Mean scores by members that do not see a sample, of shape (n_samples, n_scores)."""
    parts = [block.scores_of_unseen(some) for block, some in zip(blocks, scores, strict=True)]
    return np.concatenate(parts)


def with_functions(pairs, total, views, X, weights):
    """Purify pairs, and give what is of one feature to the stumps.

    Parameters
    ----------
    pairs : list of Pair
    total : boostbench.algorithms.explaining.stump_sums.StumpSum
    views : boostbench.core.weak.views.Views
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
        cells = [axis.cells(X) for axis in axes]
        shape = table.shape[:2]
        flat = np.ravel_multi_index(cells, shape)
        of_cells = np.bincount(flat, weights, table[..., 0].size).reshape(shape)
        table, *of_axes = purified(table, of_cells)
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
