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
_MOST_GROUPS = 32


class BagRounds(Master):
    """Members in training, by columns with two sides: stumps, or quadrants of tables.

    A subclass draws columns, by `draw`, and adds them to its votes, by `_add`. If its blocks do not
    take all columns in one array, it has its own `_block_draws`, `_above` and `_addends`.

    Parameters
    ----------
    params : BagOfStumps
    loss : boostbench.algorithms.bagging.joint_losses.LogisticLoss or SquaredLoss
    random_state : RandomState
        Source of the draws.
    threads : boostbench.algorithms.base.threads.Threads

    Attributes
    ----------
    rows : list of ndarray of int64
        Samples of each block.
    blocks : list of BagBlock
    losses : list of float
        Out-of-bag loss after each round: each sample is scored by the members that do not see it.
    best : int
        Last round of progress; 0 if the constant scores are best.
    votes : ndarray of shape (..., n_scores)
        Vote of each column in the mean of the members.
    intercept : ndarray of shape (n_scores,)
        Constant in the mean of the members.
    kept : tuple
        `votes` and `intercept` after the best round.
    are_open : ndarray of shape (n_members, n_columns) or True
        True where a member may use a column.
    is_bound : bool
        True if signs of votes are constrained, see `_hold`.
    """

    are_open = True
    is_bound = False

    def __init__(self, params, loss, random_state, threads):
        super().__init__(params, search=None)
        self.loss, self.random_state, self.threads = loss, random_state, threads

    def _begin(self, rows, blocks, votes, intercept):
        self.rows = rows
        self.blocks, self.votes, self.intercept = blocks, votes, intercept
        size = -(-len(blocks) // _MOST_GROUPS)
        self._groups = [blocks[start : start + size] for start in range(0, len(blocks), size)]
        self._test_weight = sum(block.test_weights.sum() for block in blocks)
        self.losses, self._least = [], np.inf
        self._look(self._mean_loss(self._sum(lambda block: (block.out_of_bag_loss(),))))

    @property
    def scores(self):
        """Scores of all samples, of shape (n_samples, n_members, n_scores), dtype=float32."""
        scores = np.concatenate([block.scores for block in self.blocks], axis=1)
        return self.sample_order(scores.transpose(1, 2, 0))

    def sample_order(self, values):
        """Return values of the samples of all blocks in the order of the training data."""
        ordered = np.empty_like(values)
        ordered[np.concatenate(self.rows)] = values
        return ordered

    @abstractmethod
    def draw(self):
        """Draw columns for each member."""

    @abstractmethod
    def _add(self, drawn, added):
        """Add to the votes, by member, score and column."""

    def _hold(self, drawn, slopes, curvatures, steps):
        """Change steps that would give a vote the wrong sign, if `is_bound`."""
        raise NotImplementedError

    def _block_draws(self, drawn):
        """Return the drawn columns as the blocks take them."""
        return drawn

    def _above(self, drawn, total, sums):
        """Return the sums over the samples of columns: (n_members, n_sums, n_columns)."""
        return sums

    def _addends(self, drawn, difference):
        """Return the addends of columns, (n_members, n_scores, n_columns), as blocks take them."""
        return (difference.astype(np.float32),)

    def generate(self):
        """Return columns, the steps on both sides of each, and the slopes along the steps.

        Returns
        -------
        drawn : ndarray
            From `draw`.
        steps : ndarray of shape (2, n_members, n_scores, n_columns)
            Newton's steps below and above, each in proportion to the gain of its column.
        slope : ndarray of shape (n_members,)
            Negative slope of the loss along all steps of a member.
            The result is None instead if no column has a gain.
        """
        drawn = self.draw()
        block_draws = self._block_draws(drawn)
        total, *sums = self._sum(lambda block: block.sums(block_draws))
        above = self._above(drawn, total, *sums)
        above = above.reshape(len(above), 2, -1, above.shape[-1])
        total = total.T.reshape(above.shape[:-1])
        # Slopes and curvatures by side, member, score, and column.
        sides = np.stack([total[..., None] - above, above])
        slopes, curvatures = sides[:, :, 0], sides[:, :, 1]
        steps = slopes / (curvatures + DAMPING)
        falls = along = (slopes * steps).sum(axis=(0, 2))
        if self.is_bound:
            falls, along = self._hold(drawn, slopes[:, :, 0], curvatures[:, :, 0], steps[:, :, 0])
        slope, curvature = total[:, 0], total[:, 1]
        gain = falls - (slope**2 / (curvature + DAMPING)).sum(axis=1, keepdims=True)
        gain = np.where(self.are_open, gain.clip(0.0), 0.0)
        if not gain.any() and not self.is_bound:
            # Signs of votes may forbid all of these thresholds, but not others.
            return None
        share = gain / np.maximum(gain.max(axis=1, keepdims=True), np.finfo(float).tiny)
        return drawn, steps * share[:, None], (along * share).sum(axis=1)

    def correct(self, column):
        """Add the columns to the members; True while the bag gets better."""
        drawn, (low, high), slope = column
        constant = low.sum(axis=2).T.astype(np.float32)
        addends = constant, self._block_draws(drawn), *self._addends(drawn, high - low)
        (curvature,) = self._sum(lambda block: (block.try_move(*addends),))
        size = self.params.eta * slope / np.maximum(curvature, np.finfo(np.float32).tiny)
        if self.is_bound:
            # A longer step could give a vote the wrong sign.
            size = np.minimum(size, 1.0)
        rows = np.tile(size.astype(np.float32), (max(map(len, self.rows)), 1))
        self.losses.append(self._mean_loss(self._sum(lambda block: (block.move(rows),))))
        # A stump has the output -1 or +1: half the difference of its sides, and their mean.
        half = size[:, None, None] / (2 * len(size))
        self.intercept += ((high + low) * half).sum(axis=(0, 2))
        self._add(drawn, (high - low) * half)
        self._look(self.losses[-1])
        return len(self.losses) < self.best + self.params.patience

    def _sum(self, function):
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
            return _total(function(block) for block in blocks)

        sums = self.threads.map(group_sums, self._groups)
        return sums[0] if len(sums) == 1 else _total(sums)

    def _mean_loss(self, sums):
        """Return the out-of-bag loss from the sum over the samples."""
        return self.loss.mean(float(sums[0]) / self._test_weight)

    def _look(self, loss):
        """Keep the votes if the loss fell, and return whether it did."""
        has_fallen = loss < self._least - MIN_DECREASE
        if has_fallen:
            self._least, self.best = loss, len(self.losses)
            self.kept = self.votes.copy(), self.intercept.copy()
        return has_fallen


def _total(parts):
    """Return the sums of equal members of tuples of arrays or floats, in double precision."""
    parts = iter(parts)
    totals = [np.array(part, dtype=float) for part in next(parts)]
    for part in parts:
        for total, array in zip(totals, part, strict=True):
            np.add(total, array, out=total)
    return totals
