"""Comparison of a number with a published one: its difference, and its equivalence.

The two questions have two tests. Welch's interval of the difference shows whether the numbers
differ. Two one-sided tests (TOST) show whether they are equivalent, that is, whether our error lies
within a margin around the published one (D. J. Schuirmann, *A comparison of the two one-sided tests
procedure and the power approach for assessing the equivalence of average bioavailability*, Journal
of Pharmacokinetics and Biopharmaceutics 15, 1987). The margin is a share of the published error, so
it has a sampling error itself. The tests therefore compare our error with (1 + margin) and
(1 - margin) times the published one, as for a ratio of means (D. Hauschke et al., *Sample size
determination for proving equivalence based on the ratio of two means for normally distributed
data*, Statistics in Medicine 18, 1999).

Published means and deviations are rounded. The unrounded number is equally likely anywhere within
half a digit. Its variance, d**2 / 12 for a last digit d, is a part of the variance of the
difference, as in the *Guide to the expression of uncertainty in measurement* (JCGM 100:2008, 4.3.7
and G.4).
"""

from collections.abc import Iterable, Sequence
from math import asin, inf, isnan, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from scipy import special

from boostbench.analysis.statistics import LEVEL, finite_array
from boostbench.analysis.statistics.folds import INDEPENDENT, FoldRatio
from boostbench.util.numbers import rounded

#: Bases of verdicts, by the names of `Agreement.basis`.
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

#: Probability of finding `Agreement.detectable`.
POWER = 0.8

#: Margin of a verdict, as a share of the published error.
MARGIN = 0.2

#: Margins that are reported beside each other, so that the verdicts' margin is not the only one.
MARGINS = (0.1, MARGIN, 0.3)

_NAN = float("nan")

# Degrees of freedom with which the t distribution is the normal one.
_MANY = 1e6

# Relative rounding error of a bound, so that a bound that equals its margin lies within it.
_TOLERANCE = 1e-9


