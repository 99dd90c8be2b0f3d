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
from boostbench.core.weak_learner import SearchResult


def make_X(seed=0, n_samples=30, n_features=3):
    rng = np.random.default_rng(seed)
    return rng.normal(1.0, 2.0, (n_samples, n_features))


def make_search(kind, X, n_candidates=40, seed=0):
    rng = np.random.default_rng(seed)
    if kind is Perceptron:
        return RandomPerceptronSearch(X, n_candidates, rng)
    return RandomCosineSearch(X, n_candidates, rng, gamma=0.1)


def expected_candidates(kind, X, n_candidates=40, seed=0):
    """Yield direction and offset of each candidate in the first call of a search."""
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((n_candidates, X.shape[1]), dtype=np.float32)
    uniform = rng.random(n_candidates, dtype=np.float32)
    for direction, u in zip(directions.astype(float), uniform.astype(float), strict=True):
        if kind is Perceptron:
            radius = max(np.linalg.norm(row) for row in X)
            yield direction / np.linalg.norm(direction), (2 * u - 1) * radius
        else:
            yield np.sqrt(2 * 0.1) * direction, 2 * np.pi * u


def expected_outputs(kind, direction, offset, X):
    if kind is Perceptron:
        return np.array([1.0 if direction @ row > offset else -1.0 for row in X])
    return np.array([np.cos(direction @ row - offset) for row in X])


KINDS = pytest.mark.parametrize("kind", [Perceptron, Cosine])


@KINDS
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_best_equals_brute_force(kind, n_columns, seed):
    X = make_X(seed)
    G = np.random.default_rng(seed).normal(size=(len(X), n_columns))
    result = make_search(kind, X, seed=seed).best(G)
    assert isinstance(result, SearchResult)
    assert isinstance(result.learner, kind)
    all_edges = [
        abs(G[:, c] @ expected_outputs(kind, direction, offset, X))
        for direction, offset in expected_candidates(kind, X, seed=seed)
        for c in range(n_columns)
    ]
    assert abs(result.edge) == pytest.approx(max(all_edges), rel=1e-4)
    assert result.edge == pytest.approx(G[:, result.column] @ result.outputs)
    expected = expected_outputs(kind, *result.learner, X)
    np.testing.assert_allclose(result.outputs, expected, atol=1e-12)


@KINDS
def test_every_call_draws_new_candidates(kind):
    X = make_X()
    search = make_search(kind, X)
    G = X[:, :1]
    directions = [search.best(G).learner.direction for _ in range(3)]
    assert len({tuple(direction) for direction in directions}) == 3


@KINDS
def test_constant_candidates_are_excluded(kind):
    """A constant would have the largest edge, and most candidates are constant or nearly so."""
    X = make_X(n_samples=12) + 50.0
    result = make_search(kind, X, n_candidates=500).best(np.ones((12, 1)))
    assert len(set(result.outputs)) > 1
    assert make_search(kind, np.full((5, 3), 7.0)).best(np.ones((5, 1))) is None
    assert make_search(kind, np.zeros((5, 3))).best(np.ones((5, 1))) is None


def test_perceptrons_do_not_depend_on_the_scale_of_features():
    for size in (1e-300, 1e-160, 1e160, 1e300):
        X = size * make_X()
        G = np.sign(X[:, :1])
        result = make_search(Perceptron, X, n_candidates=500).best(G)
        assert result.edge / len(X) == pytest.approx(
            make_search(Perceptron, X / size, n_candidates=500).best(G).edge / len(X), abs=1e-9
        )


def sample_outputs(kind, X, n):
    """Return the outputs of n candidates. A constant is +1, since products do not need its sign."""
    search = make_search(kind, X, n_candidates=1)
    results = (search.best(np.ones((len(X), 1))) for _ in range(n))
    return np.array([np.ones(len(X)) if result is None else result.outputs for result in results])


