"""Ridge regression with a free intercept, whose columns come one by one."""

import numpy as np
from scipy.linalg import blas, solve_triangular

from boostbench.core.linear_algebra import GrowableMatrix

# A column whose new component has less than this fraction of its squared norm is linearly dependent
# on the earlier columns. This happens only for huge weights or C.
_MIN_NEW_FRACTION = 1e-24


class GrowingRidge:
    r"""Minimise :math:`\frac12 \|W\|^2 + \frac C2 \|L - H W - 1 b^\top\|^2` with a free b.

    This is least squares with columns :math:`(h - \bar h, e / \sqrt C)` and targets
    :math:`(L - \bar L, 0)`, where e is a unit vector for each column. One Gram-Schmidt step makes a
    new column orthogonal to the earlier ones, and its projection is subtracted from the residual:
    O(n_samples * n_columns) in all. One step suffices, since the unit vectors keep the columns
    linearly independent. Only the values for the samples are stored, not the unit vectors.

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
        self._residual = np.asfortranarray(self._apply_root_weights(targets - self.target_means))
        self.means = []
        self._steps = []
        self._C = C
        self._orthogonal = GrowableMatrix(len(targets))
        self._triangle = []

    def add(self, column):
        """Add a column, an array of shape (n_samples,), and update the fit."""
        # 1) Centre the column, and make it orthogonal to the earlier ones (Gram-Schmidt).
        if self._sample_weight is None:
            mean = column.sum() / len(column)
        else:
            mean = np.average(column, weights=self._sample_weight)
        centred = self._apply_root_weights(column - mean)
        earlier = self._orthogonal.matrix
        coefficients = earlier @ centred
        orthogonal = centred - coefficients @ earlier
        square, squared_norm = centred @ orthogonal + 1.0 / self._C, centred @ centred
        is_dependent = square < _MIN_NEW_FRACTION * squared_norm
        length = np.sqrt(squared_norm if is_dependent else square)
        orthogonal /= length
        # 2) Subtract its projection from the residual. The product with the centred column equals
        # the product with its orthogonal component, since the residual is orthogonal to the earlier
        # columns, and is more accurate.
        step = centred @ self._residual / length
        if is_dependent:
            # The orthogonal component is a rounding error.
            orthogonal[:] = step[:] = 0.0
        self._residual = blas.dger(-1.0, orthogonal, step, a=self._residual, overwrite_a=1)
        self._orthogonal.append(orthogonal)
        self._triangle.append(np.append(coefficients, length))
        self.means.append(mean)
        self._steps.append(step)

    @property
    def residual(self):
        """Weighted residual of the targets, of shape (n_samples, n_targets).

        The dual variables U are C times this matrix.
        """
        return self._apply_root_weights(self._residual)

    @property
    def steps(self):
        """Coefficients of the orthogonal columns, of shape (n_columns, n_targets)."""
        return np.reshape(self._steps, (len(self._steps), self._residual.shape[1]))

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
        return solve_triangular(self.triangle(), self.steps)

    def _apply_root_weights(self, rows):
        """Return rows (samples) multiplied by the square roots of the sample weights."""
        if self._sample_weight is None:
            return rows
        return (rows.T * np.sqrt(self._sample_weight)).T
