"""Test boosters of stumps on tables with missing values and categories."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

import boostbench as bb
from boostbench import reweight
from boostbench.algorithms.base.observers import stratified_holdout
from boostbench.inspection import export_text

from .models import BINARY, CASES
from .problems import messy

MODELS = {
    name: model for name, model in CASES.items() if model.__sklearn_tags__().input_tags.allow_nan
} | {
    "BaggedMCBoost": bb.BaggedMCBoost(n_iterations=20, n_estimators=3, random_state=0),
    "BaggedBooster": bb.BaggedBooster(bb.MCBoost(n_iterations=12), n_estimators=2, random_state=0),
    "AdaBoost, sets": bb.AdaBoost(n_iterations=12, category_sets=True),
    "MCBoost, sets": bb.MCBoost(n_iterations=12, category_sets=True),
    "LsBoost, sets": bb.LsBoost(n_iterations=12, category_sets=True),
}
PAIRS = {
    "BaggedMCBoost, pairs": bb.BaggedMCBoost(
        n_iterations=20, n_estimators=3, interactions=3, random_state=0
    )
}
TREES = ("trees", "LADDER", "Codeword")
SUMS = {name: model for name, model in MODELS.items() if not any(word in name for word in TREES)}


def problem(model):
    return messy(2 if isinstance(model, BINARY) else 3, n_samples=200)


def encode_by_hand(X):
    """Return the table as numbers."""
    X = X.copy()
    for name in ("words", "ordered", "two"):
        X[name] = pd.factorize(X[name], sort=True)[0]
        X[name] = X[name].replace(-1, np.nan)
    return X.to_numpy(dtype=float)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_data_frame_equals_encoded_table(name):
    model = MODELS[name]
    X, y = problem(model)
    train, test = slice(150), slice(150, None)
    fitted = clone(model).fit(X[train], y[train])
    assert fitted.score(X[test], y[test]) > 0.5
    numbers = clone(model)
    if isinstance(model, bb.BaggedBooster):
        numbers.set_params(estimator__categorical_features=[2, 3, 4])
    else:
        numbers.set_params(categorical_features=[2, 3, 4])
    numbers.fit(encode_by_hand(X)[train], y[train])
    scores = fitted.decision_function(X[test])
    np.testing.assert_array_equal(scores, numbers.decision_function(encode_by_hand(X)[test]))
    new = X[test].assign(words="unheard", ordered=99)
    missing = X[test].assign(words=None, ordered=np.nan)
    scores = fitted.decision_function(new)
    np.testing.assert_array_equal(scores, fitted.decision_function(missing))
    np.testing.assert_array_equal(
        scores, pickle.loads(pickle.dumps(fitted)).decision_function(missing)
    )


@pytest.mark.parametrize("name", MODELS | PAIRS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_order_of_unordered_categories_does_not_matter(name):
    model = (MODELS | PAIRS)[name]
    X, y = problem(model)
    names = ["ash", "elm", "fir", "oak"]
    orders = [names, names[::-1], ["fir", "ash", "oak", "elm"], ["unused", *names[::2], *names]]
    scores = [
        clone(model)
        .fit(X.assign(words=pd.Categorical(X["words"], categories=dict.fromkeys(order))), y)
        .decision_function(X)
        for order in orders
    ]
    for permuted in scores[1:]:
        np.testing.assert_array_equal(permuted, scores[0])


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_explanations_add_up_to_the_scores(name):
    model = SUMS[name]
    X, y = problem(model)
    model = clone(model).fit(X, y)
    new = X.sample(80, random_state=1).assign(words=X["words"].iloc[:80].to_numpy())
    new.loc[new.index[:20], ["number", "count"]] = np.nan
    scores = model.decision_function(new).reshape(len(new), -1)
    shapes = model.shape_functions(X)
    # The two sums have different orders; scores of exactly 0 have no relative error.
    rounding = len(shapes.explain_global()) * np.finfo(float).eps * np.abs(scores).max()
    np.testing.assert_allclose(
        shapes.decision_function(new).reshape(scores.shape), scores, atol=rounding
    )
    terms = shapes.explain_local(new).to_numpy().reshape(*scores.shape, -1)
    np.testing.assert_allclose(terms.sum(axis=2), scores, atol=1e-9)
    table = shapes.explain_global()
    words = table[table["feature"] == "words"]
    if len(words):
        assert words["category"].tolist() == ["ash", "elm", "fir", "oak", None]
    assert model.feature_importances_.sum() == pytest.approx(1)
    columns = shapes.numbers(new).T
    total = shapes.intercept + sum(term.lookup(columns[term.feature]) for term in shapes.terms)
    np.testing.assert_allclose(total, scores, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_explanation_of_a_constant_model_has_all_columns():
    X, y = pd.DataFrame({"c": list("abab")}), [0, 0, 1, 1]
    table = bb.AdaBoost().fit(X, y).shape_functions().explain_global()
    assert table.columns.tolist() == ["feature", "left", "right", "category", 1]
    assert table.empty


def is_satisfied(test, X):
    """Return True for the values that satisfy a test of `rules`."""
    if test == "never":
        return np.zeros(len(X), bool)
    if test.endswith(" is missing"):
        return X[test.removesuffix(" is missing")].isna().to_numpy()
    if " = " in test:
        name, _, words = test.partition(" = ")
        categories = words.replace(" or ", ", ").split(", ")
        values = X[name].astype(object).where(X[name].notna(), "missing")
        return np.array([str(value) in categories for value in values])
    name, _, end = test.partition(" > ")
    side = end.endswith(" or missing")
    column = X[name].to_numpy(dtype=float)
    return np.where(np.isnan(column), side, column > float(end.removesuffix(" or missing")))


def check_rules(model, X):
    """Check that the rules sum to the model, and return them."""
    rules = model.rules()
    votes = rules.iloc[:, 4:].to_numpy(dtype=float)
    start = rules["round"] == 0
    sides = [np.where(is_satisfied(test, X), 1.0, -1.0) for test in rules["test"][~start]]
    scores = model.decision_function(X).reshape(len(X), -1)
    total = votes[start].sum(axis=0) + np.transpose(sides) @ votes[~start]
    np.testing.assert_allclose(total, scores, atol=1e-9)
    return rules[~start]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rules_and_text_equal_the_model(n_classes):
    X, y = messy(n_classes)
    # Values are rounded, so that thresholds are printed in full.
    X = X.round({"number": 1, "with holes": 1})
    model = bb.AdaBoostMH(n_iterations=60).fit(X, y)
    rules = check_rules(model, X)
    assert rules["test"].str.endswith(" or missing").any()
    assert rules["threshold"].isna().sum() == rules["test"].str.contains(" = | is ").sum()
    assert "words = elm: " in export_text(model)
    text = export_text(model, max_terms=7)
    assert "\n  elm: " in text
    assert "\n  missing: " in text


SETS = {name: model for name, model in MODELS.items() if "sets" in name}


@pytest.mark.parametrize("name", SETS)
def test_rules_of_category_sets_equal_the_model(name):
    X, y = problem(SETS[name])
    X = X.round({"number": 1, "with holes": 1})
    model = clone(SETS[name]).set_params(n_iterations=60).fit(X, y)
    rules = check_rules(model, X)
    is_set = rules["test"].str.contains(" = .* or ")
    assert is_set.any()
    assert rules["threshold"][is_set].isna().all()
    assert rules["test"][is_set].iloc[0] in export_text(model)
    # The expansion has at most as many stumps as categories, for any number of sets.
    apart = model.stump_sum().expand_category_sets(model.views_)
    of_words = np.isin(model.views_.feature[apart.stumps.feature], list(model.categories_))
    assert of_words.sum() <= len(model.views_.feature) + (~is_set).sum()
    votes = apart.coefficients.reshape(len(apart.stumps), -1)[of_words]
    assert np.isfinite(votes).all()


@pytest.mark.parametrize("name", SETS)
def test_rounds_with_category_sets_decrease_the_loss(name):
    """The best set decreases the loss most; stages and early stopping use the same sets."""
    X, y = problem(SETS[name])
    model = clone(SETS[name]).fit(X, y)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X))
    stopped = clone(model).set_params(n_iter_no_change=3).fit(X[:150], y[:150], X_val=X, y_val=y)
    loss = log_loss(y, stopped.predict_proba(X))
    assert stopped.validation_losses_.min() == pytest.approx(loss)
    words = X[["words"]]
    single, sets = (
        clone(model).set_params(n_iterations=1, category_sets=category_sets).fit(words, y)
        for category_sets in (False, True)
    )
    assert (
        log_loss(y, sets.predict_proba(words)) <= log_loss(y, single.predict_proba(words)) + 1e-12
    )


def test_importances_depend_on_the_function_only():
    """Different sums of sets may be equal functions, or constant."""
    X, y = messy(2)
    model = bb.AdaBoost(n_iterations=60, category_sets=True).fit(X, y)
    feature = X.columns.get_loc("words")
    values = model.shape_functions().term(feature).table[:, 0]
    without = model.stump_sum().expand_category_sets(model.views_)
    of_words = model.views_.feature[without.stumps.feature] == feature
    votes = (without.stumps.polarity * without.coefficients)[of_words]
    assert 2 * np.abs(votes).sum() == pytest.approx(np.abs(values - np.median(values)).sum())


@pytest.mark.parametrize("model", [bb.AdaBoost(n_iterations=15), bb.MCBoost(n_iterations=15)])
def test_weights_equal_repeated_rows_of_tables(model):
    X, y = messy(2, n_samples=120)
    weights = np.arange(len(y)) % 3
    twice = clone(model).fit(X.loc[X.index.repeat(weights)], np.repeat(y, weights))
    weighted = clone(model).fit(X, y, weights)
    missing = X.assign(number=np.nan, two=None)
    for table in (X, missing):
        np.testing.assert_allclose(
            weighted.decision_function(table), twice.decision_function(table), atol=1e-3
        )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_categories_of_samples_without_weight_are_dropped(name):
    model = MODELS[name]
    X, y = problem(model)
    # The type of this value would change the order of the other categories.
    X = X.assign(words=X["words"].where(X["words"] != "oak", 7))
    weights = np.where(X["words"] == 7, 0.0, 1.0 + np.arange(len(y)) % 3)
    present = weights > 0
    weighted = clone(model).fit(X, y, weights)
    without_sample = clone(model).fit(X[present], y[present], weights[present])
    feature = X.columns.get_loc("words")
    assert weighted.categories_[feature].tolist() == without_sample.categories_[feature].tolist()
    assert 7 not in weighted.categories_[feature]
    np.testing.assert_array_equal(
        weighted.decision_function(X), without_sample.decision_function(X)
    )


def test_categories_of_classes_without_weight_are_dropped():
    X, y = messy(3)
    X["words"] = np.where(y == 2, "yew", X["words"])
    model = bb.MCBoost(n_iterations=5, class_weight={0: 1, 1: 2, 2: 0}).fit(X, y)
    assert "yew" not in model.categories_[X.columns.get_loc("words")]


@pytest.mark.parametrize("kind", [int, str, object])
def test_rarest_categories_have_the_least_weight(kind):
    X, y = np.arange(300).astype(kind)[:, None], np.arange(300) % 2
    weights = np.where(np.arange(300) < 50, 3, 1 + np.arange(300) % 3)
    model = bb.AdaBoost(n_iterations=2, categorical_features=[0])
    weighted = clone(model).fit(X, y, weights).categories_[0].tolist()
    rows = np.repeat(np.arange(300), weights)
    assert weighted == clone(model).fit(X[rows], y[rows]).categories_[0].tolist()
    assert weighted != clone(model).fit(X, y).categories_[0].tolist()


def test_categories_of_held_out_samples_are_dropped():
    X = pd.DataFrame({"c": ["a"] * 20 + ["p"] + ["b"] * 20, "z": np.zeros(41)})
    y = np.repeat([0, 1], [20, 21])
    # Several of these seeds hold out the only sample with category p.
    category_lists = set()
    for seed in range(20):
        model = bb.AdaBoost(n_iterations=5, n_iter_no_change=3, random_state=seed).fit(X, y)
        categories = model.categories_[0].tolist()
        category_lists.add(tuple(categories))
        train, _ = stratified_holdout(y, 0.1, np.random.RandomState(seed))
        assert categories == sorted(set(X["c"][train]))
        # An unknown category counts as missing.
        p, new = model.decision_function(pd.DataFrame({"c": ["p", "new"], "z": 0.0}))
        assert (p == new) or "p" in categories
    assert category_lists == {("a", "b"), ("a", "b", "p")}


def test_numeric_columns_reject_other_types():
    X, y = messy(2)
    model = bb.MCBoost(n_iterations=5).fit(X, y)
    for wrong, message in (
        (pd.Timestamp("2020-01-01"), "column 'number' holds dates or times; make days"),
        (pd.Timedelta("2D"), "column 'number' holds dates or times; make days"),
        ("many", "column 'number' holds 'many', which is no number"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(X.assign(number=wrong))
    missing = X.assign(number=X["number"].astype(object).where(X["flag"], pd.NA))
    usual = X.assign(number=X["number"].where(X["flag"]))
    np.testing.assert_array_equal(model.decision_function(missing), model.decision_function(usual))
    scores = clone(model).fit(missing, y).decision_function(X)
    np.testing.assert_array_equal(scores, clone(model).fit(usual, y).decision_function(X))
    with pytest.raises(ValueError, match="column 'number' holds dates"):
        clone(model).set_params(categorical_features=None).fit(
            X[["number"]].assign(number=pd.Timestamp("2020-01-01")), y
        )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "other"),
    [(bb.CGENS(n_iterations=5), "perceptron"), (bb.RBoostProj(n_iterations=5), "wlda")],
)
def test_fit_on_numbers_removes_attributes_of_tables(model, other):
    X, y = messy(2)
    model.fit(X, y)
    assert model.categories_
    model.set_params(weak_learner=other).fit(encode_by_hand(X)[:, [0, 5, 6]], y)
    assert not hasattr(model, "categories_")
    assert not hasattr(model, "views_")


def test_reordered_columns_raise():
    X, y = messy(2)
    for model in (bb.MCBoost(n_iterations=5), bb.BaggedBooster(n_estimators=2, random_state=0)):
        model.fit(X, y)
        for frame in (X[X.columns[::-1]], X.drop(columns="words")):
            with pytest.raises(ValueError, match="feature names should match those that were pass"):
                model.predict(frame)


def test_early_stopping_callbacks_and_final_solve():
    X, y = messy(3, n_samples=400)
    validated = bb.MCBoost(n_iterations=200, n_iter_no_change=5).fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:]
    )
    loss = log_loss(y[300:], validated.predict_proba(X[300:]))
    assert validated.validation_losses_.min() == pytest.approx(loss)
    model = bb.MultiBoost(n_iterations=20, nu=1e-3).fit(X, y)
    solved = bb.final_solve(model, X, y)
    assert solved.objective_[-1] <= model.objective_[-1] + 1e-12
    callback = pytest.importorskip("sklearn.callback")
    monitor = callback.ScoringMonitor(scoring="accuracy")
    watched = bb.MCBoost(n_iterations=5).set_callbacks(monitor).fit(X, y)
    log = monitor.get_logs().data_as_pandas
    staged = [(labels == y).mean() for labels in watched.staged_predict(X)]
    np.testing.assert_allclose(log[log.task_name == "round"].accuracy, staged)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_reweighting(n_classes):
    X, y = messy(n_classes, n_samples=400)
    model = bb.AdaBoostMH(n_iterations=60).fit(X[:200], y[:200])
    thin = reweight(model, X[200:], y[200:], nu=0.01)
    assert len(thin.members_) < 60
    assert thin.score(X[200:], y[200:]) > model.score(X[200:], y[200:]) - 0.05


@pytest.mark.parametrize("model", [bb.RBoostRank(), bb.CGENS(weak_learner="perceptron")])
def test_numeric_estimators_reject_tables(model):
    X, y = messy(2)
    assert not model.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(encode_by_hand(X), y)
    for column in ("words", "two"):
        with pytest.raises(ValueError, match=f"column '{column}' holds categories, and .* OneHot"):
            model.fit(X[["number", column]], y)
    dates = X[["number"]].assign(day=pd.Timestamp("2020-01-01"))
    with pytest.raises(ValueError, match="column 'day' holds dates"):
        model.fit(dates, y)


def test_features_of_prediction_are_validated():
    X, y = messy(3)
    ladder = bb.LADDER(n_iterations=6, random_state=0).fit(X, y)
    assert ladder.transform(X.assign(words=None)).shape == (len(X), 2)
    with pytest.raises(ValueError, match="feature names"):
        ladder.predict(X.rename(columns={"words": "wood"}))
    with pytest.raises(ValueError, match="feature"):
        bb.AdaBoostMH(n_iterations=5).fit(X, y).predict(X.iloc[:, :3])
