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

The published error is the distance of the published number from the nearer end of its scale. For an
error of 5% and an accuracy of 95% this is 5%. For a precision of 0.15 it is 0.15: the distance from
1 would allow any precision from 0 to 0.32.

Published means and deviations are rounded. The unrounded number is equally likely anywhere within
half a digit. Its variance, d**2 / 12 for a last digit d, is a part of the variance of the
difference, as in the *Guide to the expression of uncertainty in measurement* (JCGM 100:2008, 4.3.7
and G.4).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import asin, inf, isnan, nan, pi, sin, sqrt
from typing import NamedTuple

from scipy import special

from boostbench.analysis.statistics import LEVEL, finite_array
from boostbench.analysis.statistics.resampled import INDEPENDENT, FoldRatio
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

#: Short texts of the bases that lack a standard deviation, for the verdict on a single number.
SHORT_BASES = {
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

# Limit of the degrees of freedom in the noncentral t distribution: it then is the normal one to six
# digits, and SciPy's inverse loses digits for larger numbers.
_MAX_FREEDOM = 1e6

# Relative rounding error of a bound, so that a bound that equals its margin lies within it.
_TOLERANCE = 1e-9


def nearer_end(number: float, perfect: float, worst: float) -> float:
    """Return the end of a scale that a number is nearer to; the perfect one in the middle.

    Examples
    --------
    >>> nearer_end(95.0, perfect=100, worst=0), nearer_end(0.15, perfect=1, worst=0)
    (100, 0)
    """
    return min(perfect, worst, key=lambda end: abs(number - end))


class VariancePart(NamedTuple):
    """Variance of one repeat, as one sample estimates it, and its part in both means.

    Attributes
    ----------
    variance : float
        Variance of one repeat; NaN: unknown.
    freedom : float
        Degrees of freedom of the estimate; infinity: exact.
    our_weight, published_weight : float
        Factors of `variance` in the variances of our mean and of the published one: 1 / n if the
        mean is over n such repeats, 0 if the mean does not depend on it.
    """

    variance: float
    freedom: float
    our_weight: float
    published_weight: float


@dataclass(frozen=True)
class Agreement:
    """Comparison of our mean with a published one, in the unit of both.

    The interval, the p-values and the verdict are computed when they are first used, as most
    comparisons need few of them.

    Attributes
    ----------
    mean, published_mean : float
        The two numbers.
    digits : int
        Decimals that the published number is rounded to.
    sign : {1, -1}
        1 if the lower number is the better one, else -1.
    reference : float
        End of the scale from which the published error is measured: 0 for an error, 100 for an
        accuracy of 95%.
    rule : {"tost", "power"}
        Rule of `verdict`: equivalence first, or the difference first.
    basis : str
        Basis of the verdict, one of `BASES`.
    parts : list of VariancePart
        Parts of the variance of the difference; the last one is the rounding of the published
        number. NaN if only rounding is known.
    folds : FoldRatio
        Ratio by which the variances in `parts` were multiplied because folds share samples; its
        degrees of freedom limit the difference's degrees of freedom.
    test_samples : tuple of int, default=None
        Test samples behind our number and behind the published one, if the errors are counts.
    """

    mean: float
    published_mean: float
    digits: int
    sign: int
    reference: float
    rule: str
    basis: str
    parts: list[VariancePart]
    folds: FoldRatio
    test_samples: tuple[int, int] | None = None

    @cached_property
    def difference(self) -> float:
        """Ours minus published."""
        return self.mean - self.published_mean

    @property
    def published_error(self) -> float:
        """Published error: the distance of the published number from the end of the scale."""
        return abs(self.published_mean - self.reference)

    @property
    def printed_unit(self) -> float:
        """Unit of the last printed digit."""
        return 10.0**-self.digits

    @cached_property
    def variance(self) -> tuple[float, float]:
        """Variance of the difference, and its degrees of freedom."""
        return _variance(self.parts, self.folds)

    @cached_property
    def half_width(self) -> float:
        """Half of the width of the difference's 95% interval; NaN if only rounding is known."""
        variance, freedom = self.variance
        return _critical_value(freedom) * sqrt(variance)

    @property
    def low(self) -> float:
        """Lower end of the 95% interval of the difference; NaN if only rounding is known."""
        return self.difference - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the 95% interval of the difference; NaN if only rounding is known."""
        return self.difference + self.half_width

    @property
    def p(self) -> float:
        """Two-sided p-value of the difference; NaN if only rounding is known."""
        variance, freedom = self.variance
        return float(2 * special.stdtr(freedom, -abs(self.difference) / sqrt(variance)))

    @cached_property
    def differs(self) -> bool:
        """True if the interval excludes 0.

        If only rounding is known: True if the numbers, rounded to `digits`, differ.
        """
        if self.basis == "rounding":
            ours, published = rounded([self.mean, self.published_mean], self.digits)
            return bool(ours != published)
        return abs(self.difference) > self.half_width

    @cached_property
    def p_within(self) -> float:
        """P-value of the equivalence within `MARGIN`, by two one-sided tests; NaN without any."""
        return self._equivalence_p(MARGIN)

    @cached_property
    def within(self) -> bool:
        """True if our number is shown to lie within `MARGIN` of the published number."""
        return self._is_equivalent(MARGIN)

    @cached_property
    def equivalent_margins(self) -> tuple[float, ...]:
        """Elements of `MARGINS` within which our number is shown to lie.

        A margin is a share of the published error, but at least one unit of the last printed digit,
        and has two one-sided tests at 5%. If only rounding is known, the difference and half a
        digit have to be within the margin.
        """
        return tuple(margin for margin in MARGINS if self._is_equivalent(margin))

    @cached_property
    def can_be_reproduced(self) -> bool:
        """True if enough repeats of ours could show that the numbers lie within `MARGIN`.

        If False, the paper's repeats are too few to show it, however many ours are.
        """
        if self.basis == "rounding":
            return True
        # The best case: infinitely many repeats of ours, so that our mean has no variance, and a
        # mean that equals the published number.
        parts = [part._replace(our_weight=0.0) for part in self.parts]
        ideal = replace(self, mean=self.published_mean, parts=parts)
        return ideal.within

    @cached_property
    def detectable(self) -> float:
        """Difference that is found with a probability of `POWER`; NaN if only rounding is known."""
        if self.test_samples:
            return _detectable_rise(self.published_error, *self.test_samples)
        variance, freedom = self.variance
        # The t statistic of a true difference is noncentral. The centre, in standard errors, is the
        # difference whose statistic exceeds the critical value with probability POWER.
        centre = special.nctdtrinc(min(freedom, _MAX_FREEDOM), 1 - POWER, _critical_value(freedom))
        return float(centre) * sqrt(variance)

    @property
    def detectable_share(self) -> float:
        """`detectable` as a share of the published error."""
        return self.detectable / self.published_error if self.published_error else inf

    @property
    def is_sharp(self) -> bool:
        """True if a difference of `MARGIN` would have been found: `detectable` is at most that."""
        # Comparisons with NaN are False: if only rounding is known, no difference could be missed.
        return not self.detectable > max(MARGIN * self.published_error, self.printed_unit)

    @cached_property
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

    def _is_equivalent(self, margin: float) -> bool:
        """Return True if our number is shown to lie within a share of the published error."""
        if self.basis != "rounding":
            return self._equivalence_p(margin) <= LEVEL
        # The unrounded published number may lie half a digit farther from ours.
        bound = (1 - _TOLERANCE) * (abs(self.difference) + self.printed_unit / 2)
        return bound <= max(margin * self.published_error, self.printed_unit)

    def _equivalence_p(self, margin: float) -> float:
        """Return the p-value of the equivalence within a margin; NaN if only rounding is known.

        Two widths are tested: `margin` times the published error, and one unit of the last printed
        digit, which is a constant without sampling error. A width has two one-sided tests, and its
        p-value is the larger of theirs. The result is the p-value of the width that is more easily
        shown.
        """
        if self.basis == "rounding":
            return nan
        # 1) Our error less the published error, both measured from `reference`.
        is_above = self.published_mean >= self.reference
        excess = self.difference if is_above else -self.difference
        # 2) Test the upper bound, ours < (1 + margin) * published, and the lower bound,
        #    ours > (1 - margin) * published. The t statistic is the distance of our error inside
        #    the bound, divided by the standard error of ours - published_factor * published.
        p_values = []
        for width, share in ((margin * self.published_error, margin), (self.printed_unit, 0.0)):
            p_of_sides = []
            for bound_distance, published_factor in (
                (width - excess, 1 + share),
                (width + excess, 1 - share),
            ):
                variance, freedom = _variance(self.parts, self.folds, published_factor)
                p_of_sides.append(float(special.stdtr(freedom, -bound_distance / sqrt(variance))))
            p_values.append(max(p_of_sides))
        return min(p_values)


def compare_means(
    mean: float,
    std: float,
    n: int,
    published_mean: float,
    published_std: float,
    published_n: int,
    digits: int = 1,
    sign: int = 1,
    reference: float = 0.0,
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
    reference : float, default=0.0
        End of the scale from which the published error is measured, see `nearer_end`.
    pool_share : float, default=0.0
        Where the paper's repeats are splits of samples that were drawn once, and ours draw anew:
        the variance between such pools, as a share of the published variance within one pool.
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
        Difference, its 95% interval, and the verdict with its basis.

    Raises
    ------
    ValueError
        If a mean is NaN or infinite.
    """
    # 1) Take the variances of a repeat from the deviations. Means of folds, which share training
    #    samples, have larger variances by the ratio; `_variance` adds the ratio's uncertainty.
    mean, published_mean = finite_array([mean, published_mean]).tolist()
    basis, parts = _variance_parts(std, n, published_std, published_n, pool_share, digits)
    parts = [part._replace(variance=folds.variance_ratio * part.variance) for part in parts]
    # 2) Without a deviation, take the errors as binomial counts of test samples: a percentage p has
    #    the variance p (100 - p) / n_tested.
    test_samples = None
    if basis == "rounding" and n_tested:
        pooled = (mean + published_mean) / 2
        basis, test_samples = "counts", (n_tested * n, n_tested * published_n)
        parts = [VariancePart(pooled * (100 - pooled) / n_tested, inf, 1 / n, 1 / published_n)]
    # 3) Add the rounding: the unrounded number is uniform within a unit of the last printed digit,
    #    so its variance is unit**2 / 12.
    parts.append(VariancePart((10.0**-digits) ** 2 / 12, inf, 0.0, 1.0))
    return Agreement(
        mean=mean,
        published_mean=published_mean,
        digits=digits,
        sign=sign,
        reference=reference,
        rule=rule,
        basis=basis,
        parts=parts,
        folds=folds,
        test_samples=test_samples,
    )


def _variance_parts(
    std: float, n: int, published_std: float, published_n: int, pool_share: float, digits: int
) -> tuple[str, list[VariancePart]]:
    """Return the basis, and the parts of the variance of the difference.

    Parameters
    ----------
    std, published_std : float
        Our deviation and the published one; NaN: unknown.
    n, published_n : int
        Numbers of splits behind them.
    pool_share : float
        Variance between pools of samples, as a share of the published one; 0: no pool.
    digits : int
        Decimals of the published deviation.

    Returns
    -------
    basis : str
        Name in `BASES`.
    parts : list of VariancePart
        The variance is NaN if both deviations are unknown.
    """
    is_our_std_known = n > 1 and not isnan(std)
    if published_n > 1 and not isnan(published_std):
        variance, freedom = _printed_variance(published_std, published_n, digits)
        if is_our_std_known:
            published_part = VariancePart(variance, freedom, 0.0, 1 / published_n + pool_share)
            our_part = VariancePart(std**2, n - 1, 1 / n, 0.0)
            return "pool" if pool_share else "welch", [our_part, published_part]
        basis = "published"
    elif is_our_std_known:
        basis, variance, freedom = "ours", std**2, n - 1
    else:
        return "rounding", [VariancePart(nan, inf, 1.0, 1.0)]
    # The known deviation is the estimate for both, with its degrees of freedom.
    return basis, [VariancePart(variance, freedom, 1 / n, 1 / published_n)]


def _printed_variance(std: float, n: int, digits: int) -> tuple[float, float]:
    """Return the variance that a printed deviation of `n` numbers shows, and its freedom.

    The deviation u is uniform on the interval that rounds to `std`, with centre c and half-width w.
    So E u**2 = c**2 + w**2 / 3 is the estimate, and Var u**2 = 4 c**2 w**2 / 3 + 4 w**4 / 45. An
    estimate s**2 with f degrees of freedom has the relative variance 2 / f; the relative variances
    of the sample and of the rounding add up.
    """
    half_digit = 0.5 * 10**-digits
    low, high = max(std - half_digit, 0.0), std + half_digit
    centre, half_width = (low + high) / 2, (high - low) / 2
    mean_square = centre**2 + half_width**2 / 3
    variance_of_square = 4 * centre**2 * half_width**2 / 3 + 4 * half_width**4 / 45
    return mean_square, 1 / (1 / (n - 1) + variance_of_square / (2 * mean_square**2))


def _variance(
    parts: Sequence[VariancePart], folds: FoldRatio, factor: float = 1.0
) -> tuple[float, float]:
    """Return the variance of our mean minus `factor` times the published one.

    Also return its degrees of freedom by Welch and Satterthwaite: a term V with f degrees of
    freedom adds V**2 / f to the uncertainty, and the sum has variance**2 / uncertainty. The ratio
    for folds is a factor of all terms, so its uncertainty adds variance**2 / folds.freedom.
    """
    variance = uncertainty = 0.0
    for part in parts:
        term = part.variance * (part.our_weight + factor**2 * part.published_weight)
        variance += term
        uncertainty += term**2 / part.freedom
    uncertainty += variance**2 / folds.freedom
    return variance, variance**2 / uncertainty if uncertainty else inf


def _critical_value(freedom: float) -> float:
    """Return the critical value of the two-sided t-test at `LEVEL`."""
    return float(special.stdtrit(freedom, 1 - LEVEL / 2))


def _detectable_rise(percent: float, n: int, published_n: int) -> float:
    """Return the rise of an error, in points, that is found with probability `POWER`.

    Parameters
    ----------
    percent : float
        Published error in percent of the test samples.
    n, published_n : int
        Test samples behind our error and behind the published one.

    Notes
    -----
    The arc sine of the root of a share has the variance 1 / (4 n) for every share, so a difference
    of such angles has a constant standard error.
    """
    z = float(special.ndtri(1 - LEVEL / 2) + special.ndtri(POWER))
    angle = asin(sqrt(percent / 100)) + z * sqrt(1 / n + 1 / published_n) / 2
    return 100 * sin(min(angle, pi / 2)) ** 2 - percent
