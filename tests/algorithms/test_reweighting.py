import pickle
import warnings

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Perceptron
from sklearn.tree import DecisionTreeClassifier

from boostbench import (
    AdaBoost,
    AdaBoostECC,
    AdaBoostMH,
    BaggedBooster,
    BaggedMCBoost,
    MCBoost,
    MultiBoost,
    RBoostRank,
    reweight,
)
from boostbench.algorithms.reweighting import _make_members

from .problems import blobs

NAMES = np.array(["bee", "ant", "cat"])


def lightgbm(**params):
    module = pytest.importorskip("lightgbm")
    return module.LGBMClassifier(n_estimators=8, min_child_samples=5, verbose=-1, **params)


ENSEMBLES = {
    "AdaBoostClassifier": lambda: AdaBoostClassifier(n_estimators=8),
    "RandomForestClassifier": lambda: RandomForestClassifier(8, max_depth=3, random_state=0),
    "ExtraTreesClassifier": lambda: ExtraTreesClassifier(8, max_depth=3, random_state=0),
    "LGBMClassifier": lightgbm,
    "MCBoost": lambda: MCBoost(n_iterations=8),
    "AdaBoostECC": lambda: AdaBoostECC(n_iterations=8, random_state=0),
}


@pytest.fixture(params=[(name, k) for name in ENSEMBLES for k in (2, 3)], ids=str, scope="module")
def case(request):
    """Return a fitted ensemble, and other samples."""
    name, n_classes = request.param
    X, y = blobs(n_classes, n_samples=120)
    return ENSEMBLES[name]().fit(X[:60], NAMES[y[:60]]), X[60:], NAMES[y[60:]]


def member_scores(ensemble, X):
    """Return the members' scores, (n_samples, n_classes, n_members), computed one by one."""
    n_members = len(ensemble.stump_sum().stumps) if hasattr(ensemble, "stump_sum") else 8
    return np.stack(list(_make_members(ensemble).scores(X, range(n_members))), axis=2)


def margins(ensemble, X, y):
    scores = member_scores(ensemble, X)
    rows = []
    for of_sample, label in zip(scores, y, strict=True):
        label_index = list(ensemble.classes_).index(label)
        rows += [
            of_sample[label_index] - of_sample[r] for r in range(len(of_sample)) if r != label_index
        ]
    rows = np.array(rows)
    sizes = np.abs(rows).max(axis=0)
    return rows / np.where(sizes, sizes, 1.0), sizes


class TestMembers:
    def test_members_sum_to_the_ensemble(self, case):
        ensemble, X, _ = case
        total = member_scores(ensemble, X).sum(axis=2)
        if isinstance(ensemble, (RandomForestClassifier, ExtraTreesClassifier)):
            expected = 8 * ensemble.predict_proba(X)
        elif isinstance(ensemble, AdaBoostClassifier):
            expected = sum(tree.predict_proba(X) for tree in ensemble.estimators_)
        elif hasattr(ensemble, "booster_"):
            raw = ensemble.predict(X, raw_score=True)
            expected = raw if raw.ndim == 2 else np.column_stack([-raw, raw]) / 2
        else:
            expected = ensemble.decision_function(X) - ensemble.shape_functions().intercept
            expected = (
                expected if expected.ndim == 2 else np.column_stack([-expected, expected]) / 2
            )
        np.testing.assert_allclose(total, expected, atol=1e-9 * np.abs(expected).max())


class TestMinimum:
    def test_logistic_minimum_equals_a_generic_solver(self, case):
        ensemble, X, y = case
        nu = 0.02
        A, sizes = margins(ensemble, X, y)

        def objective(w):
            rho = A @ w
            slopes = -1 / (1 + np.exp(rho))
            return np.logaddexp(0, -rho).mean() + nu * w.sum(), slopes @ A / len(A) + nu

        start = np.zeros(A.shape[1])
        options = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 5000}
        bounds = [(0, None)] * len(start)
        expected = minimize(objective, start, jac=True, bounds=bounds, options=options).fun
        thin = reweight(ensemble, X, y, nu=nu)
        assert thin.objective_ == pytest.approx(expected, rel=1e-6)
        w = np.zeros(len(start))
        w[thin.members_] = thin.coefficients_ * sizes[thin.members_]
        value, gradient = objective(w)
        assert value == pytest.approx(thin.objective_, rel=1e-9)
        # The solution meets the Karush-Kuhn-Tucker conditions.
        assert np.abs(gradient[w > 0]).max(initial=0) < 1e-6
        assert gradient.min() > -1e-6

    def test_hinge_minimum_equals_a_linear_program(self, case):
        ensemble, X, y = case
        nu = 0.02
        A, sizes = margins(ensemble, X, y)
        n_pairs, n_members = A.shape
        expected = linprog(
            np.concatenate([np.full(n_members, nu), np.full(n_pairs, 1 / n_pairs)]),
            A_ub=np.hstack([-A, -np.eye(n_pairs)]),
            b_ub=-np.ones(n_pairs),
        ).fun
        thin = reweight(ensemble, X, y, nu=nu, loss="hinge")
        assert thin.objective_ == pytest.approx(expected, rel=1e-7)
        w = thin.coefficients_ * sizes[thin.members_]
        slack = np.maximum(0, 1 - A[:, thin.members_] @ w)
        assert slack.mean() + nu * w.sum() == pytest.approx(expected, rel=1e-7)


