r"""The exponential loss of MCBoost with codewords, and of LADDER.

Class k has a codeword :math:`y_k`, a unit vector in d dimensions, and a predictor f maps samples to
the same space. The loss of a sample of class z is, eq. (4),

.. math:: L(z, f) = \sum_{j \ne z} e^{-\frac12 \langle y_z - y_j, f \rangle}.
"""

import numpy as np

from boostbench.core.codebooks import normalised
from boostbench.core.solvers.exponential_sum import minimise

# The exponents of a step are at most that: it is as far as AdaBoost goes for a perfect stump.
_LARGEST_EXPONENT = 24.0

# How far the codeword that moves most moves, at first; and how often that is halved or doubled.
_FIRST_MOVE = 0.05
_MAX_TRIALS = 30


class CodewordRisk:
    r"""The risk of a predictor and codewords on a training set, and steps that lower it.

    .. math:: R = \frac1n \sum_i L(z_i, f(x_i))

    Losses are held by their common logarithmic scale, so that neither large nor small ones leave
    the range of doubles.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        z, from 0 to n_classes - 1.
    codewords : ndarray of shape (n_classes, n_components)
    predictions : ndarray of shape (n_samples, n_components), default=None
        f at first; by default 0.
    sample_weight : ndarray of shape (n_samples,), default=None
        With which the mean of the losses is taken, positive; None: all are 1.

    Attributes
    ----------
    codewords : ndarray of shape (n_classes, n_components)
        y, of length 1.
    predictions : ndarray of shape (n_samples, n_components)
        f.
    log_risk : float
        The logarithm of R.

    Examples
    --------
    >>> risk = CodewordRisk(np.array([0, 1]), np.array([[1.0], [-1.0]]))
    >>> risk.step(np.array([0, 1]), np.array([[1.0], [-0.5]]))
    (24.0, True)
    """

    def __init__(self, labels, codewords, predictions=None, sample_weight=None):
        self.labels = labels
        # Of the weights, of mean 1: a loss is an exponential.
        self._log_weights = None
        if sample_weight is not None:
            self._log_weights = np.log(sample_weight / sample_weight.mean())
        self.codewords = codewords
        if predictions is None:
            predictions = np.zeros((len(labels), codewords.shape[1]))
        self.predictions = predictions
        # Classes in rows, so that a sum over them is one of long vectors.
        self._own = labels, np.arange(len(labels))
        self._is_own = np.zeros((len(codewords), len(labels)))
        self._is_own[self._own] = 1.0
        self._last_move = _FIRST_MOVE
        self._set(self._losses_with(codewords))

    def weights(self):
        r"""Direction of steepest descent of the risk in each prediction.

        Returns
        -------
        ndarray of shape (n_samples, n_components), dtype=float64
            :math:`w_i = \frac12 \sum_j (y_{z_i} - y_j) e^{-\frac12 \langle y_{z_i} - y_j, f_i
            \rangle}` of eq. (5), times a positive number, the same for all samples. Printed is
            :math:`y_j - y_{z_i}`, along which the risk grows.
        """
        return self._duals().T @ (-0.5 * self.codewords)

    def codeword_gradient(self):
        """Derivatives of the risk by the codewords.

        Returns
        -------
        ndarray of shape (n_classes, n_components), dtype=float64
            Times n_samples and the same number as `weights`.
        """
        return 0.5 * self._duals() @ self.predictions

    def step(self, leaf, values):
        """Add a multiple of a weak learner to the predictor: the one that makes the risk least.

        Samples of one leaf and class change their losses alike: their sums are all that the search
        for the multiple needs.

        Parameters
        ----------
        leaf : ndarray of shape (n_samples,)
            The leaf that a sample comes to, from 0 to n_leaves - 1.
        values : ndarray of shape (n_leaves, n_components)
            What the weak learner gives there.

        Returns
        -------
        multiple : float
        is_perfect : bool
            Whether the weak learner lowers every loss of every sample, so that more of it always
            lowers the risk. Then, and where no loss holds the step back, the multiple is the
            largest that is allowed.
        """
        sums = [(self._losses * (leaf == at)) @ self._is_own.T for at in range(len(values))]
        products = values @ self.codewords.T
        slopes = 0.5 * (products[:, :, None] - products[:, None, :])
        multiple = minimise(np.ravel(sums), slopes.ravel(), _LARGEST_EXPONENT)
        self.predictions += multiple * values.take(leaf, axis=0)
        self._set(self._losses_with(self.codewords))
        return multiple, bool((multiple * slopes[np.array(sums) > 0] < 0).all())

    def move_codewords(self):
        """Make one step of gradient descent in the codewords: LADDER, Algorithm 2.

        The size of the step is searched for with codewords that have length 1 again, so that the
        risk does not rise; eq. (12) searches before they are made so.

        Returns
        -------
        bool
            False where no step lowers the risk, and the codewords have stayed.
        """
        direction = -self.codeword_gradient()
        largest = np.linalg.norm(direction, axis=1).max()
        if not largest > 0:
            return False
        direction /= largest
        # A search may end at a step so short that the next one, from there, sees no difference.
        for start in dict.fromkeys((self._last_move, _FIRST_MOVE)):
            size, moved, reached = self._line_search(direction, start)
            if reached[1] < self.log_risk:
                self._last_move = size
                self.codewords = moved
                self._set(reached)
                return True
        return False

    def _losses_with(self, codewords):
        """Losses of all pairs of a sample and a class, divided by the largest, and the log risk."""
        exponents = codewords @ self.predictions.T
        exponents -= exponents[self._own]
        exponents *= 0.5
        if self._log_weights is not None:
            exponents += self._log_weights
        exponents[self._own] = -np.inf
        largest = exponents.max()
        exponents -= largest
        losses = np.exp(exponents, out=exponents)
        return losses, float(largest) + np.log(losses.sum() / len(self.labels))

    def _set(self, reached):
        self._losses, self.log_risk = reached

    def _duals(self):
        """Losses, and minus the sum of a sample's own in the row of its class."""
        return self._losses - self._is_own * self._losses.sum(axis=0)

    def _line_search(self, direction, size):
        """Search for a step that lowers the risk well, from a first size on.

        Returns the size, the codewords after the step, and what `_losses_with` says of them. It is
        the caller who makes sure that the risk falls.
        """
        here = self.log_risk

        def at(size):
            moved = normalised(self.codewords + size * direction)
            return size, moved, self._losses_with(moved)

        def risk(step):
            return step[2][1]

        short, long = at(size), None
        for _ in range(_MAX_TRIALS):
            if risk(short) >= here:
                short, long = at(short[0] / 2), short
            elif long is None:
                long = at(2 * short[0])
            elif risk(long) < risk(short):
                short, long = long, at(2 * long[0])
            else:
                # The bottom of the parabola through the three.
                bottom = 0.5 * short[0] * (3 * here - 4 * risk(short) + risk(long))
                bottom = at(bottom / (here - 2 * risk(short) + risk(long)))
                return bottom if risk(bottom) < risk(short) else short
        return short
