import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostbench.core.stumps import thresholds as quantiles
from boostbench.core.stumps.thresholds import (
    argsort_with_values,
    bin_indices,
    find_thresholds,
    iter_columns,
)

from . import reference

DRAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "rounded": lambda rng, n: rng.normal(size=n).round(2),
    "whole": lambda rng, n: rng.integers(0, 300, n).astype(float),
    "heavy": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "far": lambda rng, n: 1e5 + rng.random(n) * 1e-3,
    "one far off": lambda rng, n: np.append(rng.normal(size=n - 1), 1e300),
    "largest": lambda rng, n: rng.choice([-1.0, 1.0], n) * rng.random(n) * 1.7e308,
    "tiny": lambda rng, n: rng.random(n) * 1e-310,
    "mostly zero": lambda rng, n: rng.normal(size=n) * (rng.random(n) < 0.1),
    "constant": lambda rng, n: np.full(n, 2.5),
    "two": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "nearly sorted": lambda rng, n: np.arange(n) + rng.random(n),
}


def sorted_thresholds(values, max_bins, weights=None):
    """Return quantiles by sorting: the first values at which the shares of samples are reached."""
    middles = np.array(reference.midpoints(values))
    if max_bins is None or len(middles) < max_bins:
        return middles
    times = np.ones(len(values)) if weights is None else weights
    distinct = np.unique(values)
    counts = np.bincount(np.searchsorted(distinct, values), times).round(6).astype(int)
    counts_below = np.cumsum(counts)
    positions = {
        min(
            int(np.flatnonzero(counts_below * max_bins >= counts_below[-1] * i)[0]),
            len(middles) - 1,
        )
        for i in range(1, max_bins)
    }
    return middles[sorted(positions)]


@given(
    kind=st.sampled_from(list(DRAWS)),
    seed=st.integers(0, 10**6),
    n=st.sampled_from([2, 3, 50, 1000, 4099]),
    max_bins=st.sampled_from([None, 2, 3, 16, 64, 255, 256]),
)
@settings(max_examples=60, deadline=None)
def test_thresholds_and_bin_indices_equal_sorting(kind, seed, n, max_bins):
    with pytest.MonkeyPatch.context() as patch:
        # Lower the limit, so that grids are used for few values.
        patch.setattr(quantiles, "_MIN_VALUES", 40)
        patch.setattr(quantiles, "_BLOCK_VALUES", 64)
        values = DRAWS[kind](np.random.default_rng(seed), n)
        thresholds = find_thresholds(values, max_bins)
        assert thresholds.tolist() == sorted_thresholds(values, max_bins).tolist()
        codes = bin_indices(values, thresholds)
        assert codes.dtype == np.min_scalar_type(len(thresholds))
        assert (codes == np.searchsorted(thresholds, values)).all()
        # Values lie on thresholds, next to them and far from them.
        near = np.concatenate(
            [thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)]
        )
        wider = np.append(near, [-1.7e308, 1.7e308, 0.0] * 20)
        assert (bin_indices(wider, thresholds) == np.searchsorted(thresholds, wider)).all()


@pytest.mark.parametrize("kind", ["normal", "heavy", "far", "nearly sorted"])
def test_most_continuous_data_need_no_sort(kind, monkeypatch):
    """The grid replaces a sort for all data but heavy-tailed ones."""
    grids = []
    by_grid = quantiles._thresholds_by_grid

    def record_grid(*args):
        grids.append(by_grid(*args))
        return grids[-1]

    monkeypatch.setattr(quantiles, "_thresholds_by_grid", record_grid)
    values = DRAWS[kind](np.random.default_rng(0), 2**15)
    assert find_thresholds(values, 64).tolist() == sorted_thresholds(values, 64).tolist()
    assert (grids[0] is None) == (kind == "heavy")


@pytest.mark.parametrize("factor", [1.0, 1 / 3, 0.1])
def test_weight_equals_repeated_rows(factor):
    rng = np.random.default_rng(0)
    for _ in range(30):
        values, times = rng.integers(0, 40, 60).astype(float), rng.integers(1, 5, 60)
        order = rng.permutation(60)
        expected = sorted_thresholds(values.repeat(times), 8)
        assert find_thresholds(values, 8, factor * times).tolist() == expected.tolist()
        assert (
            find_thresholds(values[order], 8, factor * times[order]).tolist() == expected.tolist()
        )
        assert find_thresholds(values.repeat(times), 8).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", [*DRAWS, "neighbours"])
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_argsort_with_values_equals_argsort(kind, n):
    rng = np.random.default_rng(0)
    if kind == "neighbours":
        # The values differ in low bits, which the sort replaces by the sample numbers.
        values = (rng.choice([-1.0, 1.0], n).view(np.int64) + rng.integers(0, 500, n)).view(float)
        values[::7] = -0.0
        values[::11] = 0.0
    else:
        values = DRAWS[kind](rng, n)
    order, in_order = argsort_with_values(values)
    assert in_order.tolist() == np.sort(values).tolist()
    assert np.array_equal(in_order, values[order])
    assert np.array_equal(np.sort(order), np.arange(n))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (100, 8), (9000, 19)])
def test_iter_columns_yields_contiguous_features(shape, order):
    X = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    for values, feature in zip(iter_columns(X), X.T, strict=True):
        assert values.flags.c_contiguous
        assert (values == feature).all()


def test_weights_of_one_equal_no_weights():
    values = np.arange(2.0**15 + 1)
    unweighted = find_thresholds(values, 2**15)
    assert find_thresholds(values, 2**15, np.ones(len(values))).tolist() == unweighted.tolist()
