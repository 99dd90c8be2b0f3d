import itertools

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boostbench.core.weak.class_trees import ClassStumpSearch, ClassTree, ClassTrees
from boostbench.core.weak.stumps import StumpSearch


def walk(tree, row):
    """Follow one sample to its leaf."""
    node = 0
    while tree.low[node] != node:
        above = row[tree.feature[node]] > tree.threshold[node]
        node = tree.high[node] if above else tree.low[node]
    return tree.label[node]


def grown(X, y, **options):
    """A tree of scikit-learn's in our form."""
    found = DecisionTreeClassifier(random_state=0, **options).fit(X, y).tree_
    itself = np.arange(found.node_count)
    is_leaf = found.children_left < 0
    return ClassTree(
        np.where(is_leaf, 0, found.feature),
        found.threshold,
        np.where(is_leaf, itself, found.children_left),
        np.where(is_leaf, itself, found.children_right),
        found.value[:, 0].argmax(axis=1),
        found.max_depth,
    )


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 4)), rng.integers(5, size=60)


def test_trees_of_different_shapes_are_stacked(problem):
    X, y = problem
    trees = [ClassTree.stump(2, 0.3, 4, 1)]
    trees += [grown(X, y, max_leaf_nodes=n) for n in (2, 3, 9)]
    trees += [grown(X, y, max_depth=6), ClassTree.stump(0, -0.1, 0, 3)]
    stacked = ClassTrees(trees)
    new = np.random.default_rng(1).normal(size=(50, 4))
    wanted = np.array([[walk(tree, row) for tree in trees] for row in new])
    assert len(set(wanted.ravel())) == 5
    assert (stacked.outputs(new) == wanted).all()
    assert (stacked.outputs(new, slice(1, 4)) == wanted[:, 1:4]).all()
    assert len(stacked) == 6
    assert stacked.n_leaves[:4].tolist() == [2, 2, 3, 9]
    for tree, column in zip(trees, wanted.T, strict=True):
        assert (tree(new) == column).all()


def test_a_value_at_the_threshold_is_below_it():
    assert ClassTree.stump(0, 1.0, 7, 8)(np.array([[0.0], [1.0], [1.5]])).tolist() == [7, 7, 8]


def test_no_trees():
    stacked = ClassTrees([])
    assert len(stacked) == 0
    assert stacked.outputs(np.ones((3, 2))).shape == (3, 0)


def least_error(X, labels, weights, n_classes):
    """Try all thresholds and all pairs of votes."""
    found = np.inf
    for feature in range(X.shape[1]):
        for low, high in itertools.pairwise(np.unique(X[:, feature])):
            above = X[:, feature] > (low + high) / 2
            for votes in itertools.product(range(n_classes), repeat=2):
                wrong = np.where(above, votes[1], votes[0]) != labels
                found = min(found, weights[wrong].sum())
    return found


# The numbers of distinct values lead to the three layouts of the search.
@pytest.mark.parametrize("n_values", [3, 12, None])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(4))
def test_no_stump_has_less_error(n_values, n_classes, seed):
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
            least_error(X, labels, weights, n_classes), abs=1e-6
        )
        feature, threshold = tree.feature[0], tree.threshold[0]
        assert X[:, feature].min() < threshold < X[:, feature].max()


def test_both_sides_may_vote_for_one_class():
    """Nothing is learnt of the others then, but the threshold is still one of the data's."""
    X = np.arange(6.0)[:, None]
    labels = np.array([0, 1, 0, 0, 1, 0])
    weights = np.array([0.3, 0.1, 0.2, 0.2, 0.1, 0.1])
    found = ClassStumpSearch(StumpSearch(X), labels, 2).best(weights)
    assert (found.outputs == 0).all()
    assert 0 < found.learner.threshold[0] < 5


def test_nothing_to_find():
    search = ClassStumpSearch(StumpSearch(np.ones((4, 2))), np.arange(4), 4)
    assert search.best(np.full(4, 0.25)) is None


def test_scoring_by_blocks_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(50, 3)), rng.integers(4, size=50)
    search = ClassStumpSearch(StumpSearch(X), labels, 4)
    weights = rng.dirichlet(np.ones(50), size=20)
    wanted = [search.best(w).learner for w in weights]
    assert len({int(tree.feature[0]) for tree in wanted}) == 3
    monkeypatch.setattr("boostbench.core.weak.class_trees._BLOCK_POSITIONS", 7)
    for w, tree in zip(weights, wanted, strict=True):
        found = search.best(w).learner
        assert (found.feature == tree.feature).all()
        assert (found.threshold == tree.threshold).all()
        assert (found.label == tree.label).all()
