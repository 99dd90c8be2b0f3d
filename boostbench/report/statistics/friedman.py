"""Whether several algorithms differ over data sets: Friedman's test, and which of them do.

After J. Demšar, *Statistical comparisons of classifiers over multiple data sets*, JMLR 7, 2006.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import stats

_LEVEL = 0.05

#: On fewer data sets the approximate p-values reject too often: by simulation up to 20% of the
#: time, where 5% are meant; from 9 on 4.7% to 5.8% (3 to 10 algorithms).
_FEW = 9
_PERMUTATIONS = 49_999


@dataclass(frozen=True)
class Friedman:
    """Result of Friedman's test and of Nemenyi's behind it.

    Attributes
    ----------
    n : int
        Number of data sets.
    ranks : ndarray of shape (n_algorithms,), float64
        Average ranks; 1 is the lowest number, equal numbers share their ranks.
    chi2, p : float
        Friedman's statistic, corrected for ties, and its p-value, that of the chi-squared
        distribution.
    f, f_p : float
        Iman and Davenport's statistic, which is less conservative, and its p-value, that of the F
        distribution.
    permutation_p : float or None
        Of few data sets: p-value of the ranks permuted within the data sets. It is exact where
        there are no more than 50 000 ways; of more, so many are drawn at random.
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
    permutation_p: float | None
    nemenyi: np.ndarray
    critical_difference: float

    @property
    def significant(self) -> bool:
        """Whether any of them differ at the 5% level, by `permutation_p` or else `f_p`."""
        p = self.f_p if self.permutation_p is None else self.permutation_p
        return p <= _LEVEL

    def sentence(self, pairs: str) -> str:
        """Word the result.

        Parameters
        ----------
        pairs : str
            What the numbers are over, in the plural.

        Returns
        -------
        str
            Both statistics with their degrees of freedom, verdict, and critical difference.
        """
        k = len(self.ranks)
        verdict = "rejects" if self.significant else "fails to reject"
        test = f"Friedman test of {k} algorithms over {self.n} {pairs}: chi-squared({k - 1}) = "
        if self.permutation_p is None:
            test += (
                f"{self.chi2:.2f}, p = {self.p:.3g}; Iman and Davenport's F({k - 1}, "
                f"{(k - 1) * (self.n - 1)}) = {self.f:.2f}, p = {self.f_p:.3g}"
            )
        else:
            test += (
                f"{self.chi2:.2f}; by permutation of the ranks within the {pairs}, as there are "
                f"few, p = {self.permutation_p:.3g}"
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
        Printed digits: what prints as a tie must be one.

    Returns
    -------
    Friedman
        With a p-value of 1 where all numbers of each data set are equal.
    """
    numbers = np.round(np.asarray(numbers, dtype=float), digits)
    n, k = numbers.shape
    ranks = average_ranks(numbers)
    if (numbers == numbers[:, :1]).all():
        chi2, p = 0.0, 1.0
    else:
        chi2, p = map(float, stats.friedmanchisquare(*numbers.T))
    rest = n * (k - 1) - chi2
    # Without a rest, all data sets rank the algorithms alike.
    f = (n - 1) * chi2 / rest if rest > 1e-9 else np.inf
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    # Demšar's standard error of a difference of ranks is sqrt(2) of the studentized range's.
    unit = sqrt(k * (k + 1) / (12 * n))
    apart = np.abs(ranks[:, None] - ranks)
    nemenyi = stats.studentized_range.sf(apart / unit, k, np.inf)
    critical = float(unit * stats.studentized_range.ppf(1 - _LEVEL, k, np.inf))
    permutation_p = _permutation_p(numbers) if n < _FEW else None
    return Friedman(n, ranks, chi2, p, f, f_p, permutation_p, nemenyi, critical)


def _permutation_p(numbers: np.ndarray) -> float:
    """Give the p-value of rank sums that are as far apart as these, by permutation of each row."""
    columns = tuple(stats.rankdata(numbers, axis=1).T)
    test = stats.permutation_test(
        columns,
        _spread,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_PERMUTATIONS,
        batch=1000,
        alternative="greater",
        rng=0,
    )
    return float(test.pvalue)


def _spread(*ranks: np.ndarray, axis: int) -> np.ndarray:
    """Add up squares of rank sums, which grow with Friedman's statistic."""
    return sum(column.sum(axis=axis) ** 2 for column in ranks)


def average_ranks(numbers: np.ndarray) -> np.ndarray:
    """Average the ranks of columns over rows; 1 is the lowest, equal numbers share their ranks.

    Examples
    --------
    >>> average_ranks(np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 4.0]]))
    array([1.75, 2.25, 2.  ])
    """
    return stats.rankdata(numbers, axis=1).mean(axis=0)


def holm(p: Sequence[float]) -> np.ndarray:
    """Correct p-values of several tests by Holm's step-down method.

    Parameters
    ----------
    p : sequence of float
        P-values.

    Returns
    -------
    ndarray of shape (len(p),), float64
        What is at most 5% is significant at 5% among all of them.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)
    # The smallest is one of n, the next one of n - 1; none is smaller than one before it.
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1)
    return corrected
