"""Whether a number agrees with a published one, by Welch's interval, and what that can miss.

Published means and deviations are rounded. What rounding takes away or adds is equally likely
anywhere within half a digit. Its variance, d**2 / 12 for a last digit d, is a part of that of the
difference, as in the *Guide to the expression of uncertainty in measurement* (JCGM 100:2008, 4.3.7
and G.4).
"""

from collections.abc import Iterable
from math import asin, inf, isnan, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from scipy import special

from boostbench.report.numbers import rounded
from boostbench.report.statistics import LEVEL, finite_array

#: What a verdict rests on, by the names of `Agreement.basis`.
BASES = {
    "welch": "Welch's 95% interval, from both standard deviations",
    "pool": "a 95% interval, from both standard deviations and the variance of the samples that "
    "the paper splits, as it seems to have drawn them once",
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

#: Of `Agreement.detectable`.
POWER = 0.8

#: Where no difference is found, a detectable one of more than this share of the published error
#: leaves open whether there is one.
TELLING = 0.2

_NAN = float("nan")

# Degrees of freedom with which the t distribution is the normal one.
_MANY = 1e6


class Agreement(NamedTuple):
    """Our mean against a published one, in the unit of both.

    Attributes
    ----------
    difference : float
        Ours minus published.
    low, high : float
        95% interval of the difference; NaN where there is none: by rounding alone.
    p : float
        Two-sided p-value of the difference; NaN by rounding alone.
    detectable : float
        The difference that would have been found with a probability of 80%; NaN by rounding alone.
    share : float
        `detectable` as a share of the published error, that is, of the published number's distance
        from a perfect one.
    verdict : {"reproduced", "better", "worse", "undecided"}
        ``"better"`` or ``"worse"`` when the interval does not hold 0; by rounding alone, when the
        numbers do not print alike. Else ``"undecided"`` when `share` is above `TELLING` and
        `detectable` above the last printed digit, or ``"reproduced"``.
    is_sharp : bool
        Whether a difference of `TELLING` of the published error would have been found: without one
        it is ``"reproduced"`` and not ``"undecided"``.
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
    is_sharp: bool
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
        Decimals that the published numbers are rounded to.
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
    difference = float(np.subtract(*finite_array([mean, published_mean])))
    basis, terms, at_best = _terms(std, n, published_std, published_n, pool_share, digits)
    if basis == "rounding" and n_tested:
        both = (mean + published_mean) / 2
        variance = both * (100 - both) / n_tested
        basis, at_best = "counts", [_Variance(variance / published_n)]
        terms = [_Variance(variance / n), *at_best]
    rounding = _Variance(10 ** (-2 * digits) / 12)
    variance, freedom = _sum([*terms, rounding])
    half, detectable = _found(variance, freedom)
    _, least = _found(*_sum([*at_best, rounding]))
    error = abs(published_mean - perfect)
    if basis == "counts":
        detectable = _found_share(error, n_tested * n, n_tested * published_n)
    # Of what rounding alone decides, nothing is known that could be missed; comparisons with NaN
    # are False.
    most = max(TELLING * error, 10**-digits)
    is_sharp = not detectable > most
    if basis == "rounding":
        differs = rounded(mean, digits) != rounded(published_mean, digits)
    else:
        differs = abs(difference) > half
    if differs:
        verdict = "better" if sign * difference < 0 else "worse"
    else:
        verdict = "reproduced" if is_sharp else "undecided"
    return Agreement(
        difference,
        low=difference - half,
        high=difference + half,
        p=float(2 * special.stdtr(freedom, -abs(difference) / sqrt(variance))),
        detectable=detectable,
        share=detectable / error if error else inf,
        verdict=verdict,
        basis=basis,
        is_sharp=is_sharp,
        can_tell=not least > most,
    )


class _Variance(NamedTuple):
    """A part of the variance of a difference, and the degrees of freedom of its estimate."""

    variance: float
    freedom: float = inf

    def times(self, factor: float) -> "_Variance":
        return self._replace(variance=factor * self.variance)


def _terms(
    std: float, n: int, published_std: float, published_n: int, pool_share: float, digits: int
) -> tuple[str, list[_Variance], list[_Variance]]:
    """Give the basis, the parts of the variance, and those that no number of our repeats lessens.

    They are NaN where neither deviation is known.
    """
    known = n > 1 and not isnan(std)
    ours = _Variance(std**2, n - 1)
    if published_n > 1 and not isnan(published_std):
        common = _printed_variance(published_std, published_n, digits)
        if known:
            theirs = [common.times(1 / published_n + pool_share)]
            return "pool" if pool_share else "welch", [ours.times(1 / n), *theirs], theirs
        basis = "published"
    elif known:
        basis, common = "ours", ours
    else:
        return "rounding", [_Variance(_NAN)], [_Variance(_NAN)]
    # One deviation is an estimate for both, with its own degrees of freedom.
    return basis, [common.times(1 / n + 1 / published_n)], [common.times(1 / published_n)]


def _printed_variance(std: float, n: int, digits: int) -> _Variance:
    """Estimate a variance by a deviation of `n` numbers that is printed with so many decimals.

    It lies within half a digit, equally likely anywhere. So the estimate is the mean of its square,
    and twice the squared mean by the variance of the square are its degrees of freedom.
    """
    half = 0.5 * 10**-digits
    low, high = max(std - half, 0.0), std + half
    centre, width = (low + high) / 2, (high - low) / 2
    square = centre**2 + width**2 / 3
    spread = 4 * centre**2 * width**2 / 3 + 4 * width**4 / 45
    return _Variance(square, 1 / (1 / (n - 1) + spread / (2 * square**2)))


def _sum(terms: Iterable[_Variance]) -> _Variance:
    """Add up variances, with Welch and Satterthwaite's degrees of freedom."""
    terms = list(terms)
    variance = sum(term.variance for term in terms)
    unsure = sum(term.variance**2 / term.freedom for term in terms)
    return _Variance(variance, variance**2 / unsure if unsure else inf)


def _found(variance: float, freedom: float) -> tuple[float, float]:
    """Give half of the interval, and the difference that is found at `POWER`; NaN of NaN."""
    critical = float(special.stdtrit(freedom, 1 - LEVEL / 2))
    # The t statistic of a true difference is noncentral.
    centre = float(special.nctdtrinc(min(freedom, _MANY), 1 - POWER, critical))
    return critical * sqrt(variance), centre * sqrt(variance)


def _found_share(percent: float, n: int, published_n: int) -> float:
    """Give the rise of a percentage of samples that is found at `POWER`.

    The variance of the arc sine of the root of a share does not depend on the share.
    """
    z = float(special.ndtri(1 - LEVEL / 2) + special.ndtri(POWER))
    angle = asin(sqrt(percent / 100)) + z * sqrt(1 / n + 1 / published_n) / 2
    return 100 * sin(min(angle, pi / 2)) ** 2 - percent
