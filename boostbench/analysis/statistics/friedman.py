"""Friedman's test of several algorithms over data sets, and Nemenyi's test of all pairs.

After J. Demšar, *Statistical comparisons of classifiers over multiple data sets*, JMLR 7, 2006.
"""

from collections.abc import Sequence
from itertools import permutations
from math import factorial, sqrt
from typing import NamedTuple

import numpy as np
from scipy import stats

from boostbench.analysis.statistics import LEVEL, finite_array
from boostbench.util.numbers import rounded

#: On fewer data sets the approximate p-values reject too often: by simulation up to 20% of the
#: time, where 5% are meant; from 9 on 4.7% to 5.8% (3 to 10 algorithms).
_FEW = 9

#: Rank sums that are tried at a time, at most, before orders are drawn at random; and how many.
_MOST, _DRAWN = 1_000_000, 49_999


class Friedman(NamedTuple):
    """Result of Friedman's test and of Nemenyi's behind it.

    Attributes
    ----------
    n : int
        Number of data sets.
    ranks : ndarray of shape (n_algorithms,), float64
        Average ranks; 1 is the lowest number, equal numbers share their ranks.
    chi2, f : float
        Friedman's statistic, corrected for ties, and Iman and Davenport's, which is less
        conservative where its distribution is approximate.
    p, f_p : float
        Their p-values. Both statistics order the orders of ranks alike, so that these are equal
        where they are not approximate.
    by : {"distribution", "enumeration", "drawing"}
        Where the p-values are from: the chi-squared and the F distribution; or, of few data sets,
        all orders of the ranks within the data sets, or random ones where there are too many.
    nemenyi : ndarray of shape (n_algorithms, n_algorithms), float64
        P-values of all pairs by Nemenyi's test, which are corrected for their number.
    critical_difference : float
        Average ranks that are at least this far apart differ at 5% by Nemenyi's test.
    """

    n: int
    ranks: np.ndarray
    chi2: float
    p: float
    f: float
    f_p: float
    by: str
    nemenyi: np.ndarray
    critical_difference: float

    @property
    def significant(self) -> bool:
        """True if the algorithms differ at the 5% level, by `f_p`."""
        return self.f_p <= LEVEL

    def sentence(self, pairs: str) -> str:
        """Word the result.

        Parameters
        ----------
        pairs : str
            Noun in the plural for the rows, such as "data sets".

        Returns
        -------
        str
            Both statistics with their degrees of freedom, verdict, and critical difference.
        """
        k = len(self.ranks)
        verdict = "rejects" if self.significant else "fails to reject"
        test = f"Friedman test of {k} algorithms over {self.n} {pairs}: chi-squared({k - 1}) = "
        f = f"Iman and Davenport's F({k - 1}, {(k - 1) * (self.n - 1)}) = {self.f:.2f}"
        if self.by == "distribution":
            test += f"{self.chi2:.2f}, p = {self.p:.3g}; {f}, p = {self.f_p:.3g}"
        else:
            orders = "all orders" if self.by == "enumeration" else f"{_DRAWN} random orders"
            test += (
                f"{self.chi2:.2f}; {f}; both have p = {self.p:.3g}, from {orders} of the ranks, as "
                f"fewer than {_FEW} {pairs} are too few for an approximation"
            )
        return (
            f"{test}, which {verdict} the null hypothesis that all are equal at the 5% "
            "significance level. Nemenyi: average ranks differ at that level when they are "
            f"{self.critical_difference:.2f} apart."
        )


