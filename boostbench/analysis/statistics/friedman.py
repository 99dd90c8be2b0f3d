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

#: Number of data sets from which the approximate p-values are used. By simulation with 3 to 10
#: algorithms, they reject in 4.7% to 5.8% of the cases from 9 data sets on, where 5% are meant, and
#: in up to 20% with fewer data sets.
_MIN_APPROXIMATE = 9
#: Largest number of rank sums that are enumerated at a time, 8 MB for each algorithm; with more,
#: orders are drawn at random.
_MAX_ENUMERATED = 1_000_000
#: Number of drawn orders. With the observed order, p-values are multiples of 1 / 50 000.
_N_DRAWN = 49_999


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
        P-values of both statistics. F grows with chi-squared, so that exact p-values are equal.
    by : {"distribution", "enumeration", "drawing"}
        Source of the p-values: the chi-squared and the F distribution; or, for few data sets, all
        orders of the ranks within the data sets, or random orders if there are too many.
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
        """Return the result in words.

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
            orders = "all orders" if self.by == "enumeration" else f"{_N_DRAWN} random orders"
            test += (
                f"{self.chi2:.2f}; {f}; both have p = {self.p:.3g}, from {orders} of the ranks, as "
                f"fewer than {_MIN_APPROXIMATE} {pairs} are too few for an approximation"
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
        Numbers such as mean test errors in percent; at least 2 data sets and 3 algorithms.
    digits : int, default=1
        Printed decimals; numbers that print alike are ties.

    Returns
    -------
    Friedman
        The p-values are 1 if all numbers of each data set are equal.
    """
    # 1) Compute Friedman's statistic, and from it Iman and Davenport's.
    numbers = rounded(finite_array(numbers), digits)
    n, k = numbers.shape
    ranks = stats.rankdata(numbers, axis=1)  # (n_data, n_algorithms)
    average = ranks.mean(axis=0)
    if (numbers == numbers[:, :1]).all():
        chi2, p = 0.0, 1.0
    else:
        chi2, p = map(float, stats.friedmanchisquare(*numbers.T))
    # F = (n - 1) chi2 / (n (k - 1) - chi2). The denominator is 0 if all data sets rank alike.
    denominator = n * (k - 1) - chi2
    f = (n - 1) * chi2 / denominator if denominator > 1e-9 else np.inf
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    by = "distribution"
    # 2) Replace the approximate p-values for few data sets.
    if n < _MIN_APPROXIMATE:
        exact_p = _enumerated_p(ranks)
        by = "drawing" if exact_p is None else "enumeration"
        p = f_p = _sampled_p(ranks) if exact_p is None else exact_p
    # The most extreme result, equal ranks in all n data sets, has a probability of k! (1 / k!)**n:
    # any of k! orders in the first data set, the same one in the others. No p-value is smaller.
    p, f_p = (max(p_value, float(factorial(k)) ** (1 - n)) for p_value in (p, f_p))
    # 3) Test all pairs. Demšar's standard error of a difference is sqrt(k (k + 1) / (6 n)); the
    # studentized range is in units of the standard error of one rank, which is less by sqrt(2).
    standard_error = sqrt(k * (k + 1) / (12 * n))
    distances = np.abs(average[:, None] - average)
    return Friedman(
        n=n,
        ranks=average,
        chi2=chi2,
        p=p,
        f=f,
        f_p=f_p,
        by=by,
        nemenyi=stats.studentized_range.sf(distances / standard_error, k, np.inf),
        critical_difference=float(
            standard_error * stats.studentized_range.ppf(1 - LEVEL, k, np.inf)
        ),
    )


def _enumerated_p(ranks: np.ndarray) -> float | None:
    """Return the share of all orders within the rows that spread the rank sums at least as far.

    Parameters
    ----------
    ranks : ndarray of shape (n_data, n_algorithms)
        Ranks within each row.

    Returns
    -------
    float or None
        Exact p-value; None if there are too many orders.

    Notes
    -----
    Row by row, all possible vectors of rank sums are listed with their probabilities. The p-value
    depends on the values of the sums and not on their algorithms, so that equal vectors are joined
    after sorting.
    """
    doubled = np.rint(2 * ranks).astype(np.int64)  # whole numbers, as ties share ranks
    k = doubled.shape[1]
    sums, probabilities = np.sort(doubled[:1]), np.ones(1)
    for row in doubled[1:]:
        if len(sums) * factorial(k) > _MAX_ENUMERATED:
            return None
        # 1) Add each order of the row to each vector.
        orders = np.array(list(permutations(row)))
        vectors = np.sort((sums[:, None] + orders).reshape(-1, k))
        # 2) Join equal vectors. Each vector is encoded as an integer in base max + 1, whose digits
        #    are its sums.
        codes = vectors @ (vectors.max() + 1) ** np.arange(k)
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        sums = vectors[first]
        probabilities = np.bincount(inverse, np.repeat(probabilities, len(orders)))
        probabilities /= len(orders)
    is_as_far = _spread(sums) >= _spread(doubled.sum(axis=0))
    return float(probabilities[is_as_far].sum())


def _sampled_p(ranks: np.ndarray) -> float:
    """Estimate the p-value of `_enumerated_p` by random orders, and the observed order."""
    rng = np.random.default_rng(0)
    k = ranks.shape[1]
    observed = _spread(ranks.sum(axis=0))
    sums = np.zeros((_N_DRAWN, k))
    for row in ranks:
        sums += rng.permuted(np.tile(row, (_N_DRAWN, 1)), axis=1)
    # The tolerance is for the rounding of sums in another order.
    return float((1 + np.sum(_spread(sums) >= observed - 1e-9)) / (1 + _N_DRAWN))


def _spread(sums: np.ndarray) -> np.ndarray:
    """Return the sum of the squared rank sums; both statistics grow with it."""
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
    # The smallest p-value is multiplied by n, the next by n - 1; none is less than one before it.
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1)
    return corrected
