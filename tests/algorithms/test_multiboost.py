import copy
import functools
import math

import numpy as np
import pytest
from generic import nonnegative
from scipy.optimize import minimize
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from boostbench.algorithms import MultiBoost, multiboost

from . import reference
from .problems import blobs, noise

LOSSES = {
    "logistic": lambda rho: math.log1p(math.exp(-rho)),
    "exponential": lambda rho: math.exp(-rho),
    "hinge": lambda rho: max(0.0, 1 - rho),
}
DUALS = {"logistic": lambda rho: 1 / (1 + math.exp(rho)), "exponential": lambda rho: math.exp(-rho)}
# The loss's part of the dual objective is -lambda*(-u).
CONJUGATES = {
    "logistic": lambda u: -sum(p * math.log(p) for p in (u, 1 - u) if p > 0),
    "exponential": lambda u: u - u * math.log(u) if u > 0 else 0.0,
    "hinge": lambda u: u,
}
# Relative error of the matrix products and the search, which are in single precision.
PRECISION = 1e-5


@pytest.fixture(params=LOSSES)
def loss(request):
    return request.param


@pytest.fixture(params=["logistic", "exponential"])
def smooth(request):
    return request.param


def score_stages(model, X):
    """Return W^T h(x_i) after every round, as a list, from coefficients and stumps alone."""
    H = np.array(reference.stage_outputs(model, X))
    T, k = model.coefficients_.shape
    path = model.weight_path_.toarray().reshape(T, T, k)
    return [H.T @ W for W in path]


def pair_sum(function, scores, y, k):
    return sum(function(scores[i][y[i]] - scores[i][r]) for i in range(len(y)) for r in range(k))


def dual_variables(function, scores, y, k):
    u = np.zeros((len(y), k))
    for i, r in reference.wrong_pairs(y, k):
        u[i, r] = function(scores[i][y[i]] - scores[i][r])
    return u


def edges(u, y, h):
    """Return the left-hand sides of the dual constraints of h, one per class."""
    m, k = u.shape
    result = np.zeros(k)
    for i, r in reference.wrong_pairs(y, k):
        result[y[i]] += u[i, r] * h[i]
        result[r] -= u[i, r] * h[i]
    return result / (m * k)


def largest_edge(u, X, y):
    return max(abs(edges(u, y, h)).max() for h in reference.stump_outputs(X))


class TestSolution:
    """Tests that W solves the problem over all stumps after convergence."""

    @pytest.fixture(params=[(2, 0.01), (3, 0.01), (3, 0.002)], ids=lambda p: f"{p[0]}, nu {p[1]}")
    def fitted(self, request, loss):
        model, *data = self.fit(*request.param, loss)
        assert 1 < model.n_iterations_ < 400
        return model, *data

    @staticmethod
    @functools.cache
    def fit(k, nu, loss):
        """Return a cached fit, which tests must not modify."""
        X, y = blobs(k, n_samples=24, n_features=3, seed=4)
        return MultiBoost(nu=nu, loss=loss, tol=1e-3, n_iterations=400).fit(X, y), X, y, k

    def test_dual_variables_are_feasible(self, fitted):
        model, X, y, _ = fitted
        assert (model.dual_ >= 0).all()
        if model.loss != "exponential":
            assert (model.dual_ <= 1).all()
        assert (model.dual_[np.arange(len(y)), y] == 0).all()
        assert largest_edge(model.dual_, X, y) <= model.nu * (1 + model.tol) + PRECISION * model.nu

    def test_duality_gap_is_closed(self, fitted):
        """A feasible multiple of u bounds the objective from below."""
        model, X, y, k = fitted
        u = model.dual_ * min(1.0, model.nu / largest_edge(model.dual_, X, y))
        bound = sum(CONJUGATES[model.loss](u[i, r]) for i, r in reference.wrong_pairs(y, k))
        bound = (bound + len(y) * LOSSES[model.loss](0.0)) / (len(y) * k)
        gap = model.objective_[-1] - bound
        assert -PRECISION * bound <= gap
        assert gap <= 2 * model.tol * model.nu * model.coefficients_.sum() + PRECISION * bound

    def test_solution_meets_complementary_slackness(self, fitted):
        model, X, y, _ = fitted
        for h, w in zip(reference.stage_outputs(model, X), model.coefficients_, strict=True):
            slack = model.nu - edges(model.dual_, y, h)
            assert (slack[w > 0] <= 1.1 * model.tol * model.nu).all()

    def test_dual_variables_follow_from_the_margins(self, fitted):
        model, X, y, k = fitted
        scores = score_stages(model, X)[-1]
        for i, r in reference.wrong_pairs(y, k):
            rho = scores[i][y[i]] - scores[i][r]
            u = model.dual_[i, r]
            if model.loss == "hinge":
                assert u == pytest.approx(1.0) or rho >= 1 - PRECISION
                assert u == pytest.approx(0.0) or rho <= 1 + PRECISION
            else:
                assert u == pytest.approx(DUALS[model.loss](rho), rel=PRECISION)


