r"""Convex losses of the margin: value and dual variables.

The margin of a sample is the score of its class minus the score of another class. A loss is a
function :math:`\lambda(\rho)` of the margin, convex and falling; its dual variable is :math:`u =
-\lambda'(\rho)` (RandomBoost, eq. (16)).
"""

import numpy as np


class Logistic:
    r""":math:`\lambda(\rho) = \log(1 + e^{-\rho})`, with :math:`0 < u < 1` (RandomBoost, eq. (25)).

    Examples
    --------
    >>> value, dual = Logistic().value_and_dual(np.array([0.0]))
    >>> print(value.round(4), dual)
    [0.6931] [0.5]
    """

    def value_and_dual(self, margin):
        """Evaluate the loss and its dual variables.

        Parameters
        ----------
        margin : ndarray
            Margins, of any shape.

        Returns
        -------
        value, dual : ndarray
            Loss and dual variable of each margin.
        """
        # log(1 + e^-m) = log(1 + e^-|m|) - min(m, 0), whose exponential cannot overflow.
        small = np.exp(-np.abs(margin))
        value = np.log1p(small) - np.minimum(margin, 0.0)
        # The dual variable is e^-m / (1 + e^-m) for positive margins and 1 / (1 + e^m) for others:
        # the denominator is 1 + `small`, and the numerator is `small` or 1, which is e^-max(m, 0).
        # A second exponential is faster than a choice by `np.where`.
        denominator = np.add(small, 1.0, out=small)
        dual = np.maximum(margin, 0.0)
        np.negative(dual, out=dual)
        np.exp(dual, out=dual)
        dual *= 1.0 / denominator
        return value, dual

    def curvature(self, dual):
        """Return the second derivative of the loss where its dual variable is `dual`.

        Parameters
        ----------
        dual : ndarray
            Dual variables, of any shape.

        Returns
        -------
        ndarray of the same shape
        """
        return dual * (1.0 - dual)


class Exponential:
    r""":math:`\lambda(\rho) = e^{-\rho} = u`.

    Examples
    --------
    >>> value, dual = Exponential().value_and_dual(np.array([0.0]))
    >>> print(value, dual)
    [1.] [1.]
    """

    # Largest exponent. Line searches try long steps, where the loss only has to be large and
    # finite.
    _LARGEST_EXPONENT = 300.0

    def value_and_dual(self, margin):
        """Evaluate the loss and its dual variables; see `Logistic.value_and_dual`."""
        value = np.exp(np.minimum(-margin, self._LARGEST_EXPONENT))
        return value, value.copy()

    def curvature(self, dual):
        """Return the second derivative, which is u as well; see `Logistic.curvature`."""
        return dual


class WeightedLoss:
    r"""Loss multiplied by sample weights: :math:`c_i \lambda(\rho)`.

    Parameters
    ----------
    loss : Logistic or Exponential
    sample_weight : ndarray of shape (n_samples,)
        Positive weights c. Samples are the last axis of the margins.

    Examples
    --------
    >>> value, dual = WeightedLoss(Exponential(), np.array([2.0, 3.0])).value_and_dual(np.zeros(2))
    >>> print(value, dual)
    [2. 3.] [2. 3.]
    """

    def __init__(self, loss, sample_weight):
        self._loss = loss
        self._sample_weight = sample_weight

    def value_and_dual(self, margin):
        """Evaluate the loss and its dual variables; see `Logistic.value_and_dual`."""
        value, dual = self._loss.value_and_dual(margin)
        return value * self._sample_weight, dual * self._sample_weight

    def curvature(self, dual):
        """Return the second derivative; see `Logistic.curvature`."""
        # The dual variables include the weights, which the loss does not know.
        return self._loss.curvature(dual / self._sample_weight) * self._sample_weight


# Loss of each name that a parameter `loss` may have.
LOSSES = {"exponential": Exponential, "logistic": Logistic}


def get_loss(name, sample_weight=None):
    """Return the loss with a given name.

    Parameters
    ----------
    name : {"exponential", "logistic"}
    sample_weight : ndarray of shape (n_samples,), default=None
        Positive weights of the samples, see `WeightedLoss`; None: all are 1.

    Returns
    -------
    Exponential, Logistic or WeightedLoss
    """
    loss = LOSSES[name]()
    return loss if sample_weight is None else WeightedLoss(loss, sample_weight)
