import functools
import itertools
import math

import numpy as np
import pytest
from generic import nonnegative
from scipy.optimize import minimize

from boostbench.algorithms import RBoostProj
from boostbench.algorithms.rboost_proj import _signed_quasi_newton
from boostbench.core.learners.discriminants import OutputCodeDiscriminantSearch

from . import reference
from .problems import blobs, noise
from .projected_outputs import PairCoefficients, RowCoefficients, fit, loss, objective

LOSSES = ["logistic", "exponential"]
# Absolute error of searches and products, which are in single precision.
PRECISION = 1e-5


fitted = functools.partial(fit, RowCoefficients)


@pytest.mark.parametrize("projection", ["gaussian", "sign", "sparse"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", LOSSES)
class TestModel:
    def test_scores_equal_the_projected_outputs(self, name, n_classes, projection):
        """Scores are F_r(x) = w' P^(r) H(x) after every round, with the w of that round."""
        f = fitted(n_classes=n_classes, loss=name, projection=projection)
        for t, scores in enumerate(reference.class_scores(f.model, f.X)):
            F = np.zeros((len(f.X), n_classes))
            for i, r in itertools.product(range(len(f.X)), range(n_classes)):
                for s in range(t + 1):
                    F[i, r] += (f.w[t] @ f.P[s, :, r]) * f.H[s][i]
            np.testing.assert_allclose(
                reference.differences(scores, f.y),
                reference.differences(F, f.y),
                atol=PRECISION * np.abs(F).max(),
            )

    def test_coefficients_equal_the_codes_of_the_last_round(self, name, n_classes, projection):
        f = fitted(n_classes=n_classes, loss=name, projection=projection)
        for t in range(f.model.n_iterations_):
            np.testing.assert_allclose(
                f.model.coefficients_[t],
                f.w[-1] @ f.P[t],
                atol=PRECISION * np.abs(f.model.coefficients_).max(),
            )

    def test_w_is_nonnegative_and_decreases_the_objective(self, name, n_classes, projection):
        """The objective is at most lambda(0), the value of w = 0."""
        f = fitted(n_classes=n_classes, loss=name, projection=projection)
        assert f.w.shape == (7, 10)
        assert (f.w >= 0).all()
        assert (f.w > 0).any(axis=1).all()
        assert (f.model.objective_ < loss(name, np.zeros(1))[0][0]).all()

    def test_objective_equals_the_definition(self, name, n_classes, projection):
        """The objective is eq. (18) of the scores; the terms r = y_i contribute lambda(0)."""
        f = fitted(n_classes=n_classes, loss=name, projection=projection)
        for t, scores in enumerate(reference.class_scores(f.model, f.X)):
            total = 0.0
            margins = reference.differences(scores, f.y)
            for i, r in itertools.product(range(len(f.X)), range(n_classes)):
                assert r != f.y[i] or margins[i, r] == 0
                total += (
                    math.exp(-margins[i, r])
                    if name == "exponential"
                    else math.log(1 + math.exp(-margins[i, r]))
                )
            total = total / (len(f.X) * n_classes) + 0.01 * sum(f.w[t])
            assert f.model.objective_[t] == pytest.approx(total, rel=PRECISION)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("kind", "nu"),
    [
        (RowCoefficients, 0.1),
        (RowCoefficients, 0.01),
        (PairCoefficients, 0.03),
        (PairCoefficients, 0.01),
        (PairCoefficients, 1e-3),
    ],
)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("data", [blobs, noise])
class TestCoefficients:
    """Tests of optimality; L-BFGS-B, which stops by the objective, rarely ends a round early.

    The next round continues from there: a fit of rows may have one such round, a fit of pairs none.
    """

    def test_coefficients_meet_the_optimality_conditions(self, data, kind, name, nu, n_classes):
        """The gradient of eq. (18) is at least 0, and equals 0 for positive w."""
        f = fit(kind, data=data, n_classes=n_classes, loss=name, nu=nu)
        assert kind is RowCoefficients or f.model.converged_.all()
        off = 0.02 * nu if kind is RowCoefficients else 3e-5
        met = []
        for t in range(f.model.n_iterations_):
            _, gradient = objective(f.weights(t), f.design(t), name, nu)
            positive = f.weights(t) > 0
            met.append(gradient.min() > -off and (gradient[positive] < off).all())
        assert sum(met) >= len(met) - (kind is RowCoefficients)

    def test_generic_solver_is_not_better(self, data, kind, name, nu, n_classes):
        f = fit(kind, data=data, n_classes=n_classes, loss=name, nu=nu)
        rng = np.random.default_rng(0)
        for t in (0, 3, f.model.n_iterations_ - 1):
            w, arguments = f.weights(t), (f.design(t), name, nu)
            value, _ = objective(w, *arguments)
            for start in (np.zeros(len(w)), rng.uniform(0, 1, len(w))):
                optimum = nonnegative(objective, start, arguments, jac=True)
                assert optimum.success
                assert value <= optimum.fun * (1 + 1e-4)
                # The generic solver must reach the optimum, or the comparison would be meaningless.
                assert optimum.fun <= value * (1 + 1e-6)

    def test_dual_is_feasible_and_the_gap_closed(self, data, kind, name, nu, n_classes):
        """The dual is eq. (23); a feasible multiple of u bounds the optimum from below."""
        f = fit(kind, data=data, n_classes=n_classes, loss=name, nu=nu)
        most, gap = (1.02, 1e-3) if kind is RowCoefficients else (np.inf, 5e-3)
        met = []
        for t in range(f.model.n_iterations_):
            u = f.dual(t)
            violation = np.einsum("ir,irv->v", u, f.design(t)).max()
            x = u.size * u * min(1.0, nu / violation)
            if name == "logistic":
                conjugate = x * np.log(x) + (1 - x) * np.log(1 - x)
            else:
                conjugate = x * np.log(x) - x
            primal, _ = objective(f.weights(t), f.design(t), name, nu)
            dual = -conjugate.mean()
            assert dual <= primal * (1 + 1e-9)
            met.append(violation <= nu * most and primal - dual < gap * primal)
        assert sum(met) >= len(met) - (kind is RowCoefficients)


@pytest.mark.parametrize("nu", [1e-3, 1e-4])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_nearly_unregularised_problems_are_solved_within_a_percent(seed, name, nu):
    """L-BFGS-B may stop early if the objective is flat, but within a percent here."""
    f = fitted(seed, data=blobs, loss=name, nu=nu)
    for t in range(f.model.n_iterations_):
        arguments = (f.design(t), name, nu)
        optimum = minimize(
            objective,
            f.w[t],
            arguments,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * 10,
            options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10000, "maxfun": 100000},
        )
        assert objective(f.w[t], *arguments)[0] <= optimum.fun * 1.01


