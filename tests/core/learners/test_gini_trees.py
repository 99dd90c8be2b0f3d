import itertools

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boostbench.core.learners.gini_trees import GiniTreeSearch
from boostbench.core.learners.trees import Trees
from boostbench.core.stumps.search import StumpSearch


def make_search(X, labels, max_leaf_nodes):
    return GiniTreeSearch(StumpSearch(X), labels, labels.max() + 1, max_leaf_nodes)


def problem(seed, n_samples=60, n_classes=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4))
    labels = rng.integers(n_classes, size=n_samples)
    labels[:n_classes] = np.arange(n_classes)
    return X, labels, rng.dirichlet(np.ones(n_samples))


def purity(labels, weights):
    """Return the sum of squared class weights, divided by their sum."""
    total = sum(weights)
    return sum(sum(weights[labels == c]) ** 2 for c in set(labels)) / total if total else 0.0


def best_split(X, labels, weights):
    """Return the largest gain of all thresholds, and the samples above the threshold."""
    best = 0.0, None
    for values in X.T:
        for low, high in itertools.pairwise(np.unique(values)):
            above = values > (low + high) / 2
            gain = sum(purity(labels[s], weights[s]) for s in (above, ~above))
            gain -= purity(labels, weights)
            if gain > best[0]:
                best = gain, above
    return best


def grow_literally(X, labels, weights, max_leaf_nodes):
    """Split the leaf of the largest gain repeatedly, and return the samples of the leaves."""
    leaves = [np.arange(len(labels))]
    while len(leaves) < max_leaf_nodes:
        splits = [best_split(X[leaf], labels[leaf], weights[leaf]) for leaf in leaves]
        best_leaf = max(range(len(leaves)), key=lambda leaf: splits[leaf][0])
        gain, above = splits[best_leaf]
        if not gain > 1e-12:
            break
        leaf = leaves.pop(best_leaf)
        leaves += [leaf[above], leaf[~above]]
    return leaves


def leaf_sets(tree, X):
    indexed = tree._replace(value=np.arange(len(tree.feature)))
    return {frozenset(np.flatnonzero(indexed(X) == leaf)) for leaf in set(indexed(X))}


@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 6])
@pytest.mark.parametrize("seed", range(5))
class TestTreesWithFewLeaves:
    def test_leaves_equal_brute_force(self, max_leaf_nodes, seed):
        X, labels, weights = problem(seed, n_samples=30, n_classes=3)
        result = make_search(X, labels, max_leaf_nodes).best(weights)
        expected = grow_literally(X, labels, weights, max_leaf_nodes)
        assert leaf_sets(result.learner, X) == set(map(frozenset, expected))
        for leaf in expected:
            votes = np.bincount(labels[leaf], weights[leaf])
            assert (result.outputs[leaf] == votes.argmax()).all()
        assert (result.outputs == result.learner(X)).all()
        assert result.edge == pytest.approx(weights[result.outputs == labels].sum())

    def test_predictions_equal_scikit_learn(self, max_leaf_nodes, seed):
        X, labels, weights = problem(seed)
        theirs = DecisionTreeClassifier(max_leaf_nodes=max_leaf_nodes, random_state=0)
        theirs.fit(X, labels, sample_weight=weights)
        result = make_search(X, labels, max_leaf_nodes).best(weights)
        new_samples = np.random.default_rng(seed).normal(size=(100, 4))
        assert (result.learner(new_samples) == theirs.predict(new_samples)).all()
        assert (result.outputs == theirs.predict(X)).all()
        assert Trees([result.learner]).n_parameters == 3 * max_leaf_nodes - 2

    def test_tree_does_not_depend_on_the_scale_of_weights(self, max_leaf_nodes, seed):
        X, labels, weights = problem(seed)
        search = make_search(X, labels, max_leaf_nodes)
        result, scaled = search.best(weights), search.best(weights * 2.0**-300)
        assert (scaled.learner.threshold == result.learner.threshold).all()
        assert scaled.edge == result.edge * 2.0**-300

    def test_samples_without_weight_are_ignored(self, max_leaf_nodes, seed):
        X, labels, weights = problem(seed)
        weights[::3] = 0.0
        has_weight = weights > 0
        result = make_search(X, labels, max_leaf_nodes).best(weights)
        subset_result = make_search(X[has_weight], labels[has_weight], max_leaf_nodes).best(
            weights[has_weight]
        )
        assert (result.outputs[has_weight] == subset_result.outputs).all()
        assert result.edge == pytest.approx(subset_result.edge)


def test_leaf_of_small_weight_is_split():
    """Weights are scaled in each leaf, so that single precision suffices."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [2.0, 2.0]])
    labels = np.array([0, 0, 1, 2, 1])
    result = make_search(X, labels, 4).best(np.array([0.5, 0.5, 3e-5, 2e-5, 1e-5]))
    assert (result.outputs == labels).all()


def test_pure_leaves_are_not_split():
    X = np.repeat(np.arange(3.0), 10)[:, None]
    labels = X[:, 0].astype(int)
    result = make_search(X, labels, 20).best(np.full(30, 1 / 30))
    assert len(result.learner.feature) == 5
    assert result.edge == pytest.approx(1)


def test_best_is_none_without_a_gain():
    labels = np.arange(60) % 3
    weights = np.full(60, 1 / 60)
    assert make_search(np.ones((60, 3)), labels, 3).best(weights) is None
    # Both sides have the same share of each class.
    assert make_search((np.arange(60.0) < 30)[:, None], labels, 3).best(weights) is None
    # All weight is in one class.
    one_class_weights = np.where(labels == 1, weights, 0.0)
    assert make_search(np.arange(60.0)[:, None], labels, 3).best(one_class_weights) is None


def test_equal_values_are_not_separated():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    result = make_search(X, np.array([0, 1, 1, 1]), 4).best(np.array([0.4, 0.2, 0.2, 0.2]))
    assert result.learner.threshold[0] == 0.5
    assert len(result.learner.feature) == 3
