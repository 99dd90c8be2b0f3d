"""Solvers for the coefficients of the current columns."""

import numpy as np
from scipy.optimize import minimize

# Paper 1, section IV-B: "the number of corrections to approximate the inverse hessian matrix to 5",
# "the convergence parameter to terminate the program to 10^7 eps".
_CORRECTIONS = 5
_FACTR = 1e7


def nonnegative_l1(smooth, start, nu, max_iter):
    """Minimise ``f(w) + nu * sum(w)`` over ``w >= 0`` by L-BFGS-B, warm-started.

    Parameters
    ----------
    smooth : callable
        ``smooth(w)`` returns f and its gradient, of shape (n_coefficients,).
    start : ndarray of shape (n_coefficients,)
        Where to start, not negative.
    nu : float
        Weight of the L1 norm, not negative.
    max_iter : int
        L-BFGS-B iterations at most; 100 in paper 1, section IV-B.

    Returns
    -------
    w : ndarray of shape (n_coefficients,)
    value : float
        The objective at w.

    Examples
    --------
    >>> w, value = nonnegative_l1(lambda w: (((w - [1, -1]) ** 2).sum(), 2 * (w - [1, -1])),
    ...                           np.zeros(2), nu=0.5, max_iter=100)
    >>> print(w.round(4))
    [0.75 0. ]
    """

    def objective(w):
        value, gradient = smooth(w)
        return value + nu * w.sum(), gradient + nu

    result = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(start),
        options={
            "maxiter": max_iter,
            "maxcor": _CORRECTIONS,
            "ftol": _FACTR * np.finfo(float).eps,
        },
    )
    return result.x, float(result.fun)