def code_weights(f, t, code):
    """Return ``sum_r u_ir (code[y_i] - code[r])`` for each i, with the dual variables of round t.

    A weak learner h of that code has the edge ``sum_i h(x_i) pull_i``.
    """
    u = f.dual(t - 1)
    pulls = np.zeros(len(f.y))
    for i, r in itertools.product(range(len(f.y)), range(f.k)):
        pulls[i] += u[i, r] * (code[f.y[i]] - code[r])
    return pulls


@pytest.mark.parametrize("kind", [RowCoefficients, PairCoefficients])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_most_violated_constraint_is_selected(seed, name, n_classes, kind):
    """Compare with eq. (24), by brute force over stumps, polarities and rows of P."""
    f = fit(kind, seed, n_classes, n_iterations=5, n_projections=4, loss=name)
    candidates = reference.stump_outputs(f.X)
    for t in range(f.model.n_iterations_):
        before = f.violation(t)
        pulls = [code_weights(f, t, f.P[t, v]) for v in range(4)]
        largest = max(
            before[v] + polarity * (h @ pulls[v])
            for v in range(4)
            for h in candidates
            for polarity in (-1, 1)
        )
        chosen = max(before[v] + f.H[t] @ pulls[v] for v in f.chosen(t))
        assert chosen == pytest.approx(largest, abs=PRECISION)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(2))
class TestGreedyRule:
    def test_largest_edge_for_the_code_is_selected(self, seed, name, n_classes):
        f = fitted(seed, n_classes, n_iterations=8, n_projections=4, loss=name, rule="greedy")
        candidates = reference.stump_outputs(f.X)
        for t in range(1, f.model.n_iterations_):
            code = f.w[t - 1] @ f.P[t]
            assert code.any()
            pulls = code_weights(f, t, code)
            largest = max(abs(h @ pulls) for h in candidates)
            assert f.H[t] @ pulls == pytest.approx(largest, abs=PRECISION)

    def test_first_rounds_equal_the_paper(self, seed, name, n_classes):
        paper, greedy = (
            fitted(seed, n_classes, n_iterations=2, loss=name, rule=rule)
            for rule in ("paper", "greedy")
        )
        assert (paper.H[0] == greedy.H[0]).all()
        assert (paper.w[0] == greedy.w[0]).all()


