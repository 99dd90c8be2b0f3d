"""Weights in single precision."""

import numpy as np

# Weights below that part of the largest add up to less than a rounding of it. Where boosting parts
# its training data, most are far below, and processors take ten to a hundred times as long to add
# up subnormal numbers.
_NEGLIGIBLE = 2.0**-64


def to_float32(G):
    """Convert weights to single precision.

    Parameters
    ----------
    G : ndarray of any shape
        Weights. The largest should be well within the range of single precision.

    Returns
    -------
    ndarray of the same shape, dtype=float32
        In C order. Weights that add up to nothing beside the largest are 0.

    Examples
    --------
    >>> to_float32(np.array([-1.0, 1e-30]))
    array([-1.,  0.], dtype=float32)
    """
    W = np.ascontiguousarray(G, np.float32)
    return flush_negligible(W, max(W.max(initial=0.0), -W.min(initial=0.0)))


def flush_negligible(W, scale):
    """Set weights that add up to nothing beside `scale` to 0.

    Parameters
    ----------
    W : ndarray of any shape, dtype=float32
    scale : float
        Not less than the largest of the sizes of the weights.

    Returns
    -------
    ndarray of the same shape, dtype=float32
    """
    sizes, smallest = np.abs(W), np.float32(_NEGLIGIBLE * scale)
    # The product takes longer than all the rest, and early rounds do not need it.
    if sizes.min(initial=np.inf) >= smallest:
        return W
    return W * (sizes >= smallest)
