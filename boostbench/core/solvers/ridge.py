"""Ridge regression with a free intercept, whose columns come one by one."""

import numpy as np
from scipy.linalg import blas, solve_triangular

from boostbench.core.solvers.growable_matrix import GrowableMatrix

# A column of which less than that part of its square is new, its own coordinate included, depends
# on those before: that is so where weights or C are huge.
_MIN_NEW_FRACTION = 1e-24


class GrowingRidge:
    r"""Minimise :math:`\frac12 \|W\|^2 + \frac C2 \|L - H W - 1 b^\top\|^2` with a free b.

    It is least squares with columns :math:`(h - \bar h, e / \sqrt C)` and targets
    :math:`(L - \bar L, 0)`, where e is a coordinate of the column's own. A new column is made
    orthogonal to those before it by one Gram-Schmidt step, and what it explains is taken off the
    residual: O(n_samples * n_columns) in all. One step is enough, since the own coordinate keeps
    the columns apart. These coordinates are nowhere needed: what is kept of a column are its values
    for the samples.

    Parameters
    ----------
    targets : ndarray of shape (n_samples, n_targets), dtype=float64
        L.
    C : float
        Weight of the squared errors, positive.
    sample_weight : ndarray of shape (n_samples,), default=None
        What the squared errors of the samples are multiplied with, positive; None: 1. Means are
        weighted then, and what is left after them is multiplied with the roots of the weights.

    Attributes
    ----------
    target_means : ndarray of shape (n_targets,)
        Of L.
    means : list of float
        Of each column.

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
        """Add a column, an array of shape (n_samples,), and fit anew."""
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
        # By the column itself: only its own coordinate is 0 in the residual.
        step = centred @ self._residual / length
        if is_dependent:
            # Nothing is left of it but rounding.
            orthogonal[:] = step[:] = 0.0
        self._residual = blas.dger(-1.0, orthogonal, step, a=self._residual, overwrite_a=1)
        self._orthogonal.append(orthogonal)
        self._triangle.append(np.append(coefficients, length))
        self.means.append(mean)
        self._steps.append(step)

    @property
    def residual(self):
        """What is left of the targets, times the weights, of shape (n_samples, n_targets).

        C times this are the dual variables U.
        """
        return self._apply_root_weights(self._residual)

    @property
    def steps(self):
        """Coefficients of the orthogonal columns, an array of shape (n_columns, n_targets)."""
        return np.reshape(self._steps, (len(self._steps), self._residual.shape[1]))

    def triangle(self):
        """Return R: centred columns are orthogonal ones times R.

        Returns
        -------
        ndarray of shape (n_columns, n_columns)
            Upper triangular.
        """
        triangle = np.zeros((len(self.means), len(self.means)))
        for i, parts in enumerate(self._triangle):
            triangle[: i + 1, i] = parts
        return triangle

    def weights(self):
        """Return W, an array of shape (n_columns, n_targets)."""
        return solve_triangular(self.triangle(), self.steps)

    def _apply_root_weights(self, rows):
        if self._sample_weight is None:
            return rows
        return (rows.T * np.sqrt(self._sample_weight)).T
