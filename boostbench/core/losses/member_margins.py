r"""The logistic loss of margins, for many models of the same samples at once.

Of a model with the scores F, it is eq. (14) of MCBoost without the norm: the sum of
:math:`\log(1 + e^{-\rho_{ir}})` over the samples i and the classes r other than their own,
with the margins :math:`\rho_{ir} = F_{y_i}(x_i) - F_r(x_i)`. Samples are the last axis of all
arrays, so that what is done for each score and model is done to long vectors.
"""

import numpy as np


class TwoClasses:
    """The loss by one score, that of the second class less that of the first.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        0 or 1.
    weights : ndarray of shape (n_models, n_samples), dtype=float32
        Of the terms of the loss.

    Examples
    --------
    >>> loss = TwoClasses(np.array([0, 1]), np.ones((1, 2), np.float32))
    >>> loss.derivatives(np.zeros((1, 1, 2), np.float32)).ravel().tolist()
    [-0.5, 0.5, 0.25, 0.25]
    """

    def __init__(self, labels, weights):
        self._sign = np.where(labels > 0, 1.0, -1.0).astype(np.float32)
        self._weights = weights

    def derivatives(self, scores):
        """Slope down and curvature of the loss of each sample, in each score.

        Parameters
        ----------
        scores : ndarray of shape (n_scores, n_models, n_samples), dtype=float32

        Returns
        -------
        ndarray of shape (2, n_scores, n_models, n_samples), dtype=float32
        """
        derivatives = _derivatives(scores * self._sign, self._weights)
        slopes, self._curvatures = derivatives
        slopes *= self._sign
        return derivatives

    def curvature_along(self, move):
        """Second derivative of the loss along a change of the scores.

        Parameters
        ----------
        move : ndarray of shape (n_scores, n_models, n_samples), dtype=float32

        Returns
        -------
        ndarray of shape (n_models,), dtype=float32
            Where the derivatives were asked for last.
        """
        return second_derivative(self._curvatures, move * move)


class ManyClasses:
    """The loss by a score for each class.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    weights : ndarray of shape (n_models, n_samples), dtype=float32
        Of the terms of the loss.
    n_classes : int

    Examples
    --------
    >>> loss = ManyClasses(np.array([0]), np.ones((1, 1), np.float32), 3)
    >>> slopes, curvatures = loss.derivatives(np.zeros((3, 1, 1), np.float32))
    >>> slopes.ravel().tolist(), curvatures.ravel().tolist()
    ([1.0, -0.5, -0.5], [0.5, 0.25, 0.25])
    """

    def __init__(self, labels, weights, n_classes):
        n_models, n_samples = weights.shape
        # Where the scores of the own classes are.
        self._own = (labels * n_models + np.arange(n_models)[:, None]) * n_samples
        self._own += np.arange(n_samples)
        self._weights = weights * (labels != np.arange(n_classes)[:, None])[:, None]

    def derivatives(self, scores):
        """Slope down and curvature; as `TwoClasses.derivatives`."""
        derivatives = _derivatives(self._lead(scores), self._weights)
        slopes, curvatures = derivatives
        self._curvatures = curvatures
        np.negative(slopes, out=slopes)
        for part, total in ((slopes, -slopes.sum(axis=0)), (curvatures, curvatures.sum(axis=0))):
            part.ravel()[self._own] = total
        return derivatives

    def curvature_along(self, move):
        """Second derivative; as `TwoClasses.curvature_along`."""
        # The own classes' lead is 0.
        lead = self._lead(move)
        lead *= lead
        return second_derivative(self._curvatures, lead)

    def _lead(self, scores):
        """What the score of each sample's own class is ahead of the others."""
        return scores.take(self._own) - scores


def _derivatives(margin, weights):
    """Fall and curvature of the loss of each margin, times weights; overwrites the margins."""
    derivatives = np.empty((2, *margin.shape), np.float32)
    falls, curvatures = derivatives
    # An infinite number below the line is as good as any; faster than `expit`.
    with np.errstate(over="ignore"):
        np.exp(margin, out=margin)
    margin += 1.0
    dual = np.reciprocal(margin, out=margin)
    np.multiply(dual, weights, out=falls)
    np.subtract(1.0, dual, out=dual)
    np.multiply(falls, dual, out=curvatures)
    return derivatives


def second_derivative(curvatures, squares):
    """Sum up curvatures times squares of a change for each model; overwrites the squares.

    Parameters
    ----------
    curvatures : ndarray of shape (n_scores, n_models, n_samples) or (n_models, n_samples)
    squares : ndarray of shape (n_scores, n_models, n_samples), dtype=float32

    Returns
    -------
    ndarray of shape (n_models,), dtype=float32
    """
    squares *= curvatures
    # As a product, several times faster than a sum over the last axis.
    return (squares @ np.ones(squares.shape[2], np.float32)).sum(axis=0)
