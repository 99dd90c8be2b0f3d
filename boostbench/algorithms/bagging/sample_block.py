"""Blocks of samples in the training of a bag: scores, and sums of derivatives over the samples.

A block is small enough to stay in the cache through a step of a round. In a round the members draw
*columns*: stumps (`boostbench.algorithms.bagging.stump_columns.StumpColumns`) or quadrants of pairs
of features (`boostbench.algorithms.bagging.interactions.PairColumns`).
"""

import copy

import numpy as np


class BagBlock:
    """Samples of a bag in training.

    Parameters
    ----------
    columns : StumpColumns or PairColumns
    target : ndarray of shape (n_samples,)
        Labels, ascending, or numbers.
    weights : ndarray of shape (n_samples,)
        Weights of the samples, positive.
    unseen : ndarray of shape (n_samples, n_members), dtype=bool
        True where a member does not see a sample.
    start : ndarray of shape (n_scores, n_members)
        Scores of all samples before the first round. Two classes have one score, the difference of
        the second class and the first.
    loss : boostbench.algorithms.bagging.joint_losses.LogisticLoss or SquaredLoss

    Attributes
    ----------
    scores : ndarray of shape (n_scores, n_samples, n_members), dtype=float32
    test_weights : ndarray of shape (n_samples,)
        Weights of the samples; 0 for a sample that all members see.
    """

    def __init__(self, columns, target, weights, unseen, start, loss):
        self.columns = columns
        self.scores = np.repeat(start[:, None].astype(np.float32), len(target), axis=1)
        # Curvatures from `sums` to `try_move`, and then the move: one array that stays, because
        # memory that is released and taken again in every round costs a page fault for each page.
        self._buffer = np.empty_like(self.scores)
        self._target, self._loss = target, loss
        seen_weights = np.where(unseen, 0.0, weights[:, None]).astype(np.float32)
        self._terms = loss.of_block(target, seen_weights)
        n_tests = unseen.sum(axis=1, keepdims=True)
        self._shares = (unseen / np.maximum(1, n_tests)).astype(np.float32)
        self.test_weights = np.where(n_tests[:, 0] > 0, weights, 0.0)

    def with_columns(self, columns, scores):
        """Return a block of the same samples with other columns and scores."""
        block = copy.copy(self)
        block.columns, block.scores = columns, scores.copy()
        return block

    def sums(self, drawn):
        """Sum up the slopes and curvatures of the loss.

        Parameters
        ----------
        drawn : ndarray
            Columns that the members draw, for `columns`.

        Returns
        -------
        tuple of ndarray, dtype=float32
            Sums over all samples, and over the samples of columns, from `columns`.
        """
        derivatives = self._terms.derivatives(self.scores)
        self._buffer[:] = derivatives[1]
        return self.columns.sums(derivatives.reshape(-1, *derivatives.shape[2:]), drawn)

    def try_move(self, constant, drawn, *addends):
        """Prepare a change of the scores, and return the second derivative of the loss along it.

        Parameters
        ----------
        constant : ndarray of shape (n_scores, n_members), dtype=float32
            Addend of all samples.
        drawn : ndarray
            As in `sums`.
        *addends : ndarray, dtype=float32
            Addends of columns, for `columns`.

        Returns
        -------
        ndarray of shape (n_members,), dtype=float32
            Second derivative at the scores of the last call of `sums`.
        """
        move = self.columns.moves(constant, drawn, *addends)
        curvature = self._terms.curvature_along(move, self._buffer)
        self._buffer[:] = move
        return curvature

    def move(self, size):
        """Change the scores, and return the out-of-bag loss.

        Parameters
        ----------
        size : ndarray of shape (n_rows, n_members), dtype=float32
            Factor of the change that `try_move` prepared, in as many rows as the block has samples,
            or more. NumPy multiplies equal shapes faster than it repeats a short row.
        """
        self._buffer *= size[: self._buffer.shape[1]]
        self.scores += self._buffer
        return self.out_of_bag_loss()

    def out_of_bag_loss(self):
        """Return the weighted sum of the losses of samples at their out-of-bag scores."""
        scores = self.out_of_bag_scores(self.scores)
        losses = self._loss.losses(scores[0] if len(scores) == 1 else scores.T, self._target)
        return float(losses @ self.test_weights)

    def out_of_bag_scores(self, scores):
        """Return the mean of the scores by the members that do not see a sample.

        Parameters
        ----------
        scores : ndarray of shape (n_scores, n_samples, n_members), dtype=float32

        Returns
        -------
        ndarray of shape (n_scores, n_samples), dtype=float32
            0 for a sample that all members see.
        """
        return (scores * self._shares) @ np.ones(scores.shape[2], np.float32)
