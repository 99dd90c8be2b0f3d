"""What a bag of sums of stumps is trained for: its loss, and the targets of the samples."""

import numpy as np

from boostbench.algorithms.base.early_stopping import log_losses
from boostbench.core.losses.batched import (
    BatchedBinaryLogistic,
    BatchedMulticlassLogistic,
    BatchedSquaredLoss,
)


class LogisticLoss:
    """MCBoost's loss without the norm; see `boostbench.core.losses.batched`.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    n_classes : int

    Attributes
    ----------
    target : ndarray of shape (n_samples,)
        What blocks of samples are made with.
    strata : ndarray of shape (n_samples,)
        Each member sees samples of all of these.
    scale, offset : float
        Scores are multiplied with the one, and the other is added, in the end.
    """

    scale, offset = 1.0, 0.0

    def __init__(self, labels, n_classes):
        self.target = self.strata = labels
        self._n_classes = n_classes

    def initial_scores(self, weights, is_in_bag):
        """Return the constant scores of the least loss.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
        is_in_bag : ndarray of shape (n_members, n_samples), dtype=bool
            True where a member sees a sample.

        Returns
        -------
        ndarray of shape (n_scores, n_members)
            Two classes have one score, the difference of the second class and the first.
        """
        sums = [
            np.bincount(self.target[rows], weights[rows], self._n_classes) for rows in is_in_bag
        ]
        scores = np.log(sums / np.sum(sums, axis=1, keepdims=True)).T
        return scores[1:] - scores[:1] if len(scores) == 2 else scores

    def block_loss(self, labels, weights):
        """Return the loss of a block of samples.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
            Ascending.
        weights : ndarray of shape (n_samples, n_members), dtype=float32

        Returns
        -------
        TwoClasses or ManyClasses
        """
        if self._n_classes == 2:
            return BatchedBinaryLogistic(labels, weights)
        return BatchedMulticlassLogistic(labels, weights, self._n_classes)

    def sample_losses(self, scores, labels):
        """Return the log-loss of each sample.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        labels : ndarray of shape (n_samples,)
        """
        return log_losses(scores, labels)

    def stopping_loss(self, mean_loss):
        """Return the loss that ends the training, from the mean of `sample_losses`."""
        return mean_loss

    def to_user_units(self, losses):
        """Return what a user sees of `stopping_loss`."""
        return losses


class SquaredLoss:
    """Squared errors of numbers, which are brought to the mean 0 and the variance 1.

    The mean that says when the training ends is half the logarithm of the mean squared error: the
    log-loss of a normal distribution with this variance. So one least fall does for any scale.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_samples,)

    Attributes
    ----------
    target, strata, scale, offset
        As of `LogisticLoss`.

    Raises
    ------
    ValueError
        If there is one sample only.
    """

    def __init__(self, y, weights):
        if len(y) < 2:
            raise ValueError(
                f"a bag leaves samples out, and X has n_samples={len(y)}: give 2 or more"
            )
        self.offset = float(np.average(y, weights=weights))
        deviations = y - self.offset
        # In a unit in which squares neither overflow nor vanish; a power of 2 changes no digit.
        power_of_2 = np.ldexp(1.0, np.frexp(np.abs(deviations).max())[1] - 1)
        variance = np.average((deviations / power_of_2) ** 2, weights=weights)
        self.scale = power_of_2 * np.sqrt(variance) or 1.0
        self.target = deviations / self.scale
        self.strata = np.zeros(len(y), int)

    def initial_scores(self, weights, is_in_bag):
        """As in `LogisticLoss`: means."""
        return np.array(
            [[np.average(self.target[rows], weights=weights[rows]) for rows in is_in_bag]]
        )

    def block_loss(self, y, weights):
        """As of `LogisticLoss`."""
        return BatchedSquaredLoss(y, weights)

    def sample_losses(self, scores, y):
        """Return the squared error of each sample."""
        return (y - scores) ** 2

    def stopping_loss(self, mean_loss):
        """Return half the logarithm of the mean squared error."""
        return 0.5 * float(np.log(max(mean_loss, np.finfo(np.float32).tiny)))

    def to_user_units(self, losses):
        """Return mean squared errors."""
        return self.scale**2 * np.exp(2.0 * losses)
