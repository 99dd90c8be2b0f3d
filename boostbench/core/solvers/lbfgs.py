"""L-BFGS-B, with the settings of RandomBoost, for an L1 norm over non-negative coefficients."""

import numpy as np
from scipy.optimize import minimize

from boostbench.core.solvers.newton import NonnegativeNewton, residual

# RandomBoost, section IV-B: "the number of corrections to approximate the inverse hessian matrix to
# 5", "the convergence parameter to terminate the program to 10^7 eps".
_CORRECTIONS = 5
_FTOL = 1e7 * np.finfo(float).eps


def nonnegative_l1(smooth, start, nu, max_iter):
    """Minimise ``f(w) + nu * sum(w)`` over ``w >= 0`` by L-BFGS-B, warm-started.

    Parameters
    ----------
    smooth : callable
        ``smooth(w)`` returns f and its gradient, of the shape of w.
    start : ndarray
        Where to start, not negative; of any shape.
    nu : float
        Weight of the L1 norm, not negative.
    max_iter : int
        L-BFGS-B iterations at most; 100 in RandomBoost, section IV-B.

    Returns
    -------
    w : ndarray of the shape of `start`
    value : float
        The objective at w.
    converged : bool
        False where the iterations ended at their limit, or a line search failed.

    Examples
    --------
    >>> w, value, converged = nonnegative_l1(
    ...     lambda w: (((w - [1, -1]) ** 2).sum(), 2 * (w - [1, -1])),
    ...     np.zeros(2), nu=0.5, max_iter=100)
    >>> print(w.round(4))
    [0.75 0. ]
    """

    def objective(w):
        value, gradient = smooth(w.reshape(start.shape))
        return value + nu * w.sum(), gradient.ravel() + nu

    if not start.size:  # scipy takes no empty array
        return start, float(smooth(start)[0]), True
    result = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * start.size,
        options={
            "maxiter": max_iter,
            "maxcor": _CORRECTIONS,
            "ftol": _FTOL,
        },
    )
    return result.x.reshape(start.shape), float(result.fun), result.success


class NonnegativeLBFGS:
    """`nonnegative_l1` in the place of `boostbench.core.solvers.newton.NonnegativeNewton`."""

    resolution = _FTOL

    def minimise(self, problem, start, nu, tol, max_iter):
        """Minimise, and leave the problem at the solution.

        Parameters
        ----------
        problem : boostbench.core.solvers.newton.Problem
        start, nu, max_iter
            As of `nonnegative_l1`.
        tol : float
            Not used: L-BFGS-B ends by settings of its own.

        Returns
        -------
        w : ndarray
        value : float
            The objective at w.
        residual : float
            As from `boostbench.core.solvers.newton.residual`.
        """
        w, value, _ = nonnegative_l1(problem.move, start, nu, max_iter)
        _, gradient = problem.move(w)
        return w, value, residual(w, gradient + nu)


SOLVERS = {"lbfgs": NonnegativeLBFGS, "newton": NonnegativeNewton}
