import numpy as np
import pytest
from scipy.optimize import linprog

from boostbench.algorithms import NMBoost

from . import reference
from .problems import blobs, noise


def solve_program(margins, C, tau, weights=None):
    """Solve the program over all weak learners, with slacks for negative margins."""
    n_columns, n_samples = margins.shape
    weights = np.ones(n_samples) if weights is None else weights
    cost = np.concatenate([-C * margins @ weights, weights])
    return linprog(
        cost / weights.sum(),
        A_ub=np.hstack([-margins.T, -np.eye(n_samples)]),
        b_ub=np.full(n_samples, -tau),
        A_eq=[[1.0] * n_columns + [0.0] * n_samples],
        b_eq=[1.0],
        method="highs",
    )


@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize(("C", "margin"), [(0.01, 0.1), (0.1, 0.3), (0.3, 1.0), (0.03, None)])
class TestOptimum:
    def test_objective_equals_the_program_of_all_stumps(self, problem, C, margin):
        X, y = problem(2, n_samples=30, n_features=2, seed=1)
        model = NMBoost(C=C, margin=margin).fit(X, y)
        T = model.n_iterations_
        assert 0 < T < 500
        # The default margin depends on the round, so that the last one counts.
        optimum = solve_program(reference.margins_of_all_stumps(X, y), C, margin or 1 / max(T, 2))
        assert model.objective_[-1] == pytest.approx(optimum.fun, abs=1e-6)

    def test_duality_gap_is_closed(self, problem, C, margin):
        X, y = problem(2, n_samples=30, n_features=2, seed=2)
        model = NMBoost(C=C, margin=margin).fit(X, y)
        tau = margin or 1 / max(model.n_iterations_, 2)
        w, v = model.coefficients_, model.dual_
        assert w.min() >= 0
        assert w.sum() == pytest.approx(1.0)
        assert v.min() >= C
        assert v.max() <= 1 + C
        rho = (2 * y - 1) * model.decision_function(X)
        primal = np.mean(np.maximum(0, tau - rho) - C * rho)
        edges = reference.margins_of_all_stumps(X, y) @ v
        dual = (tau * (v - C).sum() - edges.max()) / len(y)
        assert primal == pytest.approx(dual, abs=1e-5)
        # Samples and stumps meet complementary slackness.
        assert v[rho > tau + 1e-6] == pytest.approx(C, abs=1e-6)
        assert v[rho < tau - 1e-6] == pytest.approx(1 + C, abs=1e-6)
        used_edges = np.array(reference.stage_outputs(model, X)) * (2 * y - 1) @ v
        assert used_edges[w > 1e-9] == pytest.approx(edges.max(), abs=1e-4)


def test_each_round_solves_the_program_of_its_stumps():
    X, y = noise(2, seed=3)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    model = NMBoost(n_iterations=15, C=0.05).fit(X, y, sample_weight=weights)
    margins = np.array(reference.stage_outputs(model, X)) * (2 * y - 1)
    for t in range(1, model.n_iterations_ + 1):
        optimum = solve_program(margins[:t], 0.05, 1 / max(t, 2), weights)
        assert model.objective_[t - 1] == pytest.approx(optimum.fun, abs=1e-7)
    assert model.n_iterations_ == 15
    assert (np.diff(model.objective_) <= 1e-9).all()


def test_large_C_selects_the_best_stump_only():
    X, y = blobs(2, seed=4)
    model = NMBoost(C=1e4, margin=0.5).fit(X, y)
    assert np.count_nonzero(model.coefficients_ > 1e-9) == 1
    best = reference.margins_of_all_stumps(X, y).sum(axis=1).max()
    rho = (2 * y - 1) * model.decision_function(X)
    assert rho.sum() == pytest.approx(best)


def test_solution_equals_result_by_hand():
    """The third of four points on a line has the other class, so that each stump has an error."""
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 0])
    model = NMBoost(C=0.1, margin=0.5).fit(X, y)
    # Cut behind the second point, margins are (1, 1, 1, -1); behind the first, the other way round,
    # (-1, 1, -1, 1). Three parts of the one and one of the other: (1/2, 1, 1/2, -1/2), which is
    # below the margin by 1 in all, and sums to 3/2.
    assert model.objective_[-1] == pytest.approx((1 - 0.1 * 1.5) / 4)
    assert model.decision_function(X) == pytest.approx([-0.5, -1.0, 0.5, 0.5])
