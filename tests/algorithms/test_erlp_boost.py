import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.special import rel_entr

from boostbench.algorithms import ERLPBoost
from boostbench.core.solvers import entropy_margin

from . import reference
from .problems import blobs, noise


def soft_margin(margins, nu, weights):
    """Return LPBoost's largest soft margin, which equals the least maximum edge."""
    n_columns, n_samples = margins.shape
    return linprog(
        np.append(np.zeros(n_samples), 1.0),
        A_ub=np.hstack([margins, -np.ones((n_columns, 1))]),
        b_ub=np.zeros(n_columns),
        A_eq=[[1.0] * n_samples + [0.0]],
        b_eq=[1.0],
        bounds=[(0, w / nu) for w in weights / weights.sum()] + [(None, None)],
        method="highs",
    ).fun


def regularised_optimum(margins, nu, eta, weights):
    """Return the optimum of ERLPBoost's program over all stumps, by a generic solver."""
    n_columns, n_samples = margins.shape
    prior = weights / weights.sum()

    def objective(z):
        d = z[:-1]
        value = z[-1] + rel_entr(d, prior).sum() / eta
        return value, np.append((np.log(np.maximum(d, 1e-300) / prior) + 1) / eta, 1.0)

    ones = np.append(np.ones(n_samples), 0.0)
    slack = np.hstack([-margins, np.ones((n_columns, 1))])
    optimum = minimize(
        objective,
        np.append(prior, (margins @ prior).max()),
        jac=True,
        method="SLSQP",
        bounds=[(1e-12, p / nu) for p in prior] + [(None, None)],
        constraints=[
            {"type": "eq", "fun": lambda z: ones @ z - 1, "jac": lambda z: ones},
            {"type": "ineq", "fun": lambda z: slack @ z, "jac": lambda z: slack},
        ],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert optimum.success
    return optimum.fun


def fit(X, y, nu, epsilon, weights=None, **params):
    model = ERLPBoost(nu=nu, epsilon=epsilon, **params).fit(X, y, sample_weight=weights)
    return model, max(0.5, 2 / epsilon * np.log(1 / nu))


@pytest.mark.parametrize(("nu", "epsilon"), [(0.2, 0.5), (0.5, 0.1), (0.1, 0.02), (1.0, 0.1)])
class TestOptimum:
    def test_value_equals_a_generic_solver_over_all_stumps(self, nu, epsilon):
        X, y = blobs(2, n_samples=16, n_features=2, seed=3)
        weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
        model, eta = fit(X, y, nu, epsilon, weights, tol=1e-8)
        optimum = regularised_optimum(reference.margins_of_all_stumps(X, y), nu, eta, weights)
        assert -model.objective_[-1] == pytest.approx(optimum, abs=1e-6)

    def test_solution_meets_the_optimality_conditions(self, nu, epsilon):
        X, y = noise(2, seed=1)
        model, eta = fit(X, y, nu, epsilon, tol=1e-7)
        d, w, n = model.dual_, model.coefficients_, len(y)
        assert d.sum() == pytest.approx(1.0)
        assert d.min() >= 0
        assert d.max() <= 1 / (nu * n) + 1e-12
        assert w.min() >= 0
        assert w.sum() == pytest.approx(1.0)
        edges = reference.margins_of_all_stumps(X, y) @ d
        F = model.decision_function(X)
        rho = (2 * y - 1) * F
        # The mean edge of the selected stumps is the largest edge of all.
        assert edges.max() - d @ rho <= 2e-7
        value = edges.max() + rel_entr(d, np.full(n, 1 / n)).sum() / eta
        assert -model.objective_[-1] == pytest.approx(value, abs=2e-7)
        # Weights below their bound are exponential in the margins; the others have smaller margins.
        inside = d < (1 - 1e-9) / (nu * n)
        if inside.any() and nu < 1:
            level = (np.log(np.maximum(d, 1e-300)) + eta * rho)[inside & (d > 1e-290)]
            assert np.ptp(level) <= 1e-6
            assert (eta * rho[~inside] + np.log(1 / (nu * n)) <= level.max() + 1e-6).all()


def test_value_converges_to_the_soft_margin_for_large_eta():
    X, y = noise(2, seed=2)
    nu = 0.3
    best = soft_margin(reference.margins_of_all_stumps(X, y), nu, np.ones(len(y)))
    above = []
    for epsilon in (1.0, 0.1, 0.01, 0.001):
        model, eta = fit(X, y, nu, epsilon, tol=1e-7)
        above.append(-model.objective_[-1] - best)
        assert -1e-6 <= above[-1] <= np.log(1 / nu) / eta + 1e-6
    assert (np.diff(above) < 0).all()
    assert above[-1] < 1e-3


@pytest.mark.parametrize("epsilon", [0.2, 0.05])
def test_soft_margin_is_within_epsilon(epsilon):
    X, y = blobs(2, n_samples=80, spread=3.0, seed=5)
    nu = 0.2
    model, _ = fit(X, y, nu, epsilon)
    assert model.n_iterations_ < 500
    assert model.objective_[-1] - epsilon / 2 <= model.bound_ <= model.objective_[-1] + 1e-9
    rho = np.sort((2 * y - 1) * model.decision_function(X))
    # The soft margin is the mean of the nu n smallest margins.
    value = rho[: int(nu * 80)].mean()
    best = soft_margin(reference.margins_of_all_stumps(X, y), nu, np.ones(80))
    assert best - epsilon <= value <= best + 1e-9


def test_solution_equals_result_by_hand():
    """The best stump misclassifies one of four samples, whose weight reaches its upper bound."""
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 0])
    model, eta = fit(X, y, 0.5, 0.1, n_iterations=1)
    wrong = int(np.flatnonzero(model.predict(X) != y)[0])
    # The upper bound of a weight is 1/2, so that the largest edge is 0.5 - 0.5 = 0.
    expected = np.where(np.arange(4) == wrong, 0.5, 0.5 / 3)
    assert model.dual_ == pytest.approx(expected)
    divergence = 0.5 * np.log(2) + 0.5 * np.log(2 / 3)
    assert model.objective_[0] == pytest.approx(-divergence / eta)


def test_unsolved_programs_warn(monkeypatch):
    monkeypatch.setattr(entropy_margin, "_MAX_STEPS", 1)
    with pytest.warns(UserWarning, match="did not solve all programs of ERLPBoost"):
        ERLPBoost(n_iterations=20).fit(*noise(2, seed=1))
