"""Poisson and quantile losses of the regression bag."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_pinball_loss, mean_poisson_deviance
from sklearn.utils.estimator_checks import check_estimator

from boostbench import BaggedLsBoostRegressor
from boostbench.algorithms.bagging.joint_losses import PoissonLoss, QuantileLoss
from boostbench.inspection import monotonize

from ..problems import messy
from .test_bagged_mcboost import (
    above_thresholds,
    check_sample_weights,
    draw_out_of_bag,
    make_training,
    run_rounds,
)

POISSON = BaggedLsBoostRegressor(loss="poisson", n_estimators=4, random_state=0)
QUANTILE = BaggedLsBoostRegressor(loss="quantile", quantile=0.8, n_estimators=4, random_state=0)


def counts(n_samples=200, mean=2.0, seed=0):
    """Draw counts whose means are products of functions of the features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4))
    means = mean * np.exp(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + (X[:, 2] > 0) - 0.7)
    return X, rng.poisson(means).astype(float), means


def skewed_numbers(n_samples=200, seed=0):
    """Draw numbers with skewed noise, whose spread depends on a feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4))
    noise = rng.exponential(1.0 + (X[:, 2] > 0))
    return X, 3 * np.sin(2 * X[:, 0]) + X[:, 1] + noise


def deviance(model, X, y, weights=None):
    return mean_poisson_deviance(y, model.predict(X), sample_weight=weights)


def pinball_loss(model, X, y, weights=None):
    quantile = getattr(model, "quantile", None) or 0.5
    return mean_pinball_loss(y, model.predict(X), alpha=quantile, sample_weight=weights)


def test_many_rounds_converge_to_poisson_regression_on_all_stumps():
    X, y, _ = counts()
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    params = BaggedLsBoostRegressor(patience=10_000, eta=0.5, max_bins=4)
    is_out_of_bag, loss = draw_out_of_bag(len(y)), PoissonLoss(y, weights)
    bag = run_rounds(make_training(params, X, loss, weights, None, is_out_of_bag), 1000)
    A = np.hstack([np.ones((len(y), 1)), above_thresholds(bag)])
    for member, rows in enumerate(~is_out_of_bag.T):

        def value(coefficients, rows=rows):
            scores = A[rows] @ coefficients
            residuals = np.exp(scores) - loss.target[rows]
            return (
                (weights[rows] * (np.exp(scores) - loss.target[rows] * scores)).sum(),
                A[rows].T @ (weights[rows] * residuals),
            )

        start = np.zeros(A.shape[1])
        minimum = minimize(value, start, jac=True, options={"gtol": 1e-8, "maxiter": 5000}).fun
        scores = bag.scores[rows, member, 0].astype(float)
        member_loss = (weights[rows] * (np.exp(scores) - loss.target[rows] * scores)).sum()
        assert minimum - 1e-4 < member_loss < minimum + 1e-3 * abs(minimum)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.8])
def test_many_rounds_converge_to_linear_quantile_regression_on_all_stumps(quantile):
    X, y = skewed_numbers()
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    params = BaggedLsBoostRegressor(patience=10_000, eta=0.5, max_bins=4)
    is_out_of_bag, loss = draw_out_of_bag(len(y)), QuantileLoss(y, weights, quantile)
    bag = run_rounds(make_training(params, X, loss, weights, None, is_out_of_bag), 3000)
    A = np.hstack([np.ones((len(y), 1)), above_thresholds(bag)])
    for member, rows in enumerate(~is_out_of_bag.T):
        n_rows, n_columns = A[rows].shape
        # The pinball loss of residuals u - v with u, v >= 0 is a linear program.
        cost = np.concatenate(
            [np.zeros(n_columns), quantile * weights[rows], (1 - quantile) * weights[rows]]
        )
        equations = np.hstack([A[rows], np.eye(n_rows), -np.eye(n_rows)])
        bounds = [(None, None)] * n_columns + [(0, None)] * (2 * n_rows)
        minimum = linprog(cost, A_eq=equations, b_eq=loss.target[rows], bounds=bounds).fun
        scores = bag.scores[rows, member, 0].astype(float)
        member_loss = (weights[rows] * loss.sample_losses(scores, loss.target[rows])).sum()
        # The kernel and the damping of steps cost a little.
        assert minimum - 1e-4 < member_loss < 1.01 * minimum


@pytest.mark.parametrize("mean", [0.2, 2.0, 50.0])
def test_poisson_bag_is_more_accurate_than_boosted_trees(mean):
    X, y, means = counts(2000, mean)
    train, test = slice(0, 1000), slice(1000, 2000)
    bag = BaggedLsBoostRegressor(loss="poisson", random_state=0).fit(X[train], y[train])
    trees = HistGradientBoostingRegressor(loss="poisson", max_leaf_nodes=7, random_state=0)
    trees.fit(X[train], y[train])
    least = mean_poisson_deviance(y[test], means[test])
    constant = mean_poisson_deviance(y[test], np.full(1000, y[train].mean()))
    excess = deviance(bag, X[test], y[test]) - least
    assert excess < deviance(trees, X[test], y[test]) - least
    assert excess < 0.1 * (constant - least)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_quantile_bag_is_more_accurate_than_boosted_trees(quantile):
    X, y = skewed_numbers(3000)
    train, test = slice(0, 1000), slice(1000, 3000)
    bag = BaggedLsBoostRegressor(loss="quantile", quantile=quantile, random_state=0)
    bag.fit(X[train], y[train])
    trees = HistGradientBoostingRegressor(
        loss="quantile", quantile=quantile, max_leaf_nodes=7, max_iter=50, random_state=0
    )
    trees.fit(X[train], y[train])
    assert pinball_loss(bag, X[test], y[test]) < pinball_loss(trees, X[test], y[test])
    share = np.mean(y[test] <= bag.predict(X[test]))
    assert abs(share - quantile) < 0.03


def test_poisson_bag_agrees_with_a_linear_model_of_the_true_form():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (4000, 3)).astype(float)
    y = rng.poisson(np.exp(X @ [0.5, -0.3, 1.0])).astype(float)
    bag = BaggedLsBoostRegressor(loss="poisson", random_state=0).fit(X, y)
    linear = PoissonRegressor(alpha=0, tol=1e-8).fit(X, y)
    assert deviance(bag, X, y) < 1.001 * deviance(linear, X, y)


@pytest.mark.parametrize(("model", "loss"), [(POISSON, deviance), (QUANTILE, pinball_loss)])
def test_validation_losses_are_losses_of_the_predictions(model, loss):
    X, y, _ = counts(400)
    X, y, X_val, y_val = X[:200], y[:200], X[200:], y[200:]
    weights = np.arange(200) % 3
    model = clone(model).fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    best = model.validation_losses_[model.n_iterations_ - 1]
    assert best == pytest.approx(loss(model, X_val, y_val, weights))
    assert model.validation_losses_[0] > best


@pytest.mark.parametrize("model", [POISSON, QUANTILE])
def test_scaling_the_target_scales_the_predictions(model):
    X, y, _ = counts()
    first = clone(model).fit(X, y)
    second = clone(model).fit(X, 1e6 * y)
    assert first.n_iterations_ == second.n_iterations_
    np.testing.assert_allclose(second.predict(X), 1e6 * first.predict(X), rtol=1e-5)
    np.testing.assert_allclose(second.validation_losses_, 1e6 * first.validation_losses_, rtol=1e-5)


@pytest.mark.parametrize("model", [POISSON, QUANTILE])
def test_sample_weights_multiply_the_loss(model):
    X, y, _ = counts()
    check_sample_weights(lambda *data: clone(model).fit(*data).predict(X), X, y, 0.1)


def test_rates_weighted_by_exposure_are_counts_divided_by_exposure():
    X, y, means = counts(4000)
    exposure = np.random.default_rng(1).choice([0.1, 1.0, 5.0], len(y))
    y = np.random.default_rng(2).poisson(means * exposure) / exposure
    model = BaggedLsBoostRegressor(loss="poisson", random_state=0).fit(X, y, exposure)
    assert np.average(model.predict(X), weights=exposure) == pytest.approx(
        np.average(y, weights=exposure), rel=0.02
    )
    assert np.mean(np.abs(np.log(model.predict(X) / means))) < 0.15


def test_extreme_counts_do_not_overflow():
    X, y, _ = counts()
    y = np.where(np.arange(len(y)) == 7, 1e30, 0.0)
    y[3] = 1e-30
    predictions = clone(POISSON).fit(X, y).predict(X)
    assert np.isfinite(predictions).all()
    assert (predictions >= 0).all()


def test_every_bag_contains_a_positive_count():
    X, y, _ = counts()
    y = (np.arange(len(y)) < 2).astype(float)
    model = clone(POISSON).set_params(validation_fraction=0.9, n_estimators=30).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("model", [POISSON, QUANTILE])
def test_inspection_supports_the_loss(model):
    X, _ = messy(2)
    y = np.round(np.exp(X["number"]) + X["count"])
    model = clone(model).set_params(interactions=2).fit(X, y)
    shapes = model.shape_functions()
    np.testing.assert_allclose(shapes.predict(X), model.predict(X), rtol=1e-9)
    total = shapes.explain_local(X).sum(axis=1)
    is_log = model.loss == "poisson"
    np.testing.assert_allclose(np.exp(total) if is_log else total, model.predict(X), rtol=1e-9)
    assert list(shapes.outputs) == ["log(prediction)" if is_log else "prediction"]
    predictions, std = model.predict(X, return_std=True)
    assert (std > 0).all()
    assert (std < np.ptp(predictions)).all()


@pytest.mark.parametrize("model", [POISSON, QUANTILE])
def test_edited_models_keep_the_loss(model):
    X, y, _ = counts()
    model = clone(model).fit(X, y)
    edited = monotonize(model, "x0", -1)
    total = edited.shape_functions().explain_local(X).sum(axis=1)
    expected = np.exp(total) if model.loss == "poisson" else total
    np.testing.assert_allclose(edited.predict(X), expected, rtol=1e-9)
    assert (edited.predict(X) != model.predict(X)).any()


@pytest.mark.parametrize("loss", ["poisson", "quantile"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_monotonic_constraints_hold(loss, sign):
    X, y, _ = counts(300)
    model = BaggedLsBoostRegressor(loss=loss, monotonic_cst=[sign, 0, 0, 0], random_state=0)
    values = model.fit(X, y).shape_functions().term(0).values[:, 0]
    assert (sign * np.diff(values) >= 0).all()


def test_unsuitable_targets_are_rejected():
    X, y, _ = counts()
    with pytest.raises(ValueError, match=r"loss='poisson' needs y of at least 0, .* contains -1$"):
        clone(POISSON).fit(X, y - 1)
    with pytest.raises(ValueError, match="loss='poisson' needs y with a number above 0"):
        clone(POISSON).fit(X, 0 * y)
    with pytest.raises(ValueError, match="loss='poisson' needs y of at least 0"):
        clone(POISSON).fit(X, y, X_val=X, y_val=y - 1)
    for quantile in (0, 1.0, -0.5):
        with pytest.raises(ValueError, match="quantile"):
            clone(QUANTILE).set_params(quantile=quantile).fit(X, y)


def test_later_changes_of_the_loss_do_not_change_predictions():
    X, y, _ = counts()
    model = clone(POISSON).fit(X, y)
    predictions = model.predict(X)
    model.set_params(loss="squared_error")
    np.testing.assert_array_equal(model.predict(X), predictions)


@pytest.mark.parametrize("model", [POISSON, QUANTILE], ids=["poisson", "quantile"])
def test_scikit_learn_compatible(model):
    failures = {
        f"check_sample_weight_equivalence_on_{kind}_data": "equal rows may be in different parts"
        for kind in ("dense", "sparse")
    }
    check_estimator(clone(model), on_skip=None, expected_failed_checks=failures)
