"""Interactions of a jointly trained bag: tables of pairs of features, trained after the stumps.

`select_pairs` chooses the pairs after the training of the stumps, and `InteractionMaster` trains
their tables. An *axis* is a feature of a pair with its values divided into cells: intervals,
categories, or the missing values (`boostbench.core.learners.feature_interactions.Axis`). A *view*
is a column that stumps compare with thresholds: a feature, or a column that represents one of its
categories or its missing values.
"""

from numbers import Integral
from typing import NamedTuple

import numpy as np

from boostbench.algorithms.bagging.block_regions import BlockQuadrants
from boostbench.algorithms.bagging.joint_losses import ValidationSamples
from boostbench.algorithms.bagging.joint_rounds import JointBoostingMaster
from boostbench.algorithms.explanation.stump_sums import StumpSum
from boostbench.core.learners.feature_interactions import Axis, make_axes, purify, rank_pairs
from boostbench.core.stumps.stump import Stumps

# Maximum number of thresholds of a feature in the table of a pair: a table has at most 32 x 32
# cells besides the cells of missing values.
MAX_THRESHOLDS = 31

# Maximum number of thresholds of a feature in the ranking of pairs, which takes time in proportion
# to its square.
MAX_RANKING_THRESHOLDS = 7


class Pair(NamedTuple):
    """Interaction of two features: the part of the scores that no function of one feature explains.

    Attributes
    ----------
    axes : tuple of two boostbench.core.learners.feature_interactions.Axis
        Cells of the two features.
    table : ndarray of shape (n_cells, n_cells, n_scores)
        Addend of the scores in each cell. Every row and column has mean 0 over the training data.
    """

    axes: tuple[Axis, Axis]
    table: np.ndarray

    def lookup(self, Z):
        """Return the addends of samples.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_views)
            Data as views.

        Returns
        -------
        ndarray of shape (n_samples, n_scores)
        """
        first, second = self.axes
        return self.table[first.cell_indices(Z), second.cell_indices(Z)]

    @property
    def n_cells(self):
        """Number of cells of the table."""
        return self.table.shape[0] * self.table.shape[1]

    def flat_cell_indices(self, Z):
        """Return the index of each sample's cell in the raveled table."""
        cells = [axis.cell_indices(Z) for axis in self.axes]
        return np.ravel_multi_index(cells, self.table.shape[:2])


def select_pairs(stump_master):
    """Return the requested pairs of features, or the strongest ones by FAST [1]_.

    Parameters
    ----------
    stump_master : boostbench.algorithms.bagging.stump_rounds.JointStumpMaster
        Finished training of the stumps.

    Returns
    -------
    axes : list of boostbench.core.learners.feature_interactions.Axis
        Cells of the features of the pairs. Features with a monotonic constraint are excluded.
    pairs : ndarray of shape (n_pairs, 2)
        Indices of the two axes of each pair.

    References
    ----------
    .. [1] Y. Lou, R. Caruana, J. Gehrke and G. Hooker, "Accurate intelligible models with pairwise
       interactions", KDD 2013.
    """
    views, codes = stump_master.params.views_, stump_master.codes
    thresholds = {
        int(view): codes.threshold_of_stump[codes.view_of_stump == view]
        for view in np.unique(codes.view_of_stump)
    }
    # 1) Divide each feature into few cells for the ranking, and into more cells for the tables.
    #    Both lists of axes have the same order.
    constrained = set(views.feature[stump_master.signs != 0])
    coarse, fine = (
        [axis for axis in axes if axis.feature not in constrained]
        for axes in (
            make_axes(views, thresholds, MAX_RANKING_THRESHOLDS),
            make_axes(views, thresholds, MAX_THRESHOLDS),
        )
    )
    # 2) Rank the pairs, unless they are given.
    requested = stump_master.interactions
    if isinstance(requested, Integral):
        selected = _rank_pairs(stump_master, coarse)[:requested] if len(fine) > 1 else []
    else:
        axis_of_feature = {axis.feature: index for index, axis in enumerate(fine)}
        selected = [
            [axis_of_feature[feature] for feature in pair]
            for pair in requested
            if axis_of_feature.keys() >= set(pair)
        ]
    # 3) Number the axes of the selected pairs.
    selected = np.reshape(selected, (-1, 2)).astype(int)
    axis_indices, pairs = np.unique(selected, return_inverse=True)
    return [fine[index] for index in axis_indices], pairs.reshape(-1, 2)


