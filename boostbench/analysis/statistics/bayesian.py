"""Probabilities that two algorithms are practically equal, or that one of them is better.

A test of significance cannot say "equal". These posteriors can, after A. Benavoli, G. Corani,
J. Demšar and M. Zaffalon, *Time for a change*, JMLR 18, 2017.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from boostbench.analysis.statistics import finite_array
from boostbench.analysis.statistics.resampled import standard_error

#: Weight of the prior observation, which is no difference; and how many posteriors are drawn.
_PRIOR, _DRAWN = 0.5, 50_000


class Posterior(NamedTuple):
    """Probabilities that the first is lower, that both are equal, that the first is higher."""

    lower: float
    equal: float
    higher: float

    def __str__(self) -> str:
        return "/".join(f"{p:.2f}" for p in self)


def signed_rank(differences: Sequence[float], rope: float) -> Posterior:
    """Bayesian signed-rank test of differences over data sets.

    Parameters
    ----------
    differences : sequence of float
        First minus second, one for each data set.
    rope : float
        Half the width of the region of practical equivalence: numbers that differ by no more are
        equal. Greater than 0.

    Returns
    -------
    Posterior
        Of the three regions, how often each holds the most of the means of two differences, over
        draws of the weights of the data sets from their Dirichlet posterior. The draws are the same
        each time.

    Examples
    --------
    >>> signed_rank([-3.0, -2.0, -4.0, -2.5], 1.0).lower > 0.9
    True
    """
    observed = np.concatenate([[0.0], finite_array(differences)])
    concentration = np.ones(len(observed))
    concentration[0] = _PRIOR
    sums = observed[:, None] + observed
    # A sum on a border counts half on each side; decimals have to meet there.
    lower, higher = ((1 + np.sign(np.round(sign * sums - 2 * rope, 9))) / 2 for sign in (-1, 1))
    weights = np.random.default_rng(0).dirichlet(concentration, _DRAWN)
    shares = [((weights @ region) * weights).sum(axis=1) for region in (lower, higher)]
    three = np.stack([shares[0], 1 - shares[0] - shares[1], shares[1]], axis=1)
    most = np.bincount(three.argmax(axis=1), minlength=3) / _DRAWN
    return Posterior(*most.tolist())


def correlated_t(differences: Sequence[float], rope: float, ratio: float) -> Posterior:
    """Bayesian correlated t-test of differences over the splits of one data set.

    Parameters
    ----------
    differences : sequence of float
        First minus second, one for each split; at least 2.
    rope : float
        As of `signed_rank`.
    ratio : float
        Number of test samples divided by the number of training samples.

    Returns
    -------
    Posterior
        By the posterior of the mean: Student's t distribution with the standard error of
        `boostbench.analysis.statistics.resampled.standard_error`.

    Examples
    --------
    >>> print(correlated_t([-0.2, 0.1, 0.0, -0.1, 0.2], 1.0, 1 / 3))
    0.00/1.00/0.00
    """
    mean, error = float(np.mean(finite_array(differences))), standard_error(differences, ratio)
    if error == 0:
        lower, higher = float(mean < -rope), float(mean > rope)
    else:
        posterior = stats.t(len(differences) - 1, mean, error)
        lower, higher = float(posterior.cdf(-rope)), float(posterior.sf(rope))
    # Rounding may make a tiny probability negative.
    return Posterior(lower, max(0.0, 1 - lower - higher), higher)
