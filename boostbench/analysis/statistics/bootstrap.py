"""Intervals of shares whose observations come in groups, by a bootstrap over the groups."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from boostbench.analysis.statistics import LEVEL, finite_array

# Samples of a bootstrap; the ends of the interval are then stable to a few tenths of a percent.
_N_SAMPLES = 10_000


def share_interval(successes: Sequence[int], sizes: Sequence[int]) -> tuple[float, float]:
    """Estimate the 95% interval of a share over groups of dependent observations.

    Parameters
    ----------
    successes, sizes : sequence of int of the same length
        Successes and observations of each group.

    Returns
    -------
    tuple of float
        Percentiles of the share of all successes over samples of whole groups, drawn with
        replacement (B. Efron and R. Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter
        13). The samples have a fixed seed. NaN for fewer than two groups.

    Examples
    --------
    >>> low, high = share_interval([8, 2, 5, 9], [10, 10, 10, 10])
    >>> print(f"{low:.2f} {high:.2f}")
    0.35 0.85
    """
    if len(sizes) < 2:
        return float("nan"), float("nan")
    result = stats.bootstrap(
        (finite_array(successes), finite_array(sizes)),
        lambda hits, totals, axis: hits.sum(axis) / totals.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=_N_SAMPLES,
        confidence_level=1 - LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    low, high = result.confidence_interval
    return float(low), float(high)
