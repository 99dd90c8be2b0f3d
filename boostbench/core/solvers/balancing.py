r"""Minimise a loss of pairwise margins over one coefficient per class: step 4 of MCBoost.

A weak learner h with outputs -1 and +1 and coefficients w, one for each class, changes the margin
of a sample of class a against class b by :math:`h(x) (w_a - w_b)`. So the loss is a function of
the differences of w, and its derivatives come from two (n_classes, n_classes) matrices: how
strongly the pairs (a, b) pull at their difference, and how stiff they are. For the exponential loss
both are :math:`M_{ab} = C_{ab} e^{w_b - w_a}`, and the minimum is where the rows of M have the sums
of its columns: matrix balancing (Osborne 1960).
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg.lapack import dposv, dpotrs

# Newton's steps are no longer than this. The third derivative of the losses along a step is at most
# twice its range times the second; so a step at whose end the slope is positive, but below that
# part of what it was at the start, still lowers the loss.
_MAX_STEP_LENGTH = 5.0
_OVERSHOOT = 0.1

# A step at whose end the slope is still that part of what it was is tried at twice the length: it
# is on its way to a minimum far off.
_UNDERSHOOT = 0.3

# A step that leaves no more than that part of the slope's square needs no search along it.
_MAX_SQUARED_RATIO = 0.05

# A gradient whose square is less changes the Hessian of the logarithm by nothing that counts.
_NEGLIGIBLE_SQUARE = 1e-6

# A last step with the Hessian of the step before leaves no more than that part of the tolerance.
_FINAL_STEP_FRACTION = 1e-3

# Added to the Hessian's diagonal, for a class that nothing pulls at; and for one that stays at 0.
_RIDGE = 1e-12
_FIXED_DIAGONAL = 1e30

# What a side lacks where the other has all is at least that much, for the start only.
_MIN_SHARE = 1e-16

# For a weaker L1 norm, the minimum without it is a good place to start from; for a much weaker one
# so many steps find its own, as a rule. Where the norm moves the minimum further than this, the
# loss is so flat that the tolerance leaves room for several.
_STRONG_PENALTY = 1e-2
_WEAK_PENALTY = 1e-7
_MAX_UNCONSTRAINED_STEPS = 5
_MAX_SHIFT = 1e-5

_MAX_ITER = 100
_MAX_TRIALS = 40


class PairwiseProblem(ABC):
    """A convex function of the differences of one coefficient per class, of slope about 1 at 0.

    Attributes
    ----------
    scale, share : float
        Where the gradient was evaluated last, the second derivatives are `scale` times `laplacian`,
        less `share` times the product of the gradient with itself.
    """

    scale, share = 1.0, 0.0

    @abstractmethod
    def gradient(self, w):
        """Evaluate the function's gradient at w, of shape (n_classes,)."""

    @abstractmethod
    def laplacian(self):
        """Evaluate what makes most of the second derivatives.

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
            Positive semi-definite, with ``laplacian @ ones = 0``. The caller may overwrite it. It
            may be asked for once only.
        """

    def hessian(self):
        """Evaluate all of the second derivatives; as `laplacian`, and instead of it."""
        return self.laplacian()

    @abstractmethod
    def start(self):
        """Return a w near the minimum, of shape (n_classes,)."""


class ExponentialProblem(PairwiseProblem):
    r""":math:`\frac1\sigma \log(1 - \sigma + \sigma \sum_{ab} C_{ab} e^{w_b - w_a})`.

    MCBoost, eq. (13), where the pairs (i, r) with :math:`r = y_i`, whose margin is always 0, have
    the part :math:`1 - \sigma` of the loss.

    Parameters
    ----------
    C : ndarray of shape (n_classes, n_classes)
        Not negative, of sum 1; 0 on the diagonal.
    share : float
        :math:`\sigma`, in (0, 1). Without the constant the logarithm would have no lower bound
        where a weak learner is perfect.

    Examples
    --------
    Two classes are AdaBoost: half the logarithm of the right over the wrong.

    >>> w = minimise(ExponentialProblem(np.array([[0.0, 0.8], [0.2, 0.0]]), share=0.5))
    >>> print(w.round(4), round(0.5 * np.log(0.8 / 0.2), 4))
    [0.6931 0. ] 0.6931
    """

    def __init__(self, C, share):
        self.share = share
        self._C = C
        self._ones = np.ones(len(C))

    def gradient(self, w):
        """Evaluate the function's gradient; as `PairwiseProblem.gradient`."""
        self._factor = factor = np.exp(w)
        self._inverse = inverse = 1.0 / factor
        # Sums of the rows and columns of M. `dot` has less to decide than `@` and than a sum.
        rows = self._C.dot(factor)
        rows *= inverse
        columns = inverse.dot(self._C)
        columns *= factor
        self.scale = 1.0 / (1.0 - self.share + self.share * float(rows.dot(self._ones)))
        self._sums = rows, columns
        self._gradient = columns - rows
        self._gradient *= self.scale
        return self._gradient

    def laplacian(self):
        """Evaluate most of the second derivatives; as `PairwiseProblem.laplacian`."""
        M = self._factor * self._inverse[:, None]
        M *= self._C
        rows, columns = self._sums
        return laplacian(M, rows + columns)

    def hessian(self):
        """Evaluate the second derivatives; as `PairwiseProblem.hessian`."""
        hessian = self.laplacian()
        hessian *= self.scale
        gradient = self._gradient
        if gradient.dot(gradient) > _NEGLIGIBLE_SQUARE:
            hessian -= (self.share * gradient)[:, None] * gradient
        return hessian

    def start(self):
        """Return the w that would balance each class against the others, were those balanced.

        For two classes this is the minimum.
        """
        rows, columns = self._C.dot(self._ones), self._ones.dot(self._C)
        part = 0.5 * (len(rows) - 1) / len(rows)
        return part * np.log((rows + _MIN_SHARE) / (columns + _MIN_SHARE))


