r"""Linear support vector machines in the primal, whose columns come one by one.

Both losses are of one form. With :math:`z = 1 - y f` and a width :math:`\delta`, a sample costs

.. math:: 0 \;(z \le 0), \quad \tfrac{c}{2} z^2 \;(0 < z < \delta), \quad
          c \delta z - \tfrac{c}{2} \delta^2 \;(z \ge \delta),

and its dual variable is :math:`\alpha = c \min(\max(z, 0), \delta)`. The squared hinge has
:math:`c = 2C` and a middle piece without an end. The hinge is the limit of :math:`\delta \to 0`
with :math:`c \delta = C`; for any width, :math:`\alpha` is feasible in the dual problem of the
hinge, which says how far from its solution we are. The c of a sample may have a weight as a factor.
"""

import numpy as np
from scipy.linalg import blas, lapack

from boostbench.core.solvers.growable_matrix import GrowableMatrix
from boostbench.core.symmetric import inverse_from_cholesky

# A derivative is a sum over the samples: below this part of the sum of the dual variables it is a
# rounding error.
_RESOLUTION = 1e-11

# Newton steps end far earlier; this many only if rounding errors are larger than expected.
_MAX_STEPS = 500

# A step may miss Newton's equations by this part of their right-hand side: the next one, from an
# exact gradient, makes good for it. If it misses by more, the inverse has lost its digits.
_MAX_RELATIVE_ERROR = 0.1

# More samples that change pieces than this part of the coefficients: a new inverse is cheaper than
# its update.
_MAX_UPDATED_FRACTION = 0.25

# The matrices of the Hessian have room for that many more columns, no more: their padding is
# calculated with.
_PADDING = 64

_INITIAL_WIDTH = 1.0
_WIDTH_FACTOR = 0.25

# A step must give this part of the decrease that the slope promises; objectives that differ by less
# than their rounding errors are the same.
_SUFFICIENT_DECREASE = 1e-3
_RELATIVE_TOLERANCE = 1e-14


