"""Lower bounds on the dimension of projections: RandomBoost, Theorems 1 and 2."""

import math


def margin_preservation(n_samples, n_classes, margin, epsilon, delta):
    r"""Bound the projected dimension that keeps MultiBoost's margin (RandomBoost, Theorem 1).

    With probability at least :math:`1 - \delta`, projecting coefficients and outputs of weak
    learners to more than

    .. math:: \frac{12}{3\epsilon^2 - 2\epsilon^3} \ln \frac{6km}{\delta}

    dimensions leaves a margin of at least
    :math:`-\frac{1+3\epsilon}{1-\epsilon^2} + \frac{\sqrt{1-\epsilon^2}}{1+\epsilon}
    + \frac{1+\epsilon}{1-\epsilon} \gamma`.

    Parameters
    ----------
    n_samples : int
        Number of samples m.
    n_classes : int
        Number of classes k.
    margin : float
        Margin :math:`\gamma` before the projection.
    epsilon, delta : float
        Distortion and probability of failure, both in (0, 1).

    Returns
    -------
    n_projections : int
        Smallest number of projections that the theorem covers.
    margin : float
        Lower bound on the projected margin; the theorem is void where it is not positive.

    Raises
    ------
    ValueError
        If epsilon or delta is out of range.

    Examples
    --------
    >>> n, margin = margin_preservation(1000, 10, margin=0.5, epsilon=0.1, delta=0.05)
    >>> n, round(margin, 3)
    (6000, 0.203)
    """
    n_projections = _min_dimension(n_classes * n_samples, epsilon, delta)
    margin_bound = (
        -(1 + 3 * epsilon) / (1 - epsilon**2)
        + math.sqrt(1 - epsilon**2) / (1 + epsilon)
        + (1 + epsilon) / (1 - epsilon) * margin
    )
    return n_projections, margin_bound


def margin_separability(n_samples, n_classes, margin, epsilon, delta):
    r"""Bound the projected dimension that leaves a single vector a margin (RandomBoost, Theorem 2).

    With probability at least :math:`1 - \delta`, more than

    .. math:: \frac{12}{3\epsilon^2 - 2\epsilon^3} \ln \frac{6m(k-1)}{\delta}

    rows of the projection matrices of RBoost^proj leave the single vector of coefficients, which
    all classes share, a margin of at least :math:`-\frac{2\epsilon}{1-\epsilon} +
    \frac{1+\epsilon}{\sqrt{2k}(1-\epsilon)} \gamma`.

    Parameters
    ----------
    n_samples, n_classes, margin, epsilon, delta
        See `margin_preservation`.

    Returns
    -------
    n_projections : int
    margin : float
        See `margin_preservation`.

    Raises
    ------
    ValueError
        If epsilon or delta is out of range.

    Examples
    --------
    Eleven times as many pairs of classes need a sixth more projections:

    >>> for k in (10, 100):
    ...     n, margin = margin_separability(1000, k, margin=1, epsilon=0.01, delta=0.05)
    ...     print(n, round(margin, 3))
    559429 0.208
    655988 0.052
    """
    n_projections = _min_dimension(n_samples * (n_classes - 1), epsilon, delta)
    margin_bound = (-2 * epsilon + (1 + epsilon) * margin / math.sqrt(2 * n_classes)) / (
        1 - epsilon
    )
    return n_projections, margin_bound


def _min_dimension(n_products, epsilon, delta):
    """Return the smallest dimension above 12 / (3 eps^2 - 2 eps^3) ln(6 n_products / delta).

    The proofs bound the probability that an inner product is distorted by more than epsilon, and
    add up the probabilities of `n_products` inner products.
    """
    for name, value in {"epsilon": epsilon, "delta": delta}.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    bound = 12 / (3 * epsilon**2 - 2 * epsilon**3) * math.log(6 * n_products / delta)
    return math.floor(bound) + 1
