"""Losses of jointly trained bags: targets, first scores, and the loss that ends the training.

`ValidationSamples` are the samples that this loss is computed from, if a user gives some.

A bag trains on standardised targets. `boostbench.core.losses.batched` computes the derivatives for
a block of samples and all members; a loss of this module makes it with `block_loss`.
"""

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from boostbench.algorithms.base.observers import log_losses
from boostbench.core.losses.batched import (
    BatchedBinaryLogistic,
    BatchedMulticlassLogistic,
    BatchedPoissonLoss,
    BatchedQuantileLoss,
    BatchedSquaredLoss,
)

# Width of the kernel that makes the quantile loss smooth, as a fraction of the mean absolute
# deviation of y.
SMOOTHING = 0.01


class LogisticLoss:
    """MCBoost's logistic loss without the norm of its coefficients, the penalty.

    `boostbench.core.losses.batched` has the formula.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Labels from 0 to n_classes - 1.
    n_classes : int

    Attributes
    ----------
    target : ndarray of shape (n_samples,)
        Target of each sample in the training.
    strata : ndarray of shape (n_samples,)
        Stratum of each sample; every bag contains samples of all strata.
    scale, offset : float
        The final scores are `scale * scores + offset`.
    """

    scale, offset = 1.0, 0.0

    def __init__(self, labels, n_classes):
        self.target = self.strata = labels
        self._n_classes = n_classes

    def transform_target(self, labels):
        """Return the target of other samples with given labels."""
        return labels

    def initial_scores(self, weights, is_in_bag):
        """Return the constant scores with the smallest loss over each bag.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
            Sample weights.
        is_in_bag : ndarray of shape (n_members, n_samples), dtype=bool
            True where a sample is in a member's bag.

        Returns
        -------
        ndarray of shape (n_scores, n_members)
            Two classes have one score, the score of the second class minus the score of the first.
        """
        # A weight of 0 adds nothing, and a product is faster than a selection of samples.
        sums = [np.bincount(self.target, weights * in_bag, self._n_classes) for in_bag in is_in_bag]
        scores = np.log(sums / np.sum(sums, axis=1, keepdims=True)).T
        return scores[1:] - scores[:1] if len(scores) == 2 else scores

    def block_loss(self, labels, weights):
        """Return the loss of a block of samples.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
            Ascending.
        weights : ndarray of shape (n_samples, n_members), dtype=float32
            Weight of each sample in each bag.

        Returns
        -------
        BatchedBinaryLogistic or BatchedMulticlassLogistic
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

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if scores.ndim == 1:
            # NumPy vectorises these functions, and takes five times as long for `logaddexp`.
            losses = np.log1p(np.exp(-np.abs(scores)))
            losses += np.maximum(np.where(labels > 0, -scores, scores), 0.0)
            return losses
        return log_losses(scores, labels)

    def stopping_loss(self, mean_loss):
        """Return the loss that early stopping monitors, given the mean of `sample_losses`."""
        return mean_loss

    def reported_losses(self, losses):
        """Return losses for reports, in the units of y, given results of `stopping_loss`.

        Here, these are log-losses, as they are.
        """
        return losses


class _LocationScaleLoss:
    """Base of losses of targets ``(y - offset) / scale``."""

    def _standardise(self, y, offset, scale):
        """Set the targets; all samples are in one stratum."""
        self.offset, self.scale = offset, scale
        self.target = self.transform_target(y)
        self.strata = np.zeros(len(y), int)

    def transform_target(self, y):
        """Return the target of other samples with given numbers."""
        return (y - self.offset) / self.scale


class SquaredLoss(_LocationScaleLoss):
    """Squared loss of targets that are standardised to mean 0 and variance 1.

    Early stopping monitors half the logarithm of the mean squared error, the log-loss of a normal
    distribution with this variance, so that one tolerance suits targets of any scale.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Numbers to predict.
    weights : ndarray of shape (n_samples,)
        Sample weights.

    Attributes
    ----------
    target, strata, scale, offset
        See `LogisticLoss`.

    Raises
    ------
    ValueError
        If there is only one sample.
    """

    def __init__(self, y, weights):
        _check_two_samples(y)
        offset = float(np.average(y, weights=weights))
        # Divide the deviations by a power of 2, which changes no digit, so that the largest is from
        # 1 to 2 and the squares neither overflow nor underflow.
        deviations = y - offset
        power_of_2 = np.ldexp(1.0, np.frexp(np.abs(deviations).max())[1] - 1)
        variance = np.average((deviations / power_of_2) ** 2, weights=weights)
        self._standardise(y, offset, power_of_2 * np.sqrt(variance) or 1.0)

    def initial_scores(self, weights, is_in_bag):
        """Return the mean target of each bag; see `LogisticLoss.initial_scores`."""
        return np.array(
            [[np.average(self.target[in_bag], weights=weights[in_bag]) for in_bag in is_in_bag]]
        )

    def block_loss(self, y, weights):
        """Return the loss of a block of samples; see `LogisticLoss.block_loss`."""
        return BatchedSquaredLoss(y, weights)

    def sample_losses(self, scores, y):
        """Return the squared error of each sample."""
        return (y - scores) ** 2

    def stopping_loss(self, mean_loss):
        """Return half the logarithm of the mean squared error."""
        return 0.5 * float(np.log(max(mean_loss, np.finfo(np.float32).tiny)))

    def reported_losses(self, losses):
        """Return mean squared errors of y, given results of `stopping_loss`."""
        return self.scale**2 * np.exp(2.0 * losses)


class PoissonLoss:
    """Poisson loss of targets that are divided by their mean; the score is a logarithm.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Numbers to predict.
    weights : ndarray of shape (n_samples,)
        Sample weights.

    Attributes
    ----------
    target, strata, scale, offset
        See `LogisticLoss`.

    Raises
    ------
    ValueError
        If a number is negative, or all are 0.
    """

    scale = 1.0

    def __init__(self, y, weights):
        _check_two_samples(y)
        _check_nonnegative(y)
        if not y.any():
            raise ValueError("loss='poisson' needs y with a number above 0")
        self._mean = float(np.average(y, weights=weights))
        self.offset = float(np.log(self._mean))
        self.target = y / self._mean
        # Every bag contains a number above 0, so that the logarithm of its mean is finite.
        self.strata = (y > 0).astype(int)

    def transform_target(self, y):
        """Return the target of other samples with given numbers."""
        _check_nonnegative(y)
        return y / self._mean

    def initial_scores(self, weights, is_in_bag):
        """Return the logarithm of the mean of each bag; see `LogisticLoss.initial_scores`."""
        means = [np.average(self.target[in_bag], weights=weights[in_bag]) for in_bag in is_in_bag]
        return np.log([means])

    def block_loss(self, y, weights):
        """Return the loss of a block of samples; see `LogisticLoss.block_loss`."""
        return BatchedPoissonLoss(y, weights)

    def sample_losses(self, scores, y):
        """Return half the deviance of each sample."""
        return xlogy(y, y) - y * scores - y + np.exp(scores)

    def stopping_loss(self, mean_loss):
        """Return the mean of `sample_losses`."""
        return mean_loss

    def reported_losses(self, losses):
        """Return mean Poisson deviances of y, given results of `stopping_loss`."""
        return 2.0 * self._mean * losses


class QuantileLoss(_LocationScaleLoss):
    """Quantile loss of the targets ``(y - q) / mean(|y - q|)``, where q is the quantile of y.

    Early stopping monitors the logarithm of the mean pinball loss, the log-loss of an asymmetric
    Laplace distribution with this scale, so that one tolerance suits targets of any scale.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Numbers to predict.
    weights : ndarray of shape (n_samples,)
        Sample weights.
    quantile : float
        Level of the quantile, between 0 and 1.

    Attributes
    ----------
    target, strata, scale, offset
        See `LogisticLoss`.
    """

    def __init__(self, y, weights, quantile):
        _check_two_samples(y)
        self._quantile = quantile
        offset = _weighted_quantile(y, weights, quantile)
        scale = float(np.average(np.abs(y - offset), weights=weights)) or 1.0
        self._standardise(y, offset, scale)

    def initial_scores(self, weights, is_in_bag):
        """Return the quantile of each bag; see `LogisticLoss.initial_scores`."""
        return np.array(
            [
                [
                    _weighted_quantile(self.target[in_bag], weights[in_bag], self._quantile)
                    for in_bag in is_in_bag
                ]
            ]
        )

    def block_loss(self, y, weights):
        """Return the loss of a block of samples; see `LogisticLoss.block_loss`."""
        return BatchedQuantileLoss(y, weights, self._quantile, SMOOTHING)

    def sample_losses(self, scores, y):
        """Return the pinball loss of each sample."""
        residuals = y - scores
        return np.maximum(self._quantile * residuals, (self._quantile - 1.0) * residuals)

    def stopping_loss(self, mean_loss):
        """Return the logarithm of the mean pinball loss."""
        return float(np.log(max(mean_loss, np.finfo(np.float32).tiny)))

    def reported_losses(self, losses):
        """Return mean pinball losses of y, given results of `stopping_loss`."""
        return self.scale * np.exp(losses)


class ValidationSamples:
    """Samples that decide when the training ends, in place of the samples out of the bags.

    The scores are computed from the mean of the members, and not for each member.

    Parameters
    ----------
    cells : ndarray of shape (n_samples, n_tables), dtype=int64
        Cell of each sample in each table of the model; cells are numbered through all tables.
    n_cells : int
        Number of cells of all tables.
    target : ndarray of shape (n_samples,)
        Target in the units of the training.
    weights : ndarray of shape (n_samples,)
        Nonnegative sample weights.
    loss : object
        Loss of this module, such as `LogisticLoss`.
    base_scores : ndarray of shape (n_samples, n_scores) or float, default=0.0
        Scores that the scores of the tables are added to.
    """

    def __init__(self, cells, n_cells, target, weights, loss, base_scores=0.0):
        n_samples, n_tables = cells.shape
        ends = np.arange(n_samples + 1) * n_tables
        self._is_in_cell = sparse.csr_array(
            (np.ones(cells.size), cells.ravel(), ends), (n_samples, n_cells)
        )
        self.target, self.weights = target, weights
        self._loss, self._base_scores = loss, base_scores

    def scores(self, tables, intercept):
        """Return the scores of the samples.

        Parameters
        ----------
        tables : ndarray of shape (n_cells, n_scores)
        intercept : ndarray of shape (n_scores,)

        Returns
        -------
        ndarray of shape (n_samples, n_scores)
        """
        return self._is_in_cell @ tables + intercept + self._base_scores

    def mean_loss(self, tables, intercept):
        """Return the loss that early stopping monitors; see `scores`."""
        scores = self.scores(tables, intercept)
        scores = scores[:, 0] if scores.shape[1] == 1 else scores
        losses = self._loss.sample_losses(scores, self.target)
        return self._loss.stopping_loss(float(np.average(losses, weights=self.weights)))


def _weighted_quantile(y, weights, quantile):
    """Return the smallest number whose share of the weights up to it reaches a quantile."""
    return float(np.quantile(y, quantile, weights=weights, method="inverted_cdf"))


def _check_two_samples(y):
    """Raise ValueError if no sample can be left out of a bag."""
    if len(y) < 2:
        raise ValueError(
            f"a bag needs 2 samples or more, to leave some out: X has n_samples={len(y)}"
        )


def _check_nonnegative(y):
    """Raise ValueError if a number is negative."""
    if (y < 0).any():
        raise ValueError(f"loss='poisson' needs y of at least 0, and y contains {y.min():g}")
