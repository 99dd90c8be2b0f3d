import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import MinMaxScaler

from boostbench.fitting.preparation import fit_scaling_and_projection


def prepare(train, test, scale, pca=None):
    prepared = fit_scaling_and_projection(train, scale, pca)
    return prepared(train), prepared(test)


def lengths(X):
    return np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["minmax", "standard", "unit", "none"])
def test_scaling_uses_the_training_part_only(kind):
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
    # The directions are singular vectors of the training part, computed without scikit-learn.
    centre = train.mean(axis=0)
    _, lengths, directions = np.linalg.svd(train - centre)
    share = np.cumsum(lengths**2) / np.sum(lengths**2)
    assert share[0] < 0.9 < share[1]
    assert projected.shape == (60, 2)
    expected = (test - centre) @ directions[:2].T
    np.testing.assert_allclose(np.abs(test_projected), np.abs(expected))
    again, _ = prepare(train, test + 100, "none", pca=0.9)
    assert np.array_equal(projected, again)


def wide_data(rng):
    return rng.normal(size=(30, 50)) * rng.uniform(0.1, 5, 50) + 3


def tall_data(rng):
    return rng.normal(size=(50, 7)) * rng.uniform(0.1, 5, 7) + 3


def large_offset(rng):
    return wide_data(rng) + 1e6


def low_rank(rng):
    return rng.normal(size=(30, 3)) @ rng.normal(size=(3, 50)) + 1


def repeated_samples(rng):
    return np.repeat(tall_data(rng)[:5], 4, axis=0)


def count_data(rng):
    return rng.poisson(0.2, (40, 90)).astype(float)


def few_counts(rng):
    return rng.poisson(0.4, (60, 12)).astype(float)


@pytest.mark.parametrize("make", [wide_data, tall_data, large_offset, low_rank, repeated_samples])
@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_projection_equals_the_full_decomposition(make, share):
    X = make(np.random.default_rng(3))
    check_projection(X[::2], X[1::2], share)


@pytest.mark.parametrize("make", [wide_data, tall_data, low_rank, count_data, few_counts])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_projection_of_sparse_features_equals_the_dense_matrix(make, container):
    X = make(np.random.default_rng(4))
    check_projection(container(X[::2]), container(X[1::2]), 0.9, X[::2], X[1::2])


def check_projection(train, test, share, dense_train=None, dense_test=None):
    dense_train = train if dense_train is None else dense_train
    dense_test = test if dense_test is None else dense_test
    reference = PCA(share, svd_solver="full").fit(dense_train)
    expected = reference.transform(dense_train), reference.transform(dense_test)
    projected = prepare(train, test, "none", share)
    assert projected[0].shape == expected[0].shape
    signs = np.sign(np.sum(projected[0] * expected[0], axis=0))
    for ours, theirs in zip(projected, expected, strict=True):
        assert type(ours) is np.ndarray
        np.testing.assert_allclose(ours * signs, theirs, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.parametrize("make", [wide_data, tall_data])
def test_signs_of_a_projection_do_not_depend_on_the_order_of_samples(make):
    train = make(np.random.default_rng(5))
    order = np.random.default_rng(6).permutation(len(train))
    projected, same = prepare(train, train, "standard", 0.9)
    shuffled, _ = prepare(train[order], train, "standard", 0.9)
    np.testing.assert_allclose(shuffled, projected[order], atol=1e-9)
    np.testing.assert_allclose(same, projected, atol=1e-9)


def test_projection_comes_after_scaling_and_makes_sparse_features_dense():
    dense = np.random.default_rng(2).poisson(1.0, (40, 6)) + np.eye(40, 6)
    train, test = sparse.csr_matrix(dense[:30]), sparse.csr_matrix(dense[30:])
    projected, _ = prepare(train, test, "unit", pca=0.8)
    unit = dense[:30] / lengths(dense[:30])
    expected = PCA(0.8, svd_solver="full").fit_transform(unit)
    np.testing.assert_allclose(np.abs(projected), np.abs(expected), atol=1e-12)
