"""scikit-learn's meta-estimators around boosters predict alike in ONNX."""

from functools import cache

import numpy as np
import pytest
from algorithms.models import SUMS, cases
from sklearn.base import clone, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LogisticRegression, RANSACRegressor, Ridge
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

import boostbench as bb
from boostbench.conversion import register_with_skl2onnx

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")

DTYPES = [np.float32, np.float64]
# A single estimator of each class suffices, since settings change coefficients only.
CLASSIFIERS = {name: model for name, model in SUMS.items() if "," not in name} | {
    "BaggedBooster": bb.BaggedBooster(bb.MCBoost(n_iterations=3), n_estimators=2, random_state=0),
    "BaggedMCBoost": bb.BaggedMCBoost(n_estimators=2, interactions=1, random_state=0),
    # The program of LPBoost has a constant solution for few samples and the default C.
    "LPBoost": bb.LPBoost(C=10.0),
}
REGRESSORS = {
    "LsBoostRegressor": bb.LsBoostRegressor(),
    "BaggedLsBoostRegressor": bb.BaggedLsBoostRegressor(n_estimators=2, random_state=0),
}


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def searched(model):
    return GridSearchCV(model, {}, cv=2)


def stacked(model, method, **settings):
    return StackingClassifier(
        [("booster", model), ("linear", LogisticRegression())],
        LogisticRegression(),
        cv=2,
        stack_method=method,
        **settings,
    )


def voting(model, **settings):
    estimators = [("booster", model), ("linear", LogisticRegression())]
    return VotingClassifier(estimators, flatten_transform=False, **settings)


def bagging(model):
    return BaggingClassifier(model, n_estimators=2, random_state=0)


def final(model):
    return StackingClassifier([("linear", LogisticRegression())], model, cv=2)


META_CLASSIFIERS = {
    "alone": lambda model: model,
    "AdaBoost": lambda model: AdaBoostClassifier(model, n_estimators=2, random_state=0),
    "Bagging": bagging,
    "calibration": lambda model: CalibratedClassifierCV(model, cv=2, ensemble=False),
    "GridSearchCV of Pipeline": lambda model: searched(scaled(model)),
    "MultiOutput": MultiOutputClassifier,
    "one-vs-one": OneVsOneClassifier,
    "one-vs-rest": OneVsRestClassifier,
    "stacked probabilities": lambda model: stacked(model, "predict_proba"),
    "stacked scores": lambda model: stacked(model, "decision_function"),
    "stacked, final": final,
    "voting": lambda model: voting(model, voting="soft", weights=np.array([3.0, 1.0])),
}
# Combinations that depend on the meta-estimators more than on the estimator.
NESTED = {
    "Pipeline": scaled,
    "GridSearchCV": searched,
    "hard voting": voting,
    "Bagging of features": lambda model: BaggingClassifier(
        model, n_estimators=2, max_features=0.5, random_state=0
    ),
    "calibration with ensemble": lambda model: CalibratedClassifierCV(model, cv=2),
    "calibration of Pipeline": lambda model: CalibratedClassifierCV(scaled(model), cv=2),
    "calibration of GridSearchCV": lambda model: CalibratedClassifierCV(searched(model), cv=2),
    "calibration of AdaBoost": lambda model: CalibratedClassifierCV(
        AdaBoostClassifier(model, n_estimators=2, random_state=0), cv=2
    ),
    "calibration of Bagging": lambda model: CalibratedClassifierCV(bagging(model), cv=2),
    "calibration of Bagging of GridSearchCV": lambda model: CalibratedClassifierCV(
        bagging(searched(model)), cv=2
    ),
    "calibration of one-vs-one": lambda model: CalibratedClassifierCV(
        OneVsOneClassifier(model), cv=2
    ),
    "calibration of one-vs-rest of Pipeline": lambda model: CalibratedClassifierCV(
        OneVsRestClassifier(scaled(model)), cv=2
    ),
    "calibration of stacking": lambda model: CalibratedClassifierCV(final(scaled(model)), cv=2),
    "calibration of voting": lambda model: CalibratedClassifierCV(
        voting(model, voting="soft"), cv=2
    ),
    "GridSearchCV of calibration": lambda model: searched(CalibratedClassifierCV(model, cv=2)),
    "MultiOutput of calibration": lambda model: MultiOutputClassifier(
        CalibratedClassifierCV(model, cv=2)
    ),
    "one-vs-one of Pipeline": lambda model: OneVsOneClassifier(scaled(model)),
    "one-vs-one of Bagging": lambda model: OneVsOneClassifier(bagging(model)),
    "one-vs-one of calibration": lambda model: OneVsOneClassifier(
        scaled(CalibratedClassifierCV(model, cv=2))
    ),
    "one-vs-rest of Pipeline": lambda model: OneVsRestClassifier(scaled(model)),
    "stacked scores of Pipeline": lambda model: stacked(scaled(model), "decision_function"),
    "stacked scores of GridSearchCV": lambda model: stacked(searched(model), "decision_function"),
    "stacked with features": lambda model: stacked(model, "auto", passthrough=True),
    # skl2onnx selects features without converting the estimator that ranks them.
    "feature elimination": lambda model: make_pipeline(
        RFE(model, n_features_to_select=2), LogisticRegression()
    ),
    "feature selection": lambda model: make_pipeline(SelectFromModel(model), LogisticRegression()),
}
META_REGRESSORS = {
    "alone": lambda model: model,
    "Pipeline": scaled,
    "GridSearchCV": searched,
    "AdaBoost": lambda model: AdaBoostRegressor(model, n_estimators=2, random_state=0),
    "Bagging": lambda model: BaggingRegressor(model, n_estimators=2, random_state=0),
    "RANSAC": lambda model: RANSACRegressor(model, min_samples=30, random_state=0),
    "stacking": lambda model: StackingRegressor([("booster", model)], Ridge(), cv=2),
    "stacking of Pipeline": lambda model: StackingRegressor(
        [("booster", scaled(model))], Ridge(), cv=2, passthrough=True
    ),
    "final estimator": lambda model: StackingRegressor([("linear", Ridge())], model, cv=2),
    "voting": lambda model: VotingRegressor([("booster", model), ("linear", Ridge())]),
    "MultiOutput": MultiOutputRegressor,
    "MultiOutput of Pipeline": lambda model: MultiOutputRegressor(scaled(model)),
    "one-vs-rest": OneVsRestClassifier,
    "feature elimination": lambda model: make_pipeline(RFE(model, n_features_to_select=2), Ridge()),
    "feature selection": lambda model: make_pipeline(SelectFromModel(model), Ridge()),
}
#: Conversions that are wrong in skl2onnx itself, with the beginning of our message.
INEXACT = {
    "isotonic calibration": (
        lambda model: CalibratedClassifierCV(model, method="isotonic", cv=2),
        3,
        "CalibratedClassifierCV without interpolation",
    ),
    "threshold": (
        lambda model: TunedThresholdClassifierCV(model, cv=2, scoring="recall"),
        2,
        "TunedThresholdClassifierCV without its threshold",
    ),
    "stacked labels": (
        lambda model: stacked(model, "predict"),
        3,
        "StackingClassifier with other inputs",
    ),
    "stacked scores of two classes": (
        lambda model: stacked(model, "decision_function"),
        2,
        "StackingClassifier with other inputs",
    ),
    "weights of dropped estimators": (
        lambda model: VotingClassifier(
            [("dropped", "drop"), ("booster", model), ("linear", LogisticRegression())],
            voting="soft",
            weights=np.array([2.0, 3.0, 1.0]),
            flatten_transform=False,
        ),
        2,
        "VotingClassifier with the weights of dropped estimators",
    ),
    "scores of Bagging in Pipeline": (
        lambda model: CalibratedClassifierCV(scaled(bagging(model)), cv=2),
        2,
        "Pipeline to BaggingClassifier",
    ),
}