def friedman(numbers: Sequence[Sequence[float]], digits: int = 1) -> Friedman:
    """Test whether any of several algorithms differ, on the numbers as they are printed.

    Parameters
    ----------
    numbers : array-like of shape (n_data, n_algorithms)
        E.g. mean test errors in percent; at least 2 data sets and 3 algorithms.
    digits : int, default=1
        Printed decimals; numbers that print alike are ties.

    Returns
    -------
    Friedman
        With a p-value of 1 where all numbers of each data set are equal.
    """
    numbers = rounded(finite_array(numbers), digits)
    n, k = numbers.shape
    of_rows = stats.rankdata(numbers, axis=1)
    ranks = of_rows.mean(axis=0)
    if (numbers == numbers[:, :1]).all():
        chi2, p = 0.0, 1.0
    else:
        chi2, p = map(float, stats.friedmanchisquare(*numbers.T))
    rest = n * (k - 1) - chi2
    # If nothing is left, all data sets rank the algorithms alike.
    f = (n - 1) * chi2 / rest if rest > 1e-9 else np.inf
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    by = "distribution"
    if n < _FEW:
        exact = _enumerated_p(of_rows)
        by = "drawing" if exact is None else "enumeration"
        p = f_p = _sampled_p(of_rows) if exact is None else exact
    # The order of the first data set is one of factorial(k), so that no p-value is smaller.
    p, f_p = (max(p_value, float(factorial(k)) ** (1 - n)) for p_value in (p, f_p))
    # Demšar's standard error of a difference of ranks is sqrt(2) of the studentized range's.
    unit = sqrt(k * (k + 1) / (12 * n))
    apart = np.abs(ranks[:, None] - ranks)
    nemenyi = stats.studentized_range.sf(apart / unit, k, np.inf)
    critical = float(unit * stats.studentized_range.ppf(1 - LEVEL, k, np.inf))
    return Friedman(n, ranks, chi2, p, f, f_p, by, nemenyi, critical)


def _enumerated_p(ranks: np.ndarray) -> float | None:
    """Share of all orders within the rows that spread the rank sums at least as far.

    Row by row, the rank sums that there can be and how likely they are. Only which sums there are
    matters, not whose, so that they are kept in ascending order. None where they are too many.
    """
    doubled = np.rint(2 * ranks).astype(np.int64)  # whole numbers, as ties share ranks
    k = doubled.shape[1]
    sums, likely = np.sort(doubled[:1]), np.ones(1)
    for row in doubled[1:]:
        if len(sums) * factorial(k) > _MOST:
            return None
        orders = np.array(list(permutations(row)))
        reached = np.sort((sums[:, None] + orders).reshape(-1, k))
        names = reached @ (reached.max() + 1) ** np.arange(k)
        _, first, which = np.unique(names, return_index=True, return_inverse=True)
        sums, likely = reached[first], np.bincount(which, np.repeat(likely, len(orders)))
        likely /= len(orders)
    return float(likely[_spread(sums) >= _spread(doubled.sum(axis=0))].sum())


def _sampled_p(ranks: np.ndarray) -> float:
    """Estimate the same from random orders; the one that was found counts as one of them."""
    rng = np.random.default_rng(0)
    k = ranks.shape[1]
    observed, sums = _spread(ranks.sum(axis=0)), np.zeros((_DRAWN, k))
    for row in ranks:
        sums += rng.permuted(np.tile(row, (_DRAWN, 1)), axis=1)
    return float((1 + np.sum(_spread(sums) >= observed - 1e-9)) / (1 + _DRAWN))


def _spread(sums: np.ndarray) -> np.ndarray:
    """Add up squares of rank sums, which grow with both statistics."""
    return (sums**2).sum(axis=-1)


def average_ranks(numbers: Sequence[Sequence[float]]) -> np.ndarray:
    """Average the ranks of columns over rows; 1 is the lowest, equal numbers share their ranks.

    Examples
    --------
    >>> average_ranks(np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 4.0]]))
    array([1.75, 2.25, 2.  ])
    """
    return stats.rankdata(finite_array(numbers), axis=1).mean(axis=0)


def holm(p: Sequence[float]) -> np.ndarray:
    """Correct p-values of several tests by Holm's step-down method.

    Parameters
    ----------
    p : sequence of float
        P-values.

    Returns
    -------
    ndarray of shape (len(p),), float64
        Corrected p-values; a test with at most 5% is significant among all tests.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = finite_array(p)
    order = np.argsort(p)
    # The smallest is one of n, the next one of n - 1; none is smaller than one before it.
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1)
    return corrected
