import functools

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from boostbench.algorithms import CGENS, CGENSSLS
from boostbench.core.codebooks import simplex_vertices

from . import reference
from .problems import blobs, noise

LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
PROBLEMS = pytest.mark.parametrize("problem", [blobs, noise])
EVERYTHING = 10_000


def outputs_of_all_stumps(X):
    """Return the outputs of every stump of polarity +1, of shape (n_stumps, n_samples)."""
    return np.array(reference.stump_outputs(X))


def model_outputs(model, X):
    return np.array(reference.stage_outputs(model, X))


def hinge_losses(model, X, y):
    return np.maximum(0, 1 - (2 * y - 1) * model.decision_function(X))


def primal(model, X, y):
    """Return the objective of eq. (1), computed from predictions and coefficients."""
    loss = hinge_losses(model, X, y) ** (1 if model.loss == "hinge" else 2)
    return model.coefficients_ @ model.coefficients_ / 2 + model.C * loss.sum()


def dual(model, outputs, y):
    """Return the objective of eq. (2) over weak learners with given outputs."""
    w = outputs @ ((2 * y - 1) * model.dual_)
    quadratic = 0.0 if model.loss == "hinge" else (model.dual_**2).sum() / (4 * model.C)
    return model.dual_.sum() - w @ w / 2 - quadratic


@functools.cache
def optimal(loss, problem, C):
    """Return a cached fit, which tests must not modify."""
    X, y = problem(2, seed=1)
    return CGENS(EVERYTHING, C, loss, tol=1e-7).fit(X, y), X, y, outputs_of_all_stumps(X)


@LOSSES
@PROBLEMS
@pytest.mark.parametrize("C", [1e-3, 1e-2, 0.1, 1.0, 10.0])
class TestOptimum:
    def test_duality_gap_over_all_stumps_is_closed(self, loss, problem, C):
        model, X, y, stumps = optimal(loss, problem, C)
        assert model.n_iterations_ <= len(stumps)
        assert abs((2 * y - 1) @ model.dual_) <= 1e-9 * model.dual_.sum()
        assert (model.dual_ >= 0).all()
        assert loss == "squared_hinge" or model.dual_.max() <= C * (1 + 1e-12)
        assert primal(model, X, y) == pytest.approx(dual(model, stumps, y), rel=2e-6)
        assert primal(model, X, y) == pytest.approx(model.objective_[-1], rel=1e-9)

    def test_solution_equals_libsvm_with_the_kernel_of_all_stumps(self, loss, problem, C):
        model, X, y, stumps = optimal(loss, problem, C)
        kernel = stumps.T @ stumps
        if loss == "squared_hinge":
            # The dual of the squared hinge adds 1 / (2 C) to the kernel's diagonal, without bounds.
            ridge = np.eye(len(y)) / (2 * C)
            peer = SVC(C=1e9, kernel="precomputed", tol=1e-10).fit(kernel + ridge, y)
        else:
            peer = SVC(C=C, kernel="precomputed", tol=1e-10).fit(kernel, y)
        signed = np.zeros(len(y))
        signed[peer.support_] = peer.dual_coef_[0]
        w = stumps @ signed
        errors = np.maximum(0, 1 - (2 * y - 1) * (w @ stumps + peer.intercept_[0]))
        errors = errors if loss == "hinge" else errors**2
        assert w @ w / 2 + C * errors.sum() == pytest.approx(primal(model, X, y), rel=1e-6)
        # The solution w is unique, but the bias may not be.
        scores = model.decision_function(X) - model.intercepts_
        np.testing.assert_allclose(scores, w @ stumps, atol=2e-3)


@PROBLEMS
def test_gap_of_a_round_follows_from_unused_stumps(problem):
    """Claim 4.1 states that the gap is half the sum of their squared scores."""
    X, y = problem(2, seed=3)
    stumps = outputs_of_all_stumps(X)
    for rounds in (1, 5, 20):
        model = CGENS(rounds, C=0.05).fit(X, y)
        of_all = (stumps @ ((2 * y - 1) * model.dual_)) ** 2
        gap = (of_all.sum() - (model.coefficients_**2).sum()) / 2
        assert primal(model, X, y) - dual(model, stumps, y) == pytest.approx(gap, rel=1e-8)


