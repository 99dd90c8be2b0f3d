"""Edited models: their scores are the sums of the functions that they show."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

import boostbench as bb
from boostbench.inspection import (
    EditedClassifier,
    EditedRegressor,
    export_html,
    export_text,
    monotonize,
    with_shape,
)
from tests.algorithms.models import SUMS, pair_with_classes
from tests.algorithms.problems import blobs, messy

CASES = pair_with_classes(SUMS)
TABLES = {
    "AdaBoostMH": bb.AdaBoostMH(n_iterations=30),
    "MCBoost": bb.MCBoost(n_iterations=30),
    "LsBoost, sets": bb.LsBoost(n_iterations=30, category_sets=True),
    "bag": bb.BaggedMCBoost(n_estimators=5, random_state=0),
    "bag, pairs": bb.BaggedMCBoost(n_estimators=5, interactions=3, random_state=0),
    "bag of boosters": bb.BaggedBooster(n_estimators=2, random_state=0),
    "regressor": bb.LsBoostRegressor(n_iterations=30),
    "bagged regressor": bb.BaggedLsBoostRegressor(n_estimators=5, interactions=2, random_state=0),
}

ONE_SCORE = ("LsBoost, sets", "regressor", "bagged regressor")


def scores(model, X):
    """Return scores of shape (n_samples, n_outputs)."""
    values = model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)
    return values.reshape(len(X), -1)


def close(actual, expected):
    np.testing.assert_allclose(
        actual, expected, rtol=1e-12, atol=1e-12 * (1 + np.abs(expected).max())
    )


def term_values(model, X, feature, centre=None):
    """Return the contribution of a feature to the scores, of shape (n_samples, n_outputs)."""
    shapes = model.shape_functions(centre)
    terms = shapes.explain_local(X).to_numpy().reshape(len(X), len(shapes.outputs), -1)
    return terms[:, :, 1 + feature]


def check_sum(model, X):
    """Check that the scores are the sum of the shown functions."""
    shown = model.shape_functions().explain_local(X).to_numpy()
    expected = scores(model, X)
    close(shown.reshape(*expected.shape, -1).sum(axis=2), expected)
    if hasattr(model, "classes_") and len(model.classes_) > 2:
        assert (model.predict(X) == model.classes_[expected.argmax(axis=1)]).all()


def fit_table(name, n_classes=2):
    X, y = messy(n_classes)
    model = clone(TABLES[name])
    if hasattr(model, "predict_proba"):
        return model.fit(X, y), X
    return model.fit(X, 100.0 * y + X["number"]), X


@pytest.mark.parametrize(("model", "n_classes"), CASES.values(), ids=CASES.keys())
def test_scores_change_by_the_change_of_the_function(model, n_classes):
    X, y = blobs(n_classes, n_samples=90)
    model = clone(model).set_params(n_iterations=20).fit(X, np.array(["bee", "ant", "cat"])[y])
    feature = int(model.feature_importances_.argmax())
    edited = with_shape(model, feature, lambda x: _effects(x, model))
    close(
        scores(edited, X) - term_values(edited, X, feature),
        scores(model, X) - term_values(model, X, feature),
    )
    check_sum(edited, X)
    assert isinstance(edited, EditedClassifier)


def _effects(x, model):
    """Return contributions that differ between the classes."""
    n_outputs = 1 if len(model.classes_) == 2 else len(model.classes_)
    effects = np.outer(np.nan_to_num(x), np.linspace(-1, 1, n_outputs) if n_outputs > 1 else [0.5])
    return effects


@pytest.mark.parametrize(
    ("name", "n_classes"),
    [(name, n) for name in TABLES for n in (2, 3) if n == 2 or name not in ONE_SCORE],
)
def test_every_feature_of_a_table_can_be_edited(name, n_classes):
    model, X = fit_table(name, n_classes)
    rng = np.random.default_rng(0)
    new = pd.concat([X, X.sample(frac=1.0, random_state=0)], ignore_index=True)
    new.loc[::7, "number"] = np.nan
    new.loc[::5, "two"] = None
    new.loc[::11, "words"] = "unknown"
    table = model.shape_functions(X).explain_global()
    for index, feature in enumerate(X.columns):
        is_row = table["feature"] == feature
        if not is_row.any():
            continue
        values = rng.normal(size=(is_row.sum(), len(model.shape_functions().outputs)))
        changed = table.copy()
        changed.loc[is_row, changed.columns[-values.shape[1] :]] = values
        edited = with_shape(model, feature, changed, X)
        check_sum(edited, new)
        close(
            scores(edited, new) - term_values(edited, new, index),
            scores(model, new) - term_values(model, new, index, X),
        )
        # The shown function is the given one.
        shown = edited.shape_functions().explain_global()
        columns = shown.columns[-values.shape[1] :]
        np.testing.assert_array_equal(shown.loc[shown["feature"] == feature, columns], values)
        by_array = with_shape(model, index, values, X)
        np.testing.assert_array_equal(scores(by_array, new), scores(edited, new))


@pytest.mark.parametrize("name", TABLES)
def test_an_unchanged_table_changes_nothing(name):
    model, X = fit_table(name)
    edited = model
    for feature in X.columns[model.feature_importances_ > 0]:
        edited = with_shape(edited, feature, edited.shape_functions(X).explain_global(), X)
    close(scores(edited, X), scores(model, X))
    np.testing.assert_allclose(edited.feature_importances_, model.feature_importances_, atol=1e-12)
    assert isinstance(edited, EditedClassifier if hasattr(model, "classes_") else EditedRegressor)


@pytest.mark.parametrize("name", ["MCBoost", "LsBoost, sets", "bag, pairs", "bagged regressor"])
def test_exports_follow_the_edit(name, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    from boostbench.conversion import to_onnx

    model, X = fit_table(name)
    edited = with_shape(model, "words", [5.0, -5.0, 0.0, 1.0, 2.0])
    edited = with_shape(edited, "number", np.tanh, X)
    converted = to_onnx(edited, float).SerializeToString()
    session = runtime.InferenceSession(converted, providers=["CPUExecutionProvider"])
    result = session.run(None, {"X": edited.shape_functions().numbers(X)})[-1]
    close(result.reshape(len(X), -1), scores(edited, X))
    export_html(edited, X, tmp_path / "model.html")
    page = (tmp_path / "model.html").read_text(encoding="utf-8")
    pattern = r'>ash <small>.*?<td class="number[^"]*"><div>([^ <]*)'
    shown = re.search(pattern, page, re.DOTALL).group(1)
    ash = edited.shape_functions(X).term(X.columns.get_loc("words")).values[0, 0]
    assert float(shown) == pytest.approx(ash, rel=0.06)
    assert "words, importance" in export_text(edited, max_terms=9)
    if not len(edited.pairs_):
        rules = edited.rules()
        assert len(rules) == len(edited.stump_sum().stumps) + 1
    again = pickle.loads(pickle.dumps(edited))
    np.testing.assert_array_equal(scores(again, X), scores(edited, X))


def test_treelite_follows_the_edit():
    treelite = pytest.importorskip("treelite")
    from boostbench.conversion import to_treelite

    X, y = blobs(3)
    model = bb.MCBoost(n_iterations=20).fit(X, y)
    edited = with_shape(model, 0, lambda x: _effects(x, model))
    shares = treelite.gtil.predict(to_treelite(edited), X.astype(np.float64))
    np.testing.assert_allclose(shares.reshape(len(X), 3), edited.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("name", ["AdaBoostMH", "bag", "bagged regressor"])
def test_importances_are_mean_absolute_terms_over_the_training_rows(name):
    model, X = fit_table(name)
    edited = with_shape(model, "number", lambda x: np.where(x > 0, 3.0, -1.0))
    shapes = edited.shape_functions(X)
    sizes = shapes.explain_local(X)[list(X.columns)].abs().mean().to_numpy()
    np.testing.assert_allclose(edited.feature_importances_, sizes / sizes.sum(), atol=1e-9)


@pytest.mark.parametrize("name", ["bag", "regressor"])
def test_new_steps_need_samples(name):
    model, X = fit_table(name)
    table = pd.DataFrame(
        {"left": [-np.inf, 0.123], "right": [0.123, np.inf], "category": None, "effect": [1.0, 2.0]}
    )
    with pytest.raises(ValueError, match="'number' has new steps: pass X"):
        with_shape(model, "number", table)
    edited = with_shape(model, "number", table[::-1], X)
    check_sum(edited, X)
    added = term_values(edited, X, 0)[:, 0]
    np.testing.assert_array_equal(added, np.where(X["number"] > 0.123, 2.0, 1.0))
    terms = edited.shape_functions(X).explain_local(X)
    sizes = terms[list(X.columns)].abs().mean().to_numpy()
    assert edited.feature_importances_[0] == pytest.approx(sizes[0] / sizes.sum(), rel=0.05)


def test_a_feature_that_was_not_in_use_gets_a_function():
    X, y = blobs(2)
    X = np.column_stack([X, np.ones(len(X))])
    model = bb.AdaBoost(n_iterations=5).fit(X, y)
    table = pd.DataFrame({"left": [-np.inf, 2.0], "right": [2.0, np.inf], "1": [0.0, 1.0]})
    edited = with_shape(model, 4, table, X)
    check_sum(edited, X)
    X[:, 4] = 3.0
    close(scores(edited, X), scores(model, X) + 1.0)
    with pytest.raises(ValueError, match="not in use has no steps"):
        with_shape(model, 4, np.sin, X)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("feature", ["number", "with holes", "count"])
@pytest.mark.parametrize("name", ["AdaBoostMH", "bag", "regressor"])
def test_monotonic_functions_are_isotonic_regressions_over_the_samples(name, feature, direction):
    model, X = fit_table(name)
    edited = monotonize(model, feature, direction)
    index = X.columns.get_loc(feature)
    before, after = (term_values(each, X, index)[:, 0] for each in (model, edited))
    is_present = X[feature].notna().to_numpy()
    x = X[feature].to_numpy(float)
    isotonic = IsotonicRegression(increasing=direction > 0)
    expected = isotonic.fit_transform(x[is_present], before[is_present])
    close(after[is_present], expected)
    np.testing.assert_allclose(after[~is_present], before[~is_present], atol=1e-12)
    check_sum(edited, X)
    assert (direction * np.diff(edited.shape_functions().term(index).values[:, 0]) >= 0).all()


def test_edited_functions_have_no_deviation_and_merged_steps_have_one():
    model, X = fit_table("bag")
    edited = with_shape(model, "words", np.zeros(5))
    std = edited.shape_functions(X).explain_local(X, return_std=True)[1]
    assert (std["words"] == 0).all()
    before = model.shape_functions(X).explain_local(X, return_std=True)[1]
    np.testing.assert_allclose(std["number"], before["number"])
    assert edited.predict_proba(X, return_std=True)[1].shape == (len(X), 2)
    constant = monotonize(monotonize(model, "number", 1), "number", -1)
    std = constant.shape_functions().explain_local(X, return_std=True)[1]["number"]
    # The mean of a function that has the mean 0 has no deviation.
    assert std.max() < 0.01 * before["number"].max()
    rising = monotonize(model, "number", 1).shape_functions(X).explain_local(X, return_std=True)[1]
    assert 0.5 < rising["number"].mean() / before["number"].mean() <= 1.001


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda m, X: with_shape(m, "colour", [1.0]), "no feature 'colour'"),
        (lambda m, X: with_shape(m, 99, [1.0]), "no feature 99"),
        (lambda m, X: with_shape(m, "words", [1.0]), r"must have the shape \(5, 1\) or \(5,\)"),
        (lambda m, X: with_shape(m, "words", [np.nan] * 5), "contributions that are not finite"),
        (lambda m, X: with_shape(m, "words", pd.DataFrame({"a": [1]})), "needs the column 'cat"),
        (
            lambda m, X: with_shape(m, "words", pd.DataFrame({"category": ["ash"], "a": [1.0]})),
            "one row for each of the categories ash, elm, fir, oak",
        ),
        (
            lambda m, X: with_shape(
                m, "number", pd.DataFrame({"left": [0.0], "right": [np.inf], "a": [1.0]})
            ),
            "must be consecutive, from -inf to inf",
        ),
        (
            lambda m, X: with_shape(
                m, "two", m.shape_functions().explain_global().query("feature == 'words'")
            ),
            "no rows of the feature 'two'",
        ),
        (lambda m, X: monotonize(m, "words", 1), "'words' is categorical"),
        (lambda m, X: monotonize(m, "number", 0), "direction must be 1"),
        (lambda m, X: EditedClassifier().fit(X, X["two"]), "cannot be fitted"),
    ],
)
def test_impossible_edits_are_named(edit, message):
    model, X = fit_table("AdaBoostMH")
    with pytest.raises((ValueError, NotImplementedError), match=message):
        edit(model, X)


def test_monotonize_refuses_classes_pairs_and_other_models():
    model, _ = fit_table("AdaBoostMH", 3)
    with pytest.raises(ValueError, match="the model has 3 classes"):
        monotonize(model, "number", 1)
    model, X = fit_table("bag, pairs")
    paired = X.columns[model.pairs_[0].axes[0].feature]
    if paired in ("words", "ordered", "two"):
        paired = X.columns[model.pairs_[0].axes[1].feature]
    with pytest.raises(ValueError, match=r"in a pair|is categorical"):
        monotonize(model, paired, 1)
    X, y = blobs(2)
    with pytest.raises(ValueError, match="RBoostRank"):
        with_shape(bb.RBoostRank(n_iterations=2, random_state=0).fit(X, y), 0, np.sin)