def test_prediction_uses_the_remaining_members(case):
    ensemble, X, y = case
    thin = reweight(ensemble, X, y, nu=0.02)
    scores = member_scores(ensemble, X)[:, :, thin.members_] @ thin.coefficients_
    expected = scores[:, 1] - scores[:, 0] if len(thin.classes_) == 2 else scores
    np.testing.assert_allclose(thin.decision_function(X), expected, atol=1e-12)
    probabilities = thin.predict_proba(X)
    assert (thin.classes_[probabilities.argmax(axis=1)] == thin.predict(X)).all()
    assert set(thin.predict(X)) <= set(thin.classes_)
    assert thin.score(X, y) > 1 / len(thin.classes_)


def test_larger_nu_selects_fewer_members():
    X, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(60, max_depth=8, random_state=0).fit(X[::3], y[::3])
    thin = [reweight(forest, X[1::3], y[1::3], nu=nu) for nu in (1e-3, 3e-3, 1e-2, 3e-2, 0.3)]
    sizes = [len(one.members_) for one in thin]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0] <= 60
    assert thin[1].score(X[2::3], y[2::3]) > forest.score(X[2::3], y[2::3]) - 0.03


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_first_of_repeated_stumps_is_selected(loss):
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoost(60).fit(X[::2, :10], y[::2])
    stumps = model.hypotheses_
    splits = np.column_stack([stumps.feature, stumps.threshold, stumps.polarity])
    different, first = np.unique(splits, axis=0, return_index=True)
    assert len(different) < 0.7 * len(splits)
    thin = reweight(model, X[1::2, :10], y[1::2], loss=loss)
    assert set(thin.members_) <= set(first)
    # Repeating every stump does not change the minimum.
    model.coefficients_ = np.repeat(model.coefficients_, 2)
    model.hypotheses_ = type(stumps)([stump for stump in stumps for _ in range(2)])
    twice = reweight(model, X[1::2, :10], y[1::2], loss=loss)
    np.testing.assert_array_equal(twice.members_, 2 * thin.members_)
    np.testing.assert_allclose(twice.coefficients_, thin.coefficients_, rtol=1e-9)


def test_scale_of_member_scores_does_not_matter():
    X, y = blobs(3, n_samples=120)
    model = MCBoost(n_iterations=12).fit(X[:60], y[:60])
    before = reweight(model, X[60:], y[60:])
    scores = before.decision_function(X)
    model.coefficients_ = model.coefficients_ * np.geomspace(1e-3, 1e3, 12)[:, None]
    after = reweight(model, X[60:], y[60:])
    assert after.objective_ == pytest.approx(before.objective_)
    np.testing.assert_allclose(after.decision_function(X), scores, rtol=1e-6)
    # Tiny scores differ by rounding errors relative to the summands.
    model.coefficients_ = model.coefficients_ * 1e-15
    tiny = reweight(model, X[60:], y[60:])
    np.testing.assert_allclose(tiny.decision_function(X), scores, rtol=1e-6)


def test_large_nu_gives_an_empty_ensemble():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    for loss, value in (("logistic", np.log(2)), ("hinge", 1.0)):
        thin = reweight(forest, X, y, nu=10.0, loss=loss)
        assert len(thin.members_) == 0
        assert thin.objective_ == pytest.approx(value)
        assert (thin.predict(X) == 0).all()


@pytest.mark.parametrize(
    "bag",
    [
        BaggedBooster(AdaBoostMH(n_iterations=20), n_estimators=3, random_state=0),
        BaggedMCBoost(n_iterations=20, n_estimators=3, random_state=0),
    ],
    ids=lambda bag: type(bag).__name__,
)
def test_stumps_of_bags_are_selected_individually(bag):
    X, y = load_iris(return_X_y=True)
    bag.fit(X[::2], y[::2])
    total = bag.stump_sum()
    thin = reweight(bag, X[1::2], y[1::2], nu=0.01)
    assert 0 < len(thin.members_) < len(total.stumps)
    votes = total.coefficients[thin.members_] * thin.coefficients_[:, None]
    outputs = total.stumps.outputs(X)[:, thin.members_]
    np.testing.assert_allclose(thin.decision_function(X), outputs @ votes, atol=1e-9)
    assert thin.score(X[1::2], y[1::2]) > 0.9


def test_sparse_equals_dense():
    X, y = blobs(3, n_samples=100)
    X[np.abs(X) < 1] = 0
    model = MCBoost(n_iterations=20).fit(csr_array(X), y)
    thin, expected = (reweight(model, data, y, nu=0.01) for data in (csr_array(X), X))
    np.testing.assert_array_equal(thin.members_, expected.members_)
    scores = thin.decision_function(csr_array(X))
    np.testing.assert_array_equal(scores, expected.decision_function(X))


