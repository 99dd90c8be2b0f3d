import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from boostbench.core.stumps import evaluation
from boostbench.core.stumps import thresholds as quantiles
from boostbench.core.stumps.evaluation import (
    JointHistogram,
    choose_layout,
    make_joint_histogram,
    try_sorted_layout,
)
from boostbench.core.stumps.layouts.sorted import Sorted
from boostbench.core.stumps.layouts.sparse import SparseBins, SparseFeatures

from .. import reference


@pytest.fixture(params=[(2, 3), (15, 1), (16, 2), (17, 40), (1025, 90)])
def layout_case(request, kind):
    """Return data with ties, its thresholds, and a layout."""
    rng = np.random.default_rng(request.param[0])
    X = rng.normal(size=request.param)
    X[: len(X) // 3] = X[0]
    if kind is not Sorted:
        X = np.round(X)
    if kind is SparseBins:
        X[np.abs(X) < 1] = 0.0
    thresholds = reference.thresholds(X)
    if kind is SparseBins:
        data = SparseFeatures(csr_array(X))
        return X, thresholds, SparseBins(data, *data.find_thresholds())
    return X, thresholds, kind(X, thresholds)


def compute_edges(layout, G, dtype):
    return np.concatenate(
        [piece.copy() for piece in layout.iter_edges(G.astype(dtype), G.sum(axis=0))]
    )


@pytest.mark.parametrize("kind", [make_joint_histogram, Sorted, SparseBins])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_edges_of_every_stump_equal_the_definition(layout_case, n_columns):
    X, thresholds, layout = layout_case
    G = np.random.default_rng(0).normal(size=(len(X), n_columns))
    edges = compute_edges(layout, G, layout.dtype)
    assert edges.dtype in (layout.dtype, np.float64)
    assert edges.shape == (len(layout.feature), n_columns)
    is_threshold = layout.stump_index >= 0
    starts = np.cumsum([0] + [len(cuts) for cuts in thresholds])
    assert set(layout.stump_index[is_threshold]) == set(range(starts[-1]))
    assert (
        starts.searchsorted(layout.stump_index[is_threshold], "right") - 1
        == layout.feature[is_threshold]
    ).all()
    expected = reference.edges(X, thresholds, G)[layout.stump_index[is_threshold]]
    np.testing.assert_allclose(edges[is_threshold], expected, atol=1e-5 * np.abs(G).sum())


@pytest.mark.parametrize("kind", [make_joint_histogram, Sorted, SparseBins])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_errors_are_within_the_bound(layout_case, dtype):
    X, thresholds, layout = layout_case
    dtype = max(dtype, layout.dtype, key=lambda one: np.finfo(one).bits)
    positions = np.flatnonzero(layout.stump_index >= 0)
    positions = np.random.default_rng(0).permutation(positions)[:300]
    threshold = np.concatenate(thresholds)[layout.stump_index[positions]]
    above = X[:, layout.feature[positions]] > threshold
    for weights in reference.hostile(np.random.default_rng(1), len(X)):
        edges = compute_edges(layout, weights[:, None], dtype)[positions, 0]
        allowed = layout.error_bound(dtype) * math.fsum(np.abs(weights))
        for edge, side in zip(edges, above.T, strict=True):
            assert abs(float(edge) - math.fsum(np.where(side, weights, -weights))) <= allowed


@pytest.mark.parametrize("shape", [(5, 3), (60, 1), (3000, 40)])
def test_error_bound_is_small(shape):
    X = np.random.default_rng(0).normal(size=shape)
    for kind in (make_joint_histogram, Sorted):
        # Sums over a few thousand samples are accurate to a thousandth of their weight.
        layout = kind(X, [cuts[::20] for cuts in reference.thresholds(X)])
        assert 0 < layout.error_bound(layout.dtype) < 1e-3


def test_sorted_layout_finds_all_thresholds_with_one_sort(monkeypatch):
    monkeypatch.setattr(evaluation, "_SAMPLE_SIZE", 200)
    X = np.random.default_rng(0).normal(size=(1000, 3))
    X[:, 1] = np.round(X[:, 1], 2)
    X[::2, 2] = -1.5
    thresholds = [quantiles.find_thresholds(column) for column in X.T]
    layout, expected = try_sorted_layout(X), Sorted(X, thresholds)
    for actual, cuts in zip(layout.thresholds, thresholds, strict=True):
        np.testing.assert_array_equal(actual, cuts)
    np.testing.assert_array_equal(layout.stump_index, expected.stump_index)
    W = np.random.default_rng(1).normal(size=(1000, 2))
    for actual, edges in zip(
        layout.iter_edges(W, W.sum(axis=0)), expected.iter_edges(W, 0), strict=True
    ):
        np.testing.assert_array_equal(actual, edges)


def test_sorted_layout_needs_many_distinct_values(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1000, 2))
    assert try_sorted_layout(X) is None
    monkeypatch.setattr(evaluation, "_SAMPLE_SIZE", 100)
    assert try_sorted_layout(X) is not None
    # The first samples are all distinct, but the others repeat.
    X[100:] = X[99]
    assert try_sorted_layout(X) is None
    assert try_sorted_layout(np.round(X)) is None


def test_pieces_contain_a_few_features():
    X = np.random.default_rng(0).normal(size=(1000, 90))
    layout = Sorted(X, reference.thresholds(X))
    pieces = layout.iter_edges(np.zeros((1000, 2), np.float32), np.zeros(2))
    assert [len(piece) for piece in pieces] == [40 * 1008, 40 * 1008, 10 * 1008]


@pytest.mark.parametrize(
    ("n_values", "n_features", "layout"),
    [
        (1, 3, JointHistogram),
        (60, 65, JointHistogram),
        (200, 3, Sorted),
    ],
)
def test_number_of_values_determines_the_layout(n_values, n_features, layout):
    X = np.arange(200 * n_features).reshape(n_features, 200).T % n_values
    X = X.astype(float)
    assert type(choose_layout(X, reference.thresholds(X))) is layout
