"""Step 4 of MultiBoost as the MCBoost paper has it: by L-BFGS-B, from the round before."""

import numpy as np

from boostbench.core.solvers.lbfgs import nonnegative_l1


def correct(problem, W, nu, max_iter):
    """Find all coefficients anew.

    Parameters
    ----------
    problem : boostbench.core.losses.pairwise.PairwiseLoss
    W : ndarray of shape (n_classes, n_before)
        The coefficients of the round before; columns that it lacks start from 0.
    nu : float
        As of `boostbench.algorithms.MultiBoost`.
    max_iter : int
        L-BFGS-B iterations at most.

    Returns
    -------
    ndarray of shape (n_classes, n_columns)
    """
    start = np.pad(W, ((0, 0), (0, len(problem.H) - W.shape[1])))

    def smooth(w):
        value, gradient = problem.move(w.reshape(start.shape))
        return value, gradient.ravel()

    w, _ = nonnegative_l1(smooth, start.ravel(), nu * problem.own.size, max_iter)
    return w.reshape(start.shape)
