"""Tests of the public checks: each finds the fault that it is meant for."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split

from boostbench import AdaBoost, AdaBoostMH, MultiBoost
from boostbench.testing import check_booster, check_fitted_booster


@pytest.fixture
def data():
    return make_blobs(45, 4, cluster_std=5.0, random_state=0)


@pytest.mark.parametrize("model", [AdaBoost(n_iterations=8), MultiBoost(n_iterations=8)])
def test_boosters_pass(model):
    check_booster(model)


def make_faulty_booster(method):
    """Return AdaBoost.MH with a method that changes the results of the original method."""

    class FaultyBooster(AdaBoostMH):
        pass

    name = method.__name__

    def replacement(self, *args):
        return method(self, getattr(super(FaultyBooster, self), name)(*args))

    setattr(FaultyBooster, name, replacement)
    return FaultyBooster(n_iterations=8)


def decision_function(model, right):
    return right + 0.01 * np.abs(right).max()


def staged_decision_function(model, right):
    return list(right)[:-1]


def predict(model, right):
    return right[::-1]


def predict_proba(model, right):
    return right[:, ::-1]


def stump_sum(model, right):
    return right._replace(intercept=right.intercept + 0.01)


def fit(model, right):
    right.objective_ = [3.0, 1.0, 1.1]
    return right


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (decision_function, "last stage is not the model"),
        (staged_decision_function, "stages of 8"),
        (predict, "largest score"),
        (predict_proba, "largest probability"),
        (stump_sum, "do not sum"),
        (fit, "rises from 1.0 to 1.1"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_faults_are_found(data, method, message):
    X, y = data
    model = make_faulty_booster(method).fit(X, y)
    with pytest.raises(AssertionError, match=message):
        check_fitted_booster(model, X)
    check_fitted_booster(AdaBoostMH(n_iterations=8).fit(X, y), X)


def test_objective_may_rise_if_declared(data):
    check_fitted_booster(make_faulty_booster(fit).fit(*data), data[0], falling=False)


@pytest.mark.parametrize(("n_classes", "share"), [(2, 0.82), (3, 0.84)])
def test_no_stump_that_errs_least_passes_the_check_of_class_weights(n_classes, share):
    """Brute force shows why `check_class_weight_classifiers` is expected to fail."""
    X, y = make_blobs(centers=n_classes, random_state=0, cluster_std=20)
    X, X_test, y, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    weights = np.where(y == 0, 1000.0, 1e-4)
    errors = []
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        for threshold, above in product((values[1:] + values[:-1]) / 2, (True, False)):
            heavy = (X[:, feature] > threshold) == above
            error = weights[heavy != (y == 0)].sum()
            errors.append((error, ((X_test[:, feature] > threshold) == above).mean()))
    errors.sort()
    # The error of the second best is larger by a whole sample.
    assert errors[1][0] - errors[0][0] > 0.9e-4
    assert errors[0][1] == share < 0.87


class IrreproducibleBooster(AdaBoostMH):
    """Booster whose fits differ."""

    def fit(self, X, y):
        super().fit(X, y)
        self.coefficients_ = self.coefficients_ * np.random.default_rng().uniform(1, 2)
        return self


class WeightIgnoringBooster(AdaBoostMH):
    """Booster that validates sample weights, but does not use them."""

    def _make_master(self, X, labels, random_state, weights=None):
        return super()._make_master(X, labels, random_state)


class ParameterChangingBooster(AdaBoostMH):
    """Booster whose constructor changes a parameter, against scikit-learn's rules."""

    def __init__(self, n_iterations=8, max_bins=None, random_state=None):
        super().__init__(n_iterations + 1, max_bins=max_bins, random_state=random_state)


@pytest.mark.parametrize(
    "wrong", [IrreproducibleBooster(n_iterations=8), ParameterChangingBooster()]
)
def test_checks_of_scikit_learn_are_run(wrong):
    with pytest.raises(AssertionError) as raised:
        check_booster(wrong)
    assert "check_estimator" in {entry.name for entry in raised.traceback}


def test_weights_are_checked():
    with pytest.raises(AssertionError, match="weights make no difference"):
        check_booster(WeightIgnoringBooster(n_iterations=8))
