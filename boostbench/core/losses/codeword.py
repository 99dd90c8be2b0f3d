r"""The exponential loss of MCBoost with codewords, and of LADDER.

`CodewordRisk` is the mean loss of a training set, which boosting lowers by changing the predictor,
and LADDER also by changing the codewords.

Class k has a codeword :math:`y_k`, a unit vector in d dimensions, and a predictor f maps samples to
the same space. The loss of a sample of class z is, eq. (4),

.. math:: L(z, f) = \sum_{j \ne z} e^{-\frac12 \langle y_z - y_j, f \rangle}.
"""

from typing import NamedTuple

import numpy as np

from boostbench.core.linear_algebra import snap_to_grid

# Largest exponent that a step may reach. AdaBoost's step for a perfect stump is about as long.
_MAX_EXPONENT = 24.0

# First step of the codeword that moves most, as a length; codewords have the length 1.
_INITIAL_STEP_SIZE = 0.05

# Maximum number of times that a line search halves or doubles a step. It only stops a search
# without progress.
_MAX_TRIALS = 30

# Number of bits of a direction that are kept, so that rounding errors do not grow with the steps.
_DIRECTION_BITS = 22

# Number of bits of the size of a secant step that are kept, for the same reason.
_SIZE_BITS = 16

# Relative difference below which two risks are equal, so that rounding errors do not decide.
_RISK_TOLERANCE = 1e-14

# Slope of the logarithm of a sum of exponentials at which its minimisation stops. The rates of the
# exponents are scaled to [-1, 1].
_SLOPE_TOLERANCE = 1e-12

# Maximum number of Newton or bisection steps. It only stops a minimisation without progress.
_MAX_STEPS = 100