def solve_generically(H, signs, C):
    """Solve eq. (1) with the squared hinge by a generic solver; returns F and alpha."""
    H = np.vstack([H, np.ones(len(signs))])

    def objective(v):
        hinge = np.maximum(0, 1 - signs * (v @ H))
        slope = -2 * C * (H @ (signs * hinge))
        slope[:-1] += v[:-1]
        return v[:-1] @ v[:-1] / 2 + C * (hinge**2).sum(), slope

    start = np.zeros(len(H))
    optimum = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    F = optimum.x @ H
    return F, 2 * C * np.maximum(0, 1 - signs * F)


@PROBLEMS
@pytest.mark.parametrize("C", [0.01, 0.3, 3.0])
def test_rounds_equal_algorithm_1(problem, C):
    """Check that stumps maximise eq. (8), and that scores minimise eq. (1)."""
    X, y = problem(2, n_samples=37, seed=4)
    signs, stumps = 2.0 * y - 1, outputs_of_all_stumps(X)
    model = CGENS(15, C).fit(X, y)
    outputs = model_outputs(model, X)
    alpha = np.ones(len(y))
    for t, F in enumerate(model.staged_decision_function(X)):
        unused = [h for h in stumps if not (np.abs(outputs[:t] @ h) == len(y)).any()]
        largest = max(abs(sum(signs * alpha * h)) for h in unused)
        assert outputs[t] @ (signs * alpha) == pytest.approx(largest, rel=1e-4)
        expected, alpha = solve_generically(outputs[: t + 1], signs, C)
        np.testing.assert_allclose(F, expected, atol=1e-5)


@LOSSES
@pytest.mark.parametrize("weak_learner", ["stump", "perceptron", "fourier"])
def test_objective_decreases_in_every_round(loss, weak_learner):
    X, y = noise(2, n_samples=80, seed=1)
    model = CGENS(60, 1.0, loss, weak_learner, n_candidates=30, tol=1e-9, random_state=0).fit(X, y)
    assert model.n_iterations_ == 60
    assert (np.diff(model.objective_) <= 1e-8 * model.objective_[:-1]).all()


def test_training_ends_if_rounding_hides_the_gap():
    X, y = noise(2, n_samples=60, n_features=4)
    objectives = [CGENS(10, 1.0, "hinge", tol=tol).fit(X, y).objective_ for tol in (1e-7, 1e-16)]
    np.testing.assert_allclose(*objectives, rtol=1e-6)


@LOSSES
def test_stumps_are_distinct(loss):
    X, y = blobs(2, n_samples=60, seed=3)
    model = CGENS(EVERYTHING, 0.1, loss).fit(X, y)
    stumps = model.hypotheses_
    assert len(set(zip(stumps.feature, stumps.threshold, strict=True))) == model.n_iterations_ > 50


def test_duplicated_sample_equals_a_sample_of_weight_two():
    X, y = blobs(2, seed=4)
    once = CGENS(40, C=0.6).fit(X, y)
    twice = CGENS(40, C=0.3).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    np.testing.assert_allclose(twice.objective_, once.objective_, rtol=1e-9)


def test_swapped_classes_negate_the_scores():
    X, y = blobs(2, seed=5)
    first, second = CGENS(30).fit(X, y), CGENS(30).fit(X, 1 - y)
    np.testing.assert_allclose(first.decision_function(X), -second.decision_function(X), atol=1e-9)


def test_perceptrons_and_cosines_learn_xor():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = (X.prod(axis=1) > 0).astype(int)
    accuracies = {
        name: CGENS(60, 1.0, weak_learner=name, n_candidates=300, random_state=0)
        .fit(X[:200], y[:200])
        .score(X[200:], y[200:])
        for name in ("stump", "perceptron", "fourier")
    }
    assert accuracies["stump"] < 0.75
    assert min(accuracies["perceptron"], accuracies["fourier"]) > 0.9


def test_list_of_weak_learners_uses_all_kinds():
    X, y = noise(2, n_samples=60, seed=2)
    model = CGENS(
        40, 0.1, weak_learner=["stump", "perceptron", "fourier"], n_candidates=300, random_state=1
    ).fit(X, y)
    assert len(model.hypotheses_.parts) == 3
    assert len(model.hypotheses_) == 40
    outputs = model.hypotheses_.outputs(X)
    np.testing.assert_allclose(
        model.coefficients_, ((2 * y - 1) * model.dual_) @ outputs, atol=1e-9 * model.dual_.sum()
    )


