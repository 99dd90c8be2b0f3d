"""Some of the samples of a bag in training: their scores, and sums over those above stumps."""

import numpy as np


class BagBlock:
    """Samples whose numbers stay in the cache from one step of a round to the next.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_features), dtype=unsigned
        How many thresholds of each feature a sample is above.
    target : ndarray of shape (n_samples,)
        Labels or numbers.
    weights : ndarray of shape (n_samples, n_members)
        0 where a member does not see a sample.
    start : ndarray of shape (n_scores, n_members)
        The scores of all samples at first. For two classes there is one score, which is that of the
        second less that of the first.
    loss : callable
        From the target and the weights, of shape (n_members, n_samples), to their loss, of the kind
        `boostbench.core.losses.member_margins.TwoClasses`.

    Attributes
    ----------
    scores : ndarray of shape (n_scores, n_members, n_samples), dtype=float32
    """

    def __init__(self, codes, target, weights, start, loss):
        # Each feature's in one piece of memory.
        self._codes = np.ascontiguousarray(codes.T)
        weights = np.ascontiguousarray(weights.T, dtype=np.float32)
        self.scores = np.repeat(start[:, :, None].astype(np.float32), len(target), axis=2)
        self._loss = loss(target, weights)
        unseen = weights == 0
        self._shares = (unseen / np.maximum(1, unseen.sum(axis=0))).astype(np.float32)

    def sums(self, cut):
        """Sum up the slopes and curvatures of the loss.

        Parameters
        ----------
        cut : ndarray of shape (n_members, n_features)
            A threshold of each feature for each member: its number in the feature.

        Returns
        -------
        total : ndarray of shape (n_members, 2, n_scores), dtype=float32
            Slopes down, and curvatures.
        above : ndarray of shape (n_members, 2, n_scores, n_features), dtype=float32
            Those of the samples above the thresholds.
        """
        derivatives = self._loss.derivatives(self.scores).transpose(2, 0, 1, 3)
        n_members, _, n_scores, n_samples = derivatives.shape
        above = self._above(cut).transpose(0, 2, 1)
        if n_scores == 1:
            # Two products of a vector take half the time of one of two rows.
            of_above = derivatives @ above[:, None]
        else:
            of_above = derivatives.reshape(n_members, -1, n_samples) @ above
        total = derivatives @ np.ones(n_samples, np.float32)
        return total, of_above.reshape(*total.shape, -1)

    def try_move(self, cut, low, high):
        """Find a change of the scores, and the second derivative of the loss along it.

        Parameters
        ----------
        cut : ndarray of shape (n_members, n_features)
            As of `sums`.
        low, high : ndarray of shape (n_members, n_scores, n_features)
            What is added to the scores on both sides of the thresholds.

        Returns
        -------
        ndarray of shape (n_members,), dtype=float32
            At the scores of the last call of `sums`.
        """
        move = (high - low).astype(np.float32) @ self._above(cut)
        move += low.sum(axis=2, keepdims=True).astype(np.float32)
        self._move = move.transpose(1, 0, 2)
        return self._loss.curvature_along(self._move)

    def move(self, size):
        """Add to the scores so many times the last change, of shape (n_members,)."""
        self._move *= size[:, None].astype(np.float32)
        self.scores += self._move

    def scores_of_unseen(self, scores=None):
        """Return the mean scores by members that do not see a sample, (n_samples, n_scores)."""
        scores = self.scores if scores is None else scores
        return (scores * self._shares).sum(axis=1).T

    def _above(self, cut):
        """Which samples are above, of shape (n_members, n_features, n_samples), as 0 and 1."""
        above = np.empty((*cut.shape, self._codes.shape[1]), np.float32)
        return np.greater(self._codes, cut[:, :, None].astype(self._codes.dtype), out=above)
