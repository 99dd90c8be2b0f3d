import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.optimize import minimize
from sklearn.neighbors import NearestNeighbors

from boostbench.core.projections import (
    locality_preserving,
    neighbourhood_preserving,
    reconstruction_weights,
)


def problem(seed=0, n_samples=40, n_features=4, n_neighbours=5):
    X = np.random.default_rng(seed).normal(size=(n_samples, n_features)) * [3, 1, 2, 0.5]
    X -= X.mean(axis=0)
    distances, neighbours = NearestNeighbors(n_neighbors=n_neighbours).fit(X).kneighbors()
    return X, neighbours, distances**2


def minimise_quotient(quotient, n_features):
    """Minimise a quotient of quadratic forms from many starts."""
    starts = np.random.default_rng(1).normal(size=(8, n_features))
    return min((minimize(quotient, start, tol=1e-12) for start in starts), key=lambda r: r.fun)


def test_locality_preserving_projection_minimises_its_quotient():
    X, neighbours, squares = problem()
    W = np.zeros((40, 40))
    for i, row in enumerate(neighbours):
        W[i, row] = np.exp(-squares[i] / (2 * squares.mean()))
    W = np.maximum(W, W.T)

    def quotient(a):
        z = X @ a
        return (W * (z[:, None] - z) ** 2).sum() / 2 / (W.sum(axis=1) * z**2).sum()

    projection = locality_preserving(X, neighbours, squares, 2)
    searched = minimise_quotient(quotient, 4)
    assert quotient(projection[:, 0]) == pytest.approx(searched.fun)
    assert subspace_angles(projection[:, :1], searched.x[:, None])[0] < 1e-3
    assert quotient(projection[:, 1]) > quotient(projection[:, 0])


def test_neighbourhood_preserving_projection_minimises_its_quotient():
    X, neighbours, _ = problem(3)
    weights = reconstruction_weights(X, neighbours)

    def quotient(a):
        z = X @ a
        return ((z - (weights * z[neighbours]).sum(axis=1)) ** 2).sum() / (z**2).sum()

    projection = neighbourhood_preserving(X, neighbours, 2)
    searched = minimise_quotient(quotient, 4)
    assert quotient(projection[:, 0]) == pytest.approx(searched.fun)
    assert subspace_angles(projection[:, :1], searched.x[:, None])[0] < 1e-3
    np.testing.assert_allclose((X @ projection).T @ (X @ projection), np.eye(2), atol=1e-6)


def test_reconstruction_weights_equal_distances_on_a_line():
    """The weights of a sample between two others follow from its distances to them."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0]])
    weights = reconstruction_weights(X, np.array([[1, 2], [0, 2], [0, 1]]))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(weights[1], [0.75, 0.25], atol=2e-3)
    assert reconstruction_weights(np.zeros((3, 2)), np.array([[1, 2]] * 3)) == pytest.approx(0.5)
