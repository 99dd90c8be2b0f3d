"""Compare the search on feature codes with brute force on the columns of the views."""

import numpy as np
import pytest

from boostbench.core.stumps.search import StumpSearch, StumpSearchWithExclusion
from boostbench.core.stumps.stump import Stump
from boostbench.core.stumps.thresholds import find_thresholds
from boostbench.core.stumps.views import ViewedFeatures, fit_views

from ..test_feature_codes import messy_features


def draw_integer_weights(rng, n_samples, n_columns, kind):
    """Return weights whose sums are exact, so that brute force decides ties exactly."""
    if kind == "ties":
        G = rng.integers(-1, 2, (n_samples, n_columns))
    elif kind == "zeros":
        G = rng.integers(-99, 100, (n_samples, n_columns)) * (rng.random((n_samples, 1)) < 0.1)
    elif kind == "one sign":
        G = rng.integers(1, 99, (n_samples, n_columns))
    else:
        G = rng.integers(-9999, 10000, (n_samples, n_columns))
    if n_columns == 2:
        G[:, 1] = -G[:, 0]
    return G.astype(float)


class BruteForce:
    """Stumps on all columns of the views, evaluated one by one.

    Attributes
    ----------
    stumps : list of Stump
        In the order of views and thresholds.
    outputs : ndarray of shape (n_samples, n_stumps)
    """

    def __init__(self, Z, max_bins, weights):
        self.stumps = [
            Stump(view, float(cut))
            for view, column in enumerate(Z.T)
            for cut in find_thresholds(column, max_bins, weights)
        ]
        self.outputs = np.column_stack([stump(Z) for stump in self.stumps])

    def first(self, sizes):
        return self.stumps[int(sizes.argmax())]


@pytest.fixture(params=[(None, False), (None, True), (2, False), (16, False), (16, True)])
def problem(request):
    """Return a function from a seed to (rng, search, brute force) of one table."""
    max_bins, is_weighted = request.param

    def make(seed, kind=StumpSearch):
        rng = np.random.default_rng(seed)
        X, categorical = messy_features(rng)
        weights = rng.integers(1, 4, len(X)).astype(float) if is_weighted else None
        views = fit_views(X, categorical, weights)
        search = kind(ViewedFeatures(X, views), max_bins, weights)
        return rng, search, BruteForce(views.transform(X), max_bins, weights)

    return make


@pytest.mark.parametrize("n_columns", [1, 2, 4])
@pytest.mark.parametrize("kind", ["any", "ties", "zeros", "one sign"])
def test_best_stumps_equal_brute_force(problem, n_columns, kind):
    for seed in range(8):
        rng, search, brute = problem(seed)
        G = draw_integer_weights(rng, len(brute.outputs), n_columns, kind)
        edges = brute.outputs.T @ G

        best = search.best(G)
        stump, column = divmod(int(np.abs(edges).argmax()), n_columns)
        assert best.learner[:2] == brute.stumps[stump][:2]
        assert best.column == column
        assert best.edge == np.abs(edges).max()
        np.testing.assert_array_equal(best.outputs, best.learner.polarity * brute.outputs[:, stump])

        best = search.best_sum_abs_edge(G)
        sizes = np.abs(edges).sum(axis=1)
        assert best.learner == brute.first(sizes)
        assert best.edge == sizes.max()

        each = [search.stump(position) for position in search.best_per_column(G)]
        assert each == [brute.first(np.abs(column)) for column in edges.T]


def test_edges_at_all_positions_equal_brute_force(problem):
    rng, search, brute = problem(0)
    G = draw_integer_weights(rng, len(brute.outputs), 3, "any")
    assert [search.stump(position) for position in range(search.n_positions)] == brute.stumps
    assert not search.is_padding.any()
    np.testing.assert_array_equal(search.edges(G), brute.outputs.T @ G)
    positions = np.arange(search.n_positions)
    np.testing.assert_array_equal(search.exact_edges_all_columns(G, positions), brute.outputs.T @ G)


def test_best_position_excluding_equals_brute_force(problem):
    for seed in range(4):
        rng, search, brute = problem(seed)
        G = draw_integer_weights(rng, len(brute.outputs), 3, "any")
        edges = brute.outputs.T @ G

        def size(edges_of_stumps):
            return (edges_of_stumps**2).sum(axis=1)

        def change_bound(weights):
            return np.sqrt((weights**2).sum(axis=1))

        scale = float((np.abs(G).sum(axis=0) ** 2).sum())
        assert search.stump(search.best_position(G, size, scale)) == brute.first(size(edges))

        def norm(edges_of_stumps):
            return np.sqrt(size(edges_of_stumps))

        excluded = np.array([int(norm(edges).argmax()), 3])
        position, edges_beside, off = search.best_position_excluding(
            G, norm, change_bound, scale**0.5, excluded
        )
        assert (np.abs(edges_beside - edges[excluded]) <= off).all()
        edges[excluded] = 0.0
        assert search.stump(position) == brute.first(norm(edges))


def test_excluded_stumps_are_not_returned_again(problem):
    rng, search, brute = problem(1, StumpSearchWithExclusion)
    G = draw_integer_weights(rng, len(brute.outputs), 1, "any")
    sizes = np.abs(brute.outputs.T @ G)[:, 0]
    for _ in range(10):
        learner = search.best(G).learner
        assert learner[:2] == brute.first(sizes)[:2]
        search.exclude(learner)
        sizes[brute.stumps.index(learner._replace(polarity=1))] = -1.0
