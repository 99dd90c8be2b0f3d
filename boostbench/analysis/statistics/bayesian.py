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

#: Concentration of the prior's pseudo-observation, a difference of 0, beside 1 for each data set,
#: as in the published code of the authors.
_PRIOR_STRENGTH = 0.5

#: Number of draws from the Dirichlet posterior. The standard error of a probability is at most
#: 0.5 / sqrt(50 000) = 0.0022, which is less than half a unit of the second printed decimal.
_N_DRAWS = 50_000


class Posterior(NamedTuple):
    """Probabilities of the three orders of a first and a second algorithm; their sum is 1.

    Attributes
    ----------
    lower : float
        Probability that the number of the first is lower, by more than the region of equivalence.
    equal : float
        Probability that both are practically equal.
    higher : float
        Probability that the number of the first is higher.
    """

    lower: float
    equal: float
    higher: float

    def __str__(self) -> str:
        return "/".join(f"{p:.2f}" for p in self)


def signed_rank(differences: Sequence[float], rope: float) -> Posterior:
    """Return the posterior of the Bayesian signed-rank test over data sets.

    Parameters
    ----------
    differences : sequence of float of length n_data_sets
        First minus second, one for each data set.
    rope : float
        Half the width of the region of practical equivalence, in the unit of `differences`: numbers
        that differ by no more are equal. Greater than 0.

    Returns
    -------
    Posterior
        Probability of each region: the fraction of draws in which it has the largest share of all
        means of two differences. The generator is seeded, so equal arguments give equal numbers.

    Notes
    -----
    A draw is a vector of weights w of the data sets and the pseudo-observation. The mean
    ``(d_i + d_j) / 2`` of two differences has the weight ``w_i w_j``, and the share of a region is
    the sum of the weights of the means in it.

    Examples
    --------
    >>> signed_rank([-3.0, -2.0, -4.0, -2.5], 1.0).lower > 0.9
    True
    """
    # 1) Find the means of two differences in the lower and in the higher region, as matrices of
    #    shape (n, n): 1 inside of the region, 0 outside, 1/2 on its border, -rope or rope. The
    #    doubled mean, a sum, is inside where -sum - 2 rope or sum - 2 rope is positive. Rounding
    #    makes decimals such as 0.1 + 0.2 meet a border that they equal.
    observed = np.concatenate([[0.0], finite_array(differences)])
    pair_sums = observed[:, None] + observed
    lower_membership, higher_membership = (
        (1 + np.sign(np.round(sign * pair_sums - 2 * rope, 9))) / 2 for sign in (-1, 1)
    )
    # 2) Draw the weights w, and compute the share w' R w of each region in each draw; R is its
    #    matrix. The three shares add up to 1.
    concentration = np.ones(len(observed))
    concentration[0] = _PRIOR_STRENGTH
    weights = np.random.default_rng(0).dirichlet(concentration, _N_DRAWS)
    lower, higher = (
        ((weights @ membership) * weights).sum(axis=1)
        for membership in (lower_membership, higher_membership)
    )
    shares = np.stack([lower, 1 - lower - higher, higher], axis=1)  # (n_draws, 3)
    # 3) Count the draws in which each region has the largest share.
    n_largest = np.bincount(shares.argmax(axis=1), minlength=3)
    return Posterior(*(n_largest / _N_DRAWS).tolist())


def correlated_t(differences: Sequence[float], rope: float, test_ratio: float) -> Posterior:
    """Return the posterior of the Bayesian correlated t-test over the splits of one data set.

    Parameters
    ----------
    differences : sequence of float of length n_splits
        First minus second, one for each split; at least 2.
    rope : float
        Half the width of the region of practical equivalence, see `signed_rank`.
    test_ratio : float
        Number of test samples divided by the number of training samples; 0 for independent splits.

    Returns
    -------
    Posterior
        Probabilities that the mean difference is below ``-rope``, between, and above ``rope``. Its
        posterior is Student's t distribution around the observed mean, with ``n_splits - 1``
        degrees of freedom and the scale of
        `boostbench.analysis.statistics.resampled.standard_error`.

    Examples
    --------
    >>> print(correlated_t([-0.2, 0.1, 0.0, -0.1, 0.2], 1.0, 1 / 3))
    0.00/1.00/0.00
    """
    mean, error = float(np.mean(finite_array(differences))), standard_error(differences, test_ratio)
    if error == 0:
        # Equal differences leave no doubt about their mean.
        lower, higher = float(mean < -rope), float(mean > rope)
    else:
        posterior = stats.t(len(differences) - 1, mean, error)
        lower, higher = float(posterior.cdf(-rope)), float(posterior.sf(rope))
    # Rounding may make a tiny probability negative.
    return Posterior(lower, max(0.0, 1 - lower - higher), higher)
