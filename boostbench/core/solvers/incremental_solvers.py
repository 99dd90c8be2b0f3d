r"""Solvers of CGENS, to which columns (weak learners) are added one at a time.

`PrimalSVM` is the linear support vector machine of `CGENS`, solved in the primal. `GrowingRidge` is
the ridge regression of `CGENSSLS`.

Both losses of the machine have one form. With :math:`z = 1 - y f` for the score f, and a width
:math:`\delta`, the loss of a sample is

.. math:: 0 \;(z \le 0), \quad \tfrac{c}{2} z^2 \;(0 < z < \delta), \quad
          c \delta z - \tfrac{c}{2} \delta^2 \;(z \ge \delta),

and its dual variable is :math:`\alpha = c \min(\max(z, 0), \delta)`. The squared hinge has
:math:`c = 2C` and an infinite width. The hinge is the limit :math:`\delta \to 0` with
:math:`c \delta = C`; for any width, :math:`\alpha` is feasible in the dual problem of the hinge, so
that the duality gap bounds the error. A sample weight is a factor of c. The *middle piece* is the
interval :math:`0 < z < \delta`, where the loss has a curvature; z is called the slack.
"""

import numpy as np
from scipy.linalg import blas, lapack, solve_triangular

from boostbench.core.linear_algebra import GrowableMatrix, inverse_from_cholesky

# A derivative is a sum over the samples. Below this fraction of the sum of the dual variables it is
# a rounding error.
_RESOLUTION = 1e-11

# Maximum number of Newton steps per column. Newton's method needs far fewer, unless rounding errors
# are larger than expected.
_MAX_STEPS = 500

# Relative residual of Newton's equations that a step may have: the next step, from an exact
# gradient, corrects it. A larger residual means that the inverse has lost its accuracy.
_MAX_RELATIVE_ERROR = 0.1

# Number of samples that change pieces, as a fraction of the number of coefficients, above which a
# new inverse is cheaper than an update.
_MAX_UPDATED_FRACTION = 0.25

# Number of columns by which the arrays of the Hessian grow when they are full. Products include
# this padding, so that it is small.
_PADDING = 64

# First width of the middle piece of the hinge, and factor by which it shrinks while the duality gap
# is too large.
_INITIAL_WIDTH = 1.0
_WIDTH_FACTOR = 0.25

# Fraction of the decrease by the initial slope that a step must achieve.
_SUFFICIENT_DECREASE = 1e-3

# Relative difference below which two objectives are equal.
_RELATIVE_TOLERANCE = 1e-14

# Fraction of the squared norm of a column that its component orthogonal to the earlier columns must
# have. Otherwise the column is linearly dependent on them, which happens only for huge weights or
# C.
_MIN_NEW_FRACTION = 1e-24


