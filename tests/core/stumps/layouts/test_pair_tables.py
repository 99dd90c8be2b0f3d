import math

import numpy as np
import pytest

from boostbench.core.stumps.evaluation import make_joint_histogram
from boostbench.core.stumps.layouts import joint_histogram as joint_histogram_module
from boostbench.core.stumps.layouts.joint_histogram import OneColumnHistogram, PairTables
from boostbench.core.stumps.search import StumpSearch

from .. import reference

pytestmark = pytest.mark.usefixtures("many_samples")


@pytest.fixture(params=[(40, [3, 1, 17]), (500, [40, 5]), (300, [70]), (900, [2, 9, 255, 30])])
def layout_case(request):
    """Return data with ties, its thresholds, a histogram, and the layout of its first column."""
    n_samples, n_values = request.param
    rng = np.random.default_rng(n_samples)
    X = np.column_stack([rng.integers(0, n, n_samples) for n in n_values]).astype(float)
    X[:, 0] += rng.random(n_samples) < 0.5
    thresholds = reference.thresholds(X)
    histogram = make_joint_histogram(X, thresholds)
    return X, thresholds, histogram, OneColumnHistogram(histogram.feature_codes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_errors_are_within_the_bound(layout_case, dtype):
    X, thresholds, histogram, pairs = layout_case
    assert 0 < pairs.error_bound(dtype) < 1e-3
    for weights in reference.hostile(np.random.default_rng(1), len(X)):
        [edges] = pairs.iter_edges(weights[:, None].astype(dtype), weights.sum(keepdims=True))
        assert edges.shape == (len(histogram.stump_index), 1)
        allowed = pairs.error_bound(dtype) * math.fsum(np.abs(weights))
        exact = reference.edges(X, thresholds, weights)[histogram.stump_index]
        assert np.abs(edges[:, 0] - exact).max() <= allowed + 1e-12 * np.abs(weights).sum()


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_search_equals_search_without_tables(seed, mirrored, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, (400, 5)).astype(float)
    G = rng.normal(size=(400, 1))
    if mirrored:
        G = np.hstack([G, -G])
    plain = StumpSearch(X, max_bins=16)
    monkeypatch.setattr(joint_histogram_module, "MIN_SAMPLES", 1)
    by_pairs = StumpSearch(X, max_bins=16)
    assert isinstance(by_pairs._layout.layout_for_columns(1), OneColumnHistogram)
    assert by_pairs._layout.layout_for_columns(2) is by_pairs._layout
    first, second = plain.best(G), by_pairs.best(G)
    assert (first.learner, first.column) == (second.learner, second.column)
    assert second.edge == pytest.approx(first.edge)
    np.testing.assert_array_equal(first.outputs, second.outputs)
    assert plain.best_per_column(G).tolist() == by_pairs.best_per_column(G).tolist()
    np.testing.assert_allclose(plain.edges(G), by_pairs.edges(G), atol=1e-3)


def test_large_bins_use_double_precision(monkeypatch):
    monkeypatch.setattr(joint_histogram_module, "MIN_SAMPLES", 1)
    X = (np.arange(2000)[:, None] >= [1990, 1980, 1970]).astype(float) * np.arange(2000)[:, None]
    search = StumpSearch(X, max_bins=256)
    assert not isinstance(search._layout.layout_for_columns(1), OneColumnHistogram)


@pytest.mark.parametrize("bins_per_sample", [1, 10**6], ids=["alone", "pairs"])
def test_layers_have_separate_sums_and_may_change(bins_per_sample, monkeypatch):
    monkeypatch.setattr(joint_histogram_module, "_CELLS_PER_SAMPLE", bins_per_sample)
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, n, 200) for n in (5, 20, 33)]
    tables = PairTables(codes, 33, n_layers=2)
    for _ in range(3):
        weights, layer = rng.normal(size=200), rng.integers(0, 2, 200).astype(np.int32)
        sums = tables.sums(weights, layer)
        for sums_of_feature, code in zip(sums, codes, strict=False):
            for number, of_layer in enumerate(sums_of_feature):
                expected = np.bincount(code, weights * (layer == number), tables.width)
                np.testing.assert_allclose(of_layer, expected, atol=1e-12)
