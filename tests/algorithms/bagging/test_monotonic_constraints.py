"""Tests of monotonic constraints of jointly trained bags."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from boostbench import BaggedLsBoostRegressor, BaggedMCBoost
from boostbench.algorithms.bagging.joint_losses import SquaredLoss

from ..problems import messy
from .test_bagged_mcboost import (
    above_thresholds,
    bag_mask,
    draw_out_of_bag,
    logistic_loss,
    make_logistic_training,
    make_training,
    run_rounds,
)

BAGS = {
    "classes": BaggedMCBoost(n_iterations=150, n_estimators=5, random_state=0),
    "numbers": BaggedLsBoostRegressor(n_iterations=150, n_estimators=5, random_state=0),
}


def problem(n_samples=300, seed=0):
    """Draw numbers whose effects go up and down, one of them with missing values."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_samples, 4))
    score = np.sin(4 * X[:, 0]) - 2 * X[:, 1] + np.cos(3 * X[:, 2]) + X[:, 3]
    X[rng.random(n_samples) < 0.2, 2] = np.nan
    return X, score + 0.7 * rng.normal(size=n_samples)


def fitted(kind, monotonic_cst, seed=0, **fit):
    X, y = problem(seed=seed)
    y = y > 0 if kind == "classes" else y
    model = BAGS[kind]
    return type(model)(**model.get_params() | {"monotonic_cst": monotonic_cst}).fit(X, y, **fit), X


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


def max_decrease(model, X, feature):
    """Return the largest decrease of a score between neighbouring values of a grid."""
    grid = np.linspace(-1.1, 1.1, 400)
    decrease = 0.0
    for sample in X[:20]:
        grid_samples = np.tile(sample, (len(grid), 1))
        grid_samples[:, feature] = grid
        decrease = max(decrease, -np.diff(scores(model, grid_samples)).min())
    return decrease


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", BAGS)
@pytest.mark.parametrize("seed", range(3))
def test_constraints_hold_on_grids(kind, sign, seed):
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, 300)
    model, X = fitted(kind, [sign, sign, sign, 0], seed, sample_weight=weights)
    unconstrained, _ = fitted(kind, None, seed, sample_weight=weights)
    for feature in range(3):
        term = model.shape_functions().term(feature)
        # The function is exactly monotonic; scores add it up in another order.
        assert (sign * np.diff(term.values[:, 0]) >= 0).all()
        if sign > 0:
            assert max_decrease(model, X, feature) < 1e-12
    assert max_decrease(unconstrained, X, 0) > 0.01
    assert (sign * np.diff(unconstrained.shape_functions().term(2).values[:, 0]) < 0).any()
    # The functions are not constant: sin(4 x) increases near 0, -2 x decreases, and cos(3 x) does
    # both.
    assert model.feature_importances_[0 if sign > 0 else 1] > 0.05


def test_many_rounds_converge_to_bounded_least_squares():
    X, y = problem()
    X = X[:, [0, 1, 3]]
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    is_out_of_bag, target = draw_out_of_bag(len(y)), SquaredLoss(y, weights)
    params = BaggedLsBoostRegressor(patience=10_000, eta=0.5, max_bins=8)
    signs = np.array([1, 1, -1])
    bag = run_rounds(make_training(params, X, target, weights, signs, is_out_of_bag), 3000)
    A = np.hstack([np.ones((len(y), 1)), above_thresholds(bag)])
    stump_signs = signs[bag.codes.view_of_stump]
    low = np.r_[-np.inf, np.where(stump_signs > 0, 0.0, -np.inf)]
    high = np.r_[np.inf, np.where(stump_signs < 0, 0.0, np.inf)]
    for m, is_in_bag in enumerate(~is_out_of_bag.T):
        root = np.sqrt(weights[is_in_bag])
        solution = lsq_linear(
            root[:, None] * A[is_in_bag], root * target.target[is_in_bag], (low, high)
        )
        assert (solution.active_mask != 0).sum() > 5
        min_loss = 2 * solution.cost
        member_loss = (weights * (target.target - bag.scores[:, m, 0]) ** 2)[is_in_bag].sum()
        assert min_loss * (1 - 1e-6) < member_loss < min_loss * 1.002


def test_many_rounds_converge_to_bounded_logistic_regression():
    X, y = problem()
    X, y = X[:, [0, 1, 3]], (y > 0).astype(int)
    signs = np.array([1, 1, -1])
    bag = run_rounds(make_logistic_training(X, y, signs=signs, max_bins=8, eta=0.5), 3000)
    A = np.hstack([np.ones((len(y), 1)), above_thresholds(bag)])
    bounds = [(None, None)]
    for sign in signs[bag.codes.view_of_stump]:
        bounds.append((0, None) if sign > 0 else (None, 0))
    for m in range(3):
        is_in_bag = bag_mask(bag, m)

        def objective(w, A=A[is_in_bag], sign=2.0 * y[is_in_bag] - 1):
            margin = sign * (A @ w)
            return np.logaddexp(0, -margin).sum(), -A.T @ (sign / (1 + np.exp(margin)))

        solution = minimize(
            objective,
            np.zeros(A.shape[1]),
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            options={"maxiter": 5000, "ftol": 1e-13},
        )
        member_loss = logistic_loss(bag.scores[:, m].astype(float), y, is_in_bag)
        assert solution.fun * (1 - 1e-5) < member_loss < solution.fun * 1.002


@pytest.mark.parametrize("kind", BAGS)
def test_zero_constraints_do_not_change_the_model(kind):
    unconstrained, X = fitted(kind, None)
    zero_constrained, _ = fitted(kind, [0, 0, 0, 0])
    np.testing.assert_array_equal(scores(unconstrained, X), scores(zero_constrained, X))


def test_constraints_by_name_and_invalid_constraints():
    X, y = messy(2)
    model = BaggedMCBoost(
        n_iterations=30, n_estimators=3, monotonic_cst={"with holes": -1}, random_state=0
    )
    model.fit(X, y)
    assert (np.diff(model.shape_functions().term(1).values[:, 0]) <= 0).all()
    model.set_params(monotonic_cst={"words": 1})
    with pytest.raises(ValueError, match="constrains feature 2, which is categorical"):
        model.fit(X, y)
    model.set_params(monotonic_cst={"number": 1})
    with pytest.raises(ValueError, match="numbers or two classes; y has 3 classes"):
        model.fit(*messy(3))
    model.set_params(monotonic_cst=[1, 0])
    with pytest.raises(ValueError, match="monotonic_cst has shape"):
        model.fit(X, y)
