import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, make_friedman1

from boostbench import BaggedLsBoostRegressor, LsBoostRegressor
from boostbench.algorithms.bagging.joint_losses import SquaredLoss
from boostbench.algorithms.bagging.stump_rounds import JointStumpMaster
from boostbench.inspection import export_html, export_text

from ..problems import messy
from .test_bagged_mcboost import (
    above_thresholds,
    check_sample_weights,
    draw_out_of_bag,
    make_training,
    run_rounds,
)


def numbers(n_samples=200, seed=0):
    X, y = make_friedman1(n_samples, n_features=5, noise=1.0, random_state=seed)
    return X, 7.0 * y - 40.0


def test_many_rounds_converge_to_least_squares_on_all_stumps():
    X, y = numbers()
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    params = BaggedLsBoostRegressor(patience=10_000, eta=0.5, max_bins=6)
    is_out_of_bag = draw_out_of_bag(len(y))
    loss = SquaredLoss(y, weights)
    bag = run_rounds(make_training(params, X, loss, weights, None, is_out_of_bag), 1500)
    A = np.hstack([np.ones((len(y), 1)), above_thresholds(bag)])
    for m, is_in_bag in enumerate(~is_out_of_bag.T):
        root = np.sqrt(weights[is_in_bag])[:, None]
        solution = np.linalg.lstsq(root * A[is_in_bag], root[:, 0] * loss.target[is_in_bag])[0]
        min_loss = (weights * (loss.target - A @ solution) ** 2)[is_in_bag].sum()
        member_loss = (weights * (loss.target - bag.scores[:, m, 0]) ** 2)[is_in_bag].sum()
        assert min_loss * (1 - 1e-6) < member_loss < min_loss * 1.001


def test_validation_losses_are_out_of_bag_mean_squared_errors(monkeypatch):
    X, y = numbers()
    scores_by_round = []
    look = JointStumpMaster._track_best
    monkeypatch.setattr(
        JointStumpMaster,
        "_track_best",
        lambda bag, loss: (scores_by_round.append(bag.scores.copy()), look(bag, loss)),
    )
    masters, init = [], JointStumpMaster.__init__

    def record_master(self, params, X, table, loss, *, is_out_of_bag, **others):
        masters.append((loss, is_out_of_bag.T))
        init(self, params, X, table, loss, is_out_of_bag=is_out_of_bag, **others)

    monkeypatch.setattr(JointStumpMaster, "__init__", record_master)
    model = BaggedLsBoostRegressor(n_estimators=4, random_state=0).fit(X, y)
    [(loss, is_out_of_bag)] = masters
    has_out_of_bag = is_out_of_bag.any(axis=1)
    for scores, mean in zip(scores_by_round[1:], model.validation_losses_, strict=True):
        out_of_bag_sums = (scores[..., 0] * is_out_of_bag).sum(axis=1)[has_out_of_bag]
        out_of_bag_scores = out_of_bag_sums / is_out_of_bag.sum(axis=1)[has_out_of_bag]
        predictions = loss.offset + loss.scale * out_of_bag_scores
        assert mean == pytest.approx(((y[has_out_of_bag] - predictions) ** 2).mean(), rel=1e-4)
    # The model is taken from the best round, in the units of y.
    best_scores = scores_by_round[model.n_iterations_].astype(float).mean(axis=1)[:, 0]
    np.testing.assert_allclose(
        model.predict(X), loss.offset + loss.scale * best_scores, atol=1e-4 * loss.scale
    )


def test_scaling_the_target_scales_the_predictions():
    X, y = numbers()
    model = BaggedLsBoostRegressor(n_estimators=4, random_state=0)
    first = model.fit(X, y).predict(X)
    rounds, losses = model.n_iterations_, model.validation_losses_
    second = model.fit(X, 1e6 * y + 1e7).predict(X)
    assert model.n_iterations_ == rounds
    np.testing.assert_allclose(second, 1e6 * first + 1e7, rtol=1e-5)
    np.testing.assert_allclose(model.validation_losses_, 1e12 * losses, rtol=1e-4)


@pytest.mark.parametrize("exponent", [-700, 700])
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_targets_whose_squares_overflow_or_underflow_are_supported(exponent):
    X, y = numbers()
    model = BaggedLsBoostRegressor(n_iterations=20, n_estimators=2, random_state=0)
    plain = model.fit(X, y).predict(X)
    unit = 2.0**exponent
    np.testing.assert_array_equal(model.fit(X, unit * y).predict(X), unit * plain)


def test_sample_weights_multiply_the_loss():
    X, y = numbers()
    model = BaggedLsBoostRegressor(n_estimators=4, random_state=0)
    check_sample_weights(lambda *data: model.fit(*data).predict(X), X, y, 0.1)
    assert "class_weight" not in model.get_params()


def test_bag_is_more_accurate_than_one_booster():
    for X, y in (load_diabetes(return_X_y=True), numbers(400)):
        train_part, test_part = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
        errors = [
            1 - model.fit(X[train_part], y[train_part]).score(X[test_part], y[test_part])
            for model in (BaggedLsBoostRegressor(random_state=0), LsBoostRegressor(100))
        ]
        assert errors[0] < 0.9 * errors[1]


def test_constant_targets_are_predicted():
    X = numbers()[0]
    with pytest.warns(UserWarning, match="the model is constant"):
        model = BaggedLsBoostRegressor(n_estimators=2, random_state=0).fit(X, np.full(len(X), 3.5))
    np.testing.assert_array_equal(model.predict(X), 3.5)


@pytest.mark.parametrize(
    "model",
    [
        BaggedLsBoostRegressor(n_iterations=40, n_estimators=4, random_state=0),
        LsBoostRegressor(40, penalty=50.0),
    ],
)
def test_inspection_supports_regression(model, tmp_path):
    X, y = messy(2)
    y = 10.0 * y + X["number"].to_numpy()
    predictions = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), predictions)
    shapes = model.shape_functions(X)
    np.testing.assert_allclose(shapes.predict(X), predictions, atol=1e-9)
    terms = shapes.explain_local(X)
    np.testing.assert_allclose(terms.sum(axis=1), predictions, atol=1e-9)
    np.testing.assert_allclose(terms.drop(columns="intercept").mean(), 0, atol=1e-9)
    assert list(shapes.outputs) == ["prediction"]
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.rules().columns[-1] == "prediction"
    assert "Intercept: prediction" in export_text(model, n_rules=3)
    assert "number, importance" in export_text(model, max_terms=9)
    # Rules add up to the predictions.
    rules = model.rules()
    total = np.zeros(len(X))
    for rule in rules.to_dict(orient="records"):
        total += rule["prediction"] * (2 * is_rule_satisfied(rule, X, shapes) - 1)
    np.testing.assert_allclose(total, predictions, atol=1e-9)
    export_html(model, X, tmp_path / "model.html", row=1)
    page = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert "These terms add up to it" in page
    displayed = float(re.search("Predicted: <b>(.*?)</b>", page).group(1))
    assert displayed == pytest.approx(predictions[1], abs=0.006)


def is_rule_satisfied(rule, X, shapes):
    """Return True where samples satisfy the test of a rule, given as text."""
    test = rule.get("test")
    if rule["round"] == 0:
        return True
    if test == "never":
        return False
    values = X[rule["feature"]]
    if test.endswith(" is missing"):
        return values.isna().to_numpy()
    if " = " in test:
        return (values.astype(object).astype(str) == test.partition(" = ")[2]).to_numpy()
    values = pd.to_numeric(values)
    above = (values > rule["threshold"]).to_numpy()
    return above | values.isna().to_numpy() if test.endswith("or missing") else above
