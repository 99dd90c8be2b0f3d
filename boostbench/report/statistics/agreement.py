"""Whether a number agrees with a published one, by Welch's interval."""

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np
from scipy import stats

#: What a verdict rests on, by the names of `Agreement.basis`.
BASES = {
    "welch": "Welch's 95% interval, from both standard deviations",
    "ours": "a 95% interval; the published standard deviation is not known, ours is taken for both",
    "published": "a 95% interval; ours is one number, the published standard deviation is taken "
    "for both",
    "rounding": "the published number's rounding alone; neither standard deviation is known",
}

#: The same in few words, of those that are not the usual one.
SHORT = {
    "ours": "published deviation unknown",
    "published": "our deviation unknown",
    "rounding": "rounding only",
}


@dataclass(frozen=True)
class Agreement:
    """Our mean against a published one, in the unit of both.

    Attributes
    ----------
    difference : float
        Ours minus published.
    low, high : float
        95% interval of the difference; NaN where there is none: by rounding alone, or where both
        standard deviations are 0.
    verdict : {"reproduced", "better", "worse"}
        ``"reproduced"`` when the interval holds 0 or the difference rounds to nothing.
    basis : str
        What the verdict rests on, one of `BASES`.
    """

    difference: float
    low: float
    high: float
    verdict: str
    basis: str

    @property
    def half(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2


def agreement(
    mean: float,
    std: float,
    n: int,
    published_mean: float,
    published_std: float,
    published_n: int,
    digits: int = 1,
    sign: int = 1,
) -> Agreement:
    """Judge whether a mean agrees with a published one within sampling error.

    Parameters
    ----------
    mean, std, n : float, float, int
        Ours: mean, sample standard deviation and number of repeats. The deviation is not known
        where it is NaN, or of a single number.
    published_mean, published_std, published_n : float, float, int
        The paper's.
    digits : int, default=1
        Digits of the published numbers; a difference that rounding can explain is none.
    sign : {1, -1}, default=1
        1 where the lower number is the better one, else -1.

    Returns
    -------
    Agreement
        Difference, 95% interval, verdict, and what it rests on.
    """
    difference = mean - published_mean
    basis, half = _interval(std, n, published_std, published_n)
    if abs(difference) <= max(half if isfinite(half) else 0.0, 0.5 * 10**-digits):
        verdict = "reproduced"
    else:
        verdict = "better" if sign * difference < 0 else "worse"
    low, high = difference - half, difference + half
    return Agreement(float(difference), float(low), float(high), verdict, basis)


def _interval(std: float, n: int, published_std: float, published_n: int) -> tuple[str, float]:
    """Give the basis and half of the interval; NaN where the deviations give none."""
    known = n > 1 and isfinite(std)
    published_known = published_n > 1 and isfinite(published_std)
    if known and published_known:
        variances = np.array([std**2 / n, published_std**2 / published_n])
        if not variances.sum() > 0:
            return "welch", float("nan")
        freedom = variances.sum() ** 2 / (variances**2 / [n - 1, published_n - 1]).sum()
        return "welch", _half(freedom, variances.sum())
    if not known and not published_known:
        return "rounding", float("nan")
    # One deviation is an estimate for both, with its own degrees of freedom.
    basis, common, m = ("ours", std, n) if known else ("published", published_std, published_n)
    variance = common**2 * (1 / n + 1 / published_n)
    return basis, _half(m - 1, variance) if variance > 0 else float("nan")


def _half(freedom: float, variance: float) -> float:
    return float(stats.t.ppf(0.975, freedom)) * sqrt(variance)
