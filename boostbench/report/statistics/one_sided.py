"""Whether the mean of paired differences lies on one side of a bound: Student's t-test."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from boostbench.report.statistics import finite_array


def p_below(differences: Sequence[float], bound: float) -> float:
    """Test whether the mean is below a bound.

    Parameters
    ----------
    differences : sequence of float
        Of numbers in pairs.
    bound : float

    Returns
    -------
    float
        p-value of the one-sided paired t-test. Of differences that are all equal it is 0 below the
        bound, else 1; of fewer than two, NaN.

    Examples
    --------
    >>> round(p_below([-2.0, -1.0, -3.0], 0.0), 4), p_below([1.0, 1.0], 0.0), p_below([1.0], 0.0)
    (0.0371, 1.0, nan)
    """
    shifted = finite_array(differences) - bound
    if len(shifted) < 2:
        return float("nan")
    if np.ptp(shifted) == 0:
        return 0.0 if shifted[0] < 0 else 1.0
    return float(stats.ttest_1samp(shifted, 0.0, alternative="less").pvalue)


def p_above(differences: Sequence[float], bound: float) -> float:
    """Test whether the mean is above a bound; as `p_below`."""
    return p_below([-difference for difference in differences], -bound)
