"""Whether a number agrees with a published one, by Welch's interval."""

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Agreement:
    """Our mean against a published one, in the unit of both (percent, lower is better).

    Attributes
    ----------
    difference : float
        Ours minus published.
    low, high : float
        Welch's 95% interval of the difference; NaN where a standard deviation is unknown.
    verdict : str
        ``"reproduced"`` when the interval holds 0 or the difference rounds to nothing, else
        ``"better"`` or ``"worse"``.
    """

    difference: float
    low: float
    high: float
    verdict: str


def agreement(
    mean: float,
    std: float,
    n: int,
    published_mean: float,
    published_std: float,
    published_n: int,
    digits: int = 1,
) -> Agreement:
    """Judge whether a mean agrees with a published one within sampling error.

    Parameters
    ----------
    mean, std, n : float, float, int
        Ours: mean, sample standard deviation and number of repeats.
    published_mean, published_std, published_n : float, float, int
        The paper's.
    digits : int, default=1
        Digits of the published numbers; a difference that rounding can explain is none.

    Returns
    -------
    Agreement
        Difference, Welch's 95% interval and verdict.
    """
    difference = mean - published_mean
    variances = np.array([std**2 / n, published_std**2 / published_n])
    if np.isfinite(variances).all() and variances.sum() > 0 and min(n, published_n) > 1:
        freedom = variances.sum() ** 2 / (variances**2 / [n - 1, published_n - 1]).sum()
        half = stats.t.ppf(0.975, freedom) * np.sqrt(variances.sum())
    else:
        half = np.nan
    low, high = difference - half, difference + half
    if low <= 0 <= high or abs(difference) <= 0.5 * 10**-digits:
        verdict = "reproduced"
    else:
        verdict = "better" if difference < 0 else "worse"
    return Agreement(float(difference), float(low), float(high), verdict)
