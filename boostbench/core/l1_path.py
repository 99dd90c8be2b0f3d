r"""Coefficient paths over a few given weak learners: MCBoost, Figure 1.

The exact path, :math:`W^*(\gamma)` of eq. (17), minimises the loss under an L1 norm of at most
:math:`\gamma`. Boosting by small steps approximates it: each step increases the coefficient along
which the loss falls fastest.

Arrays are class-major, as in `boostbench.core.losses.pairwise`.
"""

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from boostbench.core.losses.pairwise import PairwiseLoss
from boostbench.core.stumps.ties import argmax_with_tolerance

# Precision of the mean loss, and maximum number of iterations, of SciPy's SLSQP.
_TOLERANCE = 1e-12
_MAX_ITER = 1000


def l1_constrained_path(H, is_own_class, loss, norms):
    r"""Minimise the sum of the loss over all pairs, :math:`\|W\|_1 \le \gamma, W \ge 0`.

    Parameters
    ----------
    H : ndarray of shape (n_columns, n_samples)
        Outputs of the weak learners.
    is_own_class : ndarray of shape (n_classes, n_samples), dtype=bool
        True for the class of each sample.
    loss : object
        From `boostbench.core.losses.margin.get_loss`.
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
    >>> from boostbench.core.losses.margin import get_loss
    >>> H = np.array([[1.0, 1.0, -1.0]])
    >>> own = np.array([[True, True, False], [False, False, True]])
    >>> l1_constrained_path(H, own, get_loss("logistic"), [0.5])[0].round(3)
    array([[0.5],
           [0. ]])
    """
    shape = (len(is_own_class), len(H))
    problem = PairwiseLoss(np.asarray(H, dtype=np.float64), is_own_class, loss)

    def mean_loss(w):
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
        # The tie-breaking needs a lower bound on the sum of magnitudes: the largest slope.
        W.ravel()[argmax_with_tolerance(-gradient.ravel(), np.abs(gradient).max())] += step
        coefficients[:] = W
    return path