@pytest.mark.parametrize(
    ("kind", "positive"),
    [(RowCoefficients, True), (RowCoefficients, False), (PairCoefficients, True)],
)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_discriminants_select_the_most_violated_constraint(seed, n_classes, kind, positive):
    """Compare with eq. (24) over the rows of P, or of P and -P."""
    f = fit(kind, seed, n_classes, n_iterations=5, weak_learner="wlda", positive=positive)
    search = OutputCodeDiscriminantSearch(f.X)
    for t in range(f.model.n_iterations_):
        u, before = f.dual(t - 1), f.violation(t)
        weights = np.zeros_like(u)
        for i, r in itertools.product(range(len(f.y)), range(f.k)):
            weights[i, f.y[i]] += u[i, r]
            weights[i, r] -= u[i, r]
        codes = f.P[t]
        if not positive:
            before, codes = np.concatenate([before, -before]), np.concatenate([codes, -codes])
        best = search.best(weights, codes, before)
        assert best.column % len(f.P[t]) in f.chosen(t)
        score = before[best.column] + f.H[t] @ weights @ codes[best.column]
        assert score == pytest.approx(best.edge, abs=PRECISION)


@pytest.mark.parametrize("name", LOSSES)
def test_greedy_discriminants_belong_to_the_code(name):
    f = fitted(n_iterations=6, loss=name, rule="greedy", weak_learner="wlda")
    search = OutputCodeDiscriminantSearch(f.X)
    for t in range(1, f.model.n_iterations_):
        code = f.w[t - 1] @ f.P[t]
        pulls = code_weights(f, t, code)
        h = search.best(pulls[:, None], np.ones((1, 1)), np.zeros(1)).outputs
        assert f.H[t] @ pulls == pytest.approx(h @ pulls, abs=PRECISION)


class TestSignedCoefficients:
    """Tests of ``positive=False``, which is eq. (18) with the rows of P and of -P."""

    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("nu", [0.1, 0.01])
    @pytest.mark.parametrize("name", LOSSES)
    @pytest.mark.parametrize("data", [blobs, noise])
    def test_signed_coefficients_are_optimal(self, data, name, nu, n_classes):
        f = fitted(data=data, n_classes=n_classes, loss=name, nu=nu, positive=False)
        met = []
        for t in range(f.model.n_iterations_):
            value, gradient = objective(f.w[t], f.design(t), name, 0.0)
            value += nu * np.abs(f.w[t]).sum()
            assert f.model.objective_[t] == pytest.approx(value, rel=PRECISION)
            active = np.where(f.w[t] != 0, gradient + nu * np.sign(f.w[t]), 0.0)
            met.append(np.abs(gradient).max() < 1.02 * nu and np.abs(active).max() < 0.02 * nu)
        assert sum(met) >= len(met) - 1
        assert f.w.min() < 0 < f.w.max()

    @pytest.mark.parametrize("name", LOSSES)
    def test_generic_solver_is_not_better(self, name):
        f = fitted(data=blobs, loss=name, nu=0.01, positive=False)
        for t in (0, 3, f.model.n_iterations_ - 1):
            Z = f.design(t)
            arguments = (np.concatenate([Z, -Z], axis=2), name, 0.01)
            optimum = nonnegative(objective, np.full(20, 0.1), arguments, jac=True)
            assert optimum.success
            assert f.model.objective_[t] == pytest.approx(optimum.fun, rel=1e-4)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_constraints_of_both_signs_are_searched(self, n_classes):
        gains = []
        for seed, t in itertools.product(range(3), range(6)):
            f = fitted(seed, n_classes, n_iterations=6, n_projections=4, positive=False)
            before = np.einsum("ir,irv->v", f.dual(t - 1), f.design(t - 1))
            pulls = [code_weights(f, t, f.P[t, v]) for v in range(4)]
            largest = {
                sign: max(
                    sign * (before[v] + polarity * (h @ pulls[v]))
                    for v in range(4)
                    for h in reference.stump_outputs(f.X)
                    for polarity in (-1, 1)
                )
                for sign in (-1, 1)
            }
            chosen = max(abs(before[v] + f.H[t] @ pulls[v]) for v in range(4))
            assert chosen == pytest.approx(max(largest.values()), abs=PRECISION)
            gains.append(largest[-1] - largest[1])
        # The maximum is on rows of P and of -P, or the test would be meaningless.
        assert min(gains) < -10 * PRECISION
        assert max(gains) > 10 * PRECISION

    @pytest.mark.parametrize("nu", [0.0, 0.3, 5.0])
    def test_solution_equals_soft_thresholding(self, nu):
        """The minimum of |w - a|^2 / 2 + nu |w|_1 is at a, shrunk by nu."""
        target = np.array([-2.0, -0.1, 0.0, 0.2, 0.3, 1.0, 4.0])

        def smooth(w):
            return 0.5 * ((w - target) ** 2).sum(), w - target

        for start in (np.zeros(7), target, -target):
            w, value, *_ = _signed_quasi_newton(smooth, start, nu, 100)
            expected = np.sign(target) * np.maximum(np.abs(target) - nu, 0.0)
            np.testing.assert_allclose(w, expected, atol=1e-4)
            assert value == pytest.approx(smooth(w)[0] + nu * np.abs(w).sum())

    def test_objective_of_an_early_stop_counts_each_weight_once(self):
        def smooth(w):
            return 0.5 * ((w - 1) ** 2 * [1, 100]).sum(), (w - 1) * [1, 100]

        w, value, *_ = _signed_quasi_newton(smooth, np.array([-2.0, 2.0]), 0.1, 1)
        assert value == pytest.approx(smooth(w)[0] + 0.1 * np.abs(w).sum())


