import numpy as np
import pytest

from boostbench.core.weak import binned_points
from boostbench.core.weak.binned_points import BinnedPoints

N_FEATURES, N_POINTS, N_THRESHOLDS = 23, 50, 6


@pytest.fixture(params=[False, True], ids=["by feature", "by bin"])
def few(request):
    return request.param


@pytest.fixture(params=[7, 10**6], ids=["chunks", "one chunk"])
def chunk(request, monkeypatch):
    monkeypatch.setattr(binned_points, "_CHUNK_ENTRIES", request.param * N_POINTS)


def draw(seed):
    """Orders, and cuts some of which are equal, 0 or all points."""
    rng = np.random.default_rng(seed)
    order = rng.permuted(np.tile(np.arange(N_POINTS, dtype=np.int32), (N_FEATURES, 1)), axis=1)
    cuts = np.sort(rng.integers(0, N_POINTS + 1, (N_FEATURES, N_THRESHOLDS)), axis=1)
    return order, cuts, rng.normal(size=N_POINTS).astype(np.float32)


def expected(order, cuts, weights):
    """Add up the weights below each threshold by itself."""
    return np.array([[weights[o[:c]].sum() for o, c in zip(order, cuts[:, t], strict=True)]
                     for t in range(cuts.shape[1])])  # fmt: skip


@pytest.mark.usefixtures("chunk")
@pytest.mark.parametrize("seed", range(5))
def test_sums_below_thresholds(few, seed):
    order, cuts, weights = draw(seed)
    sums = BinnedPoints(order, cuts, few).below(weights)
    assert sums.dtype == np.float32
    np.testing.assert_allclose(sums, expected(order, cuts, weights), atol=1e-5)


@pytest.mark.usefixtures("chunk")
@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_only_some_points(few, share):
    order, cuts, weights = draw(0)
    some = np.random.default_rng(1).random(N_POINTS) < share
    all_points = BinnedPoints(order, cuts, few)
    before = all_points.below(weights).copy()
    sums = all_points.only(some).below(weights)
    np.testing.assert_allclose(sums, expected(order, cuts, np.where(some, weights, 0)), atol=1e-5)
    np.testing.assert_array_equal(all_points.below(weights), before)


def test_both_orders_of_rows_give_the_same_bits():
    order, cuts, weights = draw(3)
    sums = [BinnedPoints(order, cuts, few).below(weights) for few in (False, True)]
    np.testing.assert_array_equal(*sums)


def test_more_bins_than_a_byte_counts():
    order = np.arange(600, dtype=np.int32)[None]
    weights = np.ones(600, np.float32)
    cuts = np.arange(1, 600)[None]
    sums = BinnedPoints(order, cuts, few=True).below(weights)
    np.testing.assert_array_equal(sums[:, 0], np.arange(1, 600))


def test_points_are_not_copied():
    order, cuts, _ = draw(0)
    points = BinnedPoints(order, cuts)
    assert all(np.shares_memory(matrix.indices, order) for matrix in points._matrices)
