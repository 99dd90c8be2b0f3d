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
from .test_bagged_mcboost import bag_master_of, columns, train, unseen, weights_that_count


def numbers(n_samples=200, seed=0):
    X, y = make_friedman1(n_samples, n_features=5, noise=1.0, random_state=seed)
    return X, 7.0 * y - 40.0


def test_without_an_end_it_is_least_squares_on_all_stumps():
    X, y = numbers()
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    params = BaggedLsBoostRegressor(patience=10_000, eta=0.5, max_bins=6)
    parts = unseen(len(y))
    loss = SquaredLoss(y, weights)
    bag = train(bag_master_of(params, X, loss, weights, None, parts), 1500)
    A = np.hstack([np.ones((len(y), 1)), columns(bag)])
    for m, seen in enumerate(~parts.T):
        root = np.sqrt(weights[seen])[:, None]
        solved = np.linalg.lstsq(root * A[seen], root[:, 0] * loss.target[seen])[0]
        least = (weights * (loss.target - A @ solved) ** 2)[seen].sum()
        found = (weights * (loss.target - bag.scores[:, m, 0]) ** 2)[seen].sum()
        assert least * (1 - 1e-6) < found < least * 1.001


def test_the_losses_are_mean_squared_errors_of_unseen_samples(monkeypatch):
    X, y = numbers()
    scores_by_round = []
    look = JointStumpMaster._track_best
    monkeypatch.setattr(
        JointStumpMaster,
        "_track_best",
        lambda bag, loss: (scores_by_round.append(bag.scores.copy()), look(bag, loss)),
    )
    masters, init = [], JointStumpMaster.__init__

    def remember(self, params, X, table, loss, unseen, *rest):
        masters.append((loss, unseen.T))
        init(self, params, X, table, loss, unseen, *rest)

    monkeypatch.setattr(JointStumpMaster, "__init__", remember)
    model = BaggedLsBoostRegressor(n_estimators=4, random_state=0).fit(X, y)
    [(loss, parts)] = masters
    tested = parts.any(axis=1)
    for scores, mean in zip(scores_by_round[1:], model.validation_losses_, strict=True):
        by_others = (scores[..., 0] * parts).sum(axis=1)[tested] / parts.sum(axis=1)[tested]
        predicted = loss.offset + loss.scale * by_others
        assert mean == pytest.approx(((y[tested] - predicted) ** 2).mean(), rel=1e-4)
    # The model is that of the best round, in the units of y.
    best_scores = scores_by_round[model.n_iterations_].astype(float).mean(axis=1)[:, 0]
    np.testing.assert_allclose(
        model.predict(X), loss.offset + loss.scale * best_scores, atol=1e-4 * loss.scale
    )


def test_a_scale_of_the_numbers_is_one_of_the_predictions():
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
def test_numbers_may_be_larger_or_smaller_than_their_squares_can_be(exponent):
    X, y = numbers()
    model = BaggedLsBoostRegressor(n_iterations=20, n_estimators=2, random_state=0)
    plain = model.fit(X, y).predict(X)
    unit = 2.0**exponent
    np.testing.assert_array_equal(model.fit(X, unit * y).predict(X), unit * plain)


def test_weights_of_samples():
    X, y = numbers()
    model = BaggedLsBoostRegressor(n_estimators=4, random_state=0)
    weights_that_count(lambda *data: model.fit(*data).predict(X), X, y, 0.1)
    assert "class_weight" not in model.get_params()


def test_it_errs_less_than_one_booster():
    for X, y in (load_diabetes(return_X_y=True), numbers(400)):
        train_part, test_part = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
        errors = [
            1 - model.fit(X[train_part], y[train_part]).score(X[test_part], y[test_part])
            for model in (BaggedLsBoostRegressor(random_state=0), LsBoostRegressor(100))
        ]
        assert errors[0] < 0.9 * errors[1]


def test_constant_numbers_are_predicted():
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
def test_what_shows_a_model_shows_one_of_numbers(model, tmp_path):
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
        total += rule["prediction"] * (2 * held(rule, X, shapes) - 1)
    np.testing.assert_allclose(total, predictions, atol=1e-9)
    export_html(model, X, tmp_path / "model.html", row=1)
    page = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert "These terms add up to it" in page
    displayed = float(re.search("Predicted: <b>(.*?)</b>", page).group(1))
    assert displayed == pytest.approx(predictions[1], abs=0.006)


def held(rule, X, shapes):
    """Whether the test of a rule holds, by its words."""
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
