"""Whether two algorithms differ, and whether a number agrees with a published one.

The tests are SciPy's. What is ours is to put the question as the papers put it: differences of the
printed numbers, the smaller rank sum, and a critical value from the exact null distribution.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Wilcoxon:
    """Result of a two-sided Wilcoxon signed-rank test.

    Attributes
    ----------
    n : int
        Number of pairs, ties included.
    ties : int
        Number of pairs without a difference.
    statistic : float
        The smaller of the two rank sums.
    critical : int or None
        The largest rank sum that tables call significant at 5% for `n` pairs; None where there is
        none.
    p : float
        Two-sided p-value.
    exact : bool
        Whether `p` is exact; otherwise it is the normal approximation.
    """

    n: int
    ties: int
    statistic: float
    critical: int | None
    p: float
    exact: bool

    @property
    def significant(self) -> bool:
        """Whether the two differ at the 5% level, by `p`."""
        return self.p <= 0.05

    @property
    def tabled(self) -> bool:
        """Whether the papers would say so: they compare with the critical value for all `n`."""
        return self.critical is not None and self.statistic <= self.critical

    def sentence(self, a: str, b: str, pairs: str) -> str:
        """Word the result as the papers do.

        Parameters
        ----------
        a, b : str
            What was compared.
        pairs : str
            What the pairs are, in the plural.

        Returns
        -------
        str
            Statistic, critical value, p-value and verdict.

        Examples
        --------
        >>> Wilcoxon(11, 1, 16.0, 10, 0.2637, True).sentence("A", "B", "data sets")
        'Wilcoxon signed-rank, A against B over 11 data sets: smaller rank sum 16, critical value
        10 at 5%, exact p = 0.264: no significant difference.'
        """
        critical = "none" if self.critical is None else self.critical
        p = f"exact p = {self.p:.3g}" if self.exact else f"p = {self.p:.3g} (normal approximation)"
        verdict = f"{'' if self.significant else 'no '}significant difference"
        if self.tabled and not self.significant:
            # With many ties the rank sum is small whatever the differences are.
            verdict += f" ({self.ties} of {self.n} are ties, which the critical value ignores)"
        return (
            f"Wilcoxon signed-rank, {a} against {b} over {self.n} {pairs}: smaller rank sum "
            f"{self.statistic:g}, critical value {critical} at 5%, {p}: {verdict}."
        )


def wilcoxon(a: Sequence[float], b: Sequence[float], digits: int = 1) -> Wilcoxon:
    """Test whether paired numbers differ, as the papers do: on the numbers as they are printed.

    Parameters
    ----------
    a, b : sequence of float of the same length
        Paired numbers, e.g. mean test errors in percent on the same data sets.
    digits : int, default=1
        Printed digits. Differences are rounded to them: what prints as a tie must be one, and two
        equal differences must share their rank.

    Returns
    -------
    Wilcoxon
        Differences of zero take no rank (``zero_method="wilcox"``), but count in `n` and so in the
        critical value, as in the papers.
    """
    printed = [np.round(np.asarray(values, dtype=float), digits) for values in (a, b)]
    difference = np.round(printed[0] - printed[1], digits)
    n = len(difference)
    ranked = difference[difference != 0]
    if len(ranked) == 0:
        return Wilcoxon(n, n, 0.0, critical_value(n), 1.0, True)
    shared = len(np.unique(np.abs(ranked))) < len(ranked)
    if not shared and len(ranked) <= 50:
        method = "exact"
    elif shared and len(ranked) <= 13:
        # Where ranks are shared, trying all 2^n signs is exact.
        method = stats.PermutationMethod(n_resamples=2**13)
    else:
        method = "approx"
    result = stats.wilcoxon(ranked, zero_method="wilcox", method=method)
    statistic, p = float(result.statistic), float(result.pvalue)
    return Wilcoxon(n, n - len(ranked), statistic, critical_value(n), p, method != "approx")


def critical_value(n: int, level: float = 0.05) -> int | None:
    """Largest rank sum that is significant in a two-sided signed-rank test of `n` pairs.

    Parameters
    ----------
    n : int
        Number of pairs.
    level : float, default=0.05
        Significance level.

    Returns
    -------
    int or None
        None when no rank sum is (n < 6 at 5%).

    Examples
    --------
    >>> critical_value(11), critical_value(8), critical_value(6), critical_value(5)
    (10, 3, 0, None)
    """
    # Under the null every rank is in the sum or not, so the sums' distribution is a product.
    probability = np.ones(1)
    for rank in range(1, n + 1):
        probability = np.convolve(probability, [0.5, *[0.0] * (rank - 1), 0.5])
    # The 1e-12 keeps sums of powers of two at the level itself on the right side of it.
    significant = np.flatnonzero(2 * np.cumsum(probability) <= level + 1e-12)
    return int(significant[-1]) if len(significant) else None


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
