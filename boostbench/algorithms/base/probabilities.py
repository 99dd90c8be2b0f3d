"""Class probabilities from class scores."""

import numpy as np
from scipy.special import expit

# Inverse temperature of each loss, see `probabilities`. The hinge loss has no curvature, and its
# minimum only determines the most likely class, so its temperature is a convention.
INVERSE_TEMPERATURES = {
    "exponential": 2.0,
    "exponential_sum": 2.0,
    "logistic": 1.0,
    "squared_hinge": 2.0,
    "hinge": 1.0,
}


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
    # Scores that differ in their last digits may have equal probabilities.
    tied = np.flatnonzero(shares.argmax(axis=1) != winner)
    shares[tied, winner[tied]] = np.nextafter(shares[tied].max(axis=1), 1.0)
    return shares


def log_probabilities(shares):
    """Return the logarithms of probabilities without a warning about zeros.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Minus infinity for a probability of 0.
    """
    with np.errstate(divide="ignore"):
        return np.log(shares)
