from itertools import product

import numpy as np
import pytest

from boostbench.core.stumps.category_sets import (
    CategorySet,
    StumpsWithSets,
    add_category_sets,
    stack_stumps,
)
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stump, Stumps
from boostbench.core.stumps.views import ViewedFeatures, fit_views


def table(seed, n_samples=40, n_categories=5, holes=0.2):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n_samples),
            rng.integers(n_categories, size=n_samples),
            rng.integers(4, size=n_samples),
        ]
    )
    X[:, 1][rng.random(n_samples) < holes] = np.nan
    return X, rng


def make_search(X, categorical=(1, 2)):
    views = fit_views(X, categorical)
    Z = views.transform(X)
    return Z, views, add_category_sets(StumpSearch(ViewedFeatures(X, views)), views)


def outputs(learner, Z):
    return stack_stumps([learner]).outputs(Z)[:, 0]


def brute_force_edge(X, G):
    """Return the largest edge over all sets of categories and all thresholds, one by one."""
    best = 0.0
    for feature in (1, 2):
        codes = np.where(np.isnan(X[:, feature]), -1, X[:, feature])
        categories = np.unique(codes)
        for sides in product([-1.0, 1.0], repeat=len(categories)):
            if len(set(sides)) == 2:
                h = np.array(sides)[categories.searchsorted(codes)]
                best = max(best, np.abs(h @ G).max())
    for threshold in np.sort(X[:, 0])[:-1]:
        best = max(best, np.abs(np.where(X[:, 0] > threshold, 1.0, -1.0) @ G).max())
    return best


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_best_set_equals_brute_force(n_columns, holes):
    kinds = set()
    for seed in range(60):
        X, rng = table(seed, holes=holes)
        G = rng.normal(size=(len(X), n_columns))
        Z, _, search = make_search(X)
        best = search.best(G)
        kinds.add(type(best.learner))
        assert best.edge == pytest.approx(brute_force_edge(X, G), rel=1e-12)
        h = outputs(best.learner, Z)
        np.testing.assert_array_equal(h, best.outputs)
        assert h @ G[:, best.column] == pytest.approx(best.edge, rel=1e-12)
    assert kinds == {Stump, CategorySet}


@pytest.mark.parametrize("seed", range(10))
def test_weights_of_one_sign_do_not_give_the_constant(seed):
    """The best set has all categories on one side, but a constant is no stump."""
    X, rng = table(seed)
    G = rng.random((len(X), 1))
    Z, _, search = make_search(X)
    best = search.best(G)
    assert isinstance(best.learner, Stump)
    assert len(np.unique(outputs(best.learner, Z))) == 2
    assert best.edge == pytest.approx(brute_force_edge(X, G), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_best_set_does_not_depend_on_rounding_and_row_order(seed):
    """Sums are 0, and features are copies, both up to rounding."""
    X, rng = table(seed)
    X = np.column_stack([X, X[:, 1]])
    G = rng.integers(-2, 3, size=(len(X), 2)) / 10
    learners = set()
    for _ in range(5):
        order = rng.permutation(len(X))
        _, _, search = make_search(X[order], (1, 2, 3))
        learners.add(search.best(G[order] * (1 + 1e-14 * rng.normal(size=G.shape))).learner)
    assert len(learners) == 1


def test_set_and_complement_have_one_representation():
    Z, _, search = make_search(np.arange(4.0)[:, None], [0])
    for signs in product([-1.0, 1.0], repeat=4):
        if abs(sum(signs)) == 0:
            learner = search.best(np.array(signs)[:, None]).learner
            assert 0 not in learner.views
            np.testing.assert_array_equal(outputs(learner, Z), signs)


def test_few_categories_are_searched_without_sets():
    X = np.array([[0.0, 1.5], [1.0, 2.5], [2.0, np.nan], [0.0, 0.0]])
    views = fit_views(X, [0])
    search = StumpSearch(views.transform(X))
    assert add_category_sets(search, views) is search


def test_stack_of_stumps_and_sets():
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.normal(size=30), np.eye(5)[rng.integers(5, size=30)]])
    learners = [CategorySet((2, 4)), Stump(0, 0.1, -1), CategorySet((1, 3), -1), Stump(3, 0.5)]
    learners += [CategorySet((2, 4), -1)] * 20  # This number of samples is summed in blocks.
    stack = stack_stumps(learners)
    assert isinstance(stack, StumpsWithSets)
    h = np.column_stack(
        [
            learner(Z)
            if isinstance(learner, Stump)
            else learner.polarity * (2 * Z[:, learner.views].sum(axis=1) - 1)
            for learner in learners
        ]
    )
    np.testing.assert_array_equal(stack.outputs(Z), h)
    np.testing.assert_array_equal(stack.outputs(Z, slice(1, 3)), h[:, 1:3])
    W = rng.normal(size=(len(learners), 3))
    np.testing.assert_allclose(stack.scores(Z, W), h @ W, atol=1e-12)
    np.testing.assert_allclose(stack.scores(Z, W[:, 0], slice(2, 5)), h[:, 2:5] @ W[2:5, 0])
    assert stack.tested[:4].tolist() == [2, 0, 1, 3]
    assert stack.n_parameters == 2 * len(learners)
    assert type(stack_stumps(learners[1:2])) is Stumps
