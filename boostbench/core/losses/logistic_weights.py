r"""Dual variables of the logistic loss during the training of MCBoost, and its problem of step 4.

The margin of sample i, of class :math:`y_i`, against class r is
:math:`\rho_{ir} = F_{y_i}(x_i) - F_r(x_i)`. Its dual variable u is minus the derivative of the loss
:math:`\log(1 + e^{-\rho})`: :math:`u = o / (1 + o)` with the odds :math:`o = e^{-\rho}`. A weak
learner with coefficients w adds :math:`h(x_i) (w_{y_i} - w_r)` to the margin, and multiplies the
odds by a factor.

`LogisticWeights` is for any number of classes, and `TwoClassLogisticWeights` for two. In each
round, `problem` returns a `LogisticProblem`, a function of w. The solver evaluates it for several
w, and the problem calls `sums_at` and `square_sums` for each of them. Then `move` updates u with
the final w.
"""

from math import exp

import numpy as np

from boostbench.core.linear_algebra import sparse_product
from boostbench.core.losses.pair_weights import MIN_LOG_LOSS, PairWeights, margin_factors
from boostbench.core.solvers.balancing import PairwiseProblem, difference_hessian

# Largest odds: larger ones are capped, so that they stay finite.
_MAX_ODDS = 1e300

# Number of samples per block of `TwoClassLogisticWeights`, which stays in the cache through all
# passes.
_BLOCK_SAMPLES = 2**14


