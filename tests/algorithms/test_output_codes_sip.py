import itertools

import numpy as np
import pytest

from boostbench.algorithms import AdaBoostECC, AdaBoostSIP

from . import reference
from .problems import blobs, noise
from .test_output_codes_ecc import VOTES, check_round, codes


def loss_slope(h, mu, weights, y):
    """Return the slope of the loss along a stump and a code, summed term by term."""
    return sum(w * (mu[y[i]] - mu[r]) * h[i] for (i, r), w in weights.items())


@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_rounds_equal_brute_force_over_stumps_and_codes(votes, problem, n_classes):
    X, y = problem(n_classes, n_samples=16, n_features=2, seed=n_classes)
    model = AdaBoostSIP(n_iterations=6, votes=votes).fit(X, y)
    candidates = reference.stump_outputs(X)
    pairs = reference.wrong_pairs(y, n_classes)
    weights = {pair: 1.0 / len(pairs) for pair in pairs}
    for t, h in enumerate(reference.stage_outputs(model, X)):
        mu = codes(model)[t]
        steepest = max(
            loss_slope(c, code, weights, y)
            for c in candidates
            for code in itertools.product([-1, 1], repeat=n_classes)
        )
        assert loss_slope(h, mu, weights, y) == pytest.approx(steepest, abs=reference.PRECISION)
        weights = check_round(model, t, h, mu, weights, y)
    assert model.n_iterations_ == 6


@pytest.mark.parametrize("n_classes", [4, 6])
def test_optimal_codes_decrease_the_loss_faster_than_random_ones(n_classes):
    X, y = blobs(n_classes, n_samples=200, n_features=4, seed=0)

    def loss(model):
        scores = model.fit(X, y).decision_function(X)
        return reference.exponential_loss(reference.pair_margins(scores, y) / 2)

    random = [loss(AdaBoostECC(n_iterations=20, random_state=seed)) for seed in range(5)]
    assert loss(AdaBoostSIP(n_iterations=20)) < min(random)


def test_groups_along_a_line_are_separated():
    X = np.repeat(np.arange(3.0), 10)[:, None]
    model = AdaBoostSIP(n_iterations=300).fit(X, X[:, 0].astype(int))
    assert set(model.hypotheses_.threshold) == {0.5, 1.5}
    assert model.score(X, X[:, 0].astype(int)) == 1.0
