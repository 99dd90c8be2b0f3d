import numpy as np
import pytest

from boostbench.core.weak.binned_points import BinnedPoints
from boostbench.core.weak.largest_sum import LargestSum
from boostbench.core.weak.ties import first_largest

N_FEATURES, N_POINTS, N_THRESHOLDS = 500, 1200, 7


X = np.random.default_rng(0).normal(size=(N_POINTS, 5))
SIGNS = np.where(X[:, 0] + X[:, 1] ** 2 > 1, 1.0, -1.0)


@pytest.fixture
def binned():
    """Points on random directions, with equal numbers in all bins."""
    directions = np.random.default_rng(1).normal(size=(N_FEATURES, X.shape[1]))
    order = (directions @ X.T).argsort(axis=1).astype(np.int32)
    cuts = np.arange(1, N_THRESHOLDS + 1) * N_POINTS // (N_THRESHOLDS + 1)
    return order, np.tile(cuts, (N_FEATURES, 1))


def boosted(binned, n_rounds):
    """Weights of AdaBoost, of the same sum in both classes: those of points it errs on grow."""
    order, cuts = binned
    points = BinnedPoints(order, cuts)
    scores = np.zeros(N_POINTS)
    for _ in range(n_rounds):
        weights = np.exp(-SIGNS * scores)
        for sign in (-1, 1):
            weights[sign == SIGNS] *= sign / weights[sign == SIGNS].sum()
        yield weights
        sums = points.below(weights.astype(np.float32))
        threshold, feature = np.unravel_index(np.abs(sums).argmax(), sums.shape)
        below = sums[threshold, feature]
        outputs = np.full(N_POINTS, -np.sign(below))
        outputs[order[feature, : cuts[feature, threshold]]] *= -1
        scores += np.arctanh(min(abs(float(below)), 0.9)) * outputs


def by_all(binned, weights):
    """The first of the largest sums of all, in double precision."""
    order, cuts = binned
    running = np.cumsum(weights[order], axis=1)
    sums = np.where(cuts > 0, np.take_along_axis(running, cuts - 1, axis=1), 0)
    at = first_largest(np.abs(sums).ravel(), np.abs(weights).sum())
    feature, place = divmod(int(at), cuts.shape[1])
    return place, feature, pytest.approx(sums[feature, place], abs=1e-12 * np.abs(weights).sum())


@pytest.fixture
def asked(monkeypatch):
    """How many features had their sums added up over all points, by call of `_candidates`."""
    counts = []
    candidates = LargestSum._candidates

    def count(self, *args):
        features = candidates(self, *args)
        counts.append(len(features))
        return features

    monkeypatch.setattr(LargestSum, "_candidates", count)
    return counts


def test_every_round_is_that_of_a_search_of_all(binned, asked):
    search = LargestSum(*binned)
    for weights in boosted(binned, 200):
        assert search(weights) == by_all(binned, weights)
    # Few features were looked at in most rounds, or this shows nothing.
    assert len(asked) > 100
    assert np.median(asked) < N_FEATURES / 20


def test_weights_that_change_at_once(binned, asked):
    """The bounds say so: all features are candidates then."""
    search = LargestSum(*binned)
    *_, heavy = boosted(binned, 200)
    rng = np.random.default_rng(2)
    for _ in range(20):
        for weights in (heavy, rng.permutation(heavy), -heavy, rng.permutation(heavy)):
            assert search(weights) == by_all(binned, weights)
    assert max(asked) == N_FEATURES


@pytest.mark.parametrize("seed", range(20))
def test_any_weights(seed):
    """Ties of features, of sums and of points, weights that are 0, many bins for few points."""
    rng = np.random.default_rng(seed)
    n_features, n_points = int(rng.integers(1, 60)), int(rng.integers(1000, 1500))
    order = rng.permuted(np.tile(np.arange(n_points, dtype=np.int32), (n_features, 1)), axis=1)
    order = order[rng.integers(0, n_features, n_features)]
    cuts = np.sort(rng.integers(0, n_points, (n_features, int(rng.integers(1, 12)))), axis=1)
    search = LargestSum(order, cuts)
    weights = rng.normal(size=n_points) * rng.pareto(0.3, n_points)
    for _ in range(60):
        weights *= np.exp(rng.normal(size=n_points) * rng.choice([0, 0.01, 0.3]))
        weights[rng.random(n_points) < 0.02] = 0
        shares = weights / np.abs(weights).sum()
        assert search(shares) == by_all((order, cuts), shares)


def test_no_weight_at_all(binned):
    search = LargestSum(*binned)
    *_, heavy = boosted(binned, 200)
    nothing = np.zeros(N_POINTS)
    for weights in (nothing, heavy, nothing, nothing):
        assert search(weights) == by_all(binned, weights)


def test_few_points_are_searched_plainly(binned, asked):
    cuts = binned[1][:5] // 20
    few = np.tile(np.arange(100, dtype=np.int32), (5, 1)), cuts
    search = LargestSum(*few)
    for _ in range(100):
        weights = np.random.default_rng(0).pareto(1.0, 100)
        assert search(weights) == by_all(few, weights)
    assert not asked
