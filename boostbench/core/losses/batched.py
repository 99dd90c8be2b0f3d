r"""Losses of many models on the same samples, computed in one batch: the members of a bag.

A loss has two methods. `derivatives` returns the negative slope (minus the first derivative) and
the curvature (the second derivative) of the loss by each score of each sample; `curvature_along`
returns the second derivative of the total loss of each model along a change of all scores.

The logistic loss of scores F is the sum of :math:`\log(1 + e^{-\rho_{ir}})` over the samples i and
all classes r except the class of the sample, with the margins
:math:`\rho_{ir} = F_{y_i}(x_i) - F_r(x_i)`. This is eq. (14) of the MCBoost paper without the norm.
Models are the last axis of all arrays, so that the values of a sample are contiguous. Samples are
sorted by class, so that classes are slices.
"""

from itertools import pairwise

import numpy as np


class BatchedBinaryLogistic:
    """Logistic loss of one score, the score of the second class minus the score of the first.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Ascending labels 0 and 1.
    weights : ndarray of shape (n_samples, n_models), dtype=float32
        Weight of the loss of each sample in each model.

    Examples
    --------
    >>> loss = BatchedBinaryLogistic(np.array([0, 1]), np.ones((2, 1), np.float32))
    >>> negative_slopes, curvatures = loss.derivatives(np.zeros((1, 2, 1), np.float32))
    >>> negative_slopes.ravel().tolist(), curvatures.ravel().tolist()
    ([-0.5, 0.5], [0.25, 0.25])
    """

    def __init__(self, labels, weights):
        self._n_first = np.searchsorted(labels, 1)
        self._weights = weights

    def derivatives(self, scores):
        """Return the negative slope and the curvature of the loss in each score of each sample.

        Parameters
        ----------
        scores : ndarray of shape (n_scores, n_samples, n_models), dtype=float32

        Returns
        -------
        negative_slopes : ndarray of shape (n_scores, n_samples, n_models), dtype=float32
        curvatures : ndarray of shape (n_scores, n_samples, n_models), dtype=float32
        """
        # The margin is the score for samples of the second class, and minus the score for samples
        # of the first class, whose slope therefore changes its sign.
        is_first, is_second = slice(self._n_first), slice(self._n_first, None)
        margins = np.empty_like(scores)
        np.negative(scores[:, is_first], out=margins[:, is_first])
        margins[:, is_second] = scores[:, is_second]
        negative_slopes, curvatures = _margin_derivatives(margins, self._weights)
        np.negative(negative_slopes[:, is_first], out=negative_slopes[:, is_first])
        return negative_slopes, curvatures

    def curvature_along(self, direction, curvatures):
        """Return the second derivative of the loss along a change of the scores.

        Parameters
        ----------
        direction : ndarray of shape (n_scores, n_samples, n_models), dtype=float32
        curvatures : ndarray of shape (n_scores, n_samples, n_models), dtype=float32
            From `derivatives`.

        Returns
        -------
        ndarray of shape (n_models,), dtype=float32
        """
        return total_curvature(curvatures, direction * direction)