def _rank_pairs(stump_master, axes):
    """Return all pairs of indices into `axes`, strongest interaction first: (n_pairs, 2).

    The ranking uses the derivatives of the loss at the out-of-bag scores.
    """
    # 1) Compute the out-of-bag scores, in the order of the blocks: (n_scores, n_samples). Select
    #    the samples that are out of some bag. The last axis of length 1 stands for the members,
    #    which `block_loss` expects.
    rows = np.concatenate(stump_master.block_rows)
    block_best_scores = zip(stump_master.blocks, stump_master.best_scores, strict=True)
    scores = np.concatenate(
        [block.out_of_bag_scores(best_scores) for block, best_scores in block_best_scores], axis=1
    )
    has_out_of_bag = np.concatenate([block.out_of_bag_weights for block in stump_master.blocks]) > 0
    rows, scores = rows[has_out_of_bag], scores[:, has_out_of_bag, None]
    # 2) Find whether a sample is above each threshold of each axis. The `outputs` of the stumps on
    #    an axis have the shape (n_cells, n_stumps), so that an item of `is_above` has the shape
    #    (n_samples, n_stumps).
    fill, X = stump_master.params.views_.fill, stump_master.X[rows]
    is_above = []
    for axis in axes:
        _views, _thresholds, outputs = axis.stumps(fill[axis.views[0]])
        is_above.append(outputs[axis.cell_indices(X)] > 0)
    axis_of_threshold = np.repeat(
        np.arange(len(axes)), [axis_stumps.shape[1] for axis_stumps in is_above]
    )
    # 3) Compute the derivatives of the loss of these samples, of shape (n_scores, n_samples), and
    #    rank the pairs.
    weights = stump_master.weights[rows, None].astype(np.float32)
    loss = stump_master.loss.block_loss(stump_master.loss.target[rows], weights)
    slopes, curvatures = (values[..., 0].astype(float) for values in loss.derivatives(scores))
    ranked_pairs, _gains = rank_pairs(
        np.hstack(is_above).astype(float), axis_of_threshold, slopes, curvatures
    )
    return ranked_pairs


def move_main_effects_to_stumps(pairs, stump_sum, views, X, weights):
    """Purify the tables of pairs, and move their main effects to the stumps.

    Parameters
    ----------
    pairs : list of Pair
    stump_sum : boostbench.algorithms.explanation.stump_sums.StumpSum
    views : boostbench.core.stumps.views.Views
    X : ndarray of shape (n_samples, n_views)
        Training data as views.
    weights : ndarray of shape (n_samples,)
        Sample weights.

    Returns
    -------
    pairs : list of Pair
        Tables whose rows and columns have mean 0 over the training data.
    stump_sum : StumpSum
        Stumps that include the main effects.
    """
    # 1) List the stumps as columns (view, threshold), the keys, with their coefficients. The
    #    `feature` of a stump is a view.
    stumps, coefficients, intercept = stump_sum
    stump_keys = [np.stack([stumps.feature, stumps.threshold])]
    intercept = np.atleast_1d(intercept)
    stump_coefficients = [coefficients.reshape(len(stumps), len(intercept))]
    # 2) Purify each table, and write its two main effects as stumps.
    purified_pairs = []
    for axes, table in pairs:
        cells = [axis.cell_indices(X) for axis in axes]
        shape = table.shape[:2]
        flat_cells = np.ravel_multi_index(cells, shape)
        cell_weights = np.bincount(flat_cells, weights, table[..., 0].size).reshape(shape)
        table, *main_effects = purify(table, cell_weights)
        purified_pairs.append(Pair(axes, table))
        for axis, values in zip(axes, main_effects, strict=True):
            stump_views, thresholds, outputs = axis.stumps(views.fill[axis.views[0]])
            # The main effect is a constant plus a sum of stumps, exactly.
            constant = np.ones((len(outputs), 1))
            solution = np.linalg.lstsq(np.hstack([constant, outputs]), values)[0]
            intercept = intercept + solution[0]
            stump_keys.append(np.stack([stump_views, thresholds]))
            stump_coefficients.append(solution[1:])
    # 3) Merge equal stumps.
    stump_keys, key_indices = np.unique(np.hstack(stump_keys), axis=1, return_inverse=True)
    merged_coefficients = np.zeros((stump_keys.shape[1], len(intercept)))
    np.add.at(merged_coefficients, key_indices, np.concatenate(stump_coefficients))
    stumps = Stumps.positive(*stump_keys)
    if coefficients.ndim == 1:
        return purified_pairs, StumpSum(stumps, merged_coefficients[:, 0], intercept[0])
    return purified_pairs, StumpSum(stumps, merged_coefficients, intercept)


