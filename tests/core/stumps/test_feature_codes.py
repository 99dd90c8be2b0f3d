"""Compare the stumps and edges of feature codes with the ones of the views."""

import numpy as np
import pytest

from boostbench.core.stumps.feature_codes import fit_feature_codes, numeric_feature_codes
from boostbench.core.stumps.thresholds import find_thresholds
from boostbench.core.stumps.views import fit_views


def messy_features(rng, n_samples=120):
    """Return (X, categorical) with every kind of feature that views distinguish."""
    missing = rng.random(n_samples) < 0.2
    columns = [
        rng.normal(size=n_samples),
        np.where(missing, np.nan, rng.normal(size=n_samples).round(1)),
        np.where(rng.random(n_samples) < 0.9, np.nan, rng.normal(size=n_samples)),
        np.full(n_samples, 3.0),
        np.full(n_samples, np.nan),
        np.where(missing, np.nan, 2.0),
        rng.integers(0, 6, n_samples).astype(float),
        np.where(missing, np.nan, rng.integers(0, 40, n_samples)),
        rng.integers(0, 2, n_samples).astype(float),
        np.where(missing, np.nan, 0.0),
        np.zeros(n_samples),
    ]
    categorical = [6, 7, 8, 9, 10]
    order = rng.permutation(len(columns))
    X = np.column_stack(columns)[:, order]
    return X, [int(np.flatnonzero(order == feature)[0]) for feature in categorical]


@pytest.mark.parametrize("max_bins", [None, 2, 7, 256])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_stumps_and_edges_equal_the_ones_of_view_columns(max_bins, is_weighted):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, categorical = messy_features(rng)
        weights = rng.integers(1, 4, len(X)).astype(float) if is_weighted else None
        views = fit_views(X, categorical, weights)
        table = fit_feature_codes(X, views, max_bins, weights)

        Z = views.transform(X)
        thresholds = [find_thresholds(column, max_bins, weights) for column in Z.T]
        view = np.repeat(np.arange(len(thresholds)), [len(cuts) for cuts in thresholds])
        np.testing.assert_array_equal(table.view_of_stump, view)
        np.testing.assert_array_equal(table.threshold_of_stump, np.concatenate(thresholds))
        np.testing.assert_array_equal(
            np.diff(table.first_stump), [len(cuts) for cuts in thresholds]
        )

        above = Z[:, view] > table.threshold_of_stump
        np.testing.assert_array_equal(
            np.column_stack([table.above(stump) for stump in range(len(view))]), above
        )
        # Weights are whole numbers, so that all sums are exact.
        G = rng.integers(-9, 10, (len(X), 3)).astype(float)
        joint = table.joint_bins()
        bins = np.stack(
            [
                np.bincount(joint.ravel(), np.repeat(g, joint.shape[1]), table.n_joint_bins)
                for g in G.T
            ],
            axis=1,
        )
        edges = np.where(above, 1.0, -1.0).T @ G
        np.testing.assert_array_equal(table.edges(bins, G.sum(axis=0)), edges)


def test_joint_bins_combine_one_bin_per_feature():
    X, categorical = messy_features(np.random.default_rng(0))
    table = fit_feature_codes(X, fit_views(X, categorical), max_bins=9)
    joint = table.joint_bins()
    assert joint.dtype == np.int32
    assert (joint >= table.first_bin[:-1]).all()
    assert (joint < table.first_bin[1:]).all()
    assert table.first_bin[-1] == table.n_joint_bins


def test_missing_values_have_the_first_bin_of_their_feature():
    X, categorical = messy_features(np.random.default_rng(1))
    table = fit_feature_codes(X, fit_views(X, categorical))
    for code, values in zip(table.codes, X.T, strict=True):
        if np.isnan(values).any():
            np.testing.assert_array_equal(code == 0, np.isnan(values))


def test_missing_values_add_thresholds_to_the_bins_of_a_number():
    rng = np.random.default_rng(2)
    X = np.where(rng.random((500, 1)) < 0.3, np.nan, rng.normal(size=(500, 1)))
    table = fit_feature_codes(X, fit_views(X), max_bins=8)
    low, high = (table.threshold_of_stump[table.view_of_stump == view] for view in (0, 1))
    assert not np.isin(low, high).all()
    assert table.n_bins[0] == len(np.union1d(low, high)) + 2


def test_codes_take_the_smallest_type():
    X = np.arange(400.0)[:, None]
    for n_samples, dtype in (256, np.uint8), (257, np.uint16):
        rows = X[:n_samples]
        assert fit_feature_codes(rows, fit_views(rows)).codes[0].dtype == dtype


def test_running_sums_restart_at_each_feature():
    X = np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 6.0]])
    table = fit_feature_codes(X, fit_views(X))
    bins = np.array([1.0, 2.0, 3.0, 4.0, 2.0])[:, None]
    np.testing.assert_array_equal(table.running_sums(bins).ravel(), [1, 3, 6, 4, 6])


def test_samples_may_be_in_several_bins_of_a_feature():
    X = np.array([[0.0, 2.0], [1.0, 0.0], [np.nan, 1.0], [2.0, 3.0]])
    table = fit_feature_codes(X, fit_views(X, [0, 1]))
    np.testing.assert_array_equal(table.is_in(np.array([0, 2])), [False, True, True, False])
    np.testing.assert_array_equal(table.is_in(np.array([4, 7])), [False, True, False, True])


def test_numeric_codes_equal_the_codes_of_their_features():
    X = np.random.default_rng(3).normal(size=(50, 3)).round(1)
    table = fit_feature_codes(X, fit_views(X), max_bins=5)
    thresholds = [table.threshold_of_stump[table.view_of_stump == view] for view in range(3)]
    same = numeric_feature_codes(table.codes, thresholds)
    for name in (
        "n_bins",
        "view_of_stump",
        "feature_of_view",
        "threshold_of_stump",
        "bin_of_stump",
        "is_equality",
    ):
        np.testing.assert_array_equal(getattr(same, name), getattr(table, name))


@pytest.mark.parametrize("max_bins", [None, 7])
def test_new_samples_have_the_bins_of_their_views(max_bins):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, categorical = messy_features(rng)
        views = fit_views(X, categorical)
        table = fit_feature_codes(X, views, max_bins)
        for codes, codes_again in zip(table.codes, table.encode(X, views).codes, strict=True):
            np.testing.assert_array_equal(codes, codes_again)
        # New samples have values beyond the training data, and missing values of every feature.
        new_X = np.where(rng.random(X.shape) < 0.3, np.nan, X[rng.permutation(len(X))])
        is_number = ~np.isin(np.arange(X.shape[1]), categorical)
        new_X[:40, is_number] *= 3.0
        Z, encoded = views.transform(new_X), table.encode(new_X, views)
        np.testing.assert_array_equal(
            np.column_stack([encoded.above(stump) for stump in range(len(table.view_of_stump))]),
            Z[:, table.view_of_stump] > table.threshold_of_stump,
        )


def test_stump_sums_of_bins_add_up_to_the_scores():
    rng = np.random.default_rng(3)
    X, categorical = messy_features(rng)
    table = fit_feature_codes(X, fit_views(X, categorical), max_bins=9)
    coefficients = rng.normal(size=(len(table.view_of_stump), 2))
    outputs = np.column_stack(
        [np.where(table.above(s), 1, -1) for s in range(len(table.view_of_stump))]
    )
    scores = table.score_table(coefficients)[table.joint_bins()].sum(axis=1)
    np.testing.assert_allclose(scores, outputs @ coefficients, atol=1e-12)
