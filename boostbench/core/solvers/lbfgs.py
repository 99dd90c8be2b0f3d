"""L-BFGS for an L1 norm over nonnegative coefficients.

All functions minimise ``f(w) + nu * sum(w)`` over ``w >= 0`` for a smooth f.

- `scipy_lbfgsb` is L-BFGS-B of SciPy, with the settings of RandomBoost. With hundreds of
  coefficients and cheap functions, its overhead takes most of the time.
- `nonnegative_quasi_newton` is the two-metric projection method [1]_, written here. A step is a
  quasi-Newton step over the coefficients that are not held at 0, and a projection: a few products
  of vectors. Its results are equal on all machines.
- `NonnegativeLBFGS` is the same method for the problems of
  `boostbench.core.losses.restricted_problems`.

References
----------
.. [1] D. P. Bertsekas, "Projected Newton methods for optimization problems with simple
   constraints", SIAM Journal on Control and Optimization 20, 1982.
"""

from collections import deque

import numpy as np
from scipy.optimize import minimize

from boostbench.core.linear_algebra import snap_to_grid
from boostbench.core.solvers.newton import NonnegativeNewton, SolverResult, kkt_residual

# Number of corrections of L-BFGS-B in RandomBoost, section IV-B: "the number of corrections to
# approximate the inverse hessian matrix to 5".
_SCIPY_CORRECTIONS = 5

# Relative decrease of the objective in an iteration below which L-BFGS-B stops, in the same
# section: "the convergence parameter to terminate the program to 10^7 eps".
_PROGRESS = 1e7 * np.finfo(float).eps

# Violation of the optimality conditions at which the solvers stop: the default of L-BFGS-B.
_GRADIENT_TOLERANCE = 1e-5

# Number of steps and changes of the gradient that the projected method remembers.
_CORRECTIONS = 10

# Relative increase of the objective that a line search ignores, so that rounding does not make it
# fail. The progress of a step is checked after it. It is proportional to `_PROGRESS`.
_RISE_TOLERANCE = 1e-8

# Curvature of a pair of a step s and a gradient change y, as s @ y / (y @ y), above which the pair
# counts as positive in spite of rounding errors.
_MIN_CURVATURE = 1e-10

# Number of bits that are kept of the largest derivative; smaller ones are rounded to the same unit.
# A direction needs no more, and sums in double precision are far more accurate.
_GRADIENT_BITS = 24

# Number of bits that are kept of the longest step of a coefficient.
_STEP_BITS = 16

# Unit to which `nonnegative_quasi_newton` rounds derivatives by default. With a thousandth of the
# tolerance, the method takes hardly more steps than without rounding; with a twentieth, twice as
# many.
_GRADIENT_UNIT = _GRADIENT_TOLERANCE / 1000

# Fraction of the decrease by the initial slope that a step must reach.
_SUFFICIENT_DECREASE = 1e-4

# Factor by which the line search shortens a step that fails.
_BACKTRACK = 0.3

# Smallest fraction of a quasi-Newton step that the line search tries.
_MIN_STEP_SIZE = 1e-6

# Relative decrease of the objective in a step below which `NonnegativeLBFGS` stops. It is smaller
# than `_PROGRESS`, with which it would stop at larger derivatives than L-BFGS-B.
_MIN_RELATIVE_DECREASE = 1e-12

# Unit to which `NonnegativeLBFGS` rounds derivatives. It is larger than the default of the
# projected method, `_GRADIENT_UNIT`, because the losses are sums over pairs of samples and classes,
# whose rounding errors are larger than the rounding errors of means.
_GRADIENT_UNIT_OF_PAIR_LOSSES = 5e-7


