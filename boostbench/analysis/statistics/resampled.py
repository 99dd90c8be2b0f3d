"""t-tests of two algorithms on one data set, over splits that share samples.

The usual t-test takes splits as independent, and its p-values are far too small. After C. Nadeau
and Y. Bengio, *Inference for the generalization error*, Machine Learning 52, 2003, equation 9.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy import stats

from boostbench.analysis.statistics import finite_array


def standard_error(differences: Sequence[float], ratio: float) -> float:
    """Estimate the standard deviation of a mean over splits that share samples.

    Parameters
    ----------
    differences : sequence of float
        One for each random split, or each fold; at least 2.
    ratio : float
        Number of test samples divided by the number of training samples; 0 for independent splits.

    Examples
    --------
    >>> round(standard_error([1.0, 2.0, 3.0, 4.0], 1 / 3), 4)  # sqrt((1/4 + 1/3) * 5/3)
    0.986
    """
    variance = np.var(finite_array(differences), ddof=1)
    return sqrt((1 / len(differences) + ratio) * variance)


def corrected_t(differences: Sequence[float], ratio: float) -> float:
    """Test whether the mean of paired differences is 0: the corrected resampled t-test.

    Parameters
    ----------
    differences, ratio
        As of `standard_error`.

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
    mean, error = float(np.mean(differences)), standard_error(differences, ratio)
    if error == 0:
        return 0.0 if mean else 1.0
    return float(2 * stats.t.sf(abs(mean) / error, len(differences) - 1))


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
