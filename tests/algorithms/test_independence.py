"""A fitted object does not depend on changes made after the fit, nor on global settings."""

import contextlib
import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import has_fit_parameter

import boostbench as bb
from boostbench.inspection import ImportanceDisplay, PairDisplay, ShapeFunctionDisplay

from .hashing.test_hashers import HASHERS
from .models import CASES
from .problems import blobs
from .test_kernel_svc import MODELS as MACHINES
from .test_scikit_learn import BAGS, OTHERS, STOPPED

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


WARM = {
    "MultiBoost": bb.MultiBoost(n_iterations=12, nu=1e-4),
    "MultiBoost, converged": bb.MultiBoost(nu=1e-2),
    "MultiBoost, L-BFGS": bb.MultiBoost(n_iterations=12, nu=1e-4, solver="lbfgs"),
    "MultiBoost, hinge": bb.MultiBoost(n_iterations=8, nu=1e-3, loss="hinge"),
    "LsBoost": bb.LsBoost(n_iterations=12),
    "LsBoostRegressor": bb.LsBoostRegressor(n_iterations=12),
    "RpBoost": bb.RpBoost(n_iterations=12, random_state=0),
}


@pytest.mark.parametrize("name", WARM)
def test_a_warm_start_with_the_same_parameters_gives_the_model_of_one_fit(name):
    X, y = blobs(2, n_samples=60)
    expected = predictions(clone(WARM[name]).fit(X, y), X)
    model = clone(WARM[name]).set_params(warm_start=True)
    for _ in range(3):
        for method, result in predictions(model.fit(X, y), X).items():
            np.testing.assert_array_equal(result, expected[method], err_msg=method)


@pytest.mark.parametrize("name", WARM)
def test_a_warm_start_with_more_rounds_gives_the_model_of_one_fit(name):
    X, y = blobs(2, n_samples=60)
    model = clone(WARM[name]).set_params(warm_start=True)
    for n_iterations in (1, 4, 5, 9):
        fresh = clone(WARM[name]).set_params(n_iterations=n_iterations).fit(X, y)
        model.set_params(n_iterations=n_iterations).fit(X, y)
        for method, result in predictions(fresh, X).items():
            np.testing.assert_array_equal(predictions(model, X)[method], result, err_msg=method)


ESTIMATORS = {
    **CASES,
    **{f"{type(bag).__name__}, {number}": bag for number, bag in enumerate(BAGS)},
    **{type(model).__name__: model for model in (*OTHERS, *HASHERS, *MACHINES)},
    "MCBoost, stopped": STOPPED,
    "BaggedMCBoost, pairs": MODELS["BaggedMCBoost"],
    "MultiBoost, warm": bb.MultiBoost(n_iterations=12, nu=1e-3, warm_start=True),
    "RpBoost, warm": bb.RpBoost(n_iterations=12, warm_start=True, random_state=0),
}
METHODS = (
    *("decision_function", "predict", "predict_proba", "predict_log_proba", "transform", "hash"),
    *("staged_decision_function", "staged_predict", "staged_predict_proba"),
)


def seeded(name):
    """Return an estimator whose fits are reproducible."""
    model = clone(ESTIMATORS[name])
    return model.set_params(random_state=0) if hasattr(model, "random_state") else model


def alternative_values(model, name):
    """Return values of a parameter that differ from its present one, of each kind it may have."""
    value = model.get_params(deep=False)[name]
    values = [value + 1] if isinstance(value, int | float) else [None]
    for constraint in model._parameter_constraints[name]:
        if isinstance(constraint, StrOptions):
            values += sorted(constraint.options)
        elif constraint == "boolean":
            values += [False, True]
        elif isinstance(constraint, Interval):
            values += [1, 7]
    if name == "estimator":
        values += [bb.SAMME(), bb.LPBoost()]
    return [other for other in values if other is not value and other != value]


def predictions(model, X):
    """Return the results of all prediction methods, and the descriptions of the model."""
    results = {}
    for name in METHODS:
        if hasattr(model, name):
            result = getattr(model, name)(X)
            results[name] = list(result) if name.startswith("staged") else result
    if hasattr(model, "stump_sum"):
        with contextlib.suppress(ValueError):
            results["shapes"] = model.shape_functions(X).explain_global().to_numpy()
            results["importances"] = model.feature_importances_
            # NaN differs from itself in an array of objects.
            rules = model.rules().astype(object)
            results["rules"] = rules.where(rules.notna(), None).to_numpy()
    return results


@pytest.mark.parametrize("name", ESTIMATORS)
def test_predictions_do_not_depend_on_parameters_that_are_set_after_the_fit(name):
    X, y = blobs(2, n_samples=60)
    model = seeded(name).fit(X, y)
    before = predictions(model, X)
    assert before
    for parameter, value in model.get_params(deep=False).items():
        for other in alternative_values(model, parameter):
            after = predictions(model.set_params(**{parameter: other}), X)
            for method, result in before.items():
                message = f"{method} after {parameter}={other!r}"
                np.testing.assert_array_equal(after[method], result, err_msg=message)
        model.set_params(**{parameter: value})


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fits_do_not_depend_on_metadata_routing(name):
    X, y = blobs(2, n_samples=60)
    model = seeded(name)
    with config_context(enable_metadata_routing=False):
        before = predictions(clone(model).fit(X, y), X)
    with config_context(enable_metadata_routing=True):
        after = predictions(clone(model).fit(X, y), X)
    for method, result in before.items():
        np.testing.assert_array_equal(after[method], result, err_msg=method)


@pytest.mark.parametrize(
    "name",
    [name for name, model in ESTIMATORS.items() if has_fit_parameter(model, "sample_weight")],
)
def test_metadata_routing_hands_on_weights(name):
    model = seeded(name)
    X, y = blobs(2, n_samples=60)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    expected = predictions(clone(model).fit(X, y, sample_weight=weights), X)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(clone(model).set_fit_request(sample_weight=True))
        fitted = pipeline.fit(X, y, sample_weight=weights)[-1]
    for method, result in predictions(fitted, X).items():
        np.testing.assert_array_equal(result, expected[method], err_msg=method)
