import itertools

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boostbench.core.learners.gini_trees import GiniTreeSearch
from boostbench.core.learners.trees import Trees
from boostbench.core.stumps.search import StumpSearch


def searching(X, labels, max_leaf_nodes):
    return GiniTreeSearch(StumpSearch(X), labels, labels.max() + 1, max_leaf_nodes)


def problem(seed, n_samples=60, n_classes=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4))
    labels = rng.integers(n_classes, size=n_samples)
    labels[:n_classes] = np.arange(n_classes)
    return X, labels, rng.dirichlet(np.ones(n_samples))


def purity(labels, weights):
    """Sum of the squared weights of the classes, over their sum."""
    total = sum(weights)
    return sum(sum(weights[labels == c]) ** 2 for c in set(labels)) / total if total else 0.0


def best_split(X, labels, weights):
    """Try every threshold of every feature: what the best gains, with what it leaves on sides."""
    best = 0.0, None
    for values in X.T:
        for low, high in itertools.pairwise(np.unique(values)):
            above = values > (low + high) / 2
            gain = sum(purity(labels[s], weights[s]) for s in (above, ~above))
            gain -= purity(labels, weights)
            if gain > best[0]:
                best = gain, above
    return best


def grown(X, labels, weights, max_leaf_nodes):
    """Grow leaf by leaf, where it gains most; returns the samples of the leaves."""
    leaves = [np.arange(len(labels))]
    while len(leaves) < max_leaf_nodes:
        found = [best_split(X[leaf], labels[leaf], weights[leaf]) for leaf in leaves]
        at = max(range(len(leaves)), key=lambda leaf: found[leaf][0])
        gain, above = found[at]
        if not gain > 1e-12:
            break
        leaf = leaves.pop(at)
        leaves += [leaf[above], leaf[~above]]
    return leaves


def leaves_of(tree, X):
    numbered = tree._replace(value=np.arange(len(tree.feature)))
    return {frozenset(np.flatnonzero(numbered(X) == leaf)) for leaf in set(numbered(X))}


@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 6])
@pytest.mark.parametrize("seed", range(5))
class TestOfFewLeaves:
    def test_leaves_are_those_of_a_search_by_force(self, max_leaf_nodes, seed):
        X, labels, weights = problem(seed, n_samples=30, n_classes=3)
        found = searching(X, labels, max_leaf_nodes).best(weights)
        wanted = grown(X, labels, weights, max_leaf_nodes)
        assert leaves_of(found.learner, X) == set(map(frozenset, wanted))
        for leaf in wanted:
            votes = np.bincount(labels[leaf], weights[leaf])
            assert (found.outputs[leaf] == votes.argmax()).all()
        assert (found.outputs == found.learner(X)).all()
        assert found.edge == pytest.approx(weights[found.outputs == labels].sum())

    def test_trees_are_those_of_scikit_learn(self, max_leaf_nodes, seed):
        X, labels, weights = problem(seed)
        theirs = DecisionTreeClassifier(max_leaf_nodes=max_leaf_nodes, random_state=0)
        theirs.fit(X, labels, sample_weight=weights)
        found = searching(X, labels, max_leaf_nodes).best(weights)
        new = np.random.default_rng(seed).normal(size=(100, 4))
        assert (found.learner(new) == theirs.predict(new)).all()
        assert (found.outputs == theirs.predict(X)).all()
        assert Trees([found.learner]).n_parameters == 3 * max_leaf_nodes - 2

    def test_a_scale_of_the_weights_changes_nothing(self, max_leaf_nodes, seed):
        X, labels, weights = problem(seed)
        search = searching(X, labels, max_leaf_nodes)
        found, scaled = search.best(weights), search.best(weights * 2.0**-300)
        assert (scaled.learner.threshold == found.learner.threshold).all()
        assert scaled.edge == found.edge * 2.0**-300

    def test_samples_without_weight_do_not_count(self, max_leaf_nodes, seed):
        X, labels, weights = problem(seed)
        weights[::3] = 0.0
        counted = weights > 0
        found = searching(X, labels, max_leaf_nodes).best(weights)
        alone = searching(X[counted], labels[counted], max_leaf_nodes).best(weights[counted])
        assert (found.outputs[counted] == alone.outputs).all()
        assert found.edge == pytest.approx(alone.edge)


def test_light_leaves_are_split_as_well_as_heavy_ones():
    """Sums in single precision start anew in each leaf."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [2.0, 2.0]])
    labels = np.array([0, 0, 1, 2, 1])
    found = searching(X, labels, 4).best(np.array([0.5, 0.5, 3e-5, 2e-5, 1e-5]))
    assert (found.outputs == labels).all()


def test_pure_leaves_are_not_split():
    X = np.repeat(np.arange(3.0), 10)[:, None]
    labels = X[:, 0].astype(int)
    found = searching(X, labels, 20).best(np.full(30, 1 / 30))
    assert len(found.learner.feature) == 5
    assert found.edge == pytest.approx(1)


def test_no_split_tells_the_classes_apart():
    labels = np.arange(60) % 3
    weights = np.full(60, 1 / 60)
    assert searching(np.ones((60, 3)), labels, 3).best(weights) is None
    # The same share of each class on both sides.
    assert searching((np.arange(60.0) < 30)[:, None], labels, 3).best(weights) is None
    # Everything is of one class.
    alone = np.where(labels == 1, weights, 0.0)
    assert searching(np.arange(60.0)[:, None], labels, 3).best(alone) is None


def test_ties_among_values_are_no_thresholds():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    found = searching(X, np.array([0, 1, 1, 1]), 4).best(np.array([0.4, 0.2, 0.2, 0.2]))
    assert found.learner.threshold[0] == 0.5
    assert len(found.learner.feature) == 3
