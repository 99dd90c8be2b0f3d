"""Rounds of a bag: all members take Newton's steps at once, along columns that each draws."""

from abc import abstractmethod

import numpy as np

from boostbench.algorithms.base.early_stopping import MIN_DECREASE
from boostbench.algorithms.base.master import Master

# Added to the curvature on each side of a column, so that few samples move little: the default of
# XGBoost (`reg_lambda`). It makes steps shorter, not another minimum.
DAMPING = 1.0

# Groups of blocks whose sums are added up separately, at most. Threads share out groups, and the
# groups do not depend on the number of threads, so that the model does not either.
_MAX_GROUPS = 32


class JointBoostingMaster(Master):
    """Members in training, by columns with two sides: stumps, or quadrants of tables.

    A subclass draws columns, by `draw_columns`, and adds them to its votes, by `_add_votes`. If its
    blocks do not take all columns in one array, it has its own `_block_draws`, `_column_sums` and
    `_block_addends`.

    Parameters
    ----------
    params : JointlyBaggedStumps
    loss : boostbench.algorithms.bagging.joint_losses.LogisticLoss or SquaredLoss
    random_state : RandomState
        Source of the draws.
    threads : boostbench.algorithms.base.threads.Threads

    Attributes
    ----------
    block_rows : list of ndarray of int64
        Samples of each block.
    blocks : list of SampleBlock
    losses : list of float
        Out-of-bag loss after each round: each sample is scored by the members that do not see it.
    best_round : int
        Last round of progress; 0 if the constant scores are best.
    votes : ndarray of shape (..., n_scores)
        Vote of each column in the mean of the members.
    intercept : ndarray of shape (n_scores,)
        Constant in the mean of the members.
    best_model : tuple
        `votes` and `intercept` after the best round.
    is_available : ndarray of shape (n_members, n_columns) or True
        True where a member may use a column.
    has_constraints : bool
        True if signs of votes are constrained, see `_apply_constraints`.
    """

    is_available = True
    has_constraints = False

    def __init__(self, params, loss, random_state, threads):
        super().__init__(params, search=None)
        self.loss, self.random_state, self.threads = loss, random_state, threads

    def _initialise(self, block_rows, blocks, votes, intercept):
        self.block_rows = block_rows
        self.blocks, self.votes, self.intercept = blocks, votes, intercept
        group_size = -(-len(blocks) // _MAX_GROUPS)
        self._groups = [
            blocks[start : start + group_size] for start in range(0, len(blocks), group_size)
        ]
        self._out_of_bag_weight = sum(block.out_of_bag_weights.sum() for block in blocks)
        self.losses, self._min_loss = [], np.inf
        self._track_best(
            self._mean_loss(self._sum_over_blocks(lambda block: (block.out_of_bag_loss(),)))
        )

    @property
    def scores(self):
        """Scores of all samples, of shape (n_samples, n_members, n_scores), dtype=float32."""
        scores = np.concatenate([block.scores for block in self.blocks], axis=1)
        return self.to_sample_order(scores.transpose(1, 2, 0))

    def to_sample_order(self, values):
        """Return values of the samples of all blocks in the order of the training data."""
        ordered = np.empty_like(values)
        ordered[np.concatenate(self.block_rows)] = values
        return ordered

    @abstractmethod
    def draw_columns(self):
        """Draw columns for each member."""

    @abstractmethod
    def _add_votes(self, draws, additions):
        """Add to the votes, by member, score and column."""

    def _apply_constraints(self, draws, slopes, curvatures, steps):
        """Change steps that would give a vote the wrong sign, if `has_constraints`."""
        raise NotImplementedError

    def _block_draws(self, draws):
        """Return the drawn columns as the blocks take them."""
        return draws

    def _column_sums(self, draws, total, sums):
        """Return the sums over the samples of columns: (n_members, n_sums, n_columns)."""
        return sums

    def _block_addends(self, draws, difference):
        """Return the addends of columns, (n_members, n_scores, n_columns), as blocks take them."""
        return (difference.astype(np.float32),)

    def generate(self):
        """Return columns, the steps on both sides of each, and the slopes along the steps.

        Returns
        -------
        draws : ndarray
            From `draw_columns`.
        steps : ndarray of shape (2, n_members, n_scores, n_columns)
            Newton's steps below and above, each in proportion to the gain of its column.
        slope : ndarray of shape (n_members,)
            Negative slope of the loss along all steps of a member.
            The result is None instead if no column has a gain.
        """
        draws = self.draw_columns()
        block_draws = self._block_draws(draws)
        total, *sums = self._sum_over_blocks(lambda block: block.derivative_sums(block_draws))
        above = self._column_sums(draws, total, *sums)
        above = above.reshape(len(above), 2, -1, above.shape[-1])
        total = total.T.reshape(above.shape[:-1])
        # Slopes and curvatures by side, member, score, and column.
        sides = np.stack([total[..., None] - above, above])
        slopes, curvatures = sides[:, :, 0], sides[:, :, 1]
        steps = slopes / (curvatures + DAMPING)
        decreases = slopes_along = (slopes * steps).sum(axis=(0, 2))
        if self.has_constraints:
            decreases, slopes_along = self._apply_constraints(
                draws, slopes[:, :, 0], curvatures[:, :, 0], steps[:, :, 0]
            )
        slope, curvature = total[:, 0], total[:, 1]
        gain = decreases - (slope**2 / (curvature + DAMPING)).sum(axis=1, keepdims=True)
        gain = np.where(self.is_available, gain.clip(0.0), 0.0)
        if not gain.any() and not self.has_constraints:
            # Signs of votes may forbid all of these thresholds, but not others.
            return None
        relative_gain = gain / np.maximum(gain.max(axis=1, keepdims=True), np.finfo(float).tiny)
        return draws, steps * relative_gain[:, None], (slopes_along * relative_gain).sum(axis=1)

    def correct(self, column):
        """Add the columns to the members; True while the bag gets better."""
        draws, (steps_below, steps_above), slope = column
        constant = steps_below.sum(axis=2).T.astype(np.float32)
        difference = steps_above - steps_below
        addends = constant, self._block_draws(draws), *self._block_addends(draws, difference)
        (curvature,) = self._sum_over_blocks(lambda block: (block.propose_step(*addends),))
        step_size = self.params.eta * slope / np.maximum(curvature, np.finfo(np.float32).tiny)
        if self.has_constraints:
            # A longer step could give a vote the wrong sign.
            step_size = np.minimum(step_size, 1.0)
        step_sizes = np.tile(step_size.astype(np.float32), (max(map(len, self.block_rows)), 1))
        self.losses.append(
            self._mean_loss(self._sum_over_blocks(lambda block: (block.apply_step(step_sizes),)))
        )
        # A stump has the output -1 or +1: half the difference of its sides, and their mean.
        half_step = step_size[:, None, None] / (2 * len(step_size))
        self.intercept += ((steps_above + steps_below) * half_step).sum(axis=(0, 2))
        self._add_votes(draws, difference * half_step)
        self._track_best(self.losses[-1])
        return len(self.losses) < self.best_round + self.params.patience

    def _sum_over_blocks(self, function):
        """Sum up the arrays of each block in double precision.

        Parameters
        ----------
        function : callable
            Takes a block and returns a tuple of arrays or floats.

        Returns
        -------
        list of ndarray
        """

        def group_sums(blocks):
            return _sum_arrays(function(block) for block in blocks)

        sums = self.threads.map(group_sums, self._groups)
        return sums[0] if len(sums) == 1 else _sum_arrays(sums)

    def _mean_loss(self, sums):
        """Return the out-of-bag loss from the sum over the samples."""
        return self.loss.stopping_loss(float(sums[0]) / self._out_of_bag_weight)

    def _track_best(self, loss):
        """Keep the votes if the loss fell, and return whether it did."""
        has_fallen = loss < self._min_loss - MIN_DECREASE
        if has_fallen:
            self._min_loss, self.best_round = loss, len(self.losses)
            self.best_model = self.votes.copy(), self.intercept.copy()
        return has_fallen


def _sum_arrays(parts):
    """Return the sums of equal members of tuples of arrays or floats, in double precision."""
    parts = iter(parts)
    totals = [np.array(part, dtype=float) for part in next(parts)]
    for part in parts:
        for total, array in zip(totals, part, strict=True):
            np.add(total, array, out=total)
    return totals
