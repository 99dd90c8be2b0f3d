import numpy as np
import pytest
from scipy import stats

from boostbench.core.learners.perceptrons import Perceptron, Perceptrons
from boostbench.core.learners.random_features import (
    Cosine,
    Cosines,
    RandomCosineSearch,
    RandomFeatureSearch,
    RandomPerceptronSearch,
    SignedPerceptronSearch,
)
from boostbench.core.weak_learner import Found


def draw(seed=0, n_samples=30, n_features=3):
    rng = np.random.default_rng(seed)
    return rng.normal(1.0, 2.0, (n_samples, n_features))


def make(kind, X, n_candidates=40, seed=0):
    rng = np.random.default_rng(seed)
    if kind is Perceptron:
        return RandomPerceptronSearch(X, n_candidates, rng)
    return RandomCosineSearch(X, n_candidates, rng, gamma=0.1)


def candidates(kind, X, n_candidates=40, seed=0):
    """What the first call of a search draws, one by one."""
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((n_candidates, X.shape[1]), dtype=np.float32)
    uniform = rng.random(n_candidates, dtype=np.float32)
    for direction, u in zip(directions.astype(float), uniform.astype(float), strict=True):
        if kind is Perceptron:
            radius = max(np.linalg.norm(row) for row in X)
            yield direction / np.linalg.norm(direction), (2 * u - 1) * radius
        else:
            yield np.sqrt(2 * 0.1) * direction, 2 * np.pi * u


def outputs(kind, direction, offset, X):
    if kind is Perceptron:
        return np.array([1.0 if direction @ row > offset else -1.0 for row in X])
    return np.array([np.cos(direction @ row - offset) for row in X])


KINDS = pytest.mark.parametrize("kind", [Perceptron, Cosine])


@KINDS
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_candidate_is_found(kind, n_columns, seed):
    X = draw(seed)
    G = np.random.default_rng(seed).normal(size=(len(X), n_columns))
    found = make(kind, X, seed=seed).best(G)
    assert isinstance(found, Found)
    assert isinstance(found.learner, kind)
    everything = [
        abs(G[:, c] @ outputs(kind, direction, offset, X))
        for direction, offset in candidates(kind, X, seed=seed)
        for c in range(n_columns)
    ]
    assert abs(found.edge) == pytest.approx(max(everything), rel=1e-4)
    assert found.edge == pytest.approx(G[:, found.column] @ found.outputs)
    wanted = outputs(kind, *found.learner, X)
    np.testing.assert_allclose(found.outputs, wanted, atol=1e-12)


@KINDS
def test_candidates_are_drawn_anew(kind):
    X = draw()
    search = make(kind, X)
    G = X[:, :1]
    directions = [search.best(G).learner.direction for _ in range(3)]
    assert len({tuple(direction) for direction in directions}) == 3


@KINDS
def test_constants_are_left_out(kind):
    """Even though a constant has the largest edge: here most candidates are constant, or nearly."""
    X = draw(n_samples=12) + 50.0
    found = make(kind, X, n_candidates=500).best(np.ones((12, 1)))
    assert len(set(found.outputs)) > 1
    assert make(kind, np.full((5, 3), 7.0)).best(np.ones((5, 1))) is None
    assert make(kind, np.zeros((5, 3))).best(np.ones((5, 1))) is None


def test_perceptrons_of_features_of_any_size():
    for size in (1e-300, 1e-160, 1e160, 1e300):
        X = size * draw()
        G = np.sign(X[:, :1])
        found = make(Perceptron, X, n_candidates=500).best(G)
        assert found.edge / len(X) == pytest.approx(
            make(Perceptron, X / size, n_candidates=500).best(G).edge / len(X), abs=1e-9
        )


def drawn(kind, X, n):
    """Outputs of many candidates; where one is constant, it is +1, or -1: only products matter."""
    search = make(kind, X, n_candidates=1)
    found = (search.best(np.ones((len(X), 1))) for _ in range(n))
    return np.array([np.ones(len(X)) if f is None else f.outputs for f in found])


def test_products_of_perceptrons_are_the_perceptron_kernel():
    """In the plane two points differ with probability |x - x'| / (pi R)."""
    X = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    H = drawn(Perceptron, X, 4000)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    wanted = 1 - 2 * distances / (np.pi * 2.0)
    np.testing.assert_allclose(H.T @ H / len(H), wanted, atol=0.05)


def test_products_of_cosines_are_the_gaussian_kernel():
    X = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [5.0, 5.0]])
    H = drawn(Cosine, X, 4000)
    wanted = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(2 * H.T @ H / len(H), wanted, atol=0.08)


def test_thresholds_reach_as_far_as_the_samples():
    X = draw(n_features=2)
    radius = np.linalg.norm(X, axis=1).max()
    thresholds = [offset for _, offset in candidates(Perceptron, X, 2000)]
    assert stats.kstest(np.array(thresholds) / radius, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    search = make(Perceptron, X, n_candidates=1)
    found = [search.best(np.ones((30, 1))) for _ in range(300)]
    assert max(abs(f.learner.threshold) for f in found if f) <= radius


@pytest.mark.parametrize(("kind", "stack"), [(Cosine, Cosines), (Perceptron, Perceptrons)])
def test_a_stack_is_its_members(kind, stack):
    X = draw()
    search = make(kind, X)
    learners = [search.best(X[:, :1]).learner for _ in range(7)]
    both = stack(learners)
    assert len(both) == 7
    wanted = np.column_stack([learner(X) for learner in learners])
    np.testing.assert_allclose(both.outputs(X), wanted, atol=1e-12)
    np.testing.assert_allclose(both.outputs(X, slice(2, 5)), wanted[:, 2:5], atol=1e-12)
    np.testing.assert_allclose(both.scores(X, np.arange(7.0)), wanted @ np.arange(7.0))
    assert stack([]).outputs(X).shape == (30, 0)


def test_a_cosine_by_hand():
    cosine = Cosine(np.array([1.0, 2.0]), np.pi)
    assert cosine(np.array([[np.pi, 0.0], [0.0, np.pi / 2]])).tolist() == [1.0, 1.0]


def test_a_constant_is_not_found_beside_an_edge_of_0():
    """Rounding of large weights is more than any edge."""

    class Two(RandomFeatureSearch):
        def _candidates(self, G):
            constant, varying = Perceptron(np.ones(1), -1.0), Perceptron(np.ones(1), 1.5)
            return (constant, varying).__getitem__, np.zeros((1, 2)), np.zeros(2)

    G = 2.0**40 * np.array([[1.0], [-1.0], [1.0], [-1.0]])
    found = Two(np.arange(4.0)[:, None], 2, None).best(G)
    assert found.learner.threshold == 1.5


def test_they_are_the_same_perceptrons_with_positive_edges():
    rng = np.random.default_rng(0)
    X, G = rng.normal(size=(40, 3)), rng.normal(size=(30, 40, 1))
    plain = RandomPerceptronSearch(X, 20, np.random.default_rng(1))
    turned = SignedPerceptronSearch(X, 20, np.random.default_rng(1))
    signs = set()
    for weights in G:
        one, other = plain.best(weights), turned.best(weights)
        sign = np.sign(one.edge)
        signs.add(sign)
        assert (other.outputs == sign * one.outputs).all()
        assert (other.outputs == other.learner(X)).all()
        assert other.edge == abs(one.edge)
    assert signs == {-1.0, 1.0}


def test_no_turned_perceptron_where_no_feature_varies():
    assert (
        SignedPerceptronSearch(np.ones((5, 2)), 10, np.random.default_rng(0)).best(np.ones((5, 1)))
        is None
    )
