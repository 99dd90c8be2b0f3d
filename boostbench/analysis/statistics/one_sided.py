"""Student's one-sided t-tests of the mean of paired differences against a bound."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from boostbench.analysis.statistics import finite_array
from boostbench.analysis.statistics.resampled import standard_error


def p_below(differences: Sequence[float], bound: float, ratio: float = 0.0) -> float:
    """Test whether the mean is below a bound.

    Parameters
    ----------
    differences : sequence of float
        Differences of paired numbers.
    bound : float
    ratio : float, default=0.0
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
    >>> round(p_below([-2.0, -1.0, -3.0], 0.0, ratio=1 / 3), 4)
    0.067
    """
    shifted = finite_array(differences) - bound
    if len(shifted) < 2:
        return float("nan")
    if np.ptp(shifted) == 0:
        return 0.0 if shifted[0] < 0 else 1.0
    t = np.mean(shifted) / standard_error(shifted, ratio)
    return float(stats.t.cdf(t, len(shifted) - 1))


def p_above(differences: Sequence[float], bound: float, ratio: float = 0.0) -> float:
    """Test whether the mean is above a bound; as `p_below`."""
    return p_below([-difference for difference in differences], -bound, ratio)