class BatchedMulticlassLogistic:
    """Logistic loss of one score for each class.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Ascending labels from 0 to n_classes - 1.
    weights : ndarray of shape (n_samples, n_models), dtype=float32
        Weight of the loss of each sample in each model.
    n_classes : int

    Examples
    --------
    >>> loss = BatchedMulticlassLogistic(np.array([0]), np.ones((1, 1), np.float32), 3)
    >>> negative_slopes, curvatures = loss.derivatives(np.zeros((3, 1, 1), np.float32))
    >>> negative_slopes.ravel().tolist(), curvatures.ravel().tolist()
    ([1.0, -0.5, -0.5], [0.5, 0.25, 0.25])
    """

    def __init__(self, labels, weights, n_classes):
        boundaries = np.searchsorted(labels, np.arange(n_classes + 1))
        # Label and slice of the samples of each class that has samples.
        self._classes = [
            (label, slice(start, end))
            for label, (start, end) in enumerate(pairwise(boundaries))
            if start < end
        ]
        self._weights = weights

    def derivatives(self, scores):
        """Return negative slopes and curvatures; see `BatchedBinaryLogistic.derivatives`."""
        derivatives = _margin_derivatives(self._margins(scores), self._weights)
        negative_slopes, _ = derivatives
        for label, samples in self._classes:
            # The margin to class r is the score of the own class, `label`, minus score r. The own
            # score is in all margins: its slope and its curvature are sums over the margins.
            for values in derivatives:
                values[label, samples] = 0.0
                values[label, samples] = values[:, samples].sum(axis=0)
            # Each other score r is in one margin, with a minus: it has the opposite slope and the
            # same curvature.
            np.negative(negative_slopes[:label, samples], out=negative_slopes[:label, samples])
            np.negative(
                negative_slopes[label + 1 :, samples], out=negative_slopes[label + 1 :, samples]
            )
        return derivatives

    def curvature_along(self, direction, curvatures):
        """Return second derivatives; see `BatchedBinaryLogistic.curvature_along`."""
        # The curvature of the margin to class r is the entry of class r in `curvatures`. The entry
        # of a sample's own class, the sum of the other entries, does not count: the margin to the
        # own class is 0.
        margins = self._margins(direction)
        margins *= margins
        return total_curvature(curvatures, margins)

    def _margins(self, scores):
        """Return the score of each sample's class minus all its scores."""
        margins = np.empty_like(scores)
        for label, samples in self._classes:
            np.subtract(scores[label, samples], scores[:, samples], out=margins[:, samples])
        return margins


class BatchedSquaredLoss:
    """Half the squared error of one score, the prediction.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Targets.
    weights : ndarray of shape (n_samples, n_models), dtype=float32
        Weight of the loss of each sample in each model.

    Examples
    --------
    >>> loss = BatchedSquaredLoss(np.array([3.0, -1.0]), np.full((2, 1), 2.0, np.float32))
    >>> negative_slopes, curvatures = loss.derivatives(np.ones((1, 2, 1), np.float32))
    >>> negative_slopes.ravel().tolist(), curvatures.ravel().tolist()
    ([4.0, -4.0], [2.0, 2.0])
    """

    def __init__(self, y, weights):
        self._y = y.astype(np.float32)[:, None]
        self._weights = weights

    def derivatives(self, scores):
        """Return negative slopes and curvatures; see `BatchedBinaryLogistic.derivatives`."""
        negative_slopes = self._y - scores
        negative_slopes *= self._weights
        return negative_slopes, np.broadcast_to(self._weights, scores.shape)

    def curvature_along(self, direction, curvatures):
        """Return second derivatives; see `BatchedBinaryLogistic.curvature_along`."""
        return total_curvature(curvatures, direction * direction)


class BatchedPoissonLoss:
    r"""Poisson loss :math:`e^F - y F` of one score F, the logarithm of the prediction.

    The curvature is :math:`(y + e^F) / 2` in place of :math:`e^F`. With Newton's curvature, a step
    towards samples whose predictions are far too small would overflow. With Y and E, the sums of y
    and of :math:`e^F` in a region, the step is :math:`2 (Y - E) / (Y + E)`. It never exceeds the
    step to the minimum, :math:`\log(Y / E)`, agrees with it to the second order, and is at most 2.
    At the minimum both curvatures have the same sum.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Nonnegative numbers.
    weights : ndarray of shape (n_samples, n_models), dtype=float32
        Weights of the terms of the loss.

    Examples
    --------
    >>> loss = BatchedPoissonLoss(np.array([3.0, 0.0]), np.full((2, 1), 2.0, np.float32))
    >>> negative_slopes, curvatures = loss.derivatives(np.zeros((1, 2, 1), np.float32))
    >>> negative_slopes.ravel().tolist(), curvatures.ravel().tolist()
    ([4.0, -2.0], [4.0, 1.0])
    """

    def __init__(self, y, weights):
        self._y = y.astype(np.float32)[:, None]
        self._weights = weights

    def derivatives(self, scores):
        """Return negative slopes and curvatures; see `BatchedBinaryLogistic.derivatives`."""
        predictions = np.exp(scores)
        curvatures = self._y + predictions
        curvatures *= np.float32(0.5)
        curvatures *= self._weights
        negative_slopes = np.subtract(self._y, predictions, out=predictions)
        negative_slopes *= self._weights
        return negative_slopes, curvatures

    def curvature_along(self, direction, curvatures):
        """Return second derivatives; see `BatchedBinaryLogistic.curvature_along`."""
        return total_curvature(curvatures, direction * direction)