class PrimalSVM:
    r"""Minimise :math:`\frac12 \|w\|^2 + C \sum_i \ell(y_i (w^\top h_i + b))` with a free bias b.

    Columns are added one at a time, and Newton's method solves the problem again each time, from
    the previous solution. The objective is quadratic while no sample changes pieces, so that
    finitely many steps solve it up to rounding. The inverse of the Hessian is bordered by each new
    column and updated for the samples that change pieces: a step costs a few matrix-vector
    products.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), dtype=float64
        Labels -1 and +1; both occur.
    C : float
        Weight of the loss, positive.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Loss :math:`\ell(\rho) = \max(0, 1 - \rho)`, or its square.
    tol : float, default=1e-3
        Relative duality gap for the hinge. The squared hinge is solved up to rounding.
    sample_weight : ndarray of shape (n_samples,), default=None
        Positive factors of the samples' losses; None: all are 1.

    Attributes
    ----------
    dual : ndarray of shape (n_samples,), dtype=float64
        Dual variables :math:`\alpha \ge 0`, with :math:`w = \sum_i y_i \alpha_i h_i` and
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
        # Coefficients (b, w), and the columns of H as the rows of a growing matrix. The bias is the
        # first coefficient, and its column is all ones.
        self._theta = np.zeros(1)
        self._columns_by_row = GrowableMatrix(len(y))
        self._columns_by_row.append(np.ones(len(y)))
        # Matrix H'H, weighted sums over the samples in the middle piece, and the inverse of the
        # Hessian diag(0, 1, ..., 1) + c H'H. Both are padded with zeros.
        self._gram = np.zeros((_PADDING, _PADDING), order="F")
        self._inverse = np.zeros_like(self._gram)
        self._is_middle = np.zeros(len(y), bool)
        self._slack = np.ones(len(y))
        self._set_width(_INITIAL_WIDTH if self._is_hinge else np.inf)
        self._solve()

    @property
    def weights(self):
        """Coefficients w."""
        return self._theta[1:]

    @property
    def intercept(self):
        """Bias b."""
        return float(self._theta[0])

    @property
    def objective(self):
        """Objective at the solution."""
        hinge = np.maximum(self._slack, 0.0)
        weighted = self._apply_sample_weights(hinge)
        loss = weighted.sum() if self._is_hinge else weighted @ hinge
        return float(self.weights @ self.weights / 2 + self._C * loss)

    def add(self, column):
        """Add a column, and solve the problem again.

        Parameters
        ----------
        column : ndarray of shape (n_samples,)
            Values of the column for the samples.
        """
        # 1) Border the Gram matrix H'H of the middle piece by the new column.
        n = len(self._theta)
        if n == len(self._gram):
            self._gram, self._inverse = _enlarge(self._gram), _enlarge(self._inverse)
        middle_column = self._apply_sample_weights(column * self._is_middle)
        cross = self._columns_by_row.matrix @ middle_column
        column_square = column @ middle_column
        self._gram[n, :n] = self._gram[:n, n] = cross
        self._gram[n, n] = column_square
        # 2) Border the inverse: with B = [[A, a], [a', d]], the inverse of A, and the Schur
        # complement p (pivot), it changes by the outer product of (-A^-1 a, 1) divided by p.
        border = np.zeros(len(self._gram))
        border[:n] = -self._curvature * (self._inverse[:n, :n] @ cross)
        border[n] = 1.0
        pivot = 1.0 + self._curvature * (column_square + border[:n] @ cross)
        self._inverse = blas.dger(1 / pivot, border, border, a=self._inverse, overwrite_a=1)
        # 3) Solve with one more coefficient.
        self._columns_by_row.append(column)
        self._theta = np.append(self._theta, 0.0)
        self._solve()

    def _solve(self):
        """Solve the problem; for the hinge, narrow its middle piece until the gap is small."""
        self._newton()
        while self._is_hinge and self._gap() > self._tol * self.objective:
            self._set_width(_WIDTH_FACTOR * self._width)
            self._newton()

    def _gap(self):
        """Return the duality gap of the hinge at a solution for the current width."""
        # The gap is |w|^2 + C sum(hinge) - sum(dual). Since w is the sum of y dual h, and the sum
        # of y dual is 0, |w|^2 is dual @ (1 - slack).
        hinge = self._apply_sample_weights(np.maximum(self._slack, 0.0))
        return float(self._C * hinge.sum() - self.dual @ self._slack)

    def _newton(self):
        """Minimise the objective for the present width, by Newton's method."""
        for _ in range(_MAX_STEPS):
            # 1) Stop if the gradient, w minus H times y alpha, is a rounding error.
            gradient = self._columns_by_row.matrix @ (-self._y * self.dual)
            gradient[1:] += self.weights
            if np.abs(gradient).max() <= _RESOLUTION * self.dual.sum():
                break
            # 2) Compute the step, with a new inverse if the updated one is inaccurate.
            step = self._step(gradient)
            if not self._is_accurate(step, gradient):
                self._invert()
                step = self._step(gradient)
            # 3) Take it.
            if not self._take_step(step, gradient @ step):
                break

    def _step(self, gradient):
        """Return the Newton step, minus the inverse Hessian times the gradient."""
        n = len(gradient)
        return -(self._inverse[:n, :n] @ gradient)

    def _is_accurate(self, step, gradient):
        """Return True if a step solves Newton's equations up to `_MAX_RELATIVE_ERROR`.

        The step and the gradient have the shape (n_coefficients,).
        """
        # The residual of the equations is the gradient plus the Hessian times the step.
        n = len(gradient)
        residual = gradient + self._curvature * (self._gram[:n, :n] @ step)
        residual[1:] += step[1:]
        return np.abs(residual).max() <= _MAX_RELATIVE_ERROR * np.abs(gradient).max()

    def _take_step(self, step, slope):
        """Take the step, or go to the minimum along it if the full step does not decrease enough.

        Parameters
        ----------
        step : ndarray of shape (n_coefficients,)
        slope : float
            Derivative of the objective along the step.

        Returns
        -------
        bool
            False if only rounding errors remain.
        """
        # The step lowers the slack z of each sample by `decrease`. The objective is the loss plus
        # |w|^2 / 2, which changes by `norm_slope`, its derivative along the step, plus half the
        # squared norm of the step.
        decrease = self._y * (step @ self._columns_by_row.matrix)
        norm_slope, squared_norm = step[1:] @ self.weights, step[1:] @ step[1:]
        loss = self._loss(self._slack)
        size, slack = 1.0, self._slack - decrease
        change = self._loss(slack) - loss + norm_slope + squared_norm / 2
        is_too_long = change > _SUFFICIENT_DECREASE * slope + _RELATIVE_TOLERANCE * loss
        # The Hessian does not determine the bias if no sample is in the middle piece.
        if is_too_long or not self._is_middle.any():
            size = self._exact_line_search(decrease, norm_slope, squared_norm)
            slack = self._slack - size * decrease
        self._theta = self._theta + size * step
        self._move_to_slack(slack)
        return size > 0

    def _loss(self, slack):
        """Return the sum of the losses, given the slacks z."""
        # All three pieces of the loss are c (m max(z, 0) - m^2 / 2) for m = min(max(z, 0), width).
        hinge = np.maximum(slack, 0.0)
        clipped = np.minimum(hinge, self._width)
        weighted = self._apply_sample_weights(clipped)
        return self._curvature * (weighted @ hinge - weighted @ clipped / 2)

    def _clipped_slack(self, slack):
        """Return the dual variables over c: clipped slacks times the sample weights."""
        return self._apply_sample_weights(np.minimum(np.maximum(slack, 0.0), self._width))

    def _apply_sample_weights(self, values, rows=slice(None)):
        """Return the values of samples multiplied by their weights."""
        return values if self._sample_weight is None else values * self._sample_weight[rows]

    def _exact_line_search(self, decrease, norm_slope, squared_norm):
        """Return the size of a step at which the objective is smallest.

        The derivative along the step increases and is piecewise linear; its root is computed
        exactly.

        Parameters
        ----------
        decrease : ndarray of shape (n_samples,)
            Decrease of the slacks by the step.
        norm_slope, squared_norm : float
            Derivative of |w|^2 / 2 along the step, and squared norm of the step in w.

        Returns
        -------
        float
            Nonnegative size.
        """

        def derivative(size):
            """Return the derivative of the objective along the step, at a given size."""
            clipped = self._clipped_slack(self._slack - size * decrease)
            return norm_slope + size * squared_norm - self._curvature * (decrease @ clipped)

        # 1) List the sizes at which a sample changes pieces.
        active = decrease != 0
        breakpoints = self._slack[active] / decrease[active]
        if self._is_hinge:
            breakpoints = np.append(
                breakpoints, (self._slack[active] - self._width) / decrease[active]
            )
        breakpoints = np.unique(np.append(breakpoints[breakpoints > 0], [0.0, 1.0]))
        # 2) Find the last one at which the objective still decreases, by bisection.
        low, high = 0, len(breakpoints)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if derivative(breakpoints[middle]) < 0 else (low, middle)
        # 3) Interpolate: the derivative is linear up to the next breakpoint.
        start = breakpoints[low]
        stop = breakpoints[high] if high < len(breakpoints) else start + 1.0
        slope_at_start, slope_at_stop = derivative(start), derivative(stop)
        if slope_at_start >= 0 or slope_at_stop <= slope_at_start:
            return start
        return start + (stop - start) * slope_at_start / (slope_at_start - slope_at_stop)

    def _move_to_slack(self, slack):
        """Set the slacks and dual variables, and update the Hessian for samples that change pieces.

        Parameters
        ----------
        slack : ndarray of shape (n_samples,)
        """
        # 1) Find the samples that enter or leave the middle piece.
        self._slack = slack
        self.dual = self._curvature * self._clipped_slack(slack)
        is_middle = (slack > 0) & (slack < self._width)
        previous, self._is_middle = self._is_middle, is_middle
        changed = np.flatnonzero(is_middle != previous)
        if not len(changed):
            return
        # 2) Update the Gram matrix: it changes by the outer products of the samples' values, with
        # the sign +1 for samples that enter.
        n = len(self._theta)
        columns = np.zeros((len(self._gram), len(changed)), order="F")
        columns[:n] = self._columns_by_row.matrix[:, changed]
        signs = self._apply_sample_weights(np.where(is_middle[changed], 1.0, -1.0), changed)
        self._gram = _add_product(self._gram, columns * signs, columns)
        # 3) Update the inverse by the formula of Sherman, Morrison and Woodbury: with U =
        # `columns`, A^-1 changes by -A^-1 U K^-1 U' A^-1, where K = diag(1 / (sign c)) + U' A^-1 U
        # is the capacitance matrix. If the middle piece is or was empty, `_invert` handles the
        # bias.
        if len(changed) > _MAX_UPDATED_FRACTION * n or not (previous.any() and is_middle.any()):
            self._invert()
            return
        solved = self._inverse @ columns
        capacitance = np.diag(1.0 / (signs * self._curvature)) + columns.T @ solved
        try:
            change = np.linalg.solve(capacitance, solved.T).T
        except np.linalg.LinAlgError:
            # The old inverse is too inaccurate for an update.
            self._invert()
            return
        self._inverse = _add_product(self._inverse, -solved, change)

    def _set_width(self, width):
        """Set the width of the middle piece, and the curvature c of the loss in it."""
        self._width = width
        self._curvature = self._C / width if self._is_hinge else 2 * self._C
        self._move_to_slack(self._slack)
        self._invert()

    def _invert(self):
        """Compute the inverse of the Hessian anew."""
        n = len(self._theta)
        hessian = self._curvature * self._gram[:n, :n]
        hessian[np.arange(1, n), np.arange(1, n)] += 1.0
        if not self._is_middle.any():
            # The Hessian does not determine the step in the bias. The entry 1 makes it a gradient
            # step, and `_exact_line_search` finds its length.
            hessian[0, 0] = 1.0
        factor, _ = lapack.dpotrf(hessian, lower=1)
        self._inverse[:n, :n] = inverse_from_cholesky(factor)


