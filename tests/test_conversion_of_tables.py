"""ONNX models and SQL queries predict for data frames as the models that they come from."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from algorithms.problems import blobs, messy
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import boostbench as bb
from boostbench.conversion import to_onnx, to_sql
from boostbench.inspection import monotonize

BAG = bb.BaggedMCBoost(n_estimators=3, n_iterations=25, interactions=3, random_state=0)
NUMBERS = bb.BaggedLsBoostRegressor(n_estimators=3, n_iterations=25, interactions=3, random_state=0)
COUNTS = bb.BaggedLsBoostRegressor(
    n_estimators=3, n_iterations=25, interactions=3, loss="poisson", random_state=0
)


def toy_table(load, n_samples=500):
    """Return a data set of scikit-learn as a frame and its target."""
    X, y = load(return_X_y=True, as_frame=True)
    X = X.sample(min(n_samples, len(X)), random_state=0)
    return X, y[X.index]


def table_with_odd_names(seed=0):
    """Draw categories and names with quotes, spaces and letters of other scripts."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            'the "size"': rng.normal(size=200),
            "score": rng.choice(["it's", "naïve", "", None], 200),
            "votes": pd.Categorical(rng.choice([3.5, 1.0, 2.0], 200)),
            "město": pd.Categorical(rng.choice([True, False], 200)),
            "X": rng.integers(0, 4, 200),
        }
    )
    score = X['the "size"'] + (X["score"] == "it's") + (X["votes"] == 2.0) + (X["město"] == True)  # noqa: E712
    return X, np.where(score > 1, "it's", 'not "it"')


def messy_numbers():
    X, y = messy(3, 300, seed=4)
    return X, 100.0 * y + X["number"] * X["flag"]


TABLES = {
    "iris": (*toy_table(load_iris), BAG),
    "wine": (*toy_table(load_wine), bb.AdaBoostMH(n_iterations=40)),
    "breast cancer": (*toy_table(load_breast_cancer), BAG),
    "digits": (*toy_table(load_digits, 300), bb.MCBoost(n_iterations=40)),
    "diabetes": (*toy_table(load_diabetes), NUMBERS),
    "messy, two classes": (*messy(2, seed=1), BAG),
    "messy, three classes": (*messy(3, seed=2), BAG),
    "messy, members": (
        *messy(2, seed=3),
        bb.BaggedBooster(bb.MCBoost(n_iterations=20), n_estimators=3, random_state=0),
    ),
    "messy, sets": (*messy(3, seed=5), bb.MCBoost(n_iterations=30, category_sets=True)),
    "messy, numbers": (*messy_numbers(), NUMBERS),
    "messy, counts": (messy(5, seed=6)[0], messy(5, seed=6)[1], COUNTS),
    "odd names": (*table_with_odd_names(), BAG),
}


@pytest.fixture(scope="module", params=TABLES)
def model_and_frame(request):
    """Return a fitted model, and samples with unknown categories and new missing values."""
    X, y, model = TABLES[request.param]
    y = pd.Series(np.asarray(y), index=X.index)
    model = type(model)(**model.get_params(deep=False)).fit(X, y)
    new_rows = X.reset_index(drop=True).copy()
    for index, name in enumerate(X.columns):
        rows = np.arange(index, len(X), 7)
        if new_rows[name].dtype == "category":
            new_rows[name] = new_rows[name].cat.add_categories([99])
            new_rows.loc[rows, name] = 99
            new_rows.loc[rows[::2], name] = None
        elif new_rows[name].dtype.kind in "bifu":
            new_rows[name] = new_rows[name].astype(float)
            new_rows.loc[rows, name] = np.nan
        else:
            new_rows.loc[rows, name] = "unknown"
            new_rows.loc[rows[::2], name] = None
    if not hasattr(model, "views_"):
        new_rows = X.reset_index(drop=True)
    return model, pd.concat([X, new_rows], ignore_index=True)


def frame_inputs(session, frame):
    """Return the columns of a frame as the inputs of an ONNX model, by its metadata alone."""
    metadata = json.loads(session.get_modelmeta().custom_metadata_map["boostbench"])
    types = {"tensor(float)": np.float32, "tensor(double)": np.float64}
    inputs = {}
    for entry in session.get_inputs():
        column = frame[[entry.name]].astype(object)
        if entry.type == "tensor(string)":
            inputs[entry.name] = column.where(column.notna(), metadata["missing_text"]).to_numpy()
        else:
            inputs[entry.name] = column.to_numpy(types[entry.type], na_value=np.nan)
    return inputs


