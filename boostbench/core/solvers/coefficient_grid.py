"""A grid on which solvers work, so that last digits of sums do not grow into other solutions.

Another library of linear algebra, or another processor, adds numbers in another order. Where an
objective is flat, each step of a solver multiplies what sums differ by.
"""

import math
import sys

import numpy as np


def snap_to_grid(numbers, n_bits, min_unit=sys.float_info.min):
    """Round to so many bits of the largest number, and to multiples of no less than `min_unit`.

    Parameters
    ----------
    numbers : ndarray
        Returned as they are where one is not finite.
    n_bits : int
        Bits of the largest number that are kept.
    min_unit : float, optional
        What numbers are multiples of, at least.

    Returns
    -------
    ndarray
        Of the shape of `numbers`.

    Examples
    --------
    >>> snap_to_grid(np.array([1.0, 1 / 3, 1e-9]), 8).tolist()
    [1.0, 0.3359375, 0.0]
    """
    largest = float(np.abs(numbers).max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return numbers
    unit = max(math.ldexp(1.0, math.frexp(largest)[1] - n_bits), min_unit)
    return np.rint(numbers / unit) * unit
