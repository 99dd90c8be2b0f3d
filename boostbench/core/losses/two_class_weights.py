"""Dual variables of the logistic loss for two classes, one number per sample."""

from math import exp

import numpy as np

from boostbench.core.losses.pair_weights import MAX_ODDS, LogisticProblem, pair_share

# Number of samples per block, which stays in the cache through all passes.
_BLOCK_SAMPLES = 2**14


class TwoClassLogisticWeights:
    r"""Two-class version of `boostbench.core.losses.pair_weights.LogisticWeights`.

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
        self._size = n_samples if sample_weight is None else sample_weight.sum()
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
        self._wrong_at_zero = 0.5 * (self.total - float(outputs @ self.gains[:, 0]))
        return LogisticProblem(self), self.total

    def move(self, w):
        """Add the last weak learner; see `PairWeights.move`."""
        total = squares = 0.0
        for block in self._blocks:
            odds, work, ones = self._odds_after(w, block)
            np.minimum(odds, MAX_ODDS, out=odds)
            self._odds[block] = odds
            dual = np.divide(odds, np.add(odds, 1.0, out=work), out=odds)
            weighted = self._apply_weights(dual, block, out=work)
            total += float(ones @ weighted)
            squares += float(dual @ weighted)
            np.multiply(weighted, self._sign[block], out=self.gains[block, 0])
        self.total, self._squares_at_zero = total, squares
        self.share = pair_share(total, self._size)

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
            total, wrong, squares = self.total, self._wrong_at_zero, self._squares_at_zero
        else:
            total = wrong = squares = 0.0
            for block in self._blocks:
                odds, work, ones = self._odds_after(w, block)
                dual = np.divide(odds, np.add(odds, 1.0, out=work), out=odds)
                weighted = self._apply_weights(dual, block, out=work)
                total += float(ones @ weighted)
                wrong += float(self._is_wrong[block] @ weighted)
                squares += float(dual @ weighted)
        self._squares = squares
        return np.array([[0.0, total - wrong], [wrong, 0.0]])

    def square_sums(self):
        """Return the sums of squares of u after `sums_at`; only their total is exact."""
        return np.array([[0.0, 0.5], [0.5, 0.0]]) * self._squares

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
