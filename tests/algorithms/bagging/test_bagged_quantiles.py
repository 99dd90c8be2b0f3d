"""Bags for several quantiles."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import mean_pinball_loss
from sklearn.utils.estimator_checks import check_estimator

from boostbench import BaggedLsBoostRegressor, BaggedQuantileRegressor

from ..problems import messy
from .test_regression_losses import skewed_numbers

BAG = BaggedLsBoostRegressor(n_estimators=3, n_iterations=60)
MODEL = BaggedQuantileRegressor([0.05, 0.3, 0.5, 0.9], BAG, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    """Return a fitted model whose bags cross on some samples, and test data."""
    X, y = skewed_numbers(400)
    return clone(MODEL).fit(X[:150], y[:150]), X[150:], y[150:]


def test_predictions_are_the_sorted_predictions_of_the_bags(fitted):
    model, X, _ = fitted
    separate = np.column_stack([bag.predict(X) for bag in model.estimators_])
    predictions = model.predict(X)
    assert (np.diff(separate) < 0).any()
    assert (np.diff(predictions) >= 0).all()
    np.testing.assert_array_equal(predictions, np.sort(separate, axis=1))


def test_sorting_decreases_the_loss_of_every_sample_that_crosses(fitted):
    model, X, y = fitted

    def losses(predictions):
        residuals = y[:, None] - predictions
        return np.maximum(levels * residuals, (levels - 1) * residuals).sum(axis=1)

    levels = np.array(model.quantiles)
    separate = np.column_stack([bag.predict(X) for bag in model.estimators_])
    crosses = (np.diff(separate) < 0).any(axis=1)
    difference = losses(model.predict(X)) - losses(separate)
    assert (difference[crosses] < 0).all()
    np.testing.assert_array_equal(difference[~crosses], 0)


def test_bags_are_quantile_bags_of_one_seed(fitted):
    model, _, _ = fitted
    assert [bag.quantile for bag in model.estimators_] == [0.05, 0.3, 0.5, 0.9]
    assert len({bag.random_state for bag in model.estimators_}) == 1
    assert {bag.loss for bag in model.estimators_} == {"quantile"}


def test_intervals_cover_the_share_between_their_quantiles():
    X, y = skewed_numbers(3000)
    model = BaggedQuantileRegressor([0.1, 0.9], random_state=0).fit(X[:1000], y[:1000])
    low, high = model.predict(X[1000:]).T
    assert abs(((low <= y[1000:]) & (y[1000:] <= high)).mean() - 0.8) < 0.04


def test_score_is_the_explained_fraction_of_the_pinball_loss(fitted):
    model, X, y = fitted
    weights = np.random.default_rng(0).integers(1, 3, len(y))
    repeated_X, repeated_y = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    assert model.score(X, y, weights) == pytest.approx(model.score(repeated_X, repeated_y))
    loss, constant_loss = 0.0, 0.0
    for level, prediction in zip(model.quantiles, model.predict(X).T, strict=True):
        constant = np.quantile(y, level, method="inverted_cdf")
        loss += mean_pinball_loss(y, prediction, alpha=level)
        constant_loss += mean_pinball_loss(y, np.full(len(y), constant), alpha=level)
    assert model.score(X, y) == pytest.approx(1 - loss / constant_loss)
    assert model.score(X, y) > 0.3


def test_validation_samples_and_tables_are_passed_to_the_bags():
    X, y = messy(2, 300)
    y = y + X["number"]
    model = clone(MODEL).fit(X, y, X_val=X[:100], y_val=y[:100], sample_weight_val=np.ones(100))
    for bag in model.estimators_:
        expected = mean_pinball_loss(y[:100], bag.predict(X[:100]), alpha=bag.quantile)
        assert bag.validation_losses_[bag.n_iterations_ - 1] == pytest.approx(expected)
    assert list(model.feature_names_in_) == list(X.columns)
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("quantiles", [[0.5, 0.1], [0.0, 0.5], [0.5, 1.0], [0.5, 0.5], [], 0.5])
def test_unsuitable_quantiles_are_rejected(quantiles):
    X, y = skewed_numbers()
    with pytest.raises(ValueError, match="quantiles"):
        BaggedQuantileRegressor(quantiles, BAG).fit(X, y)


def test_scikit_learn_compatible():
    failures = {
        f"check_sample_weight_equivalence_on_{kind}_data": "equal rows may be in different parts"
        for kind in ("dense", "sparse")
    }
    failures["check_regressors_train"] = "predictions of several quantiles have two axes"
    check_estimator(clone(MODEL), on_skip=None, expected_failed_checks=failures)


def test_sample_weights_are_passed_to_the_bags():
    X, y = skewed_numbers()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    present = weights > 0
    weighted = clone(MODEL).fit(X, y, weights).predict(X)
    dropped = clone(MODEL).fit(X[present], y[present], weights[present]).predict(X)
    np.testing.assert_array_equal(weighted, dropped)
    assert (weighted != clone(MODEL).fit(X[present], y[present]).predict(X)).any()
