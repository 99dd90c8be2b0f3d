r"""The dual variables u of all pairs (sample, class) while MCBoost adds to their margins.

Weak learners have outputs -1 and +1. So the margin that a pair (i, r) gains from a weak learner
with coefficients w, :math:`h(x_i) (w_{y_i} - w_r)`, depends on the output for the sample i, its
class and r only: a table of ``2 n_classes ** 2`` numbers holds all of them, and updates u without
an exponential per pair.
"""

from abc import ABC, abstractmethod
from math import exp, log

import numpy as np
from scipy import sparse

from boostbench.core.solvers.balancing import ExponentialProblem, PairwiseProblem, laplacian
from boostbench.core.sparse_products import product

# Odds beyond are as good as infinite, and stay numbers.
MAX_ODDS = 1e300

# The logarithm of a loss that is as good as 0. Much further down numbers lose their digits.
_MIN_LOG_LOSS = -650.0

# So many pairs stay in the cache through all passes.
_BLOCK_PAIRS = 2**17


class PairWeights(ABC):
    r"""Dual variables of the pairwise margins, and what step 4 needs of them.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    n_classes : int
    sample_weight : ndarray of shape (n_samples,), default=None
        What the losses of the samples are multiplied with, positive; None: 1.

    Attributes
    ----------
    gains : ndarray of shape (n_samples, n_classes)
        G of eq. (10) times `total`.
    total : float
        The sum of u over the pairs with :math:`r \ne y_i`.
    share : float
        The part of these pairs in the sum of u over all pairs, by which eq. (11) divides u. The
        margins of the pairs with :math:`r = y_i` are always 0.
    """

    def __init__(self, labels, n_classes, sample_weight=None):
        n_samples = len(labels)
        self._labels = labels.astype(np.int32)
        self._sample_weight = sample_weight
        self.n_classes = n_classes
        self._own_class_index = np.arange(n_samples) * n_classes + labels
        self._minus_ones = np.full(n_classes, -1.0)
        # Groups (output, class) change with the weak learner.
        self._group = self._labels.copy()
        length = max(1, min(n_samples, _BLOCK_PAIRS // n_classes))
        self._rows, self._work = np.empty((2, length, n_classes))
        self._blocks = [self._block(start, length) for start in range(0, n_samples, length)]

    def _block(self, start, length):
        """Some samples, and a product that sums their rows by group."""
        chunk = slice(start, min(start + length, len(self._labels)))
        group = self._group[chunk]
        # The one entry of column i is in the row of the group of sample i.
        by_group = sparse.csc_array((2 * self.n_classes, len(group)))
        by_group.data, by_group.indices = np.ones(len(group)), group
        by_group.indptr = np.arange(len(group) + 1, dtype=np.int32)
        return chunk, by_group

    @abstractmethod
    def problem(self, outputs):
        """Set up step 4 for a weak learner.

        Parameters
        ----------
        outputs : ndarray of shape (n_samples,)
            -1 or +1.

        Returns
        -------
        problem : boostbench.core.solvers.balancing.PairwiseProblem
            Valid until the next call.
        scale : float
            The objective of eq. (13) or (14) is `scale` times that of the problem, and a constant.
        """

    @abstractmethod
    def move(self, w):
        """Add the weak learner of the last call of `problem`.

        Parameters
        ----------
        w : ndarray of shape (n_classes,)
            With these coefficients.
        """

    def _group_by(self, outputs):
        np.multiply(outputs > 0, np.int32(self.n_classes), out=self._group)
        self._group += self._labels

    def _gather_rows(self, table, chunk):
        """Return the rows of the groups of some samples, in a buffer."""
        rows = table.reshape(-1, self.n_classes)
        group = self._group[chunk]
        return rows.take(group, axis=0, out=self._rows[: len(group)], mode="clip")

    def _fill_own_class(self, chunk):
        """Set some gains of the own classes, now 0, so that rows sum to 0; returns them."""
        own_gains = self.gains[chunk].dot(self._minus_ones)
        self.gains.ravel()[self._own_class_index[chunk]] = own_gains
        return own_gains

    def _symmetrise(self, sums):
        """Add up sums by group of the pairs that a weak learner moves alike; own classes get 0."""
        low, high = sums.reshape(2, self.n_classes, -1)
        pair_sums = high + low.T
        pair_sums.ravel()[:: self.n_classes + 1] = 0.0
        return pair_sums


class ExponentialWeights(PairWeights):
    r"""Eq. (11): :math:`u_{ir}` in proportion to :math:`e^{-\rho_{ir}}`.

    Examples
    --------
    >>> weights = ExponentialWeights(np.array([0, 1]), n_classes=2)
    >>> weights.gains
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    >>> float(weights.share)
    0.5
    """

    total = 1.0

    def __init__(self, labels, n_classes, sample_weight=None):
        super().__init__(labels, n_classes, sample_weight)
        n_pairs = len(labels) * (n_classes - 1)
        self.gains = np.full((len(labels), n_classes), -1.0 / n_pairs)
        if sample_weight is not None:
            self.gains *= (sample_weight / sample_weight.mean())[:, None]
        self.gains.ravel()[self._own_class_index] = 0.0
        self._fill_own_class(slice(None))
        self._log_mean = 0.0

    @property
    def share(self):
        """The part of the pairs with r != y_i in the sum of u; 0 where they come to nothing."""
        if self._log_mean < _MIN_LOG_LOSS:
            return 0.0
        return 1.0 / (1.0 + exp(-self._log_mean) / (self.n_classes - 1))

    def problem(self, outputs):
        """Set up step 4, eq. (13); as `PairWeights.problem`."""
        self._group_by(outputs)
        gain, *others = [product(by_group, self.gains[chunk]) for chunk, by_group in self._blocks]
        for other in others:
            gain += other
        self._gain = gain
        share = self.share
        return ExponentialProblem(-self._symmetrise(gain), share), share

    def move(self, w):
        """Add the last weak learner; as `PairWeights.move`."""
        table = margin_factors(w)
        total = -float(self._gain.ravel().dot(table.ravel()))
        self._log_mean += log(total)
        table *= 1.0 / total
        for chunk, _ in self._blocks:
            gains = self.gains[chunk]
            gains *= self._gather_rows(table, chunk)
            self._fill_own_class(chunk)


class LogisticWeights(PairWeights):
    r"""Eq. (12): :math:`u_{ir} = o_{ir} / (1 + o_{ir})` with the odds :math:`o = e^{-\rho}`.

    Before the first weak learner u is 1/2, as eq. (12) has it for margins of 0.

    Examples
    --------
    >>> weights = LogisticWeights(np.array([0, 1]), n_classes=2)
    >>> weights.gains
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    def __init__(self, labels, n_classes, sample_weight=None):
        super().__init__(labels, n_classes, sample_weight)
        self._size = len(labels) if sample_weight is None else sample_weight.sum()
        self._odds = np.ones((len(labels), n_classes))
        self._odds.ravel()[self._own_class_index] = 0.0
        self.gains = np.empty_like(self._odds)
        self.move(np.zeros(n_classes))

    def problem(self, outputs):
        """Set up step 4, eq. (14); as `PairWeights.problem`."""
        self._group_by(outputs)
        return LogisticProblem(self), self.total

    def move(self, w):
        """Add the last weak learner; as `PairWeights.move`."""
        table = margin_factors(w)
        self.total = 0.0
        for chunk, _ in self._blocks:
            odds, gains = self._odds[chunk], self.gains[chunk]
            odds *= self._gather_rows(table, chunk)
            np.minimum(odds, MAX_ODDS, out=odds)
            np.divide(odds, np.subtract(-1.0, odds, out=self._work[: len(odds)]), out=gains)
            if self._sample_weight is not None:
                gains *= self._sample_weight[chunk, None]
            self.total += float(self._fill_own_class(chunk).sum())
        self.share = pair_share(self.total, self._size)

    def sums_at(self, w):
        """Sum u by class and other class, were the last learner added with w.

        Parameters
        ----------
        w : ndarray of shape (n_classes,)

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
            Where the weak learner is -1, own and other class have changed places.
        """
        table = margin_factors(w)
        sums, squares = np.zeros((2, 2 * self.n_classes, self.n_classes))
        moved = w.any()
        for chunk, by_group in self._blocks:
            # Where w is 0, u is known, but for its sign.
            dual = weighted = self.gains[chunk]
            rows, work = self._rows[: len(dual)], self._work[: len(dual)]
            if moved:
                odds = np.multiply(self._gather_rows(table, chunk), self._odds[chunk], out=rows)
                dual = weighted = np.divide(odds, np.add(odds, 1.0, out=work), out=rows)
            if self._sample_weight is not None:
                times = self._sample_weight[chunk, None]
                if moved:
                    weighted = np.multiply(dual, times, out=work)
                else:
                    dual = np.divide(dual, times, out=rows)
            sums += product(by_group, weighted)
            squares += product(by_group, np.multiply(dual, weighted, out=rows))
        self._squares = self._symmetrise(squares)
        return self._symmetrise(sums if moved else -sums)

    def square_sums(self):
        """Sum the squares of u in the same way, after `sums_at` and for the same w."""
        return self._squares


class LogisticProblem(PairwiseProblem):
    """The sum of log(1 + odds) over all pairs, divided by that of the dual variables at w = 0.

    Parameters
    ----------
    weights : LogisticWeights or boostbench.core.losses.two_class_weights.TwoClassLogisticWeights
    """

    def __init__(self, weights):
        self._weights = weights
        self._part = np.full(weights.n_classes, 1.0 / weights.total)

    def gradient(self, w):
        """Evaluate the function's gradient; as `PairwiseProblem.gradient`."""
        self._sums = self._weights.sums_at(w)
        return self._part @ self._sums - self._sums @ self._part

    def laplacian(self):
        """Evaluate the second derivatives; as `PairwiseProblem.laplacian`."""
        # Of the pairs' u (1 - u).
        stiffness = self._sums - self._weights.square_sums()
        degrees = stiffness @ self._part + self._part @ stiffness
        return laplacian(stiffness * self._part, degrees)

    def start(self):
        """Return 0, as the last rounds have left the loss near its minimum."""
        return np.zeros(len(self._part))


def pair_share(total, size):
    """Give the part of the pairs with r != y_i in the sum of u; 0 where they come to nothing.

    Parameters
    ----------
    total : float
        The sum of u over these pairs.
    size : float
        The sum of the weights of the samples, each of which has u = 1/2 for its own class.
    """
    return total / (total + 0.5 * size) if total > exp(_MIN_LOG_LOSS) else 0.0


def margin_factors(w):
    """Exponentials of minus the margins that a weak learner adds.

    Parameters
    ----------
    w : ndarray of shape (n_classes,)
        Its coefficients.

    Returns
    -------
    ndarray of shape (2, n_classes, n_classes)
        By output (-1, +1), own class and other class; 0 where these are one.
    """
    factor = np.exp(w)
    table = np.empty((2, len(w), len(w)))
    below, above = table
    np.divide(factor, factor[:, None], out=above)
    above.ravel()[:: len(w) + 1] = 0.0
    below[:] = above.T
    return table
