"""Effect sizes: wins, ties and losses, and Hedges' g."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy import special

from boostbench.analysis.statistics import finite_array


class Score(NamedTuple):
    """Numbers of data sets on which the first of two algorithms wins, ties and loses."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


def score(differences: Sequence[float]) -> Score:
    """Count wins, ties and losses by `boostbench.util.numbers.differences`; less is a win.

    Examples
    --------
    >>> str(score(np.array([-0.5, 0.0, 1.0])))
    '1/1/1'
    """
    signs = np.sign(finite_array(differences))
    return Score(*(int(np.sum(signs == sign)) for sign in (-1, 0, 1)))


def hedges_g(mean_a: float, std_a: float, n_a: int, mean_b: float, std_b: float, n_b: int) -> float:
    """Hedges' g: a difference of two means in standard deviations, without the bias of few samples.

    Parameters
    ----------
    mean_a, std_a, n_a : float, float, int
        Mean, sample standard deviation and number of repeats of the first.
    mean_b, std_b, n_b : float, float, int
        Of the second.

    Returns
    -------
    float
        Negative where the first mean is the lower. NaN where a standard deviation is unknown or
        both are 0.

    Examples
    --------
    >>> round(hedges_g(10.0, 2.0, 10, 12.0, 2.0, 10), 4)  # Cohen's d is -1
    -0.9576
    """
    freedom = n_a + n_b - 2
    if freedom < 1:
        return float("nan")
    pooled = sqrt(((n_a - 1) * std_a**2 + (n_b - 1) * std_b**2) / freedom)
    if not pooled > 0:
        return float("nan")
    # The exact factor; 1 - 3 / (4 * freedom - 1) is near it.
    correction = np.exp(special.gammaln(freedom / 2) - special.gammaln((freedom - 1) / 2))
    return float((mean_a - mean_b) / pooled * correction / sqrt(freedom / 2))
