"""Newton's method for smooth convex problems with an L1 norm over non-negative coefficients."""

from abc import ABC, abstractmethod

import numpy as np

from boostbench.core.solvers.coefficient_grid import snap_to_grid
from boostbench.core.solvers.solution import SolverResult, kkt_residual

# A step need only solve Newton's equations to this part of their right-hand side: more costs more
# products with the Hessian than it saves steps.
_FORCING_TERM = 0.3
_MAX_PRODUCTS_PER_STEP = 60

# Damping of the Hessian's diagonal, relative to it. It falls after as many steps as a round of
# boosting takes: with less damping, what sums differ by grows where the objective is flat.
_INITIAL_DAMPING = 1e-3
_MIN_DAMPING = 1e-6
_MAX_DAMPING = 1e8
_DAMPED_STEPS = 5

# Bits of the longest step, and of the directions and lengths that it is made of, that are kept.
_STEP_BITS, _DIRECTION_BITS = 12, 16

_MIN_STEP_SIZE = 1e-8
_SUFFICIENT_DECREASE = 1e-4


class Problem(ABC):
    """A smooth convex function f of an array w of coefficients, at a point that moves."""

    @abstractmethod
    def move(self, w):
        """Go to w.

        Parameters
        ----------
        w : ndarray
            Of the shape of the coefficients.

        Returns
        -------
        value : float
        gradient : ndarray
            Of the shape of w, dtype=float64.
        """

    @abstractmethod
    def along(self, step):
        """Return a function that gives f at ``w + size * step``, for sizes in [0, 1]."""

    @abstractmethod
    def quadratic(self, free, damping):
        """Return the `Quadratic` of the Hessian at w.

        Parameters
        ----------
        free : ndarray of the shape of w, dtype=bool
            The coefficients to restrict it to; they are numbered as ``w[free]`` is.
        damping : float
            ``damping`` times its diagonal is added.
        """


class Quadratic(ABC):
    """A positive definite matrix B of shape (n_free, n_free), as products with vectors."""

    @abstractmethod
    def product(self, v):
        """Return ``B @ v``."""

    @abstractmethod
    def precondition(self, v):
        """Return an approximation of ``solve(B, v)``, linear, symmetric, positive definite."""


class NonnegativeNewton:
    r"""Minimise ``f(w) + nu * sum(w)`` over ``w >= 0``.

    A step minimises the quadratic model of the objective by preconditioned conjugate gradients
    over the coefficients that are positive or want to be; those it would make negative are set to
    0 and the others found again, until none is left. A Levenberg-Marquardt damping grows where the
    model proves too optimistic. The objective never rises. Steps are on a grid, see
    `boostbench.core.solvers.coefficient_grid`.

    Attributes
    ----------
    resolution : float
        Objectives that differ by less than this part of them are the same.

    Examples
    --------
    See `boostbench.core.losses.pairwise.PairwiseLoss`.
    """

    resolution = 1e-10

    def minimise(self, problem, start, nu, tol, max_iter):
        """Minimise, and leave the problem at the solution.

        Parameters
        ----------
        problem : Problem
        start : ndarray
            Where to start, not negative.
        nu : float
            Weight of the L1 norm.
        tol : float
            Done when no coefficient's derivative of the objective is further from what optimality
            demands: 0 for positive coefficients, not negative for the others.
        max_iter : int
            Newton steps at most.

        Returns
        -------
        Solution
            `tol` is compared with its residual.
        """
        w = start
        self._damping = _INITIAL_DAMPING
        value, gradient = self._evaluate(problem, w, nu)
        for n_steps in range(max_iter):
            if kkt_residual(w, gradient) <= tol or self._damping > _MAX_DAMPING:
                break
            step, slope = self._step(problem, w, gradient)
            size = _step_size(problem, step, slope, nu)
            self._adapt_damping(size, _INITIAL_DAMPING if n_steps < _DAMPED_STEPS else _MIN_DAMPING)
            if size:
                # Rounding must not leave behind what should be 0, nor go below it.
                w = np.maximum(w + size * step, 0.0)
                value, gradient = self._evaluate(problem, w, nu)
        max_violation = kkt_residual(w, gradient)
        return SolverResult(w, value, max_violation, max_violation <= tol)

    @staticmethod
    def _evaluate(problem, w, nu):
        value, gradient = problem.move(w)
        return value + nu * w.sum(), gradient + nu

    def _step(self, problem, w, gradient):
        free = (w > 0) | (gradient < 0)
        step = np.zeros_like(w)
        while True:
            quadratic = problem.quadratic(free, self._damping)
            lower = -w[free]
            exact = _bounded_minimiser(quadratic, gradient[free], lower)
            step[free] = np.where(exact > lower, snap_to_grid(exact, _STEP_BITS), lower)
            slope = float(gradient[free] @ step[free])
            if slope < 0 or self._damping > _MAX_DAMPING:
                return step, slope
            self._damping = max(10 * self._damping, _INITIAL_DAMPING)

    def _adapt_damping(self, size, least):
        if size == 1:
            self._damping = max(self._damping / 10, least)
        elif size < 0.2:
            self._damping = max(10 * self._damping, _INITIAL_DAMPING)


def _bounded_minimiser(quadratic, slope, lower):
    """Minimise ``slope @ x + x @ B @ x / 2`` over ``x >= lower``, roughly; lower <= 0."""
    x = np.zeros_like(slope)
    is_free = np.ones(len(x), bool)
    residual = -slope
    target = None
    products = 0
    while True:
        residual = residual * is_free
        solved = quadratic.precondition(residual) * is_free
        direction = snap_to_grid(solved, _DIRECTION_BITS)
        squared_norm = residual @ solved
        if target is None:
            target = _FORCING_TERM**2 * squared_norm
        while squared_norm > target and products < _MAX_PRODUCTS_PER_STEP:
            products += 1
            image = quadratic.product(direction) * is_free
            curvature = direction @ image
            if not curvature > 0:
                break
            length = snap_to_grid(squared_norm / curvature, _DIRECTION_BITS)
            x += length * direction
            residual -= length * image
            solved = quadratic.precondition(residual) * is_free
            previous, squared_norm = squared_norm, residual @ solved
            direction = snap_to_grid(
                solved + (squared_norm / previous) * direction, _DIRECTION_BITS
            )
        is_below = is_free & (x < lower)
        if not is_below.any():
            return x
        x[is_below] = lower[is_below]
        is_free &= ~is_below
        residual = -slope - quadratic.product(x)


def _step_size(problem, step, slope, nu):
    """Halve twice until the objective falls enough; 0 where rounding hides the fall."""
    value = problem.along(step)
    initial, linear = value(0.0), nu * step.sum()
    size = 1.0
    while size > _MIN_STEP_SIZE:
        if value(size) + size * linear <= initial + _SUFFICIENT_DECREASE * size * slope:
            return size
        size /= 4
    return 0.0
