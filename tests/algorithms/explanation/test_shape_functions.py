"""Test shape functions, importances and rules of sums of stumps."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

import boostbench as bb
from boostbench.core.stumps.stump import Stump, Stumps

from ..models import BINARY, SUMS, pair_with_classes
from ..problems import blobs, messy

CASES = pair_with_classes(SUMS)
NAMES = ["width", "height", "depth", "age"]


@pytest.fixture(params=CASES.values(), ids=CASES.keys(), scope="module")
def fitted(request):
    """Return a model, its samples, and new samples, some of which lie on thresholds."""
    model, n_classes = request.param
    X, y = blobs(n_classes, n_samples=90)
    X = pd.DataFrame(X.round(1), columns=NAMES)
    model = clone(model).set_params(n_iterations=30).fit(X, np.array(["bee", "ant", "cat"])[y])
    new = np.concatenate([X, np.random.default_rng(1).normal(size=(200, 4))])
    thresholds = model.stump_sum().stumps.threshold
    new[:20, 0] = np.resize(thresholds[np.isfinite(thresholds)], 20)
    return model, X, pd.DataFrame(new, columns=NAMES)


def scores(model, X):
    """Return the scores, with a column per class, or one column for two classes."""
    return model.decision_function(X).reshape(len(X), -1)


def outputs(model):
    return list(model.classes_[1:] if len(model.classes_) == 2 else model.classes_)


def close(actual, expected):
    np.testing.assert_allclose(
        actual, expected, rtol=1e-12, atol=1e-12 * (1 + np.abs(expected).max())
    )


class TestSum:
    @pytest.mark.parametrize("centred", [False, True])
    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    def test_terms_sum_to_the_scores(self, fitted, centred):
        model, X, new = fitted
        shapes = model.shape_functions(X if centred else None)
        terms = shapes.explain_local(new)
        expected = scores(model, new)
        for rows in (new, new.to_numpy().tolist()):
            close(shapes.decision_function(rows).reshape(expected.shape), expected)
        if len(model.classes_) == 2:
            assert list(terms) == ["intercept", *NAMES]
            close(terms.sum(axis=1), expected[:, 0])
        else:
            for label, of_class in zip(model.classes_, expected.T, strict=True):
                assert list(terms[label]) == ["intercept", *NAMES]
                close(terms[label].sum(axis=1), of_class)

    def test_rules_sum_to_the_scores(self, fitted):
        model, _, new = fitted
        rules = model.rules()
        assert list(rules)[:3] == ["round", "feature", "threshold"]
        assert list(rules)[3:] == outputs(model)
        actual = np.zeros((len(new), len(outputs(model))))
        for row in rules.itertuples(index=False):
            votes = np.array(row[3:], float)
            above = row.round == 0 or new[row.feature] > row.threshold
            actual += np.where(above, 1.0, -1.0)[..., None] * votes
        close(actual, scores(model, new))
        rounds = rules["round"][rules["round"] > 0]
        assert (rounds.diff().dropna() == 1).all()
        if not isinstance(model, bb.AdaBoostMO):
            assert len(rounds) == model.n_iterations_

    def test_explain_global_contains_all_functions(self, fitted):
        model, X, new = fitted
        shapes = model.shape_functions(X)
        table = shapes.explain_global()
        assert list(table) == ["feature", "left", "right", *outputs(model)]
        actual = np.tile(shapes.intercept, (len(new), 1))
        for feature, steps in table.groupby("feature"):
            assert (steps["left"].iloc[0], steps["right"].iloc[-1]) == (-np.inf, np.inf)
            assert (steps["left"].iloc[1:].to_numpy() == steps["right"].iloc[:-1].to_numpy()).all()
            values = new[feature].to_numpy()[:, None]
            on = (steps["left"].to_numpy() < values) & (values <= steps["right"].to_numpy())
            assert (on.sum(axis=1) == 1).all()
            actual += on.astype(float) @ steps[outputs(model)].to_numpy()
        close(actual, scores(model, new))

    def test_functions_are_centred_over_the_samples(self, fitted):
        model, X, _ = fitted
        shapes = model.shape_functions(X)
        terms = shapes.explain_local(X).mean().to_numpy().reshape(-1, 5)
        close(terms[:, 1:], np.zeros_like(terms[:, 1:]))
        close(terms[:, 0], scores(model, X).mean(axis=0))
        close(shapes.intercept, terms[:, 0])

    def test_importances_are_mean_absolute_terms_of_the_training_rows(self, fitted):
        model, X, new = fitted
        importances = model.feature_importances_
        np.testing.assert_allclose(importances, mean_absolute_terms(model, X), rtol=1e-9)
        np.testing.assert_array_equal(model.shape_functions(new).importances, importances)
        assert importances.sum() == pytest.approx(1)
        assert (importances >= 0).all()


def mean_absolute_terms(model, X):
    """Average the absolute terms of all samples, as shares of the features, in one table."""
    n_features = X.shape[1]
    terms = model.shape_functions(X).explain_local(X).to_numpy().reshape(len(X), -1, 1 + n_features)
    if terms.shape[1] > 1:
        terms = terms - terms.mean(axis=1, keepdims=True)
    sizes = np.abs(terms[:, :, 1:]).mean(axis=(0, 1))
    return sizes / sizes.sum()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        bb.AdaBoostMH(n_iterations=20),
        bb.MCBoost(n_iterations=20, category_sets=True),
        bb.BaggedBooster(n_estimators=2, random_state=0),
        bb.BaggedMCBoost(n_iterations=30, n_estimators=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_importances_use_sample_weights(model, n_classes):
    X, y = messy(n_classes)
    weights = np.arange(len(y)) % 4
    model = clone(model).fit(X, y, weights)
    repeated = X.iloc[np.repeat(np.arange(len(y)), weights)]
    expected = mean_absolute_terms(model, repeated)
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-9, atol=1e-12)


def test_importances_exclude_held_out_samples():
    X, y = blobs(3, n_samples=120)
    model = bb.MCBoost(n_iterations=60, n_iter_no_change=3, random_state=0)
    model.fit(X[:60], y[:60], X_val=X[60:], y_val=y[60:])
    expected = mean_absolute_terms(model, X[:60])
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-9)


def test_importances_of_sparse_and_dense_data_are_equal():
    X, y = blobs(3, n_samples=100)
    X[np.abs(X) < 1] = 0
    X[::7, 1] = np.nan
    dense, of_sparse = (
        bb.MCBoost(n_iterations=20).fit(matrix, y).feature_importances_
        for matrix in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(of_sparse, dense, rtol=1e-12)


def test_importances_are_stored_for_features_in_use():
    X = sparse.random_array((60, 5000), density=0.01, format="csr", random_state=0)
    model = bb.MCBoost(n_iterations=5).fit(X, np.arange(60) % 3)
    importances = model.feature_importances_
    assert importances.shape == (5000,)
    used = np.unique(model.hypotheses_.feature)
    np.testing.assert_array_equal(np.flatnonzero(importances), used)
    assert len(model._term_sizes.features) == len(used) <= 5


def test_importances_of_a_category_of_noise_are_small():
    """An importance by total variation, which ignores the number of rows, would be 0.7."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"number": rng.normal(size=2000), "noise": pd.Categorical(rng.integers(60, size=2000))}
    )
    y = X["number"] + rng.logistic(size=2000) > 0
    bag = bb.BaggedMCBoost(random_state=0).fit(X, y)
    assert bag.feature_importances_[0] > 0.6