def test_gamma_scale_equals_svc():
    X, y = blobs(2)
    one = CGENS(5, weak_learner="fourier", n_candidates=20, random_state=0).fit(X, y)
    gamma = 1 / (X.shape[1] * X.var())
    other = CGENS(5, weak_learner="fourier", n_candidates=20, gamma=gamma, random_state=0)
    assert (one.decision_function(X) == other.fit(X, y).decision_function(X)).all()


class LiteralSLS:
    """Algorithm 2 round by round, with the inverse of S of eq. (11)."""

    def __init__(self, X, y, C, rounds):
        codes = simplex_vertices(y.max() + 1)
        L = codes[y]
        outputs = list(outputs_of_all_stumps(X))
        U = L - L.mean(axis=0)
        columns, self.scores = [], []
        for _ in range(rounds):
            best = int(np.argmax([np.abs(U.T @ h).max() for h in outputs]))
            columns.append(outputs.pop(best))
            H = np.array(columns)
            inverse = np.linalg.inv(H.T @ H + np.eye(len(y)) / C)
            b = inverse.sum(axis=0) @ L / inverse.sum()
            U = inverse @ (L - b)
            W = H @ U
            self.scores.append((H.T @ W + b) @ codes.T)


@PROBLEMS
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("C", [1e-3, 0.03, 1.0])
def test_rounds_equal_algorithm_2(problem, n_classes, C):
    X, y = problem(n_classes, seed=12)
    literal = LiteralSLS(X, y, C, 15)
    model = CGENSSLS(15, C).fit(X, y)
    stages = list(model.staged_decision_function(X))
    for actual, expected in zip(stages, literal.scores, strict=True):
        expected = expected[:, 1] - expected[:, 0] if n_classes == 2 else expected
        np.testing.assert_allclose(actual, expected, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), stages[-1], atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_sls_with_all_stumps_equals_the_closed_form(n_classes):
    X, y = noise(n_classes, seed=6)
    stumps, C = outputs_of_all_stumps(X), 0.02
    model = CGENSSLS(EVERYTHING, C).fit(X, y)
    codes = simplex_vertices(n_classes)
    inverse = np.linalg.inv(stumps.T @ stumps + np.eye(len(y)) / C)
    b = inverse.sum(axis=0) @ codes[y] / inverse.sum()
    U = inverse @ (codes[y] - b)
    np.testing.assert_allclose(model.dual_, U, atol=1e-5 * np.abs(U).max())


def test_order_of_classes_does_not_change_the_scores():
    """Swapping two classes mirrors the simplex, which changes the signs of the stumps only."""
    X, y = blobs(2, seed=7)
    first, second = CGENSSLS(20).fit(X, y), CGENSSLS(20).fit(X, 1 - y)
    np.testing.assert_allclose(first.decision_function(X), -second.decision_function(X), atol=1e-9)


def test_stored_models_do_not_change_in_later_rounds(monkeypatch):
    store, models = CGENS._store_model, []

    def store_and_record(self, master):
        store(self, master)
        models.append((self, len(self.weight_path_)))

    monkeypatch.setattr(CGENS, "_store_model", store_and_record)
    CGENS(n_iterations=4, verbose=1).fit(*blobs(2))
    assert {length for _, length in models} == {1, 2, 3, 4}
    assert all(len(model.weight_path_) == length for model, length in models)


class TestInvalidInput:
    @pytest.mark.parametrize(
        "weak_learner", [[], ["stump", "stump"], ["stump", "tree"], [1], [["stump"]]]
    )
    def test_invalid_lists_of_weak_learners_raise(self, weak_learner):
        with pytest.raises(ValueError, match="The 'weak_learner' parameter of CGENS must be one"):
            CGENS(weak_learner=weak_learner).fit(*blobs(2))

    @pytest.mark.parametrize("model", [CGENS(), CGENS(loss="hinge"), CGENSSLS()])
    def test_constant_features_predict_the_larger_class(self, model):
        X, y = np.ones((5, 2)), np.array([1, 1, 0, 1, 0])
        assert model.fit(X, y).n_iterations_ == 0
        assert (model.predict(X) == 1).all()
        assert list(model.staged_predict(X)) == []

    @pytest.mark.parametrize("model", [CGENS(C=10.0), CGENS(loss="hinge", C=10.0), CGENSSLS()])
    def test_one_sample_per_class(self, model):
        X, y = np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([0, 1])
        assert model.fit(X, y).n_iterations_ == 1
        assert (model.predict(X) == y).all()