class Agreement(NamedTuple):
    """Comparison of our mean with a published one, in the unit of both.

    Attributes
    ----------
    difference : float
        Ours minus published.
    low, high : float
        95% interval of the difference; NaN if only rounding is known.
    p : float
        Two-sided p-value of the difference; NaN if only rounding is known.
    differs : bool
        Whether the interval excludes 0; if only rounding is known, whether the numbers print
        differently.
    margins : tuple of float
        Elements of `MARGINS`, shares of the published error, within which our number is shown to
        lie, by two one-sided tests at 5%. A margin is at least one unit of the last printed digit.
        If only rounding is known, the difference and half a digit have to be within the margin.
    p_within : float
        p-value of these tests for `MARGIN`; NaN if only rounding is known.
    detectable : float
        Difference that would have been found with a probability of 80%; NaN if only rounding is
        known.
    share : float
        `detectable` as a share of the published error, that is, of the published number's distance
        from a perfect one.
    basis : str
        Basis of the verdict, one of `BASES`.
    is_sharp : bool
        Whether a difference of `MARGIN` would have been found: `detectable` is at most that.
    can_tell : bool
        Whether enough repeats of ours could show that the numbers lie within `MARGIN`: the paper's
        repeats alone are not too few for that.
    sign : {1, -1}
        1 if the lower number is the better one, else -1.
    rule : {"tost", "power"}
        Rule of `verdict`.
    """

    difference: float
    low: float
    high: float
    p: float
    differs: bool
    margins: tuple[float, ...]
    p_within: float
    detectable: float
    share: float
    basis: str
    is_sharp: bool
    can_tell: bool
    sign: int
    rule: str

    @property
    def half(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2

    @property
    def within(self) -> bool:
        """True if our number is shown to lie within `MARGIN` of the published number."""
        return MARGIN in self.margins

    @property
    def verdict(self) -> str:
        """The verdict: ``"reproduced"``, ``"better"``, ``"worse"`` or ``"undecided"``.

        By the rule ``"tost"`` a number is ``"reproduced"`` if it is `within` the margin, even if it
        differs; otherwise ``"better"`` or ``"worse"`` if it `differs`. By ``"power"``, the rule of
        version 1.0, it is ``"better"`` or ``"worse"`` if it `differs`; otherwise ``"reproduced"``
        if it `is_sharp`.
        """
        is_close = self.within if self.rule == "tost" else self.is_sharp and not self.differs
        if is_close:
            return "reproduced"
        if self.differs:
            return "better" if self.sign * self.difference < 0 else "worse"
        return "undecided"


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
    rule: str = "tost",
    folds: FoldRatio = INDEPENDENT,
) -> Agreement:
    """Compare a mean with a published one.

    Parameters
    ----------
    mean, std, n : float, float, int
        Ours: mean, sample standard deviation and number of repeats. The deviation is unknown if it
        is NaN, or of a single number.
    published_mean, published_std, published_n : float, float, int
        The paper's.
    digits : int, default=1
        Decimals that the published numbers are rounded to.
    sign : {1, -1}, default=1
        1 if the lower number is the better one, else -1.
    perfect : float, default=0.0
        The best possible number: the published error is the distance from it.
    pool_share : float, default=0.0
        Where the paper's repeats are splits of samples that were drawn once, and ours draw anew:
        the variance between such pools, as a share of that within one, which is published.
    n_tested : int, default=None
        Test samples of a repeat, where both numbers are percentages of test samples. None: they are
        not, or the number is unknown.
    rule : {"tost", "power"}, default="tost"
        Rule of the verdict.
    folds : FoldRatio, default=INDEPENDENT
        If the repeats of both are folds: the ratio for the variances of both means.

    Returns
    -------
    Agreement
        Difference, 95% interval, the two facts, and the basis of the verdict.
    """
    difference = float(np.subtract(*finite_array([mean, published_mean])))
    step, error = 10.0**-digits, abs(published_mean - perfect)
    basis, parts = _parts(std, n, published_std, published_n, pool_share, digits)
    parts = [part._replace(variance=folds.ratio * part.variance) for part in parts]
    if basis == "rounding" and n_tested:
        both = (mean + published_mean) / 2
        basis = "counts"
        parts = [_Part(both * (100 - both) / n_tested, inf, 1 / n, 1 / published_n)]
    parts.append(_Part(step**2 / 12, inf, 0.0, 1.0))
    variance, freedom = _variance(parts, folds)
    half, detectable = _detectable_difference(variance, freedom)
    if basis == "counts":
        detectable = _detectable_rise(error, n_tested * n, n_tested * published_n)
    if basis == "rounding":
        differs = bool(rounded(mean, digits) != rounded(published_mean, digits))
        p_within = dict.fromkeys(MARGINS, _NAN)
        bound = (1 - _TOLERANCE) * (abs(difference) + step / 2)
        margins = tuple(margin for margin in MARGINS if bound <= max(margin * error, step))
        can_tell = True
    else:
        differs = abs(difference) > half
        # A higher error is a positive excess, whichever number is the better one.
        excess = difference if published_mean >= perfect else -difference
        p_within = {
            margin: _p_within(excess, error, margin, step, parts, folds) for margin in MARGINS
        }
        margins = tuple(margin for margin, p in p_within.items() if p <= LEVEL)
        least = [part._replace(ours=0.0) for part in parts]
        can_tell = _p_within(0.0, error, MARGIN, step, least, folds) <= LEVEL
    return Agreement(
        difference,
        low=difference - half,
        high=difference + half,
        p=float(2 * special.stdtr(freedom, -abs(difference) / sqrt(variance))),
        differs=differs,
        margins=margins,
        p_within=p_within[MARGIN],
        detectable=detectable,
        share=detectable / error if error else inf,
        basis=basis,
        # Comparisons with NaN are False: if only rounding is known, no difference could be missed.
        is_sharp=not detectable > max(MARGIN * error, step),
        can_tell=can_tell,
        sign=sign,
        rule=rule,
    )


class _Part(NamedTuple):
    """A variance, its degrees of freedom, and its share in the variances of the two means."""

    variance: float
    freedom: float
    ours: float
    published: float


