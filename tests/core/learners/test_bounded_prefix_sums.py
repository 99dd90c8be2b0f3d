import numpy as np
import pytest

from boostbench.core.learners.bounded_prefix_sums import BoundedPrefixSumSearch
from boostbench.core.stumps.layouts.joint_histogram import PrefixSumTables
from boostbench.core.weak_learner import argmax_with_tolerance

N_FEATURES, N_POINTS, N_THRESHOLDS = 500, 2400, 7


X = np.random.default_rng(0).normal(size=(N_POINTS, 5))
SIGNS = np.where(X[:, 0] + X[:, 1] ** 2 > 1, 1.0, -1.0)


@pytest.fixture
def binned_points():
    """Return the bins of points on random directions, with equally many points in all bins."""
    directions = np.random.default_rng(1).normal(size=(N_FEATURES, X.shape[1]))
    ranks = (directions @ X.T).argsort(axis=1).argsort(axis=1)
    return (ranks * (N_THRESHOLDS + 1) // N_POINTS).astype(np.uint8), N_THRESHOLDS


def adaboost_weights(binned_points, n_rounds):
    """Yield the weights of AdaBoost, with the same sum in both classes."""
    codes, _ = binned_points
    points = PrefixSumTables(*binned_points)
    scores = np.zeros(N_POINTS)
    for _ in range(n_rounds):
        weights = np.exp(-SIGNS * scores)
        for sign in (-1, 1):
            weights[sign == SIGNS] *= sign / weights[sign == SIGNS].sum()
        yield weights
        sums = points.below(weights.astype(np.float32))
        threshold, feature = np.unravel_index(np.abs(sums).argmax(), sums.shape)
        below = sums[threshold, feature]
        outputs = np.where(codes[feature] <= threshold, np.sign(below), -np.sign(below))
        scores += np.arctanh(min(abs(float(below)), 0.9)) * outputs


def expected_result(binned_points, weights):
    """Return the first of the largest sums, computed exhaustively in double precision."""
    codes, n_thresholds = binned_points
    sums = np.array([(codes <= threshold) @ weights for threshold in range(n_thresholds)]).T
    position = argmax_with_tolerance(np.abs(sums).ravel(), np.abs(weights).sum())
    feature, threshold = divmod(int(position), n_thresholds)
    return (
        threshold,
        feature,
        pytest.approx(sums[feature, threshold], abs=1e-12 * np.abs(weights).sum()),
    )


@pytest.fixture
def candidate_counts(monkeypatch):
    """Number of features that are summed over all points, for each call of `_candidates`."""
    counts = []
    candidates = BoundedPrefixSumSearch._candidates

    def count(self, *args):
        features = candidates(self, *args)
        counts.append(len(features))
        return features

    monkeypatch.setattr(BoundedPrefixSumSearch, "_candidates", count)
    return counts


def test_results_equal_exhaustive_search_in_every_round(binned_points, candidate_counts):
    search = BoundedPrefixSumSearch(*binned_points)
    for weights in adaboost_weights(binned_points, 200):
        assert search(weights) == expected_result(binned_points, weights)
    # The test is meaningful only if most rounds have few candidates.
    assert len(candidate_counts) > 100
    assert np.median(candidate_counts) < N_FEATURES / 20


def test_all_features_are_candidates_after_abrupt_changes_of_weights(
    binned_points, candidate_counts
):
    """After large changes, the bounds exclude no feature."""
    search = BoundedPrefixSumSearch(*binned_points)
    *_, late_weights = adaboost_weights(binned_points, 200)
    rng = np.random.default_rng(2)
    for _ in range(20):
        for weights in (
            late_weights,
            rng.permutation(late_weights),
            -late_weights,
            rng.permutation(late_weights),
        ):
            assert search(weights) == expected_result(binned_points, weights)
    assert max(candidate_counts) == N_FEATURES


@pytest.mark.parametrize("seed", range(20))
def test_results_equal_exhaustive_search_for_random_weights(seed):
    """Features, sums and points have ties; some weights are 0; some bins have few points."""
    rng = np.random.default_rng(seed)
    n_features, n_points = int(rng.integers(1, 60)), int(rng.integers(1500, 2000))
    n_thresholds = int(rng.integers(1, 12))
    codes = rng.integers(0, n_thresholds + 1, (n_features, n_points)).astype(np.uint8)
    codes = codes[rng.integers(0, n_features, n_features)]
    search = BoundedPrefixSumSearch(codes, n_thresholds)
    weights = rng.normal(size=n_points) * rng.pareto(0.3, n_points)
    for _ in range(60):
        weights *= np.exp(rng.normal(size=n_points) * rng.choice([0, 0.01, 0.3]))
        weights[rng.random(n_points) < 0.02] = 0
        shares = weights / np.abs(weights).sum()
        assert search(shares) == expected_result((codes, n_thresholds), shares)


@pytest.mark.parametrize("share", [1e-3, 1e-5])
def test_bounds_hold_when_heavy_points_lose_their_weight(share):
    """Rounding errors of the former heavy weights remain in the sums over light points."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, (400, 2400)).astype(np.uint8)
    search = BoundedPrefixSumSearch(codes, 7)
    is_heavy = np.arange(2400) < 200
    weights = rng.normal(size=2400) * np.where(is_heavy, 1.0, share / 10)
    for _ in range(12):
        search(weights)
    assert search._bounds
    for _ in range(20):
        weights[~is_heavy] *= np.exp(1e-6 * rng.normal(size=2200))
        fallen = weights * np.where(is_heavy, share, 1.0)
        assert search(fallen) == expected_result((codes, 7), fallen)


def test_weights_of_zero(binned_points):
    search = BoundedPrefixSumSearch(*binned_points)
    *_, late_weights = adaboost_weights(binned_points, 200)
    zeros = np.zeros(N_POINTS)
    for weights in (zeros, late_weights, zeros, zeros):
        assert search(weights) == expected_result(binned_points, weights)


@pytest.mark.parametrize("n_points", [150, 600])
def test_too_few_points_for_tables_of_feature_pairs(n_points, candidate_counts):
    """All points, or only the heavy points, are too few."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 32, (N_FEATURES, n_points)).astype(np.uint8)
    search = BoundedPrefixSumSearch(codes, 31)
    weights = rng.normal(size=n_points) * rng.pareto(0.4, n_points)
    for _ in range(60):
        weights *= np.exp(0.01 * rng.normal(size=n_points))
        shares = weights / np.abs(weights).sum()
        assert search(shares) == expected_result((codes, 31), shares)
    assert search.tables._features_per_table == (1 if n_points < 512 else 2)
    assert search._bounds._tables._features_per_table == 1
    assert np.median(candidate_counts) < N_FEATURES / 20


def test_weights_below_the_range_of_single_precision(binned_points):
    """Weights from 1e-60 to 1 in one problem."""
    search = BoundedPrefixSumSearch(*binned_points)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=N_POINTS) * 10.0 ** rng.uniform(-60, 0, N_POINTS)
    assert search(weights) == expected_result(binned_points, weights)


def test_few_points_are_searched_exhaustively(binned_points, candidate_counts):
    few_points = binned_points[0][:5, :31], N_THRESHOLDS
    search = BoundedPrefixSumSearch(*few_points)
    rng = np.random.default_rng(0)
    for _ in range(100):
        weights = rng.pareto(1.0, 31)
        assert search(weights) == expected_result(few_points, weights)
    assert not candidate_counts
