"""L-BFGS for an L1 norm over non-negative coefficients: from zero, or from the round before."""

import numpy as np
from scipy.optimize import minimize

from boostbench.core.solvers.newton import NonnegativeNewton
from boostbench.core.solvers.solution import SolverResult, kkt_residual
from boostbench.core.solvers.two_metric import nonnegative_quasi_newton

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

    result = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * start.size,
        options={"maxiter": max_iter, "maxcor": _CORRECTIONS, "ftol": _FTOL},
    )
    max_violation = kkt_residual(result.x, result.jac)
    return SolverResult(
        result.x.reshape(start.shape), float(result.fun), max_violation, bool(result.success)
    )


# In the place of `_FTOL`, which ends the projected method before slopes are as small as L-BFGS-B
# leaves them.
_PROGRESS = 1e-12

# Losses are added up here, not averaged, and so is what their derivatives are off by.
_RESOLUTION = 5e-7


class NonnegativeLBFGS:
    """Projected L-BFGS in the place of `boostbench.core.solvers.newton.NonnegativeNewton`.

    It goes on from one round to the next, and on the grid of `nonnegative_quasi_newton`: SciPy's
    L-BFGS-B multiplies last digits on its way, until two machines make two models of the same data.
    """

    resolution = _FTOL

    def minimise(self, problem, start, nu, tol, max_iter):
        """Minimise, and leave the problem at the solution.

        Parameters
        ----------
        problem : boostbench.core.solvers.newton.Problem
        start : ndarray
            Where to start, not negative.
        nu, max_iter
            As of `nonnegative_quasi_newton`.
        tol : float
            Not used: the solver ends where RandomBoost's does.

        Returns
        -------
        Solution
        """

        def smooth(w):
            value, gradient = problem.move(w.reshape(start.shape))
            return value, gradient.ravel()

        tolerances = {"progress": _PROGRESS, "resolution": _RESOLUTION}
        solution = nonnegative_quasi_newton(smooth, start.ravel(), nu, max_iter, **tolerances)
        return solution._replace(w=solution.w.reshape(start.shape))


SOLVERS = {"lbfgs": NonnegativeLBFGS, "newton": NonnegativeNewton}
