import copy
import itertools
import math
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from boostbench import MCBoost, MultiBoost, RBoostProj, RBoostRankTC, final_solve

from .problems import blobs, noise

FEW = {"n_iterations": 12, "nu": 1e-3}
MODELS = {
    "MultiBoost": MultiBoost(**FEW, solver="lbfgs", solver_iterations=2),
    "MultiBoost, exponential": MultiBoost(**FEW, loss="exponential"),
    "MultiBoost, from zero": MultiBoost(**FEW, solver_iterations=5, start="zero"),
    "RBoostProj": RBoostProj(**FEW, solver_iterations=2, random_state=0),
    "RBoostProj, rows": RBoostProj(
        **FEW, rule="paper", n_projections=30, solver_iterations=3, random_state=0
    ),
    "RBoostProj, exponential": RBoostProj(**FEW, loss="exponential", random_state=0),
    "RBoostProj, from zero": RBoostProj(
        **FEW, tol=0, solver_iterations=3, start="zero", random_state=0
    ),
    "RBoostRankTC": RBoostRankTC(
        n_iterations=12, nu=0.1, n_projections=30, solver_iterations=2, random_state=0
    ),
    "RBoostRankTC, sum": RBoostRankTC(
        n_iterations=12, nu=0.1, n_projections=30, loss="exponential_sum", random_state=0
    ),
}


def fitted(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return copy.deepcopy(model).fit(X, y, **options)


def mean_loss(model, scores, y, weights=None):
    """Return the smooth part of the objective, summed pair by pair."""
    loss = np.exp if model.loss.startswith("exponential") else lambda z: np.logaddexp(0, z)
    k = scores.shape[1]
    weights = np.ones(len(y)) if weights is None else weights / weights.mean()
    has_own_pair = not isinstance(model, RBoostRankTC)
    total = sum(
        weights[i] * loss(scores[i, r] - scores[i, y[i]])
        for i, r in itertools.product(range(len(y)), range(k))
        if has_own_pair or r != y[i]
    )
    return total / (len(y) * k if has_own_pair else 1)


def score_columns(model, X):
    """Return the scores that coefficients multiply, of shape (n, m, k), computed one by one."""
    outputs = model.hypotheses_.outputs(X)
    if isinstance(model, RBoostRankTC):
        return np.moveaxis(outputs, -1, 0)
    T, k = outputs.shape[1], len(model.classes_)
    if isinstance(model, MultiBoost):
        return np.array([np.outer(outputs[:, t], np.eye(k)[r]) for t in range(T) for r in range(k)])
    P = list(itertools.islice(model.projection_columns(), T))
    if model.rule == "pair":
        return np.array([np.outer(outputs[:, t], P[t][model.rows_[t]]) for t in range(T)])
    return np.array(
        [sum(np.outer(outputs[:, t], P[t][v]) for t in range(T)) for v in range(len(P[0]))]
    )


def coefficients(model):
    return model.weight_path_[[-1]].toarray()[0]


def scores(model, X):
    return np.tensordot(coefficients(model), score_columns(model, X), axes=1)


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]