def test_importances_require_the_end_of_fit():
    model = bb.AdaBoostMH(n_iterations=2)
    names = []
    fit = model._store_fitted_attributes

    def take_over(training):
        fit(training)
        names.append(hasattr(model, "feature_importances_"))

    model._store_fitted_attributes = take_over
    X, y = blobs(3)
    model.fit(X, y).fit(X, y)
    assert names == [False, False]
    assert hasattr(model, "feature_importances_")


@pytest.mark.parametrize("high", [2.5, 4.0, 9.0])
@pytest.mark.parametrize("low", [0.0, 0.5, 2.0, 2.5])
def test_steps_within_an_interval_equal_the_function(low, high):
    """Intervals may begin or end on a threshold; all thresholds are multiples of 1/2."""
    X = np.arange(6.0)[:, None]
    model = bb.AdaBoost(n_iterations=20).fit(X, [0, 1, 0, 1, 1, 0])
    (term,) = model.shape_functions().terms
    assert {0.5, 2.5} <= set(term.thresholds)
    edges, values = term.steps(low, high)
    assert (edges[0], edges[-1], len(edges)) == (low, high, len(values) + 1)
    np.testing.assert_array_equal(values[0], term.lookup(np.array([low]))[0])
    inside = edges[:-1] < edges[1:]
    np.testing.assert_array_equal(values[inside], term.lookup((edges[:-1] + edges[1:]) / 2)[inside])


