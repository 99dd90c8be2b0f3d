r"""Dual variables u of all (sample, class) pairs during the training of MCBoost.

The margin of a pair (i, r) of sample i and class r is :math:`\rho_{ir} = F_{y_i}(x_i) - F_r(x_i)`,
and its dual variable :math:`u_{ir}` is minus the derivative of the loss. The class :math:`y_i` is
the *own class* of the sample; the margin of its pair is always 0.

Weak learners have outputs -1 and +1. A weak learner with coefficients w adds
:math:`h(x_i) (w_{y_i} - w_r)` to the margin of a pair (i, r). This depends on the output, the class
of the sample and r only. Samples of equal output and class therefore form a *group*, and a table of
``2 n_classes ** 2`` factors, for each group and each r, updates all u, without an exponential per
pair.

The classes of the exponential loss are here; for the logistic loss see
`boostbench.core.losses.logistic_weights`.
"""

from abc import ABC, abstractmethod
from math import exp, log

import numpy as np
from scipy import sparse

from boostbench.core.linear_algebra import sparse_product
from boostbench.core.solvers.balancing import ExponentialProblem

# Logarithm of a loss, or of a sum of u, that counts as 0. Doubles become subnormal at -708.
MIN_LOG_LOSS = -650.0

# Number of pairs per block, which stays in the cache through all passes.
_BLOCK_PAIRS = 2**17