@pytest.fixture(autouse=True, scope="module")
def _registered():
    register_with_skl2onnx()


@cache
def samples(n_classes):
    """Draw training data and test samples that single precision represents exactly."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(140, 4)).astype(np.float32).astype(float)
    scores = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(scale=0.5, size=len(X))
    y = np.digitize(scores, np.quantile(scores, np.arange(1, n_classes) / n_classes))
    return X[:80], y[:80], X[80:]


def small(model):
    """Copy a model and set its rounds to three."""
    model = clone(model)
    return model.set_params(n_iterations=3) if "n_iterations" in model.get_params() else model


def session(model, dtype, options):
    """Convert a fitted model and load the result."""
    sample = np.zeros((1, 4), dtype)
    made = skl2onnx.to_onnx(model, sample, options=options)
    return onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def assert_same_predictions(model, X, dtype):
    """Compare labels and probabilities, or numbers, with scikit-learn's."""
    expected = model.predict(X)
    if is_regressor(model):
        [predictions] = session(model, dtype, None).run(None, {"X": X.astype(dtype)})
        assert predictions.dtype == dtype
        tolerance = 100 * np.finfo(dtype).eps * np.abs(expected).max()
        np.testing.assert_allclose(predictions.reshape(expected.shape), expected, atol=tolerance)
        return
    outputs = session(model, dtype, {"zipmap": False}).run(None, {"X": X.astype(dtype)})
    np.testing.assert_array_equal(outputs[0].reshape(expected.shape), expected)
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(outputs[1])
        assert probabilities.dtype == dtype
        tolerance = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=tolerance)


def check_meta_classifier(meta, model, n_classes):
    """Fit a meta-estimator around a booster, and compare both float types with scikit-learn."""
    if "AdaBoost" in meta and not has_fit_parameter(model, "sample_weight"):
        pytest.skip("AdaBoostClassifier needs estimators with sample weights")
    if meta.startswith("stacked scores") and n_classes == 2:
        pytest.skip("refused: see INEXACT")
    X, y, test_X = samples(n_classes)
    if n_classes == 2 and "one-vs-one" not in meta:
        # skl2onnx converts no one-vs-one classifier with strings as labels, for any estimator.
        y = np.array(["no", "yes"])[y]
    if meta.startswith("MultiOutput"):
        y = np.column_stack([y, y[::-1]])
    fitted = (META_CLASSIFIERS | NESTED)[meta](small(model)).fit(X, y)
    assert_same_predictions(fitted, test_X, np.float32)
    if "AdaBoost" in meta:
        # skl2onnx converts no AdaBoostClassifier in double precision, for any estimator.
        with pytest.raises(Exception, match=r"Type parameter \(T\) of Optype \(Where\)"):
            session(fitted, np.float64, {"zipmap": False})
    else:
        assert_same_predictions(fitted, test_X, np.float64)


