import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import MinMaxScaler

from boostbench.experiment.features import prepare


def lengths(X):
    return np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["minmax", "standard", "unit", "none"])
def test_scaling_looks_at_the_training_part_only(kind):
    rng = np.random.default_rng(0)
    train, test = rng.normal(5, 3, (30, 4)), rng.normal(5, 3, (10, 4))
    scaled, _ = prepare(train, test, kind)
    again, moved = prepare(train, test + 100, kind)
    assert np.array_equal(scaled, again)
    expected = {
        "minmax": MinMaxScaler((-1, 1)).fit(train).transform(test + 100),
        "standard": (test + 100 - train.mean(axis=0)) / train.std(axis=0),
        "unit": (test + 100) / lengths(test + 100),
        "none": test + 100,
    }
    np.testing.assert_allclose(moved, expected[kind])


@pytest.mark.parametrize("kind", ["minmax", "standard", "unit", "none"])
def test_scaling_keeps_zeros_of_sparse_features(kind):
    dense = np.array([[0.0, 4.0], [2.0, 0.0], [0.0, -8.0]])
    train, test = prepare(sparse.csr_matrix(dense), sparse.csr_matrix(dense[:1]), kind)
    assert sparse.issparse(train)
    assert train.nnz == 3
    if kind == "minmax":
        np.testing.assert_allclose(test.toarray(), [[0, 0.5]])
    if kind == "unit":
        np.testing.assert_allclose(test.toarray(), [[0, 1]])


def test_projection_keeps_a_share_of_the_variance_of_the_training_part():
    rng = np.random.default_rng(1)
    train, test = (rng.normal(size=(n, 5)) * [9, 5, 2, 0.1, 0.1] for n in (60, 20))
    projected, test_projected = prepare(train, test, "none", pca=0.9)
    # Without scikit-learn: the directions are those of the training part's singular vectors.
    centre = train.mean(axis=0)
    _, lengths, directions = np.linalg.svd(train - centre)
    share = np.cumsum(lengths**2) / np.sum(lengths**2)
    assert share[0] < 0.9 < share[1]
    assert projected.shape == (60, 2)
    expected = (test - centre) @ directions[:2].T
    np.testing.assert_allclose(np.abs(test_projected), np.abs(expected))
    again, _ = prepare(train, test + 100, "none", pca=0.9)
    assert np.array_equal(projected, again)


def test_projection_comes_after_scaling_and_makes_sparse_features_dense():
    dense = np.random.default_rng(2).poisson(1.0, (40, 6)) + np.eye(40, 6)
    train, test = sparse.csr_matrix(dense[:30]), sparse.csr_matrix(dense[30:])
    projected, _ = prepare(train, test, "unit", pca=0.8)
    unit = dense[:30] / lengths(dense[:30])
    np.testing.assert_allclose(projected, PCA(0.8, svd_solver="full").fit_transform(unit))
