import numpy as np
import pytest

from boostbench.analysis.statistics.bayesian import correlated_t, signed_rank

DIFFERENCES = [-0.3, -1.2, 0.4, -2.0, -0.8, -0.1, -1.5, 0.2, -0.9]
SPLITS = [-0.5, -1.5, 0.5, -1.0, -2.0, -0.4, -1.1, -0.6, 0.3, -1.2]


@pytest.mark.parametrize(
    ("rope", "expected"), [(0.5, (0.70074, 0.29926, 0.0)), (1.0, (0.088405, 0.911595, 0.0))]
)
def test_signed_rank_agrees_with_baycomp(rope, expected):
    """SignedRankTest.probs of baycomp 1.0.3 with 400 000 draws.

    The wheel of baycomp contains a package `tests`, which would hide the project's tests.
    """
    assert signed_rank(DIFFERENCES, rope) == pytest.approx(expected, abs=0.006)


def test_correlated_t_agrees_with_baycomp():
    """CorrelatedTTest.probs of baycomp 1.0.3 for two runs of five folds."""
    expected = (0.29906842113113025, 0.69889951865114, 0.0020320602177297253)
    assert correlated_t(SPLITS, 1.0, 1 / 4) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_signed_rank_agrees_with_simulation(seed):
    """Gamma variables for the weights, and a loop over all pairs of observations."""
    rng = np.random.default_rng(seed)
    differences, rope = np.round(rng.normal(0.4, 1.2, 6), 1), 0.5
    observed, won = [0.0, *differences], np.zeros(3)
    regions = np.zeros((3, len(observed), len(observed)))
    for i, first in enumerate(observed):
        for j, second in enumerate(observed):
            mean = round((first + second) / 2, 6)
            sides = [0 if mean < -rope else 2 if mean > rope else 1]
            if abs(mean) == rope:
                sides.append(0 if mean < 0 else 2)
            regions[sides, i, j] = 1 / len(sides)
    n_draws = 3000
    for _ in range(n_draws):
        weights = rng.gamma([0.5] + [1.0] * len(differences))
        won[(regions @ weights @ weights).argmax()] += 1
    # Three standard deviations of such a share are at most 0.027.
    assert signed_rank(differences, rope) == pytest.approx(won / n_draws, abs=0.035)


def test_exchanged_algorithms_exchange_probabilities():
    lower, equal, higher = signed_rank(DIFFERENCES, 0.5)
    turned = signed_rank([-d for d in DIFFERENCES], 0.5)
    assert turned == pytest.approx((higher, equal, lower), abs=1e-12)
    assert sum(turned) == pytest.approx(1)


def test_equal_differences_are_equivalent():
    assert signed_rank([0.0] * 5, 0.1) == (0, 1, 0)
    assert correlated_t([0.0] * 5, 0.1, 0.25) == (0, 1, 0)
    assert correlated_t([-3.0] * 5, 0.1, 0.25) == (1, 0, 0)


def test_tiny_probabilities_are_not_negative():
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert min(correlated_t(rng.normal(40, 1, 10).tolist(), 0.0, 1 / 3)) >= 0
