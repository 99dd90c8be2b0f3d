r"""Losses of the ranking margins of RBoost^rank as functions of the coefficients.

The margins of the pairs (i, r) are :math:`\rho = w^\top A`, where the rows of A hold
:math:`\delta h` of the weak learners.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from boostbench.core.linear_algebra import weighted_gram
from boostbench.core.solvers.newton import DampedHessian, Problem, significant_mask

# A diagonal entry below this fraction of the largest one is a sign that the pairs left out carry
# all the curvature of its coefficient.
_MIN_DIAGONAL_FRACTION = 1e-3

# Ridge relative to the largest diagonal entry, since a weak learner can occur twice.
_RIDGE = 1e-10

# The magnitude of a margin is at most twice the norm of w. Up to this norm, the exponential of a
# margin stays within the range of double precision.
LARGEST_NORM = float(np.log(np.finfo(np.float64).max) / 2)

# Upper bound on the edge of a weak learner, relative to the sum of the dual variables.
_MAX_EDGE = 2.0


class SumOfLosses:
    r""":math:`\sum_{ir} \lambda(\rho_{ir})`, the loss of RandomBoost, eq. (12); convex.

    Parameters
    ----------
    loss : object
        From `boostbench.core.losses.margin.get_loss`.
    """

    def __init__(self, loss):
        self._loss = loss

    def value_and_dual(self, margins):
        r"""Return the loss and its dual variables.

        Parameters
        ----------
        margins : ndarray of shape (n_pairs,)

        Returns
        -------
        value : float
        dual : ndarray of shape (n_pairs,)
            :math:`u_{ir} = -\lambda'(\rho_{ir})`, eq. (16).
        """
        values, dual = self._loss.value_and_dual(margins)
        return float(values.sum()), dual

    def curvature(self, dual):
        """Return the second derivative of each pair's loss where its dual variable is `dual`."""
        return self._loss.curvature(dual)


class LogSumExp:
    r""":math:`\log \sum_{ir} e^{-\rho_{ir}}`, the loss of RandomBoost, eq. (2); convex.

    Examples
    --------
    >>> value, dual = LogSumExp().value_and_dual(np.array([0.0, 0.0]))
    >>> print(round(value, 4), dual)
    0.6931 [0.5 0.5]
    """

    def value_and_dual(self, margins):
        r"""Return the loss and its dual variables, whose sum is 1 (eq. (4))."""
        least = margins.min()
        shares = np.exp(least - margins)
        total = shares.sum()
        return float(np.log(total) - least), shares / total


class RankingLoss(Problem):
    r"""Loss of the margins ``w @ A``.

    Parameters
    ----------
    A : ndarray of shape (n_columns, n_pairs), dtype=float64
        Values :math:`\delta h` of the weak learners (the columns of column generation).
    loss : SumOfLosses or LogSumExp
        Loss; Newton's method requires `SumOfLosses`.

    Attributes
    ----------
    margins : ndarray of shape (n_pairs,)
        Margins at the current point.
    dual : ndarray of shape (n_pairs,)
        Dual variables u at the current point.
    norm_slope : float
        Derivative of the loss with respect to the L1 norm of w; 0 here.

    Examples
    --------
    >>> from boostbench.core.losses.margin import get_loss
    >>> from boostbench.core.solvers.newton import NonnegativeNewton
    >>> problem = RankingLoss(np.array([[2.0, 2.0, -2.0]]), SumOfLosses(get_loss("logistic")))
    >>> solution = NonnegativeNewton().minimise(
    ...     problem, np.zeros(1), nu=0.1, tol=1e-8, max_iter=50)
    >>> print(solution.w.round(4))
    [0.3095]
    """

    norm_slope = 0.0

    def __init__(self, A, loss):
        self.A = A
        self.loss = loss

    def move(self, w):
        """Move to w; see `Problem.move`."""
        self.margins = w @ self.A
        value, self.dual = self.loss.value_and_dual(self.margins)
        return value, -(self.A @ self.dual)

    def along(self, step):
        """Return the function along a step; see `Problem.along`."""
        slopes = step @ self.A
        return lambda size: self.loss.value_and_dual(self.margins + size * slopes)[0]

    def damped_hessian(self, free, damping):
        """Return the Hessian; see `Problem.damped_hessian`."""
        curvature = self.loss.curvature(self.dual)
        heavy = np.flatnonzero(significant_mask(curvature))
        hessian = weighted_gram(self.A[np.ix_(free, heavy)], curvature[heavy])
        diagonal = np.einsum("tt->t", hessian)
        # The pairs left out can hold all the curvature of a coefficient.
        if diagonal.min(initial=np.inf) < _MIN_DIAGONAL_FRACTION * diagonal.max(initial=0.0):
            hessian = weighted_gram(self.A[free], curvature)
        return _DenseHessian(hessian, damping)


class LimitedLogSumExp(RankingLoss):
    r"""Loss of eq. (2), limited to the range of double precision.

    .. math:: \log \sum_{ir} e^{-\rho_{ir}} + 2 \log (1 + e^{1^\top w - N})

    The second term is negligible for norms of w below N = `LARGEST_NORM`, 355, and grows from there
    as fast as the first term can fall, so that a solution exists for any weight of the norm. It is
    made for L-BFGS: `along` and `damped_hessian` ignore the second term.

    Parameters
    ----------
    A : ndarray of shape (n_columns, n_pairs), dtype=float64
        See `RankingLoss`.
    """

    def __init__(self, A):
        super().__init__(A, LogSumExp())

    def move(self, w):
        """Move to w; see `Problem.move`."""
        value, gradient = super().move(w)
        excess = w.sum() - LARGEST_NORM
        self.norm_slope = _MAX_EDGE * float(expit(excess))
        return value + _MAX_EDGE * np.logaddexp(0.0, excess), gradient + self.norm_slope


class _DenseHessian(DampedHessian):
    """Hessian as a dense matrix, preconditioned by its exact inverse.

    Parameters
    ----------
    hessian : ndarray of shape (n_free, n_free)
        Overwritten by the damped Hessian.
    damping : float
    """

    def __init__(self, hessian, damping):
        diagonal = np.einsum("tt->t", hessian)
        diagonal += damping * diagonal + _RIDGE * diagonal.max(initial=1e-300)
        self._matrix = hessian
        self._factor = cho_factor(hessian, check_finite=False)

    def product(self, v):
        """Return the product; see `DampedHessian.product`."""
        return self._matrix @ v

    def precondition(self, v):
        """Return the solution; see `DampedHessian.precondition`."""
        return cho_solve(self._factor, v, check_finite=False)


def margin_rows(scores, n_members, is_own_class, pairs):
    """Return the margins of (sample, class) pairs, one row per member of a sum.

    Parameters
    ----------
    scores : iterable of ndarray of shape (n_samples, n_classes)
        Scores of each member.
    n_members : int
    is_own_class : ndarray of shape (n_samples, n_classes), dtype=bool
        True for the class of each sample.
    pairs : ndarray of shape (n_samples, n_classes), dtype=bool
        Mask of the pairs.

    Returns
    -------
    ndarray of shape (n_members, n_pairs)
        Score of the sample's own class minus the score of the pair's class.
    """
    A = np.empty((n_members, np.count_nonzero(pairs)))
    for row, member_scores in zip(A, scores, strict=True):
        row[:] = (member_scores[is_own_class][:, None] - member_scores)[pairs]
    return A
