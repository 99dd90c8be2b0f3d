r"""Coefficient paths over a few given weak learners: MCBoost, Figure 1.

The exact one, :math:`W^*(\gamma)` of eq. (17), minimises the loss for an L1 norm of at most
:math:`\gamma`. Boosting by tiny steps, each of one coefficient, the one along which the loss falls
fastest, comes close to it.

Arrays are class-major, as in `boostbench.core.losses.pairwise`.
"""

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from boostbench.core.losses.pairwise import PairwiseLoss
from boostbench.core.weak.ties import first_largest

_TOLERANCE = 1e-12
_MAX_ITER = 1000


def l1_constrained_path(H, own, loss, norms):
    r"""Minimise the sum of the loss over all pairs, :math:`\|W\|_1 \le \gamma, W \ge 0`.

    Parameters
    ----------
    H, own, loss
        As of `boostbench.core.losses.pairwise.PairwiseLoss`.
    norms : sequence of float
        :math:`\gamma`, ascending: the solution for one is where the solver starts for the next.

    Returns
    -------
    ndarray of shape (n_norms, n_classes, n_columns)

    Raises
    ------
    RuntimeError
        If the solver does not converge. It is meant for tens of coefficients.

    Examples
    --------
    >>> from boostbench.core.losses.margin import get_loss
    >>> H = np.array([[1.0, 1.0, -1.0]])
    >>> own = np.array([[True, True, False], [False, False, True]])
    >>> l1_constrained_path(H, own, get_loss("logistic"), [0.5])[0].round(3)
    array([[0.5],
           [0. ]])
    """
    shape = (len(own), len(H))
    problem = PairwiseLoss(np.asarray(H, dtype=np.float64), own, loss)

    def mean_loss(w):
        value, gradient = problem.move(w.reshape(shape))
        return value / own.size, gradient.ravel() / own.size

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
        # The solver may leave the bounds by its last digits.
        w = np.maximum(result.x, 0.0)
        path.append(w.reshape(shape))
    return np.array(path)


def stage_wise_path(H, own, loss, n_rounds, step=0.01):
    """Add the same small number, round by round, to the coefficient that eq. (10) selects.

    Of equally steep coefficients it is the first.

    Parameters
    ----------
    H, own, loss
        As of `l1_constrained_path`.
    n_rounds : int
    step : float, default=0.01
        MCBoost's.

    Returns
    -------
    ndarray of shape (n_rounds, n_classes, n_columns)
        After each round; the L1 norm is `step` times their number.
    """
    problem = PairwiseLoss(np.asarray(H, dtype=np.float64), own, loss)
    W = np.zeros((len(own), len(H)))
    path = np.empty((n_rounds, *W.shape))
    for coefficients in path:
        _, gradient = problem.move(W)
        # No sum of sizes is less than the largest slope.
        W.ravel()[first_largest(-gradient.ravel(), np.abs(gradient).max())] += step
        coefficients[:] = W
    return path
