"""L-BFGS for an L1 norm over nonnegative coefficients, with cold and warm starts."""

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
        Starting point, nonnegative, of any shape.
    nu : float
        Weight of the L1 norm, nonnegative.
    max_iter : int
        Maximum number of L-BFGS-B iterations; 100 in RandomBoost, section IV-B.

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


# Relative progress at which the projected method stops. With `_FTOL` it would stop at larger slopes
# than L-BFGS-B.
_MIN_RELATIVE_DECREASE = 1e-12

# Unit of the rounded derivatives. The losses are sums, not means, and so are the rounding errors.
_DERIVATIVE_UNIT = 5e-7


class NonnegativeLBFGS:
    """Projected L-BFGS with the interface of `boostbench.core.solvers.newton.NonnegativeNewton`.

    It continues from one round to the next, on the grid of `nonnegative_quasi_newton`. SciPy's
    L-BFGS-B amplifies rounding errors, until two machines fit different models to the same data.
    """

    objective_rtol = _FTOL

    def minimise(self, problem, start, nu, tol, max_iter):
        """Minimise the objective; the problem is left at the solution.

        Parameters
        ----------
        problem : boostbench.core.solvers.newton.Problem
        start : ndarray
            Starting point, nonnegative.
        nu, max_iter
            See `nonnegative_quasi_newton`.
        tol : float
            Ignored: the solver has RandomBoost's stopping rule.

        Returns
        -------
        Solution
        """

        def smooth(w):
            value, gradient = problem.move(w.reshape(start.shape))
            return value, gradient.ravel()

        tolerances = {"progress": _MIN_RELATIVE_DECREASE, "resolution": _DERIVATIVE_UNIT}
        solution = nonnegative_quasi_newton(smooth, start.ravel(), nu, max_iter, **tolerances)
        return solution._replace(w=solution.w.reshape(start.shape))


SOLVERS = {"lbfgs": NonnegativeLBFGS, "newton": NonnegativeNewton}
