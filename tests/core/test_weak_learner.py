import numpy as np
import pytest

from boostbench.core.learners.discriminants import (
    OutputCodeDiscriminantSearch,
    ProjectedDiscriminantSearch,
)
from boostbench.core.learners.projected_stumps import (
    IndependentProjectionSearch,
    PooledProjectionSearch,
)
from boostbench.core.learners.random_projections import RandomProjectionSearch
from boostbench.core.projections import random_orthonormal
from boostbench.core.stumps.thresholds import midpoint
from boostbench.core.weak_learner import LearnerStack


class Powers(LearnerStack):
    """Stack of x, x^2 and x^3, each times all numbers of a vector."""

    def __init__(self, factors):
        self.factors = np.asarray(factors)

    def __len__(self):
        return 3

    def outputs(self, X, selection=slice(None)):
        powers = X ** np.arange(1, 4)[selection]
        return np.multiply.outer(self.factors, powers).transpose(1, 0, 2)


@pytest.mark.parametrize("selection", [slice(None), slice(1, 3), slice(0, 0)])
def test_scores_sum_the_selected_outputs(selection):
    X, coefficients = np.array([[1.0], [2.0]]), np.array([1.0, 10.0, 100.0])
    expected = [
        [f * sum(c * x**p for p, c in list(enumerate(coefficients, 1))[selection]) for f in (1, -1)]
        for x in (1.0, 2.0)
    ]
    assert Powers([1, -1]).scores(X, coefficients, selection).tolist() == expected


@pytest.mark.parametrize("low", [-1.7e308, -5e-324, 0.0, 1.0, 1.7e308])
def test_midpoint_separates_neighbouring_doubles(low):
    high = np.nextafter(low, np.inf)
    assert low <= midpoint(low, high) < high


def make_fresh_search(X, rng):
    def draw(batch, n_rounds):
        return random_orthonormal((n_rounds, 2, 2), np.random.default_rng(batch))

    return RandomProjectionSearch(X, draw, 2)


def independent(X, rng):
    return IndependentProjectionSearch(X, 1, 20, 8, rng)


def pooled(X, rng):
    return PooledProjectionSearch(X, 1, 20, 8, rng, pool_size=20)


def discriminants(X, rng):
    return ProjectedDiscriminantSearch(independent(X, rng), X, 20, 20, rng)


class CodedSearch:
    """Search with a single code, the discriminant of two classes."""

    def __init__(self, X, rng):
        self.search = OutputCodeDiscriminantSearch(X)

    def best(self, G):
        return self.search.best(G, np.ones((1, 1)), np.zeros(1))


@pytest.mark.parametrize(
    "kind", [make_fresh_search, independent, pooled, discriminants, CodedSearch]
)
def test_no_grid_point_lies_on_a_threshold(kind):
    """Otherwise rounding would decide the side of a sample at the midpoint of two others."""
    grid = np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 9)]), axis=-1).reshape(-1, 2)
    rng = np.random.default_rng(0)
    X = rng.permutation(grid)[:30]
    for _ in range(100):
        search = kind(X, rng)
        G = rng.normal(size=(30, 1))
        learner = search.best(G - G.mean()).learner
        direction = learner[0].ravel()
        if np.isfinite(learner.threshold):
            assert np.abs(grid @ direction - learner.threshold).min() > 1e-12
