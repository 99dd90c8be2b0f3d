"""Result of a solver over nonnegative coefficients, optimality of the result, and rounding.

The solvers of this folder minimise a loss plus an L1 norm, which is linear over nonnegative
coefficients.
"""

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
        Violation of the optimality conditions at w; see `kkt_residual`. 0 for a linear program, and
        infinity if the solver does not compute it.
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

    At a minimum (Karush, Kuhn and Tucker), the derivative with respect to a positive coefficient is
    0, and the derivative with respect to a coefficient 0 is not negative.

    Parameters
    ----------
    w : ndarray
        Nonnegative coefficients.
    gradient : ndarray
        Derivatives of the objective, with the shape of `w`.

    Returns
    -------
    float
        Largest magnitude among the derivatives of positive coefficients and the negative
        derivatives of zero coefficients.
    """
    return float(np.abs(np.where(w > 0, gradient, np.minimum(gradient, 0.0))).max(initial=0.0))


def snap_to_grid(numbers, n_bits, min_unit=sys.float_info.min):
    """Round numbers to multiples of a common unit, a power of 2 that depends on the largest one.

    The last bits of a sum differ between libraries of linear algebra. Solvers round their steps, so
    that such differences do not grow from step to step, and results are equal on every machine.

    Parameters
    ----------
    numbers : ndarray
        Numbers; they are returned unchanged if all of them are 0, or one of them is not finite.
    n_bits : int
        Number of bits that are kept of the number with the largest magnitude.
    min_unit : float, default=sys.float_info.min
        Minimum of the unit. The default is the smallest number of full precision.

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
    # The first bit of `largest` has the value 2^(exponent - 1), and its bit number `n_bits` has the
    # value of the unit.
    _, exponent = math.frexp(largest)
    unit = max(math.ldexp(1.0, exponent - n_bits), min_unit)
    return np.rint(numbers / unit) * unit
