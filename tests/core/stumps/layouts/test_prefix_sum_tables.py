import numpy as np
import pytest

from boostbench.core.stumps.layouts import joint_histogram
from boostbench.core.stumps.layouts.joint_histogram import PrefixSumTables

N_FEATURES, N_POINTS, N_THRESHOLDS = 23, 50, 6


@pytest.fixture(params=[1, 10**6], ids=["pairs", "alone"])
def bins_per_sample(request, monkeypatch):
    monkeypatch.setattr(joint_histogram, "_CELLS_PER_SAMPLE", 10**6 // request.param)


@pytest.fixture(params=[7, 10**6], ids=["calls", "one call"])
def samples_per_call(request, monkeypatch):
    monkeypatch.setattr(joint_histogram, "_PRODUCT_SAMPLES", request.param * N_POINTS)


def draw(seed, n_thresholds=N_THRESHOLDS):
    """Draw weights, and bins, some of which are empty."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(
        0, rng.integers(1, n_thresholds + 2, (N_FEATURES, 1)), (N_FEATURES, N_POINTS)
    )
    return codes.astype(np.uint16), rng.normal(size=N_POINTS).astype(np.float32)


def expected_sums(codes, weights, n_thresholds=N_THRESHOLDS):
    """Sum the weights below each threshold separately."""
    return np.array([(codes <= place) @ weights for place in range(n_thresholds)])


@pytest.mark.usefixtures("bins_per_sample", "samples_per_call")
@pytest.mark.parametrize("seed", range(5))
def test_sums_equal_direct_summation(seed):
    codes, weights = draw(seed)
    points = PrefixSumTables(codes, N_THRESHOLDS)
    sums = points.below(weights)
    assert sums.dtype == np.float32
    rounding = points.additions * 2.0**-24 * np.abs(weights).sum()
    np.testing.assert_allclose(
        sums, expected_sums(codes, weights.astype(float)), rtol=0, atol=rounding
    )


def test_more_than_256_bins():
    codes, weights = draw(0, n_thresholds=600)
    np.testing.assert_allclose(
        PrefixSumTables(codes, 600).below(weights), expected_sums(codes, weights, 600), atol=1e-5
    )


def test_pairs_of_features_are_used_for_many_points_only():
    codes, _ = draw(0)
    for repeats, n_joint in ((1, 1), (10, 2)):
        points = PrefixSumTables(np.tile(codes, repeats), N_THRESHOLDS)
        assert points._features_per_table == n_joint


@pytest.mark.parametrize("n_points", [N_POINTS, 10 * N_POINTS])
def test_addition_cost_belongs_to_the_faster_method(n_points):
    # A table of one feature has 16 bins, a table of two features 256.
    single_features, by_pairs = n_points, (n_points + 256 / joint_histogram._CELLS_PER_SAMPLE) / 2
    assert joint_histogram.addition_cost(n_points, N_THRESHOLDS + 1) == min(
        single_features, by_pairs
    )
    points = PrefixSumTables(np.zeros((2, n_points), np.uint8), N_THRESHOLDS)
    assert points._features_per_table == (1 if single_features < by_pairs else 2)
