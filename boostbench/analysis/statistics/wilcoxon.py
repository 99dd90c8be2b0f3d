"""Wilcoxon signed-rank test of two algorithms, in the words of the papers.

That is, differences of the printed numbers, the smaller rank sum, and a critical value from the
null distribution for all pairs, ties included.
"""

from collections.abc import Sequence
from functools import cache
from math import floor, sqrt
from typing import NamedTuple

import numpy as np
from scipy import stats

from boostbench.analysis.statistics import LEVEL, finite_array

#: Number of pairs up to which the exact distribution is computed, which takes time in proportion to
#: the cube of the number; beyond, the normal distribution takes its place.
MAX_EXACT = 500


class Wilcoxon(NamedTuple):
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
    exact : bool, default=True
        True if `p` follows from all signs that the differences could have. False for more than 500
        pairs: `p` follows from the normal distribution, corrected for ties and continuity.
    effect : float, default=0.0
        Effect size, the matched-pairs rank-biserial correlation: the difference of the rank sums of
        pairs in which the first and in which the second is higher, divided by their sum; from -1,
        the first is always lower, to 1. 0 if all pairs are ties.
    """

    n: int
    ties: int
    statistic: float
    critical: int | None
    p: float
    exact: bool = True
    effect: float = 0.0

    @property
    def significant(self) -> bool:
        """True if the two differ at the 5% level, by `p`."""
        return self.p <= LEVEL

    @property
    def tabled(self) -> bool:
        """True if the papers' procedure rejects, which uses the critical value for every `n`."""
        return self.critical is not None and self.statistic <= self.critical

    def sentence(self, pair: str, unit: str) -> str:
        """Return the result of the papers' procedure: statistic, critical value, verdict, p-value.

        Parameters
        ----------
        pair : str
            Names of the two, such as "A against B".
        unit : str
            Noun in the plural for the paired numbers, such as "data sets".

        Examples
        --------
        >>> Wilcoxon(11, 1, 9.0, 10, 0.037).sentence("A against B", "data sets")
        'Wilcoxon signed-rank test (WSRT) of A against B over 11 data sets: the statistic (9) is at
        most the critical value (10), so that the test rejects the null hypothesis at the 5%
        significance level (exact p = 0.037).'
        """
        test = f"Wilcoxon signed-rank test (WSRT) of {pair} over {self.n} {unit}:"
        return f"{test} {self._statement()}"

    def _statement(self) -> str:
        """Compare the statistic with the critical value, as the papers do, and give the p-value."""
        p = f"{'exact' if self.exact else 'approximate'} p = {self.p:.3g}"
        if self.critical is None:
            return (
                "so few pairs cannot show a difference at the 5% significance level "
                f"(statistic {self.statistic:g}, {p})."
            )
        side = "at most" if self.tabled else "above"
        text = f"the statistic ({self.statistic:g}) is {side} the critical value ({self.critical})"
        if self.tabled == self.significant:
            return f"{text}, so that the test {_rejects(self.tabled)} ({p})."
        # Many ties make the rank sum small for any differences.
        return (
            f"{p}, which {_rejects(self.significant)}; {text}, but {self.ties} of {self.n} pairs "
            "are ties, which the critical value ignores."
        )


def _rejects(significant: bool) -> str:
    """Return the verdict on the null hypothesis as the end of a sentence."""
    verb = "rejects" if significant else "does not reject"
    return f"{verb} the null hypothesis at the 5% significance level"


def wilcoxon(differences: Sequence[float]) -> Wilcoxon:
    """Test whether paired numbers differ, as the papers do: on the numbers as they are printed.

    Parameters
    ----------
    differences : array-like of shape (n_pairs,)
        Differences of paired numbers as they are printed, see
        `boostbench.util.numbers.differences`.

    Returns
    -------
    Wilcoxon
        Differences of zero take no rank (``zero_method="wilcox"`` in SciPy's words), but count in
        `n` and so in the critical value, as in the papers.

    Examples
    --------
    >>> wilcoxon([-1.0, -2.0, -3.0, 4.0]).effect  # ranks 1 + 2 + 3 against 4
    -0.2
    """
    differences = finite_array(differences)
    n = len(differences)
    ranked = differences[differences != 0]
    ranks = stats.rankdata(np.abs(ranked))
    higher, lower = (float(ranks[side].sum()) for side in (ranked > 0, ranked < 0))
    effect = (higher - lower) / (higher + lower) if len(ranked) else 0.0
    p, exact = _p_value(np.sign(ranked) * ranks)
    ties, critical = n - len(ranked), critical_value(n)
    return Wilcoxon(n, ties, min(higher, lower), critical, p, exact, effect)


def _p_value(ranks: np.ndarray) -> tuple[float, bool]:
    """Return the two-sided p-value of signed ranks without zeros, and whether it is exact."""
    if len(ranks) > MAX_EXACT:
        test = stats.wilcoxon(ranks, method="asymptotic", correction=True)
        return float(test.pvalue), False
    # SciPy's exact method takes shared ranks, which may be halves, for different ones. Doubled
    # ranks are whole numbers, so that their sums are indices into the distribution.
    doubled = np.rint(2 * ranks).astype(int)
    smaller = min(doubled[doubled > 0].sum(), -doubled[doubled < 0].sum())
    lower = _lower_half(np.sort(np.abs(doubled)).tolist())
    return min(1.0, float(2 * lower[: smaller + 1].sum())), True


@cache
def critical_value(n: int) -> int | None:
    """Return the largest significant rank sum of a two-sided signed-rank test at 5%.

    It follows from the exact distribution; for more than 500 pairs from the normal distribution
    with a correction for continuity.

    Parameters
    ----------
    n : int
        Number of pairs.

    Returns
    -------
    int or None
        None if no rank sum is significant (n < 6).

    Examples
    --------
    >>> critical_value(11), critical_value(8), critical_value(6), critical_value(5)
    (10, 3, 0, None)
    """
    if n > MAX_EXACT:
        mean, deviation = n * (n + 1) / 4, sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return floor(mean - 0.5 - stats.norm.isf(LEVEL / 2) * deviation)
    p = 2 * np.cumsum(_lower_half(range(1, n + 1)))
    return int(np.searchsorted(p, LEVEL, side="right")) - 1 if p[0] <= LEVEL else None


def _lower_half(ranks: Sequence[int]) -> np.ndarray:
    """Return the lower half of the null distribution of the rank sum of one side.

    Under the null hypothesis, each rank is on this side with a probability of one half.

    Parameters
    ----------
    ranks : sequence of int
        Ranks, or doubled ranks; positive.

    Returns
    -------
    ndarray of shape (sum(ranks) // 2 + 1,), float64
        Probabilities of the sums 0, 1, ...
    """
    probabilities = np.zeros(sum(ranks) // 2 + 1)
    probabilities[0] = 1.0
    largest_sum = 0
    for rank in ranks:
        largest_sum += rank
        # A sum is reached without the rank, or with it from the sum less the rank; each way has
        # probability 1/2. Sums that exceed the half of all ranks are cut off; sums above
        # `largest_sum` have probability 0. `reached` is a view, so that `probabilities` changes.
        reached = probabilities[: largest_sum + 1]
        reached[rank:] += reached[:-rank].copy()
        reached /= 2
    return probabilities