class TestEveryRound:
    @pytest.fixture(params=[2, 3], ids=["2 classes", "3 classes"])
    def fitted(self, request, loss):
        k = request.param
        X, y = noise(k, n_samples=20, n_features=3, seed=k)
        return MultiBoost(nu=0.002, loss=loss, n_iterations=12).fit(X, y), X, y, k

    def test_coefficients_are_not_negative(self, fitted):
        model = fitted[0]
        assert (model.weight_path_.data > 0).all()
        assert (model.coefficients_ >= 0).all()

    def test_objective_equals_the_definition(self, fitted):
        model, X, y, k = fitted
        norms = model.weight_path_.sum(axis=1)
        for t, scores in enumerate(score_stages(model, X)):
            expected = pair_sum(LOSSES[model.loss], scores, y, k) / (len(y) * k)
            expected += model.nu * norms[t]
            assert model.objective_[t] == pytest.approx(expected, rel=PRECISION)

    def test_objective_decreases(self, fitted):
        model = fitted[0]
        # The vertex of a linear program may stay the same.
        slack = 1e-12 if model.loss == "hinge" else 0.0
        assert (np.diff(model.objective_) <= slack).all()
        assert model.objective_[-1] < model.objective_[0]

    def test_scores_equal_the_stages(self, fitted):
        model, X, _, k = fitted
        for actual, expected in zip(
            model.staged_decision_function(X), score_stages(model, X), strict=True
        ):
            expected = expected[:, 1] - expected[:, 0] if k == 2 else expected
            np.testing.assert_allclose(actual, expected, atol=1e-12)

    def test_columns_are_distinct(self, fitted):
        model, X, _, _ = fitted
        outputs = [tuple(h) for h in reference.stage_outputs(model, X)]
        assert len(set(outputs)) == model.n_iterations_ > 5


@pytest.mark.parametrize("k", [2, 3])
def test_new_stump_is_the_most_violated_constraint(smooth, k):
    X, y = noise(k, n_samples=20, n_features=3, seed=k)
    model = MultiBoost(nu=0.002, loss=smooth, n_iterations=12).fit(X, y)
    before = [np.zeros((len(y), k)), *score_stages(model, X)]
    for h, scores in zip(reference.stage_outputs(model, X), before, strict=False):
        u = dual_variables(DUALS[smooth], scores, y, k)
        edge = edges(u, y, h).max()
        assert edge == pytest.approx(largest_edge(u, X, y), rel=PRECISION)
        assert edge > model.nu * (1 + model.tol)


@pytest.mark.parametrize("k", [2, 3])
def test_restricted_solutions_equal_a_generic_solver(smooth, k):
    """The problems are restricted to the stumps of a few rounds."""
    X, y = noise(k, n_samples=20, n_features=3, seed=k)
    model = MultiBoost(nu=0.01, loss=smooth, n_iterations=4).fit(X, y)
    H = np.array(reference.stage_outputs(model, X))
    for t in range(4):

        def objective(w, H=H[: t + 1]):
            W = w.reshape(-1, k)
            return pair_sum(LOSSES[smooth], H.T @ W, y, k) / (len(y) * k) + model.nu * W.sum()

        rough = nonnegative(objective, np.full((t + 1) * k, 0.1))
        # A solve stops if its constraints are violated less than the next column's.
        assert rough.fun * (1 - PRECISION) <= model.objective_[t] <= rough.fun * (1 + 1e-2)