class CodewordRisk:
    r"""The risk of a predictor and codewords on a training set, and steps that lower it.

    .. math:: R = \frac1n \sum_i L(z_i, f(x_i))

    The loss of a sample is a sum over the other classes j: the losses of (j, sample) pairs. They
    are stored relative to the largest one, as an array of shape (n_classes, n_samples) with 0 for
    own classes, and R is stored as a logarithm: neither large nor small losses leave the range of
    doubles.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Classes z, from 0 to n_classes - 1.
    codewords : ndarray of shape (n_classes, n_components)
        Initial codewords y, of unit length.
    predictions : ndarray of shape (n_samples, n_components), default=None
        Initial predictions f; None: 0.
    sample_weight : ndarray of shape (n_samples,), default=None
        Positive weights in the mean of the losses; None: all are 1.

    Attributes
    ----------
    codewords : ndarray of shape (n_classes, n_components)
        Codewords y, of unit length.
    predictions : ndarray of shape (n_samples, n_components)
        Predictions f.
    log_risk : float
        Logarithm of the risk R.

    Examples
    --------
    >>> risk = CodewordRisk(np.array([0, 1]), np.array([[1.0], [-1.0]]))
    >>> risk.add_learner(np.array([0, 1]), np.array([[1.0], [-0.5]]))
    (24.0, True)
    """

    def __init__(self, labels, codewords, predictions=None, sample_weight=None):
        self.labels = labels
        # Logarithms of the sample weights of mean 1, which are added to the exponents of the
        # losses.
        self._log_weights = None
        if sample_weight is not None:
            self._log_weights = np.log(sample_weight / sample_weight.mean())
        self.codewords = codewords
        if predictions is None:
            predictions = np.zeros((len(labels), codewords.shape[1]))
        self.predictions = predictions
        # Classes are rows of the arrays of losses, so that a sum over classes adds long vectors.
        # `_is_own_class`, of shape (n_classes, n_samples), is 1 for the class of each sample.
        self._own_class_index = labels, np.arange(len(labels))
        self._is_own_class = np.zeros((len(codewords), len(labels)))
        self._is_own_class[self._own_class_index] = 1.0
        self._last_size = _INITIAL_STEP_SIZE
        self._losses, self.log_risk = self._compute_losses(codewords)

    def weights(self):
        r"""Return the direction of steepest descent of the risk in the predictions.

        Returns
        -------
        ndarray of shape (n_samples, n_components), dtype=float64
            :math:`w_i = \frac12 \sum_j (y_{z_i} - y_j) e^{-\frac12 \langle y_{z_i} - y_j, f_i
            \rangle}` of eq. (5), times a positive number that is the same for all samples. The
            paper prints :math:`y_j - y_{z_i}`, a direction of ascent.
        """
        return self._duals(self._losses).T @ (-0.5 * self.codewords)

    def codeword_gradient(self):
        """Return the derivatives of the risk with respect to the codewords.

        Returns
        -------
        ndarray of shape (n_classes, n_components), dtype=float64
            Derivatives times n_samples and the positive number of `weights`.
        """
        return self._gradient(self._losses)

    def add_learner(self, leaf, values):
        """Add the multiple of a weak learner that minimises the risk to the predictor, eq. (6).

        The losses of the samples of one leaf and class change by one factor, so that the search for
        the multiple needs their sums only. The multiple is limited: no exponent of a loss
        exceeds 24.

        Parameters
        ----------
        leaf : ndarray of shape (n_samples,)
            Index of each sample's leaf, from 0 to n_leaves - 1.
        values : ndarray of shape (n_leaves, n_components)
            Output of the weak learner in each leaf.

        Returns
        -------
        multiple : float
        is_perfect : bool
            True if the weak learner lowers every loss of every sample, so that the risk has no
            minimum and the multiple is the largest that is allowed.
        """
        # 1) Sum the losses of the pairs by leaf, other class j and own class z; the arrays have the
        # shape (n_leaves, n_classes j, n_classes z). If the multiple m of the weak learner g is
        # added, the exponents -1/2 <y_z - y_j, f + m g> change by m times 1/2 <y_j - y_z, g>, the
        # rate.
        sums = [
            (self._losses * (leaf == index)) @ self._is_own_class.T for index in range(len(values))
        ]
        products = values @ self.codewords.T
        rates = 0.5 * (products[:, :, None] - products[:, None, :])
        multiple = minimise_exponential_sum(np.ravel(sums), rates.ravel(), _MAX_EXPONENT)
        # 2) Move the predictions. If all exponents fall, the weak learner is perfect.
        self.predictions += multiple * values.take(leaf, axis=0)
        self._losses, self.log_risk = self._compute_losses(self.codewords)
        # Combinations of a leaf and classes without losses do not count.
        is_perfect = bool((multiple * rates[np.array(sums) > 0] < 0).all())
        return multiple, is_perfect

    def descend_codewords(self):
        """Make one step of gradient descent in the codewords: LADDER, Algorithm 2.

        The line search compares risks after the codewords are normalised, so that the risk never
        rises; eq. (12) searches before the normalisation.

        Returns
        -------
        bool
            False if no step lowers the risk; the codewords are unchanged then.
        """
        # 1) Find the direction of steepest descent, scaled so that the codeword that moves most has
        # the length 1, and rounded. Its components along the codewords, which normalisation removes
        # again, are rounded apart: large ones would coarsen the grid of the others, which count.
        gradient = self.codeword_gradient()
        largest = np.linalg.norm(gradient, axis=1).max()
        if not largest > 0:
            return False
        orthogonal, coordinate = _split_along_codewords(-gradient / largest, self.codewords)
        orthogonal = snap_to_grid(orthogonal, _DIRECTION_BITS)
        coordinate = snap_to_grid(coordinate, _DIRECTION_BITS)
        direction = orthogonal + coordinate * self.codewords
        slope = _slope(gradient / self._losses.sum(), direction, self.codewords)
        origin = _Step(
            size=0.0,
            codewords=self.codewords,
            losses=self._losses,
            log_risk=self.log_risk,
            slope=slope,
        )
        # 2) Search along it, from the size of the last step, and from the default size if that
        # fails: the last step can be so short that no difference of risks is seen. `fromkeys` drops
        # the second size if it equals the first.
        for size in dict.fromkeys((self._last_size, _INITIAL_STEP_SIZE)):
            step = self._line_search(origin, direction, size)
            if step is not origin:
                self._last_size, self.codewords, self._losses, self.log_risk, _ = step
                return True
        return False

    def _compute_losses(self, codewords):
        """Return the losses of (class, sample) pairs relative to the largest, and the log risk.

        Returns
        -------
        losses : ndarray of shape (n_classes, n_samples)
            Losses divided by the largest one; 0 for own classes.
        log_risk : float
        """
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
        """Return the losses, with minus their sum over the classes in the row of each own class.

        The exponent of a loss has -1/2 y_z and +1/2 y_j: row k of these numbers is twice the
        derivative by <y_k, f> for each sample.
        """
        duals = losses.copy()
        duals[self._own_class_index] = -losses.sum(axis=0)
        return duals

    def _gradient(self, losses):
        """Return the derivatives of the sum of `losses` with respect to the codewords."""
        return 0.5 * self._duals(losses) @ self.predictions

    def _try_step(self, origin, direction, size):
        """Return the codewords after a step of a given size, with their risk and slope.

        Parameters
        ----------
        origin : _Step
            Codewords before the step.
        direction : ndarray of shape (n_classes, n_components)
        size : float
            Multiple of the direction, which is added before the normalisation.

        Returns
        -------
        _Step
        """
        codewords = origin.codewords + size * direction
        lengths = np.linalg.norm(codewords, axis=1, keepdims=True)
        codewords /= lengths
        losses, log_risk = self._compute_losses(codewords)
        gradient = self._gradient(losses) / losses.sum()
        # The derivative of a normalised codeword by the size is the component of direction / length
        # orthogonal to it.
        slope = _slope(gradient, direction / lengths, codewords)
        return _Step(size=size, codewords=codewords, losses=losses, log_risk=log_risk, slope=slope)

    def _line_search(self, origin, direction, size):
        """Search for a step that lowers the risk well, beginning with a given size.

        A step is halved until the risk falls, or doubled while it falls further. The last trial is
        a secant step: the root of the line through the slopes at both ends of an interval that
        contains a minimum. Slopes are used, since differences of risks are too inexact.

        Parameters
        ----------
        origin : _Step
            Present codewords, a step of size 0.
        direction : ndarray of shape (n_classes, n_components)
        size : float
            Size of the first trial.

        Returns
        -------
        _Step
            `origin` if no step lowers the risk.
        """
        # `low` is the longest step so far that lowers the risk while the slope is still negative,
        # and `high` the present trial, a longer step.
        best = low = origin
        high = self._try_step(origin, direction, size)
        for _ in range(_MAX_TRIALS):
            if low is origin and high.log_risk >= low.log_risk - _RISK_TOLERANCE:
                # Neither this trial nor an earlier one has lowered the risk: halve the step.
                high = self._try_step(origin, direction, high.size / 2)
            elif high.slope < 0 and high.log_risk < low.log_risk - _RISK_TOLERANCE:
                # The risk has fallen, and falls further ahead: double the step.
                best = low = high
                high = self._try_step(origin, direction, 2 * high.size)
            elif high.slope <= low.slope:
                # The slope has not risen from `low` to `high`, so that a secant step would not lead
                # to a minimum: keep `best`.
                break
            else:
                # The minimum lies between both steps. Take the better of the trial and the secant
                # step.
                share = snap_to_grid(low.slope / (low.slope - high.slope), _SIZE_BITS)
                secant_size = float(low.size + share * (high.size - low.size))
                for step in (high, self._try_step(origin, direction, secant_size)):
                    if step.log_risk < best.log_risk - _RISK_TOLERANCE:
                        best = step
                break
        return best


