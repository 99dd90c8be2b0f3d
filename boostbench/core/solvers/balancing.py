r"""Minimise a loss of pairwise margins over one coefficient per class: step 4 of MCBoost.

A weak learner h with outputs -1 and +1 and coefficients w, one per class, changes the margin of a
sample of class a against class b by :math:`h(x) (w_a - w_b)`. The loss is therefore a function of
the differences of w, and its derivatives come from two (n_classes, n_classes) matrices: the first
and the second derivatives with respect to the differences. M is the matrix of the second ones. For
the exponential loss it is :math:`M_{ab} = C_{ab} e^{w_b - w_a}`, where :math:`C_{ab}` is the loss
of the pairs (a, b) without the weak learner, and the first derivatives are -M. At the minimum the
row sums of M then equal its column sums: matrix balancing (Osborne 1960).

The Hessian of a function of differences is a *Laplacian*: its rows sum to 0, since adding one
number to all of w changes nothing. `ExponentialProblem` is one problem; the logistic one is in
`boostbench.core.losses.logistic_weights`. `minimise` solves both, once per round, for a few
classes: the overhead of each call matters.

The solver uses bounds on a step s of *range* r (largest minus smallest entry), to first order:

- r is at most :math:`\sqrt2` times the norm of s.
- The entries of M sum to about 1. Entry a of Hs, for the Hessian H, is the sum of
  :math:`(M_{ab} + M_{ba})(s_a - s_b)` over b. Hence the norm of Hs is at most 2r.
- The third derivative of the losses along s is at most 2r times the second one. Hence s changes the
  Hessian by the fraction 2r, and a full Newton step leaves a gradient of norm r |Hs|, at most
  :math:`2r^2`.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg.lapack import dposv, dpotrs

# Maximum range of a Newton step; longer steps are shortened.
_MAX_STEP_RANGE = 5.0

# Largest positive slope at the end of a step that is accepted, as a fraction of the initial slope.
# With the bound on the third derivative, such a step still lowers the loss.
_OVERSHOOT = 0.1

# Fraction of the initial slope that may remain at the end of a step. If more remains, the minimum
# is far away, and the step is tried at twice the length.
_UNDERSHOOT = 0.3

# Fraction of the gradient's squared norm that a step may leave without a line search.
_MAX_SQUARED_RATIO = 0.05

# Squared norm of the gradient below which its outer product in the Hessian is negligible.
_NEGLIGIBLE_SQUARE = 1e-6

# Fraction of the tolerance that the gradient's norm may have after a last step with the previous
# Hessian.
_FINAL_STEP_FRACTION = 1e-3

# Addition to the Hessian's diagonal, which is 0 for a class without any weight.
_RIDGE = 1e-12

# Diagonal entry of the Hessian for a coefficient that is held at 0: its step becomes negligible.
_FIXED_DIAGONAL = 1e30

# Addition to the row and column sums in the starting point. Without it, the starting point would be
# infinite where the weak learner separates a class.
_MIN_SHARE = 1e-16

# Weight nu of the norm from which on Newton's method starts at 0; below it, at the unpenalised
# minimum.
_STRONG_PENALTY = 1e-2

# Weight nu up to which a few full steps usually find the penalised minimum without bounds.
_WEAK_PENALTY = 1e-7

# Maximum number of these full steps.
_MAX_UNCONSTRAINED_STEPS = 5

# Maximum squared norm of these full steps. It is stricter than `_MAX_STEP_RANGE`, because no line
# search corrects a step that is too long.
_MAX_SQUARED_FULL_STEP = 5.0

# Maximum norm of the distance by which the penalty shifts the minimum. After a larger shift, the
# loss is so flat that several points meet the tolerance, and the solution of the full steps is
# discarded.
_MAX_SHIFT = 1e-5

# Maximum number of Newton steps. It only stops a solver without progress.
_MAX_ITER = 100

# Maximum number of points that a line search evaluates. It only stops a search without progress.
_MAX_TRIALS = 40


class PairwiseProblem(ABC):
    """Convex function of the differences of one coefficient per class.

    It is scaled so that the entries of M, its second derivatives, sum to about 1.

    Attributes
    ----------
    hessian_scale, gradient_share : float
        The Hessian is ``hessian_scale * unscaled_laplacian() - gradient_share * outer(g, g)``, with
        the last gradient g and at its point.
    """

    hessian_scale, gradient_share = 1.0, 0.0

    @abstractmethod
    def gradient(self, w):
        """Return the gradient at w, of shape (n_classes,); it contains the `hessian_scale`."""

    @abstractmethod
    def unscaled_laplacian(self):
        """Return the Laplacian in the Hessian, before its multiplication by `hessian_scale`.

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
            Positive semi-definite matrix with ``laplacian @ ones = 0``. The caller may overwrite
            it, and may call the method once per gradient.
        """

    def hessian(self):
        """Return the Hessian at the last gradient; a caller uses it or `unscaled_laplacian`."""
        return self.unscaled_laplacian()

    @abstractmethod
    def start(self):
        """Return a w near the minimum, of shape (n_classes,)."""


class ExponentialProblem(PairwiseProblem):
    r""":math:`\frac1\sigma \log(1 - \sigma + \sigma \sum_{ab} C_{ab} e^{w_b - w_a})`.

    MCBoost, eq. (13). The pairs (i, r) with :math:`r = y_i`, whose margin is always 0, contribute
    the fraction :math:`1 - \sigma` of the loss.

    Parameters
    ----------
    C : ndarray of shape (n_classes, n_classes)
        Nonnegative matrix of sum 1, with a zero diagonal.
    share : float
        :math:`\sigma`, in (0, 1). Without the constant the logarithm would have no lower bound
        where a weak learner is perfect.

    Examples
    --------
    For two classes the solution is AdaBoost's: half the log odds of a correct output.

    >>> w = minimise(ExponentialProblem(np.array([[0.0, 0.8], [0.2, 0.0]]), share=0.5))
    >>> print(w.round(4), round(0.5 * np.log(0.8 / 0.2), 4))
    [0.6931 0. ] 0.6931
    """

    def __init__(self, C, share):
        self.gradient_share = share
        self._C = C
        self._ones = np.ones(len(C))

    def gradient(self, w):
        """Return the gradient; see `PairwiseProblem.gradient`."""
        self._exp_w = exp_w = np.exp(w)
        self._exp_minus_w = exp_minus_w = 1.0 / exp_w
        # The row and column sums of M are computed without M. `dot` has less overhead than `@`.
        rows = self._C.dot(exp_w)
        rows *= exp_minus_w
        columns = exp_minus_w.dot(self._C)
        columns *= exp_w
        self.hessian_scale = 1.0 / (
            1.0 - self.gradient_share + self.gradient_share * float(rows.dot(self._ones))
        )
        self._sums = rows, columns
        self._gradient = columns - rows
        self._gradient *= self.hessian_scale
        return self._gradient

    def unscaled_laplacian(self):
        """Return the unscaled Laplacian; see `PairwiseProblem.unscaled_laplacian`."""
        M = self._exp_w * self._exp_minus_w[:, None]
        M *= self._C
        rows, columns = self._sums
        return difference_hessian(M, rows + columns)

    def hessian(self):
        """Return the Hessian; see `PairwiseProblem.hessian`."""
        hessian = self.unscaled_laplacian()
        hessian *= self.hessian_scale
        gradient = self._gradient
        if gradient.dot(gradient) > _NEGLIGIBLE_SQUARE:
            hessian -= (self.gradient_share * gradient)[:, None] * gradient
        return hessian

    def start(self):
        """Return the w that balances the row sum and the column sum of each class alone.

        If the other coefficients are 0, the sums are equal at ``w = 0.5 * log(row / column)``. The
        damping by (n - 1) / n makes the result exact for two classes: each gets half of it.
        """
        rows, columns = self._C.dot(self._ones), self._ones.dot(self._C)
        damping = 0.5 * (len(rows) - 1) / len(rows)
        return damping * np.log((rows + _MIN_SHARE) / (columns + _MIN_SHARE))


def difference_hessian(M, degrees):
    """Return the Hessian of a function of differences: ``diag(degrees) - M - M.T``.

    Parameters
    ----------
    M : ndarray of shape (n_classes, n_classes)
    degrees : ndarray of shape (n_classes,)
        Row sums plus column sums of M.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
    """
    hessian = M + M.T
    np.negative(hessian, out=hessian)
    hessian.ravel()[:: len(hessian) + 1] += degrees
    return hessian


def minimise(problem, nu=0.0, tol=1e-8):
    r"""Minimise ``f(w) + nu * sum(w)`` over ``w >= 0`` by Newton's method.

    f does not change when a constant is added to all of w. For any positive nu the smallest
    coefficient is therefore 0. If nu is below the tolerance, it has no other effect: f is
    minimised, and the smallest coefficient is subtracted. Otherwise the coefficients at 0 with a
    positive derivative stay there, and Newton's method minimises over the other ones.

    Parameters
    ----------
    problem : PairwiseProblem
        Function f.
    nu : float, default=0.0
        Weight of the L1 norm, nonnegative.
    tol : float, default=1e-8
        Maximum violation of the optimality conditions: derivatives are 0 for positive coefficients,
        and nonnegative for zero coefficients.

    Returns
    -------
    ndarray of shape (n_classes,)
        Nonnegative coefficients, 0 for at least one class. If the minimum is at infinity, because
        the weak learner separates classes without error, a point where the slope is below `tol`.
    """
    # The derivatives of f get half of the tolerance. The other half allows the solver to ignore nu
    # if nu is at most half of the tolerance.
    tol = tol / 2
    if nu <= tol:
        # The penalty is negligible: f alone is minimised.
        return _subtract_minimum(_descend_free(problem, problem.start(), tol))
    if nu <= _WEAK_PENALTY:
        # A few full steps usually find the minimum.
        w = _newton_with_fixed_lowest_class(problem, nu, tol)
        if w is not None:
            return _subtract_minimum(w)
    if nu < _STRONG_PENALTY:
        # f alone is minimised until its slope is as small as nu: only there do the bounds matter.
        w = _descend_free(problem, problem.start(), tol=nu)
        start = w - w.min()
    else:
        start = np.zeros_like(problem.start())
    return _subtract_minimum(_descend_bounded(problem, start, nu, tol))


def _subtract_minimum(w):
    """Return w minus its smallest entry."""
    # `argmin` is faster than `min` on short arrays.
    return w - w[w.argmin()]


def _descend_free(problem, w, tol):
    """Minimise f over all w by Newton's method.

    Parameters
    ----------
    problem : PairwiseProblem
        Function f.
    w : ndarray of shape (n_classes,)
        Starting point.
    tol : float
        Maximum norm of the gradient.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    # `cholesky` is the factor of the unscaled Laplacian in the last step, and `range_bound` bounds
    # the range of this step; it is infinite after a line search, where the factor is of no use.
    gradient = problem.gradient(w)
    cholesky, range_bound = None, np.inf
    for _ in range(_MAX_ITER):
        # 1) Stop if the gradient is small.
        squared_norm = float(gradient.dot(gradient))
        if squared_norm <= tol * tol:
            break
        # 2) End with a step with the previous Hessian if it suffices. The last step has changed the
        # Hessian by the fraction 2 * range, so that this fraction of the gradient is left.
        if 2.0 * range_bound * squared_norm**0.5 <= _FINAL_STEP_FRACTION * tol:
            return w - dpotrs(cholesky, gradient, lower=1)[0] / problem.hessian_scale
        # 3) Compute the Newton step. End with it if it leaves at most half of the tolerance: the
        # gradient that is left is at most 2 * range**2.
        step, cholesky = _free_step(problem, gradient)
        range_bound = (2.0 * float(step.dot(step))) ** 0.5
        if range_bound * range_bound <= tol / 4:
            return w + step
        # 4) Shorten a long step. Take the step without a line search if it removes nearly all of
        # the gradient, as it usually does.
        if range_bound > _MAX_STEP_RANGE:
            step *= _MAX_STEP_RANGE / range_bound
        moved = w + step
        moved_gradient = problem.gradient(moved)
        if moved_gradient.dot(moved_gradient) <= _MAX_SQUARED_RATIO * squared_norm:
            w, gradient = moved, moved_gradient
            continue
        # 5) Otherwise search along the step.
        end = _search_along(problem, w, step, gradient, nu=0.0, bounded=False)
        if end is None:
            break
        w, gradient = end
        range_bound = np.inf
    return w