class PrimalSVM:
    r"""Minimise :math:`\frac12 \|w\|^2 + C \sum_i \ell(y_i (w^\top h_i + b))` with a free bias b.

    Columns are added one at a time, and the problem is solved again each time, by Newton's method
    from the solution before. The objective is quadratic as long as no sample changes pieces, so
    that finitely many steps solve it up to rounding. The inverse of the Hessian is kept, bordered
    by each new column and updated for the samples that change pieces: a step costs a few products
    of a matrix and a vector.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), dtype=float64
        -1 or +1; both occur.
    C : float
        Weight of the loss, positive.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        :math:`\ell(\rho) = \max(0, 1 - \rho)`, or its square.
    tol : float, default=1e-3
        For the hinge: the duality gap to reach, as a part of the objective. The squared hinge is
        solved up to rounding.
    sample_weight : ndarray of shape (n_samples,), default=None
        What the losses of the samples are multiplied with, positive; None: 1.

    Attributes
    ----------
    dual : ndarray of shape (n_samples,), dtype=float64
        :math:`\alpha \ge 0`, with :math:`w = \sum_i y_i \alpha_i h_i` and
        :math:`\sum_i y_i \alpha_i = 0`.

    References
    ----------
    .. [1] S. S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of
       large scale linear SVMs", JMLR 6, 2005.

    Examples
    --------
    >>> svm = PrimalSVM(np.array([1.0, 1.0, -1.0]), C=0.5)
    >>> svm.add(np.array([1.0, 1.0, -1.0]))
    >>> print(svm.weights.round(4), svm.dual.round(4))
    [0.7273] [0.1818 0.1818 0.3636]
    """

    def __init__(self, y, C, loss="squared_hinge", tol=1e-3, sample_weight=None):
        self._y = y
        self._sample_weight = sample_weight
        self._C = C
        self._tol = tol
        self._is_hinge = loss == "hinge"
        # The bias comes first, as the coefficient of a column of ones.
        self._theta = np.zeros(1)
        self._rows = GrowableMatrix(len(y))
        self._rows.append(np.ones(len(y)))
        # H'H over the samples in the middle piece, and the inverse of the Hessian; padded with 0.
        self._gram = np.zeros((_PADDING, _PADDING), order="F")
        self._inverse = np.zeros_like(self._gram)
        self._is_middle = np.zeros(len(y), bool)
        self._slack = np.ones(len(y))
        self._set_width(_INITIAL_WIDTH if self._is_hinge else np.inf)
        self._solve()

    @property
    def weights(self):
        """The coefficients w."""
        return self._theta[1:]

    @property
    def intercept(self):
        """The bias b."""
        return float(self._theta[0])

    @property
    def objective(self):
        """The objective at the solution."""
        hinge = np.maximum(self._slack, 0.0)
        weighted = self._apply_weights(hinge)
        loss = weighted.sum() if self._is_hinge else weighted @ hinge
        return float(self.weights @ self.weights / 2 + self._C * loss)

    def add(self, column):
        """Add a column, and solve the problem again.

        Parameters
        ----------
        column : ndarray of shape (n_samples,)
            Its values for the samples.
        """
        n = len(self._theta)
        if n == len(self._gram):
            self._gram, self._inverse = _enlarge(self._gram), _enlarge(self._inverse)
        inside = self._apply_weights(column * self._is_middle)
        cross = self._rows.matrix @ inside
        square = column @ inside
        self._gram[n, :n] = self._gram[:n, n] = cross
        self._gram[n, n] = square
        border = np.zeros(len(self._gram))
        border[:n] = -self._curvature * (self._inverse[:n, :n] @ cross)
        border[n] = 1.0
        pivot = 1.0 + self._curvature * (square + border[:n] @ cross)
        self._inverse = blas.dger(1 / pivot, border, border, a=self._inverse, overwrite_a=1)
        self._rows.append(column)
        self._theta = np.append(self._theta, 0.0)
        self._solve()

    def _solve(self):
        self._newton()
        while self._is_hinge and self._gap() > self._tol * self.objective:
            self._set_width(_WIDTH_FACTOR * self._width)
            self._newton()

    def _gap(self):
        """Duality gap for the hinge, at a solution for the width."""
        hinge = self._apply_weights(np.maximum(self._slack, 0.0))
        return float(self._C * hinge.sum() - self.dual @ self._slack)

    def _newton(self):
        for _ in range(_MAX_STEPS):
            gradient = self._rows.matrix @ (-self._y * self.dual)
            gradient[1:] += self.weights
            if np.abs(gradient).max() <= _RESOLUTION * self.dual.sum():
                break
            step = self._step(gradient)
            if not self._is_accurate(step, gradient):
                self._invert()
                step = self._step(gradient)
            if not self._take_step(step, gradient @ step):
                break

    def _step(self, gradient):
        n = len(gradient)
        return -(self._inverse[:n, :n] @ gradient)

    def _is_accurate(self, step, gradient):
        n = len(gradient)
        error = gradient + self._curvature * (self._gram[:n, :n] @ step)
        error[1:] += step[1:]
        return np.abs(error).max() <= _MAX_RELATIVE_ERROR * np.abs(gradient).max()

    def _take_step(self, step, slope):
        """Take the step, or go along it to the least objective where it does not lower that.

        Returns False where nothing is left to lower but rounding errors.
        """
        image = self._y * (step @ self._rows.matrix)
        linear, squared_norm = step[1:] @ self.weights, step[1:] @ step[1:]
        loss = self._loss(self._slack)
        size, slack = 1.0, self._slack - image
        change = self._loss(slack) - loss + linear + squared_norm / 2
        is_too_long = change > _SUFFICIENT_DECREASE * slope + _RELATIVE_TOLERANCE * loss
        # Where nothing holds the bias, nothing says how long its steps are.
        if is_too_long or not self._is_middle.any():
            size = self._exact_line_search(image, linear, squared_norm)
            slack = self._slack - size * image
        self._theta = self._theta + size * step
        self._update_active_set(slack)
        return size > 0

    def _loss(self, slack):
        hinge = np.maximum(slack, 0.0)
        middle = np.minimum(hinge, self._width)
        weighted = self._apply_weights(middle)
        return self._curvature * (weighted @ hinge - weighted @ middle / 2)

    def _clipped_slack(self, slack):
        return self._apply_weights(np.minimum(np.maximum(slack, 0.0), self._width))

    def _apply_weights(self, values, rows=slice(None)):
        """Multiply values of some samples with their weights."""
        return values if self._sample_weight is None else values * self._sample_weight[rows]

    def _exact_line_search(self, image, linear, square):
        """Where on a step the derivative, which rises piecewise linearly, is 0."""

        def derivative(size):
            middle = self._clipped_slack(self._slack - size * image)
            return linear + size * square - self._curvature * (image @ middle)

        active = image != 0
        breakpoints = self._slack[active] / image[active]
        if self._is_hinge:
            breakpoints = np.append(
                breakpoints, (self._slack[active] - self._width) / image[active]
            )
        breakpoints = np.unique(np.append(breakpoints[breakpoints > 0], [0.0, 1.0]))
        # Bisection for the last end where the objective still falls.
        low, high = 0, len(breakpoints)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if derivative(breakpoints[middle]) < 0 else (low, middle)
        start = breakpoints[low]
        stop = breakpoints[high] if high < len(breakpoints) else start + 1.0
        slope_at_start, slope_at_stop = derivative(start), derivative(stop)
        if slope_at_start >= 0 or slope_at_stop <= slope_at_start:
            return start
        return start + (stop - start) * slope_at_start / (slope_at_start - slope_at_stop)

    def _update_active_set(self, slack):
        """Go to new slacks; see who is in the middle piece now."""
        self._slack = slack
        self.dual = self._curvature * self._clipped_slack(slack)
        is_middle = (slack > 0) & (slack < self._width)
        previous, self._is_middle = self._is_middle, is_middle
        changed = np.flatnonzero(is_middle != previous)
        if not len(changed):
            return
        n = len(self._theta)
        columns = np.zeros((len(self._gram), len(changed)), order="F")
        columns[:n] = self._rows.matrix[:, changed]
        signs = self._apply_weights(np.where(is_middle[changed], 1.0, -1.0), changed)
        self._gram = _add_product(self._gram, columns * signs, columns)
        # Where the middle piece is or was empty, `_invert` has something to say of the bias.
        if len(changed) > _MAX_UPDATED_FRACTION * n or not (previous.any() and is_middle.any()):
            self._invert()
            return
        solved = self._inverse @ columns
        capacitance = np.diag(1.0 / (signs * self._curvature)) + columns.T @ solved
        try:
            change = np.linalg.solve(capacitance, solved.T).T
        except np.linalg.LinAlgError:
            # The old inverse has lost the digits that its update needs.
            self._invert()
            return
        self._inverse = _add_product(self._inverse, -solved, change)

    def _set_width(self, width):
        self._width = width
        self._curvature = self._C / width if self._is_hinge else 2 * self._C
        self._update_active_set(self._slack)
        self._invert()

    def _invert(self):
        n = len(self._theta)
        hessian = self._curvature * self._gram[:n, :n]
        hessian[np.arange(1, n), np.arange(1, n)] += 1.0
        if not self._is_middle.any():
            # Without samples in the middle piece the Hessian says nothing of the bias, which then
            # moves along its derivative; `_exact_line_search` finds the length.
            hessian[0, 0] = 1.0
        factor, _ = lapack.dpotrf(hessian, lower=1)
        self._inverse[:n, :n] = inverse_from_cholesky(factor)


def _enlarge(matrix):
    n = len(matrix)
    larger = np.zeros((n + _PADDING, n + _PADDING), order="F")
    larger[:n, :n] = matrix
    return larger


def _add_product(matrix, left, right):
    """Add ``left @ right.T`` to a matrix, in its place."""
    return blas.dgemm(1.0, left, right, beta=1.0, c=matrix, trans_b=1, overwrite_c=1)
