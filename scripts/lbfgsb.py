"""Step 4 of MultiBoost as the MCBoost paper has it: by L-BFGS-B, from the round before."""

import numpy as np

from boostbench.core.losses import get_loss
from boostbench.core.pairwise import PairwiseLoss
from boostbench.core.solvers import nonnegative_l1


def correct(H, own, W, nu, max_iter):
    """Find all coefficients anew, by the logistic loss.

    Parameters
    ----------
    H : ndarray of shape (n_columns, n_samples)
        Outputs of the weak learners.
    own : ndarray of shape (n_classes, n_samples), dtype=bool
        True where the class is the sample's.
    W : ndarray of shape (n_classes, n_before)
        The coefficients of the round before; columns that it lacks start from 0.
    nu : float
        As of `boostbench.algorithms.MultiBoost`.
    max_iter : int
        L-BFGS-B iterations at most.

    Returns
    -------
    W : ndarray of shape (n_classes, n_columns)
    dual : ndarray of shape (n_classes, n_samples)
        The dual variables u there.
    """
    start = np.pad(W, ((0, 0), (0, len(H) - W.shape[1])))
    problem = PairwiseLoss(H, own, get_loss("logistic"))

    def smooth(w):
        value, gradient = problem.move(w.reshape(start.shape))
        return value, gradient.ravel()

    w, _ = nonnegative_l1(smooth, start.ravel(), nu * own.size, max_iter)
    problem.move(w.reshape(start.shape))
    return w.reshape(start.shape), problem.dual