def _descend_bounded(problem, w, nu, tol):
    """Minimise ``f(w) + nu * sum(w)`` over ``w >= 0`` by Newton's method.

    Parameters
    ----------
    problem : PairwiseProblem
        Function f.
    w : ndarray of shape (n_classes,)
        Starting point, nonnegative.
    nu : float
        Weight of the L1 norm, positive.
    tol : float
        Maximum norm of the derivatives of the coefficients that are not held at 0.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    gradient = problem.gradient(w) + nu
    for _ in range(_MAX_ITER):
        # 1) Hold the coefficients at 0 that would fall below. Stop if the other derivatives are
        # small.
        fixed = (w <= 0) & (gradient >= 0)
        free_gradient = np.where(fixed, 0.0, gradient)
        if free_gradient.dot(free_gradient) <= tol * tol:
            break
        # 2) Compute the Newton step. End with it if it leaves at most half of the tolerance: the
        # gradient that is left is at most 2 * range**2 if the same coefficients stay at 0.
        step = _bounded_step(problem.hessian(), free_gradient, fixed)
        range_bound = (2.0 * float(step.dot(step))) ** 0.5
        if range_bound * range_bound <= tol / 4 and not _active_set_may_change(
            w, step, gradient, fixed
        ):
            return w + step
        # 3) Shorten a long step. If no coefficient is fixed, the step is determined up to a
        # constant, which is chosen so that the smallest coefficient becomes 0.
        if range_bound > _MAX_STEP_RANGE:
            step *= _MAX_STEP_RANGE / range_bound
        if not fixed.any():
            step = _shift_to_bound(w, step, gradient)
        # 4) Search along the step.
        end = _search_along(problem, w, step, gradient, nu=nu, bounded=True)
        if end is None:
            break
        w, gradient = end
    return w


def _newton_with_fixed_lowest_class(problem, nu, tol):
    """Minimise ``f(w) + nu * sum(w - min(w))`` by a few full Newton steps.

    The class of the smallest coefficient is assumed not to change after the first step: the penalty
    is then linear.

    Parameters
    ----------
    problem : PairwiseProblem
    nu, tol : float
        See `minimise`.

    Returns
    -------
    ndarray of shape (n_classes,) or None
        None if the class of the smallest coefficient changes, or the steps do not converge.
    """
    w, penalty_gradient = problem.start(), None
    gradient = problem.gradient(w)
    for _ in range(_MAX_UNCONSTRAINED_STEPS):
        # 1) Take a full Newton step.
        step, cholesky = _free_step(problem, gradient)
        squared_step = float(step.dot(step))
        if squared_step > _MAX_SQUARED_FULL_STEP:
            return None
        w = w + step
        if penalty_gradient is None:
            # 2) The first step usually determines the smallest coefficient. The penalty is
            # nu * sum(w - w[lowest]), whose gradient is nu, less n_classes * nu at `lowest`.
            lowest = w.argmin()
            penalty_gradient = np.full(len(w), nu)
            penalty_gradient[lowest] -= len(w) * nu
        # 3) End if one more step with the last factor leaves a negligible gradient: the fraction
        # 2 * range of it, with the range at most sqrt(2) * |step|.
        gradient = problem.gradient(w) + penalty_gradient
        if (
            2.0 * (2.0 * squared_step * float(gradient.dot(gradient))) ** 0.5
            <= _FINAL_STEP_FRACTION * tol
        ):
            # `shift` is the vector by which the penalty moves the minimum, to first order; see
            # `_MAX_SHIFT`.
            w -= dpotrs(cholesky, gradient, lower=1)[0] / problem.hessian_scale
            shift = dpotrs(cholesky, penalty_gradient, lower=1)[0] / problem.hessian_scale
            is_near = shift.dot(shift) <= _MAX_SHIFT**2 and w.argmin() == lowest
            return w if is_near else None
    return None


def _free_step(problem, gradient):
    """Return the Newton step in all coefficients, and the factor of the unscaled Laplacian.

    Parameters
    ----------
    problem : PairwiseProblem
        At the point of its last gradient.
    gradient : ndarray of shape (n_classes,)
        Gradient of the objective there.

    Returns
    -------
    step : ndarray of shape (n_classes,)
    cholesky : ndarray of shape (n_classes, n_classes)
        Cholesky factor, for another step with the same Hessian by LAPACK's ``potrs``.
    """
    hessian_scale = problem.hessian_scale
    cholesky, step = _solve_damped(problem.unscaled_laplacian(), gradient, _RIDGE / hessian_scale)
    if gradient.dot(gradient) > _NEGLIGIBLE_SQUARE:
        # The Hessian has the term -gradient_share * outer(g, g), for the gradient g. It changes the
        # length of the step only, by the formula of Sherman and Morrison.
        hessian_scale -= problem.gradient_share * float(step.dot(gradient))
    step *= -1.0 / hessian_scale
    return step, cholesky


def _bounded_step(hessian, free_gradient, fixed):
    """Return the Newton step that is 0 for fixed coefficients.

    Parameters
    ----------
    hessian : ndarray of shape (n_classes, n_classes)
        Overwritten.
    free_gradient : ndarray of shape (n_classes,)
        Gradient of the objective, 0 for fixed coefficients.
    fixed : ndarray of shape (n_classes,), dtype=bool
        Mask of the coefficients that are held at 0.
    """
    n = len(hessian)
    if fixed.any():
        hessian.ravel()[:: n + 1][fixed] = _FIXED_DIAGONAL
        _, step = _solve_damped(hessian, free_gradient, _RIDGE, is_singular=False)
        step[fixed] = 0.0
    else:
        # The gradient of the L1 norm is along the ones, where the Hessian is singular.
        _, step = _solve_damped(hessian, free_gradient - free_gradient.sum() / n, _RIDGE)
    return -step


def _solve_damped(hessian, right_side, ridge, is_singular=True):
    """Solve the equations of Newton's method, with a ridge that grows until the matrix is definite.

    Parameters
    ----------
    hessian : ndarray of shape (n_classes, n_classes)
        Overwritten.
    right_side : ndarray of shape (n_classes,)
        Right side.
    ridge : float
        First addition to the diagonal.
    is_singular : bool, default=True
        True: the Hessian is 0 along the ones.

    Returns
    -------
    cholesky : ndarray of shape (n_classes, n_classes)
        Cholesky factor.
    solution : ndarray of shape (n_classes,)
    """
    n = len(hessian)
    if is_singular:
        # The Hessian is 0 along the ones. A positive entry keeps the step orthogonal to them.
        hessian += 1.0 / n**2
    diagonal = hessian.ravel()[:: n + 1]
    while True:
        diagonal += ridge
        cholesky, step, failed = dposv(hessian.T, right_side, lower=1)
        if not failed:
            return cholesky, step
        ridge *= 10.0


def _shift_to_bound(w, step, gradient):
    """Shift a step by a constant, so that the smallest coefficient after it is 0.

    The shift changes the L1 norm only. If the shifted step is no descent direction, the step is
    returned unchanged. All arrays have the shape (n_classes,).
    """
    shifted = step - (w + step).min()
    return shifted if gradient @ shifted < 0 else step


def _active_set_may_change(w, step, gradient, fixed):
    """Return True if a short step may free a coefficient that is held at 0, or bring one to 0.

    Parameters
    ----------
    w, step, gradient : ndarray of shape (n_classes,)
        Coefficients, step from them, and gradient of the objective there.
    fixed : ndarray of shape (n_classes,), dtype=bool
        Mask of the fixed coefficients.
    """
    n_fixed = np.count_nonzero(fixed)
    # If no coefficient is fixed, the set must change: the minimum has at least one.
    if n_fixed == 0 or (w + step).min() < 0:
        return True
    # The derivatives of the objective add up to n_classes * nu > 0, as the derivatives of f add up
    # to 0. A single fixed coefficient therefore keeps a positive derivative when all others vanish.
    # With several fixed ones, each derivative must not reach 0: a step, which is 0 for them,
    # changes it by at most max |step|, since the entries of M sum to about 1. The factor 4 leaves
    # room for the change of the Hessian.
    return n_fixed > 1 and gradient[fixed].min() < 4.0 * np.abs(step).max()


def _search_along(problem, w, step, gradient, nu, bounded):
    """Search along a step for a point with a small slope.

    The search compares derivatives, which resolve a decrease that the values of the loss do not. A
    step that is too short is doubled, and a step that is too long is shortened.

    Parameters
    ----------
    problem : PairwiseProblem
        Function f.
    w : ndarray of shape (n_classes,)
        Present point, nonnegative if `bounded`.
    step, gradient : ndarray of shape (n_classes,)
        Step from w, and gradient of the objective ``f(w) + nu * sum(w)`` at w.
    nu : float
        Weight of the L1 norm; 0 if not `bounded`.
    bounded : bool
        True: points are moved into the bounds w >= 0. False: there are no bounds.

    Returns
    -------
    (point, gradient) or None
        None if rounding errors hide the descent.
    """
    # `failed_factor` is the smallest multiple of the step that was too long, and `candidate` the
    # longest step so far whose slope at the end is not too large: its end, and the gradient there.
    step_factor, failed_factor, candidate = 1.0, np.inf, None
    for _ in range(_MAX_TRIALS):
        # 1) Make the point, and move it into the bounds.
        move = step_factor * step
        point = w + move
        is_clipped = bounded and point.min() < 0
        if is_clipped:
            np.maximum(point, 0.0, out=point)
            move = point - w
        initial_descent = -(gradient @ move)
        if initial_descent > 0:
            # 2) Compute the slope at the end of the move, relative to the descent at its start: -1
            # if nothing has changed, 0 at the minimum along the step, positive beyond it.
            gradient_there = problem.gradient(point) + nu
            relative_slope = (gradient_there @ move) / initial_descent
            if candidate is not None and relative_slope > 0:
                # The doubled step has passed the minimum: the shorter one is returned. Its gradient
                # is evaluated again, so that the Hessian belongs to this point.
                return candidate[0], problem.gradient(candidate[0]) + nu
            if relative_slope <= _OVERSHOOT:
                # 3) Keep the point as a candidate. Within bounds, it is shifted so that the
                # smallest coefficient is 0, which changes the L1 norm only.
                end = point - point.min() if bounded else point
                candidate = end, gradient_there
                # Twice the length is not tried if the minimum is near, a bound ends the move, or
                # that length has failed.
                if (
                    relative_slope >= -_UNDERSHOOT
                    or is_clipped
                    or 2.0 * step_factor >= failed_factor
                ):
                    return candidate
                step_factor *= 2.0
                continue
            # Linear interpolation of the slope gives the root.
            shrink_factor = min(max(1.0 / (1.0 + relative_slope), 0.1), 0.7)
        elif candidate is not None:
            return candidate
        else:
            # The bounds have turned the move into an ascent, or rounding errors hide the descent.
            shrink_factor = 0.25
        # 4) Shorten a step that is too long.
        failed_factor = step_factor
        step_factor *= shrink_factor
    return candidate
