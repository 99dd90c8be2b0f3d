"""A fitted object depends on nothing that its user may change after the fit."""

import copy

import numpy as np
import pytest
from scipy import sparse

import boostbench as bb
from boostbench.inspection import ImportanceDisplay, PairDisplay, ShapeFunctionDisplay

from .problems import blobs

MODELS = {
    "MCBoost": bb.MCBoost(n_iterations=10),
    "MultiBoost": bb.MultiBoost(n_iterations=10, nu=1e-3),
    "BaggedBooster": bb.BaggedBooster(n_estimators=2, random_state=0),
    "BaggedMCBoost": bb.BaggedMCBoost(
        n_iterations=30, n_estimators=3, interactions=1, random_state=0
    ),
    "LADDER": bb.LADDER(n_iterations=10, random_state=0),
}


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    X, y = blobs(3, n_samples=90)
    return copy.deepcopy(MODELS[request.param]).fit(X, y)


def fit_other_data(model):
    X, y = blobs(3, n_samples=90)
    model.fit(X[::2, ::-1], (y[::2] + 1) % 3)


def test_shape_functions_do_not_change_when_the_model_is_fitted_again(model):
    X = blobs(3, n_samples=90)[0]
    model = copy.deepcopy(model)
    shapes = model.shape_functions(X)
    before = shapes.decision_function(X), shapes.explain_global(), shapes.importances
    fit_other_data(model)
    np.testing.assert_array_equal(shapes.decision_function(X), before[0])
    assert shapes.explain_global().equals(before[1])
    np.testing.assert_array_equal(shapes.importances, before[2])


def test_displays_do_not_change_when_the_model_is_fitted_again(model):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X = blobs(3, n_samples=90)[0]
    model = copy.deepcopy(model)
    shapes = ShapeFunctionDisplay.from_estimator(model, X)
    bars = ImportanceDisplay.from_estimator(model)
    before = [curve.get_data().values for curve in shapes.lines_[0]], bars.importances.copy()
    tables = []
    if hasattr(model, "pairs_"):
        pairs = PairDisplay.from_estimator(model, X)
        tables = [(pairs, pairs.meshes_[0].get_array().copy())]
    fit_other_data(model)
    for curve, values in zip(shapes.plot().lines_[0], before[0], strict=True):
        np.testing.assert_array_equal(curve.get_data().values, values)
    np.testing.assert_array_equal(bars.plot().importances, before[1])
    for pairs, table in tables:
        np.testing.assert_array_equal(pairs.plot().meshes_[0].get_array(), table)
    pyplot.close("all")


@pytest.mark.parametrize("warm_start", [False, True])
def test_final_solve_and_its_model_do_not_change_when_the_other_is_fitted_again(warm_start):
    X, y = blobs(3, n_samples=90)
    model = bb.MultiBoost(n_iterations=10, nu=1e-3, warm_start=warm_start).fit(X, y)
    solved = bb.final_solve(model, X, y)

    def state(estimator):
        path = sparse.csr_array(estimator.weight_path_).toarray()
        parts = estimator.decision_function(X), path, estimator.objective_, estimator.dual_
        return [part.copy() for part in parts]

    before = state(solved)
    model.set_params(nu=1e-2).fit(X, y)
    for now, then in zip(state(solved), before, strict=True):
        np.testing.assert_array_equal(now, then)
    before = state(model)
    solved.set_params(nu=1e-1).fit(X, y)
    for now, then in zip(state(model), before, strict=True):
        np.testing.assert_array_equal(now, then)