def _enlarge(matrix):
    """Return a matrix with `_PADDING` more rows and columns of zeros."""
    n = len(matrix)
    larger = np.zeros((n + _PADDING, n + _PADDING), order="F")
    larger[:n, :n] = matrix
    return larger


def _add_product(matrix, A, B):
    """Add ``A @ B.T`` to a matrix in place."""
    return blas.dgemm(1.0, A, B, beta=1.0, c=matrix, trans_b=1, overwrite_c=1)


class GrowingRidge:
    r"""Minimise :math:`\frac12 \|W\|^2 + \frac C2 \|L - H W - 1 b^\top\|^2` with a free b.

    H has a column h for each weak learner, with the mean :math:`\bar h`, and L a column for each
    target. This is least squares with *augmented columns* :math:`(h - \bar h, e / \sqrt C)` and
    targets :math:`(L - \bar L, 0)`, where e is the unit vector of the column: an added row has the
    target 0 and the fitted value :math:`w / \sqrt C`, so that the added rows contribute
    :math:`\|W\|^2 / C` to the squared errors. One Gram-Schmidt step makes a new column orthogonal
    to the earlier ones, and its projection is subtracted from the residual: O(n_samples *
    n_columns) in all. One step suffices, since the unit vectors keep the columns linearly
    independent. Only the values for the samples are stored, not the unit vectors.

    Parameters
    ----------
    targets : ndarray of shape (n_samples, n_targets), dtype=float64
        Targets L.
    C : float
        Weight of the squared errors, positive.
    sample_weight : ndarray of shape (n_samples,), default=None
        Positive factors of the samples' squared errors; None: all are 1. With weights, means are
        weighted, and centred values are multiplied by the square roots of the weights.

    Attributes
    ----------
    target_means : ndarray of shape (n_targets,)
        Means of L.
    means : list of float
        Mean of each column.

    Examples
    --------
    >>> ridge = GrowingRidge(np.array([[1.0], [1.0], [-2.0]]), C=1.0)
    >>> ridge.add(np.array([1.0, 1.0, -2.0]))
    >>> ridge.weights().round(4)
    array([[0.8571]])
    """

    def __init__(self, targets, C, sample_weight=None):
        self._sample_weight = sample_weight
        self.target_means = np.average(targets, axis=0, weights=sample_weight)
        self._root_weighted_residual = np.asfortranarray(
            self._apply_root_weights(targets - self.target_means)
        )
        self.means = []
        self._C = C
        # Orthonormal columns (as rows), the coefficients of the targets for them, and the columns
        # of the triangular factor R.
        self._orthogonal = GrowableMatrix(len(targets))
        self._orthogonal_coefficients = []
        self._triangle = []

    def add(self, column):
        """Add a column, an array of shape (n_samples,), and update the fit."""
        # 1) Centre the column, and make it orthogonal to the earlier ones (Gram-Schmidt). The
        # product of the centred column and its orthogonal component is the squared norm of the
        # component. The column is augmented by a unit vector for the ridge, which adds 1 / C.
        if self._sample_weight is None:
            mean = column.sum() / len(column)
        else:
            mean = np.average(column, weights=self._sample_weight)
        centred = self._apply_root_weights(column - mean)
        earlier = self._orthogonal.matrix
        coefficients = earlier @ centred
        orthogonal = centred - coefficients @ earlier
        squared_norm = centred @ centred
        augmented_squared_norm = centred @ orthogonal + 1.0 / self._C
        is_dependent = augmented_squared_norm < _MIN_NEW_FRACTION * squared_norm
        length = np.sqrt(squared_norm if is_dependent else augmented_squared_norm)
        orthogonal /= length
        # 2) Subtract its projection from the residual. The product with the centred column equals
        # the product with its orthogonal component, since the residual is orthogonal to the earlier
        # columns, and is more accurate.
        target_coefficients = centred @ self._root_weighted_residual / length
        if is_dependent:
            # The orthogonal component is a rounding error.
            orthogonal[:] = target_coefficients[:] = 0.0
        self._root_weighted_residual = blas.dger(
            -1.0, orthogonal, target_coefficients, a=self._root_weighted_residual, overwrite_a=1
        )
        self._orthogonal.append(orthogonal)
        self._triangle.append(np.append(coefficients, length))
        self.means.append(mean)
        self._orthogonal_coefficients.append(target_coefficients)

    @property
    def residual(self):
        """Weighted residual of the targets, of shape (n_samples, n_targets).

        The dual variables U are C times this matrix.
        """
        return self._apply_root_weights(self._root_weighted_residual)

    @property
    def orthogonal_coefficients(self):
        """Coefficients of the orthogonal columns, of shape (n_columns, n_targets)."""
        return np.reshape(
            self._orthogonal_coefficients,
            (len(self._orthogonal_coefficients), self._root_weighted_residual.shape[1]),
        )

    def triangle(self):
        """Return the triangular factor R of the QR decomposition of the centred columns.

        Returns
        -------
        ndarray of shape (n_columns, n_columns)
            Upper triangular matrix.
        """
        triangle = np.zeros((len(self.means), len(self.means)))
        for i, parts in enumerate(self._triangle):
            triangle[: i + 1, i] = parts
        return triangle

    def weights(self):
        """Return the coefficients W, an array of shape (n_columns, n_targets)."""
        # The fitted values H W, with H = Q R, are Q @ orthogonal_coefficients: solve
        # R W = orthogonal_coefficients.
        return solve_triangular(self.triangle(), self.orthogonal_coefficients)

    def _apply_root_weights(self, rows):
        """Return rows (samples) multiplied by the square roots of the sample weights."""
        if self._sample_weight is None:
            return rows
        return (rows.T * np.sqrt(self._sample_weight)).T