@pytest.mark.parametrize("meta", META_CLASSIFIERS)
@cases(CLASSIFIERS)
def test_meta_classifiers_predict_alike(model, n_classes, meta):
    check_meta_classifier(meta, model, n_classes)


@pytest.mark.parametrize("meta", NESTED)
def test_nested_meta_classifiers_predict_alike(meta):
    # scikit-learn's calibration takes most of the time, and takes it for each class.
    check_meta_classifier(meta, bb.MCBoost(), 2 if "calibration" in meta else 3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("meta", META_REGRESSORS)
@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS.keys())
def test_meta_regressors_predict_alike(model, meta, dtype):
    X, y, test_X = samples(3)
    if meta != "one-vs-rest":
        y = y + X[:, 2]
    if meta.startswith("MultiOutput"):
        y = np.column_stack([y, y[::-1]])
    fitted = META_REGRESSORS[meta](small(model)).fit(X, y)
    assert_same_predictions(fitted, test_X, dtype)


@pytest.mark.parametrize("meta", INEXACT)
def test_inexact_conversions_are_refused(meta):
    make, n_classes, message = INEXACT[meta]
    X, y, _ = samples(n_classes)
    fitted = make(small(bb.MCBoost())).fit(X, y)
    with pytest.raises(ValueError, match=message):
        session(fitted, np.float64, {"zipmap": False})


@pytest.mark.parametrize("meta", INEXACT)
def test_inexact_conversions_are_wrong_for_gradient_boosting_too(meta):
    # If this fails with a later skl2onnx, the refusal can be removed.
    make, n_classes, _ = INEXACT[meta]
    X, y, test_X = samples(n_classes)
    fitted = make(GradientBoostingClassifier(n_estimators=3, random_state=0)).fit(X, y)
    converted = session(fitted, np.float32, {"zipmap": False})
    if meta.startswith("stacked"):
        # The final estimator is linear, and notices that it gets more inputs than it has.
        with pytest.raises(Exception, match="coefficients size"):
            converted.run(None, {"X": test_X.astype(np.float32)})
        return
    labels, probabilities = converted.run(None, {"X": test_X.astype(np.float32)})
    is_wrong = labels != fitted.predict(test_X)
    is_wrong |= np.abs(probabilities - fitted.predict_proba(test_X)).max(axis=1) > 0.01
    assert is_wrong.any()


def test_regressors_with_weights_of_dropped_estimators_are_refused():
    X, y, _ = samples(3)
    estimators = [("dropped", "drop"), ("booster", bb.LsBoostRegressor(n_iterations=3))]
    fitted = VotingRegressor(estimators, weights=np.array([2.0, 1.0])).fit(X, y)
    with pytest.raises(ValueError, match="VotingRegressor with the weights of dropped estimators"):
        session(fitted, np.float64, None)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_raw_scores_are_the_decision_function(n_classes, dtype):
    X, y, test_X = samples(n_classes)
    model = bb.MCBoost(n_iterations=3).fit(X, y)
    options = {"raw_scores": True, "zipmap": False}
    labels, scores = session(model, dtype, options).run(None, {"X": test_X.astype(dtype)})
    expected = model.decision_function(test_X)
    if n_classes == 2:
        expected = np.column_stack([-expected, expected])
    np.testing.assert_array_equal(labels, model.predict(test_X))
    np.testing.assert_allclose(scores, expected, rtol=4 * np.finfo(dtype).eps)


def test_raw_scores_of_a_pipeline_are_requested_from_its_last_step():
    X, y, test_X = samples(3)
    model = scaled(bb.MCBoost(n_iterations=3)).fit(X, y)
    converted = session(model, np.float64, {"mcboost__raw_scores": True})
    scores = converted.run(None, {"X": test_X})[1]
    np.testing.assert_allclose(scores, model.decision_function(test_X), rtol=1e-12)
    with pytest.raises(ValueError, match="name the step"):
        session(model, np.float64, {"raw_scores": True})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("options", [None, {"zipmap": False}, {"zipmap": True}])
@pytest.mark.parametrize("make", [lambda model: model, scaled], ids=["alone", "Pipeline"])
def test_probabilities_are_an_array_with_any_zipmap(make, options, dtype):
    X, y, test_X = samples(2)
    model = make(bb.MCBoost(n_iterations=3)).fit(X, y)
    probabilities = session(model, dtype, options).run(None, {"X": test_X.astype(dtype)})[1]
    assert probabilities.dtype == dtype
    expected = model.predict_proba(test_X)
    np.testing.assert_allclose(probabilities, expected, atol=100 * np.finfo(dtype).eps)
