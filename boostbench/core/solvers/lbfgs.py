"""L-BFGS-B, with the settings of RandomBoost, for an L1 norm over non-negative coefficients."""

import numpy as np
from scipy.optimize import minimize

from boostbench.core.solvers.newton import NonnegativeNewton
from boostbench.core.solvers.solution import Solution, residual

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
    Solution

    Examples
    --------
    >>> solution = nonnegative_l1(
    ...     lambda w: (((w - [1, -1]) ** 2).sum(), 2 * (w - [1, -1])),
    ...     np.zeros(2), nu=0.5, max_iter=100)
    >>> print(solution.w.round(4))
    [0.75 0. ]
    """

    def objective(w):
        value, gradient = smooth(w.reshape(start.shape))
        return value + nu * w.sum(), gradient.ravel() + nu

    if not start.size:  # scipy takes no empty array
        return Solution(start, float(smooth(start)[0]), 0.0, True)
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
    left = residual(result.x, result.jac)
    return Solution(result.x.reshape(start.shape), float(result.fun), left, bool(result.success))


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
        Solution
        """
        solution = nonnegative_l1(problem.move, start, nu, max_iter)
        problem.move(solution.w)
        return solution


SOLVERS = {"lbfgs": NonnegativeLBFGS, "newton": NonnegativeNewton}