def test_pruned_search_is_exact(monkeypatch):
    """The search scores candidates in blocks, best first, and skips the last ones."""
    for seed in range(5):
        arguments = {"n_classes": 3, "n_iterations": 6, "n_projections": 5, "loss": "logistic"}
        monkeypatch.setattr("boostbench.core.learners.output_code_stumps._FIRST_BLOCK", 10**6)
        full = RowCoefficients.make(seed, **arguments)
        monkeypatch.setattr("boostbench.core.learners.output_code_stumps._FIRST_BLOCK", 1)
        pruned = RowCoefficients.make(seed, **arguments)
        assert (full.model.objective_ == pruned.model.objective_).all()
        assert (np.array(full.H) == np.array(pruned.H)).all()


@pytest.mark.parametrize("tol", [0.3, 0.1, 0.03])
@pytest.mark.parametrize("name", LOSSES)
def test_training_ends_at_small_changes_of_the_objective(name, tol):
    """Training ends (step 2) after the first round with |(Opt_{t-1} - Opt_t) / Opt_{t-1}| < tol."""
    long = fitted(data=blobs, loss=name, n_iterations=40, nu=0.02).model
    short = fitted(data=blobs, loss=name, n_iterations=40, nu=0.02, tol=tol).model
    assert long.n_iterations_ == 40
    last = next(
        t
        for t in range(1, 40)
        if abs((long.objective_[t - 1] - long.objective_[t]) / long.objective_[t - 1]) < tol
    )
    assert short.n_iterations_ == last + 1 < 40
    assert (short.objective_ == long.objective_[: last + 1]).all()


@pytest.mark.parametrize("name", LOSSES)
def test_change_is_relative_to_the_previous_objective(name):
    before, after = fitted(data=blobs, loss=name, n_iterations=2).model.objective_
    assert after < before
    for tol, rounds in [
        (0.99 * (before - after) / before, 3),
        (1.01 * (before - after) / before, 2),
    ]:
        model = fitted(data=blobs, loss=name, n_iterations=3, tol=tol).model
        assert model.n_iterations_ == rounds


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("rule", ["paper", "greedy", "pair"])
def test_large_nu_gives_zero_coefficients(rule, name):
    f = RowCoefficients.make(loss=name, nu=50.0, rule=rule)
    assert (f.w == 0).all()
    assert (f.model.coefficients_ == 0).all()
    assert (f.model.decision_function(f.X) == 0).all()
    assert np.ptp(f.model.objective_) == 0


