import itertools

import numpy as np
import pytest

from boostbench.core.weak.discriminants import ProjectedDiscriminants
from boostbench.core.weak.projected import IndependentProjections, PooledProjections

from . import reference


def problem(seed, n_samples=30, n_features=3, n_classes=3):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(n_samples, n_classes))
    return rng.normal(size=(n_samples, n_features)), G - G.mean()


def independent(X, G, n_projections, rng):
    return IndependentProjections(X, G.shape[1], n_projections, 6, rng)


def pooled(X, G, n_projections, rng):
    return PooledProjections(X, G.shape[1], n_projections, 6, rng, pool_size=50)


def literal_discriminant(search, X, G, selected):
    """The weighted discriminant of the points P^(r) x_i, one by one; values at all points."""
    points, weights = [], []
    for i, x in enumerate(X):
        for r in range(G.shape[1]):
            points.append(search.rows(selected)[:, r] @ x)
            weights.append(G[i, r])
    points, weights = np.array(points), np.array(weights)
    within, means = 0.0, []
    for kind in (weights > 0, weights < 0):
        w = np.abs(weights[kind]) / np.abs(weights[kind]).sum()
        mean = sum(a * p for a, p in zip(w, points[kind], strict=True))
        within = within + sum(
            a * np.outer(p - mean, p - mean) for a, p in zip(w, points[kind], strict=True)
        )
        means.append(mean)
    direction = np.linalg.pinv(within, rcond=1e-9) @ (means[0] - means[1])
    return (points @ direction).reshape(G.shape)


@pytest.mark.parametrize("kind", [independent, pooled])
@pytest.mark.parametrize("n_selected", [5, 40], ids=["fewer than k d", "more than k d"])
@pytest.mark.parametrize("seed", range(5))
def test_the_discriminant_of_the_projected_points(kind, n_selected, seed):
    X, G = problem(seed)
    search = kind(X, G, 40, np.random.default_rng(seed))
    found = ProjectedDiscriminants(search, X, 40, n_selected, np.random.default_rng(seed))
    selected = np.random.default_rng(seed).choice(40, n_selected, replace=False)
    values = X @ found._discriminant(G).T
    np.testing.assert_allclose(values, literal_discriminant(search, X, G, selected), rtol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_the_best_of_all_thresholds_and_of_the_projected_stumps(seed):
    X, G = problem(seed)
    search = independent(X, G, 4, np.random.default_rng(seed))
    model = ProjectedDiscriminants(search, X, 4, 100, np.random.default_rng(seed))
    stump = model.best(G)
    edge = (G * stump(X)).sum()
    direction = ProjectedDiscriminants(
        search, X, 4, 100, np.random.default_rng(seed)
    )._discriminant(G)
    values = np.unique(X @ direction.T)
    edges = [
        abs(reference.projected_edge(X, G, direction, (low + high) / 2))
        for low, high in itertools.pairwise(values)
    ]
    plain = (G * search.best(G)(X)).sum()
    assert edge == pytest.approx(max(*edges, plain), rel=1e-6)


def test_equal_points_are_never_parted():
    X, G = problem(0)
    X = np.repeat(X[:3], 10, axis=0)
    model = ProjectedDiscriminants(
        independent(X, G, 4, np.random.default_rng(0)), X, 4, 100, np.random.default_rng(0)
    )
    outputs = model._discriminant_stump(G)(X)
    for start in range(0, 30, 10):
        assert (outputs[start : start + 10] == outputs[start]).all()
