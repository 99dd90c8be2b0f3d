import numpy as np
import pytest
from generic import least_error

from boostbench.core.learners.trees import ClassStumpSearch, ClassTrees, Tree, Trees
from boostbench.core.stumps.search import StumpSearch


def random_tree(rng, depth, values, n_features=4, dtype=np.float64):
    """Return a tree whose nodes split with probability 0.75, up to a depth."""
    feature, threshold, children, value = [], [], [], []

    def grow(level):
        node = len(feature)
        feature.append(0)
        threshold.append(0.0)
        children.append([node, node])
        value.append(values(rng))
        if level < depth and (level == 0 or rng.random() < 0.75):
            feature[node] = int(rng.integers(n_features))
            threshold[node] = rng.normal()
            children[node] = [grow(level + 1), grow(level + 1)]
        return node

    grow(0)
    return Tree(np.array(feature), np.array(threshold), np.array(children), np.array(value), dtype)


def evaluate(tree, row):
    """Walk from the root to a leaf."""
    node = 0
    while tree.children[node, 0] != node:
        above = row[tree.feature[node]] > tree.threshold[node]
        node = tree.children[node, int(above)]
    return tree.value[node]


VALUES = {
    "signs": lambda rng: rng.choice([-1.0, 1.0]),
    "classes": lambda rng: int(rng.integers(5)),
    "vectors": lambda rng: rng.normal(size=3),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("seed", range(5))
def test_stack_of_trees_of_different_shapes_equals_single_trees(kind, seed):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, depth, VALUES[kind]) for depth in (1, 0, 4, 2, 3)]
    stacked = Trees(trees)
    X = rng.normal(size=(50, 4))
    expected = np.array([[evaluate(tree, row) for tree in trees] for row in X])
    if kind == "vectors":
        expected = expected.transpose(0, 2, 1)
    assert (stacked.outputs(X) == expected).all()
    assert (stacked.outputs(X, slice(1, 4)) == expected[..., 1:4]).all()
    assert stacked.outputs(X).dtype == expected.dtype
    for t, tree in enumerate(trees):
        assert (tree(X) == expected[..., t]).all()
    assert len(stacked) == 5
    coefficients = rng.normal(size=5)
    np.testing.assert_allclose(stacked.scores(X, coefficients), expected @ coefficients)
    is_leaf = [tree.children[:, 0] == np.arange(len(tree.children)) for tree in trees]
    n_leaves, n_nodes = sum(map(np.sum, is_leaf)), sum(map(len, is_leaf))
    per_leaf = 3 if kind == "vectors" else 1
    assert stacked.n_parameters == 2 * (n_nodes - n_leaves) + per_leaf * n_leaves


@pytest.mark.parametrize("depth", range(4))
def test_depth_of_stack_is_the_largest_depth(depth):
    rng = np.random.default_rng(depth)
    chain = random_tree(rng, depth, VALUES["signs"])
    while Trees([chain]).depth < depth:
        chain = random_tree(rng, depth, VALUES["signs"])
    assert Trees([random_tree(rng, 0, VALUES["signs"]), chain]).depth == depth


@pytest.mark.parametrize("selection", [slice(None), slice(2, 4), slice(0, 0)])
def test_scores_sum_coefficients_by_class(selection):
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, 2, VALUES["classes"]) for _ in range(6)]
    X, alphas = rng.normal(size=(30, 4)), rng.random(6)
    expected = np.zeros((30, 5))
    for i, row in enumerate(X):
        for tree, alpha in list(zip(trees, alphas, strict=True))[selection]:
            expected[i, evaluate(tree, row)] += alpha
    np.testing.assert_allclose(ClassTrees(trees, 5).scores(X, alphas, selection), expected)


def test_value_equal_to_threshold_is_below():
    assert Tree.stump(0, 1.0, 7, 8)(np.array([[0.0], [1.0], [1.5]])).tolist() == [7, 7, 8]
    vectors = Tree.stump(0, 1.0, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert vectors(np.array([[1.0], [1.5]])).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_features_are_compared_in_the_dtype_of_the_tree():
    """Otherwise samples between a threshold and its rounded value would change sides."""
    X = np.array([[np.nextafter(0.1, 1)]])
    tree = Tree.stump(0, float(np.float32(0.1)), -1.0, 1.0)
    assert X[0, 0] < tree.threshold[0]
    lower = tree._replace(threshold=np.array([0.1, 0.0, 0.0]))
    assert lower(X) == 1.0
    assert tree._replace(dtype=np.float32)(X) == -1.0
    assert Tree.stump(0, 0.1, -1.0, 1.0)._replace(dtype=np.float32)(np.array([[0.1]])) == 1.0


def test_empty_stack_has_scores_of_zero():
    assert Trees([]).outputs(np.zeros((3, 2))).shape == (3, 0)
    stacked = ClassTrees([], 4)
    assert len(stacked) == 0
    assert stacked.n_parameters == 0
    assert stacked.scores(np.ones((3, 2)), np.zeros(0)).tolist() == [[0.0] * 4] * 3


# These numbers of distinct values select the three layouts of the search.
@pytest.mark.parametrize("n_values", [3, 12, None])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(4))
def test_best_stump_has_the_smallest_error(n_values, n_classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3)) if n_values is None else rng.integers(n_values, size=(50, 3)) / 2
    X = np.column_stack([np.ones(50), X])
    labels = rng.integers(n_classes, size=50)
    search = ClassStumpSearch(StumpSearch(X), labels, n_classes)
    for _ in range(3):
        weights = rng.exponential(size=50) ** 3
        weights /= weights.sum()
        tree, outputs, edge, *_ = search.best(weights)
        assert (tree(X) == outputs).all()
        assert edge == pytest.approx(weights[outputs == labels].sum())
        assert weights[outputs != labels].sum() == pytest.approx(
            least_error(X, labels, weights), abs=1e-6
        )
        feature, threshold = tree.feature[0], tree.threshold[0]
        assert X[:, feature].min() < threshold < X[:, feature].max()


def test_stump_may_vote_for_one_class_on_both_sides():
    """The threshold is still one of the data's."""
    X = np.arange(6.0)[:, None]
    labels = np.array([0, 1, 0, 0, 1, 0])
    weights = np.array([0.3, 0.1, 0.2, 0.2, 0.1, 0.1])
    result = ClassStumpSearch(StumpSearch(X), labels, 2).best(weights)
    assert (result.outputs == 0).all()
    assert 0 < result.learner.threshold[0] < 5


def test_best_is_none_for_constant_features():
    search = ClassStumpSearch(StumpSearch(np.ones((4, 2))), np.arange(4), 4)
    assert search.best(np.full(4, 0.25)) is None


def test_best_does_not_depend_on_the_block_size(monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(50, 3)), rng.integers(4, size=50)
    search = ClassStumpSearch(StumpSearch(X), labels, 4)
    weights = rng.dirichlet(np.ones(50), size=20)
    expected = [search.best(w).learner for w in weights]
    assert len({int(tree.feature[0]) for tree in expected}) == 3
    monkeypatch.setattr("boostbench.core.learners.trees._BLOCK_STUMPS", 7)
    for w, tree in zip(weights, expected, strict=True):
        result = search.best(w).learner
        assert (result.feature == tree.feature).all()
        assert (result.threshold == tree.threshold).all()
        assert (result.value == tree.value).all()