def test_two_classes_equal_binary_totally_corrective_boosting(smooth):
    """The equivalent problem has signed coefficients alpha of all stumps, and 2 nu."""
    X, y = blobs(2, n_samples=24, n_features=2, seed=5)
    nu = 0.01
    model = MultiBoost(nu=nu, loss=smooth, tol=1e-3).fit(X, y)
    H = np.array(reference.stump_outputs(X))
    sign = 2.0 * y - 1

    def objective(parts):
        alpha = parts[: len(H)] - parts[len(H) :]
        margins = sign * (alpha @ H)
        value = sum(map(LOSSES[smooth], margins)) / len(y) + 2 * nu * parts.sum()
        dual = np.array([DUALS[smooth](rho) for rho in margins])
        slope = -(H @ (dual * sign)) / len(y)
        return value, np.concatenate([slope, -slope]) + 2 * nu

    binary = minimize(
        objective,
        np.zeros(2 * len(H)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * (2 * len(H)),
        options={"maxiter": 10000, "ftol": 1e-14, "gtol": 1e-9},
    )
    # The pairs r = y_i, half of the 2 m pairs, are constants.
    constant = LOSSES[smooth](0.0)
    assert 2 * model.objective_[-1] - constant == pytest.approx(binary.fun, rel=1e-4)
    alpha = binary.x[: len(H)] - binary.x[len(H) :]
    np.testing.assert_allclose(model.decision_function(X), alpha @ H, atol=0.05)


def test_smaller_tolerance_has_a_smaller_objective():
    X, y = blobs(3, seed=6)
    loose, tight = (MultiBoost(nu=2e-3, tol=tol).fit(X, y) for tol in (0.5, 1e-3))
    assert loose.n_iterations_ < tight.n_iterations_
    assert loose.objective_[-1] > tight.objective_[-1]


@pytest.mark.parametrize("nu", [1e-6, 1e-8])
def test_training_with_small_nu_converges(smooth, nu):
    """The coefficients of separable data grow until the norm limits them."""
    X, y = blobs(3, seed=7)
    model = MultiBoost(nu=nu, loss=smooth, n_iterations=300).fit(X, y)
    assert model.n_iterations_ < 300
    assert model.score(X, y) == 1
    assert largest_edge(model.dual_, X, y) <= 2 * nu


def test_large_nu_gives_an_empty_model(loss):
    X, y = blobs(3)
    model = MultiBoost(nu=1.0, loss=loss).fit(X, y)
    assert model.n_iterations_ == 0
    assert model.coefficients_.shape == (0, 3)
    assert (model.decision_function(X) == 0).all()
    assert list(model.staged_predict(X)) == []


def test_times_of_search_and_coefficients_are_separate(fine_clock):
    X, y = blobs(3, n_samples=200)
    model = MultiBoost(nu=1e-3, n_iterations=40).fit(X, y)
    assert model.weak_learner_time_ > 0
    assert model.coefficient_time_ > 0


def test_wine_is_learned(loss):
    X, y = load_wine(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    model = MultiBoost(nu=2.5e-3, loss=loss).fit(X, y)
    assert model.n_iterations_ < 150
    assert model.score(X_test, y_test) >= 0.93


class TestWarmStart:
    GRID = (1e-2, 1e-3, 1e-4)

    def path(self, X, y, **params):
        model = MultiBoost(warm_start=True, **params)
        for nu in self.GRID:
            model.set_params(nu=nu).fit(X, y)
            yield nu, model

    @pytest.mark.parametrize("k", [2, 3, 4])
    def test_warm_start_equals_a_cold_start(self, loss, k):
        # Linear programs are slow, so that they get fewer samples.
        X, y = noise(k, n_samples=20 if loss == "hinge" else 30)
        for nu, model in self.path(X, y, loss=loss, tol=1e-4):
            fresh = MultiBoost(loss=loss, nu=nu, tol=1e-4).fit(X, y)
            scores = [row @ model.coefficients_ for row in model.hypotheses_.outputs(X)]
            value = pair_sum(LOSSES[loss], scores, y, k) / (len(y) * k)
            value += nu * model.coefficients_.sum()
            assert value == pytest.approx(fresh.objective_[-1], rel=1e-3)

    def test_warm_start_keeps_the_columns(self):
        X, y = noise(3, n_samples=60)
        stumps_before = []
        for _, model in self.path(X, y):
            stumps = list(zip(*vars(model.hypotheses_).values(), strict=True))
            assert stumps[: len(stumps_before)] == stumps_before
            stumps_before = stumps
            assert model.n_iterations_ == len(stumps_before) == len(model.objective_)
            assert model.weight_path_.shape == (len(stumps_before), 3 * len(stumps_before))

    def test_warm_start_respects_the_number_of_rounds(self):
        X, y = noise(3, n_samples=60)
        counts = [model.n_iterations_ for _, model in self.path(X, y, n_iterations=7)]
        assert counts == [min(count, 7) for count in counts]
        assert counts[-1] == 7

    @pytest.mark.parametrize("n_iterations", [1, 4, 7, 20])
    def test_model_limited_by_rounds_equals_a_cold_start(self, n_iterations):
        """Otherwise stumps selected for a larger nu would displace better ones."""
        X, y = noise(3, n_samples=60)
        ended = []
        for nu, model in self.path(X, y, n_iterations=n_iterations):
            if model.n_iterations_ == n_iterations:
                ended.append(nu)
                fresh = MultiBoost(n_iterations=n_iterations, nu=nu).fit(X, y)
                np.testing.assert_array_equal(model.coefficients_, fresh.coefficients_)
                np.testing.assert_array_equal(model.objective_, fresh.objective_)
                np.testing.assert_array_equal(model.predict(X), fresh.predict(X))
        assert ended

    def test_more_rounds_continue_the_training(self):
        X, y = noise(3, n_samples=60)
        model = MultiBoost(n_iterations=5, nu=1e-4, warm_start=True).fit(X, y)
        model.set_params(n_iterations=12).fit(X, y)
        cold = MultiBoost(n_iterations=12, nu=1e-4).fit(X, y)
        assert model.n_iterations_ == 12
        for name in ("coefficients_", "objective_", "dual_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(cold, name))
        np.testing.assert_array_equal(model.weight_path_.toarray(), cold.weight_path_.toarray())

    @pytest.mark.parametrize("change", [{"tol": 1e-3}, {"solver": "lbfgs"}])
    def test_other_solver_settings_restart_an_unconverged_training(self, change):
        X, y = noise(3, n_samples=60)
        model = MultiBoost(n_iterations=5, nu=1e-4, warm_start=True).fit(X, y)
        model.set_params(**change).fit(X, y)
        fresh = MultiBoost(n_iterations=5, nu=1e-4, **change).fit(X, y)
        np.testing.assert_array_equal(model.coefficients_, fresh.coefficients_)

    def test_warm_start_on_other_data_raises(self):
        X, y = noise(3, n_samples=60)
        model = MultiBoost(n_iterations=3, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="which had other data"):
            model.fit(X + 1, y)
        with pytest.raises(ValueError, match="which had other data"):
            model.fit(X[:-1], y[:-1])
        model.set_params(warm_start=False).fit(X + 1, y)

    @pytest.mark.parametrize("loss", ["logistic", "hinge"])
    @pytest.mark.parametrize("is_first", [True, False])
    def test_interrupted_training_restarts(self, loss, is_first, monkeypatch):
        X, y = noise(3, n_samples=30)
        model = MultiBoost(n_iterations=4, nu=1e-2, loss=loss, warm_start=True)
        if not is_first:
            model.fit(X, y)
        model.set_params(n_iterations=8)
        solver = multiboost._LinearProgramSolver if loss == "hinge" else multiboost._DescentSolver
        solve = solver.solve

        def raise_interrupt(instance, H, *rest):
            if len(H) == 6:
                raise KeyboardInterrupt
            return solve(instance, H, *rest)

        with monkeypatch.context() as patch:
            patch.setattr(solver, "solve", raise_interrupt)
            with pytest.raises(KeyboardInterrupt):
                model.fit(X, y)
        fresh = MultiBoost(n_iterations=8, nu=1e-2, loss=loss).fit(X, y)
        np.testing.assert_array_equal(model.fit(X, y).coefficients_, fresh.coefficients_)
        assert len(model.objective_) == 8

    def test_attributes_belong_to_the_nu_of_the_last_fit(self):
        """This holds even if no stump is added."""
        X, y = noise(3, n_samples=60)
        model = MultiBoost(nu=1e-3, warm_start=True).fit(X, y)
        before = model.objective_
        model.set_params(nu=1.001e-3).fit(X, y)
        assert model.n_iterations_ == len(before)
        assert (model.objective_[:-1] == before[:-1]).all()
        scores = score_stages(model, X)[-1]
        value = pair_sum(LOSSES["logistic"], scores, y, 3) / (len(y) * 3)
        value += 1.001e-3 * model.coefficients_.sum()
        assert model.objective_[-1] == pytest.approx(value, rel=PRECISION)
        last = model.weight_path_.toarray()[-1].reshape(model.coefficients_.shape)
        np.testing.assert_array_equal(last, model.coefficients_)
        *_, stage = model.staged_decision_function(X)
        np.testing.assert_allclose(stage, model.decision_function(X), atol=1e-12)

    def test_copy_continues_independently(self):
        X, y = noise(3, n_samples=60)
        model = MultiBoost(nu=1e-2, warm_start=True).fit(X, y)
        copied = copy.copy(model).set_params(nu=5e-3).fit(X, y)
        fresh = MultiBoost(nu=5e-3).fit(X, y)
        assert copied.objective_[-1] == pytest.approx(fresh.objective_[-1], rel=PRECISION)
        refitted = model.fit(X, y)
        assert refitted.objective_[-1] == pytest.approx(
            MultiBoost(nu=1e-2).fit(X, y).objective_[-1], rel=PRECISION
        )

    def test_warm_start_with_other_bins_raises(self):
        X, y = noise(3, n_samples=60)
        model = MultiBoost(n_iterations=3, max_bins=4, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="max_bins=4 of the last fit, not with None"):
            model.set_params(max_bins=None).fit(X, y)

    def test_warm_start_with_another_loss_raises(self):
        X, y = noise(3, n_samples=60)
        model = MultiBoost(n_iterations=3, warm_start=True).fit(X, y)
        model.set_params(loss="exponential")
        with pytest.raises(ValueError, match="loss='logistic' of the last fit, not with 'expon"):
            model.fit(X, y)
        fresh = MultiBoost(n_iterations=3, loss="exponential").fit(X, y)
        refitted = model.set_params(warm_start=False).fit(X, y)
        np.testing.assert_array_equal(refitted.coefficients_, fresh.coefficients_)

    def test_warm_start_with_fewer_rounds_raises(self):
        X, y = noise(3, n_samples=60)
        model = MultiBoost(n_iterations=5, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match=r"5 rounds .* n_iterations=3"):
            model.set_params(n_iterations=3).fit(X, y)
        assert model.set_params(warm_start=False).fit(X, y).n_iterations_ == 3


class TestSolvers:
    """Tests that L-BFGS-B (the papers' solver) and Newton's method have one optimum."""

    @pytest.mark.parametrize("k", [2, 3, 5])
    def test_solvers_have_one_optimum(self, smooth, k):
        X, y = noise(k, n_samples=40, seed=k)
        params = {"nu": 1e-2, "loss": smooth, "n_iterations": 300}
        newton = MultiBoost(**params, tol=1e-3).fit(X, y)
        lbfgs = MultiBoost(**params, solver="lbfgs", solver_iterations=100).fit(X, y)
        assert 1 < lbfgs.n_iterations_ < 300
        assert lbfgs.objective_[-1] == pytest.approx(newton.objective_[-1], rel=1e-3)
        assert largest_edge(lbfgs.dual_, X, y) <= 1.01 * 1e-2 * (1 + PRECISION)

    def test_rounds_equal_the_literal_problem(self, smooth):
        """SciPy minimises the objective of the columns so far, in double precision."""
        X, y = noise(3, n_samples=30, seed=1)
        model = MultiBoost(
            nu=2e-3, loss=smooth, n_iterations=6, solver="lbfgs", solver_iterations=1000
        ).fit(X, y)
        H = model.hypotheses_.outputs(X)
        for t in range(1, 7):

            def objective(w, H=H[:, :t]):
                scores = H @ w.reshape(-1, 3)
                value = pair_sum(LOSSES[smooth], scores, y, 3) / (len(y) * 3)
                return value + model.nu * w.sum()

            rough = nonnegative(objective, np.full(3 * t, 0.1))
            assert model.objective_[t - 1] == pytest.approx(rough.fun, rel=1e-5)

    def test_warm_start_may_change_the_solver(self):
        X, y = noise(3, n_samples=40)
        model = MultiBoost(nu=1e-2, warm_start=True).fit(X, y)
        before = model.objective_[-1]
        model.set_params(solver="lbfgs", solver_iterations=200).fit(X, y)
        assert model.objective_[-1] == pytest.approx(before, rel=1e-4)