@pytest.mark.parametrize("n_classes", [2, 3])
class TestMinimum:
    def test_minimum_equals_a_generic_solver(self, model, n_classes):
        X, y = noise(n_classes, n_samples=40)
        before = fitted(model, X, y)
        solved = final_solve(before, X, y, tol=1e-4)
        h = score_columns(solved, X)

        def objective(w):
            return mean_loss(model, np.tensordot(w, h, axes=1), y) + model.nu * w.sum()

        reached = objective(coefficients(solved))
        assert solved.objective_[-1] == pytest.approx(reached, rel=1e-9)
        assert reached <= before.objective_[-1] * (1 + 1e-9)
        # A generic solver without analytic derivatives finds no better solution.
        start = coefficients(solved)
        options = {"maxiter": 50, "ftol": 1e-13, "gtol": 1e-9, "maxfun": 4000}
        better = minimize(objective, start, bounds=[(0, None)] * len(start), options=options)
        assert better.fun == pytest.approx(reached, rel=1e-6)

    def test_slopes_meet_the_optimality_conditions(self, model, n_classes):
        X, y = noise(n_classes, n_samples=40)
        solved = final_solve(fitted(model, X, y), X, y)
        h, w = score_columns(solved, X), coefficients(solved)
        step = 1e-5 * max(1.0, w.max())
        for j in range(0, len(w), max(1, len(w) // 12)):
            there = [
                mean_loss(model, np.tensordot(w + side * step * np.eye(len(w))[j], h, axes=1), y)
                for side in (-1, 1)
            ]
            slope = (there[1] - there[0]) / (2 * step) + model.nu
            assert slope >= -0.02 * model.nu
            if w[j] > 0:
                assert slope <= 0.02 * model.nu

    def test_copy_predicts_with_the_new_coefficients(self, model, n_classes):
        X, y = noise(n_classes, n_samples=40)
        before = fitted(model, X, y)
        attributes = {name: copy.deepcopy(value) for name, value in vars(before).items()}
        solved = final_solve(before, X, y)
        # The model has not changed.
        np.testing.assert_array_equal(before.coefficients_, attributes["coefficients_"])
        np.testing.assert_array_equal(before.objective_, attributes["objective_"])
        assert (before.weight_path_ != attributes["weight_path_"]).nnz == 0
        expected = scores(solved, X)
        expected = expected[:, 1] - expected[:, 0] if n_classes == 2 else expected
        # The tolerance is for the model's codes, which are in single precision.
        np.testing.assert_allclose(solved.decision_function(X), expected, rtol=1e-5, atol=1e-5)
        *early, last = solved.staged_decision_function(X)
        np.testing.assert_allclose(last, expected, rtol=1e-5, atol=1e-5)
        for first, second in zip(early, before.staged_decision_function(X), strict=False):
            np.testing.assert_array_equal(first, second)


def test_objective_decreases_after_a_training_without_convergence():
    X, y = blobs(3)
    model = RBoostProj(n_iterations=15, nu=1e-5, solver_iterations=3, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solved = final_solve(model, X, y)
    assert solved.converged_[-1]
    assert (solved.converged_[:-1] == model.converged_[:-1]).all()
    assert not model.converged_[-1]
    assert solved.objective_[-1] < model.objective_[-1]


def test_dual_variables_belong_to_the_minimum():
    X, y = noise(3, n_samples=40)
    for name in ("MultiBoost", "RBoostRankTC"):
        solved = final_solve(fitted(MODELS[name], X, y), X, y)
        F = scores(solved, X)
        for i, r in itertools.product(range(len(y)), range(3)):
            expected = 1 / (1 + math.exp(F[i, y[i]] - F[i, r])) if r != y[i] else 0.0
            assert solved.dual_[i, r] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["MultiBoost", "RBoostProj", "RBoostProj, rows"])
def test_weights_multiply_the_losses(name):
    X, y = noise(3, n_samples=40)
    weights = np.arange(40) % 4 + 0.0
    before = fitted(MODELS[name], X, y, sample_weight=weights)
    solved = final_solve(before, X, y, sample_weight=weights, tol=1e-4)
    present = weights > 0
    expected = mean_loss(before, scores(solved, X[present]), y[present], weights[present])
    expected += before.nu * coefficients(solved).sum()
    assert solved.objective_[-1] == pytest.approx(expected, rel=1e-9)
    assert solved.objective_[-1] <= before.objective_[-1]
    classes = {label: 1.0 + label for label in range(3)}
    by_class = copy.deepcopy(MODELS[name]).set_params(class_weight=classes)
    by_class = final_solve(fitted(by_class, X, y), X, y)
    by_sample = fitted(MODELS[name], X, y, sample_weight=1.0 + y)
    by_sample = final_solve(by_sample, X, y, sample_weight=1.0 + y)
    np.testing.assert_allclose(by_class.coefficients_, by_sample.coefficients_, rtol=1e-6)


def test_model_without_rounds_is_not_changed():
    X, y = noise(3, n_samples=40)
    for case in ("MultiBoost", "RBoostProj"):
        model = fitted(MODELS[case], np.ones_like(X), y)
        solved = final_solve(model, np.ones_like(X), y)
        assert solved is not model
        assert len(solved.objective_) == solved.weight_path_.shape[0] == solved.n_iterations_ == 0
        np.testing.assert_array_equal(solved.decision_function(X), model.decision_function(X))


def test_too_few_steps_warn():
    X, y = noise(3, n_samples=40)
    model = fitted(MODELS["MultiBoost, from zero"], X, y)
    with pytest.warns(ConvergenceWarning, match="times nu after 1 Newton steps"):
        final_solve(model, X, y, tol=1e-9, max_iter=1)


class TestInvalidInput:
    def assert_raises(self, message, model, X, y, **options):
        with pytest.raises(ValueError, match=message):
            final_solve(model, X, y, **options)

    def test_unsupported_models_raise(self):
        X, y = blobs(3)
        few = {"n_iterations": 3, "random_state": 0}
        self.assert_raises("MCBoost has no problem to solve", MCBoost(**few).fit(X, y), X, y)
        self.assert_raises("exact already", MultiBoost(**few, loss="hinge").fit(X, y), X, y)
        free = RBoostProj(**few, rule="paper", positive=False).fit(X, y)
        self.assert_raises("needs positive=True", free, X, y)
        rank = RBoostRankTC(**few, n_projections=20, loss="exponential").fit(X, y)
        self.assert_raises("no minimum", rank, X, y)
        rank = fitted(MODELS["RBoostRankTC"], X, y)
        self.assert_raises("takes no weights of samples", rank, X, y, sample_weight=np.ones(len(y)))
        none = RBoostProj(**few, nu=0.0)
        self.assert_raises("nu is 0", fitted(none, X, y), X, y)
        with pytest.raises(NotFittedError):
            final_solve(MultiBoost(), X, y)

    def test_unsuitable_data_raise(self):
        X, y = blobs(3)
        model = MultiBoost(n_iterations=3).fit(X, y)
        self.assert_raises("y holds 7, which is no class of", model, X, np.where(y == 2, 7, y))
        for number in (0, -1, 2.5):
            self.assert_raises(
                "max_iter must be a positive whole number", model, X, y, max_iter=number
            )
        self.assert_raises("features", model, X[:, :1], y)
        self.assert_raises("tol must be positive", model, X, y, tol=0.0)
