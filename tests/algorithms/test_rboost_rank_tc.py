import functools
import itertools
import math

import numpy as np
import pytest
from generic import nonnegative
from sklearn.utils import check_random_state

from boostbench.algorithms import RBoostRankTC
from boostbench.core.losses.restricted_problems import LARGEST_NORM
from boostbench.core.solvers import lbfgs
from boostbench.core.solvers.newton import SolverResult

from . import reference
from .problems import blobs, noise

# Edge that the search may lose, since it sums in single precision.
PRECISION = 1e-5
# Tolerance of the solvers for a constraint, plus epsilon of the stopping rule.
TOL = 1e-5

NOISE = noise(3, n_samples=24, n_features=3)
# Penalties for which noise is fitted in part.
NU = {"exponential": 0.22, "exponential_sum": 2.0, "logistic": 1.0}


def loss_value(loss, margins):
    """Return the loss of eq. (2) or (12) of a list of margins."""
    if loss == "exponential":
        return math.log(sum(math.exp(-rho) for rho in margins))
    if loss == "exponential_sum":
        return sum(math.exp(-rho) for rho in margins)
    return sum(math.log1p(math.exp(-rho)) for rho in margins)


def dual_variables(loss, margins):
    """Return the dual variables, eq. (4) or (16)."""
    if loss == "logistic":
        return [1 / (1 + math.exp(rho)) for rho in margins]
    total = sum(math.exp(-rho) for rho in margins) if loss == "exponential" else 1.0
    return [math.exp(-rho) / total for rho in margins]


def dual_value(loss, u):
    """Return the dual objective, the negative of eq. (3) or (15)."""
    if loss == "logistic":
        return -sum(p * math.log(p) for q in u for p in (q, 1 - q) if p > 0)
    entropy = -sum(p * math.log(p) for p in u if p > 0)
    return entropy if loss == "exponential" else entropy + sum(u)


def select_pairs(array, y):
    """Return the entries of an array of shape (n_samples, n_classes) for the pairs r != y_i."""
    return [array[i, r] for i, r in reference.wrong_pairs(y, array.shape[1])]


def design(outputs, y):
    """Return delta h of shape (n_columns, n_pairs) from a list of (n_samples, n_classes)."""
    return np.array([select_pairs(reference.differences(h, y), y) for h in outputs])


def candidate_margins(model, X, y):
    """Return delta h of all stumps of polarity +1 that a fit has searched."""
    search = model._make_search(X, check_random_state(model.random_state))
    outputs = []
    for feature in range(model.n_projections):
        points = X @ search.projection_rows(feature).T
        thresholds = search.thresholds[:, feature]
        outputs.extend(np.where(points > float(threshold), 1.0, -1.0) for threshold in thresholds)
    return design(outputs, y)


def make_model(loss, nu=None, n_iterations=200, **params):
    return RBoostRankTC(
        n_iterations=n_iterations,
        n_projections=params.pop("n_projections", 10),
        n_bins=6,
        loss=loss,
        nu=NU[loss] if nu is None else nu,
        random_state=0,
        **params,
    )


@pytest.fixture(params=NU)
def loss(request):
    return request.param


@pytest.fixture(params=["lbfgs", "newton"])
def solver(request, loss):
    if (request.param, loss) == ("newton", "exponential"):
        pytest.skip("Newton's method is for eq. (12)")
    return request.param


@pytest.fixture(params=[2, 3], ids=["2 classes", "3 classes"])
def n_classes(request):
    return request.param


@functools.cache
def fit(loss, solver, n_classes, **params):
    """Return a cached fit, which tests must not modify."""
    X, y = noise(n_classes, n_samples=24, n_features=3, seed=n_classes)
    return make_model(loss, solver=solver, **params).fit(X, y), X, y


