r"""Terms of the boosters' objectives: losses of the margins, and mixed norms of the coefficients.

The margin of a sample is the score of its class minus the score of another class. A loss is a
function :math:`\lambda(\rho)` of the margin, convex and falling; its dual variable is :math:`u =
-\lambda'(\rho)` (RandomBoost, eq. (16)). `get_loss` makes the losses.

A mixed norm is a penalty of GradBoost: the sum of the norms of the rows of a coefficient matrix.
Each row holds the coefficients of one weak learner, one per class. The penalty sets whole rows to
0, so that the classes share few weak learners. `ROW_NORMS` has the norms of the rows.
"""

from abc import ABC, abstractmethod

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


# Class of each value of the boosters' parameter `loss`.
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


class RowNorm(ABC):
    r"""Norm :math:`\|w\|` of the rows w of a matrix, with its proximal operator.

    The proximal operator :math:`prox(v)` with a weight is the minimiser of
    :math:`\frac12 \|w - v\|_2^2 + weight \|w\|` over w: the row v, moved towards 0.
    """

    @abstractmethod
    def evaluate(self, W):
        """Return the norm of each row of W, an array of shape (n_rows,)."""

    @abstractmethod
    def ranking_score(self, G, weight):
        r"""Return the scores by which GradBoost selects a weak learner, one per row of G.

        Row g has the negative derivatives of the loss by the coefficients of a weak learner. Its
        best coefficients minimise :math:`\frac12 \|w\|_2^2 - g^\top w + weight \|w\|`. The
        minimum is :math:`-\frac12 \|w\|_2^2` at :math:`w = prox(g)`. The score is the length of
        this w, or another number that orders the rows equally. It is 1-Lipschitz in g: rounding
        errors of g change it by their length at most.

        Parameters
        ----------
        G : ndarray of shape (n_rows, n_columns)
            May be overwritten.
        weight : float
            Non-negative.

        Returns
        -------
        ndarray of shape (n_rows,)
            Nonnegative scores.
        """

    @abstractmethod
    def prox(self, V, weight):
        r"""Minimise :math:`\frac12 \|w - v\|_2^2 + weight \|w\|` for each row v.

        Parameters
        ----------
        V : ndarray of shape (n_rows, n_columns)
        weight : float
            Non-negative.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Minimisers; a row is 0 exactly if its dual norm is at most `weight`.
        """


class Euclidean(RowNorm):
    """Penalty l1/l2: rows are 0, or shrunk by a constant length.

    Examples
    --------
    >>> Euclidean().prox(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    def evaluate(self, W):
        """Return the norm of each row; see `RowNorm.evaluate`."""
        return np.sqrt((W * W).sum(axis=1))

    def ranking_score(self, G, weight):
        """Return the length of each row, which orders rows for any weight; G is overwritten."""
        return euclidean_lengths(G)

    def prox(self, V, weight):
        """Return the proximal point of each row; see `RowNorm.prox`."""
        row_lengths = self.evaluate(V)[:, None]
        remaining_length = np.maximum(row_lengths - weight, 0.0)
        return V * np.divide(
            remaining_length, row_lengths, out=np.zeros_like(row_lengths), where=row_lengths > 0
        )


class Maximum(RowNorm):
    """Penalty l1/linf: rows are 0, or have their largest entries clipped to one magnitude.

    Examples
    --------
    >>> Maximum().prox(np.array([[3.0, -2.5, 1.0], [0.5, 0.3, 0.1]]), 1.0)
    array([[ 2.25, -2.25,  1.  ],
           [ 0.  ,  0.  ,  0.  ]])
    """

    def evaluate(self, W):
        """Return the norm of each row; see `RowNorm.evaluate`."""
        return np.abs(W).max(axis=1)

    def ranking_score(self, G, weight):
        """Return the Euclidean length of the proximal point of each row."""
        return euclidean_lengths(self.prox(G, weight))

    def prox(self, V, weight):
        """Return the proximal point of each row; see `RowNorm.prox`."""
        # The dual norm of the maximum is the l1 norm: prox(v) is v minus its projection onto the l1
        # ball of radius `weight` (Moreau). This clips the entries of v at a level t, so that the
        # amounts that are clipped off add up to the weight: t is the maximum over j of (sum of the
        # j largest - weight) / j. If t is negative, the row lies in the ball, and becomes 0.
        descending = -np.sort(-np.abs(V), axis=1)
        surplus = np.cumsum(descending, axis=1) - weight
        n_clipped = np.arange(1, V.shape[1] + 1, dtype=V.dtype)
        clip_level = (surplus / n_clipped).max(axis=1, keepdims=True)
        return np.clip(V, -np.maximum(clip_level, 0.0), np.maximum(clip_level, 0.0))


def euclidean_lengths(G):
    """Return the Euclidean length of each row of G, which is overwritten."""
    # A product with ones sums short rows at the speed of BLAS, unlike np.sum over a short axis.
    return np.sqrt(np.square(G, out=G) @ np.ones(G.shape[1], G.dtype))


# Class of each value of the parameter `norm` of `GradBoost`.
ROW_NORMS = {"l2": Euclidean, "linf": Maximum}