def _split_along_codewords(vectors, codewords):
    """Split vectors, one per class, along and across the codewords of the classes.

    Parameters
    ----------
    vectors, codewords : ndarray of shape (n_classes, n_components)

    Returns
    -------
    orthogonal : ndarray of shape (n_classes, n_components)
        Component orthogonal to the codeword.
    coordinate : ndarray of shape (n_classes, 1)
        Coordinate along the codeword.
    """
    coordinate = (vectors * codewords).sum(axis=1, keepdims=True)
    return vectors - coordinate * codewords, coordinate


def _slope(gradient, direction, codewords):
    """Return the derivative of a function of normalised codewords along a direction.

    All arguments have the shape (n_classes, n_components). Components of the gradient along the
    codewords have no effect, as normalisation removes them.
    """
    return float((_split_along_codewords(gradient, codewords)[0] * direction).sum())


class _Step(NamedTuple):
    """Codewords after a step along a direction, with their risk: one trial of a line search.

    Attributes
    ----------
    size : float
        Size of the step: the multiple of its direction.
    codewords : ndarray of shape (n_classes, n_components)
        Codewords after the step, normalised.
    losses, log_risk
        Result of `CodewordRisk._compute_losses`.
    slope : float
        Derivative of the log risk with respect to the size of the step.
    """

    size: float
    codewords: np.ndarray
    losses: np.ndarray
    log_risk: float
    slope: float


