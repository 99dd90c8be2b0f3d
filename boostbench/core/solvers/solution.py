"""Result of a solver for an L1 norm over nonnegative coefficients, its quality and its rounding."""

import math
import sys
from typing import NamedTuple

import numpy as np


class SolverResult(NamedTuple):
    """Final coefficients of a solver, and the quality of the solution.

    Attributes
    ----------
    w : ndarray
        Nonnegative coefficients, of the shape of the starting point.
    value : float
        Objective at w.
    residual : float
        Violation of the optimality conditions at w; see `kkt_residual`.
    converged : bool
        True if the solver met its stopping rule; False if it reached its maximum number of steps,
        or if no step decreased the objective.
    dual : ndarray or None
        Dual variables at w; None if the solver does not compute them.
    """

    w: np.ndarray
    value: float
    residual: float
    converged: bool
    dual: np.ndarray | None = None


def kkt_residual(w, gradient):
    """Return the maximum violation of the optimality conditions over ``w >= 0``.

    Parameters
    ----------
    w, gradient : ndarray
        Coefficients, and derivatives of the objective, of one shape.

    Returns
    -------
    float
        Largest magnitude among the derivatives of positive coefficients and the negative
        derivatives of zero coefficients.
    """
    return float(np.abs(np.where(w > 0, gradient, np.minimum(gradient, 0.0))).max(initial=0.0))


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