class BatchedQuantileLoss:
    r"""Smooth quantile loss :math:`\tau u + h \log(1 + e^{-u/h})` of one score, with u = y - F.

    The pinball loss, the limit of width h to 0, has no curvature. Convolution with a logistic
    kernel makes it smooth [1]_. The curvature is :math:`\tanh(u / 2h) / 2u`, the curvature of the
    quadratic bound of Jaakkola and Jordan [2]_: the loss is at most this quadratic function of the
    score, so that a step to its minimum always decreases the loss.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_samples, n_models), dtype=float32
        Weights of the terms of the loss.
    quantile : float
        Level :math:`\tau` of the quantile, between 0 and 1.
    width : float
        Width h of the kernel, in the unit of y.

    References
    ----------
    .. [1] X. He, X. Pan, K. M. Tan and W.-X. Zhou, "Smoothed quantile regression with large-scale
       inference", Journal of Econometrics 232, 2023.
    .. [2] T. Jaakkola and M. Jordan, "Bayesian parameter estimation via variational methods",
       Statistics and Computing 10, 2000.

    Examples
    --------
    >>> loss = BatchedQuantileLoss(np.array([9.0, 0.0]), np.ones((2, 1), np.float32), 0.75, 0.5)
    >>> negative_slopes, curvatures = loss.derivatives(np.zeros((1, 2, 1), np.float32))
    >>> print(negative_slopes.ravel().round(3), curvatures.ravel().round(3))
    [0.75 0.25] [0.056 0.5  ]
    """

    def __init__(self, y, weights, quantile, width):
        self._y = y.astype(np.float32)[:, None]
        self._weights = weights
        self._quantile, self._width = np.float32(quantile), np.float32(width)

    def derivatives(self, scores):
        """Return negative slopes and curvatures; see `BatchedBinaryLogistic.derivatives`."""
        residuals = self._y - scores
        # The derivative by u, which is minus the derivative by F, is tau - expit(-u / h), or
        # tau - 1/2 + tanh(u / 2h) / 2.
        tanh = residuals * (np.float32(0.5) / self._width)
        np.tanh(tanh, out=tanh)
        # The curvature is tanh(u / 2h) / 2u, whose limit at 0 is 1 / (4 h).
        residuals *= np.float32(2.0)
        curvatures = np.full_like(scores, np.float32(0.25) / self._width)
        is_near = np.abs(residuals) < np.float32(1e-3) * self._width
        np.divide(tanh, residuals, out=curvatures, where=~is_near)
        negative_slopes = np.multiply(tanh, np.float32(0.5), out=tanh)
        negative_slopes += self._quantile - np.float32(0.5)
        negative_slopes *= self._weights
        curvatures *= self._weights
        return negative_slopes, curvatures

    def curvature_along(self, direction, curvatures):
        """Return second derivatives; see `BatchedBinaryLogistic.curvature_along`."""
        return total_curvature(curvatures, direction * direction)


def _margin_derivatives(margins, weights):
    """Return weighted negative slopes and curvatures of log(1 + e^-m) in the margins m.

    The negative slope is the dual variable u = 1 / (1 + e^m), and the curvature u (1 - u).

    Parameters
    ----------
    margins : ndarray of shape (n_scores, n_samples, n_models), dtype=float32
        Overwritten.
    weights : ndarray of shape (n_samples, n_models), dtype=float32
    """
    # An overflow gives the correct limit, 0. This is faster than `scipy.special.expit`.
    with np.errstate(over="ignore"):
        np.exp(margins, out=margins)
    margins += 1.0
    dual = np.reciprocal(margins, out=margins)
    negative_slopes = dual * weights
    curvatures = np.subtract(1.0, dual, out=dual)
    curvatures *= negative_slopes
    return negative_slopes, curvatures


def total_curvature(curvatures, squares):
    """Return the sum of curvatures times squared changes, for each model.

    Parameters
    ----------
    curvatures : ndarray of shape (n_scores, n_samples, n_models), dtype=float32
    squares : ndarray of shape (n_scores, n_samples, n_models), dtype=float32
        Squared changes. Overwritten.

    Returns
    -------
    ndarray of shape (n_models,), dtype=float32
    """
    squares *= curvatures
    # A matrix product is several times faster than `ndarray.sum`.
    return (np.ones(squares.shape[1], np.float32) @ squares).sum(axis=0)
