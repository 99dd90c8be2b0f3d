import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boostbench.algorithms.mcboost import SignTreeSearch
from boostbench.core.learners.trees import Trees


def problem(seed, n_columns=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    return X, rng.normal(size=(60, n_columns)) + 0.5 * np.sign(X[:, :n_columns] * X[:, 1:2])


@pytest.mark.parametrize("options", [(1, None), (2, None), (None, 5), (4, 3)])
@pytest.mark.parametrize("seed", range(5))
class TestSigns:
    def test_returns_the_best_tree_of_all_columns(self, options, seed):
        X, G = problem(seed)
        tree, outputs, edge, column, _ = SignTreeSearch(X, *options).best(G)
        edges = []
        for signed_weights in G.T:
            theirs = DecisionTreeClassifier(
                max_depth=options[0], max_leaf_nodes=options[1], random_state=0
            ).fit(X, np.sign(signed_weights), sample_weight=np.abs(signed_weights))
            edges.append(signed_weights @ theirs.predict(X))
        assert edge == pytest.approx(max(edges))
        assert column == np.argmax(edges)
        assert G[:, column] @ tree(X) == pytest.approx(edge)
        assert (outputs == tree(X)).all()

    def test_trees_equal_those_of_scikit_learn(self, options, seed):
        X, G = problem(seed)
        stacked = Trees([SignTreeSearch(X, *options).best(G[:, [c]]).learner for c in range(3)])
        new = np.random.default_rng(seed).normal(size=(20, 4))
        for signed_weights, outputs in zip(G.T, stacked.outputs(new).T, strict=True):
            theirs = DecisionTreeClassifier(
                max_depth=options[0], max_leaf_nodes=options[1], random_state=0
            ).fit(X, np.sign(signed_weights), sample_weight=np.abs(signed_weights))
            assert (outputs == theirs.predict(new)).all()
        if options[0] == 1:
            assert stacked.depth == 1
            assert stacked.n_parameters == 3 * (2 + 2)


def test_weights_of_one_sign_give_a_constant_tree():
    X, _ = problem(0)
    for sign in (1.0, -1.0):
        tree, _, edge, column, _ = SignTreeSearch(X, 2, None).best(np.full((60, 1), sign))
        assert (tree(X) == sign).all()
        assert (column, edge) == (0, 60.0)
        assert Trees([tree]).n_parameters == 1


def test_ties_go_to_the_first_column():
    """The classes of a two-class problem have opposite weights, but for rounding."""
    X, G = problem(0)
    opposite = np.column_stack([G[:, 0], -(1 + 2.0**-48) * G[:, 0]])
    assert SignTreeSearch(X, 2, None).best(opposite).column == 0


@pytest.mark.parametrize("seed", range(20))
def test_equivalent_features_do_not_depend_on_rounding(seed):
    """Reordering samples, or repeating them instead of weighting, causes other rounding errors."""
    rng = np.random.default_rng(seed)
    X, signed_weights = rng.uniform(size=(12, 24)), rng.normal(size=12)
    times = rng.integers(1, 4, 12)
    order = rng.permutation(times.sum())
    once = SignTreeSearch(X, None, 3).best((times * signed_weights)[:, None])
    often = SignTreeSearch(X.repeat(times, axis=0)[order], None, 3)
    repeated = often.best(signed_weights.repeat(times)[order, None])
    assert (repeated.learner.feature == once.learner.feature).all()
    assert repeated.edge == pytest.approx(once.edge, rel=1e-12)


def test_prediction_compares_in_single_precision():
    """Samples between a value and its rounding would change sides in double precision."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    tree = SignTreeSearch(X, 3, None).best(rng.normal(size=(60, 1))).learner
    on_a_threshold = np.full((1, 4), tree.threshold[0])
    for values in (X, on_a_threshold, np.nextafter(on_a_threshold, np.inf)):
        assert (tree(values) == tree(values.astype(np.float32))).all()


def test_constant_features_give_no_tree():
    assert SignTreeSearch(np.ones((60, 3)), 2, None).best(np.ones((60, 2))) is None