class PairWeights(ABC):
    r"""Base of the dual variables of the pairwise margins.

    A round of MCBoost (Algorithm 1) searches a weak learner with the weights `gains`, and calls
    `problem` with its outputs, which sets the groups of the samples. The solver of this problem
    (step 4) evaluates it for several coefficients w. Then `move` adds the weak learner with the
    final w. The number of a group is the class of its samples, plus n_classes if the output is +1.

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
        Weights of the search for the next weak learner, which are G of eq. (10) times `total`: -u
        for :math:`r \ne y_i`, and for :math:`r = y_i` the number that makes the sum of the row 0.
    total : float
        Sum of u over the pairs with :math:`r \ne y_i`. The booster divides edges by it.
    share : float
        `total` as a fraction of the sum of u over all pairs, including :math:`r = y_i`. Eq. (11)
        divides u by the latter sum: the edge of eq. (11) is `share` times the edge for G.
    """

    def __init__(self, labels, n_classes, sample_weight=None):
        n_samples = len(labels)
        self._labels = labels.astype(np.int32)
        self._sample_weight = sample_weight
        self.n_classes = n_classes
        self._own_class_index = np.arange(n_samples) * n_classes + labels
        self._minus_ones = np.full(n_classes, -1.0)
        # Number of each sample's group, which `_group_by` overwrites in each round.
        self._group = self._labels.copy()
        length = max(1, min(n_samples, _BLOCK_PAIRS // n_classes))
        # Buffers for a block of samples. Their allocation in every round would take as long as the
        # passes over them.
        self._factor_buffer, self._work = np.empty((2, length, n_classes))
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
            Column i has one entry, 1, in the row of the group of sample i.
        """
        # `indices` is a view of `self._group`, so that `_group_by` changes this matrix in place.
        block = slice(start, min(start + length, len(self._labels)))
        group = self._group[block]
        group_matrix = sparse.csc_array((2 * self.n_classes, len(group)))
        group_matrix.data, group_matrix.indices = np.ones(len(group)), group
        group_matrix.indptr = np.arange(len(group) + 1, dtype=np.int32)
        return block, group_matrix

    @abstractmethod
    def problem(self, outputs):
        """Set the groups, and return the problem of step 4 for a weak learner.

        Parameters
        ----------
        outputs : ndarray of shape (n_samples,)
            Outputs of the weak learner, -1 or +1.

        Returns
        -------
        problem : boostbench.core.solvers.balancing.PairwiseProblem
            Function of the coefficients w. Valid until the next call.
        scale : float
            The objective of eq. (13) or (14) without the norm of w is `scale` times this function
            plus a constant. The booster therefore divides the weight of the norm by `scale`.
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
        """Set each sample's group: its class, plus n_classes if the weak learner is +1."""
        np.multiply(outputs > 0, np.int32(self.n_classes), out=self._group)
        self._group += self._labels

    def _gather_rows(self, table, block):
        """Return the factors of each sample of a block, in a reused buffer.

        Parameters
        ----------
        table : ndarray of shape (2, n_classes, n_classes)
            From `margin_factors`, or a multiple of it.
        block : slice

        Returns
        -------
        ndarray of shape (n_block_samples, n_classes)
        """
        table_rows = table.reshape(-1, self.n_classes)
        group = self._group[block]
        return table_rows.take(group, axis=0, out=self._factor_buffer[: len(group)], mode="clip")

    def _fill_own_class_gains(self, block):
        """Set the gains of the samples' own classes in a block, so that rows sum to 0; return them.

        These gains must be 0 before the call.
        """
        own_gains = self.gains[block].dot(self._minus_ones)
        self.gains.ravel()[self._own_class_index[block]] = own_gains
        return own_gains

    def _merge_mirrored_pairs(self, sums):
        """Return sums over all pairs whose margins a weak learner changes equally.

        The margin of (own class a, other class b) changes by w_a - w_b where the weak learner is
        +1, and by w_b - w_a where it is -1. The latter is the change of (b, a) at the output +1.

        Parameters
        ----------
        sums : ndarray of shape (2 * n_classes, n_classes)
            Sums by group and class r.

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
            Entry (a, b) is the sum over the pairs whose margins change by w_a - w_b; 0 on the
            diagonal, where margins do not change.
        """
        # `low` has the sums by own class and r where the weak learner is -1, `high` where it is +1.
        low, high = sums.reshape(2, self.n_classes, -1)
        pair_sums = high + low.T
        pair_sums.ravel()[:: self.n_classes + 1] = 0.0
        return pair_sums


class ExponentialWeights(PairWeights):
    r"""Dual variables of the exponential loss, eq. (11): :math:`u_{ir} \propto e^{-\rho_{ir}}`.

    The sum of u over the pairs with :math:`r \ne y_i` is scaled to 1, so that `total` is 1.

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
        # A sample has one pair with r = y_i, whose loss is 1, and n_classes - 1 other pairs, whose
        # mean loss is m = exp(_log_mean). The fraction (k - 1) m / ((k - 1) m + 1) with k classes
        # is 1 / (1 + 1 / (m (k - 1))).
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
        # The gains with r != y_i are minus u, and the table is 0 for r = y_i: the sum of products
        # is minus the new sum of u.
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

    The gains of the second class are minus the gains of the first class, so that only the latter
    are stored. Sums are added in the order of `ExponentialWeights`: both classes lead to equal
    models.

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
        # The number of groups is 4. `bincount` adds in the order of the sparse product, with less
        # overhead.
        first, *more_sums = [
            np.bincount(self._group[block], self.gains[block, 0], minlength=4)
            for block, _ in self._blocks
        ]
        for block_sums in more_sums:
            first += block_sums
        return np.column_stack([first, -first])

    def _scale_gains(self, table):
        """Multiply the gains by the factors of their groups."""
        # The groups are ordered by (output, own class). The class r of a factor is the other class:
        # entries (0, 1) and (1, 0) of the table of each output.
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
        Exponentials of minus the added margins, by output (-1, +1), own class and class r; 0 for
        the own class.
    """
    # Entry (own class a, other class b) is exp(w_b - w_a) at the output +1. The signs are opposite
    # at the output -1.
    exponentials = np.exp(w)
    table = np.empty((2, len(w), len(w)))
    low_table, high_table = table
    np.divide(exponentials, exponentials[:, None], out=high_table)
    high_table.ravel()[:: len(w) + 1] = 0.0
    low_table[:] = high_table.T
    return table
