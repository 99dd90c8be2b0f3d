"""Rounds of a bag: all members take Newton's steps at once, along columns that each draws."""

from abc import abstractmethod

import numpy as np

from boostbench.algorithms.bag_pairs import sum_of_unseen
from boostbench.algorithms.master import Master
from boostbench.algorithms.training.early_stopping import LEAST_FALL

# Added to the curvature on each side of a column, so that few samples move little: the default of
# XGBoost (`reg_lambda`). It makes steps shorter, not another minimum.
DAMPING = 1.0


class BagRounds(Master):
    """Members in training, by columns with two sides: stumps, or quadrants of tables.

    A subclass draws columns, by `draw`, and adds them to its votes, by `_add`.

    Parameters
    ----------
    params, search
        As of `Master`.
    loss : boostbench.algorithms.bag_losses.LogisticLoss or SquaredLoss
        With the target of each sample.
    random_state : RandomState
        Draws the columns.
    tested : ndarray of shape (n_samples,), dtype=bool
        Which samples some member does not see.
    weights : ndarray of shape (n_samples,)
        Of the samples, positive.

    Attributes
    ----------
    blocks : list of BagBlock
    losses : list of float
        After each round, of the samples by members that do not see them.
    best : int
        The last round of progress; 0 where the constant scores are best.
    votes : ndarray of shape (..., n_scores)
        Of the mean of the members, by column.
    intercept : ndarray of shape (n_scores,)
        What it adds to the scores of all samples.
    kept : tuple
        `votes` and `intercept` after the best round.
    are_open : ndarray of shape (n_members, n_columns) or True
        Which columns may be drawn.
    is_bound : bool
        Whether votes are held to a direction, by `_hold`.
    """

    are_open = True
    is_bound = False

    def __init__(self, params, search, loss, random_state, tested, weights):
        super().__init__(params, search)
        self.loss, self.random_state = loss, random_state
        self.tested, self.weights = tested, weights
        self._target, self._of_tested = loss.target[tested], weights[tested]

    def _begin(self, blocks, votes, intercept):
        self.blocks, self.votes, self.intercept = blocks, votes, intercept
        self.losses, self._least = [], np.inf
        self._look(self.loss_of_unseen())

    @property
    def scores(self):
        """Scores of all samples, of shape (n_samples, n_members, n_scores), dtype=float32."""
        return np.concatenate([block.scores for block in self.blocks], axis=2).transpose(2, 1, 0)

    @abstractmethod
    def draw(self):
        """Draw columns for each member: what the blocks' `sums` take."""

    @abstractmethod
    def _add(self, drawn, added):
        """Add to the votes, by member, score and column."""

    def _hold(self, drawn, slopes, curvatures, steps):
        """Change steps that would turn a vote into the wrong direction, where `is_bound`."""
        raise NotImplementedError

    def generate(self):
        """Find what each member gains by columns, and Newton's steps on both sides of each."""
        drawn = self.draw()
        total, above = _sum(block.sums(drawn) for block in self.blocks)
        # Slopes and curvatures by side, member, score, and feature.
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
            # Where votes are bound, other thresholds may do.
            return None
        share = gain / np.maximum(gain.max(axis=1, keepdims=True), np.finfo(float).tiny)
        return drawn, steps * share[:, None], (along * share).sum(axis=1)

    def correct(self, found):
        """Add the columns to the members; True while the bag gets better."""
        drawn, (low, high), slope = found
        curvature = sum(block.try_move(drawn, low, high) for block in self.blocks)
        size = self.params.eta * slope / np.maximum(curvature, np.finfo(np.float32).tiny)
        if self.is_bound:
            # No further than where votes are 0.
            size = np.minimum(size, 1.0)
        for block in self.blocks:
            block.move(size)
        # A stump has the output -1 or +1: half the difference of its sides, and their mean.
        half = size[:, None, None] / (2 * len(size))
        self.intercept += ((high + low) * half).sum(axis=(0, 2))
        self._add(drawn, (high - low) * half)
        self.losses.append(self.loss_of_unseen())
        self._look(self.losses[-1])
        return len(self.losses) < self.best + self.params.patience

    def _look(self, loss):
        """Keep the votes where the loss has fallen, and say whether it has."""
        has_fallen = loss < self._least - LEAST_FALL
        if has_fallen:
            self._least, self.best = loss, len(self.losses)
            self.kept = self.votes.copy(), self.intercept.copy()
        return has_fallen

    def loss_of_unseen(self):
        """Loss of the samples, each by the mean of the members that do not see it."""
        scores = sum_of_unseen(self.blocks, [block.scores for block in self.blocks])[self.tested]
        if scores.shape[1] == 1:
            scores = scores[:, 0]
        return self.loss.mean(scores, self._target, self._of_tested)


def _sum(pairs):
    """Sum up pairs of arrays in double precision."""
    totals = [0.0, 0.0]
    for pair in pairs:
        totals = [total + part.astype(float) for total, part in zip(totals, pair, strict=True)]
    return totals