def test_feature_names_are_kept():
    data = load_breast_cancer(as_frame=True)
    for ensemble in (lightgbm(), RandomForestClassifier(5, random_state=0), AdaBoost(5)):
        ensemble.fit(data.data, data.target)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            thin = reweight(ensemble, data.data, data.target)
            thin.predict(data.data)
    with pytest.raises(ValueError, match="feature names"):
        thin.predict(data.data.iloc[:, ::-1])
    with pytest.raises(ValueError, match="feature names"):
        reweight(ensemble, data.data.iloc[:, ::-1], data.target)


@pytest.mark.parametrize("name", [*ENSEMBLES, "BaggedBooster", "BaggedMCBoost", "MultiBoost"])
def test_predictions_do_not_change_when_the_ensemble_is_fitted_again(name):
    boosters = {
        "BaggedBooster": lambda: BaggedBooster(n_estimators=3, random_state=0),
        "BaggedMCBoost": lambda: BaggedMCBoost(n_iterations=20, n_estimators=3, random_state=0),
        "MultiBoost": lambda: MultiBoost(n_iterations=8, nu=1e-3, warm_start=True),
    }
    X, y = blobs(3, n_samples=120)
    ensemble = (ENSEMBLES | boosters)[name]().fit(X[:60], y[:60])
    thin = reweight(ensemble, X[60:], y[60:], nu=0.01)
    before = thin.decision_function(X)
    copied = pickle.loads(pickle.dumps(thin))
    if name == "MultiBoost":
        ensemble.set_params(nu=1e-1).fit(X[:60], y[:60])
    else:
        ensemble.fit(X[::2, ::-1], (y[::2] + 1) % 3)
    np.testing.assert_array_equal(thin.decision_function(X), before)
    np.testing.assert_array_equal(copied.decision_function(X), before)


def test_predictions_do_not_change_when_a_tree_of_the_forest_is_fitted_again():
    X, y = blobs(3, n_samples=120)
    forest = RandomForestClassifier(8, max_depth=3, random_state=0).fit(X, y)
    thin = reweight(forest, X, y, nu=0.01)
    before = thin.decision_function(X)
    for tree in forest.estimators_:
        tree.fit(X, np.roll(y, 1))
    np.testing.assert_array_equal(thin.decision_function(X), before)


def test_result_is_a_fitted_estimator_for_scikit_learn():
    X, y = blobs(2, n_samples=80)
    forest = RandomForestClassifier(5, random_state=0).fit(X[::2], y[::2])
    thin = reweight(forest, X[1::2], y[1::2])
    calibrated = CalibratedClassifierCV(FrozenEstimator(thin), cv=2).fit(X, y)
    assert calibrated.score(X, y) > 0.8
    assert permutation_importance(thin, X, y, random_state=0).importances_mean.max() > 0.1
    with pytest.raises(NotFittedError):
        clone(thin).fit(X, y)
    with pytest.raises(NotFittedError):
        clone(thin).predict(X)


class TestInvalidInput:
    X, y = blobs(2)

    def assert_raises(self, message, ensemble, y=y, **params):
        with pytest.raises(ValueError, match=message):
            reweight(ensemble, self.X, y, **params)

    def test_invalid_arguments_raise_one_line(self):
        forest = RandomForestClassifier(3).fit(self.X, self.y)
        self.assert_raises(
            "y holds 7, which is no class", forest, y=self.y + 7 * (self.y > 0) - self.y
        )
        self.assert_raises("nu must be positive, got 0", forest, nu=0)
        self.assert_raises("one of .'hinge', 'logistic'., got 'squared'", forest, loss="squared")
        tree = DecisionTreeClassifier().fit(self.X, self.y)
        self.assert_raises("DecisionTreeClassifier is no ensemble", tree)
        boosted = GradientBoostingClassifier(n_estimators=2).fit(self.X, self.y)
        self.assert_raises("GradientBoostingClassifier is no ensemble", boosted)
        ranker = RBoostRank(n_iterations=2, n_projections=5, random_state=0).fit(self.X, self.y)
        self.assert_raises("RBoostRank is not a sum of stumps", ranker)
        perceptrons = AdaBoostClassifier(Perceptron(), n_estimators=2).fit(self.X, self.y)
        self.assert_raises(
            "members must have probabilities, which a Perceptron has not", perceptrons
        )
        pairs = BaggedMCBoost(n_iterations=20, interactions=1, n_estimators=2, random_state=0)
        crossed = (self.X[:, 0] > 0) ^ (self.X[:, 1] > 0)
        self.assert_raises(
            "BaggedMCBoost has pairs of features", pairs.fit(self.X, crossed), crossed
        )

    def test_unfitted_ensemble_raises(self):
        with pytest.raises(NotFittedError):
            reweight(RandomForestClassifier(3), self.X, self.y)

    def test_unsolved_programs_warn(self, monkeypatch):
        monkeypatch.setattr("boostbench.algorithms.reweighting._MAX_NEWTON_STEPS", 1)
        forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(self.X, self.y)
        with pytest.warns(ConvergenceWarning, match="larger nu"):
            reweight(forest, self.X, self.y, nu=1e-6)
