"""Whether a number agrees with a published one, by Welch's interval, and what that can miss."""

from dataclasses import dataclass
from math import asin, inf, isnan, pi, sin, sqrt

import numpy as np
from scipy import special, stats

#: What a verdict rests on, by the names of `Agreement.basis`.
BASES = {
    "welch": "Welch's 95% interval, from both standard deviations",
    "pool": "a 95% interval, from both standard deviations and the luck of the samples that the "
    "paper splits, as it seems to have drawn them once",
    "ours": "a 95% interval; the published standard deviation is not known, ours is taken for both",
    "published": "a 95% interval; ours is one number, the published standard deviation is taken "
    "for both",
    "counts": "a 95% interval; neither standard deviation is known, so both errors are taken as "
    "counts of test samples, drawn apart",
    "rounding": "the published number's rounding alone; neither standard deviation is known",
}

#: The same in few words, of those that a single number has.
SHORT = {
    "ours": "published deviation unknown",
    "published": "our deviation unknown",
    "counts": "by the size of the test part",
    "rounding": "rounding only",
}

#: Error rates of a test: that of the first kind, and the power of `Agreement.detectable`.
LEVEL, POWER = 0.05, 0.8

#: Where no difference is found, a detectable one of more than this share of the published error
#: leaves open whether there is one.
TELLING = 0.2

_NAN = float("nan")

# Degrees of freedom with which the t distribution is the normal one.
_MANY = 1e6


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
    p : float
        Two-sided p-value of the difference, 1 where rounding can explain it; NaN by rounding alone.
    detectable : float
        The difference that would have been found with a probability of 80%; NaN by rounding alone.
    share : float
        `detectable` as a share of the published error, that is, of the published number's distance
        from a perfect one.
    verdict : {"reproduced", "better", "worse", "undecided"}
        ``"better"`` or ``"worse"`` when the interval does not hold 0 and the difference does not
        round to nothing. Else ``"undecided"`` when `share` is above `TELLING` and `detectable`
        above the last printed digit, or ``"reproduced"``.
    can_tell : bool
        Whether enough repeats of ours make a verdict other than ``"undecided"`` sure: the paper's
        are not too few alone.
    basis : str
        What the verdict rests on, one of `BASES`.
    """

    difference: float
    low: float
    high: float
    p: float
    detectable: float
    share: float
    verdict: str
    basis: str
    can_tell: bool

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
    perfect: float = 0.0,
    pool_share: float = 0.0,
    n_tested: int | None = None,
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
    perfect : float, default=0.0
        The best number there could be: the published error is the distance from it.
    pool_share : float, default=0.0
        Where the paper's repeats are splits of samples that were drawn once, and ours draw anew:
        the variance between such pools, as a share of that within one, which is published.
    n_tested : int, default=None
        Test samples of a repeat, where both numbers are percentages of test samples. None where
        they are not, or where that is not known.

    Returns
    -------
    Agreement
        Difference, 95% interval, verdict, and what it rests on.
    """
    difference = float(mean - published_mean)
    rounding = 0.5 * 10**-digits
    basis, ours, theirs, freedom = _variances(std, n, published_std, published_n, pool_share)
    if basis == "rounding" and n_tested:
        both = (mean + published_mean) / 2
        variance = both * (100 - both) / n_tested
        basis, ours, theirs, freedom = "counts", variance / n, variance / published_n, inf
    half, detectable = _found(ours + theirs, freedom, rounding)
    _, at_best = _found(theirs, freedom if basis in SHORT else published_n - 1, rounding)
    p = _p_value(difference, ours + theirs, freedom, rounding)
    error = abs(published_mean - perfect)
    if basis == "counts":
        detectable = _found_share(error, n_tested * n, n_tested * published_n)
    share = detectable / error if error else float("inf")
    # Of what rounding alone decides, nothing is known that could be missed; comparisons with NaN
    # are False.
    most = max(TELLING * error, 10**-digits)
    if abs(difference) > max(rounding, 0.0 if isnan(half) else half):
        verdict = "better" if sign * difference < 0 else "worse"
    else:
        verdict = "undecided" if detectable > most else "reproduced"
    low, high = difference - half, difference + half
    can_tell = not at_best > most
    return Agreement(difference, low, high, p, detectable, share, verdict, basis, can_tell)


def _variances(
    std: float, n: int, published_std: float, published_n: int, pool_share: float
) -> tuple[str, float, float, float]:
    """Give the basis, the variances of both means, and the degrees of freedom of their difference.

    The variances are NaN where neither deviation is known.
    """
    known = n > 1 and not isnan(std)
    published_known = published_n > 1 and not isnan(published_std)
    if known and published_known:
        variances = np.array([std**2 / n, published_std**2 * (1 / published_n + pool_share)])
        freedom = _NAN
        if variances.sum() > 0:
            freedom = variances.sum() ** 2 / (variances**2 / [n - 1, published_n - 1]).sum()
        return "pool" if pool_share else "welch", *variances.tolist(), float(freedom)
    if not known and not published_known:
        return "rounding", _NAN, _NAN, _NAN
    # One deviation is an estimate for both, with its own degrees of freedom.
    basis, common, m = ("ours", std, n) if known else ("published", published_std, published_n)
    return basis, common**2 / n, common**2 / published_n, m - 1


def _found(variance: float, freedom: float, rounding: float) -> tuple[float, float]:
    """Give half of the interval, NaN without one, and the difference that is found at `POWER`."""
    if not variance > 0:
        return _NAN, rounding if variance == 0 else _NAN
    critical = float(stats.t.ppf(1 - LEVEL / 2, freedom))
    half = critical * sqrt(variance)
    # The t statistic of a true difference is noncentral.
    centre = float(special.nctdtrinc(min(freedom, _MANY), 1 - POWER, critical))
    return half, centre * sqrt(variance) + max(rounding - half, 0.0)


def _found_share(percent: float, n: int, published_n: int) -> float:
    """Give the rise of a percentage of samples that is found at `POWER`.

    The variance of the arc sine of the root of a share does not depend on the share.
    """
    z = float(stats.norm.ppf(1 - LEVEL / 2) + stats.norm.ppf(POWER))
    angle = asin(sqrt(percent / 100)) + z * sqrt(1 / n + 1 / published_n) / 2
    return 100 * sin(min(angle, pi / 2)) ** 2 - percent


def _p_value(difference: float, variance: float, freedom: float, rounding: float) -> float:
    if isnan(variance):
        return _NAN
    if abs(difference) <= rounding:
        return 1.0
    return float(2 * stats.t.sf(abs(difference) / sqrt(variance), freedom)) if variance else 0.0
