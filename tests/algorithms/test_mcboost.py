import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from boostbench.algorithms import MCBoost

from . import reference
from .problems import blobs, noise

LOSSES = ["exponential", "logistic"]


def margins(scores, y):
    return scores[np.arange(len(y)), y][:, None] - scores


def dual(loss, scores, y):
    """Return the dual variables, eq. (11) or (12)."""
    rho = margins(scores, y)
    if loss == "exponential":
        return np.exp(-rho) / np.exp(-rho).sum()
    return 1 / (1 + np.exp(rho))


def gains(u, y):
    """Return the bracket of eq. (10), summed literally."""
    G = np.empty_like(u)
    for i in range(len(u)):
        for r in range(u.shape[1]):
            G[i, r] = (r == y[i]) * u[i].sum() - u[i, r]
    return G


def objective(loss, scores, y, nu=0.0, w=0.0):
    """Return eq. (13) or (14), with u of the scores before the round."""
    rho = margins(scores, y)
    if loss == "exponential":
        return np.log(np.exp(-rho).mean()) + nu * np.sum(w)
    return np.log1p(np.exp(-rho)).sum() + nu * np.sum(w)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize(("n_classes", "seed"), [(2, 0), (3, 1), (4, 2), (5, 3)])
@pytest.mark.parametrize("nu", [0.0, 1e-9, 0.01])
class TestAgainstTheLiteralAlgorithm:
    def test_rounds_equal_brute_force(self, loss, problem, n_classes, seed, nu):
        """Brute force covers stumps, polarities and classes; L-BFGS-B solves for coefficients."""
        X, y = problem(n_classes, n_samples=20, n_features=2, seed=seed)
        model = MCBoost(n_iterations=6, loss=loss, nu=nu).fit(X, y)
        candidates = [s * h for h in reference.stump_outputs(X) for s in (1, -1)]
        F = np.zeros((len(y), n_classes))
        for h, w in zip(reference.stage_outputs(model, X), model.coefficients_, strict=True):
            u = dual(loss, F, y)
            G = gains(u / u.sum(), y)
            edges = G.T @ h
            largest = max((G.T @ candidate).max() for candidate in candidates)
            assert edges.max() == pytest.approx(largest, abs=reference.PRECISION)
            assert largest > nu

            def round_objective(w, h=h, F=F):
                return objective(loss, F + np.outer(h, w), y, nu, w)

            solved = w / 0.5
            assert solved.min() == 0
            theirs = minimize(
                round_objective, np.full(n_classes, 0.1), bounds=[(0, 25)] * n_classes
            )
            assert round_objective(solved) <= theirs.fun + 1e-6
            F += np.outer(h, w)
        assert model.n_iterations_ == 6
        scores = reference.class_scores(model, X)[-1]
        np.testing.assert_allclose(margins(scores, y), margins(F, y), atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("nu", [0.0, 1e-9, 0.05])
@pytest.mark.parametrize("eta", [1.0, 0.5, 0.1])
def test_every_round_decreases_the_loss(loss, nu, eta):
    X, y = noise(4, n_samples=60, seed=5)
    model = MCBoost(n_iterations=60, loss=loss, nu=nu, eta=eta).fit(X, y)
    assert model.n_iterations_ > 20
    values = [objective(loss, F, y) for F in reference.class_scores(model, X)]
    assert (np.diff([objective(loss, np.zeros((60, 4)), y), *values]) < 0).all()


class TestStoppingRule:
    def test_training_ends_without_violated_constraints(self):
        """Training continues (step 2) while an edge exceeds nu, for u of sum 1."""
        X, y = blobs(3, seed=1)
        for loss in LOSSES:
            model = MCBoost(n_iterations=3000, loss=loss, nu=0.02, eta=1.0).fit(X, y)
            assert 1 < model.n_iterations_ < 3000
            largest = []
            for F in [np.zeros((len(y), 3)), *reference.class_scores(model, X)]:
                u = dual(loss, F, y)
                edges = np.array(reference.stump_outputs(X)) @ gains(u / u.sum(), y)
                largest.append(np.abs(edges).max())
            # The stopping rule has a tolerance epsilon of 1 % of nu.
            assert largest[-1] <= 0.0202 + reference.PRECISION
            assert min(largest[:-1]) > 0.0202 - reference.PRECISION

    @pytest.mark.parametrize("loss", LOSSES)
    def test_nu_above_the_first_edge_gives_an_empty_model(self, loss):
        X, y = blobs(3)
        assert MCBoost(loss=loss, nu=0.9).fit(X, y).n_iterations_ == 0

    @pytest.mark.parametrize("loss", LOSSES)
    def test_largest_possible_first_edge(self, loss):
        """The first edge is at most 2 (k - 1) / k^2 for k classes of equal size (Table I)."""
        y = np.repeat(np.arange(20), 3)
        X = np.eye(20)[y]  # A stump separates each class from all others.
        bound = 2 * 19 / 20**2
        below, above = (
            MCBoost(n_iterations=5, loss=loss, nu=bound * factor).fit(X, y)
            for factor in (0.98, 1.02)
        )
        assert below.n_iterations_ > 0
        assert above.n_iterations_ == 0


@pytest.mark.parametrize("loss", LOSSES)
class TestStepSize:
    def test_shrinkage_multiplies_the_coefficients(self, loss):
        X, y = blobs(3)
        full, half = (MCBoost(n_iterations=1, loss=loss, eta=eta).fit(X, y) for eta in (1.0, 0.5))
        np.testing.assert_allclose(half.coefficients_, 0.5 * full.coefficients_)

    def test_kappa_bounds_the_coefficients_of_a_round(self, loss):
        X, y = blobs(3)
        free = MCBoost(n_iterations=30, loss=loss).fit(X, y)
        assert free.coefficients_.max() > 0.1
        bounded = MCBoost(n_iterations=30, loss=loss, kappa=0.1).fit(X, y)
        assert bounded.coefficients_.max() == 0.1
        np.testing.assert_allclose(bounded.coefficients_[0], np.minimum(free.coefficients_[0], 0.1))
        loose = MCBoost(n_iterations=30, loss=loss, kappa=1e9).fit(X, y)
        assert (loose.coefficients_ == free.coefficients_).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_large_nu_does_not_stall(loss):
    """A stump of the wrong polarity would have coefficients of 0 in every round."""
    X, y = blobs(4, n_samples=80, seed=3)
    model = MCBoost(n_iterations=30, loss=loss, nu=0.05).fit(X, y)
    assert (model.coefficients_.max(axis=1) > 0).all()
    assert len(set(model.hypotheses_.threshold)) > 5


def test_rounds_with_zero_coefficients_are_removed():
    """Eq. (14) is a sum, which nu exceeds for tiny weights, but u of step 2 has sum 1."""
    X, y = noise(3, n_samples=60)
    model = MCBoost(n_iterations=300, loss="logistic", nu=0.01).fit(X, y, np.full(60, 0.001))
    assert 0 < model.n_iterations_ == len(model.coefficients_) < 300
    assert model.coefficients_.any(axis=1).all()
    with pytest.warns(ConvergenceWarning, match="the model is constant"):
        model.fit(X, y, np.full(60, 1e-6))
    assert model.n_iterations_ == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_training_on_easy_data_ends_with_finite_scores(loss):
    """Wine is separated soon, and the loss decreases until nu exceeds the edges."""
    X, y = load_wine(return_X_y=True)
    model = MCBoost(n_iterations=1000, loss=loss).fit(X, y)
    assert 20 < model.n_iterations_ < 1000
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.coefficients_).all()
    assert np.isfinite(model.decision_function(X)).all()