def test_importances_computed_by_hand():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    model = bb.AdaBoost(n_iterations=3).fit(X, [0, 1, 0, 1])
    model.hypotheses_ = Stumps([Stump(0, 0.5), Stump(1, 0.5)])
    model.coefficients_ = np.array([1.0, 2.0])
    model._store_term_sizes(X)
    # The term separates one of four samples; centred, it is 1.5 there and -0.5 elsewhere.
    np.testing.assert_allclose(model.feature_importances_, [1 / 3, 2 / 3])
    model._store_term_sizes(X, np.array([1.0, 1.0, 1.0, 3.0]))
    # The weights on the two sides are 1 and 5, or 3 and 3.
    sizes = np.array([1 * 4 * 5 / 36, 2 * 4 * 9 / 36])
    np.testing.assert_allclose(model.feature_importances_, sizes / sizes.sum())


@pytest.mark.parametrize(
    "model",
    [
        *(
            bb.CGENS(weak_learner=kind, n_candidates=20, random_state=0)
            for kind in ("perceptron", "fourier", ["stump", "perceptron"])
        ),
        bb.CodewordBoosting(random_state=0),
        bb.CodewordMCBoost(max_depth=2, random_state=0),
        bb.MCBoost(weak_learner="tree"),
        bb.ProjectedAdaBoostMH(),
        bb.RBoostRank(n_projections=10, random_state=0),
        bb.ReducedMCBoost(random_state=0),
        bb.RpBoost(random_state=0),
        bb.SAMME(weak_learner="tree", random_state=0),
    ],
)
def test_other_models_are_rejected(model):
    model = clone(model).set_params(n_iterations=12).fit(*blobs(2))
    for method in (model.rules, model.shape_functions):
        with pytest.raises(ValueError, match=type(model).__name__):
            method()
    assert not hasattr(model, "feature_importances_")


def test_model_without_rounds_has_an_intercept():
    X, y = np.ones((6, 2)), [0, 1, 1, 0, 1, 1]
    for model in (bb.AdaBoostMH().fit(X, y), bb.LsBoost(n_iterations=2).fit(X, y)):
        shapes = model.shape_functions(X)
        assert (model.feature_importances_ == 0).all()
        assert len(shapes.explain_global()) == 0
        close(shapes.explain_local(X).sum(axis=1), model.decision_function(X))


def test_other_features_are_rejected_as_in_prediction():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = bb.AdaBoostMH(n_iterations=3).fit(X, y)
    shapes = model.shape_functions()
    uses = model.predict, shapes.explain_local, shapes.predict, model.shape_functions
    for wrong, message in (
        (np.zeros((2, 3)), "X has 3 features, but AdaBoostMH is expecting 4"),
        (X[X.columns[::-1]], "feature names should match"),
        (X.rename(columns={X.columns[0]: "width"}), "feature names should match"),
    ):
        for use in uses:
            with pytest.raises(ValueError, match=message):
                use(wrong)