def nonnegative_quasi_newton(
    smooth, start, nu, max_iter, *, initial=None, progress=_PROGRESS, gradient_unit=_GRADIENT_UNIT
):
    """Minimise ``f(w) + nu * sum(w)`` over ``w >= 0`` by the projected method, from a good start.

    Parameters
    ----------
    smooth : callable
        ``smooth(w)`` returns f and its gradient, of the shape of w. It is called last at the
        solution, or not at all if the start is the solution and `initial` is given.
    start : ndarray of shape (n_coefficients,)
        Starting point, nonnegative.
    nu : float
        Weight of the L1 norm, nonnegative.
    max_iter : int
        Maximum number of steps.
    initial : (float, ndarray), default=None
        f and its gradient at the start. None: ``smooth(start)`` is called.
    progress : float, default=2.2e-9
        Relative decrease of the objective in a step below which the method stops.
    gradient_unit : float, default=1e-8
        Minimum unit to which derivatives are rounded; it is far above their rounding errors.

    Returns
    -------
    SolverResult

    Notes
    -----
    The method stops if no derivative violates the optimality conditions by more than 1e-5, or if
    steps make no progress.

    *Rounding.* Libraries of linear algebra and processors differ in the last digits of sums. Where
    the objective is flat, each step amplifies the differences: 1e-16 becomes 1e-4 within a hundred
    steps. The method therefore rounds derivatives and steps, and the solution is equal to the last
    bit for any order of additions. Derivatives keep 24 bits of the largest one, and nothing below
    `gradient_unit`; steps keep 16 bits of the longest one. All other operations are elementwise,
    with the same result everywhere. Differences survive only if a sum lies next to the middle
    between two points of the grid.

    Examples
    --------
    >>> solution = nonnegative_quasi_newton(
    ...     lambda w: (((w - [1, -1]) ** 2).sum(), 2 * (w - [1, -1])),
    ...     np.zeros(2), nu=0.5, max_iter=100)
    >>> print(solution.w.round(4), solution.converged)
    [0.75 0.  ] True
    """

    def objective(w):
        """Evaluate f at w, and return objective, rounded gradient and violation there."""
        return penalised(w, *smooth(w))

    def penalised(w, value, gradient):
        """Return objective, rounded gradient and violation at w, given f and its gradient."""
        max_violation = kkt_residual(w, gradient + nu)
        gradient = snap_to_grid(gradient, _GRADIENT_BITS, gradient_unit)
        return value + nu * w.sum(), gradient + nu, max_violation

    def search_along(step):
        """Return the next point along a step, with its `objective`; None if there is none."""
        # `_RISE_TOLERANCE` belongs to the default of `progress`, and changes in proportion to it.
        rise = _RISE_TOLERANCE * (progress / _PROGRESS)
        return _line_search(objective, w, value, gradient, step, rise)

    w = start
    value, gradient, max_violation = penalised(w, *(initial or smooth(w)))
    pairs = deque(maxlen=_CORRECTIONS)
    is_stationary = False
    for _ in range(max_iter):
        if max_violation <= _GRADIENT_TOLERANCE:
            break
        # 1) Compute a quasi-Newton step over the coefficients that are not held at 0.
        free = (w > 0) | (gradient < 0)
        step = _quasi_newton_step(pairs, np.where(free, -gradient, 0.0), free)
        step = snap_to_grid(step, _STEP_BITS)
        # 2) Search along it, and along minus the gradient if this fails.
        candidate = search_along(step)
        if candidate is None and pairs:
            pairs.clear()
            candidate = search_along(np.where(free, -gradient, 0.0))
        if candidate is None:
            # The function promises to evaluate f last at the solution.
            smooth(w)
            break
        # 3) Remember the step and the change of the gradient, a pair by which later steps estimate
        # the Hessian, and stop if there is no progress.
        previous_value, previous_w, previous_gradient = value, w, gradient
        w, value, gradient, max_violation = candidate
        pairs.append((w - previous_w, gradient - previous_gradient))
        if previous_value - value <= progress * max(abs(previous_value), abs(value), 1.0):
            # A single pair belongs to a gradient step: if this makes no progress, w is the
            # solution.
            is_stationary = len(pairs) == 1
            if is_stationary:
                break
            # The quasi-Newton step may have been poor: the next step is a gradient step.
            pairs.clear()
    return SolverResult(
        w, float(value), max_violation, is_stationary or max_violation <= _GRADIENT_TOLERANCE
    )


