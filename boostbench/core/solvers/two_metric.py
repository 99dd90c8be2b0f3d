"""Projected L-BFGS for an L1 norm over non-negative coefficients, warm-started.

SciPy's L-BFGS-B takes most of its time for itself where a problem has hundreds of coefficients and
its functions are cheap. The two-metric projection method needs a few products of vectors instead: a
quasi-Newton step over the coefficients that are not held at 0, and a projection.
"""

from collections import deque

import numpy as np

from boostbench.core.solvers.coefficient_grid import snap_to_grid
from boostbench.core.solvers.solution import SolverResult, kkt_residual

_CORRECTIONS = 10

# Where RandomBoost's L-BFGS-B ends: by its default for the gradient, and by "10^7 eps" (section
# IV-B) for the progress of an iteration.
_GRADIENT_TOLERANCE = 1e-5
_PROGRESS = 1e7 * np.finfo(float).eps

# A rise by less than that part of the objective is none: a line search does not fail by rounding,
# and whether a step was worth it is seen after it. It goes with `_PROGRESS`.
_RISE_TOLERANCE = 1e-8

# Bits of the largest derivative and of the longest step that are kept. A direction needs no more,
# and sums in double precision are sure of many more.
_GRADIENT_BITS, _STEP_BITS = 24, 16

# Derivatives below that are none. A thousandth of where it ends takes hardly more steps than all
# digits do, a twentieth takes twice as many.
_RESOLUTION = _GRADIENT_TOLERANCE / 1000

_SUFFICIENT_DECREASE = 1e-4
_BACKTRACK = 0.3
_MIN_STEP_SIZE = 1e-6


def nonnegative_quasi_newton(
    smooth, start, nu, max_iter, *, progress=_PROGRESS, resolution=_RESOLUTION
):
    """Minimise ``f(w) + nu * sum(w)`` over ``w >= 0``, from a good start.

    Parameters
    ----------
    smooth : callable
        ``smooth(w)`` returns f and its gradient, of the shape of w. It is called last at the
        solution.
    start : ndarray of shape (n_coefficients,)
        Where to start, not negative.
    nu : float
        Weight of the L1 norm, not negative.
    max_iter : int
        Steps at most.
    progress : float, default=2.2e-9
        It ends where a step lowers the objective by less than this part of it.
    resolution : float, default=1e-8
        What derivatives are rounded to, at least: far above what the order of their sums decides.

    Returns
    -------
    Solution

    Notes
    -----
    It ends where no derivative is further than 1e-5 from what optimality demands, or where steps
    make no progress.

    *On a grid.* Another library of linear algebra, or another processor, gives other last digits.
    Where the objective is flat, each step multiplies them: 1e-16 becomes 1e-4 within a hundred
    steps. So they are left out where they arise, and the solution is the same to the last bit
    however sums are added up. Derivatives keep 24 bits of the largest, and nothing below
    `resolution`; steps keep 16 bits of the longest. All else is done entry by entry, which gives
    the same everywhere. Other digits get through only where a sum lies next to the middle between
    two points of the grid.

    References
    ----------
    .. [1] D. P. Bertsekas, "Projected Newton methods for optimization problems with simple
       constraints", SIAM Journal on Control and Optimization 20, 1982.

    Examples
    --------
    >>> solution = nonnegative_quasi_newton(
    ...     lambda w: (((w - [1, -1]) ** 2).sum(), 2 * (w - [1, -1])),
    ...     np.zeros(2), nu=0.5, max_iter=100)
    >>> print(solution.w.round(4), solution.converged)
    [0.75 0.  ] True
    """

    def objective(w):
        value, gradient = smooth(w)
        max_violation = kkt_residual(w, gradient + nu)
        gradient = snap_to_grid(gradient, _GRADIENT_BITS, resolution)
        return value + nu * w.sum(), gradient + nu, max_violation

    def search(step):
        rise = _RISE_TOLERANCE * (progress / _PROGRESS)
        return _line_search(objective, w, value, gradient, step, rise)

    w = start
    value, gradient, max_violation = objective(w)
    pairs = deque(maxlen=_CORRECTIONS)
    is_stationary = False
    for _ in range(max_iter):
        if max_violation <= _GRADIENT_TOLERANCE:
            break
        free = (w > 0) | (gradient < 0)
        step = _quasi_newton_step(pairs, np.where(free, -gradient, 0.0), free)
        step = snap_to_grid(step, _STEP_BITS)
        candidate = search(step)
        if candidate is None and pairs:
            pairs.clear()
            candidate = search(np.where(free, -gradient, 0.0))
        if candidate is None:
            smooth(w)
            break
        previous_value, previous = value, (w, gradient)
        w, value, gradient, max_violation = candidate
        pairs.append((w - previous[0], gradient - previous[1]))
        if previous_value - value <= progress * max(abs(previous_value), abs(value), 1.0):
            is_stationary = len(pairs) == 1
            if is_stationary:
                break
            # The step may have been a poor one only.
            pairs.clear()
    return SolverResult(
        w, float(value), max_violation, is_stationary or max_violation <= _GRADIENT_TOLERANCE
    )


def _quasi_newton_step(pairs, descent, free):
    """Multiply the L-BFGS inverse Hessian of the free coefficients with the descent direction.

    Parameters
    ----------
    pairs : iterable of (ndarray, ndarray)
        Steps and changes of the gradient, the oldest first.
    descent : ndarray of shape (n_coefficients,)
        0 where a coefficient is not free.
    free : ndarray of shape (n_coefficients,), dtype=bool

    Returns
    -------
    ndarray of shape (n_coefficients,)
        0 where a coefficient is not free. Without pairs, of an L1 norm of at most 1.
    """
    usable = []
    for step, change in pairs:
        step, change = step * free, change * free
        curvature = step @ change
        if curvature > 1e-10 * (change @ change):
            usable.append((step, change, curvature))
    if not usable:
        return descent / max(1.0, np.abs(descent).sum())
    direction, shares = descent, []
    for step, change, curvature in reversed(usable):
        shares.append((step @ direction) / curvature)
        direction = direction - shares[-1] * change
    step, change, curvature = usable[-1]
    direction = direction * (curvature / (change @ change))
    for step, change, curvature in usable:
        direction = direction + (shares.pop() - (change @ direction) / curvature) * step
    return direction


def _line_search(objective, w, value, gradient, step, rise):
    """Return a point of a sufficient decrease along the projected step, and its `objective`.

    None where there is none, as the projection turns the step uphill. A rise by less than the part
    `rise` of the objective is none.
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
