r"""The exponential loss of MCBoost with codewords, and of LADDER.

Class k has a codeword :math:`y_k`, a unit vector in d dimensions, and a predictor f maps samples to
the same space. The loss of a sample of class z is, eq. (4),

.. math:: L(z, f) = \sum_{j \ne z} e^{-\frac12 \langle y_z - y_j, f \rangle}.
"""

from typing import NamedTuple

import numpy as np

from boostbench.core.solvers.coefficient_grid import snap_to_grid
from boostbench.core.solvers.exponential_sum import minimise

# The exponents of a step are at most that: it is as far as AdaBoost goes for a perfect stump.
_MAX_EXPONENT = 24.0

# How far the codeword that moves most moves, at first; and how often that is halved or doubled.
_INITIAL_STEP_SIZE = 0.05
_MAX_TRIALS = 30

# Bits of the direction and of the size of a move that are kept, and what is no difference of risks:
# the last digits of sums must not grow from move to move, nor decide.
_DIRECTION_BITS, _SIZE_BITS = 22, 16
_RISK_TOLERANCE = 1e-14


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
        self._own_class_index = labels, np.arange(len(labels))
        self._is_own_class = np.zeros((len(codewords), len(labels)))
        self._is_own_class[self._own_class_index] = 1.0
        self._last_move = _INITIAL_STEP_SIZE
        self._losses, self.log_risk = self._compute_losses(codewords)

    def weights(self):
        r"""Direction of steepest descent of the risk in each prediction.

        Returns
        -------
        ndarray of shape (n_samples, n_components), dtype=float64
            :math:`w_i = \frac12 \sum_j (y_{z_i} - y_j) e^{-\frac12 \langle y_{z_i} - y_j, f_i
            \rangle}` of eq. (5), times a positive number, the same for all samples. Printed is
            :math:`y_j - y_{z_i}`, along which the risk grows.
        """
        return self._duals(self._losses).T @ (-0.5 * self.codewords)

    def codeword_gradient(self):
        """Derivatives of the risk by the codewords.

        Returns
        -------
        ndarray of shape (n_classes, n_components), dtype=float64
            Times n_samples and the same number as `weights`.
        """
        return self._gradient(self._losses)

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
        sums = [
            (self._losses * (leaf == index)) @ self._is_own_class.T for index in range(len(values))
        ]
        products = values @ self.codewords.T
        slopes = 0.5 * (products[:, :, None] - products[:, None, :])
        multiple = minimise(np.ravel(sums), slopes.ravel(), _MAX_EXPONENT)
        self.predictions += multiple * values.take(leaf, axis=0)
        self._losses, self.log_risk = self._compute_losses(self.codewords)
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
        gradient = self.codeword_gradient()
        largest = np.linalg.norm(gradient, axis=1).max()
        if not largest > 0:
            return False
        across, along = _split_along_codewords(-gradient / largest, self.codewords)
        across, along = (snap_to_grid(part, _DIRECTION_BITS) for part in (across, along))
        direction = across + along * self.codewords
        slope = _slope(gradient / self._losses.sum(), direction, self.codewords)
        here = _Move(0.0, self.codewords, self._losses, self.log_risk, slope)
        # A search may end at a step so short that the next one, from there, sees no difference.
        for start in dict.fromkeys((self._last_move, _INITIAL_STEP_SIZE)):
            move = self._line_search(here, direction, start)
            if move is not here:
                self._last_move, self.codewords, self._losses, self.log_risk, _ = move
                return True
        return False

    def _compute_losses(self, codewords):
        """Losses of all pairs of a sample and a class, divided by the largest, and the log risk."""
        exponents = codewords @ self.predictions.T
        exponents -= exponents[self._own_class_index]
        exponents *= 0.5
        if self._log_weights is not None:
            exponents += self._log_weights
        exponents[self._own_class_index] = -np.inf
        largest = exponents.max()
        exponents -= largest
        losses = np.exp(exponents, out=exponents)
        return losses, float(largest) + np.log(losses.sum() / len(self.labels))

    def _duals(self, losses):
        """Losses, and minus the sum of a sample's own in the row of its class."""
        duals = losses.copy()
        duals[self._own_class_index] = -losses.sum(axis=0)
        return duals

    def _gradient(self, losses):
        return 0.5 * self._duals(losses) @ self.predictions

    def _move_by(self, here, direction, size):
        """Make a move of a size."""
        codewords = here.codewords + size * direction
        lengths = np.linalg.norm(codewords, axis=1, keepdims=True)
        codewords /= lengths
        losses, log_risk = self._compute_losses(codewords)
        gradient = self._gradient(losses) / losses.sum()
        return _Move(
            size, codewords, losses, log_risk, _slope(gradient, direction / lengths, codewords)
        )

    def _line_search(self, here, direction, size):
        """Search for a move that lowers the risk well, from a first size on.

        The last trial is at the root of the line through the slopes at the ends of an interval in
        which the risk has a minimum: differences of risks have too few digits for it.

        Returns
        -------
        _Move
            `here` where none lowers the risk.
        """
        best = low = here
        high = self._move_by(here, direction, size)
        for _ in range(_MAX_TRIALS):
            if low is here and high.log_risk >= low.log_risk - _RISK_TOLERANCE:
                high = self._move_by(here, direction, high.size / 2)
            elif high.slope < 0 and high.log_risk < low.log_risk - _RISK_TOLERANCE:
                best = low = high
                high = self._move_by(here, direction, 2 * high.size)
            elif high.slope <= low.slope:
                break  # there is no root of that line ahead
            else:
                share = snap_to_grid(low.slope / (low.slope - high.slope), _SIZE_BITS)
                bottom = float(low.size + share * (high.size - low.size))
                for move in (high, self._move_by(here, direction, bottom)):
                    if move.log_risk < best.log_risk - _RISK_TOLERANCE:
                        best = move
                break
        return best


def _split_along_codewords(vectors, codewords):
    """Part vectors into what is across the codewords, and multiples of these."""
    along = (vectors * codewords).sum(axis=1, keepdims=True)
    return vectors - along * codewords, along


def _slope(gradient, direction, codewords):
    """Derivative along a direction: only what is across a codeword moves it."""
    return float((_split_along_codewords(gradient, codewords)[0] * direction).sum())


class _Move(NamedTuple):
    """Codewords after a move, their losses as of `CodewordRisk._losses_with`, and what falls.

    `slope` is the derivative of the logarithm of the risk by the size.
    """

    size: float
    codewords: np.ndarray
    losses: np.ndarray
    log_risk: float
    slope: float
