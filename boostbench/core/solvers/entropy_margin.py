"""Program of ERLPBoost, to which weak learners are added one at a time: Newton's method.

The coefficients of the weak learners lie in the simplex: they are nonnegative, and their sum is 1.
"""

import numpy as np
from scipy.special import rel_entr

from boostbench.core.linear_algebra import GrowableMatrix

# Duality gap at which the solver stops. The edges, whose unit it has, are at most 1.
_GAP_TOLERANCE = 1e-9

# Maximum number of Newton steps after a new weak learner. It only stops a solver without progress.
_MAX_STEPS = 500

# The quadratic program of a Newton step ends if no coefficient that is held at 0 has a derivative
# that exceeds the derivatives of the others by more. The error is then small compared with the
# tolerance of the gap.
_MIN_SLOPE = 1e-3 * _GAP_TOLERANCE

# Maximum number of iterations of the active-set method, per coefficient. It only stops cycles.
_MAX_CHANGES_PER_COEFFICIENT = 10

# Damping: addition to the Hessian's diagonal, as a multiple of eta. Without any, the Hessian is
# singular; the solver ends where the maximum does not help either.
_INITIAL_DAMPING = 1e-4
_MIN_DAMPING = 1e-9
_MAX_DAMPING = 1e2

# Ratio of the gain of a step to the gain that the quadratic model predicts, below which the damping
# grows, because the model misses samples that reach or leave their bound.
_POOR_GAIN_RATIO = 0.25

# Ratio of these gains above which the damping falls.
_GOOD_GAIN_RATIO = 0.75

# Factor by which the damping grows or falls.
_DAMPING_FACTOR = 10.0

# Fraction of the increase by the slope that a step must reach.
_SUFFICIENT_INCREASE = 1e-4

# Smallest fraction of a Newton step that the line search tries.
_MIN_STEP_SIZE = 1e-3


