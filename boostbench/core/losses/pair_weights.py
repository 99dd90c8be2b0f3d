r"""Dual variables u of all (sample, class) pairs during the training of MCBoost.

The margin of a pair (i, r) is :math:`\rho_{ir} = F_{y_i}(x_i) - F_r(x_i)`, and its dual variable is
minus the derivative of the loss. In a round of MCBoost (Algorithm 1), `gains` are the weights of
the search, `problem` returns the problem of step 4 for the coefficients of the new weak learner,
and `move` updates the dual variables.

Weak learners have outputs -1 and +1. A weak learner with coefficients w adds
:math:`h(x_i) (w_{y_i} - w_r)` to the margin of a pair (i, r). This depends on the output, the class
of the sample and r only. A table of ``2 n_classes ** 2`` factors therefore updates all u, without
an exponential per pair.
"""

from abc import ABC, abstractmethod
from math import exp, log

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import sparse_product
from boostbench.core.solvers.balancing import ExponentialProblem

# Logarithm of a loss that counts as 0. Doubles become subnormal at -708.
MIN_LOG_LOSS = -650.0

# Number of pairs per block, which stays in the cache through all passes.
_BLOCK_PAIRS = 2**17


class PairWeights(ABC):
    r"""Base of the dual variables of the pairwise margins.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Classes, from 0 to n_classes - 1.
    n_classes : int
    sample_weight : ndarray of shape (n_samples,), default=None
        Positive factors of the samples' losses; None: all are 1.

    Attributes
    ----------
    gains : ndarray of shape (n_samples, n_classes)
        Weights G of eq. (10) times `total`: -u for :math:`r \ne y_i`, and for :math:`r = y_i` the
        number that makes the sum of the row 0.
    total : float
        Sum of u over the pairs with :math:`r \ne y_i`.
    share : float
        Fraction that these pairs have of the sum of u over all pairs, by which eq. (11) divides u.
        The pairs with :math:`r = y_i` have the margin 0.
    """

    def __init__(self, labels, n_classes, sample_weight=None):
        n_samples = len(labels)
        self._labels = labels.astype(np.int32)
        self._sample_weight = sample_weight
        self.n_classes = n_classes
        self._own_class_index = np.arange(n_samples) * n_classes + labels
        self._minus_ones = np.full(n_classes, -1.0)
        # Number of each sample's group: samples are grouped by the output of the weak learner and
        # their class, and the groups change with the weak learner.
        self._group = self._labels.copy()
        length = max(1, min(n_samples, _BLOCK_PAIRS // n_classes))
        # Buffers, whose allocation in every round would take as long as the passes over them.
        self._rows, self._work = np.empty((2, length, n_classes))
        self._blocks = [self._make_block(start, length) for start in range(0, n_samples, length)]

    def _make_block(self, start, length):
        """Return a slice of samples, and the matrix whose product sums their rows by group.

        Parameters
        ----------
        start, length : int
            First sample, and maximum number of samples.

        Returns
        -------
        block : slice
        group_matrix : scipy.sparse.csc_array of shape (2 * n_classes, n_block_samples)
            It shares the memory of the groups, so that it changes with them.
        """
        block = slice(start, min(start + length, len(self._labels)))
        group = self._group[block]
        # Column i has one entry, in the row of the group of sample i.
        group_matrix = sparse.csc_array((2 * self.n_classes, len(group)))
        group_matrix.data, group_matrix.indices = np.ones(len(group)), group
        group_matrix.indptr = np.arange(len(group) + 1, dtype=np.int32)
        return block, group_matrix

    @abstractmethod
    def problem(self, outputs):
        """Return the problem of step 4 for a weak learner.

        Parameters
        ----------
        outputs : ndarray of shape (n_samples,)
            Outputs of the weak learner, -1 or +1.

        Returns
        -------
        problem : boostbench.core.solvers.balancing.PairwiseProblem
            Valid until the next call.
        scale : float
            Factor of the problem's objective in eq. (13) or (14), up to a constant.
        """

    @abstractmethod
    def move(self, w):
        """Add the weak learner of the last call of `problem` to the margins.

        Parameters
        ----------
        w : ndarray of shape (n_classes,)
            Coefficients of the weak learner.
        """

    def _group_by(self, outputs):
        """Set the groups: the class of a sample, plus n_classes if the weak learner is +1."""
        np.multiply(outputs > 0, np.int32(self.n_classes), out=self._group)
        self._group += self._labels

    def _gather_rows(self, table, block):
        """Return the table row of each sample of a block, in a reused buffer."""
        rows = table.reshape(-1, self.n_classes)
        group = self._group[block]
        return rows.take(group, axis=0, out=self._rows[: len(group)], mode="clip")

    def _fill_own_class_gains(self, block):
        """Set the gains of the samples' own classes in a block, so that rows sum to 0; return them.

        They must be 0 before the call.
        """
        own_gains = self.gains[block].dot(self._minus_ones)
        self.gains.ravel()[self._own_class_index[block]] = own_gains
        return own_gains

    def _merge_mirrored_pairs(self, sums):
        """Add the sums of the pairs that a weak learner moves alike; own classes get 0.

        The margin of (own class a, other class b) where the weak learner is +1 changes like the
        margin of (b, a) where it is -1.

        Parameters
        ----------
        sums : ndarray of shape (2 * n_classes, n_classes)
            Sums by group, and other class.

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
            Sums by own class and other class, where the weak learner is +1.
        """
        # `low` has the sums where the weak learner is -1, `high` where it is +1.
        low, high = sums.reshape(2, self.n_classes, -1)
        pair_sums = high + low.T
        pair_sums.ravel()[:: self.n_classes + 1] = 0.0
        return pair_sums


class ExponentialWeights(PairWeights):
    r"""Dual variables of the exponential loss, eq. (11): :math:`u_{ir} \propto e^{-\rho_{ir}}`.

    They are scaled to the sum 1 over the pairs with :math:`r \ne y_i`, so that `total` is 1.

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
        self._fill_own_class_gains(slice(None))
        # Logarithm of the mean loss over the pairs with r != y_i.
        self._log_mean = 0.0

    @property
    def share(self):
        """Fraction of the pairs with r != y_i in the sum of u; 0 where it underflows."""
        # The other pairs have the loss 1. For each of them there are n_classes - 1 pairs with r !=
        # y_i.
        if self._log_mean < MIN_LOG_LOSS:
            return 0.0
        return 1.0 / (1.0 + exp(-self._log_mean) / (self.n_classes - 1))

    def problem(self, outputs):
        """Return the problem of step 4, eq. (13); see `PairWeights.problem`."""
        self._group_by(outputs)
        self._group_sums = self._sum_gains_by_group()
        share = self.share
        return ExponentialProblem(-self._merge_mirrored_pairs(self._group_sums), share), share

    def move(self, w):
        """Add the last weak learner; see `PairWeights.move`."""
        # The gains with r != y_i are minus u, and the table is 0 for r = y_i: the product is minus
        # the new sum of u.
        table = margin_factors(w)
        total = -float(self._group_sums.ravel().dot(table.ravel()))
        self._log_mean += log(total)
        table *= 1.0 / total
        self._scale_gains(table)

    def _sum_gains_by_group(self):
        """Return the sums of the gains by group and class, of shape (2 n_classes, n_classes)."""
        sums, *more_sums = [
            sparse_product(matrix, self.gains[block]) for block, matrix in self._blocks
        ]
        for block_sums in more_sums:
            sums += block_sums
        return sums

    def _scale_gains(self, table):
        """Multiply the gains by the factors of their groups."""
        for block, _ in self._blocks:
            gains = self.gains[block]
            gains *= self._gather_rows(table, block)
            self._fill_own_class_gains(block)


class TwoClassExponentialWeights(ExponentialWeights):
    """Dual variables of the exponential loss for two classes, one number per sample.

    The gains of the second class are minus the gains of the first, so that only these are stored.
    Additions have the order of `ExponentialWeights`: both lead to equal models.

    Attributes
    ----------
    gains : ndarray of shape (n_samples, 1)
        Weights G of eq. (10) for the first class.

    Examples
    --------
    >>> weights = TwoClassExponentialWeights(np.array([0, 1]), n_classes=2)
    >>> weights.gains.T
    array([[ 0.5, -0.5]])
    """

    def __init__(self, labels, n_classes, sample_weight=None):
        super().__init__(labels, n_classes, sample_weight)
        self.gains = self.gains[:, :1].copy()

    def _sum_gains_by_group(self):
        """Return the sums of the gains; see `ExponentialWeights._sum_gains_by_group`."""
        # `bincount` adds in the order of the sparse product, with less overhead.
        first, *more_sums = [
            np.bincount(self._group[block], self.gains[block, 0], minlength=4)
            for block, _ in self._blocks
        ]
        for block_sums in more_sums:
            first += block_sums
        return np.column_stack([first, -first])

    def _scale_gains(self, table):
        """Multiply the gains by the factors of their groups."""
        # A group is (output, class); the factor belongs to the other class and stands on the
        # other diagonal of each output's table.
        factors = table[:, [0, 1], [1, 0]].ravel()
        for block, _ in self._blocks:
            self.gains[block, 0] *= factors.take(self._group[block], mode="clip")


def margin_factors(w):
    """Return the factors by which a weak learner changes the odds of the pairs.

    Parameters
    ----------
    w : ndarray of shape (n_classes,)
        Coefficients of the weak learner.

    Returns
    -------
    ndarray of shape (2, n_classes, n_classes)
        Exponentials of minus the added margins, by output (-1, +1), own class and other class; 0 on
        the diagonal.
    """
    factor = np.exp(w)
    table = np.empty((2, len(w), len(w)))
    table_below, table_above = table
    np.divide(factor, factor[:, None], out=table_above)
    table_above.ravel()[:: len(w) + 1] = 0.0
    # Row (own class a, other class b) has exp(w_b - w_a) above; below, the signs are opposite.
    table_below[:] = table_above.T
    return table
