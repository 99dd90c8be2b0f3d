"""Compare stumps on views with all thresholds, sides of missing values, and categories."""

import numpy as np
import pytest
from scipy import sparse

from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.views import ViewedFeatures, fit_views


def make_columns(rng, n_samples, share=0.3):
    """Draw two numeric and two categorical features; one of each kind has missing values."""
    X = rng.integers(4, size=(n_samples, 4)).astype(float)
    X[rng.random(n_samples) < share, 1] = np.nan
    X[rng.random(n_samples) < share, 3] = np.nan
    return X


def literal_outputs(X, categorical):
    """Yield the outputs of every stump, evaluated one by one."""
    for feature, column in enumerate(X.T):
        missing = np.isnan(column)
        values = np.unique(column[~missing])
        if missing.any():
            yield np.where(missing, 1.0, -1.0)
        for value in values:
            if feature in categorical:
                yield np.where(column == value, 1.0, -1.0)
            else:
                for side in (True, False) if missing.any() else (True,):
                    yield np.where(np.where(missing, side, column > value), 1.0, -1.0)


@pytest.mark.parametrize("max_bins", [None, 64])
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("n_samples", [12, 400])
def test_best_stump_equals_brute_force(n_samples, n_columns, max_bins):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, G = make_columns(rng, n_samples), rng.normal(size=(n_samples, n_columns))
        search = StumpSearch(fit_views(X, [2, 3]).transform(X), max_bins)
        every = np.array(list(literal_outputs(X, [2, 3])))
        varies = np.abs(every.sum(axis=1)) < n_samples
        edges = np.abs(every[varies] @ G)
        best = search.best(G)
        assert best.edge == pytest.approx(edges.max(), rel=1e-12)
        assert abs(best.outputs @ G[:, best.column]) == pytest.approx(best.edge, rel=1e-12)
        # The search finds all stumps, and no others.
        sizes = np.abs(search.edges(G))[~search.is_padding]
        assert (np.abs(sizes[:, None] - edges).sum(axis=2).min(axis=0) < 1e-3).all()
        assert (np.abs(sizes[:, None] - edges).sum(axis=2).min(axis=1) < 1e-3).all()


def test_features_without_missing_values_equal_their_views():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for form in (X, sparse.csr_array(X)):
        views = fit_views(form)
        assert views.is_plain
        assert views.transform(form) is form
    holes = np.array([[np.nan, 0.0, np.nan]])
    # A missing value is replaced by the mean of the training data.
    np.testing.assert_allclose(views.transform(holes), [[X[:, 0].mean(), 0.0, X[:, 2].mean()]])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("signs", [[1, 1], [1, -1]])
def test_overflowing_sums_do_not_change_the_views(signs):
    X = np.full((10, 2), 1e308) * signs
    np.testing.assert_array_equal(fit_views(X).transform(X), X)
    assert np.isnan(fit_views(X).transform(np.full((1, 2), np.nan))).sum() == 0


def test_transform_does_not_modify_its_argument():
    X = sparse.csr_array(([1.0, 2.0, 3.0], [2, 0, 0], [0, 3]), shape=(1, 3))
    assert fit_views(X).transform(X) is X
    assert X.indices.tolist() == [2, 0, 0]


def test_unseen_missing_values_count_as_mean_or_most_frequent():
    X, weights = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([3.0, 1.0, 1.0, 1.0])
    assert fit_views(X, [0]).transform(np.array([[np.nan]])).tolist() == [[0.0, 1.0, 0.0]]
    assert fit_views(X, [0], weights).transform(np.array([[np.nan]])).tolist() == [[1.0, 0.0, 0.0]]
    assert fit_views(X, [], weights).transform(np.array([[np.nan]])).tolist() == [[4 / 6]]


def test_sparse_and_dense_matrices_have_equal_views():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.4)
    X[rng.random(X.shape) < [0.0, 0.2, 0.2, 0.0, 1.0]] = np.nan
    new = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    views, of_sparse = fit_views(X), fit_views(sparse.csr_array(X))
    for field in ("feature", "category", "fill"):
        np.testing.assert_allclose(getattr(of_sparse, field), getattr(views, field))
    np.testing.assert_allclose(
        of_sparse.transform(sparse.csr_array(new)).toarray(), views.transform(new)
    )


def test_viewed_features_index_like_an_array():
    X = np.array([[1.0, 0.0], [np.nan, 2.0], [5.0, np.nan], [2.0, 1.0]])
    views = fit_views(X, [1])
    columns, Z = ViewedFeatures(X, views), views.transform(X)
    assert columns.shape == Z.shape
    np.testing.assert_array_equal(np.asarray(columns), Z)
    for key in (
        np.s_[:, 1],
        np.s_[:, [2, 0]],
        np.s_[1:3],
        2,
        np.array([3, 0]),
        np.s_[[0, 1], 3:],
        np.array([True, False, True, True]),
    ):
        np.testing.assert_array_equal(columns[key], Z[key])
    copied = columns.copy()
    X[0, 0] = 4.0
    np.testing.assert_array_equal(np.asarray(copied), Z)