class TestSolution:
    """Tests that w solves the problem over all candidates after convergence."""

    @pytest.fixture
    def fitted(self, loss, solver, n_classes):
        model, X, y = fit(loss, solver, n_classes)
        assert 3 < model.n_iterations_ < 200
        return model, X, y

    def edges(self, model, A, y):
        return A @ select_pairs(model.dual_, y)

    def test_dual_variables_follow_from_the_margins(self, fitted):
        model, X, y = fitted
        F = sum(
            w * h
            for w, h in zip(model.coefficients_, reference.projected_outputs(model, X), strict=True)
        )
        expected = dual_variables(model.loss, select_pairs(reference.differences(F, y), y))
        np.testing.assert_allclose(select_pairs(model.dual_, y), expected, rtol=1e-9)
        assert (model.dual_[np.arange(len(y)), y] == 0).all()

    def test_dual_variables_are_feasible(self, fitted):
        """The constraints cover all candidates of both polarities."""
        model, X, y = fitted
        assert (model.dual_ >= 0).all()
        if model.loss == "exponential":
            assert model.dual_.sum() == pytest.approx(1.0)
        largest = np.abs(self.edges(model, candidate_margins(model, X, y), y)).max()
        assert largest <= model.nu + TOL + PRECISION * model.dual_.sum()

    def test_duality_gap_is_closed(self, fitted):
        model, X, y = fitted
        largest = np.abs(self.edges(model, candidate_margins(model, X, y), y)).max()
        # The violated constraints bound the remaining gap.
        slack = 2 * max(largest - model.nu, TOL) * model.coefficients_.sum()
        gap = model.objective_[-1] - dual_value(model.loss, select_pairs(model.dual_, y))
        assert abs(gap) <= slack + 1e-9
        assert slack < 1e-3

    def test_solution_meets_the_karush_kuhn_tucker_conditions(self, fitted):
        """Positive coefficients have the edge nu, and no edge is larger."""
        model, X, y = fitted
        edges = self.edges(model, design(reference.projected_outputs(model, X), y), y)
        w = model.coefficients_
        assert (w >= 0).all()
        assert (edges <= model.nu + 5 * TOL).all()
        # L-BFGS-B also stops if the objective hardly decreases.
        np.testing.assert_allclose(edges[w > 0], model.nu, atol=1e-3)

    def test_generic_solver_is_not_better(self, fitted):
        """The generic solver has all candidates of both polarities."""
        model, X, y = fitted
        A = np.unique(candidate_margins(model, X, y), axis=0)
        A = np.concatenate([A, -A])

        def objective(w):
            rho = w @ A
            return (
                loss_value(model.loss, rho) + model.nu * w.sum(),
                model.nu - A @ dual_variables(model.loss, rho),
            )

        optimum = nonnegative(objective, np.full(len(A), 0.01), jac=True)
        assert model.objective_[-1] == pytest.approx(optimum.fun, rel=1e-5)


class TestEveryRound:
    @pytest.fixture
    def fitted(self, loss, solver, n_classes):
        return fit(loss, solver, n_classes, n_iterations=8)

    def rounds(self, model, X, y):
        """Yield w and the margins of the pairs after each round."""
        A = design(reference.projected_outputs(model, X), y)
        for w in model.weight_path_.toarray():
            yield w, w @ A

    def test_objective_equals_the_definition(self, fitted):
        model, X, y = fitted
        for value, (w, rho) in zip(model.objective_, self.rounds(model, X, y), strict=True):
            expected = loss_value(model.loss, rho) + model.nu * w.sum()
            assert value == pytest.approx(expected, rel=1e-9)

    def test_objective_decreases(self, fitted):
        model, _, y = fitted
        nothing = loss_value(model.loss, np.zeros(len(select_pairs(model.dual_, y))))
        assert (np.diff([nothing, *model.objective_]) < 0).all()

    def test_coefficients_equal_a_generic_solver(self, fitted):
        """The solver has the weak learners of the rounds so far."""
        model, X, y = fitted
        A = design(reference.projected_outputs(model, X), y)
        for t, w in enumerate(model.weight_path_.toarray()):
            columns = A[: t + 1]

            def objective(w, A=columns):
                return loss_value(model.loss, w @ A) + model.nu * w.sum()

            optimum = nonnegative(objective, np.full(t + 1, 0.1), ftol=1e-14)
            assert model.objective_[t] == pytest.approx(optimum.fun, rel=1e-7)
            np.testing.assert_allclose(w[: t + 1], optimum.x, atol=2e-3)
            assert (w[t + 1 :] == 0).all()

    def test_weak_learners_have_the_largest_edge(self, fitted):
        """Edges of eqs. (5) and (17) are maximised by brute force."""
        model, X, y = fitted
        chosen = design(reference.projected_outputs(model, X), y)
        everything = candidate_margins(model, X, y)
        before = [np.zeros(chosen.shape[1]), *(rho for _, rho in self.rounds(model, X, y))]
        for delta, rho in zip(chosen, before, strict=False):
            u = np.array(dual_variables(model.loss, rho))
            edge = delta @ u
            assert edge == pytest.approx(np.abs(everything @ u).max(), abs=PRECISION * u.sum())
            assert edge > model.nu

    def test_scores_equal_the_margins(self, fitted):
        model, X, y = fitted
        for scores, (_, rho) in zip(
            reference.class_scores(model, X), self.rounds(model, X, y), strict=True
        ):
            actual = select_pairs(reference.differences(scores, y), y)
            np.testing.assert_allclose(actual, rho, atol=1e-10)

    def test_stage_equals_a_shorter_training(self, fitted):
        model, X, y = fitted
        for rounds, stage in enumerate(model.staged_decision_function(X), start=1):
            shorter = make_model(model.loss, solver=model.solver, n_iterations=rounds).fit(X, y)
            np.testing.assert_allclose(shorter.decision_function(X), stage, atol=1e-9)
            assert shorter.n_iterations_ == rounds


