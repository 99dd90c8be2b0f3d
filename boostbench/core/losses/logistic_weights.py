r"""Dual variables of the logistic loss during the training of MCBoost, and its problem of step 4.

`LogisticWeights` is for any number of classes, and `TwoClassLogisticWeights` for two. Both give
`LogisticProblem` the sums of the dual variables that it needs; see
`boostbench.core.losses.pair_weights` for the symbols and for the exponential loss.
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
    r"""Dual variables of the logistic loss, eq. (12), from the odds :math:`o = e^{-\rho}`.

    :math:`u_{ir} = o_{ir} / (1 + o_{ir})`, which is 1/2 before the first weak learner.

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
            Sums of u; own and other class change places where the weak learner is -1.
        """
        table = margin_factors(w)
        sums, squares = np.zeros((2, 2 * self.n_classes, self.n_classes))
        is_moved = w.any()
        for block, group_matrix in self._blocks:
            # `dual` is u, and `weighted` is u times the sample weights. For w = 0 the gains are
            # minus `weighted`; the sign does not change the squares, and the sums get it back
            # below.
            dual = weighted = self.gains[block]
            rows, work = self._rows[: len(dual)], self._work[: len(dual)]
            if is_moved:
                odds = np.multiply(self._gather_rows(table, block), self._odds[block], out=rows)
                dual = weighted = np.divide(odds, np.add(odds, 1.0, out=work), out=rows)
            if self._sample_weight is not None:
                sample_weight = self._sample_weight[block, None]
                if is_moved:
                    weighted = np.multiply(dual, sample_weight, out=work)
                else:
                    dual = np.divide(dual, sample_weight, out=rows)
            sums += sparse_product(group_matrix, weighted)
            squares += sparse_product(group_matrix, np.multiply(dual, weighted, out=rows))
        self._square_sums = self._merge_mirrored_pairs(squares)
        return self._merge_mirrored_pairs(sums if is_moved else -sums)

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

    A sample has one margin, :math:`F_{y_i} - F_{1 - y_i}`, to which a weak learner adds
    :math:`\pm (w_1 - w_0)`. Its odds are :math:`o = e^{-\rho}`, and its dual variable is
    :math:`u = o / (1 + o)`.

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
        Fraction of these pairs in the sum of u.

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
        # Indicator of the samples whose output favours the other class, as numbers 0 and 1.
        self._is_wrong = np.zeros(n_samples)
        # Ones, whose product with an array is its sum, and buffers for two arrays of a block.
        self._ones = np.ones(min(n_samples, _BLOCK_SAMPLES))
        self._buffers = np.empty((2, len(self._ones)))
        starts = range(0, n_samples, _BLOCK_SAMPLES)
        self._blocks = [slice(start, min(start + _BLOCK_SAMPLES, n_samples)) for start in starts]
        self.move(np.zeros(2))

    def problem(self, outputs):
        """Return the problem of step 4, eq. (14); see `PairWeights.problem`."""
        np.copyto(self._is_wrong, (outputs > 0) == self._is_second)
        # The sum of u over the wrong samples for w = 0. The gain of a sample is u with a sign, so
        # that outputs times gains is the sum over the right samples minus the sum over the wrong
        # ones.
        self._wrong_sum_at_zero = 0.5 * (self.total - float(outputs @ self.gains[:, 0]))
        return LogisticProblem(self), self.total

    def move(self, w):
        """Add the last weak learner; see `PairWeights.move`."""
        total = squares = 0.0
        for block in self._blocks:
            odds, work, ones = self._odds_after(w, block)
            np.minimum(odds, _MAX_ODDS, out=odds)
            self._odds[block] = odds
            dual = np.divide(odds, np.add(odds, 1.0, out=work), out=odds)
            weighted = self._apply_weights(dual, block, out=work)
            total += float(ones @ weighted)
            squares += float(dual @ weighted)
            np.multiply(weighted, self._sign[block], out=self.gains[block, 0])
        self.total, self._square_sum_at_zero = total, squares
        self.share = pair_share(total, self._total_sample_weight)

    def sums_at(self, w):
        """Return the sums of u by class and other class, if the last learner had coefficients w.

        Parameters
        ----------
        w : ndarray of shape (2,)

        Returns
        -------
        ndarray of shape (2, 2)
            Sums of u; own and other class change places where the weak learner is -1.
        """
        # Equal coefficients change no margin.
        if w[0] == w[1]:
            total, wrong, squares = self.total, self._wrong_sum_at_zero, self._square_sum_at_zero
        else:
            total = wrong = squares = 0.0
            for block in self._blocks:
                odds, work, ones = self._odds_after(w, block)
                dual = np.divide(odds, np.add(odds, 1.0, out=work), out=odds)
                weighted = self._apply_weights(dual, block, out=work)
                total += float(ones @ weighted)
                wrong += float(self._is_wrong[block] @ weighted)
                squares += float(dual @ weighted)
        self._square_sum = squares
        return np.array([[0.0, total - wrong], [wrong, 0.0]])

    def square_sums(self):
        """Return the sums of squares of u after `sums_at`; only their total is exact."""
        return np.array([[0.0, 0.5], [0.5, 0.0]]) * self._square_sum

    def _odds_after(self, w, block):
        """Return the odds of a block if the last weak learner has coefficients w.

        Parameters
        ----------
        w : ndarray of shape (2,)
        block : slice
            Consecutive samples.

        Returns
        -------
        odds, work : ndarray of shape (n_block_samples,)
            Odds, and memory for intermediate results; both are reused buffers.
        ones : ndarray of shape (n_block_samples,)
            Ones, whose product with an array is its sum.
        """
        # The odds are multiplied by exp(-change) where the output favours the sample's class, and
        # by exp(change) where it is wrong.
        change = float(w[0] - w[1])
        odds, work, ones = *self._buffers, self._ones
        is_wrong = self._is_wrong[block]
        if len(is_wrong) < len(ones):
            odds, work, ones = odds[: len(is_wrong)], work[: len(is_wrong)], ones[: len(is_wrong)]
        # The larger factor is the smaller one plus a difference; the reverse would cancel digits.
        # So with a negative change, right and wrong change places.
        if change < 0:
            is_wrong = np.subtract(1.0, is_wrong, out=work)
        small_factor = exp(-abs(change))
        np.multiply(is_wrong, exp(abs(change)) - small_factor, out=odds)
        odds += small_factor
        odds *= self._odds[block]
        return odds, work, ones

    def _apply_weights(self, dual, block, out):
        """Return dual variables of a block of samples times their weights.

        Parameters
        ----------
        dual : ndarray of shape (n_block_samples,)
        block : slice
        out : ndarray of shape (n_block_samples,)
            Memory of the result. It is not used without sample weights: `dual` is returned.
        """
        if self._sample_weight is None:
            return dual
        return np.multiply(dual, self._sample_weight[block], out=out)


class LogisticProblem(PairwiseProblem):
    """Problem of step 4 for the logistic loss, eq. (14), as a function of the coefficients w.

    It is the sum of log(1 + odds) over all pairs, divided by the sum of the dual variables at w =
    0.

    Parameters
    ----------
    weights : LogisticWeights or TwoClassLogisticWeights
    """

    def __init__(self, weights):
        self._weights = weights
        # The reciprocal of this sum for each class: products with it are sums with the factor.
        self._reciprocals = np.full(weights.n_classes, 1.0 / weights.total)

    def gradient(self, w):
        """Return the gradient; see `PairwiseProblem.gradient`."""
        # The margin of (own class a, other class b) grows with w_a and falls with w_b, so that the
        # derivative by w_c is the sum of u over pairs with b = c minus the sum over a = c.
        self._sums = self._weights.sums_at(w)
        return self._reciprocals @ self._sums - self._sums @ self._reciprocals

    def unscaled_laplacian(self):
        """Return the second derivatives; see `PairwiseProblem.unscaled_laplacian`."""
        # The curvature of a pair's loss is u (1 - u).
        curvature_sums = self._sums - self._weights.square_sums()
        degrees = curvature_sums @ self._reciprocals + self._reciprocals @ curvature_sums
        return difference_hessian(curvature_sums * self._reciprocals, degrees)

    def start(self):
        """Return 0: previous rounds have left the loss near its minimum."""
        return np.zeros(len(self._reciprocals))


def pair_share(total, total_sample_weight):
    """Return the fraction of the pairs with r != y_i in the sum of u; 0 where it underflows.

    Parameters
    ----------
    total : float
        Sum of u over these pairs.
    total_sample_weight : float
        Sum of the sample weights; each sample has u = 1/2 for its own class.
    """
    return total / (total + 0.5 * total_sample_weight) if total > exp(MIN_LOG_LOSS) else 0.0
