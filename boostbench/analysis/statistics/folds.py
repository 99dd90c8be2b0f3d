"""Variance of the mean over repeated cross-validations.

The folds of one cross-validation share their training samples and test each sample once. So the
mean over the folds varies less than a mean over independent splits: on a fixed data set, only the
division into folds and the learner's random numbers vary. This variance cannot be estimated from
one cross-validation, but from the means of several.
"""

from collections.abc import Iterable, Mapping
from math import inf
from typing import NamedTuple

import numpy as np

from boostbench.analysis.statistics import finite_array


class FoldRatio(NamedTuple):
    """Ratio of two variances of a mean: over folds, and over independent splits.

    Attributes
    ----------
    ratio : float
        Variance of the mean of a whole cross-validation, divided by s**2 / K, with s the standard
        deviation over all folds and K their number.
    freedom : float
        Degrees of freedom of the estimate.
    """

    ratio: float
    freedom: float


#: Ratio of independent splits.
INDEPENDENT = FoldRatio(1.0, inf)

#: Repetitions of a cross-validation from which its own ratio is estimated.
MIN_REPETITIONS = 10

#: Ratio for 10 folds with fewer repetitions: the pooled ratio of the 50 results of RpBoost's Tables
#: 12.6 and 12.7, boosters on eight data sets. All columns of a data set share the folds, so the
#: degrees of freedom count the ten repetitions of each data set once: 9 of each of eight.
TEN_FOLDS = FoldRatio(0.33, 72.0)


def fold_ratio(values: Mapping[int, float], n_folds: int) -> FoldRatio:
    """Choose the ratio for the numbers of a repeated cross-validation.

    Parameters
    ----------
    values : mapping of int to float
        Number of each split; the folds of a repetition follow each other.
    n_folds : int
        Folds of a repetition.

    Returns
    -------
    FoldRatio
        The estimate from the repetitions if at least `MIN_REPETITIONS` are complete. Otherwise
        `TEN_FOLDS` for 10 folds, and `INDEPENDENT` for another number, which makes intervals too
        wide rather than too narrow.
    """
    repetitions = complete_repetitions(values, n_folds)
    if len(repetitions) >= MIN_REPETITIONS:
        return pooled_ratio([repetitions])
    return TEN_FOLDS if n_folds == 10 else INDEPENDENT


def complete_repetitions(values: Mapping[int, float], n_folds: int) -> np.ndarray:
    """Return the numbers of the complete repetitions, of shape (n_repetitions, n_folds)."""
    starts = {split // n_folds * n_folds for split in values}
    numbers = [[values.get(start + i) for i in range(n_folds)] for start in sorted(starts)]
    complete = [row for row in numbers if None not in row]
    return finite_array(complete).reshape(len(complete), n_folds)


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
    FoldRatio(ratio=0.6, freedom=1)
    """
    total, freedom = 0.0, 0
    for values in results:
        n_repetitions, n_folds = values.shape
        variance = values.var(ddof=1) if n_repetitions > 1 else 0.0
        if variance:
            ratio = n_folds * values.mean(axis=1).var(ddof=1) / variance
            total += (n_repetitions - 1) * float(ratio)
            freedom += n_repetitions - 1
    return FoldRatio(total / freedom, freedom) if freedom else INDEPENDENT