class TestONNX:
    @pytest.fixture(autouse=True)
    def _require_onnx(self):
        pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")

    def session(self, onnx_model):
        import onnxruntime

        return onnxruntime.InferenceSession(
            onnx_model.SerializeToString(), providers=["CPUExecutionProvider"]
        )

    def test_named_inputs_predict_the_same(self, model_and_frame):
        model, frame = model_and_frame
        session = self.session(to_onnx(model, np.float64, named_inputs=True))
        assert [entry.name for entry in session.get_inputs()] == list(frame.columns)
        results = session.run(None, frame_inputs(session, frame))
        if not hasattr(model, "classes_"):
            np.testing.assert_allclose(results[0], model.predict(frame), rtol=1e-12)
            return
        labels, probabilities, scores = results
        assert (labels == model.predict(frame)).all()
        np.testing.assert_allclose(probabilities, model.predict_proba(frame), atol=1e-12)
        np.testing.assert_allclose(scores, model.decision_function(frame), atol=1e-9)

    def test_metadata_suffice_to_encode_a_matrix(self, model_and_frame):
        model, frame = model_and_frame
        session = self.session(to_onnx(model, np.float64))
        metadata = json.loads(session.get_modelmeta().custom_metadata_map["boostbench"])
        columns = []
        for feature in metadata["features"]:
            values = frame[feature["name"]].astype(object)
            if "categories" in feature:
                codes = {category: code for code, category in enumerate(feature["categories"])}
                values = [codes.get(value, np.nan) for value in values]
            columns.append(np.array(values, float))
        results = session.run(None, {"X": np.column_stack(columns)})
        assert (results[0] == model.predict(frame)).all() or not hasattr(model, "classes_")
        if not hasattr(model, "classes_"):
            np.testing.assert_allclose(results[0], model.predict(frame), rtol=1e-12)

    def test_single_precision_is_the_default_of_numbers(self):
        X, y = toy_table(load_iris)
        session = self.session(to_onnx(BAG.fit(X, y), named_inputs=True))
        assert {entry.type for entry in session.get_inputs()} == {"tensor(float)"}

    def test_missing_text_is_no_category(self):
        frame, y = table_with_odd_names()
        session = self.session(to_onnx(BAG.fit(frame, y)))
        metadata = json.loads(session.get_modelmeta().custom_metadata_map["boostbench"])
        assert "" in metadata["features"][1]["categories"]
        assert metadata["missing_text"] == "?"

    def test_features_without_names_are_numbered(self):
        X, y = blobs(2)
        session = self.session(to_onnx(bb.MCBoost(n_iterations=3).fit(X, y), named_inputs=True))
        assert [entry.name for entry in session.get_inputs()] == ["x0", "x1", "x2", "x3"]

    @pytest.mark.parametrize("names", ["label", "scores", ""])
    def test_unsuitable_names_are_rejected(self, names):
        X, y = blobs(2)
        frame = pd.DataFrame(X, columns=["x1", names, "x3", "x4"])
        model = bb.MCBoost(n_iterations=3).fit(frame, y)
        with pytest.raises(ValueError, match=f"named inputs need .*; rename '{names}'$"):
            to_onnx(model, named_inputs=True)

    def test_categories_of_other_types_are_rejected(self):
        frame = pd.DataFrame({"kind": pd.Categorical([("a", 1), ("b", 2)] * 20)})
        model = bb.MCBoost(n_iterations=3).fit(frame, [0, 1] * 20)
        with pytest.raises(ValueError, match="all texts or all numbers, and feature 'kind'"):
            to_onnx(model, named_inputs=True)

    def test_pipelines_are_rejected(self):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        pipeline = make_pipeline(StandardScaler(), bb.MCBoost(n_iterations=3)).fit(*blobs(2))
        with pytest.raises(ValueError, match="named_inputs is for boosters and bags"):
            to_onnx(pipeline, named_inputs=True)


def run_sqlite(query, frame):
    with sqlite3.connect(":memory:") as connection:
        frame.astype(object).where(frame.notna(), None).to_sql("samples", connection, index=False)
        return pd.read_sql_query(query, connection)


def run_duckdb(query, frame):
    duckdb = pytest.importorskip("duckdb")
    frame = frame.copy()
    for name, dtype in frame.dtypes.items():
        if dtype == "category" or dtype.kind == "O":
            # DuckDB has no type for columns of several types.
            values = frame[name].astype(object).where(frame[name].notna(), None)
            present = values.dropna()
            is_text = present.map(lambda value: isinstance(value, str)).all()
            frame[name] = values if is_text else values.astype(float)
    with duckdb.connect() as connection:
        connection.register("samples", frame)
        return connection.execute(query).df()


