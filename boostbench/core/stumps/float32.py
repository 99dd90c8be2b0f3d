"""Conversion of weights to single precision."""

import numpy as np

# Weights below this fraction of the largest are negligible: their sum is less than its rounding
# error. If boosting separates the training data, most weights are far smaller, and processors add
# subnormal numbers ten to a hundred times as slowly.
_NEGLIGIBLE = 2.0**-64


def to_float32(G):
    """Convert weights to single precision.

    Parameters
    ----------
    G : ndarray of any shape
        Weights, the largest of which is well within the range of single precision.

    Returns
    -------
    ndarray of the same shape, dtype=float32
        In C order. Weights that are negligible beside the largest are 0.

    Examples
    --------
    >>> to_float32(np.array([-1.0, 1e-30]))
    array([-1.,  0.], dtype=float32)
    """
    W = np.ascontiguousarray(G, np.float32)
    return flush_negligible(W, max(W.max(initial=0.0), -W.min(initial=0.0)))


def flush_negligible(W, scale):
    """Set weights that are negligible beside `scale` to 0.

    Parameters
    ----------
    W : ndarray of any shape, dtype=float32
    scale : float
        Upper bound on the absolute weights.

    Returns
    -------
    ndarray of the same shape, dtype=float32
    """
    sizes, smallest = np.abs(W), np.float32(_NEGLIGIBLE * scale)
    # The product takes most of the time, and usually no weight is negligible.
    if sizes.min(initial=np.inf) >= smallest:
        return W
    return W * (sizes >= smallest)