class TestTrees:
    @pytest.mark.parametrize("loss", LOSSES)
    def test_deeper_trees_learn_xor(self, loss):
        """Stumps have no edge on the XOR of two features."""
        X = np.random.default_rng(0).normal(size=(200, 2))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        stumps = MCBoost(n_iterations=20, loss=loss).fit(X, y)
        trees = MCBoost(n_iterations=20, loss=loss, weak_learner="tree").fit(X, y)
        assert trees.score(X, y) > 0.95 > stumps.score(X, y)

    def test_every_round_selects_the_class_of_the_best_tree(self):
        X, y = load_iris(return_X_y=True)
        model = MCBoost(n_iterations=5, weak_learner="tree", max_depth=None, max_leaf_nodes=3)
        model.fit(X, y)
        F = np.zeros((len(y), 3))
        for t, w in enumerate(model.coefficients_):
            h = model.hypotheses_.outputs(X)[:, t]
            edges = gains(dual("exponential", F, y), y).T @ h
            assert edges.max() > 0
            # The selected class gains on at least one other class.
            assert w[edges.argmax()] > 0
            F += np.outer(h, w)
        np.testing.assert_allclose(model.decision_function(X), F, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_unpenalised_training_ends_at_loss_zero(loss, n_classes):
    """A sum of stumps separates the data, so that the loss vanishes."""
    X, y = np.arange(4.0)[:, None].repeat(4, axis=0), np.array([0, 1, 0, n_classes - 1]).repeat(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MCBoost(nu=0.0, eta=1.0, loss=loss, n_iterations=4000).fit(X, y)
    assert 1 < model.n_iterations_ < 4000
    assert model.score(X, y) == 1.0
    assert model.coefficients_[-1].any()
