import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boostbench import FourierFeaturesSVC, MCBoost
from boostbench.algorithms.base.categories import convert_to_pandas
from boostbench.inspection import export_html

WORDS = ["v", "u", None, "w"] * 25
NUMBERS = np.arange(100) * 7 % 31 - 10.0
COLUMNS = {
    "word": WORDS,
    "number": NUMBERS,
    "count": [None if i % 5 == 0 else i % 7 for i in range(100)],
    "flag": NUMBERS > 5,
}
PANDAS = pd.DataFrame(COLUMNS)
Y = (PANDAS["word"] == "u").to_numpy() ^ (NUMBERS > 0)


@pytest.fixture(params=["Categorical", "Enum", "String", "pyarrow"])
def frame(request):
    """Make the same table for polars, with words of each type, and for pyarrow."""
    if request.param == "pyarrow":
        pyarrow = pytest.importorskip("pyarrow")
        words = pyarrow.array(WORDS).dictionary_encode()
        return pyarrow.table({**COLUMNS, "word": words})
    polars = pytest.importorskip("polars")
    kinds = {
        "Categorical": polars.Categorical,
        "Enum": polars.Enum(["u", "v", "w"]),
        "String": polars.String,
    }
    return polars.DataFrame(COLUMNS, schema_overrides={"word": kinds[request.param]})


@pytest.mark.parametrize("features", ["from_dtype", ["word"], [0]])
def test_models_of_all_data_frames_are_equal(frame, features):
    of_pandas, model = (
        MCBoost(n_iterations=10, categorical_features=features).fit(X, Y) for X in (PANDAS, frame)
    )
    assert {feature: values.tolist() for feature, values in model.categories_.items()} == {
        0: ["u", "v", "w"]
    }
    assert model.feature_names_in_.tolist() == list(COLUMNS)
    expected = of_pandas.decision_function(PANDAS)
    for fitted in (of_pandas, model):
        for X in (PANDAS, frame):
            np.testing.assert_array_equal(fitted.decision_function(X), expected)


def test_weights_and_validation_samples(frame):
    weights = np.arange(100) % 3
    options = {"sample_weight": weights, "X_val": frame, "y_val": Y}
    model = MCBoost(n_iterations=10, n_iter_no_change=2).fit(frame, Y, **options)
    expected = MCBoost(n_iterations=10, n_iter_no_change=2)
    expected.fit(PANDAS, Y, **options | {"X_val": PANDAS})
    np.testing.assert_array_equal(
        model.decision_function(frame), expected.decision_function(PANDAS)
    )


def test_enumeration_keeps_its_order():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"word": ["a", "b", None]}, schema={"word": polars.Enum(["b", "a"])})
    assert convert_to_pandas(frame)["word"].cat.categories.tolist() == ["b", "a"]


def test_html_page_of_a_model(frame, tmp_path):
    pages = []
    for X in (frame, PANDAS):
        export_html(MCBoost(n_iterations=5).fit(X, Y), X, tmp_path / "model.html")
        pages.append((tmp_path / "model.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1]


def test_pipeline_with_polars_output():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(COLUMNS, schema_overrides={"word": polars.Categorical})
    scaler = make_column_transformer((StandardScaler(), ["number"]), remainder="passthrough")
    pipeline = make_pipeline(scaler, MCBoost(n_iterations=20)).set_output(transform="polars")
    assert cross_val_score(pipeline, frame, NUMBERS > 0, cv=2).tolist() == [1, 1]
    model = pipeline.fit(frame, Y)[-1]
    assert model.feature_names_in_[list(model.categories_)].tolist() == ["remainder__word"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([["u"], ["v"]] * 50, "column 'x' holds no categories"),
        ([{"a": 1}] * 100, "column 'x' holds no categories"),
        (["1,200", "900"] * 50, "column 'x' holds numbers as text"),
        (pd.date_range("2020-01-01", periods=100).to_list(), "column 'x' holds dates"),
    ],
)
def test_rejected_columns(values, message):
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match=message):
        MCBoost(n_iterations=2).fit(polars.DataFrame({"x": values}), Y)


def test_numeric_classifiers_reject_words(frame):
    with pytest.raises(ValueError, match="column 'word' holds categories, and FourierFeaturesSVC"):
        FourierFeaturesSVC().fit(frame, Y)