def minimise_exponential_sum(weights, rates, max_exponent):
    r"""Minimise :math:`\sum_k w_k e^{a s_k}` over a by Newton's method within a bracket.

    The logarithm of the sum is convex in a. A bisection replaces a Newton step that leaves the
    bracket.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Nonnegative weights w, not all 0.
    rates : ndarray of shape (n,)
        Rates s at which the exponents change with a.
    max_exponent : float
        Upper bound on the magnitude of the exponents ``a s_k``.

    Returns
    -------
    float
        Minimiser a, of any sign, clipped to the allowed range; 0 if all rates are 0.

    Examples
    --------
    >>> weights, rates = np.array([4.0, 1.0]), np.array([-1.0, 1.0])
    >>> minimise_exponential_sum(weights, rates, max_exponent=50.0) / float(np.log(2))
    1.0
    """
    # 1) Scale the rates to [-1, 1], and turn the direction so that the sum decreases at 0.
    is_active = (weights > 0) & (rates != 0)
    if not is_active.any():
        return 0.0
    scale = float(np.abs(rates[is_active]).max())
    # Terms of rate 0 are a constant of the sum.
    constant = float(weights[(weights > 0) & (rates == 0)].sum())
    weights, rates = weights[is_active], rates[is_active] / scale
    if weights @ rates > 0:
        scale, rates = -scale, -rates

    def derivatives(a):
        """Return the first two derivatives of the logarithm of the sum.

        With the terms p_k = w_k exp(a s_k) divided by their sum, these are the mean of s under p
        and its variance.
        """
        exponents = a * rates
        shift = exponents.max()
        terms = weights * np.exp(exponents - shift)
        total = terms.sum() + constant * np.exp(-shift)
        slope = terms @ rates / total
        return slope, terms @ rates**2 / total - slope**2

    # 2) Find the root of the slope between 0 and the limit.
    low, high = 0.0, float(max_exponent)
    if derivatives(high)[0] <= 0:
        return float(high / scale)
    a = 0.0
    for _ in range(_MAX_STEPS):
        slope, curvature = derivatives(a)
        if abs(slope) <= _SLOPE_TOLERANCE:
            break
        low, high = (a, high) if slope < 0 else (low, a)
        step = -slope / curvature if curvature > 0 else np.inf
        a = a + step if low < a + step < high else (low + high) / 2
        if high - low <= 4 * np.finfo(float).eps * high:
            break
    return float(a / scale)