class InteractionMaster(JointBoostingMaster):
    """Joint training of a table for each pair of features, after the stumps.

    The regions of a round are quadrants. For each feature a member draws a set of cells: the cells
    on one side of a threshold, with or without the missing values, or any set of categories. The
    quadrant of a pair contains the samples that are in the drawn cells of both features.

    Parameters
    ----------
    stump_master : JointStumpMaster
        Finished training of the stumps, with the scores of its best round.
    axes, pairs
        Results of `boostbench.algorithms.bagging.interactions.select_pairs`.

    Attributes
    ----------
    votes : ndarray of shape (n_pairs, n_cells, n_cells, n_scores)
        Tables of the pairs, averaged over the members: the addends of the scores in each cell. The
        name is from `JointBoostingMaster`. The tables are padded to the number of cells of the
        longest axis, `n_padded_cells` in the methods.
    blocks, losses, best_round, best_model, intercept, member_intercepts, best_member_intercepts
        See `JointBoostingMaster`; `best_model` is the pair of `votes` and `intercept` after the
        best round.

    Notes
    -----
    The drawn cells and the addends of all rounds are kept, from which `member_tables` computes the
    tables of each member. The tables of all members would need more memory than the samples.
    """

    def __init__(self, stump_master, axes, pairs):
        # 1) Give the blocks of samples their quadrants, and the scores of the best round of stumps.
        self._axes, self._pairs = axes, pairs
        cells = np.stack([axis.cell_indices(stump_master.X) for axis in axes])
        stump_blocks = zip(
            stump_master.blocks, stump_master.best_scores, stump_master.block_rows, strict=True
        )
        blocks = [
            block.replace_regions(BlockQuadrants(cells[:, rows], pairs), scores)
            for block, scores, rows in stump_blocks
        ]
        # 2) Mark the cells whose order matters. `_is_ordered[axis, cell]` is True for the
        #    n_thresholds + 1 intervals of a numeric axis, which come first. It is False for a cell
        #    of missing values, for categories, and for padding.
        n_padded_cells = max(axis.n_cells for axis in axes)
        self._n_thresholds = np.array(
            [0 if axis.thresholds is None else len(axis.thresholds) for axis in axes]
        )
        self._is_ordered = (
            np.arange(n_padded_cells)
            < np.where(self._n_thresholds, self._n_thresholds + 1, 0)[:, None]
        )
        # 3) Start with tables of zeros.
        n_scores = len(stump_master.intercept)
        # Drawn cells of all axes, packed to bits, and votes of all quadrants, of each round.
        self._drawn_cells_and_votes = []
        n_members = len(stump_master.member_intercepts)
        super().__init__(
            stump_master.params,
            stump_master.loss,
            stump_master.random_state,
            stump_master.threads,
            block_rows=stump_master.block_rows,
            blocks=blocks,
            votes=np.zeros((len(pairs), n_padded_cells, n_padded_cells, n_scores)),
            intercepts=np.zeros((n_scores, n_members)),
        )
        self.clock = stump_master.clock
        if stump_master.validation is not None:
            self.set_validation(self._validation_samples(stump_master))

    def _validation_samples(self, stump_master):
        """Return the validation samples of the stumps with their cells in the tables."""
        best_votes, best_intercept = stump_master.best_model
        score_table = stump_master.codes.score_table(best_votes)
        stump_scores = stump_master.validation.scores(score_table, best_intercept)
        viewed = stump_master.params.views_.transform(stump_master.X_val)
        cells = np.stack([axis.cell_indices(viewed) for axis in self._axes], axis=1)
        n_padded_cells = self.votes.shape[1]
        # Cells are numbered through all raveled tables; a table has n_padded_cells^2 cells.
        first_cell = np.arange(len(self._pairs)) * n_padded_cells**2
        pair_cells = (
            first_cell + cells[:, self._pairs[:, 0]] * n_padded_cells + cells[:, self._pairs[:, 1]]
        )
        return ValidationSamples(
            pair_cells,
            n_cells=len(self._pairs) * n_padded_cells**2,
            target=stump_master.validation.target,
            weights=stump_master.validation.weights,
            loss=self.loss,
            base_scores=stump_scores,
        )

    def cell_addends(self):
        """Return all tables, raveled: (n_pairs * n_cells * n_cells, n_scores)."""
        return self.votes.reshape(-1, self.votes.shape[-1])

    def draw_regions(self):
        """Draw a set of cells for each member and axis: 0 or 1, (n_members, n_axes, n_cells)."""
        # Ordered cells are drawn on one side of a threshold. The last two uniform numbers of an
        # axis choose the threshold and the side. Each other cell is drawn by its own number.
        n_members, n_padded_cells = self.blocks[0].scores.shape[2], self.votes.shape[1]
        uniforms = self.random_state.random_sample((n_members, len(self._axes), n_padded_cells + 2))
        threshold = (uniforms[..., -2] * self._n_thresholds).astype(int)
        is_reversed = uniforms[..., -1:] < 0.5
        is_drawn = (np.arange(n_padded_cells) > threshold[..., None]) != is_reversed
        return np.where(self._is_ordered, is_drawn, uniforms[..., :-2] < 0.5).astype(np.float32)

    def _region_sums(self, is_drawn_cell, total, quadrants):
        """Return the sums over all samples and over quadrants, which are sums of the blocks.

        The blocks add up the derivatives in each quadrant, so that nothing is left to compute.
        `total` has the shape (2 * n_scores, n_members), and `quadrants` the shape
        (n_members, 2 * n_scores, n_pairs).
        """
        return total, quadrants

    def _block_addends(self, is_drawn_cell, step_differences):
        """Return the step inside minus the step outside of each quadrant, as a tuple of one array.

        The array has the shape (n_members, n_scores, n_pairs). The blocks of other regions take
        several arrays; see `JointBoostingMaster._block_addends`.
        """
        return (step_differences.astype(np.float32),)

    def _add_votes(self, is_drawn_cell, quadrant_votes):
        """Add the votes of quadrants to the tables.

        `is_drawn_cell` has the shape (n_members, n_axes, n_cells), and `quadrant_votes` the shape
        (n_members, n_scores, n_pairs).
        """
        # A quadrant with the vote v adds v inside and -v outside. This is 2 v in the cells of the
        # quadrant, and -v in the intercept.
        first, second = (is_drawn_cell[:, self._pairs[:, index]] for index in (0, 1))
        self.intercept -= quadrant_votes.sum(axis=(0, 2))
        self.member_intercepts -= quadrant_votes.sum(axis=2)
        self._drawn_cells_and_votes.append(
            (np.packbits(is_drawn_cell.astype(bool), axis=-1), quadrant_votes)
        )
        # Axes m: member, p: pair, a and b: cells of its two axes, s: score. The path multiplies
        # `first` by `quadrant_votes` before `second`.
        path = ["einsum_path", (0, 2), (0, 1)]
        self.votes += 2 * np.einsum(
            "mpa,mpb,msp->pabs", first, second, quadrant_votes, optimize=path
        )

    def member_tables(self):
        """Return the parts of the best tables and of their intercept from each member.

        Returns
        -------
        tables : list of ndarray of shape (n_cells, n_cells, n_scores, n_members)
            Their sum over the members is the table of a pair.
        intercepts : ndarray of shape (n_members, n_scores)
        """
        packed_cells, quadrant_votes = zip(
            *self._drawn_cells_and_votes[: self.best_round], strict=True
        )
        # `is_drawn_cell` has the axes (axis, member, cell, round), and `quadrant_votes` the axes
        # (pair, score, member, round).
        is_drawn_cell = np.unpackbits(np.stack(packed_cells), axis=-1).transpose(2, 1, 3, 0)
        quadrant_votes = np.stack(quadrant_votes).transpose(3, 2, 1, 0)
        tables = []
        for (first, second), pair_votes in zip(self._pairs, quadrant_votes, strict=True):
            drawn_rows = is_drawn_cell[first, :, : self._axes[first].n_cells, :].astype(float)
            drawn_columns = is_drawn_cell[second, :, : self._axes[second].n_cells, :].astype(float)
            # Axes: (score, member, cell, cell); the sum is over rounds.
            table = 2 * (drawn_rows * pair_votes[:, :, None]) @ drawn_columns.swapaxes(1, 2)
            tables.append(table.transpose(2, 3, 0, 1))
        return tables, self.best_member_intercepts

    def train(self):
        """Run `n_iterations` rounds, or fewer if the loss stops decreasing or the time is over."""
        # `generate` draws quadrants and computes their Newton steps. `correct` scales the steps,
        # adds them to the tables, and returns False after `patience` rounds without a decrease.
        while len(self.losses) < self.params.n_iterations:
            proposal = self.generate()
            if proposal is None or not self.correct(proposal):
                break
            self._print_progress(len(self.losses))
            if self.clock.is_past(self.params.time_limit):
                break

    def _print_progress(self, rounds):
        """Print a line every `verbose` rounds; callbacks are called for rounds of stumps only."""
        params = self.params
        if params.verbose and rounds % params.verbose == 0:
            loss = self.loss.reported_losses(np.array(self.losses[-1]))
            progress = f"pairs, round {rounds} of {params.n_iterations}: loss {loss:.6g}"
            print(f"{type(params).__name__}, {progress} (best round {self.best_round})")

    def best_pairs(self):
        """Return the pairs and the intercept of the best round.

        Returns
        -------
        pairs : list of boostbench.algorithms.bagging.interactions.Pair
        intercept : ndarray of shape (n_scores,)
        """
        tables, intercept = (self.loss.scale * part for part in self.best_model)
        axis_pairs = [tuple(self._axes[index] for index in pair) for pair in self._pairs]
        pairs = [
            Pair(axes, table[: axes[0].n_cells, : axes[1].n_cells])
            for axes, table in zip(axis_pairs, tables, strict=True)
        ]
        return pairs, intercept
