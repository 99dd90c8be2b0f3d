import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from boostbench.algorithms import (
    AdaBoost,
    BaggedBooster,
    BaggedLsBoostRegressor,
    BaggedMCBoost,
    LsBoostRegressor,
    MCBoost,
    RBoostRank,
)
from boostbench.inspection import (
    ImportanceDisplay,
    PairDisplay,
    ShapeFunctionDisplay,
    StagedErrorDisplay,
)
from tests.algorithms.problems import messy

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _use_agg():
    with pyplot.rc_context():
        pyplot.switch_backend("agg")
        yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.fixture(scope="module")
def model(iris):
    return MCBoost(n_iterations=40).fit(*iris)


@pytest.mark.parametrize(
    "bag",
    [
        BaggedBooster(MCBoost(n_iterations=20), n_estimators=2, random_state=0),
        BaggedMCBoost(n_iterations=20, n_estimators=2, random_state=0),
    ],
    ids=["BaggedBooster", "BaggedMCBoost"],
)
def test_bags_are_drawn_as_one_model(bag, iris):
    X, y = iris
    bag.fit(X, y)
    display = ShapeFunctionDisplay.from_estimator(bag, X)
    assert [len(lines) for lines in display.lines_] == [3] * len(display.lines_)
    assert 0 < len(display.lines_) <= 4
    display = ImportanceDisplay.from_estimator(bag)
    widths = sorted(bar.get_width() for bar in display.bars_)
    importances = np.sort(bag.feature_importances_)
    np.testing.assert_allclose(widths, importances[importances > 0])
    with pytest.raises(ValueError, match=f"{type(bag).__name__} keeps no stages"):
        StagedErrorDisplay.from_estimator(bag, X, y)


class TestShapeFunctions:
    @pytest.mark.parametrize("n_stds", [1.0, 2.0])
    def test_bands_are_standard_deviations_around_the_curves(self, iris, n_stds):
        X, y = iris
        bag = BaggedMCBoost(n_iterations=20, random_state=0).fit(X, y)
        display = ShapeFunctionDisplay.from_estimator(bag, X, features=[2, 3], n_stds=n_stds)
        terms, std = bag.shape_functions(X).explain_local(X, return_std=True)
        for bands, feature in zip(display.bands_, [2, 3], strict=True):
            values = X.iloc[:, feature].to_numpy()
            for label, band in zip(bag.classes_, bands, strict=True):
                top, edges, bottom = band.get_data()
                steps = np.maximum(edges.searchsorted(values) - 1, 0)
                column = label, X.columns[feature]
                np.testing.assert_allclose((top - bottom)[steps], 2 * n_stds * std[column])
                np.testing.assert_allclose((top + bottom)[steps] / 2, terms[column], atol=1e-9)
        assert not any(ShapeFunctionDisplay.from_estimator(bag, X, n_stds=0).bands_)

    def test_categories_and_missing_values_have_error_bars(self, tmp_path):
        X, y = messy(2)
        bag = BaggedMCBoost(n_iterations=20, random_state=0).fit(X, y)
        display = ShapeFunctionDisplay.from_estimator(bag, X, features=["words", "with holes"])
        assert display.lines_[0][0].errorbar is not None
        assert len(display.axes_[1].containers) == 1
        display.figure_.savefig(tmp_path / "functions.png")

    def test_curves_equal_the_shape_functions(self, model, iris):
        X, _ = iris
        display = ShapeFunctionDisplay.from_estimator(model, X)
        shapes = model.shape_functions(X)
        order = [f for f in np.argsort(-shapes.importances) if shapes.importances[f] > 0]
        assert [ax.get_xlabel() for ax in display.axes_] == [X.columns[f] for f in order]
        for ax, curves, feature in zip(display.axes_, display.lines_, order, strict=True):
            terms = shapes.explain_local(X)
            values = X.iloc[:, feature].to_numpy()
            for label, curve in zip(model.classes_, curves, strict=True):
                steps = curve.get_data()
                assert (steps.edges[0], steps.edges[-1]) == (values.min(), values.max())
                # A sample on a threshold belongs to the step at its left.
                step_of_sample = np.maximum(steps.edges.searchsorted(values) - 1, 0)
                np.testing.assert_allclose(
                    steps.values[step_of_sample], terms[label][X.columns[feature]]
                )
            low, high = ax.get_xlim()
            assert low <= values.min() < values.max() <= high
        assert [text.get_text() for text in display.figure_.legends[0].get_texts()] == list(
            model.classes_
        )

    def test_two_classes_have_one_curve(self):
        X, y = load_breast_cancer(return_X_y=True)
        display = ShapeFunctionDisplay.from_estimator(AdaBoost(n_iterations=20).fit(X, y), X)
        assert {len(curves) for curves in display.lines_} == {1}
        assert len(display.axes_) == 6
        assert not display.figure_.legends

    def test_features_by_index_or_name(self, model, iris):
        X, _ = iris
        for features in ([3, 0], ["petal width (cm)", 0], "petal width (cm)"):
            display = ShapeFunctionDisplay.from_estimator(model, X, features=features, n_columns=1)
            expected = [X.columns[3], X.columns[0]] if isinstance(features, list) else [features]
            assert [ax.get_xlabel() for ax in display.axes_] == expected
        display = ShapeFunctionDisplay.from_estimator(model, X, features=np.int64(2))
        assert len(display.axes_) == 2
        for features in ("colour", ["colour"]):
            with pytest.raises(ValueError, match="'colour'"):
                ShapeFunctionDisplay.from_estimator(model, X, features=features)
        with pytest.raises(ValueError, match="number of features must be 0 or more, got -1"):
            ShapeFunctionDisplay.from_estimator(model, X, features=-1)

    def test_a_feature_that_is_not_in_use_is_flat(self, iris):
        X, y = iris
        model = MCBoost(n_iterations=1).fit(X, y)
        display = ShapeFunctionDisplay.from_estimator(model, X, features=[0])
        assert all((curve.get_data().values == 0).all() for curve in display.lines_[0])

    def test_rejects_other_models(self, iris):
        model = RBoostRank(n_iterations=3, n_projections=10, random_state=0).fit(*iris)
        with pytest.raises(ValueError, match="RBoostRank is not a sum of stumps"):
            ShapeFunctionDisplay.from_estimator(model, iris[0])


