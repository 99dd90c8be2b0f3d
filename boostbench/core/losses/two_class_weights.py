"""The dual variables of the logistic loss for two classes, with one number for each sample."""

from math import exp

import numpy as np

from boostbench.core.losses.pair_weights import LARGEST_ODDS, LogisticProblem

# So many samples stay in the cache through all passes.
_BLOCK = 2**14


class TwoClassLogisticWeights:
    r"""As `boostbench.core.losses.pair_weights.LogisticWeights`, for two classes.

    A sample has one margin, :math:`F_{y_i} - F_{1 - y_i}`, to which a weak learner adds
    :math:`\pm (w_1 - w_0)`.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        0 or 1.
    n_classes : int
        2.
    sample_weight : ndarray of shape (n_samples,), default=None
        What the losses of the samples are multiplied with, positive; None: 1.

    Attributes
    ----------
    gains : ndarray of shape (n_samples, 2)
        G of eq. (10), for u of sum 1; the second column is minus the first.
    share : float
        The part of the pairs with :math:`r \ne y_i` in the sum of u.

    Examples
    --------
    >>> weights = TwoClassLogisticWeights(np.array([0, 1]), n_classes=2)
    >>> weights.gains
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    def __init__(self, labels, n_classes, sample_weight=None):
        n_samples = len(labels)
        self.n_classes = n_classes
        self._is_second = labels == 1
        self._sample_weight = sample_weight
        self._size = n_samples if sample_weight is None else sample_weight.sum()
        self._odds = np.ones(n_samples)
        self.gains = np.empty((n_samples, 2), order="F")
        # Whether the weak learner moves a sample away from its class.
        self._wrong = np.empty(n_samples)
        self._ones = np.ones(_BLOCK)
        self._buffers = np.empty((2, min(n_samples, _BLOCK)))
        starts = range(0, n_samples, _BLOCK)
        self._blocks = [slice(start, min(start + _BLOCK, n_samples)) for start in starts]
        self._weigh()

    def problem(self, outputs):
        """Set up step 4, eq. (14); as `boostbench.core.losses.pair_weights.PairWeights.problem`."""
        self._wrong[:] = (outputs > 0) != self._is_second
        return LogisticProblem(self), self.total

    def move(self, w):
        """Add the last weak learner; as `boostbench.core.losses.pair_weights.PairWeights.move`."""
        for some in self._blocks:
            odds = self._odds[some]
            odds *= self._factors(w, some)
            np.minimum(odds, LARGEST_ODDS, out=odds)
        self._weigh()

    def sums_at(self, w):
        """Sum u by class and other class, were the last learner added with w.

        Parameters
        ----------
        w : ndarray of shape (2,)

        Returns
        -------
        ndarray of shape (2, 2)
            Where the weak learner is -1, own and other class have changed places.
        """
        total = wrong = squares = 0.0
        for some in self._blocks:
            dual, work = (buffer[: some.stop - some.start] for buffer in self._buffers)
            np.multiply(self._odds[some], self._factors(w, some), out=dual)
            np.add(dual, 1.0, out=work)
            dual /= work
            weighted = self._weighted(dual, some, out=work)
            total += float(self._ones[: len(dual)] @ weighted)
            wrong += float(self._wrong[some] @ weighted)
            squares += float(dual @ weighted)
        self._squares = squares
        return np.array([[0.0, wrong], [total - wrong, 0.0]])

    def square_sums(self):
        """Sum the squares of u after `sums_at`, of which only the sum over all classes counts."""
        return np.array([[0.0, 0.5], [0.5, 0.0]]) * self._squares

    def _factors(self, w, some):
        change = float(w[1] - w[0])
        return np.where(self._wrong[some] > 0, exp(change), exp(-change))

    def _weighted(self, dual, some, out):
        if self._sample_weight is None:
            return dual
        return np.multiply(dual, self._sample_weight[some], out=out)

    def _weigh(self):
        first, second = self.gains.T
        self.total = 0.0
        for some in self._blocks:
            work = self._buffers[0, : some.stop - some.start]
            np.add(self._odds[some], 1.0, out=work)
            np.divide(self._odds[some], work, out=second[some])
            self._weighted(second[some], some, out=second[some])
            self.total += float(self._ones[: len(work)] @ second[some])
        self.share = self.total / (self.total + 0.5 * self._size)
        for some in self._blocks:
            second[some] *= 1.0 / self.total
            sign = np.where(self._is_second[some], -1.0, 1.0)
            np.copysign(second[some], sign, out=first[some])
            np.negative(first[some], out=second[some])