def laplacian(M, degrees):
    """Second derivatives of a function of differences: ``diag(degrees) - M - M.T``.

    Parameters
    ----------
    M : ndarray of shape (n_classes, n_classes)
    degrees : ndarray of shape (n_classes,)
        Sums of the rows of M, plus those of its columns.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
    """
    second = M + M.T
    np.negative(second, out=second)
    second.ravel()[:: len(second) + 1] += degrees
    return second


def minimise(problem, nu=0.0, tol=1e-8):
    r"""Minimise ``f(w) + nu * sum(w)`` over ``w >= 0`` by Newton's method.

    f does not change when the same number is added to all of w. So for any positive nu the
    smallest coefficient is 0; and where nu is too small to be seen, that is all it does: the
    minimum of f is found, and its smallest coefficient subtracted. Otherwise the coefficients at 0
    whose derivative is positive stay there, and Newton's steps are taken in the others.

    Parameters
    ----------
    problem : PairwiseProblem
        Gives f.
    nu : float, default=0.0
        Weight of the L1 norm, not negative.
    tol : float, default=1e-8
        Done when no coefficient's derivative is further from what optimality demands: 0 for
        positive coefficients, not negative for the others.

    Returns
    -------
    ndarray of shape (n_classes,)
        Not negative, and 0 for at least one class. Where the minimum is at infinity, since the
        weak learner tells classes apart without an error, a point where the slope is below `tol`.
    """
    # Half for the slope, half for what ignoring nu may cost.
    tol = tol / 2
    if nu <= tol:
        w = _descend(problem, problem.start(), 0.0, tol, bounded=False)
    elif nu <= _WEAK_PENALTY and (solution := _newton_above_minimum(problem, nu, tol)) is not None:
        w = solution
    elif nu < _STRONG_PENALTY:
        # Without bounds until only nu makes a difference.
        w = _descend(problem, problem.start(), 0.0, nu, bounded=False)
        w = _descend(problem, w - w.min(), nu, tol, bounded=True)
    else:
        w = _descend(problem, np.zeros_like(problem.start()), nu, tol, bounded=True)
    # `min` is slower.
    return w - w[w.argmin()]


def _descend(problem, w, nu, tol, bounded):
    """Minimise from w on, over w >= 0 where `bounded`; as `minimise`."""
    gradient = problem.gradient(w) + nu if nu else problem.gradient(w)
    fixed, factor, reach = None, None, np.inf
    for _ in range(_MAX_ITER):
        slope = gradient
        if bounded:
            fixed = (w <= 0) & (gradient >= 0)
            slope = np.where(fixed, 0.0, gradient)
        squared = float(slope.dot(slope))
        if squared <= tol * tol:
            break
        if bounded:
            step = _bounded_step(problem.hessian(), slope, fixed)
        elif 2.0 * reach * squared**0.5 <= _FINAL_STEP_FRACTION * tol:
            # The Hessian has changed so little that its last factor will do.
            return w - dpotrs(factor, slope, lower=1)[0] / problem.scale
        else:
            step, factor = _free_step(problem, slope)
        # The range of the step is at most that.
        reach = (2.0 * float(step.dot(step))) ** 0.5
        if reach * reach <= tol / 4 and not (bounded and _hits_bound(w, step, gradient, fixed)):
            # The slope after the step is below the tolerance: a Hessian cannot change by more.
            return w + step
        if reach > _MAX_STEP_LENGTH:
            step *= _MAX_STEP_LENGTH / reach
        if bounded and not fixed.any():
            step = _within_bounds(w, step, gradient)
        if not bounded:
            # As a rule a whole step leaves next to nothing of the slope, and there is no search.
            candidate = w + step
            candidate_gradient = problem.gradient(candidate)
            if candidate_gradient.dot(candidate_gradient) <= _MAX_SQUARED_RATIO * squared:
                w, gradient = candidate, candidate_gradient
                continue
        candidate = _search_along(problem, w, step, gradient, nu, bounded)
        if candidate is None:
            break
        w, gradient = candidate
        reach = np.inf
    return w