@pytest.mark.parametrize("display", [ShapeFunctionDisplay, PairDisplay])
def test_pipeline_error_names_the_step_to_pass(display, iris):
    pipeline = make_pipeline(StandardScaler(), MCBoost(n_iterations=2)).fit(*iris)
    with pytest.raises(ValueError, match=r"Pipeline is not a sum of stumps; pass .* model\[-1\]"):
        display.from_estimator(pipeline, iris[0])


def test_regressor_label_names_the_prediction(iris):
    X, _ = iris
    model = BaggedLsBoostRegressor(interactions=1, n_estimators=2, random_state=0)
    model.fit(X.iloc[:, :2], X.iloc[:, 0] * X.iloc[:, 1])
    functions = ShapeFunctionDisplay.from_estimator(model, X.iloc[:, :2])
    assert functions.axes_[0].get_ylabel() == "Added to the prediction"
    pairs = PairDisplay.from_estimator(model)
    assert pairs.meshes_[0].colorbar.ax.get_ylabel() == "Added to the prediction"


class TestImportances:
    def test_bars_show_the_largest_importances(self, model, iris):
        display = ImportanceDisplay.from_estimator(model, n_features=2)
        largest = np.argsort(model.feature_importances_)[-2:]
        widths = [bar.get_width() for bar in display.bars_]
        np.testing.assert_allclose(widths, model.feature_importances_[largest])
        labels = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert labels == list(iris[0].columns[largest])
        with pytest.raises(ValueError, match="number of features must be 0 or more, got -1"):
            ImportanceDisplay.from_estimator(model, n_features=-1)

    def test_importances_of_any_estimator(self):
        X, y = load_breast_cancer(return_X_y=True)
        display = ImportanceDisplay.from_estimator(AdaBoostClassifier(n_estimators=5).fit(X, y))
        assert 0 < len(display.bars_) <= 5
        assert display.ax_.get_yticklabels()[0].get_text().startswith("x")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"height": rng.normal(size=300), "kind": rng.choice(["a", "b", "c"], 300)})
    X["width"] = np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300))
    turn = X["kind"].map({"a": 1, "b": -1, "c": 0})
    score = turn * X["height"] + X["height"] * X["width"].fillna(0)
    return X, np.digitize(score, [-0.3, 0.3])