@pytest.mark.parametrize("run", [run_sqlite, run_duckdb], ids=["SQLite", "DuckDB"])
class TestSQL:
    def test_query_predicts_the_same(self, model_and_frame, run):
        model, frame = model_and_frame
        frame = frame.assign(row=np.arange(len(frame)))
        result = run(to_sql(model, "samples", keep=["row"]), frame).set_index("row").sort_index()
        frame = frame.drop(columns="row")
        if not hasattr(model, "classes_"):
            assert list(result.columns) == ["prediction"]
            np.testing.assert_allclose(result["prediction"], model.predict(frame), rtol=1e-12)
            return
        assert (result["label"] == model.predict(frame)).all()
        scores, shares = model.decision_function(frame), model.predict_proba(frame)
        if scores.ndim == 1:
            np.testing.assert_allclose(result["score"], scores, atol=1e-9)
            np.testing.assert_allclose(result["probability"], shares[:, 1], atol=1e-12)
            return
        for index, label in enumerate(model.classes_):
            np.testing.assert_allclose(result[f"score_{label}"], scores[:, index], atol=1e-9)
            np.testing.assert_allclose(result[f"probability_{label}"], shares[:, index], atol=1e-12)

    @pytest.mark.parametrize("model", [BAG, COUNTS], ids=["classes", "counts"])
    def test_edited_models_are_converted(self, run, model):
        X, y = messy(2)
        model = clone(model).set_params(interactions=[("words", "two")]).fit(X, y)
        edited = monotonize(model, "number", -1)
        result = run(to_sql(edited, "samples"), X).iloc[:, 0]
        predict = "decision_function" if hasattr(edited, "classes_") else "predict"
        np.testing.assert_allclose(result, getattr(edited, predict)(X), rtol=1e-9, atol=1e-9)
        assert np.abs(result - getattr(model, predict)(X)).max() > 0.1

    def test_many_features_do_not_exceed_the_depth_of_expressions(self, run):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 1500))
        frame = pd.DataFrame(X).add_prefix("c")
        model = bb.BaggedLsBoostRegressor(n_estimators=2, n_iterations=2, random_state=0)
        model.fit(frame, X[:, 0])
        assert len(model.shape_functions().terms) > 1100
        result = run(to_sql(model, "samples"), frame)
        np.testing.assert_allclose(result["prediction"], model.predict(frame), rtol=1e-9)

    def test_booleans_are_numbers(self, run):
        frame, y = messy(2)
        frame = frame[["number", "flag"]]
        model = bb.MCBoost(n_iterations=9).fit(frame, y)
        assert "flag" in set(model.rules()["feature"])
        result = run(to_sql(model, "samples"), frame)
        np.testing.assert_allclose(result["score"], model.decision_function(frame), atol=1e-9)

    def test_ties_have_the_same_label(self, run):
        frame = pd.DataFrame({"x0": [0.0, 1.0, 2.0, 3.0]})
        for n_classes in (2, 3):
            model = bb.AdaBoostMH(n_iterations=2).fit(frame, np.arange(4) % n_classes)
            model.coefficients_ = np.full_like(model.coefficients_, 0.1)
            result = run(to_sql(model, "samples"), frame)
            assert (result["label"] == model.predict(frame)).all()


class TestSQLText:
    def test_schema_and_kept_columns_are_quoted(self):
        model = bb.MCBoost(n_iterations=3).fit(*blobs(2))
        query = to_sql(model, "main.my table", keep=['a "key"'])
        assert 'FROM "main"."my table" AS "t"' in query
        assert '"t"."a ""key""" AS "kept_0"' in query
        assert '"kept_0" AS "a ""key"""' in query

    def test_kept_columns_differ_from_outputs(self):
        with pytest.raises(ValueError, match="keep contains 'label', which is the name of an"):
            to_sql(bb.MCBoost(n_iterations=3).fit(*blobs(2)), "samples", keep=["label"])

    def test_other_models_are_rejected(self):
        model = bb.RBoostRank(n_iterations=2, n_projections=5, random_state=0).fit(*blobs(2))
        with pytest.raises(ValueError, match="RBoostRank is not a sum of stumps"):
            to_sql(model, "samples")
        with pytest.raises(ValueError, match="not fitted"):
            to_sql(bb.AdaBoost(), "samples")

    def test_categories_of_other_types_are_rejected(self):
        frame = pd.DataFrame({"kind": pd.Categorical([("a", 1), ("b", 2)] * 20)})
        model = bb.MCBoost(n_iterations=3).fit(frame, [0, 1] * 20)
        with pytest.raises(ValueError, match=r"texts, numbers and booleans .* is a tuple"):
            to_sql(model, "samples")

    def test_constant_models_are_converted(self):
        model = bb.AdaBoostMH().fit(np.ones((4, 2)), [0, 1, 0, 1])
        frame = pd.DataFrame(np.ones((2, 2)), columns=["x0", "x1"])
        assert run_sqlite(to_sql(model, "samples"), frame)["label"].tolist() == [0, 0]