class EntropyMarginProgram:
    r"""Program of ERLPBoost, to which weak learners are added one at a time.

    .. math:: \min_{d} \max_j \sum_i d_i y_i h_j(x_i) + \frac1\eta \sum_i d_i \ln\frac{d_i}{d^0_i}
              \quad\text{s.t.}\quad 1^\top d = 1, \; 0 \le d_i \le d^0_i / \nu

    Its dual program maximises over the simplex, :math:`w \ge 0, 1^\top w = 1`, the concave and
    smooth

    .. math:: \phi(w) = \min_d \sum_i d_i \rho_i + \frac1\eta \sum_i d_i \ln\frac{d_i}{d^0_i},
              \quad \rho_i = \sum_j w_j y_i h_j(x_i),

    with the same constraints on d. The vector :math:`\rho` has the margins of the weighted sum of
    the weak learners. The minimiser d has the closed form
    :math:`d_i = \min(d^0_i / \nu, \theta d^0_i e^{-\eta \rho_i})`, where :math:`\theta` makes the
    sum 1. At the maximum, d solves the first program.

    The gradient of :math:`\phi` is the vector of edges, :math:`\sum_i d_i y_i h_j(x_i)`. With the
    sums over the *free* samples, those below their bound, the Hessian is

    .. math:: -\eta \Big(\sum_i d_i u_i u_i^\top - \frac{s s^\top}{\sum_i d_i}\Big), \quad
              u_i = (y_i h_j(x_i))_j, \; s = \sum_i d_i u_i.

    Each Newton step is a quadratic program over the simplex, which an active-set method solves,
    starting from the last solution.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,)
        Positive sample weights :math:`d^0`, on any scale.
    nu : float
        Parameter :math:`\nu`, in (0, 1].
    eta : float
        Parameter :math:`\eta`, positive.

    Attributes
    ----------
    dual : ndarray of shape (n_samples,)
        Distribution d over the samples.
    edge : float
        Largest edge of the weak learners; 0 before the first one.
    coefficients : ndarray of shape (n_columns,)
        Coefficients w.
    value : float
        Maximum :math:`\phi(w)`.
    divergence : float
        Relative entropy of d to :math:`d^0`, divided by :math:`\eta`.
    gap : float
        Upper bound on the distance of `value` from the maximum.

    Examples
    --------
    >>> program = EntropyMarginProgram(np.ones(4), nu=0.5, eta=10.0)
    >>> program.add(np.array([1.0, 1.0, -1.0, -1.0]))
    >>> print(program.dual.round(3), round(program.edge, 3))
    [0.  0.  0.5 0.5] -1.0
    """

    def __init__(self, weights, nu, eta):
        # Prior d^0, bound d^0 / nu, and logarithm of the bound on the ratio d / d^0.
        self._prior = weights / weights.sum()
        self._cap = self._prior / nu
        self._log_max_ratio = -np.log(nu)
        self._eta = eta
        self._damping = _INITIAL_DAMPING
        self._learner_margins = GrowableMatrix(len(weights))
        self.coefficients = np.empty(0)
        self.edge = self.divergence = self.gap = 0.0
        self.dual = self._prior
        self.value = -np.inf

    def add(self, margins):
        """Add a weak learner, and solve the program.

        Parameters
        ----------
        margins : ndarray of shape (n_samples,)
            Margins :math:`y_i h(x_i)`.
        """
        # 1) Add the row of margins and a coefficient. The first weak learner gets the coefficient
        # 1, and each other one starts from 0.
        self._learner_margins.append(margins)
        U = self._learner_margins.matrix
        is_first = not len(self.coefficients)
        self.coefficients = np.append(self.coefficients, float(is_first))
        self._set_rho(self.coefficients @ U)
        # 2) Take Newton steps until the duality gap is small. With the present d, the value is
        # w @ edges + `divergence`, and the maximum is at most the largest edge + `divergence`.
        for _ in range(_MAX_STEPS):
            edges = U @ self.dual
            self.edge = float(edges.max())
            self.gap = self.edge - float(self.coefficients @ edges)
            if self.gap <= _GAP_TOLERANCE or not self._step(U, edges):
                break

    def _set_rho(self, rho):
        """Set the margins of the weighted sum, and compute d and the value for them.

        Parameters
        ----------
        rho : ndarray of shape (n_samples,)
        """
        self._rho = rho
        self.dual, self._free, self._free_mass = self._optimal_weights(rho)
        self.divergence = float(rel_entr(self.dual, self._prior).sum()) / self._eta
        self.value = float(self.dual @ rho) + self.divergence

    def _optimal_weights(self, rho):
        """Return the minimiser d for given margins of the weighted sum.

        Parameters
        ----------
        rho : ndarray of shape (n_samples,)

        Returns
        -------
        dual : ndarray of shape (n_samples,)
            Distribution d.
        free : ndarray of shape (n_free,)
            Indices of the samples below their bound.
        free_mass : float
            Sum of d over these samples.
        """
        # 1) A free sample, below its bound, has d_i = theta d^0_i exp(-eta rho_i).
        # For k = 0, 1, ..., n_samples, let the k samples with the smallest margins be at their
        # bound, and the others free. Element k of `free_masses` is the sum of d over the free
        # samples, and element k of `log_thetas` the logarithm of the theta that gives them this
        # sum: log(free mass) - log(sum of d^0 exp(-eta rho) over the free samples). Without free
        # samples, for k = n_samples, there is no theta.
        order = np.argsort(rho, kind="stable")
        free_masses = 1.0 - np.concatenate([[0.0], np.cumsum(self._cap[order])])
        exponents = -self._eta * rho[order]
        log_terms = exponents + np.log(self._prior[order])
        log_tail_sums = np.logaddexp.accumulate(log_terms[::-1])[::-1]
        with np.errstate(divide="ignore"):
            log_thetas = np.log(np.maximum(free_masses[:-1], 0.0)) - log_tail_sums
        # 2) Find the smallest k for which no free sample exceeds its bound. The free sample of the
        # smallest margin, number k in the order, has the largest ratio d / d^0. With k = n_samples
        # no sample is free.
        is_below_cap = log_thetas + exponents <= self._log_max_ratio
        n_capped = int(np.argmax(np.append(is_below_cap, True)))
        # 3) Compute d.
        dual = self._cap.copy()
        free = order[n_capped:]
        if len(free):
            log_ratios = log_thetas[n_capped] + exponents[n_capped:]
            dual[free] = self._prior[free] * np.exp(log_ratios)
        return dual, free, max(float(free_masses[n_capped]), 0.0)

    def _step(self, U, edges):
        """Take a Newton step; return False if no step gains more than rounding errors.

        A step without a gain increases the damping and returns True, so that the next step tries
        another direction, until the damping has reached its maximum.

        Parameters
        ----------
        U : ndarray of shape (n_columns, n_samples)
            Margins of the weak learners.
        edges : ndarray of shape (n_columns,)
            Gradient of the value.

        Returns
        -------
        bool
        """
        # 1) Maximise the quadratic model over the simplex of the coefficients that are positive, or
        # whose edge exceeds the average edge, so that they may become positive.
        w, value, rho = self.coefficients, self.value, self._rho
        active = np.flatnonzero((w > 0) | (edges > w @ edges))
        H = self._damped_curvature(U[active])
        target = np.zeros_like(w)
        target[active] = _simplex_maximiser(H, edges[active], w[active])
        step = target - w
        slope = float(step @ edges)
        predicted_gain = slope - 0.5 * float(step[active] @ H @ step[active])
        direction = step @ U
        # 2) Halve the step until the value increases enough. The predicted gain is the gain of the
        # full step; a step that had to be shortened counts as one with the poorest ratio, 0.
        size = 1.0
        while size > _MIN_STEP_SIZE and slope > 0:
            self._set_rho(rho + size * direction)
            gain = self.value - value
            if gain >= _SUFFICIENT_INCREASE * size * slope:
                self._adapt_damping(gain / predicted_gain if size == 1.0 else 0.0)
                # A coefficient that leaves the support is exactly 0.
                w = target if size == 1.0 else np.maximum(w + size * step, 0.0)
                self.coefficients = w / w.sum()
                return True
            size /= 2
        self._set_rho(rho)
        self._adapt_damping(0.0)
        return self._damping < _MAX_DAMPING

    def _adapt_damping(self, gain_ratio):
        """Change the damping by the ratio of the actual gain of a step to the predicted one."""
        factor = 1.0
        if gain_ratio > _GOOD_GAIN_RATIO:
            factor = 1.0 / _DAMPING_FACTOR
        elif gain_ratio < _POOR_GAIN_RATIO:
            factor = _DAMPING_FACTOR
        self._damping = float(np.clip(factor * self._damping, _MIN_DAMPING, _MAX_DAMPING))

    def _damped_curvature(self, U):
        """Return minus the Hessian of the value, made positive definite by damping.

        Parameters
        ----------
        U : ndarray of shape (n_active, n_samples)
            Margins of the weak learners whose coefficients may change.

        Returns
        -------
        ndarray of shape (n_active, n_active)
        """
        # Sums over the free samples. A weight can underflow to 0, and then adds nothing.
        relevant = self._free[self.dual[self._free] > 0]
        d = self.dual[relevant]
        margins = U[:, relevant]
        H = np.zeros((len(U), len(U)))
        if self._free_mass > 0:
            sums = margins @ d
            H = self._eta * ((margins * d) @ margins.T - np.outer(sums, sums) / self._free_mass)
        H[np.diag_indices_from(H)] += self._damping * self._eta
        return H