def test_sparse_samples_are_explained():
    X, y = load_iris(return_X_y=True)
    model = bb.MCBoost(n_iterations=5).fit(sparse.csr_array(X), y)
    shapes, plain = (model.shape_functions(form(X)) for form in (sparse.csc_matrix, np.asarray))
    assert (shapes.predict(sparse.csr_array(X)) == model.predict(X)).all()
    assert shapes.explain_local(sparse.csr_array(X)).equals(plain.explain_local(X))


def test_shape_functions_do_not_change_with_another_fit():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = bb.AdaBoostMH(n_iterations=3).fit(X, y)
    shapes, expected = model.shape_functions(), model.decision_function(X)
    model.fit(X.iloc[:, :2], y)
    close(shapes.decision_function(X), expected)


@pytest.mark.parametrize("model", [bb.MCBoost(), bb.LPBoost(), bb.AdaBoostMO(), bb.LsBoost(2)])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rules_of_constant_models(model, n_classes):
    if n_classes > 2 and isinstance(model, BINARY):
        pytest.skip("for two classes")
    X, y = np.ones((7, 1)), np.arange(7) % n_classes
    model = clone(model).fit(X, y)
    table = model.rules()
    assert list(table) == ["round", "feature", "threshold", *outputs(model)]
    close(table.iloc[:, 3:].sum().to_numpy(), scores(model, X)[0])


@pytest.mark.parametrize(
    "names", [["left", "right"], ["feature", "round", "threshold"], ["a", "b"]]
)
def test_arbitrary_names_of_classes_and_features(names):
    X, y = blobs(len(names))
    frame = pd.DataFrame(X, columns=["intercept", "feature", "left", "category"])
    plain = bb.AdaBoostMH(n_iterations=6).fit(X, y)
    model = bb.AdaBoostMH(n_iterations=6).fit(frame, np.array(names)[y])
    n_outputs = len(outputs(model))
    for table, expected in (
        (model.rules(), plain.rules()),
        (model.shape_functions().explain_global(), plain.shape_functions().explain_global()),
    ):
        assert list(table.columns[-n_outputs:]) == outputs(model)
        close(table.iloc[:, -n_outputs:].to_numpy(), expected.iloc[:, -n_outputs:].to_numpy())
    terms = model.shape_functions(frame).explain_local(frame)
    close(terms.to_numpy(), plain.shape_functions(X).explain_local(X).to_numpy())


def test_rules_have_no_rounding_errors():
    X, y = load_iris(return_X_y=True)
    model = bb.MCBoost(n_iterations=20).fit(X, y)
    first = model.rules().iloc[0, 3:].to_numpy(float)
    # The first stump separates the first class; the other classes have equal coefficients.
    assert np.ptp(model.coefficients_[0, 1:]) < 1e-12
    assert first[0] < -10
    assert (first[1:] == 0).all()


def test_features_without_names_have_indices():
    X, y = load_iris(return_X_y=True)
    model = bb.AdaBoostMH(n_iterations=3).fit(X, y)
    assert list(model.rules()["feature"]) == list(model.hypotheses_.feature)
    assert set(model.shape_functions().explain_global()["feature"]) <= {"x0", "x1", "x2", "x3"}


def test_explanations_require_a_fitted_estimator():
    for use in (bb.AdaBoost().rules, bb.AdaBoost().shape_functions):
        with pytest.raises(ValueError, match="not fitted"):
            use()
    assert not hasattr(bb.AdaBoost(), "feature_importances_")


def test_repr_of_stacks():
    X, y = load_iris(return_X_y=True)
    # Petal widths separate the first class as well as petal lengths.
    assert repr(bb.AdaBoostMH(n_iterations=2).fit(X[:, :3], y).hypotheses_) == (
        "<2 Stumps: +(x[2] > 2.45), +(x[2] > 4.75)>"
    )
    assert repr(bb.AdaBoostMH(n_iterations=9).fit(X, y).hypotheses_).endswith(", ...>")
    assert repr(bb.SAMME(n_iterations=3).fit(X, y).hypotheses_) == "<3 ClassTrees>"
    assert repr(bb.AdaBoostMO(n_iterations=3).fit(X, y).hypotheses_) == "<3 Stumps>"
