import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_blobs

import boostbench as bb
from boostbench.algorithms.base.decision_values import probabilities

from ..problems import blobs, messy
from .test_bagged_mcboost import check_sample_weights

BAGS = {
    "MCBoost": bb.BaggedBooster(n_estimators=4, random_state=0),
    "bootstrap": bb.BaggedBooster(n_estimators=4, bootstrap=True, random_state=0),
    "AdaBoostMH": bb.BaggedBooster(bb.AdaBoostMH(), n_estimators=3, random_state=0),
    "AdaBoost": bb.BaggedBooster(bb.AdaBoost(constant=True), n_estimators=3, random_state=0),
}


@pytest.fixture(params=BAGS, ids=str, scope="module")
def fitted(request):
    bag = BAGS[request.param]
    X, y = blobs(2 if request.param == "AdaBoost" else 3, n_samples=120)
    return bag.fit(X, np.array(["ant", "bee", "cat"])[y]), X


def test_score_is_the_mean_of_the_members_scores(fitted):
    bag, X = fitted
    scores = [member.decision_function(X) for member in bag.estimators_]
    assert len(scores) == bag.n_estimators
    np.testing.assert_allclose(bag.decision_function(X), np.mean(scores, axis=0), atol=1e-12)
    beta = bag.estimators_[0].inverse_temperature()
    np.testing.assert_allclose(
        bag.predict_proba(X), probabilities(np.mean(scores, axis=0), beta), atol=1e-12
    )
    assert (bag.predict(X) == bag.classes_[bag.predict_proba(X).argmax(axis=1)]).all()


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_spread_of_scores_equals_the_spread_of_the_members(n_classes, bootstrap):
    """Few members have so few components that all are stored."""
    X, y = messy(n_classes, 200)
    bag = bb.BaggedBooster(n_estimators=4, validation_fraction=0.2, bootstrap=bootstrap)
    bag.set_params(random_state=0).fit(X, y)
    views = bag._compute_views(bag._validate_input(X, reset=False))
    scores = np.stack([member.decision_function(views) for member in bag.estimators_])
    # Delete-d jackknife: the root of 0.8 / 0.2 is 2. A bootstrap needs no factor.
    expected = (1.0 if bootstrap else 2.0) * scores.std(axis=0).reshape(len(X), -1)
    assert expected.max() > 0.1
    for samples in (None, X, X[:50]):
        actual = np.linalg.norm(bag.shape_functions(samples).spread(X), axis=-1)
        np.testing.assert_allclose(actual, expected, rtol=0.01, atol=0.003 * expected.max())


def test_bands_cover_the_functions_of_new_samples():
    """The bands of two standard deviations cover refits, and are not twice as wide again."""
    rng = np.random.default_rng(0)

    def draw():
        X = rng.normal(size=(300, 3))
        score = np.sin(2 * X[:, 0]) + np.where(X[:, 1] > 0.5, 1.0, 0.0)
        return X, rng.random(300) < 1 / (1 + np.exp(-2 * score))

    bag = bb.BaggedBooster(random_state=0, n_iter_no_change=20)
    X, y = draw()
    terms, stds = bag.fit(X, y).shape_functions(X).explain_local(X, return_std=True)
    refits = np.stack(
        [clone(bag).fit(*draw()).shape_functions(X).explain_local(X) for _ in range(10)]
    )[..., 1:]
    terms, stds = terms.to_numpy()[:, 1:], stds.to_numpy()[:, 1:]
    assert np.mean(np.abs(terms - refits.mean(axis=0)) < 2 * stds) > 0.9
    assert 0.8 < stds.mean() / refits.std(axis=0, ddof=1).mean() < 2.5


def test_probabilities_have_standard_deviations(fitted):
    bag, X = fitted
    shares, stds = bag.predict_proba(X, return_std=True)
    np.testing.assert_array_equal(shares, bag.predict_proba(X))
    assert stds.shape == shares.shape
    assert (stds**2 <= shares * (1 - shares) + 1e-12).all()
    assert stds.max() > 0.01


def test_bag_without_stumps_has_no_standard_deviations():
    X, y = blobs(2, n_samples=80)
    bag = bb.BaggedBooster(n_estimators=2, random_state=0).fit(X, y)
    bag.set_params(estimator=bb.MCBoost(weak_learner="tree", n_iterations=5)).fit(X, y)
    with pytest.raises(ValueError, match="not a sum of stumps"):
        bag.predict_proba(X, return_std=True)
    assert bag.predict_proba(X).shape == (80, 2)


def test_bag_of_stump_sums_is_one_stump_sum(fitted):
    bag, X = fitted
    shapes = bag.shape_functions()
    scores = bag.decision_function(X).reshape(len(X), -1)
    terms = shapes.explain_local(X).to_numpy().reshape(*scores.shape, -1)
    np.testing.assert_allclose(terms.sum(axis=2), scores, atol=1e-9)
    member_shapes = [member.shape_functions() for member in bag.estimators_]
    for feature in range(X.shape[1]):
        term = shapes.term(feature)
        values = np.append(term.thresholds, np.inf)
        mean = 0.0
        for member in member_shapes:
            mean = mean + member.term(feature).lookup(values) / len(member_shapes)
        # Constant stumps are no part of a feature's function.
        np.testing.assert_allclose(term.values, mean, atol=1e-9)
    assert bag.feature_importances_.sum() == pytest.approx(1)
    rules = bag.rules()
    n_stumps = sum(len(member.rules()) for member in bag.estimators_)
    assert len(rules) == n_stumps


