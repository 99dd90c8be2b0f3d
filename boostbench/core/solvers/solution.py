"""What comes out of a solver for an L1 norm over non-negative coefficients."""

from typing import NamedTuple

import numpy as np


class SolverResult(NamedTuple):
    """The coefficients at which a solver ended.

    Attributes
    ----------
    w : ndarray
        The coefficients, not negative, of the shape of the start.
    value : float
        The objective at w.
    residual : float
        Of the derivatives of the objective at w, as from `kkt_residual`.
    converged : bool
        Whether the solver ended by its own rule: not at its limit of steps, nor because no step
        lowered the objective.
    dual : ndarray or None
        The dual variables at w, where they are asked for.
    """

    w: np.ndarray
    value: float
    residual: float
    converged: bool
    dual: np.ndarray | None = None


def kkt_residual(w, gradient):
    """How far the objective's derivatives are from what optimality demands over ``w >= 0``.

    Parameters
    ----------
    w, gradient : ndarray

    Returns
    -------
    float
        The largest derivative of a positive coefficient, or the most negative one of the others.
    """
    return float(np.abs(np.where(w > 0, gradient, np.minimum(gradient, 0.0))).max(initial=0.0))