class LogisticWeights(PairWeights):
    """Dual variables of the logistic loss, eq. (12). They are 1/2 before the first weak learner.

    See `PairWeights` for the parameters and attributes.

    Examples
    --------
    >>> weights = LogisticWeights(np.array([0, 1]), n_classes=2)
    >>> weights.gains
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    def __init__(self, labels, n_classes, sample_weight=None):
        super().__init__(labels, n_classes, sample_weight)
        self._total_sample_weight = len(labels) if sample_weight is None else sample_weight.sum()
        self._odds = np.ones((len(labels), n_classes))
        self._odds.ravel()[self._own_class_index] = 0.0
        self.gains = np.empty_like(self._odds)
        self.move(np.zeros(n_classes))

    def problem(self, outputs):
        """Return the problem of step 4, eq. (14); see `PairWeights.problem`."""
        self._group_by(outputs)
        return LogisticProblem(self), self.total

    def move(self, w):
        """Add the last weak learner; see `PairWeights.move`."""
        table = margin_factors(w)
        self.total = 0.0
        for block, _ in self._blocks:
            odds, gains = self._odds[block], self.gains[block]
            # The gains are -u = o / (-1 - o).
            odds *= self._gather_rows(table, block)
            np.minimum(odds, _MAX_ODDS, out=odds)
            np.divide(odds, np.subtract(-1.0, odds, out=self._work[: len(odds)]), out=gains)
            if self._sample_weight is not None:
                gains *= self._sample_weight[block, None]
            self.total += float(self._fill_own_class_gains(block).sum())
        self.share = pair_share(self.total, self._total_sample_weight)

    def sums_at(self, w):
        """Return the sums of u by class and other class, if the last learner had coefficients w.

        Parameters
        ----------
        w : ndarray of shape (n_classes,)

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
            Entry (a, b) is the sum of u over the pairs whose margins grow by w_a - w_b: own class a
            and other class b at the output +1, and own class b and other class a at -1. The sums
            of squares of u are kept for `square_sums`.
        """
        # Sums of u and of its squares by group (output and own class) and class r. A *slope* is -u,
        # the derivative of a loss by its margin; its squares are the squares of u.
        table = margin_factors(w)
        sums, square_sums = np.zeros((2, 2 * self.n_classes, self.n_classes))
        is_moved = w.any()
        for block, group_matrix in self._blocks:
            if is_moved:
                slopes, weighted = self._slopes_after(table, block)
            else:
                slopes, weighted = self._present_slopes(block)
            sums -= sparse_product(group_matrix, weighted)
            # `_work` may hold `slopes` or `weighted`, which are not used again.
            squares = np.multiply(slopes, weighted, out=self._work[: len(slopes)])
            square_sums += sparse_product(group_matrix, squares)
        self._square_sums = self._merge_mirrored_pairs(square_sums)
        return self._merge_mirrored_pairs(sums)

    def _present_slopes(self, block):
        """Return the present -u of a block of samples, from the gains.

        Returns
        -------
        slopes, weighted : ndarray of shape (n_block_samples, n_classes)
            -u, and -u times the sample weights, which is the gains; one array if there are no
            sample weights. The entries of own classes have no meaning.
        """
        gains = self.gains[block]
        if self._sample_weight is None:
            return gains, gains
        sample_weight = self._sample_weight[block, None]
        return np.divide(gains, sample_weight, out=self._work[: len(gains)]), gains

    def _slopes_after(self, table, block):
        """Return -u of a block of samples if the last weak learner has the given factors.

        Parameters
        ----------
        table : ndarray of shape (2, n_classes, n_classes)
            From `margin_factors`.
        block : slice

        Returns
        -------
        slopes, weighted : ndarray of shape (n_block_samples, n_classes)
            See `_present_slopes`; the arrays are buffers.
        """
        odds = self._gather_rows(table, block)
        odds *= self._odds[block]
        work = self._work[: len(odds)]
        slopes = np.divide(odds, np.subtract(-1.0, odds, out=work), out=odds)
        if self._sample_weight is None:
            return slopes, slopes
        return slopes, np.multiply(slopes, self._sample_weight[block, None], out=work)

    def square_sums(self):
        """Return the sums of squares of u for the w of the last call of `sums_at`.

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
            Sums by class and other class, as in `sums_at`.
        """
        return self._square_sums


class TwoClassLogisticWeights:
    r"""Two-class version of `LogisticWeights`.

    A sample has one margin, :math:`F_{y_i} - F_{1 - y_i}`. For :math:`w_0 > w_1`, the output +1 of
    a weak learner favours class 0, and the output -1 class 1. The output is *right* if it favours
    the class of the sample, and *wrong* otherwise. The weak learner adds :math:`w_0 - w_1` to the
    margins of the right samples, and subtracts it from the margins of the wrong ones.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Classes, 0 or 1.
    n_classes : int
        Number of classes, 2.
    sample_weight : ndarray of shape (n_samples,), default=None
        Positive factors of the samples' losses; None: all are 1.

    Attributes
    ----------
    gains : ndarray of shape (n_samples, 1)
        Weights G of eq. (10) times `total`, for the first class; for the second they have the
        opposite sign.
    total : float
        Sum of u over the pairs with :math:`r \ne y_i`.
    share : float
        `total` as a fraction of the sum of u over all pairs; see `PairWeights`.

    Examples
    --------
    >>> weights = TwoClassLogisticWeights(np.array([0, 1]), n_classes=2)
    >>> weights.gains.T
    array([[ 0.5, -0.5]])
    """

    def __init__(self, labels, n_classes, sample_weight=None):
        n_samples = len(labels)
        self.n_classes = n_classes
        self._is_second = labels == 1
        # Sign of the gain of the first class.
        self._sign = np.where(self._is_second, -1.0, 1.0)
        self._sample_weight = sample_weight
        self._total_sample_weight = n_samples if sample_weight is None else sample_weight.sum()
        self._odds = np.ones(n_samples)
        self.gains = np.empty((n_samples, 1))
        # Indicator of the wrong samples, as numbers 0 and 1.
        self._is_wrong = np.zeros(n_samples)
        # Ones, whose product with an array is its sum, and two buffers for a block of samples.
        self._ones = np.ones(min(n_samples, _BLOCK_SAMPLES))
        self._buffers = np.empty((2, len(self._ones)))
        starts = range(0, n_samples, _BLOCK_SAMPLES)
        self._blocks = [slice(start, min(start + _BLOCK_SAMPLES, n_samples)) for start in starts]
        self.move(np.zeros(2))

    def problem(self, outputs):
        """Return the problem of step 4, eq. (14); see `PairWeights.problem`."""
        # Wrong samples have the output +1 in class 1, or -1 in class 0.
        np.copyto(self._is_wrong, (outputs > 0) == self._is_second)
        # Sum of u over the wrong samples, for `sums_at` with w = 0, the first call of the solver:
        # outputs @ gains = right - wrong and total = right + wrong.
        self._wrong_sum_at_zero = 0.5 * (self.total - float(outputs @ self.gains[:, 0]))
        return LogisticProblem(self), self.total

    def move(self, w):
        """Add the last weak learner; see `PairWeights.move`."""
        total = square_sum = 0.0
        for block in self._blocks:
            odds, work, ones = self._block_buffers(block)
            self._compute_odds(w, block, out=odds)
            np.minimum(odds, _MAX_ODDS, out=odds)
            self._odds[block] = odds
            dual = np.divide(odds, np.add(odds, 1.0, out=work), out=odds)
            weighted = self._apply_weights(dual, block, out=work)
            total += float(ones @ weighted)
            square_sum += float(dual @ weighted)
            np.multiply(weighted, self._sign[block], out=self.gains[block, 0])
        self.total, self._square_sum_at_zero = total, square_sum
        self.share = pair_share(total, self._total_sample_weight)

    def sums_at(self, w):
        """Return the sums of u by class and other class, if the last learner had coefficients w.

        Parameters
        ----------
        w : ndarray of shape (2,)

        Returns
        -------
        ndarray of shape (2, 2)
            Entry (0, 1) is the sum of u over the right samples, and entry (1, 0) over the wrong
            ones; see `LogisticWeights.sums_at`.
        """
        # Equal coefficients change no margin.
        if w[0] == w[1]:
            self._square_sum = self._square_sum_at_zero
            total, wrong = self.total, self._wrong_sum_at_zero
        else:
            total = wrong = self._square_sum = 0.0
            for block in self._blocks:
                odds, work, ones = self._block_buffers(block)
                self._compute_odds(w, block, out=odds)
                dual = np.divide(odds, np.add(odds, 1.0, out=work), out=odds)
                weighted = self._apply_weights(dual, block, out=work)
                total += float(ones @ weighted)
                wrong += float(self._is_wrong[block] @ weighted)
                self._square_sum += float(dual @ weighted)
        return np.array([[0.0, total - wrong], [wrong, 0.0]])

    def square_sums(self):
        """Return a matrix whose entries (0, 1) and (1, 0) add up to the sum of squares of u.

        The sum belongs to the w of the last call of `sums_at`. `LogisticProblem` adds
        both entries, so that their true values are not needed.
        """
        return np.array([[0.0, 0.5], [0.5, 0.0]]) * self._square_sum

    def _block_buffers(self, block):
        """Return two buffers and ones, each an array of shape (n_block_samples,)."""
        length = block.stop - block.start
        if length == len(self._ones):
            return *self._buffers, self._ones
        return *self._buffers[:, :length], self._ones[:length]

    def _compute_odds(self, w, block, out):
        """Compute the odds of a block of samples if the last weak learner has coefficients w.

        Parameters
        ----------
        w : ndarray of shape (2,)
        block : slice
            Consecutive samples.
        out : ndarray of shape (n_block_samples,)
            Overwritten by the odds.
        """
        # The odds of right samples are multiplied by exp(-change), and the odds of wrong ones by
        # exp(change). The samples whose odds rise get the larger factor, as the smaller one plus a
        # difference; the smaller one as a difference would lose digits.
        change = float(w[0] - w[1])
        is_raised = self._is_wrong[block]
        if change < 0:
            is_raised = np.subtract(1.0, is_raised, out=out)
        small_factor, large_factor = exp(-abs(change)), exp(abs(change))
        np.multiply(is_raised, large_factor - small_factor, out=out)
        out += small_factor
        out *= self._odds[block]

    def _apply_weights(self, dual, block, out):
        """Return dual variables of a block of samples times their weights.

        Parameters
        ----------
        dual : ndarray of shape (n_block_samples,)
        block : slice
        out : ndarray of shape (n_block_samples,)
            Memory of the result. Without sample weights it is not used, and `dual` itself is
            returned.
        """
        if self._sample_weight is None:
            return dual
        return np.multiply(dual, self._sample_weight[block], out=out)


class LogisticProblem(PairwiseProblem):
    """Problem of step 4 for the logistic loss, eq. (14), as a function of the coefficients w.

    The function is the sum of log(1 + odds) over all pairs, divided by `weights.total`, the sum of
    u at w = 0.

    Parameters
    ----------
    weights : LogisticWeights or TwoClassLogisticWeights
    """

    def __init__(self, weights):
        self._weights = weights
        # An array of 1 / total. Its product with a matrix is the sum of the rows, or of the
        # columns, divided by the total.
        self._reciprocals = np.full(weights.n_classes, 1.0 / weights.total)

    def gradient(self, w):
        """Return the gradient; see `PairwiseProblem.gradient`."""
        # The margins of entry (a, b) of the sums grow by w_a - w_b, and the derivative of a loss by
        # its margin is -u. The derivative by w_c is therefore the sum of the entries with b = c
        # minus the sum of the entries with a = c.
        self._sums = self._weights.sums_at(w)
        return self._reciprocals @ self._sums - self._sums @ self._reciprocals

    def unscaled_laplacian(self):
        """Return the second derivatives; see `PairwiseProblem.unscaled_laplacian`."""
        # The curvature of a pair's loss is u (1 - u).
        curvature_sums = self._sums - self._weights.square_sums()
        degrees = curvature_sums @ self._reciprocals + self._reciprocals @ curvature_sums
        return difference_hessian(curvature_sums * self._reciprocals, degrees)

    def start(self):
        """Return 0, of shape (n_classes,): previous rounds have left the loss near its minimum."""
        return np.zeros(len(self._reciprocals))


def pair_share(total, total_sample_weight):
    """Return `PairWeights.share` for the logistic loss; 0 where it underflows.

    Parameters
    ----------
    total : float
        Sum of u over the pairs with r != y_i.
    total_sample_weight : float
        Sum of the sample weights. The pair with r = y_i of each sample has u = 1/2.
    """
    return total / (total + 0.5 * total_sample_weight) if total > exp(MIN_LOG_LOSS) else 0.0