def test_members_stop_on_samples_outside_their_bag():
    X, y = blobs(3, n_samples=200, spread=3.0)
    recorded = []

    class RecordingMCBoost(bb.MCBoost):
        def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None):
            recorded.append((X, X_val))
            return super().fit(X, y, sample_weight, X_val=X_val, y_val=y_val)

    for bootstrap, min_held_out, max_held_out in [(False, 30, 30), (True, 50, 95)]:
        recorded.clear()
        bag = bb.BaggedBooster(
            RecordingMCBoost(), n_estimators=3, bootstrap=bootstrap, random_state=1
        ).fit(X, y)
        parts = [{row.tobytes() for row in part} for pair in recorded for part in pair]
        for train, held_out in zip(parts[::2], parts[1::2], strict=True):
            assert not train & held_out
            assert len(train | held_out) == 200
            assert min_held_out <= len(held_out) <= max_held_out
        assert len({frozenset(held_out) for held_out in parts[1::2]}) == 3
        for member in bag.estimators_:
            assert member.n_iterations_ < len(member.validation_losses_) < 1000


def test_every_bag_contains_rare_classes():
    X, y = make_blobs([1, 2, 40, 40], 3, random_state=0)
    for bootstrap in (False, True):
        bag = bb.BaggedBooster(n_estimators=6, bootstrap=bootstrap, random_state=0).fit(X, y)
        assert all(len(member.classes_) == 4 for member in bag.estimators_)
        assert bag.predict_proba(X).shape == (83, 4)


@pytest.mark.parametrize("bootstrap", [False, True])
def test_sample_weights_multiply_the_loss(bootstrap):
    X, y = blobs(3, n_samples=120, spread=3.0)
    bag = bb.BaggedBooster(n_estimators=3, bootstrap=bootstrap, random_state=0)
    weights = check_sample_weights(lambda *data: bag.fit(*data).decision_function(X), X, y, 0.01)
    np.testing.assert_array_equal(
        bag.fit(X, y, np.ones(len(y))).decision_function(X), bag.fit(X, y).decision_function(X)
    )
    # Each member is fitted with the weights of its samples.
    recorded = []

    class RecordingMCBoost(bb.MCBoost):
        def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None):
            recorded.append((X, sample_weight))
            return super().fit(X, y, sample_weight, X_val=X_val, y_val=y_val)

    bag.set_params(estimator=RecordingMCBoost()).fit(X, y, weights)
    weight_of_row = {row.tobytes(): weight for row, weight in zip(X, weights, strict=True)}
    for rows, member_weights in recorded:
        assert [weight_of_row[row.tobytes()] for row in rows] == member_weights.tolist()


def test_bag_is_at_least_as_accurate_as_its_mean_member():
    X, y = blobs(2, n_samples=400, n_features=6, spread=3.0)
    train, test = slice(0, 200), slice(200, 400)
    bag = bb.BaggedBooster(n_estimators=20, random_state=0).fit(X[train], y[train])
    errors = [1 - member.score(X[test], y[test]) for member in bag.estimators_]
    assert 1 - bag.score(X[test], y[test]) <= np.mean(errors)


def test_n_jobs_does_not_change_the_model():
    X, y = blobs(3, n_samples=100)
    with parallel_config("threading"):
        one, two = (
            bb.BaggedBooster(n_estimators=3, n_jobs=n_jobs, random_state=0).fit(X, y)
            for n_jobs in (1, 2)
        )
    assert (one.decision_function(X) == two.decision_function(X)).all()
    assert set(one.seconds_) == {"preparation", "search", "coefficients"}


def test_bag_accepts_data_frames_and_sparse_matrices():
    X, y = blobs(3, n_samples=100)
    frame = pd.DataFrame(X, columns=list("abcd"))
    bag = bb.BaggedBooster(n_estimators=2, random_state=0).fit(frame, y)
    assert set(bag.rules()["feature"]) <= set("abcd")
    X[np.abs(X) < 1] = 0
    dense, sparse = (
        bb.BaggedBooster(n_estimators=2, random_state=0).fit(Z, y) for Z in (X, csr_array(X))
    )
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(csr_array(X)))


def test_members_on_projected_features_have_no_shape_functions():
    X, y = blobs(3, n_samples=100)
    member = bb.ProjectedAdaBoostMH(n_iterations=20)
    bag = bb.BaggedBooster(member, n_estimators=2, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.5
    assert not hasattr(bag, "feature_importances_")
    with pytest.raises(ValueError, match="projected features"):
        bag.shape_functions()


def test_invalid_boosters_and_data_are_rejected():
    X, y = blobs(2)
    for booster in (bb.RBoostRank(), bb.LPBoost(), bb.ReducedMCBoost(), bb.LADDER()):
        name = type(booster).__name__
        with pytest.raises(
            ValueError, match=f"needs early stopping on given samples, which {name} does not"
        ):
            bb.BaggedBooster(booster).fit(X, y)
    with pytest.raises(ValueError, match="category_sets=True has no effect in a bag"):
        bb.BaggedBooster(bb.MCBoost(category_sets=True)).fit(X, y)
    # Members would not know the class, and the bag would take their second class for it.
    with pytest.raises(ValueError, match="a class_weight of 0 removes a class from the members"):
        bb.BaggedBooster(bb.MCBoost(class_weight={y[0]: 0})).fit(X, y)
    with pytest.raises(ValueError, match="class of 2 samples or more: give more samples"):
        bb.BaggedBooster().fit(X[:2], [0, 1])
    with pytest.raises(ValueError, match="'estimator' parameter of BaggedBooster"):
        bb.BaggedBooster("MCBoost").fit(X, y)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        bb.BaggedBooster(bb.AdaBoost()).fit(*blobs(3))