def _parts(
    std: float, n: int, published_std: float, published_n: int, pool_share: float, digits: int
) -> tuple[str, list[_Part]]:
    """Return the basis, and the parts of the variance: NaN where both deviations are unknown."""
    is_ours_known = n > 1 and not isnan(std)
    if published_n > 1 and not isnan(published_std):
        common, freedom = _printed_variance(published_std, published_n, digits)
        if is_ours_known:
            theirs = _Part(common, freedom, 0.0, 1 / published_n + pool_share)
            return "pool" if pool_share else "welch", [_Part(std**2, n - 1, 1 / n, 0.0), theirs]
        basis = "published"
    elif is_ours_known:
        basis, common, freedom = "ours", std**2, n - 1
    else:
        return "rounding", [_Part(_NAN, inf, 1.0, 1.0)]
    # The known deviation is the estimate for both, with its degrees of freedom.
    return basis, [_Part(common, freedom, 1 / n, 1 / published_n)]


def _printed_variance(std: float, n: int, digits: int) -> tuple[float, float]:
    """Estimate the variance of `n` numbers by a printed deviation; and the degrees of freedom.

    The deviation is equally likely anywhere within half a digit. So the estimate is the mean of its
    square, and twice the squared mean by the variance of the square are its degrees of freedom.
    """
    half = 0.5 * 10**-digits
    low, high = max(std - half, 0.0), std + half
    centre, width = (low + high) / 2, (high - low) / 2
    square = centre**2 + width**2 / 3
    spread = 4 * centre**2 * width**2 / 3 + 4 * width**4 / 45
    return square, 1 / (1 / (n - 1) + spread / (2 * square**2))


def _variance(parts: Iterable[_Part], folds: FoldRatio, factor: float = 1.0) -> tuple[float, float]:
    """Return the variance of our mean minus `factor` times the published one.

    Its degrees of freedom are Welch and Satterthwaite's. The ratio for folds is one estimate for
    all parts, so its uncertainty adds to theirs.
    """
    terms = [
        (part.variance * (part.ours + factor**2 * part.published), part.freedom) for part in parts
    ]
    variance = sum(term for term, _ in terms)
    uncertainty = sum(term**2 / freedom for term, freedom in terms) + variance**2 / folds.freedom
    return variance, variance**2 / uncertainty if uncertainty else inf


def _p_within(
    excess: float,
    error: float,
    margin: float,
    step: float,
    parts: Sequence[_Part],
    folds: FoldRatio,
) -> float:
    """Test whether our error lies within a margin around the published one.

    Parameters
    ----------
    excess : float
        Our error minus the published one.
    error : float
        The published error.
    margin : float
        Share of it.
    step : float
        Unit of the last printed digit: the least margin, a constant without sampling error.
    parts : sequence of _Part
        Parts of the variance.
    folds : FoldRatio
        Ratio that they include.

    Returns
    -------
    float
        The larger p-value of the two one-sided tests; by the margin or by `step`, whichever of them
        is more easily shown.
    """
    p_values = []
    for width, share in ((margin * error, margin), (step, 0.0)):
        sides = []
        for distance, factor in ((width - excess, 1 + share), (width + excess, 1 - share)):
            variance, freedom = _variance(parts, folds, factor)
            sides.append(float(special.stdtr(freedom, -distance / sqrt(variance))))
        p_values.append(max(sides))
    return min(p_values)


def _detectable_difference(variance: float, freedom: float) -> tuple[float, float]:
    """Return half of the 95% interval, and the difference found at `POWER`; NaN for NaN."""
    critical = float(special.stdtrit(freedom, 1 - LEVEL / 2))
    # The t statistic of a true difference is noncentral.
    centre = float(special.nctdtrinc(min(freedom, _MANY), 1 - POWER, critical))
    return critical * sqrt(variance), centre * sqrt(variance)


def _detectable_rise(percent: float, n: int, published_n: int) -> float:
    """Return the rise of a percentage of samples that is found at `POWER`.

    The variance of the arc sine of the root of a share does not depend on the share.
    """
    z = float(special.ndtri(1 - LEVEL / 2) + special.ndtri(POWER))
    angle = asin(sqrt(percent / 100)) + z * sqrt(1 / n + 1 / published_n) / 2
    return 100 * sin(min(angle, pi / 2)) ** 2 - percent
