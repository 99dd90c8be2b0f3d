import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boostbench.core.weak.trees import Tree, Trees, TreeSearch


def problem(seed, n_columns=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    return X, rng.normal(size=(60, n_columns)) + 0.5 * np.sign(X[:, :n_columns] * X[:, 1:2])


def literal(tree, row):
    """Walk from the root to a leaf."""
    node = 0
    while tree.feature[node] >= 0:
        above = np.float32(row[tree.feature[node]]) > tree.threshold[node]
        node = tree.children[node, int(above)]
    return tree.output[node]


@pytest.mark.parametrize("options", [(1, None), (2, None), (None, 5), (4, 3)])
@pytest.mark.parametrize("seed", range(5))
class TestSearch:
    def test_a_tree_for_every_column_and_the_best_of_them(self, options, seed):
        X, G = problem(seed)
        tree, outputs, edge, column, _ = TreeSearch(X, *options).best(G)
        edges = []
        for gains in G.T:
            theirs = DecisionTreeClassifier(
                max_depth=options[0], max_leaf_nodes=options[1], random_state=0
            ).fit(X, np.sign(gains), sample_weight=np.abs(gains))
            edges.append(gains @ theirs.predict(X))
        assert edge == pytest.approx(max(edges))
        assert column == np.argmax(edges)
        assert G[:, column] @ tree(X) == pytest.approx(edge)
        assert (outputs == tree(X)).all()

    def test_outputs(self, options, seed):
        X, G = problem(seed)
        trees = [TreeSearch(X, *options).best(G[:, [c]]).learner for c in range(3)]
        stacked = Trees(trees)
        new = np.random.default_rng(seed).normal(size=(20, 4))
        wanted = [[literal(tree, row) for tree in trees] for row in new]
        assert stacked.outputs(new).tolist() == wanted
        assert stacked.outputs(new, slice(1, 2)).tolist() == [row[1:2] for row in wanted]
        assert len(stacked) == 3
        if options[0] == 1:
            assert stacked.depth == 1
            assert stacked.n_parameters == 3 * (2 + 2)


def test_one_side_only():
    """Gains of one sign need no test at all."""
    X, _ = problem(0)
    for sign in (1.0, -1.0):
        tree, _, edge, column, _ = TreeSearch(X, 2, None).best(np.full((60, 1), sign))
        assert (tree(X) == sign).all()
        assert (column, edge) == (0, 60.0)
        assert Trees([tree]).n_parameters == 1


def test_features_that_do_not_vary():
    assert TreeSearch(np.ones((60, 3)), 2, None).best(np.ones((60, 2))) is None


def test_thresholds_are_compared_in_single_precision():
    """As in the training, or samples between a value and its rounding would change sides."""
    tree = Tree(
        np.array([0, -1, -1]),
        np.array([np.float32(0.1), 0.0, 0.0]),
        np.array([[1, 2], [-1, -1], [-1, -1]]),
        np.array([0.0, -1.0, 1.0]),
    )
    assert tree(np.array([[np.nextafter(0.1, 1)]])) == -1.0


def test_no_trees():
    assert Trees([]).outputs(np.zeros((3, 2))).shape == (3, 0)
