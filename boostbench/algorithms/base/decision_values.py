"""Decision values, labels and probabilities from the scores of the classes.

The scores F of a sample are one number per class, or a single number for two classes that is
positive for the second one.
"""

import numpy as np
from scipy.special import expit

#: Relative tolerance of equal scores, a fraction of the sum of the absolute values that were added
#: up. It is far above rounding errors in double precision.
ROUNDING = 2.0**-40

# Inverse temperature of each loss, see `probabilities`. The hinge loss has no curvature, and its
# minimum only determines the most likely class, so its temperature is a convention.
INVERSE_TEMPERATURES = {
    "exponential": 2.0,
    "exponential_sum": 2.0,
    "logistic": 1.0,
    "squared_hinge": 2.0,
    "hinge": 1.0,
}


def decision_values(scores, slack=0.0):
    """Return the values of `decision_function`: for two classes one number per sample.

    If the largest scores of a sample differ by rounding errors only, they are made equal, so that
    the first of these classes is predicted on every machine.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
    slack : float, default=0.0
        Largest difference that may be a rounding error, see `rounding_slack`. With several scores
        per sample, it is raised to `ROUNDING` times the largest absolute score of the sample.

    Returns
    -------
    ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes

    Examples
    --------
    >>> decision_values(np.array([[0.3, 0.1 + 0.2, -1.0], [1.0, 2.0, 0.0]])).argmax(axis=1)
    array([0, 1])
    >>> decision_values(np.array([0.3 - 0.2 - 0.1]), slack=1e-12)
    array([0.])
    """
    if scores.ndim == 1:
        return np.where(np.abs(scores) <= slack, 0.0, scores)
    largest = scores.max(axis=1)
    sizes = np.maximum(largest, -scores.min(axis=1))
    slack = np.maximum(ROUNDING * sizes, slack)
    if scores.shape[1] == 2:
        difference = scores[:, 1] - scores[:, 0]
        return np.where(np.abs(difference) <= slack, 0.0, difference)
    # Scores within the slack of the largest one are equal to it; the largest takes their place.
    equal = scores >= (largest - slack)[:, None]
    return np.where(equal, largest[:, None], scores)


def rounding_slack(*terms):
    """Return the largest difference of scores that may be a rounding error.

    Parameters
    ----------
    *terms : ndarray of shape (n_terms,) or (n_terms, n_classes)
        Summands of the scores: coefficients, or intercepts.

    Returns
    -------
    float
        `ROUNDING` times the sum of the absolute terms, for the class where it is largest.
    """
    sizes = sum(np.abs(np.atleast_1d(term)).sum(axis=0) for term in terms)
    return ROUNDING * float(np.max(sizes, initial=0.0))


def labels_from_scores(scores, classes):
    """Return the class of the largest score of each sample.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
        Result of `decision_values`.
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if scores.ndim == 1:
        return classes[(scores > 0).astype(int)]
    return classes[scores.argmax(axis=1)]


def probabilities(decision, inverse_temperature=1.0):
    r"""Return class probabilities: the softmax of scores; for two classes the logistic function.

    .. math:: p_r(x) = \frac{e^{\beta F_r(x)}}{\sum_s e^{\beta F_s(x)}}, \quad
              p_1(x) = \frac{1}{1 + e^{-\beta F(x)}}

    The inverse temperature :math:`\beta` follows from the loss :math:`\lambda` of the margins,
    :math:`F_{y} - F_r` or :math:`\pm F`. At the minimum of the expected loss of a sample,

    - :math:`F = \frac12 \log p + c` with the exponential loss [1]_, so that :math:`\beta = 2`;
    - :math:`F = \log p + c` with the logistic loss, so that :math:`\beta = 1`;
    - with other losses, p is not a softmax of F. :math:`\beta = -2 \lambda''(0) / \lambda'(0)`
      gives the softmax the correct slope at equally likely classes: 2 for squares.

    Training with few rounds, small steps or a penalty ends before this minimum, and its
    probabilities are too similar; training until convergence makes them too extreme.
    ``CalibratedClassifierCV(method="temperature")`` of scikit-learn 1.8 estimates the temperature
    from data.

    Parameters
    ----------
    decision : ndarray of shape (n_samples, n_classes) or (n_samples,)
        Scores; for two classes one number, positive for the second.
    inverse_temperature : float, default=1.0
        Factor :math:`\beta` of the scores, positive.

    Returns
    -------
    ndarray of shape (n_samples, n_classes), dtype=float64
        Rows sum to 1. The largest entry of a row belongs to the predicted class.

    References
    ----------
    .. [1] J. Friedman, T. Hastie and R. Tibshirani, "Additive logistic regression: a statistical
       view of boosting", Annals of Statistics 28, 2000: Lemma 1.

    Examples
    --------
    >>> print(probabilities(np.array([[1.0, 1.0, 2.0]]), 2.0).round(3))
    [[0.107 0.107 0.787]]
    >>> probabilities(np.array([0.0, -1e4]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    if decision.ndim == 1:
        scores = inverse_temperature * decision
        shares = np.column_stack([expit(-scores), expit(scores)])
        winner = (decision > 0).astype(int)
    else:
        winner = decision.argmax(axis=1)
        shares = np.exp(inverse_temperature * (decision - decision.max(axis=1, keepdims=True)))
        shares /= shares.sum(axis=1, keepdims=True)
    # Scores that differ in their last digits may have equal probabilities. The probability of the
    # predicted class is then raised to the next number.
    tied = np.flatnonzero(shares.argmax(axis=1) != winner)
    shares[tied, winner[tied]] = np.nextafter(shares[tied].max(axis=1), 1.0)
    return shares


def log_probabilities(shares):
    """Return the logarithms of probabilities without a warning about zeros.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
        Probabilities.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Minus infinity for a probability of 0.
    """
    with np.errstate(divide="ignore"):
        return np.log(shares)
