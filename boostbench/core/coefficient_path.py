r"""Coefficient paths: the coefficients of an ensemble round by round, or norm by norm.

`CoefficientPath` records the coefficients after each round of a totally corrective booster.

`l1_constrained_path` and `stage_wise_path` compute paths over a few given weak learners: MCBoost,
Figure 1. The exact path, :math:`W^*(\gamma)` of eq. (17), minimises the loss under an L1 norm of at
most :math:`\gamma`. Boosting by small steps approximates it: each step increases the coefficient
along which the loss falls fastest. Their arrays are class-major, such as (n_classes, n_samples).
"""

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint, minimize

from boostbench.core.losses.restricted_problems import PairwiseLoss
from boostbench.core.weak_learner import argmax_with_tolerance

# Precision of the mean loss at which SciPy's SLSQP stops.
_TOLERANCE = 1e-12

# Maximum number of iterations of SLSQP. A solve that needs more raises an error.
_MAX_ITER = 1000


class CoefficientPath:
    """Sparse record of the coefficients after each round; most of them are 0.

    A round is stored as its nonzero coefficients and their flat indices.

    Examples
    --------
    >>> path = CoefficientPath()
    >>> path.append(np.array([[1.0, 0.0]]))
    >>> path.append(np.array([[0.5, 0.0], [0.0, 2.0]]))
    >>> path.matrix(4).toarray()
    array([[1. , 0. , 0. , 0. ],
           [0.5, 0. , 0. , 2. ]])
    """

    def __init__(self):
        # The first, empty piece makes concatenation work before the first round.
        self._values = [np.empty(0)]
        self._indices = [np.empty(0, np.int64)]

    def append(self, coefficients):
        """Append the coefficients of a round.

        Parameters
        ----------
        coefficients : ndarray of float64
            Array of any shape. A round may have more coefficients than the previous round; the new
            ones come last.
        """
        flat = coefficients.ravel()
        indices = np.flatnonzero(flat)
        self._values.append(flat[indices])
        self._indices.append(indices)

    def replace_last(self, coefficients):
        """Replace the coefficients of the last round by other ones; see `append`."""
        del self._values[-1], self._indices[-1]
        self.append(coefficients)

    def rewind(self, rounds, n_coefficients):
        """Remove the rounds after the first `rounds`.

        Parameters
        ----------
        rounds : int
            Number of rounds that remain, 1 or more.
        n_coefficients : int
            Number of coefficients of the last of them.

        Returns
        -------
        ndarray of shape (n_coefficients,)
            Coefficients of the last remaining round.
        """
        del self._values[rounds + 1 :], self._indices[rounds + 1 :]
        coefficients = np.zeros(n_coefficients)
        coefficients[self._indices[-1]] = self._values[-1]
        return coefficients

    def matrix(self, n_coefficients):
        """Return the coefficients of all rounds.

        Parameters
        ----------
        n_coefficients : int
            Number of coefficients of the last round.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_rounds, n_coefficients)
        """
        # Row t of the matrix is piece t + 1: the empty first piece gives `indptr` its leading 0.
        indptr = np.cumsum([len(indices) for indices in self._indices])
        parts = np.concatenate(self._values), np.concatenate(self._indices), indptr
        return sparse.csr_array(parts, shape=(len(indptr) - 1, n_coefficients))


def coefficients_after(path, n_rounds, shape):
    """Return the coefficients after a number of rounds.

    Parameters
    ----------
    path : scipy.sparse.csr_array of shape (n_all_rounds, n_coefficients)
        From `CoefficientPath.matrix`.
    n_rounds : int
        Number of rounds, from 0 to the number of rows of `path`.
    shape : tuple of int
        Shape of the coefficients after the last round.

    Returns
    -------
    ndarray of shape `shape`
        Coefficients; 0 for weak learners of later rounds.
    """
    return path[[n_rounds - 1]].toarray().reshape(shape) if n_rounds else np.zeros(shape)


def l1_constrained_path(H, is_own_class, loss, norms):
    r"""Minimise the sum of the loss over all pairs, :math:`\|W\|_1 \le \gamma, W \ge 0`.

    Parameters
    ----------
    H : ndarray of shape (n_columns, n_samples)
        Outputs of the weak learners.
    is_own_class : ndarray of shape (n_classes, n_samples), dtype=bool
        True for the class of each sample.
    loss : object
        From `boostbench.core.losses.objective.get_loss`.
    norms : sequence of float
        Values of :math:`\gamma`, ascending: each solution is the start of the next solve.

    Returns
    -------
    ndarray of shape (n_norms, n_classes, n_columns)

    Raises
    ------
    RuntimeError
        If the solver does not converge. It is made for tens of coefficients.

    Examples
    --------
    >>> from boostbench.core.losses.objective import get_loss
    >>> H = np.array([[1.0, 1.0, -1.0]])
    >>> own = np.array([[True, True, False], [False, False, True]])
    >>> l1_constrained_path(H, own, get_loss("logistic"), [0.5])[0].round(3)
    array([[0.5],
           [0. ]])
    """
    shape = (len(is_own_class), len(H))
    problem = PairwiseLoss(np.asarray(H, dtype=np.float64), is_own_class, loss)

    def mean_loss(w):
        # `move` sets the coefficients, and returns the sum of the losses and its gradient.
        value, gradient = problem.move(w.reshape(shape))
        return value / is_own_class.size, gradient.ravel() / is_own_class.size

    w = np.zeros(shape[0] * shape[1])
    path = []
    for norm in norms:
        result = minimize(
            mean_loss,
            w,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, None)] * len(w),
            constraints=[LinearConstraint(np.ones(len(w)), -np.inf, norm)],
            options={"ftol": _TOLERANCE, "maxiter": _MAX_ITER},
        )
        if not result.success:
            raise RuntimeError(f"no solution for an L1 norm of {norm}: {result.message}")
        # Rounding errors of the solver can violate the bounds.
        w = np.maximum(result.x, 0.0)
        path.append(w.reshape(shape))
    return np.array(path)


def stage_wise_path(H, is_own_class, loss, n_rounds, step=0.01):
    """Return the path of boosting by constant steps, each in the coefficient that eq. (10) selects.

    Ties go to the first coefficient.

    Parameters
    ----------
    H, is_own_class, loss
        See `l1_constrained_path`.
    n_rounds : int
    step : float, default=0.01
        Increase of a coefficient per round; the default is the step of MCBoost, Figure 1.

    Returns
    -------
    ndarray of shape (n_rounds, n_classes, n_columns)
        Coefficients after each round; after t rounds the L1 norm is ``step * t``.
    """
    problem = PairwiseLoss(np.asarray(H, dtype=np.float64), is_own_class, loss)
    W = np.zeros((len(is_own_class), len(H)))
    path = np.empty((n_rounds, *W.shape))
    for coefficients in path:
        _, gradient = problem.move(W)
        # The scale of ties is the sum of the absolute summands of a slope. It is unknown: the
        # largest slope, a lower bound of it, takes its place.
        W.ravel()[argmax_with_tolerance(-gradient.ravel(), np.abs(gradient).max())] += step
        coefficients[:] = W
    return path
