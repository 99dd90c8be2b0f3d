"""ONNX and treelite models predict the same as the fitted models."""

import sys
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from algorithms.models import SUMS, pair_with_classes
from algorithms.problems import blobs
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import boostbench as bb
from boostbench.conversion import register_with_skl2onnx, to_onnx, to_treelite

MODELS = SUMS | {
    "AdaBoost, sets": bb.AdaBoost(category_sets=True),
    "BaggedBooster": bb.BaggedBooster(bb.MCBoost(n_iterations=20), n_estimators=3, random_state=0),
    "BaggedMCBoost": bb.BaggedMCBoost(n_estimators=3, random_state=0),
    "MCBoost, sets": bb.MCBoost(category_sets=True),
}
LABELS = {
    "strings": np.array(["ant", "bee", "cat"]),
    "numbers": np.array([-3, 5, 700]),
    "fractions": np.array([-3.0, 5.0, 700.0]),
}


def mixed_table():
    """Return numbers with missing values, three informative categorical features, and a target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    X[:, 3:] = rng.integers([2, 3, 5], size=(90, 3))
    X[rng.random(X.shape) < [0.0, 0.3, 0.3, 0.0, 0.0, 0.2]] = np.nan
    return X, np.nan_to_num(X, nan=2.0) @ [1, 1, 0, 1, 0, 1] + (X[:, 4] == 1)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((*case, kind), id=f"{name}, {kind}")
        for name, case in pair_with_classes(MODELS).items()
        for kind in ("numbers", "table")
        if kind == "numbers" or case[0].__sklearn_tags__().input_tags.allow_nan
    ],
)
def model_and_samples(request):
    """Return a fitted model, and samples of which some lie on its thresholds."""
    model, n_classes, kind = request.param
    model = clone(model)
    if "n_iterations" in model.get_params():
        model.set_params(n_iterations=20)
    if kind == "table":
        X, score = mixed_table()
        y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
        prefix = "estimator__" if "estimator__n_iterations" in model.get_params() else ""
        model.set_params(**{f"{prefix}categorical_features": [3, 4, 5]})
        model.fit(X, LABELS["strings"][y])
        # The training data have no missing values in these features.
        X[:10, [0, 3, 4]] = np.nan
        return model, X
    X, y = blobs(n_classes, n_samples=90)
    model.fit(X, LABELS["strings"][y])
    thresholds = model.stump_sum().stumps.threshold
    X[:20] = np.resize(thresholds[np.isfinite(thresholds)], (20, 1))
    return model, X


@pytest.fixture(scope="module")
def tied_model_and_samples(model_and_samples):
    """Return a model whose scores often tie up to rounding errors, and samples of all regions."""
    model = deepcopy(model_and_samples[0])
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, model.n_features_in_))
    categories = list(getattr(model, "categories_", ()))
    X[:, categories] = rng.integers(2, size=(2000, len(categories)))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        for member in getattr(model, "estimators_", [model]):
            for name in ("coefficients_", "_votes"):
                if hasattr(member, name):
                    numbers = rng.choice([0.1, 0.2, 0.3], np.shape(getattr(member, name)))
                    setattr(member, name, numbers)
            for name in ("intercept_", "intercepts_", "intercept_path_"):
                if hasattr(member, name):
                    setattr(member, name, np.zeros_like(getattr(member, name)))
        scores = model.decision_function(X)
        scores = np.sort(np.column_stack([0 * scores, scores]) if scores.ndim == 1 else scores)
        if (scores[:, -1] == scores[:, -2]).any():
            break  # Models of trees have no ties: their leaf values are not multiples of 0.1.
    return model, X


def test_shape_functions_break_ties_as_predict(tied_model_and_samples):
    model, X = tied_model_and_samples
    assert (model.shape_functions().predict(X) == model.predict(X)).all()
    assert (model.shape_functions(X).predict(X) == model.predict(X)).all()


def load_session(converted):
    runtime = pytest.importorskip("onnxruntime")
    return runtime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def run_onnx(onnx_model, X):
    session = load_session(onnx_model)
    assert [output.name for output in session.get_outputs()] == ["label", "probabilities", "scores"]
    return session.run(None, {"X": X})


class TestONNX:
    @pytest.fixture(autouse=True)
    def _require_onnx(self):
        pytest.importorskip("onnx")

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_converted_model_predicts_the_same(self, model_and_samples, dtype):
        model, X = model_and_samples
        X = X.astype(dtype)
        labels, probabilities, scores = run_onnx(to_onnx(model, dtype), X)
        assert (labels == model.predict(X)).all()
        np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)
        expected = model.decision_function(X)
        np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)

    def test_ties_have_the_same_label(self, tied_model_and_samples):
        model, X = tied_model_and_samples
        labels, probabilities, scores = run_onnx(to_onnx(model, float), X)
        assert (labels == model.predict(X)).all()
        assert (model.classes_[probabilities.argmax(axis=1)] == labels).all()
        assert ((scores == 0) == (model.decision_function(X) == 0)).all() or scores.ndim == 2

    @pytest.mark.parametrize("names", LABELS.values(), ids=LABELS.keys())
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_labels_keep_their_type(self, names, n_classes):
        X, y = blobs(n_classes, n_samples=90)
        model = bb.AdaBoostMH(n_iterations=10).fit(X, names[y])
        assert (run_onnx(to_onnx(model, float), X)[0] == model.predict(X)).all()

    def test_labels_may_be_objects(self):
        X, y = blobs(3)
        model = bb.AdaBoostMH(n_iterations=10).fit(X, LABELS["strings"][y].astype(object))
        assert (run_onnx(to_onnx(model, float), X)[0] == model.predict(X)).all()

    def test_unsupported_dtypes_and_labels_are_refused(self):
        X, y = blobs(2)
        model = bb.AdaBoost(n_iterations=2).fit(X, y)
        for estimator in (model, make_pipeline(StandardScaler(), model).fit(X, y)):
            with pytest.raises(ValueError, match="float32 or float64, got 'int8'"):
                to_onnx(estimator, "int8")
        for classes in (np.array([1, 2**63], dtype=np.uint64), np.array([0.0, 1e30])):
            model.classes_ = classes
            with pytest.raises(ValueError, match="a class lies outside"):
                to_onnx(model)
        model.classes_ = np.array([b"ant", b"bee"])
        with pytest.raises(ValueError, match="integers or strings"):
            to_onnx(model)


class TestTreelite:
    def test_converted_model_predicts_the_same(self, model_and_samples):
        gtil = pytest.importorskip("treelite").gtil
        model, X = model_and_samples
        converted = to_treelite(model)
        expected = model.predict_proba(X)
        predictions = gtil.predict(converted, X).reshape(len(X), -1)
        np.testing.assert_allclose(
            predictions, expected if predictions.shape[1] > 1 else expected[:, 1:], atol=1e-5
        )
        margins = gtil.predict(converted, X, pred_margin=True).reshape(len(X), -1)
        scores = model.inverse_temperature() * model.decision_function(X).reshape(len(X), -1)
        np.testing.assert_allclose(margins, scores, rtol=1e-5, atol=1e-5)

    def test_ties_have_the_same_label(self, tied_model_and_samples):
        gtil = pytest.importorskip("treelite").gtil
        model, X = tied_model_and_samples
        predictions = gtil.predict(to_treelite(model), X).reshape(len(X), -1)
        is_binary = predictions.shape[1] == 1
        winner = (predictions[:, 0] > 0.5).astype(int) if is_binary else predictions.argmax(axis=1)
        assert (model.classes_[winner] == model.predict(X)).all()


@pytest.mark.parametrize(("convert", "name"), [(to_onnx, "onnx"), (to_treelite, "treelite")])
class TestErrors:
    def test_other_models_and_unfitted_models_are_refused(self, convert, name):
        pytest.importorskip(name)
        model = bb.RBoostRank(n_iterations=2, n_projections=5, random_state=0).fit(*blobs(2))
        with pytest.raises(ValueError, match="RBoostRank is not a sum of stumps"):
            convert(model)
        with pytest.raises(ValueError, match="not fitted"):
            convert(bb.AdaBoost())

    def test_constant_models_are_converted(self, convert, name):
        pytest.importorskip(name)
        convert(bb.AdaBoostMH().fit(np.ones((4, 2)), [0, 1, 0, 1]))

    def test_missing_library_is_named(self, convert, name, monkeypatch):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=rf"^this needs {name}; .*'pip install {name}'$"):
            convert(bb.AdaBoost(n_iterations=2).fit(*blobs(2)))


@pytest.mark.parametrize(
    "model",
    [
        bb.BaggedLsBoostRegressor(n_iterations=30, n_estimators=3, random_state=0),
        bb.BaggedLsBoostRegressor(
            n_iterations=30, n_estimators=3, interactions=2, loss="poisson", random_state=0
        ),
        bb.LsBoostRegressor(n_iterations=30),
        bb.LsBoostRegressor(n_iterations=30, category_sets=True),
    ],
    ids=["bag", "Poisson", "booster", "sets"],
)
def test_regressors_predict_the_same(model):
    gtil = pytest.importorskip("treelite").gtil
    X, y = mixed_table()
    model = clone(model).set_params(categorical_features=[3, 4, 5]).fit(X, 100.0 * (y - y.min()))
    X[:10, [0, 3, 4]] = np.nan
    [predictions] = load_session(to_onnx(model, float)).run(None, {"X": X})
    np.testing.assert_allclose(predictions, model.predict(X), rtol=1e-9)
    predictions = gtil.predict(to_treelite(model), X).reshape(len(X))
    np.testing.assert_allclose(predictions, model.predict(X), rtol=1e-9)


def test_pipelines_require_skl2onnx(monkeypatch):
    pytest.importorskip("onnx")
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    pipeline = make_pipeline(StandardScaler(), bb.AdaBoostMH(n_iterations=3)).fit(*blobs(2))
    with pytest.raises(ImportError, match=r"^this needs skl2onnx; .* 'pip install skl2onnx'$"):
        to_onnx(pipeline)


class TestPipelines:
    @pytest.fixture(autouse=True)
    def _require_skl2onnx(self):
        pytest.importorskip("skl2onnx")

    @pytest.mark.parametrize("labels", ["strings", "numbers"])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_classifiers_predict_the_same(self, n_classes, labels):
        X, y = blobs(n_classes)
        y = LABELS[labels][y]
        for booster in (
            bb.AdaBoostMH(n_iterations=20),
            bb.BaggedMCBoost(n_estimators=2, interactions=1, n_iterations=20, random_state=0),
        ):
            pipeline = make_pipeline(StandardScaler(), booster).fit(X, y)
            label, probabilities = load_session(to_onnx(pipeline, np.float64)).run(None, {"X": X})
            np.testing.assert_array_equal(label, pipeline.predict(X))
            np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), atol=1e-9)

    def test_unfitted_pipelines_are_refused(self):
        with pytest.raises(ValueError, match="not fitted"):
            to_onnx(make_pipeline(StandardScaler(), bb.AdaBoostMH()))

    def test_regressors_predict_the_same(self):
        X, y = blobs(3)
        pipeline = make_pipeline(StandardScaler(), bb.LsBoostRegressor(n_iterations=20)).fit(X, y)
        [predictions] = load_session(to_onnx(pipeline, np.float64)).run(None, {"X": X})
        assert predictions.shape == (len(X), 1)
        np.testing.assert_allclose(predictions[:, 0], pipeline.predict(X), atol=1e-9)

    def test_data_frames_with_strings_are_encoded(self):
        import skl2onnx

        X, y = blobs(2)
        frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "ash", "elm")})
        columns = make_column_transformer(
            (StandardScaler(), ["size"]), (OneHotEncoder(sparse_output=False), ["kind"])
        )
        pipeline = make_pipeline(columns, bb.MCBoost(n_iterations=10)).fit(frame, y)
        register_with_skl2onnx()
        converted = skl2onnx.to_onnx(pipeline, frame[:1])
        inputs = {name: frame[[name]].to_numpy() for name in frame}
        label, probabilities = load_session(converted).run(None, inputs)
        np.testing.assert_array_equal(label, pipeline.predict(frame))
        np.testing.assert_allclose(probabilities, pipeline.predict_proba(frame), atol=1e-9)

    @pytest.mark.parametrize("base", [bb.MCBoost, bb.LsBoostRegressor])
    def test_subclasses_are_registered(self, base):
        # The subclass has the name of its base class, and a different module.
        subclass = type(base.__name__, (base,), {"__module__": __name__})
        X, y = blobs(2)
        pipeline = make_pipeline(StandardScaler(), subclass(n_iterations=3)).fit(X, y)
        predictions = load_session(to_onnx(pipeline, np.float64)).run(None, {"X": X})
        np.testing.assert_allclose(predictions[0].ravel(), pipeline.predict(X), atol=1e-9)

    @pytest.mark.parametrize("opset", [12, {"": 12, "ai.onnx.ml": 1}, 13])
    @pytest.mark.parametrize("booster", [bb.MCBoost, bb.LsBoostRegressor])
    def test_old_opsets_are_refused(self, booster, opset):
        import skl2onnx

        X, y = blobs(2)
        model = booster(n_iterations=3).fit(X, y)
        register_with_skl2onnx()
        if opset == 13:
            converted = skl2onnx.to_onnx(model, X[:1], target_opset=opset)
            pytest.importorskip("onnx").checker.check_model(converted, full_check=True)
        else:
            with pytest.raises(ValueError, match="boosters need target_opset=13 or later, got 12"):
                skl2onnx.to_onnx(model, X[:1], target_opset=opset)

    def test_separate_columns_are_refused(self):
        import skl2onnx

        X, y = blobs(2)
        frame = pd.DataFrame(X).add_prefix("x")
        register_with_skl2onnx()
        for model in (bb.MCBoost(n_iterations=3), bb.LsBoostRegressor(n_iterations=3)):
            with pytest.raises(RuntimeError, match=r"at most 1 input\(s\)"):
                skl2onnx.to_onnx(model.fit(frame, y), frame[:1])

    def test_categorical_features_of_the_booster_are_refused(self):
        X, y = mixed_table()
        booster = bb.LsBoostRegressor(n_iterations=3, categorical_features=[4])
        pipeline = make_pipeline(StandardScaler(), booster).fit(X, y)
        with pytest.raises(ValueError, match="has categorical features"):
            to_onnx(pipeline)


@pytest.mark.parametrize("convert", [to_onnx, to_treelite])
def test_error_names_the_model_that_is_no_sum_of_stumps(convert):
    pytest.importorskip(convert.__name__.removeprefix("to_"))
    X, y = blobs(2)
    pipeline = make_pipeline(StandardScaler(), bb.SAMME(n_iterations=3)).fit(X, y)
    if convert is to_treelite:
        with pytest.raises(ValueError, match=r"Pipeline is not a sum of stumps; .* model\[-1\]"):
            convert(pipeline)
    with pytest.raises(ValueError, match="DecisionTreeClassifier is not a sum of stumps; pass"):
        convert(DecisionTreeClassifier().fit(X, y))
    convert(pipeline[-1])