def test_products_of_perceptrons_estimate_the_perceptron_kernel():
    """Two points of the plane have different outputs with probability |x - x'| / (pi R)."""
    X = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    H = sample_outputs(Perceptron, X, 4000)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    expected = 1 - 2 * distances / (np.pi * 2.0)
    np.testing.assert_allclose(H.T @ H / len(H), expected, atol=0.05)


def test_products_of_cosines_estimate_the_gaussian_kernel():
    X = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [5.0, 5.0]])
    H = sample_outputs(Cosine, X, 4000)
    expected = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(2 * H.T @ H / len(H), expected, atol=0.08)


def test_thresholds_are_uniform_up_to_the_largest_norm():
    X = make_X(n_features=2)
    radius = np.linalg.norm(X, axis=1).max()
    thresholds = [offset for _, offset in expected_candidates(Perceptron, X, 2000)]
    assert stats.kstest(np.array(thresholds) / radius, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    search = make_search(Perceptron, X, n_candidates=1)
    results = [search.best(np.ones((30, 1))) for _ in range(300)]
    assert max(abs(result.learner.threshold) for result in results if result) <= radius


@pytest.mark.parametrize(("kind", "stack"), [(Cosine, Cosines), (Perceptron, Perceptrons)])
def test_outputs_of_stack_equal_single_learners(kind, stack):
    X = make_X()
    search = make_search(kind, X)
    learners = [search.best(X[:, :1]).learner for _ in range(7)]
    stacked = stack(learners)
    assert len(stacked) == 7
    expected = np.column_stack([learner(X) for learner in learners])
    np.testing.assert_allclose(stacked.outputs(X), expected, atol=1e-12)
    np.testing.assert_allclose(stacked.outputs(X, slice(2, 5)), expected[:, 2:5], atol=1e-12)
    np.testing.assert_allclose(stacked.scores(X, np.arange(7.0)), expected @ np.arange(7.0))
    assert stack([]).outputs(X).shape == (30, 0)


def test_cosine_computed_by_hand():
    cosine = Cosine(np.array([1.0, 2.0]), np.pi)
    assert cosine(np.array([[np.pi, 0.0], [0.0, np.pi / 2]])).tolist() == [1.0, 1.0]


def test_constant_is_excluded_if_all_edges_are_zero():
    """Rounding errors of large weights exceed all edges."""

    class TwoCandidates(RandomFeatureSearch):
        def _draw_candidates(self, G):
            constant, varying = Perceptron(np.ones(1), -1.0), Perceptron(np.ones(1), 1.5)
            return (constant, varying).__getitem__, np.zeros((1, 2)), np.zeros(2)

    G = 2.0**40 * np.array([[1.0], [-1.0], [1.0], [-1.0]])
    result = TwoCandidates(np.arange(4.0)[:, None], 2, None).best(G)
    assert result.learner.threshold == 1.5


def test_signed_search_negates_perceptrons_with_negative_edges():
    rng = np.random.default_rng(0)
    X, G = rng.normal(size=(40, 3)), rng.normal(size=(30, 40, 1))
    unsigned = RandomPerceptronSearch(X, 20, np.random.default_rng(1))
    signed = SignedPerceptronSearch(X, 20, np.random.default_rng(1))
    signs = set()
    for weights in G:
        unsigned_result, signed_result = unsigned.best(weights), signed.best(weights)
        sign = np.sign(unsigned_result.edge)
        signs.add(sign)
        assert (signed_result.outputs == sign * unsigned_result.outputs).all()
        assert (signed_result.outputs == signed_result.learner(X)).all()
        assert signed_result.edge == abs(unsigned_result.edge)
    assert signs == {-1.0, 1.0}


def test_signed_search_returns_none_for_constant_features():
    assert (
        SignedPerceptronSearch(np.ones((5, 2)), 10, np.random.default_rng(0)).best(np.ones((5, 1)))
        is None
    )
