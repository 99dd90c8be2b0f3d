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
    """Minimise ``f(w) + nu * sum(w)`` over ``w >= 0`` by L-BFGS-B from a given start.

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
    SolverResult

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


# The projected method stops after a step that decreases the objective by a smaller fraction. With
# `_FTOL` it would stop at larger derivatives than L-BFGS-B.
_MIN_RELATIVE_DECREASE = 1e-12

# Unit to which derivatives are rounded. It is larger than the default of the projected method,
# 1e-8, because the losses are sums over pairs of samples and classes, whose rounding errors are
# larger than the rounding errors of means.
_DERIVATIVE_UNIT = 5e-7


class NonnegativeLBFGS:
    """Projected L-BFGS with the interface of `boostbench.core.solvers.newton.NonnegativeNewton`.

    Each round of boosting starts from the solution of the previous round. The solver rounds
    derivatives and steps, see `nonnegative_quasi_newton`, so that all machines fit the same model
    to the same data. SciPy's L-BFGS-B amplifies rounding errors until the models differ.

    Attributes
    ----------
    objective_rtol : float
        Relative difference below which two objectives are equal.
    """

    objective_rtol = _FTOL

    def minimise(self, problem, start, nu, tol, max_iter):
        """Minimise the objective; the solution becomes the current point of the problem.

        Parameters
        ----------
        problem : boostbench.core.solvers.newton.Problem
        start : ndarray
            Starting point, nonnegative.
        nu, max_iter
            See `nonnegative_quasi_newton`.
        tol : float
            Not used: the solver has RandomBoost's stopping rule.

        Returns
        -------
        SolverResult
        """

        def smooth(w):
            value, gradient = problem.move(w.reshape(start.shape))
            return value, gradient.ravel()

        tolerances = {"progress": _MIN_RELATIVE_DECREASE, "resolution": _DERIVATIVE_UNIT}
        solution = nonnegative_quasi_newton(smooth, start.ravel(), nu, max_iter, **tolerances)
        return solution._replace(w=solution.w.reshape(start.shape))


SOLVERS = {"lbfgs": NonnegativeLBFGS, "newton": NonnegativeNewton}
