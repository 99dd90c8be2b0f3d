"""Grid of numbers on which solvers work, so that rounding errors do not change solutions.

Libraries of linear algebra and processors differ in the order of additions. Where an objective is
flat, each step of a solver amplifies the differences.
"""

import math
import sys

import numpy as np


def snap_to_grid(numbers, n_bits, min_unit=sys.float_info.min):
    """Return the numbers rounded to multiples of a unit, which keeps `n_bits` of the largest one.

    Parameters
    ----------
    numbers : ndarray
        Numbers; they are returned unchanged if one of them is not finite.
    n_bits : int
        Number of bits of the largest number that are kept.
    min_unit : float, optional
        Minimum of the unit.

    Returns
    -------
    ndarray
        Rounded numbers, of the shape of `numbers`.

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
