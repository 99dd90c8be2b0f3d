import itertools

import numpy as np
import pytest

from boostbench.core.codebooks import draw_codebook
from boostbench.core.learners.vector_trees import (
    CodewordVote,
    LeastSquares,
    VectorTrees,
    VectorTreeSearch,
)
from boostbench.core.stumps.search import StumpSearch


def data(seed, n_samples=40, n_features=3, n_components=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)).round(1)
    return X, rng.normal(size=(n_samples, n_components)) + (X[:, :1] > 0)


CODEWORDS = draw_codebook(5, 2, np.random.default_rng(0))
CRITERIA = {"least squares": LeastSquares(), "vote": CodewordVote(CODEWORDS)}


def leaf_gain(kind, G, inside):
    """Return the gain of a leaf, summed sample by sample."""
    if not inside.any():
        return 0.0, None
    if kind == "vote":
        gains = [sum(y @ w for w in G[inside]) for y in CODEWORDS]
        return max(gains), CODEWORDS[int(np.argmax(gains))]
    mean = G[inside].mean(axis=0)
    return sum(mean @ w for w in G[inside]), mean


def best_test(kind, X, G, inside):
    """Return the best of all thresholds of all features."""
    result = []
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for low, high in itertools.pairwise(values):
            above = X[:, j] > (low + high) / 2
            gain = leaf_gain(kind, G, inside & above)[0] + leaf_gain(kind, G, inside & ~above)[0]
            result.append((gain, inside & ~above, inside & above))
    return max(result, key=lambda entry: entry[0])


@pytest.mark.parametrize("kind", CRITERIA)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_tree_equals_greedy_brute_force(kind, depth, seed):
    X, G = data(seed)
    result = VectorTreeSearch(StumpSearch(X), depth).best(G, CRITERIA[kind])
    leaves = [np.ones(len(G), bool)]
    for _ in range(depth):
        leaves = [side for node in leaves for side in best_test(kind, X, G, node)[1:]]
    expected = sum(leaf_gain(kind, G, inside)[0] for inside in leaves)
    assert result.edge == pytest.approx(expected, rel=1e-5)
    for number, inside in enumerate(leaves):
        if not inside.any():
            continue
        assert (result.leaf[inside] == number).all()
        np.testing.assert_allclose(result.values[number], leaf_gain(kind, G, inside)[1])
    assert result.edge == pytest.approx((result.values[result.leaf] * G).sum())
    assert (result.tree(X) == result.values[result.leaf]).all()


def test_least_squares_stump_has_the_smallest_squared_error():
    X, G = data(1)
    result = VectorTreeSearch(StumpSearch(X), 1).best(G, LeastSquares())
    error = ((G - result.values[result.leaf]) ** 2).sum()
    for j in range(X.shape[1]):
        for threshold in np.unique(X[:, j])[:-1]:
            above = X[:, j] > threshold
            fit = np.where(above[:, None], G[above].mean(axis=0), G[~above].mean(axis=0))
            assert error <= ((G - fit) ** 2).sum() * (1 + 1e-6)


@pytest.mark.parametrize("kind", CRITERIA)
def test_empty_leaf_has_the_value_of_its_sibling(kind):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    G = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    result = VectorTreeSearch(StumpSearch(X), 2).best(G, CRITERIA[kind])
    assert set(result.leaf) in ({0, 2}, {0, 3}, {1, 2}, {1, 3})
    for first, second in ((0, 1), (2, 3)):
        np.testing.assert_array_equal(result.values[first], result.values[second])


def test_best_is_none_for_constant_features():
    search = VectorTreeSearch(StumpSearch(np.ones((4, 2))), 2)
    assert search.best(np.ones((4, 2)), LeastSquares()) is None


@pytest.mark.parametrize("max_bins", [None, 4])
def test_tree_is_returned_without_a_gain(max_bins):
    X = np.arange(200.0)[:, None] % 50
    result = VectorTreeSearch(StumpSearch(X, max_bins), 2).best(np.ones((200, 3)), LeastSquares())
    np.testing.assert_allclose(result.values, 1.0)
    assert result.edge == pytest.approx(600.0)


def test_scores_equal_the_weighted_sum_of_outputs():
    trees, rng = [], np.random.default_rng(3)
    for seed, depth in enumerate((1, 2, 2, 1, 2)):
        X, G = data(seed)
        trees.append(VectorTreeSearch(StumpSearch(X), depth).best(G, LeastSquares()).tree)
    stack, coefficients = VectorTrees(trees, 2), rng.normal(size=5)
    X = rng.normal(size=(30, 3))
    for part in (slice(None), slice(1, 3), slice(2, 2)):
        np.testing.assert_allclose(
            stack.scores(X, coefficients, part),
            stack.outputs(X, part) @ coefficients[part],
            atol=1e-12,
        )
    assert VectorTrees([], 2).scores(X, np.empty(0)).shape == (30, 2)


@pytest.mark.parametrize("rest", [0.1 + 0.2 - 0.3, 0.3 - 0.2 - 0.1])
def test_tied_vote_goes_to_the_first_codeword(rest):
    vote, absolute_sums = CodewordVote(np.eye(3)), np.full((1, 3), 0.6)
    assert vote.leaf_vectors(np.array([[0.0, rest, 0.0]]), None, absolute_sums).tolist() == [
        [1.0, 0.0, 0.0]
    ]