@pytest.mark.parametrize("rule", ["pair", "paper"])
def test_training_continues_until_the_first_coefficient(rule):
    """The objective does not change in these rounds, which is no reason to stop."""
    model = fitted(nu=50.0, rule=rule, tol=0.5, patience=1, n_iterations=9).model
    assert model.n_iterations_ == 9


def test_one_row_remains_beyond_the_transition():
    """The constraint of a single row is violated, after several rounds."""
    X, y = blobs(3, n_samples=40, n_features=3, seed=0)
    arguments = {"n_iterations": 30, "n_projections": 200, "rule": "paper", "random_state": 0}
    large = RBoostProj(nu=0.1, **arguments).fit(X, y)
    rows = np.unique(large.weight_path_.indices)
    assert large.weight_path_[[0]].nnz == 0
    assert len(rows) == 1
    assert large.n_iterations_ == 30
    small = RBoostProj(nu=1e-4, **arguments).fit(X, y)
    assert len(np.unique(small.weight_path_.indices)) > 20


@pytest.mark.parametrize("name", LOSSES)
def test_smaller_nu_fits_better(name):
    """The first weak learner does not depend on the norm."""
    losses, norms = [], []
    for nu in (0.1, 0.03, 0.01, 0.003):
        f = fitted(loss=name, nu=nu, n_iterations=1)
        norms.append(f.w[0].sum())
        losses.append(objective(f.w[0], f.design(0), name, nu)[0] - nu * norms[-1])
    assert losses == sorted(losses, reverse=True)
    assert norms == sorted(norms)
    assert norms[0] < norms[-1]


def test_sign_projections_have_entries_of_equal_size():
    """Entries are -1 and +1 divided by the root of n, so that a code is a signed sum of w."""
    f = fitted(n_projections=6, projection="sign", n_iterations=9)
    patterns = np.array(list(itertools.product([-1, 1], repeat=6)))
    possible = patterns @ f.w[-1] / math.sqrt(6)
    for code in f.model.coefficients_.ravel():
        assert np.abs(possible - code).min() < PRECISION * np.abs(possible).max()


def test_gaussian_projections_have_the_stated_variance():
    """Each weak learner and class has n entries of variance 1 / n."""
    P = fitted(n_projections=3000, n_iterations=2).P
    assert P.mean() == pytest.approx(0, abs=0.001)
    assert P.var() * 3000 == pytest.approx(1, abs=0.03)


def test_one_solver_iteration_is_allowed():
    f = fitted(solver_iterations=1, n_iterations=20)
    assert f.model.n_iterations_ == 20
    values = [objective(f.w[t], f.design(t), "logistic", 1e-2)[0] for t in range(20)]
    assert values[-1] < values[0]
    np.testing.assert_allclose(f.model.objective_, values, rtol=PRECISION)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rule", ["pair", "paper"])
@pytest.mark.parametrize("name", LOSSES)
def test_separable_data_with_small_nu_have_finite_coefficients(name, rule):
    """The optimum is far away, but the solution is finite."""
    X, y = blobs(3, n_samples=60, spread=0.05, seed=3)
    model = RBoostProj(
        n_iterations=30, n_projections=50, rule=rule, loss=name, nu=1e-8, tol=0, random_state=0
    )
    model.fit(X, y)
    assert np.isfinite(model.objective_).all()
    assert np.isfinite(model.coefficients_).all()
    assert model.score(X, y) == 1.0


def test_fit_of_rows_removes_attributes_of_pairs():
    X, y = blobs(3)
    model = RBoostProj(n_iterations=3, n_projections=10, random_state=0).fit(X, y)
    assert len(model.rows_) == 3
    assert not hasattr(model.set_params(rule="paper").fit(X, y), "rows_")


def test_converged_marks_rounds_that_reached_their_solution():
    """A round has converged where more iterations do not change its solution."""
    arguments = {"data": blobs, "n_iterations": 6, "nu": 0.02}
    enough = fitted(**arguments, solver_iterations=2000).model
    assert enough.converged_.all()
    short = fitted(**arguments, solver_iterations=2).model
    assert not short.converged_.any()
    assert short.objective_[0] > enough.objective_[0] * (1 + 1e-6)
    fewer_iterations = fitted(**arguments, solver_iterations=1000).model
    assert (fewer_iterations.objective_ == enough.objective_).all()
