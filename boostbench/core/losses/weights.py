"""Pairwise margins between the own class of a sample and the others."""

import numpy as np


def pairwise_weights(dual, own):
    """Weights of the weak-learner problem from the dual variables of the pairwise margins.

    Parameters
    ----------
    dual : ndarray of shape (n_samples, n_classes)
        :math:`u_{ir}`, 0 for r = y_i.
    own : ndarray of shape (n_samples, n_classes), dtype=bool
        True for r = y_i.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        G with ``sum_ir u[i, r] (a[i, y_i] - a[i, r]) = sum_ir G[i, r] a[i, r]`` for any a.

    Examples
    --------
    >>> pairwise_weights(np.array([[0.0, 0.25, 0.75]]), np.array([[True, False, False]]))
    array([[ 1.  , -0.25, -0.75]])
    """
    return np.where(own, dual.sum(axis=1, keepdims=True), -dual)