class TestPairs:
    @pytest.mark.parametrize("output", [None, 0])
    def test_heat_maps_equal_the_tables(self, table, output):
        X, y = table
        model = BaggedMCBoost(interactions=2, n_estimators=4, random_state=0).fit(X, y)
        display = PairDisplay.from_estimator(model, output=output, n_columns=2)
        index = 2 if output is None else output
        importances = model.shape_functions().pair_importances
        pairs = [model.pairs_[number] for number in np.argsort(-importances)]
        assert len(display.axes_) == len(pairs) == 2
        for ax, mesh, pair in zip(display.axes_, display.meshes_, pairs, strict=True):
            shown = np.asarray(mesh.get_array()).reshape(pair.table.shape[1::-1])
            np.testing.assert_allclose(shown, pair.table[..., index].T)
            names = [X.columns[axis.feature] for axis in pair.axes]
            assert [ax.get_xlabel(), ax.get_ylabel()] == names
            marks = [[t.get_text() for t in one.get_ticklabels()] for one in (ax.xaxis, ax.yaxis)]
            for axis, texts in zip(pair.axes, marks, strict=True):
                if axis.thresholds is None:
                    assert texts == ["a", "b", "c"]
                assert ("missing" in texts) == axis.has_missing
        largest = max(np.abs(mesh.get_array()).max() for mesh in display.meshes_)
        assert display.meshes_[0].get_clim() == pytest.approx((-largest, largest))

    def test_invalid_arguments(self, table, model):
        X, y = table
        with pytest.raises(ValueError, match="has no pairs of features: set interactions"):
            PairDisplay.from_estimator(model)
        bag = BaggedMCBoost(interactions=1, n_estimators=2, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match="no score of 'red'"):
            PairDisplay.from_estimator(bag, output="red")
        with pytest.raises(ValueError, match="n_pairs must be 1 or more, got 0"):
            PairDisplay.from_estimator(bag, n_pairs=0)


class TestStagedErrors:
    def test_curve_equals_the_staged_errors(self, model, iris):
        X, y = iris
        display = StagedErrorDisplay.from_estimator(model, X, y, color="k")
        rounds, errors = display.line_.get_data()
        assert list(rounds) == list(range(1, model.n_iterations_ + 1))
        np.testing.assert_allclose(errors, [np.mean(p != y) for p in model.staged_predict(X)])
        assert display.line_.get_color() == "k"

    def test_regressor_curve_equals_the_mean_squared_error(self):
        X, y = load_diabetes(return_X_y=True)
        model = LsBoostRegressor(n_iterations=9).fit(X, y)
        display = StagedErrorDisplay.from_estimator(model, X, y)
        assert len(display.errors) == 9
        assert display.errors[-1] == pytest.approx(np.mean((model.predict(X) - y) ** 2))
        assert display.ax_.get_ylabel() == "Mean squared error"

    def test_rejects_labels_of_another_length(self, model, iris):
        X, y = iris
        column = StagedErrorDisplay.from_estimator(model, X, pd.Series(y).to_frame())
        plain = StagedErrorDisplay.from_estimator(model, X, y)
        np.testing.assert_array_equal(column.errors, plain.errors)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            StagedErrorDisplay.from_estimator(model, X, y[:1])

    def test_curves_share_axes(self, model, iris):
        X, y = iris
        first = StagedErrorDisplay.from_estimator(model, X, pd.Series(y), name="a")
        second = StagedErrorDisplay.from_estimator(model, X[::2], y[::2], name="b", ax=first.ax_)
        assert first.figure_ is second.figure_
        assert [t.get_text() for t in first.ax_.get_legend().get_texts()] == ["a", "b"]

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize(("name", "has_legend"), [(None, False), ("a", True)])
    def test_curve_without_a_name_has_no_legend(self, name, has_legend):
        display = StagedErrorDisplay(errors=np.array([0.5, 0.25]), name=name).plot()
        assert (display.ax_.get_legend() is not None) == has_legend


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_scikit_learn_draws_boundaries(iris, n_classes, method):
    if n_classes > 2 and parse_version(sklearn.__version__) < parse_version("1.7"):
        pytest.skip("scikit-learn draws all classes at once since 1.7")
    X, y = iris[0].iloc[: 50 * n_classes, 1:3], iris[1][: 50 * n_classes]
    model = MCBoost(n_iterations=5).fit(X, y)
    display = DecisionBoundaryDisplay.from_estimator(
        model, X, response_method=method, grid_resolution=5
    )
    assert np.isfinite(np.asarray(display.response, float)).all()


def test_missing_matplotlib_is_reported_in_one_line(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"^displays need matplotlib; .*pip install matplotlib'$"):
        ImportanceDisplay.from_estimator(model)
