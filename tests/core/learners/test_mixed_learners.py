import numpy as np
import pytest

from boostbench.core.learners.perceptrons import Perceptron, Perceptrons
from boostbench.core.learners.random_features import (
    Cosine,
    Cosines,
    MixedStack,
    RandomCosineSearch,
    RandomPerceptronSearch,
    UnionSearch,
    stack_learners,
)
from boostbench.core.stumps.search import StumpSearchWithExclusion
from boostbench.core.stumps.stump import Stump, Stumps

X = np.random.default_rng(0).normal(size=(40, 3))


def searches(seed=0):
    return [
        StumpSearchWithExclusion(X),
        RandomPerceptronSearch(X, 30, np.random.default_rng(seed)),
        RandomCosineSearch(X, 30, np.random.default_rng(seed), 0.5),
    ]


def test_union_returns_the_best_of_all_kinds():
    kinds = set()
    union, single_searches = UnionSearch(searches()), searches()
    for seed in range(30):
        G = np.random.default_rng(seed).normal(size=(40, 1))
        result = union.best(G)
        assert abs(result.edge) == max(abs(search.best(G).edge) for search in single_searches)
        kinds.add(type(result.learner))
    assert len(kinds) > 1


def test_excluded_learner_is_not_returned_again():
    union = UnionSearch([searches()[0], StumpSearchWithExclusion(np.ones((40, 3)))])
    G = X[:, :1]
    first = union.best(G).learner
    union.exclude(Cosine(np.ones(3), 0.0))
    assert union.best(G).learner == first
    union.exclude(first)
    assert union.best(G).learner != first


def test_union_returns_none_if_all_searches_do():
    constant = StumpSearchWithExclusion(np.ones((4, 2)))
    assert UnionSearch([constant, constant]).best(np.ones((4, 1))) is None


LEARNERS = [
    Cosine(np.array([1.0, 0.0, 2.0]), 0.3),
    Stump(1, 0.2, -1),
    Stump(0, -0.4),
    Perceptron(np.array([1.0, 1.0, 0.0]), 0.1),
    Cosine(np.array([0.0, 1.0, 0.5]), 1.0),
    Stump(2, 0.0),
]


@pytest.mark.parametrize(
    "selection", [slice(None), slice(0, 1), slice(2, 5), slice(4, 4), slice(3, 6)]
)
def test_outputs_of_mixed_stack_equal_single_learners(selection):
    stack = stack_learners(LEARNERS)
    assert isinstance(stack, MixedStack)
    assert len(stack) == 6
    expected = np.column_stack([learner(X) for learner in LEARNERS])
    np.testing.assert_allclose(stack.outputs(X, selection), expected[:, selection], atol=1e-12)
    coefficients = np.arange(12.0).reshape(6, 2)
    scores = stack.scores(X, coefficients, selection)
    np.testing.assert_allclose(scores, expected[:, selection] @ coefficients[selection], atol=1e-12)


def test_learners_of_one_kind_are_stacked_by_their_own_type():
    assert type(stack_learners(LEARNERS[1:3])) is Stumps
    assert type(stack_learners(LEARNERS[:1])) is Cosines
    assert type(stack_learners(LEARNERS[3:4])) is Perceptrons
    assert len(stack_learners([])) == 0
