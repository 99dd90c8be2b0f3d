"""Projected L-BFGS for an L1 norm over non-negative coefficients, warm-started.

SciPy's L-BFGS-B takes most of its time for itself where a problem has hundreds of coefficients and
its functions are cheap. The two-metric projection method needs a few products of vectors instead: a
quasi-Newton step over the coefficients that are not held at 0, and a projection.
"""

from collections import deque

import numpy as np

from boostbench.core.solvers.solution import Solution, residual

_CORRECTIONS = 10

# Where RandomBoost's L-BFGS-B ends: by its default for the gradient, and by "10^7 eps" (section
# IV-B) for the progress of an iteration.
_GRADIENT = 1e-5
_PROGRESS = 1e7 * np.finfo(float).eps

# A rise by less than that part of the objective is none: a line search does not fail by rounding,
# and whether a step was worth it is seen after it.
_ROUNDING = 1e-8

_SUFFICIENT_DECREASE = 1e-4
_BACKTRACK = 0.3
_SHORTEST_STEP = 1e-6


def nonnegative_quasi_newton(smooth, start, nu, max_iter):
    """Minimise ``f(w) + nu * sum(w)`` over ``w >= 0``, from a good start.

    Parameters
    ----------
    smooth : callable
        ``smooth(w)`` returns f and its gradient, of the shape of w.
    start : ndarray of shape (n_coefficients,)
        Where to start, not negative.
    nu : float
        Weight of the L1 norm, not negative.
    max_iter : int
        Steps at most.

    Returns
    -------
    Solution

    Notes
    -----
    It ends where no derivative is further than 1e-5 from what optimality demands, or where a step
    lowers the objective by less than 2.2e-9 of it.

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
        return value + nu * w.sum(), gradient + nu

    w = start
    value, gradient = objective(w)
    pairs = deque(maxlen=_CORRECTIONS)
    idle = False
    for _ in range(max_iter):
        if residual(w, gradient) <= _GRADIENT:
            break
        free = (w > 0) | (gradient < 0)
        step = _quasi_newton_step(pairs, np.where(free, -gradient, 0.0), free)
        found = _line_search(objective, w, value, gradient, step)
        if found is None and pairs:
            pairs.clear()
            found = _line_search(objective, w, value, gradient, np.where(free, -gradient, 0.0))
        if found is None:
            break
        before, old = value, (w, gradient)
        w, value, gradient = found
        pairs.append((w - old[0], gradient - old[1]))
        if before - value <= _PROGRESS * max(abs(before), abs(value), 1.0):
            idle = len(pairs) == 1
            if idle:
                break
            # The step may have been a poor one only.
            pairs.clear()
    left = residual(w, gradient)
    return Solution(w, float(value), left, idle or left <= _GRADIENT)


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


def _line_search(objective, w, value, gradient, step):
    """Return point, objective and gradient of a sufficient decrease along the projected step.

    None where there is none, as the projection turns the step uphill.
    """
    size = 1.0
    while size > _SHORTEST_STEP:
        there = np.maximum(w + size * step, 0.0)
        slope = gradient @ (there - w)
        if slope < 0:
            reached, slopes = objective(there)
            if reached <= value + _SUFFICIENT_DECREASE * slope + _ROUNDING * abs(value):
                return there, reached, slopes
        size *= _BACKTRACK
    return None