def test_two_classes_equal_binary_totally_corrective_boosting(loss, solver):
    """Each sample is one pair, whose margin is its label times the decision function."""
    X, y = noise(2, n_samples=24, n_features=3)
    model = make_model(loss, solver=solver, n_iterations=10).fit(X, y)
    norms = model.weight_path_.sum(axis=1)
    for decision, norm, value in zip(
        model.staged_decision_function(X), norms, model.objective_, strict=True
    ):
        margins = np.where(y == 1, decision, -decision)
        assert value == pytest.approx(loss_value(loss, margins) + model.nu * norm)


def test_losses_are_sums_over_samples(loss):
    """Repeating the samples doubles the loss of eq. (12), and adds a constant to eq. (2)."""
    X, y = NOISE
    once = make_model(loss, n_iterations=6).fit(X, y)
    share = 1.0 if loss == "exponential" else 2.0
    twice = make_model(loss, share * once.nu, n_iterations=6)
    twice.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    np.testing.assert_allclose(twice.coefficients_, once.coefficients_, atol=2e-3)


def test_both_forms_of_the_exponential_loss_have_equal_solutions():
    """A solution of eq. (2) for nu / (sum of the losses) solves eq. (12)."""
    X, y = NOISE
    added = make_model("exponential_sum", solver="newton").fit(X, y)
    logged = make_model("exponential", added.nu / added.dual_.sum()).fit(X, y)
    np.testing.assert_allclose(logged.decision_function(X), added.decision_function(X), atol=2e-3)


class TestUnboundedProblem:
    """Tests on separable data with a penalty below their margin: the objective is unbounded."""

    @pytest.fixture(params=[2, 3], ids=["2 classes", "3 classes"])
    def separable(self, request):
        return blobs(request.param, n_samples=30, spread=0.3, seed=request.param)

    @pytest.mark.parametrize(
        ("nu", "solver_iterations"), [(1e-2, 100), (1e-4, 100), (1e-7, 100), (1e-7, 500)]
    )
    def test_training_continues_with_finite_coefficients(self, separable, nu, solver_iterations):
        X, y = separable
        model = make_model(
            "exponential",
            nu,
            15,
            n_projections=50,
            unbounded="continue",
            solver_iterations=solver_iterations,
        ).fit(X, y)
        assert model.n_iterations_ == 15
        assert 1 <= model.unbounded_at_ < 15
        assert np.isfinite(model.weight_path_.data).all()
        assert np.isfinite(model.objective_).all()
        assert (np.diff(model.objective_) <= 0).all()
        assert model.objective_[-1] < 0
        assert np.isfinite(model.dual_).all()
        assert (model.predict(X) == y).all()

    @pytest.mark.parametrize("nu", [1e-2, 1e-4, 1e-7])
    def test_norm_is_limited(self, separable, nu):
        X, y = separable
        model = make_model("exponential", nu, 40, n_projections=50).fit(X, y)
        norms = model.weight_path_.sum(axis=1)
        assert 340 < norms[-1] < LARGEST_NORM + 5
        assert (norms < LARGEST_NORM + 5).all()
        assert (np.diff(model.objective_) <= 0).all()
        assert 1 <= model.unbounded_at_ < 10
        assert (model.predict(X) == y).all()
        # The normalised margin still increases after the proof.
        A = design(reference.projected_outputs(model, X), y)
        path = model.weight_path_.toarray()
        margins = [(path[t] @ A).min() / norms[t] for t in (model.unbounded_at_ - 1, -1)]
        assert margins[1] > margins[0] > nu

    def test_training_ends_with_the_proof_of_unboundedness(self, separable):
        X, y = separable
        model = make_model("exponential", 1e-2, unbounded="stop", n_projections=50)
        model.fit(X, y)
        assert model.n_iterations_ == model.unbounded_at_ < 200
        A = design(reference.projected_outputs(model, X), y)
        proven = [(w @ A).min() > model.nu * w.sum() for w in model.weight_path_.toarray()]
        assert proven == [False] * (len(proven) - 1) + [True]
        # The proof implies that all margins are positive.
        assert (model.predict(X) == y).all()
        # The objective decreases without bound along w.
        w = model.coefficients_ / model.coefficients_.sum()
        values = [loss_value("exponential", s * w @ A) + model.nu * s for s in (50, 100, 200)]
        assert values[0] > values[1] > values[2]

    def test_overflowing_steps_are_not_taken(self, separable, monkeypatch):
        def overflow(smooth, start, nu, max_iter, **settings):
            return SolverResult(np.full(len(start), np.inf), -np.inf, np.inf, False)

        monkeypatch.setattr(lbfgs, "nonnegative_quasi_newton", overflow)
        model = make_model("exponential", 1e-2, 3).fit(*separable)
        assert (model.coefficients_ == 0).all()
        assert np.isfinite(model.objective_).all()

    @pytest.mark.parametrize("solver", ["lbfgs", "newton"])
    @pytest.mark.parametrize("loss", ["exponential_sum", "logistic"])
    def test_sums_of_losses_are_bounded(self, separable, solver, loss):
        X, y = separable
        model = make_model(loss, 1e-3, 200, n_projections=50, solver=solver).fit(X, y)
        assert model.n_iterations_ < 200
        assert model.unbounded_at_ is None
        assert model.objective_[-1] > 0
        assert (model.predict(X) == y).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", ["exponential_sum", "logistic"])
