import numpy as np
import pytest

from boostbench.core.learners.mixed_learners import MixedStack, UnionSearch, stack_learners
from boostbench.core.learners.perceptrons import Perceptron, Perceptrons
from boostbench.core.learners.random_features import (
    Cosine,
    Cosines,
    RandomCosineSearch,
    RandomPerceptronSearch,
)
from boostbench.core.stumps.search import UnusedStumps
from boostbench.core.stumps.stump import Stump, Stumps

X = np.random.default_rng(0).normal(size=(40, 3))


def searches(seed=0):
    return [
        UnusedStumps(X),
        RandomPerceptronSearch(X, 30, np.random.default_rng(seed)),
        RandomCosineSearch(X, 30, np.random.default_rng(seed), 0.5),
    ]


def test_the_best_of_all_kinds_is_found():
    kinds = set()
    together, alone = UnionSearch(searches()), searches()
    for seed in range(30):
        G = np.random.default_rng(seed).normal(size=(40, 1))
        found = together.best(G)
        assert abs(found.edge) == max(abs(search.best(G).edge) for search in alone)
        kinds.add(type(found.learner))
    assert len(kinds) > 1


def test_what_is_left_out_is_not_found_again():
    together = UnionSearch([searches()[0], UnusedStumps(np.ones((40, 3)))])
    G = X[:, :1]
    first = together.best(G).learner
    together.leave_out(Cosine(np.ones(3), 0.0))
    assert together.best(G).learner == first
    together.leave_out(first)
    assert together.best(G).learner != first


def test_without_anything_to_find():
    constant = UnusedStumps(np.ones((4, 2)))
    assert UnionSearch([constant, constant]).best(np.ones((4, 1))) is None


LEARNERS = [
    Cosine(np.array([1.0, 0.0, 2.0]), 0.3),
    Stump(1, 0.2, -1),
    Stump(0, -0.4),
    Perceptron(np.array([1.0, 1.0, 0.0]), 0.1),
    Cosine(np.array([0.0, 1.0, 0.5]), 1.0),
    Stump(2, 0.0),
]


@pytest.mark.parametrize("some", [slice(None), slice(0, 1), slice(2, 5), slice(4, 4), slice(3, 6)])
def test_a_mixture_is_its_members(some):
    mixture = stack_learners(LEARNERS)
    assert isinstance(mixture, MixedStack)
    assert len(mixture) == 6
    wanted = np.column_stack([learner(X) for learner in LEARNERS])
    np.testing.assert_allclose(mixture.outputs(X, some), wanted[:, some], atol=1e-12)
    coefficients = np.arange(12.0).reshape(6, 2)
    scores = mixture.scores(X, coefficients, some)
    np.testing.assert_allclose(scores, wanted[:, some] @ coefficients[some], atol=1e-12)


def test_one_kind_has_a_stack_of_its_own():
    assert type(stack_learners(LEARNERS[1:3])) is Stumps
    assert type(stack_learners(LEARNERS[:1])) is Cosines
    assert type(stack_learners(LEARNERS[3:4])) is Perceptrons
    assert len(stack_learners([])) == 0