def _newton_above_minimum(problem, nu, tol):
    """Minimise by few whole steps where one coefficient is the smallest; None where they do not.

    As long as it is the smallest, the L1 norm above it is linear.
    """
    w, penalty_gradient = problem.start(), None
    slope = problem.gradient(w)
    for _ in range(_MAX_UNCONSTRAINED_STEPS):
        step, factor = _free_step(problem, slope)
        squared = float(step.dot(step))
        if squared > _MAX_STEP_LENGTH:
            return None
        w = w + step
        if penalty_gradient is None:
            # The first step tells which it is, as a rule.
            lowest = w.argmin()
            penalty_gradient = np.full(len(w), nu)
            penalty_gradient[lowest] -= len(w) * nu
        slope = problem.gradient(w) + penalty_gradient
        if 2.0 * (2.0 * squared * float(slope.dot(slope))) ** 0.5 <= _FINAL_STEP_FRACTION * tol:
            # As in `_descend`.
            w -= dpotrs(factor, slope, lower=1)[0] / problem.scale
            shift = dpotrs(factor, penalty_gradient, lower=1)[0] / problem.scale
            is_near = shift.dot(shift) <= _MAX_SHIFT**2 and w.argmin() == lowest
            return w if is_near else None
    return None


def _free_step(problem, slope):
    """Solve Newton's equations of all coefficients; returns the factor of the Laplacian as well."""
    scale = problem.scale
    factor, step = _solve_damped(problem.laplacian(), slope, _RIDGE / scale)
    if slope.dot(slope) > _NEGLIGIBLE_SQUARE:
        # The product of the gradient with itself changes the length of the step only.
        scale -= problem.share * float(step.dot(slope))
    step *= -1.0 / scale
    return step, factor


def _bounded_step(hessian, slope, fixed):
    """Solve Newton's equations, with a step of 0 for fixed coefficients; overwrites the Hessian."""
    n = len(hessian)
    if fixed.any():
        hessian.ravel()[:: n + 1][fixed] = _FIXED_DIAGONAL
        _, step = _solve_damped(hessian, slope, _RIDGE, is_singular=False)
        step[fixed] = 0.0
    else:
        # For nu, the step would go along the ones.
        _, step = _solve_damped(hessian, slope - slope.sum() / n, _RIDGE)
    return -step


def _solve_damped(hessian, slope, ridge, is_singular=True):
    """Return a factor of the Hessian, which is overwritten, and the solution for a slope."""
    n = len(hessian)
    if is_singular:
        # Along the ones the Hessian is 0. Anything there keeps the step from going there.
        hessian += 1.0 / n**2
    diagonal = hessian.ravel()[:: n + 1]
    while True:
        diagonal += ridge
        factor, step, failed = dposv(hessian.T, slope, lower=1)
        if not failed:
            return factor, step
        ridge *= 10.0


def _within_bounds(w, step, gradient):
    """Add the same to all of a step, so that the smallest coefficient after it is 0 again.

    This costs only what the L1 norm makes of it; where that is too much, the step stays as it is.
    """
    shifted = step - (w + step).min()
    return shifted if gradient @ shifted < 0 else step


def _hits_bound(w, step, gradient, fixed):
    """Return whether other coefficients than the fixed may have to be 0 after a short step."""
    n_fixed = np.count_nonzero(fixed)
    if n_fixed == 0 or (w + step).min() < 0:
        return True
    # All derivatives together are a positive constant. So that of a single fixed one stays positive
    # where the others go to 0; of several, each by itself has to be large enough.
    return n_fixed > 1 and gradient[fixed].min() < 4.0 * np.abs(step).max()


def _search_along(problem, w, step, gradient, nu, bounded):
    """Find a point along the step where the slope is small; None where rounding hides it.

    Only derivatives are compared, which tell a fall of the loss long after its values cannot.
    """
    size, longest, candidate = 1.0, np.inf, None
    for _ in range(_MAX_TRIALS):
        move = size * step
        point = w + move
        clipped = bounded and point.min() < 0
        if clipped:
            np.maximum(point, 0.0, out=point)
            move = point - w
        initial_descent = -(gradient @ move)
        if initial_descent > 0:
            gradient_there = problem.gradient(point) + nu
            slope = (gradient_there @ move) / initial_descent
            if candidate is not None and slope > 0:
                # Back to it, also with the Hessian.
                return candidate[0], problem.gradient(candidate[0]) + nu
            if slope <= _OVERSHOOT:
                # Adding the same to all changes the L1 norm only.
                candidate = point - point.min() if bounded else point, gradient_there
                if slope >= -_UNDERSHOOT or clipped or 2.0 * size >= longest:
                    return candidate
                size *= 2.0
                continue
            # Where the slope would be 0, were it a line.
            shorter = min(max(1.0 / (1.0 + slope), 0.1), 0.7)
        elif candidate is not None:
            return candidate
        else:
            shorter = 0.25
        longest = size
        size *= shorter
    return candidate