def _simplex_maximiser(H, gradient, start):
    """Maximise ``gradient @ p - p @ H @ p / 2`` where ``start + p`` is in the simplex.

    Parameters
    ----------
    H : ndarray of shape (n, n)
        Positive definite matrix.
    gradient, start : ndarray of shape (n,)
        Derivatives of the function at p = 0, and a point of the simplex.

    Returns
    -------
    ndarray of shape (n,)
        Point ``start + p`` of the simplex, for the maximising p.
    """
    # The active-set method of quadratic programs: coefficients that are not free are held at 0. In
    # the loop, x is the present point ``start + p``, and `gradient` has the derivatives there.
    x, is_free = start.copy(), start > 0
    gradient = gradient.copy()
    for _ in range(_MAX_CHANGES_PER_COEFFICIENT * len(x)):
        # 1) Find the maximum over the free coefficients, whose changes p sum to 0. There all their
        # derivatives are equal to one number, the level: H p = gradient - level * 1. The solutions
        # for the right sides `gradient` and 1 give p, and the sum 0 gives the level.
        free = np.flatnonzero(is_free)
        unconstrained, sensitivity = np.linalg.solve(
            H[np.ix_(free, free)], np.stack([gradient[free], np.ones(len(free))], axis=1)
        ).T
        level = unconstrained.sum() / sensitivity.sum()
        p = unconstrained - level * sensitivity
        # 2) Move towards it, until a coefficient becomes 0, which then leaves the free ones.
        is_decreasing = p < 0
        sizes = np.full(len(p), np.inf)
        sizes[is_decreasing] = -x[free][is_decreasing] / p[is_decreasing]
        blocking = int(sizes.argmin())
        size = min(1.0, sizes[blocking])
        x[free] = np.maximum(x[free] + size * p, 0.0)
        gradient -= H[:, free] @ (size * p)
        if size < 1.0:
            x[free[blocking]] = 0.0
            is_free[free[blocking]] = False
            continue
        # 3) Free the coefficient with the largest derivative, unless none exceeds `level`.
        slopes = np.where(is_free, -np.inf, gradient - level)
        best = int(slopes.argmax())
        if slopes[best] <= _MIN_SLOPE:
            break
        is_free[best] = True
    return x
