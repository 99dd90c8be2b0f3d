"""Line search on a sum of exponentials: the step of boosting with codewords."""

import numpy as np

# Slope of the sum's logarithm at which the search stops; exponents are scaled to [-1, 1].
_TOLERANCE = 1e-12
_MAX_ITER = 100


def minimise(weights, slopes, max_exponent):
    r"""Minimise :math:`\sum_k w_k e^{a s_k}` over a by Newton's method within a bracket.

    The logarithm of the sum is convex in a. A bisection replaces a Newton step that leaves the
    bracket.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Nonnegative weights w, not all 0.
    slopes : ndarray of shape (n,)
        Slopes s.
    max_exponent : float
        Upper bound on the magnitude of the exponents ``a s_k``.

    Returns
    -------
    float
        Minimiser a, of any sign, clipped to the allowed range; 0 if all slopes are 0.

    Examples
    --------
    >>> minimise(np.array([4.0, 1.0]), np.array([-1.0, 1.0]), max_exponent=50.0) / float(np.log(2))
    1.0
    """
    is_active = (weights > 0) & (slopes != 0)
    if not is_active.any():
        return 0.0
    scale = float(np.abs(slopes[is_active]).max())
    # Terms of slope 0 are a constant of the sum.
    constant = float(weights[(weights > 0) & (slopes == 0)].sum())
    weights, slopes = weights[is_active], slopes[is_active] / scale
    if weights @ slopes > 0:
        scale, slopes = -scale, -slopes

    def derivatives(a):
        exponents = a * slopes
        shift = exponents.max()
        terms = weights * np.exp(exponents - shift)
        total = terms.sum() + constant * np.exp(-shift)
        first = terms @ slopes / total
        return first, terms @ slopes**2 / total - first**2

    low, high = 0.0, float(max_exponent)
    if derivatives(high)[0] <= 0:
        return float(high / scale)
    a = 0.0
    for _ in range(_MAX_ITER):
        slope, curvature = derivatives(a)
        if abs(slope) <= _TOLERANCE:
            break
        low, high = (a, high) if slope < 0 else (low, a)
        step = -slope / curvature if curvature > 0 else np.inf
        a = a + step if low < a + step < high else (low + high) / 2
        if high - low <= 4 * np.finfo(float).eps * high:
            break
    return float(a / scale)
