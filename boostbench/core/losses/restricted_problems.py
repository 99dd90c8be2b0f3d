r"""Restricted master problems of totally corrective boosters: losses as functions.

`PairwiseLoss`, for MultiBoost, is a function of a matrix W with a coefficient for each weak learner
and class. Its arrays are class-major: scores have the shape (n_classes, n_samples).

`RankingLoss`, for RandomBoost, is a function of a vector w with a coefficient for each weak
learner. The margins of the pairs (i, r) are :math:`\rho = w^\top A`, where the rows of A hold
:math:`\delta h` of the weak learners: the output for the class of sample i minus the output for
class r.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotrf
from scipy.special import expit

from boostbench.core.linear_algebra import inverse_from_cholesky, weighted_gram
from boostbench.core.solvers.newton import DampedHessian, Problem, significant_mask

# Ridge of the preconditioner of `PairwiseLoss`, relative to the largest diagonal entry of a block,
# since columns can be linearly dependent.
_BLOCK_RIDGE = 1e-5

# The Hessian of `RankingLoss` leaves out pairs of negligible curvature. If one of its diagonal
# entries is below this fraction of the largest entry, these pairs may carry all the curvature of a
# coefficient, and no pair is left out.
_MIN_DIAGONAL_FRACTION = 1e-3

# Ridge of the Hessian of `RankingLoss`, relative to its largest diagonal entry, since a weak
# learner can occur twice.
_RIDGE = 1e-10

# The magnitude of a margin is at most twice the norm of w. Up to this norm, the exponential of a
# margin stays within the range of double precision.
LARGEST_NORM = float(np.log(np.finfo(np.float64).max) / 2)

# Upper bound on the edge of a weak learner, relative to the sum of the dual variables.
_MAX_EDGE = 2.0


def pairwise_weights(dual, is_own_class):
    """Return the weights of the weak-learner problem from the dual variables of the margins.

    Parameters
    ----------
    dual : ndarray of shape (n_samples, n_classes)
        :math:`u_{ir}`, 0 for r = y_i.
    is_own_class : ndarray of shape (n_samples, n_classes), dtype=bool
        True for r = y_i.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Matrix G with ``sum_ir u[i, r] (a[i, y_i] - a[i, r]) = sum_ir G[i, r] a[i, r]`` for any a:
        minus u for r != y_i, and the sum of the row of u for r = y_i.

    Examples
    --------
    >>> pairwise_weights(np.array([[0.0, 0.25, 0.75]]), np.array([[True, False, False]]))
    array([[ 1.  , -0.25, -0.75]])
    """
    return np.where(is_own_class, dual.sum(axis=1, keepdims=True), -dual)


class PairwiseLoss(Problem):
    r"""Sum of the losses of all pairwise margins of the scores ``W @ H``.

    .. math:: f(W) = \sum_i \sum_r \lambda(F_{y_i}(x_i) - F_r(x_i)),
              \quad F_r(x_i) = \sum_t W_{rt} h_t(x_i)

    The sum includes the constant terms r = y_i.

    Parameters
    ----------
    H : ndarray of shape (n_columns, n_samples)
        Outputs of the weak learners.
    is_own_class : ndarray of shape (n_classes, n_samples), dtype=bool
        True for the class of each sample.
    loss : object
        From `boostbench.core.losses.objective.get_loss`.

    Attributes
    ----------
    dual : ndarray of shape (n_classes, n_samples)
        Dual variables :math:`u = -\lambda'` at the current point; 0 for r = y_i.

    Examples
    --------
    >>> from boostbench.core.losses.objective import get_loss
    >>> from boostbench.core.solvers.newton import NonnegativeNewton
    >>> H = np.array([[1.0, 1.0, -1.0]])
    >>> own = np.array([[True, False, False], [False, True, True]])
    >>> problem = PairwiseLoss(H, own, get_loss("logistic"))
    >>> solution = NonnegativeNewton().minimise(
    ...     problem, np.zeros((2, 1)), nu=0.1, tol=1e-6, max_iter=50)
    >>> solution.w.shape, solution.converged
    ((2, 1), True)
    """

    def __init__(self, H, is_own_class, loss):
        self.H = H
        self.is_own_class = is_own_class
        self.loss = loss
        #: Indices of the samples of each class.
        self.members = [np.flatnonzero(row) for row in is_own_class]
        self._labels = is_own_class.argmax(axis=0)
        self._samples = np.arange(is_own_class.shape[1])

    def move(self, w):
        """Move to w; see `Problem.move`."""
        self._margins = self.margins(self._scores(w))
        values, dual = self.loss.value_and_dual(self._margins)
        self.dual = np.where(self.is_own_class, 0.0, dual)
        return float(values.sum()), -self.margin_gradient(self.dual)

    def along(self, step):
        """Return the function along a step; see `Problem.along`."""
        changes = self.margins(self._scores(step))
        return lambda size: float(self.loss.value_and_dual(self._margins + size * changes)[0].sum())

    def damped_hessian(self, free, damping):
        """Return the Hessian; see `Problem.damped_hessian`."""
        curvature = self.loss.curvature(self.dual)
        return _PairwiseHessian(self, curvature, free, damping)

    def _scores(self, w):
        """Return the scores of coefficients w, of shape (n_classes, n_samples)."""
        return w @ self.H

    def margins(self, scores):
        """Return the margins for scores; both have the shape (n_classes, n_samples)."""
        return scores[self._labels, self._samples] - scores

    def margin_gradient(self, dual):
        """Return the gradient with respect to W of the weighted sum of the margins.

        Parameters
        ----------
        dual : ndarray of shape (n_classes, n_samples)
            Weights of the margins, 0 for r = y_i.

        Returns
        -------
        ndarray of shape (n_classes, n_columns)
        """
        weights = pairwise_weights(dual.T, self.is_own_class.T)
        return weights.T @ self.H.T


class _PairwiseHessian(DampedHessian):
    """Hessian of a `PairwiseLoss`, dense, preconditioned by its diagonal blocks, one per class.

    The Hessian couples the coefficients of two classes through the samples of these classes only.
    Its diagonal blocks are therefore a good approximation: conjugate gradients need 5 to 10 times
    fewer iterations than with its diagonal.

    Parameters
    ----------
    problem : PairwiseLoss
    curvature : ndarray of shape (n_classes, n_samples)
        Second derivatives of the losses of the margins.
    free : ndarray of shape (n_classes, n_columns), dtype=bool
        Mask of the coefficients by which the loss is differentiated.
    damping : float
        Multiple of the diagonal that is added to the Hessian.
    """

    def __init__(self, problem, curvature, free, damping):
        # 1) Compute the matrix. `starts` has the first free coefficient of each class.
        classes, columns = np.nonzero(free)
        starts = np.searchsorted(classes, np.arange(len(free) + 1))
        self._matrix = _hessian(problem, curvature, classes, columns, starts)
        diagonal = np.einsum("tt->t", self._matrix)
        diagonal += damping * diagonal
        # 2) Invert the blocks, padded with zeros to one size, so that one product solves with all.
        sizes = np.diff(starts)
        width = sizes.max()
        self._inverses = np.zeros((len(free), width, width))
        for padded, start, end in zip(self._inverses, starts, starts[1:], strict=False):
            size = end - start
            padded[:size, :size] = _ridged_inverse(self._matrix[start:end, start:end])
        # Row and column of each free coefficient in an array of shape (n_classes, width).
        self._padded_index = np.nonzero(np.arange(width) < sizes[:, None])

    def product(self, v):
        """Return the product; see `DampedHessian.product`."""
        # The blocks above the diagonal are 0. BLAS reads the upper triangle (lower=0) of the
        # transposed matrix, which is the lower one of the matrix, and takes the other triangle as
        # its mirror image. The transposed matrix has the order of BLAS, column by column, and is
        # not copied.
        return dsymv(1.0, self._matrix.T, v, lower=0)

    def precondition(self, v):
        """Solve with the diagonal blocks; see `DampedHessian.precondition`."""
        padded = np.zeros(self._inverses.shape[:2])
        padded[self._padded_index] = v
        solved = np.matmul(self._inverses, padded[:, :, None])[:, :, 0]
        return solved[self._padded_index]


def _hessian(problem, curvature, classes, columns, starts):
    """Return the second derivatives with respect to the coefficients of given classes and columns.

    A sample of class y has a margin ``F[y] - F[r]`` for each other class r, with the curvature
    ``c[r]`` of its loss. Its loss therefore has the second derivatives ``c[r]`` by the score
    ``F[r]``, ``sum(c)`` by ``F[y]``, ``-c[r]`` by both, and 0 by the scores of two other classes.
    The derivative of a score by a coefficient is the output of the weak learner.

    Parameters
    ----------
    problem : PairwiseLoss
    curvature : ndarray of shape (n_classes, n_samples)
        Second derivatives of the losses of the margins.
    classes, columns : ndarray of shape (n_free,)
        Class and column of each free coefficient, by ascending class.
    starts : ndarray of shape (n_classes + 1,)
        First free coefficient of each class; n_free at the end.

    Returns
    -------
    ndarray of shape (n_free, n_free)
        Lower block triangle; blocks above the diagonal are 0.
    """
    H = problem.H
    curvature = np.where(significant_mask(curvature), curvature, 0.0)
    # Second derivative of each sample's loss by each score: c[r], and sum(c) for the own class.
    # `pairwise_weights` returns -c[r] and sum(c).
    by_score = np.abs(pairwise_weights(curvature.T, problem.is_own_class.T)).T
    matrix = np.zeros((len(classes), len(classes)))
    for label, members in enumerate(problem.members):
        # 1) Fill the diagonal block of the class, from all samples with a curvature in its score.
        # `h` has the outputs of the weak learners of its coefficients.
        block = slice(starts[label], starts[label + 1])
        relevant = np.flatnonzero(by_score[label])
        # Copying all of H would take longer than both products, which need few of its samples.
        h = H.take(columns[block, None] * H.shape[1] + relevant)
        matrix[block, block] = weighted_gram(h, by_score[label, relevant])
        # 2) Add the samples of the class to the blocks of this class and each other class. The
        # samples of the other class are added when the loop reaches that class. Entry
        # (s, t) of `cross_sums`, of shape (n_free_of_class, n_free), is the sum of h_s c[class of
        # t] h_t over the samples of this class, for a coefficient s of this class and any t. The
        # curvature is 0 for r = y_i, so that its columns of this class are 0.
        relevant = members[by_score[label, members] > 0]
        outputs = H.take(relevant, axis=1)[columns]
        h = outputs[block].copy()
        weighted = np.multiply(outputs, curvature.take(relevant, axis=1)[classes], out=outputs)
        cross_sums = h @ weighted.T
        # Blocks (this class, earlier classes), on the left of the diagonal block.
        matrix[block, : block.start] -= cross_sums[:, : block.start]
        # Blocks (later classes, this class), below the diagonal block.
        matrix[block.stop :, block] -= cross_sums[:, block.stop :].T
    return matrix


def _ridged_inverse(block):
    """Return the inverse of a positive semidefinite matrix, which a ridge makes definite."""
    if not len(block):
        return block
    ridge = _BLOCK_RIDGE * np.diagonal(block).max()
    factor, failed = dpotrf(block + ridge * np.eye(len(block)), lower=1)
    if failed:
        raise np.linalg.LinAlgError("a class has no curvature")
    return inverse_from_cholesky(factor)


class SumOfLosses:
    r""":math:`\sum_{ir} \lambda(\rho_{ir})`, the loss of RandomBoost, eq. (12); convex.

    Parameters
    ----------
    loss : object
        From `boostbench.core.losses.objective.get_loss`.
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
        """Return the second derivative of each pair's loss, given its dual variable.

        Parameters
        ----------
        dual : ndarray of shape (n_pairs,)

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
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
        # The smallest margin is subtracted from all, so that no exponential overflows.
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
        Part of every entry of the gradient that comes from a term in the L1 norm of w: 0 here, and
        not 0 in a subclass whose loss bounds the norm.

    Examples
    --------
    >>> from boostbench.core.losses.objective import get_loss
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
        changes = step @ self.A
        return lambda size: self.loss.value_and_dual(self.margins + size * changes)[0]

    def damped_hessian(self, free, damping):
        """Return the Hessian; see `Problem.damped_hessian`."""
        # Hessian A diag(curvature) A', from the pairs whose curvature is not negligible.
        curvature = self.loss.curvature(self.dual)
        heavy = np.flatnonzero(significant_mask(curvature))
        hessian = weighted_gram(self.A[np.ix_(free, heavy)], curvature[heavy])
        diagonal = np.einsum("tt->t", hessian)
        # All pairs count if the pairs left out hold nearly all the curvature of a coefficient.
        if diagonal.min(initial=np.inf) < _MIN_DIAGONAL_FRACTION * diagonal.max(initial=0.0):
            hessian = weighted_gram(self.A[free], curvature)
        return _DenseHessian(hessian, damping)


class LimitedLogSumExp(RankingLoss):
    r"""Loss of eq. (2), limited to the range of double precision.

    .. math:: \log \sum_{ir} e^{-\rho_{ir}} + 2 \log (1 + e^{1^\top w - N})

    The second term is negligible for norms of w below N = `LARGEST_NORM`, 355. From there on it
    grows with the slope 2 = `_MAX_EDGE`, as fast as the first term can fall, so that a solution
    exists for any weight of the norm. The loss is made for L-BFGS: `along` and `damped_hessian`
    ignore the second term.

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
    """Hessian of a `RankingLoss`, dense, preconditioned by its exact inverse.

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
    """Return the margins of (sample, class) pairs, one row per summand of the scores.

    The margin of a pair is the score of the sample's own class minus the score of the pair's class.
    The scores are sums over weak learners or over the members of an ensemble. Each summand has its
    own row of margins, so that ``w @ rows`` is the margins of the sum with the weights w.

    Parameters
    ----------
    scores : iterable of ndarray of shape (n_samples, n_classes)
        Scores of each summand.
    n_members : int
        Number of summands.
    is_own_class : ndarray of shape (n_samples, n_classes), dtype=bool
        True for the class of each sample.
    pairs : ndarray of shape (n_samples, n_classes), dtype=bool
        Mask of the pairs.

    Returns
    -------
    ndarray of shape (n_members, n_pairs)
        Margins; the pairs are ordered by sample, then by class.
    """
    A = np.empty((n_members, np.count_nonzero(pairs)))
    for row, member_scores in zip(A, scores, strict=True):
        row[:] = (member_scores[is_own_class][:, None] - member_scores)[pairs]
    return A