def test_solvers_agree(loss, seed):
    X, y = noise(3, n_samples=24, n_features=3, seed=seed)
    first, second = (make_model(loss, solver=solver).fit(X, y) for solver in ("lbfgs", "newton"))
    assert first.objective_[-1] == pytest.approx(second.objective_[-1], rel=1e-5)


def test_fewer_solver_iterations_have_a_larger_objective(loss):
    few, many = (
        make_model(loss, n_iterations=6, solver_iterations=n).fit(*NOISE).objective_[-1]
        for n in (1, 100)
    )
    assert few > many


def test_smaller_tolerance_has_a_smaller_objective(loss):
    rough, fine = (make_model(loss, tol=tol).fit(*NOISE) for tol in (0.2 * NU[loss], 1e-5))
    assert rough.n_iterations_ < fine.n_iterations_
    assert rough.objective_[-1] > fine.objective_[-1]


def test_smaller_nu_fits_better(loss):
    fits = [make_model(loss, scale * NU[loss]).fit(*NOISE) for scale in (1.5, 1.0, 0.7)]
    for heavy, light in itertools.pairwise(fits):
        assert heavy.coefficients_.sum() < light.coefficients_.sum()
        assert heavy.objective_[-1] > light.objective_[-1]


def test_large_nu_gives_an_empty_model(loss):
    X, y = blobs(3)
    model = make_model(loss, nu=1e3).fit(X, y)
    assert model.n_iterations_ == 0
    assert model.coefficients_.shape == (0,)
    assert (model.decision_function(X) == 0).all()
    assert list(model.staged_predict(X)) == []


def test_discriminants_decrease_the_objective():
    X, y = noise(3, n_samples=60, n_features=4)
    stumps = make_model("logistic", n_iterations=10).fit(X, y)
    both = make_model("logistic", n_iterations=10, weak_learner="wlda").fit(X, y)
    assert both.objective_[-1] < stumps.objective_[-1]


def test_newton_with_eq_2_raises():
    with pytest.raises(ValueError, match="exponential_sum"):
        make_model("exponential", solver="newton").fit(*blobs(3))


def test_default_solver_depends_on_the_loss(loss):
    X, y = noise(3, n_samples=24, n_features=3, seed=3)
    solvers = ["lbfgs"] if loss == "exponential" else ["newton", "lbfgs"]
    chosen, default, *rest = (
        make_model(loss, n_iterations=8, solver=solver).fit(X, y).coefficients_
        for solver in (None, *solvers)
    )
    np.testing.assert_allclose(chosen, default, rtol=1e-9)
    # Both solvers end within their tolerance, but at different points.
    assert all(np.abs(chosen - other).max() > 1e-9 for other in rest)
