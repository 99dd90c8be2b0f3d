"""Tests of LPBoost, NMBoost and ERLPBoost."""

import numpy as np
import pytest
from sklearn.base import clone

from boostbench.algorithms import ERLPBoost, LPBoost, NMBoost

from .. import reference
from ..problems import blobs, noise

MODELS = [LPBoost(C=0.4), NMBoost(C=0.01, margin=0.1), ERLPBoost(nu=0.2, epsilon=0.01, tol=1e-7)]
each = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@each
def test_objective_decreases_in_every_round(model):
    X, y = noise(2, n_samples=80, seed=1)
    model = clone(model).fit(X, y)
    assert model.n_iterations_ > 20
    assert (np.diff(model.objective_) <= 1e-9).all()


@each
def test_duplicated_sample_equals_a_sample_of_weight_two(model):
    X, y = blobs(2, seed=4)
    weights = 1 + np.arange(len(y)) % 2
    once = clone(model).fit(X, y, sample_weight=weights)
    twice = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert twice.objective_[-1] == pytest.approx(once.objective_[-1], abs=1e-6)


@each
def test_weak_learners_are_distinct(model):
    X, y = noise(2, n_samples=60, seed=3)
    model = clone(model).fit(X, y)
    outputs = np.array(reference.stage_outputs(model, X))
    assert len(np.unique(outputs, axis=0)) == model.n_iterations_


@each
def test_constant_features_give_an_empty_model(model):
    X, y = np.ones((5, 2)), np.array([1, 1, 0, 1, 0])
    model = clone(model).fit(X, y)
    assert model.n_iterations_ == 0
    assert set(model.predict(X)) <= {0, 1}


@each
def test_one_row_per_class(model):
    X, y = np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([0, 1])
    # A sample of less than 1 / C is not worth a coefficient of LPBoost.
    model = LPBoost(C=1.0) if isinstance(model, LPBoost) else clone(model)
    assert (model.fit(X, y).predict(X) == y).all()
