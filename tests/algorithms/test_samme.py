import math

import numpy as np
import pytest
from generic import least_error
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from boostbench.algorithms import SAMME

from . import reference
from .problems import blobs, noise


@pytest.mark.parametrize("weak_learner", ["stump", "tree"])
@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
class TestLiteralAlgorithm:
    def test_rounds_equal_the_literal_algorithm(self, weak_learner, problem, n_classes):
        X, y = problem(n_classes, n_samples=30, seed=1)
        model = SAMME(n_iterations=8, weak_learner=weak_learner, random_state=0).fit(X, y)
        assert model.n_iterations_ == 8
        D = [1.0 / len(y)] * len(y)
        F = np.zeros((len(y), n_classes))
        outputs = model.hypotheses_.outputs(X)
        for t, decision in enumerate(model.staged_decision_function(X)):
            h = outputs[:, t]
            error = sum(D[i] for i in range(len(y)) if h[i] != y[i])
            if weak_learner == "stump":
                assert error == pytest.approx(least_error(X, y, D), abs=reference.PRECISION)
            alpha = math.log((1 - error) / error) + math.log(n_classes - 1)
            assert model.coefficients_[t] == pytest.approx(alpha, rel=1e-9)
            D = [D[i] * math.exp(alpha * (h[i] != y[i])) for i in range(len(y))]
            D = [d / sum(D) for d in D]
            for i in range(len(y)):
                F[i, h[i]] += alpha
            expected = F[:, 1] - F[:, 0] if n_classes == 2 else F
            np.testing.assert_allclose(decision, expected, rtol=1e-9, atol=1e-9)

    def test_weak_learner_equals_chance_in_the_next_round(self, weak_learner, problem, n_classes):
        """The weights of its errors sum to 1 - 1/k."""
        X, y = problem(n_classes, seed=2)
        model = SAMME(n_iterations=10, weak_learner=weak_learner, random_state=0).fit(X, y)
        D = np.full(len(y), 1.0 / len(y))
        for h, alpha in zip(model.hypotheses_.outputs(X).T, model.coefficients_, strict=True):
            D[h != y] *= np.exp(alpha)
            D /= D.sum()
            assert D[h != y].sum() == pytest.approx(1 - 1 / n_classes, rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 6])
def test_trees_equal_scikit_learn(n_classes, max_leaf_nodes):
    # The data cause no ties between splits.
    X, y = blobs(n_classes, n_samples=200, seed=0, spread=2)
    tree = DecisionTreeClassifier(max_leaf_nodes=max_leaf_nodes)
    theirs = AdaBoostClassifier(tree, n_estimators=15, random_state=0).fit(X, y)
    ours = SAMME(
        n_iterations=15, weak_learner="tree", max_leaf_nodes=max_leaf_nodes, random_state=1
    ).fit(X, y)
    np.testing.assert_allclose(ours.coefficients_, theirs.estimator_weights_, rtol=1e-9)
    new = np.random.default_rng(1).normal(size=(300, X.shape[1]))
    outputs = ours.hypotheses_.outputs(new)
    for outputs_of_tree, estimator in zip(outputs.T, theirs.estimators_, strict=True):
        assert (outputs_of_tree == estimator.predict(new)).all()
    # Rounding decides equal votes for two classes.
    assert np.mean(ours.predict(new) != theirs.predict(new)) < 0.02


@pytest.mark.parametrize(("n_classes", "seed"), [(3, 124), (4, 195)])
def test_stumps_equal_least_error_stumps_in_scikit_learn(n_classes, seed):
    X, y = blobs(n_classes, seed=seed)
    theirs = AdaBoostClassifier(reference.LeastErrorStump(), n_estimators=10).fit(X, y)
    ours = SAMME(n_iterations=10).fit(X, y)
    np.testing.assert_allclose(ours.coefficients_, theirs.estimator_weights_, rtol=1e-9)
    new = np.random.default_rng(1).normal(size=(300, X.shape[1]))
    for outputs_of_stump, estimator in zip(
        ours.hypotheses_.outputs(new).T, theirs.estimators_, strict=True
    ):
        assert (outputs_of_stump == estimator.predict(new)).all()


def test_perfect_tree_ends_the_training():
    X = np.repeat(np.arange(3.0), 10)[:, None]
    y = X[:, 0].astype(int)
    tree = SAMME(n_iterations=50, weak_learner="tree").fit(X, y)
    assert tree.n_iterations_ == 1
    assert tree.score(X, y) == 1.0
    assert np.isfinite(tree.coefficients_).all()


def test_stump_may_have_an_error_above_one_half():
    """Chance has an error of 3/4 for four classes, but AdaBoost would stop at 1/2."""
    X, y = noise(4, n_samples=100, seed=0)
    model = SAMME(n_iterations=5).fit(X, y)
    assert model.n_iterations_ == 5
    assert (model.hypotheses_.outputs(X)[:, 0] != y).mean() > 0.5
    assert (model.coefficients_ > 0).all()


@pytest.mark.parametrize("weak_learner", ["stump", "tree"])
def test_values_beyond_the_range_of_single_precision(weak_learner):
    X, y = blobs(3)
    small = SAMME(n_iterations=5, weak_learner=weak_learner).fit(X, y)
    large = SAMME(n_iterations=5, weak_learner=weak_learner).fit(X * 2.0**1000, y)
    np.testing.assert_array_equal(large.coefficients_, small.coefficients_)
