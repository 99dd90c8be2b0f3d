import warnings
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from boostbench.algorithms import MultiBoost

from . import reference
from .problems import blobs, noise
from .test_multiboost import (
    DUALS,
    LOSSES,
    dual_variables,
    edges,
    largest_edge,
    pair_sum,
    score_stages,
)

FromZero = partial(MultiBoost, start="zero")
# Tolerance of L-BFGS-B for the slopes.
SLOPE = 1e-5


@pytest.fixture(params=["logistic", "exponential"])
def loss(request):
    return request.param


def literal_solution(H, y, k, nu, loss, iterations):
    """Return W that minimises the mean over all pairs, from zero, with the papers' settings."""
    m = len(y)

    def objective(w):
        W = w.reshape(k, len(H))
        scores = H.T @ W.T
        u = dual_variables(DUALS[loss], scores, y, k)
        slopes = np.array([[-edge + nu for edge in edges(u, y, h)] for h in H]).T
        return pair_sum(LOSSES[loss], scores, y, k) / (m * k) + nu * w.sum(), slopes.ravel()

    optimum = minimize(
        objective,
        np.zeros(k * len(H)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * (k * len(H)),
        options={
            "maxiter": iterations,
            "maxcor": 5,
            "gtol": SLOPE,
            "ftol": 1e7 * np.finfo(float).eps,
        },
    )
    return optimum.x.reshape(k, len(H)).T


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("iterations", [2, 100])
def test_rounds_equal_the_literal_problem_from_zero(loss, k, iterations):
    X, y = noise(k, n_samples=20, seed=k)
    model = FromZero(n_iterations=5, nu=2e-3, loss=loss, solver_iterations=iterations).fit(X, y)
    H = np.array(reference.stage_outputs(model, X))
    path = model.weight_path_.toarray()
    for t in range(1, 6):
        W = literal_solution(H[:t], y, k, model.nu, loss, iterations)
        np.testing.assert_allclose(path[t - 1][: t * k].reshape(t, k), W, atol=1e-5)
    np.testing.assert_array_equal(path[-1].reshape(5, k), model.coefficients_)


@pytest.mark.parametrize("k", [2, 3])
def test_new_stump_is_the_most_violated_constraint(loss, k):
    X, y = noise(k, n_samples=20, seed=k)
    model = FromZero(nu=1e-5, loss=loss, n_iterations=12).fit(X, y)
    before = [np.zeros((len(y), k)), *score_stages(model, X)]
    for h, scores in zip(reference.stage_outputs(model, X), before, strict=False):
        u = dual_variables(DUALS[loss], scores, y, k)
        assert edges(u, y, h).max() == pytest.approx(largest_edge(u, X, y), rel=1e-4)


@pytest.mark.parametrize("k", [2, 3])
def test_converged_rounds_equal_multiboost(loss, k):
    X, y = noise(k, n_samples=40, seed=k)
    params = {"nu": 0.02, "loss": loss, "n_iterations": 300}
    model = FromZero(solver_iterations=1000, **params).fit(X, y)
    assert 1 < model.n_iterations_ < 300
    assert model.converged_ is True
    expected = MultiBoost(tol=1e-3, **params).fit(X, y)
    assert model.objective_[-1] == pytest.approx(expected.objective_[-1], rel=1e-4)


def test_converged_rounds_meet_the_optimality_conditions(loss):
    X, y = blobs(3, n_samples=24, n_features=3, seed=4)
    model = FromZero(nu=0.02, loss=loss, solver_iterations=1000).fit(X, y)
    assert model.converged_ is True
    scores = score_stages(model, X)[-1]
    np.testing.assert_allclose(model.dual_, dual_variables(DUALS[loss], scores, y, 3), rtol=1e-9)
    assert largest_edge(model.dual_, X, y) <= model.nu * (1 + model.tol) + 1e-7
    for h, w in zip(reference.stage_outputs(model, X), model.coefficients_, strict=True):
        slopes = model.nu - edges(model.dual_, y, h)
        assert (np.abs(slopes[w > SLOPE]) <= 1.01 * SLOPE).all()
        assert (slopes >= -1.01 * SLOPE).all()


def test_early_stop_of_the_solver_does_not_warn():
    """Training continues with repeated stumps, while a start from the previous round ends it."""
    X, y = blobs(3, seed=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FromZero(n_iterations=60, nu=1e-7).fit(X, y)
    assert model.n_iterations_ == 60
    assert model.converged_ is False
    assert len(np.unique(reference.stage_outputs(model, X), axis=0)) < 60
    warm = MultiBoost(n_iterations=60, nu=1e-7, solver="lbfgs", solver_iterations=100)
    with pytest.warns(UserWarning, match="limit of its precision"):
        warm.fit(X, y)
    assert warm.n_iterations_ < 60
    best = MultiBoost(n_iterations=60, nu=1e-7).fit(X, y).objective_[-1]
    # The terms r = y_i add a constant to the objective.
    constant = np.log(2) / 3
    assert model.objective_[-1] - constant > 2 * (best - constant) > 0


def test_large_nu_gives_an_empty_model(loss):
    X, y = blobs(3)
    model = FromZero(nu=1.0, loss=loss).fit(X, y)
    assert model.n_iterations_ == 0
    assert model.converged_ is True
    assert (model.decision_function(X) == 0).all()


def test_default_solver_is_lbfgs_with_100_iterations():
    X, y = blobs(3)
    short, written = (
        FromZero(n_iterations=10, **params).fit(X, y)
        for params in ({}, {"solver": "lbfgs", "solver_iterations": 100})
    )
    np.testing.assert_array_equal(short.coefficients_, written.coefficients_)


@pytest.mark.parametrize(
    "params", [{"loss": "hinge"}, {"solver": "newton"}, {"warm_start": True}], ids=str
)
def test_incompatible_parameters_raise(params):
    ((name, value),) = params.items()
    with pytest.raises(ValueError, match=f"start='zero' does not go with {name}={value!r}: "):
        FromZero(n_iterations=3, **params).fit(*blobs(3))


def test_warm_start_after_a_fit_from_zero_restarts():
    X, y = blobs(3)
    model = MultiBoost(n_iterations=6, nu=1e-3, warm_start=True).fit(X, y)
    model.set_params(start="zero", warm_start=False).fit(X, y)
    model.set_params(start="previous", warm_start=True).fit(X, y)
    fresh = MultiBoost(n_iterations=6, nu=1e-3).fit(X, y)
    np.testing.assert_array_equal(model.coefficients_, fresh.coefficients_)
