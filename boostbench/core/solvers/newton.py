"""Newton's method for smooth convex problems with an L1 norm over nonnegative coefficients.

A problem (`Problem`) evaluates the function and its derivatives;
`boostbench.core.losses.restricted_problems` has the problems of the boosters. The solver
(`NonnegativeNewton`) knows nothing else of them.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from boostbench.core.linear_algebra import snap_to_grid

# Relative residual to which conjugate gradients solve Newton's equations: higher accuracy costs
# more products with the Hessian than it saves steps.
_FORCING_TERM = 0.3

# Maximum number of products with the Hessian per Newton step. It only stops slow convergence.
_MAX_PRODUCTS_PER_STEP = 60

# Damping, the multiple of the Hessian's diagonal that is added to the Hessian, in the first step.
_INITIAL_DAMPING = 1e-3

# Number of steps in which the damping does not fall below its initial value, as less damping
# amplifies rounding errors where the objective is flat. A round of boosting takes fewer steps.
_DAMPED_STEPS = 5

# Minimum damping in later steps.
_MIN_DAMPING = 1e-6

# Damping above which the method stops, since steps are too short to make progress.
_MAX_DAMPING = 1e8

# Number of bits to which Newton steps are rounded; see `snap_to_grid`.
_STEP_BITS = 12

# Number of bits to which the search directions and step lengths of conjugate gradients are rounded.
_DIRECTION_BITS = 16

# Smallest fraction of a Newton step that the line search tries.
_MIN_STEP_SIZE = 1e-8

# Fraction of the decrease by the initial slope that a step must reach.
_SUFFICIENT_DECREASE = 1e-4

# The smallest curvatures whose sum is below this fraction of the total are left out. Most samples
# have hardly any curvature.
_NEGLIGIBLE_FRACTION = 1e-3

# Relative difference below which curvatures are equal: equal margins are all kept or all left out.
_EQUAL_TOLERANCE = 1e-6


class SolverResult(NamedTuple):
    """Final coefficients of a solver, and the quality of the solution.

    Attributes
    ----------
    w : ndarray
        Nonnegative coefficients, of the shape of the starting point.
    value : float
        Objective at w.
    residual : float
        Violation of the optimality conditions at w; see `kkt_residual`. 0 for a linear program, and
        infinity if the solver does not compute it.
    converged : bool
        True if the solver met its stopping rule; False if it reached its maximum number of steps,
        or if no step decreased the objective.
    dual : ndarray or None
        Dual variables at w; None if the solver does not compute them.
    """

    w: np.ndarray
    value: float
    residual: float
    converged: bool
    dual: np.ndarray | None = None


def kkt_residual(w, gradient):
    """Return the maximum violation of the optimality conditions over ``w >= 0``.

    At a minimum (Karush, Kuhn and Tucker), the derivative with respect to a positive coefficient is
    0, and the derivative with respect to a coefficient 0 is not negative.

    Parameters
    ----------
    w : ndarray
        Nonnegative coefficients.
    gradient : ndarray
        Derivatives of the objective, with the shape of `w`.

    Returns
    -------
    float
        Largest magnitude among the derivatives of positive coefficients and the negative
        derivatives of zero coefficients.
    """
    return float(np.abs(np.where(w > 0, gradient, np.minimum(gradient, 0.0))).max(initial=0.0))


class Problem(ABC):
    """Smooth convex function f of an array w of coefficients, with a current point.

    `along` and `damped_hessian` refer to the current point, which `move` sets.
    """

    @abstractmethod
    def move(self, w):
        """Make w the current point, and evaluate f there.

        Parameters
        ----------
        w : ndarray
            Coefficients.

        Returns
        -------
        value : float
        gradient : ndarray
            Gradient, of the shape of w, dtype=float64.
        """

    @abstractmethod
    def along(self, step):
        """Return the function ``size -> f(w + size * step)`` for sizes in [0, 1].

        Parameters
        ----------
        step : ndarray
            Change of the coefficients, of the shape of w.

        Returns
        -------
        callable
        """

    @abstractmethod
    def damped_hessian(self, free, damping):
        """Return the damped Hessian at w.

        Parameters
        ----------
        free : ndarray of the shape of w, dtype=bool
            Mask of the coefficients by which f is differentiated, n_free in number.
        damping : float
            Multiple of the Hessian's diagonal that is added to the Hessian.

        Returns
        -------
        DampedHessian
            Operator on vectors in the order of ``w[free]``.
        """


class DampedHessian(ABC):
    """Damped Hessian B, a positive definite operator on arrays v of shape (n_free,)."""

    @abstractmethod
    def product(self, v):
        """Return ``B @ v``."""

    @abstractmethod
    def precondition(self, v):
        """Return an approximation of ``solve(B, v)``.

        It is the product of v with a symmetric positive definite matrix.
        """


class NonnegativeNewton:
    r"""Minimise ``f(w) + nu * sum(w)`` over ``w >= 0``.

    A step minimises the quadratic model of the objective by preconditioned conjugate gradients over
    the coefficients that are positive or have a negative derivative. If the step would make
    coefficients negative, it sets them to 0 and is computed again for the other coefficients. The
    Levenberg-Marquardt damping grows if the model is too optimistic. The objective never increases.
    Steps are rounded, see `boostbench.core.linear_algebra.snap_to_grid`.

    Attributes
    ----------
    objective_rtol : float
        Relative difference below which two objectives are equal.

    Examples
    --------
    See `boostbench.core.losses.restricted_problems.PairwiseLoss`.
    """

    objective_rtol = 1e-10

    def minimise(self, problem, start, nu, tol, max_iter):
        """Minimise the objective; the solution becomes the current point of the problem.

        Parameters
        ----------
        problem : Problem
        start : ndarray
            Starting point, nonnegative.
        nu : float
            Weight of the L1 norm.
        tol : float
            Maximum violation of the optimality conditions: derivatives are 0 for positive
            coefficients, and nonnegative for zero coefficients.
        max_iter : int
            Maximum number of Newton steps.

        Returns
        -------
        SolverResult
            `converged` is True if `residual` is at most `tol`.
        """
        # 1) Take steps until the optimality conditions hold, or the damping has reached its
        # maximum.
        w = start
        self._damping = _INITIAL_DAMPING
        value, gradient = self._evaluate(problem, w, nu)
        for n_steps in range(max_iter):
            if kkt_residual(w, gradient) <= tol or self._damping > _MAX_DAMPING:
                break
            # A size of 0 means that the line search found no decrease: more damping may help.
            step, slope = self._step(problem, w, gradient)
            size = _step_size(problem, step, slope, nu)
            self._adapt_damping(size, _INITIAL_DAMPING if n_steps < _DAMPED_STEPS else _MIN_DAMPING)
            if size:
                # Rounding must neither leave a tiny positive coefficient nor make one negative.
                w = np.maximum(w + size * step, 0.0)
                value, gradient = self._evaluate(problem, w, nu)
        # 2) Return the solution.
        max_violation = kkt_residual(w, gradient)
        return SolverResult(w, value, max_violation, max_violation <= tol)

    @staticmethod
    def _evaluate(problem, w, nu):
        """Return the objective and its gradient at w, which becomes the current point."""
        value, gradient = problem.move(w)
        return value + nu * w.sum(), gradient + nu

    def _step(self, problem, w, gradient):
        """Return a step and its slope; damp more until the step descends.

        A coefficient that the step sets to 0 gets exactly the step to 0, without rounding.

        Parameters
        ----------
        problem : Problem
            Its current point is w.
        w, gradient : ndarray
            Coefficients, and gradient of the objective there.

        Returns
        -------
        step : ndarray
            Change of the coefficients, of the shape of w; 0 for coefficients that are held at 0.
        slope : float
            Derivative of the objective along the step.
        """
        free = (w > 0) | (gradient < 0)
        step = np.zeros_like(w)
        while True:
            hessian = problem.damped_hessian(free, self._damping)
            lower = -w[free]
            unrounded = _bounded_minimiser(hessian, gradient[free], lower)
            step[free] = np.where(unrounded > lower, snap_to_grid(unrounded, _STEP_BITS), lower)
            slope = float(gradient[free] @ step[free])
            if slope < 0 or self._damping > _MAX_DAMPING:
                return step, slope
            self._damping = max(10 * self._damping, _INITIAL_DAMPING)

    def _adapt_damping(self, size, min_damping):
        """Lower the damping after a full step, and raise it after a short one."""
        if size == 1:
            self._damping = max(self._damping / 10, min_damping)
        elif size < 0.2:
            self._damping = max(10 * self._damping, _INITIAL_DAMPING)


def _bounded_minimiser(hessian, gradient, lower):
    """Return an approximate minimiser of a quadratic function with lower bounds.

    The function is ``gradient @ x + x @ B @ x / 2`` over ``x >= lower``, with ``lower <= 0``.

    Parameters
    ----------
    hessian : DampedHessian
        Matrix B.
    gradient, lower : ndarray of shape (n_free,)

    Returns
    -------
    ndarray of shape (n_free,)
    """
    # Preconditioned conjugate gradients minimise over the free coefficients, from x = 0. The
    # residual is minus the gradient of the function at x.
    x = np.zeros_like(gradient)
    is_free = np.ones(len(x), bool)
    residual = -gradient
    target_square = None
    n_products = 0
    while True:
        # 1) Start conjugate gradients at x. The target is a fraction of the norm of the first
        # residual, squared as all norms here.
        residual = residual * is_free
        solved = hessian.precondition(residual) * is_free
        direction = snap_to_grid(solved, _DIRECTION_BITS)
        preconditioned_norm = residual @ solved
        if target_square is None:
            target_square = _FORCING_TERM**2 * preconditioned_norm
        # 2) Take steps along conjugate directions.
        while preconditioned_norm > target_square and n_products < _MAX_PRODUCTS_PER_STEP:
            n_products += 1
            product = hessian.product(direction) * is_free
            curvature = direction @ product
            if not curvature > 0:
                break
            length = snap_to_grid(preconditioned_norm / curvature, _DIRECTION_BITS)
            x += length * direction
            residual -= length * product
            solved = hessian.precondition(residual) * is_free
            previous, preconditioned_norm = preconditioned_norm, residual @ solved
            direction = snap_to_grid(
                solved + (preconditioned_norm / previous) * direction, _DIRECTION_BITS
            )
        # 3) Hold the coefficients that end below their bound there, and go on from this point.
        is_below = is_free & (x < lower)
        if not is_below.any():
            return x
        x[is_below] = lower[is_below]
        is_free &= ~is_below
        residual = -gradient - hessian.product(x)


def _step_size(problem, step, slope, nu):
    """Return a step size with sufficient decrease; 0 if rounding hides the decrease.

    Parameters
    ----------
    problem : Problem
    step : ndarray
        Change of the coefficients.
    slope : float
        Derivative of the objective along the step.
    nu : float
        Weight of the L1 norm.

    Returns
    -------
    float
        1, 1/4, 1/16, ..., or 0.
    """
    loss_along = problem.along(step)
    initial, penalty_slope = loss_along(0.0), nu * step.sum()
    size = 1.0
    while size > _MIN_STEP_SIZE:
        max_value = initial + _SUFFICIENT_DECREASE * size * slope
        if loss_along(size) + size * penalty_slope <= max_value:
            return size
        size /= 4
    return 0.0


def significant_mask(curvature):
    """Return a mask of the curvatures that are not negligible, row by row.

    Problems leave the samples with negligible curvatures out of the Hessian, which saves time. The
    smallest curvatures, whose sum is below a thousandth of the sum of the row, are negligible.

    Parameters
    ----------
    curvature : ndarray of shape (n,) or (n_rows, n), dtype=float64
        Nonnegative curvatures.

    Returns
    -------
    ndarray of the same shape, dtype=bool

    Examples
    --------
    >>> significant_mask(np.array([[1.0, 1e-9, 1.0], [1e-9, 1e-9, 1e-9]]))
    array([[ True, False,  True],
           [ True,  True,  True]])
    """
    ascending = np.sort(curvature, axis=-1)
    sums = np.cumsum(ascending, axis=-1)
    n_negligible = np.sum(sums <= _NEGLIGIBLE_FRACTION * sums[..., -1:], axis=-1, keepdims=True)
    smallest_kept = np.take_along_axis(
        ascending, np.minimum(n_negligible, curvature.shape[-1] - 1), axis=-1
    )
    return curvature >= (1 - _EQUAL_TOLERANCE) * smallest_kept
