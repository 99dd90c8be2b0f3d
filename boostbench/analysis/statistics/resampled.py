"""Means over splits of one data set that share samples: t-tests, and the variance over folds.

The usual t-test takes splits as independent, and its p-values are far too small for splits that
share training samples. The corrected tests are by C. Nadeau and Y. Bengio, *Inference for the
generalization error*, Machine Learning 52, 2003, equation 9.

The folds of one cross-validation share their training samples and test each sample once. So the
mean over the folds varies less than a mean over independent splits: on a fixed data set, only the
division into folds and the learner's random numbers vary. This variance cannot be estimated from
one cross-validation, but from the means of several (`fold_ratio`).
"""

from collections.abc import Iterable, Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from scipy import stats

from boostbench.analysis.statistics import finite_array


def standard_error(differences: Sequence[float], test_ratio: float) -> float:
    """Estimate the standard deviation of a mean over splits that share samples.

    Parameters
    ----------
    differences : sequence of float
        One for each random split, or each fold; at least 2.
    test_ratio : float
        Number of test samples divided by the number of training samples; 0 for independent splits.

    Examples
    --------
    >>> round(standard_error([1.0, 2.0, 3.0, 4.0], 1 / 3), 4)  # sqrt((1/4 + 1/3) * 5/3)
    0.986
    """
    variance = np.var(finite_array(differences), ddof=1)
    return sqrt((1 / len(differences) + test_ratio) * variance)


def corrected_t(differences: Sequence[float], test_ratio: float) -> float:
    """Test whether the mean of paired differences is 0: the corrected resampled t-test.

    Parameters
    ----------
    differences, test_ratio
        See `standard_error`.

    Returns
    -------
    float
        Two-sided p-value. If all differences are equal, it is 1 for 0 and else 0; NaN for fewer
        than two.

    Examples
    --------
    >>> round(corrected_t([1.0, 2.0, 3.0, 4.0], 1 / 3), 4)
    0.085
    """
    differences = finite_array(differences)
    if len(differences) < 2:
        return float("nan")
    mean, error = float(np.mean(differences)), standard_error(differences, test_ratio)
    if error == 0:
        return 0.0 if mean else 1.0
    return float(2 * stats.t.sf(abs(mean) / error, len(differences) - 1))


def p_below(differences: Sequence[float], bound: float, test_ratio: float = 0.0) -> float:
    """Test whether the mean is below a bound.

    Parameters
    ----------
    differences : sequence of float
        Differences of paired numbers.
    bound : float
    test_ratio : float, default=0.0
        Number of test samples divided by the number of training samples, for the correction of
        Nadeau and Bengio; 0 for independent differences. See `standard_error`.

    Returns
    -------
    float
        p-value of the one-sided paired t-test. For differences that are all equal it is 0 below the
        bound, else 1; for fewer than two, NaN.

    Examples
    --------
    >>> round(p_below([-2.0, -1.0, -3.0], 0.0), 4), p_below([1.0, 1.0], 0.0), p_below([1.0], 0.0)
    (0.0371, 1.0, nan)
    >>> round(p_below([-2.0, -1.0, -3.0], 0.0, test_ratio=1 / 3), 4)
    0.067
    """
    shifted = finite_array(differences) - bound
    if len(shifted) < 2:
        return float("nan")
    if np.ptp(shifted) == 0:
        return 0.0 if shifted[0] < 0 else 1.0
    t = np.mean(shifted) / standard_error(shifted, test_ratio)
    return float(stats.t.cdf(t, len(shifted) - 1))


def p_above(differences: Sequence[float], bound: float, test_ratio: float = 0.0) -> float:
    """Test whether the mean is above a bound; see `p_below` for the parameters."""
    return p_below([-difference for difference in differences], -bound, test_ratio)


class FoldRatio(NamedTuple):
    """Ratio of two variances of a mean: over folds, and over independent splits.

    Attributes
    ----------
    variance_ratio : float
        Variance of the mean of a whole cross-validation, divided by s**2 / K, with s the standard
        deviation over all folds and K their number.
    freedom : float
        Degrees of freedom of the estimate.
    """

    variance_ratio: float
    freedom: float


#: Ratio of independent splits.
INDEPENDENT = FoldRatio(1.0, inf)

#: Repetitions of a cross-validation from which its own ratio is estimated.
MIN_REPETITIONS = 10

#: Ratio for 10 folds with fewer repetitions: the pooled ratio of the 50 results of RpBoost's Tables
#: 12.6 and 12.7, boosters on eight data sets. All columns of a data set share the folds, so the
#: degrees of freedom count the ten repetitions of each data set once: 9 of each of eight.
TEN_FOLDS = FoldRatio(0.33, 72.0)


def fold_ratio(splits: Sequence[int], numbers: Sequence[float], n_folds: int) -> FoldRatio:
    """Choose the ratio for the numbers of a repeated cross-validation.

    Parameters
    ----------
    splits : sequence of int
        Splits that have a number, counted from 0; the folds of a repetition follow each other.
    numbers : sequence of float
        Number of each of these splits.
    n_folds : int
        Folds of a repetition.

    Returns
    -------
    FoldRatio
        The estimate from the repetitions if at least `MIN_REPETITIONS` are complete. Otherwise
        `TEN_FOLDS` for 10 folds, and `INDEPENDENT` for another number, which makes intervals too
        wide rather than too narrow.
    """
    repetitions = complete_repetitions(splits, numbers, n_folds)
    if len(repetitions) >= MIN_REPETITIONS:
        return pooled_ratio([repetitions])
    return TEN_FOLDS if n_folds == 10 else INDEPENDENT


def complete_repetitions(
    splits: Sequence[int], numbers: Sequence[float], n_folds: int
) -> np.ndarray:
    """Return the numbers of the repetitions whose folds all have one; see `fold_ratio`.

    Returns
    -------
    ndarray of shape (n_repetitions, n_folds)
    """
    splits = np.asarray(splits, dtype=int)
    n_repetitions = splits.max(initial=-1) // n_folds + 1
    repetitions = np.full((n_repetitions, n_folds), np.nan)
    repetitions.flat[splits] = finite_array(numbers)
    return repetitions[~np.isnan(repetitions).any(axis=1)]


def pooled_ratio(results: Iterable[np.ndarray]) -> FoldRatio:
    """Estimate the ratio from the repetitions of one or more results.

    Parameters
    ----------
    results : iterable of ndarray of shape (n_repetitions, n_folds)
        Numbers of each result. Results without variance have no ratio and do not count.

    Returns
    -------
    FoldRatio
        Mean of the ratios, weighted by their degrees of freedom, whose sum it has. `INDEPENDENT` if
        no result has two repetitions and a variance.

    Examples
    --------
    >>> pooled_ratio([np.array([[1.0, 3.0], [2.0, 4.0]])])  # 2 * 0.5 / (5 / 3)
    FoldRatio(variance_ratio=0.6, freedom=1)
    """
    total, freedom = 0.0, 0
    for values in results:
        # The variance of the means of whole repetitions, divided by s**2 / n_folds.
        n_repetitions, n_folds = values.shape
        variance = values.var(ddof=1) if n_repetitions > 1 else 0.0
        if variance:
            ratio = n_folds * values.mean(axis=1).var(ddof=1) / variance
            total += (n_repetitions - 1) * float(ratio)
            freedom += n_repetitions - 1
    return FoldRatio(total / freedom, freedom) if freedom else INDEPENDENT