def _quasi_newton_step(pairs, descent, free):
    """Return the product of the L-BFGS inverse Hessian of the free coefficients and a direction.

    Parameters
    ----------
    pairs : iterable of (ndarray, ndarray)
        Steps and changes of the gradient, in chronological order.
    descent : ndarray of shape (n_coefficients,)
        Descent direction, 0 for coefficients that are not free.
    free : ndarray of shape (n_coefficients,), dtype=bool

    Returns
    -------
    ndarray of shape (n_coefficients,)
        Step, 0 for coefficients that are not free. Without pairs its L1 norm is at most 1.
    """
    # 1) Restrict the pairs to the free coefficients, and keep the pairs of positive curvature:
    # L-BFGS needs them for a positive definite inverse Hessian. Without any, return a gradient
    # step.
    positive_pairs = []
    for step, change in pairs:
        step, change = step * free, change * free
        curvature = step @ change
        if curvature > _MIN_CURVATURE * (change @ change):
            positive_pairs.append((step, change, curvature))
    if not positive_pairs:
        return descent / max(1.0, np.abs(descent).sum())
    # 2) Apply the inverse Hessian by the two-loop recursion of L-BFGS: subtract the part along each
    # change, backward over the pairs; scale by the curvature of the last pair; and add the part
    # along each step, forward over the pairs.
    direction, pair_coefficients = descent, []
    for step, change, curvature in reversed(positive_pairs):
        pair_coefficients.append((step @ direction) / curvature)
        direction = direction - pair_coefficients[-1] * change
    step, change, curvature = positive_pairs[-1]
    direction = direction * (curvature / (change @ change))
    for step, change, curvature in positive_pairs:
        direction = direction + (pair_coefficients.pop() - (change @ direction) / curvature) * step
    return direction


def _line_search(objective, w, value, gradient, step, rise):
    """Return a point of sufficient decrease along the projected step.

    Parameters
    ----------
    objective : callable
        Function of a point that returns the objective, its gradient and the violation.
    w, gradient, step : ndarray of shape (n_coefficients,)
        Present point, gradient of the objective there, and step.
    value : float
        Objective at w.
    rise : float
        Increases of the objective below this fraction are ignored.

    Returns
    -------
    (ndarray, float, ndarray, float) or None
        Point, and the result of `objective` for it. None if there is no such point, because the
        projection turns the step uphill.
    """
    size = 1.0
    while size > _MIN_STEP_SIZE:
        point = np.maximum(w + size * step, 0.0)
        slope = gradient @ (point - w)
        if slope < 0:
            candidate = objective(point)
            if candidate[0] <= value + _SUFFICIENT_DECREASE * slope + rise * abs(value):
                return point, *candidate
        size *= _BACKTRACK
    return None


def scipy_lbfgsb(smooth, start, nu, max_iter):
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
    >>> solution = scipy_lbfgsb(
    ...     lambda w: (((w - [1, -1]) ** 2).sum(), 2 * (w - [1, -1])),
    ...     np.zeros(2), nu=0.5, max_iter=100)
    >>> print(solution.w.round(4))
    [0.75 0. ]
    """

    def objective(w):
        # SciPy passes flat arrays.
        value, gradient = smooth(w.reshape(start.shape))
        return value + nu * w.sum(), gradient.ravel() + nu

    result = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * start.size,
        options={"maxiter": max_iter, "maxcor": _SCIPY_CORRECTIONS, "ftol": _PROGRESS},
    )
    max_violation = kkt_residual(result.x, result.jac)
    return SolverResult(
        result.x.reshape(start.shape), float(result.fun), max_violation, bool(result.success)
    )


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

    objective_rtol = _PROGRESS

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

        solution = nonnegative_quasi_newton(
            smooth,
            start.ravel(),
            nu,
            max_iter,
            progress=_MIN_RELATIVE_DECREASE,
            gradient_unit=_GRADIENT_UNIT_OF_PAIR_LOSSES,
        )
        return solution._replace(w=solution.w.reshape(start.shape))


# Solver of each name that a parameter `solver` may have.
SOLVERS = {"lbfgs": NonnegativeLBFGS, "newton": NonnegativeNewton}
