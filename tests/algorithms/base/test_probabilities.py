import numpy as np
import pytest
import sklearn
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.utils.fixes import parse_version

import boostbench as bb
from boostbench.algorithms import AdaBoostMO
from boostbench.algorithms.base.decision_values import (
    decision_values,
    labels_from_scores,
    log_probabilities,
    probabilities,
    rounding_slack,
)

from ..problems import blobs, noise


def frequencies(shares):
    """Draw a feature of two values, and labels whose shares where it is 1 are given.

    Where it is 0, the shares are turned around, so that log p + c changes its sign: the scores of
    one stump can be the minimum of the expected loss.
    """
    y = np.repeat(np.arange(len(shares)), shares)
    X = np.repeat([[1.0], [0.0]], len(y), axis=0)
    return X, np.concatenate([y, y.max() - y])


EXACT = {
    "AdaBoost": bb.AdaBoost(),
    "AdaBoostMH": bb.AdaBoostMH(),
    "AdaBoostMO": bb.AdaBoostMO(),
    "AdaBoostECC": bb.AdaBoostECC(random_state=0),
    "SAMME": bb.SAMME(),
    "RBoostRank": bb.RBoostRank(n_projections=3, random_state=0),
    "RBoostRankTC": bb.RBoostRankTC(
        n_projections=3, nu=1e-9, loss="exponential_sum", solver="newton", tol=1e-7, random_state=0
    ),
    "RBoostProj": bb.RBoostProj(nu=1e-9, tol=0, random_state=0),
    "LsBoost": bb.LsBoost(),
    "CGENS": bb.CGENS(C=1e6),
    "CGENSSLS": bb.CGENSSLS(C=1e6),
    "CodewordMCBoost": bb.CodewordMCBoost(random_state=0),
}
#: Those that learn all classes at once, and by a loss whose minimum is a softmax.
EXACT_FOR_MORE = {
    "MCBoost": bb.MCBoost(eta=1.0),
    "MCBoost, small steps": bb.MCBoost(eta=0.5),
    "MCBoost, logistic": bb.MCBoost(eta=1.0, loss="logistic"),
    "MultiBoost": bb.MultiBoost(nu=1e-9),
    "MultiBoost, exponential": bb.MultiBoost(nu=1e-9, loss="exponential"),
    "GradBoost": bb.GradBoost(nu=0),
    "CodewordMCBoost": bb.CodewordMCBoost(random_state=0),
    "LADDER": bb.LADDER(random_state=0),
}


def curve(model):
    """Return the probability that the model's loss assigns to a score of two classes."""
    if isinstance(model, (bb.LsBoost, bb.CGENS, bb.CGENSSLS)):
        return lambda p: 1 / (1 + np.exp(-2 * (2 * p - 1)))
    return lambda p: p


class TestLossMinimum:
    @pytest.mark.parametrize("model", EXACT.values(), ids=EXACT.keys())
    def test_estimates_the_frequencies_of_two_classes(self, model):
        X, y = frequencies([3, 7])
        model = clone(model).set_params(n_iterations=60).fit(X, y)
        expected = curve(model)(0.7)
        np.testing.assert_allclose(model.predict_proba(X)[0], [1 - expected, expected], atol=2e-3)

    @pytest.mark.parametrize("shares", [[3, 7], [8, 4, 2], [1, 3, 9, 27]], ids=str)
    @pytest.mark.parametrize("model", EXACT_FOR_MORE.values(), ids=EXACT_FOR_MORE.keys())
    def test_estimates_the_frequencies_of_several_classes(self, model, shares):
        X, y = frequencies(shares)
        model = clone(model).set_params(n_iterations=100).fit(X, y)
        expected = np.array(shares) / sum(shares)
        np.testing.assert_allclose(model.predict_proba(X)[0], expected, atol=2e-3)
        np.testing.assert_allclose(model.predict_proba(X)[-1], expected[::-1], atol=2e-3)


def best_scores(model, p):
    """Return the scores of least expected loss for a sample with class probabilities p."""
    if isinstance(model, bb.AdaBoostMH):
        return np.log(p / (1 - p)) / 2
    if isinstance(model, bb.AdaBoostMO):
        sides = np.maximum(model.codes_, 0) @ p
        return np.log(sides / (1 - sides)) / 2 @ model.codes_
    return model.codewords_ @ (p @ model.codewords_)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("model", [bb.AdaBoostMH(), bb.AdaBoostMO(), bb.CGENSSLS()])
def test_other_losses_have_the_correct_slope_at_equal_probabilities(model, n_classes):
    """The softmax has the slope of nearly equal probabilities."""
    model = clone(model).set_params(n_iterations=1).fit(*blobs(n_classes))
    change = np.random.default_rng(0).normal(size=n_classes)
    change -= change.mean()
    p = 1 / n_classes + 1e-5 * change
    scores = decision_values(best_scores(model, p)[None])
    np.testing.assert_allclose(probabilities(scores, model.inverse_temperature())[0], p, atol=1e-8)


class TestRounding:
    def test_largest_probability_belongs_to_the_largest_score(self):
        rng = np.random.default_rng(0)
        for size in (1e-17, 1e-15, 1.0, 30.0, 1e3, 1e300):
            base = rng.normal(size=(300, 1)) * (size < 1)
            scores = base + size * rng.normal(size=(300, 4))
            p = probabilities(scores, 0.4)
            assert (p.argmax(axis=1) == scores.argmax(axis=1)).all()
            np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
            assert ((p >= 0) & (p <= 1)).all()
            two = probabilities(scores[:, 0], 0.4)
            assert (two.argmax(axis=1) == (scores[:, 0] > 0)).all()
            np.testing.assert_allclose(two.sum(axis=1), 1.0, rtol=1e-14)

    def test_adjacent_and_equal_scores(self):
        one = np.array([[1.0, np.nextafter(1.0, 2.0), 0.0], [1.0, 1.0, 1.0]])
        assert probabilities(one, 0.1).argmax(axis=1).tolist() == [1, 0]
        assert probabilities(np.array([5e-324, 0.0, -5e-324])).argmax(axis=1).tolist() == [1, 0, 0]

    def test_equals_the_softmax(self):
        scores = np.random.default_rng(1).normal(size=(50, 3))
        np.testing.assert_allclose(probabilities(scores, 2.0), softmax(2.0 * scores, axis=1))
        pair = np.column_stack([np.zeros(50), scores[:, 0]])
        np.testing.assert_allclose(probabilities(scores[:, 0], 2.0), softmax(2.0 * pair, axis=1))


class TestLogarithms:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize(
        "fit",
        [
            bb.MCBoost(n_iterations=20).fit,
            bb.BaggedMCBoost(n_iterations=20, n_estimators=2, random_state=0).fit,
            bb.BaggedBooster(n_estimators=2, random_state=0).fit,
            lambda X, y: bb.reweight(bb.AdaBoostMH(20).fit(X, y), X, y),
        ],
        ids=["MCBoost", "BaggedMCBoost", "BaggedBooster", "reweight"],
    )
    def test_predict_log_proba_is_the_logarithm_of_predict_proba(self, fit, n_classes):
        X, y = blobs(n_classes)
        model = fit(X, y)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))

    def test_a_probability_of_zero_has_the_logarithm_minus_infinity_without_a_warning(self):
        assert log_probabilities(np.array([[0.0, 1.0]])).tolist() == [[-np.inf, 0.0]]


class TestScikitLearn:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_cross_validated_log_probabilities(self, n_classes):
        X, y = blobs(n_classes)
        logs = cross_val_predict(bb.MCBoost(9), X, y, cv=3, method="predict_log_proba")
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0)

    @pytest.mark.parametrize(
        ("n_classes", "scoring"),
        [(2, "neg_log_loss"), (2, "roc_auc"), (3, "neg_log_loss"), (3, "roc_auc_ovr")],
    )
    def test_cross_validation_by_probabilities(self, n_classes, scoring):
        X, y = blobs(n_classes, n_samples=120)
        scores = cross_val_score(bb.MCBoost(n_iterations=20), X, y, scoring=scoring, cv=3)
        assert np.isfinite(scores).all()
        assert scores.min() > (-np.log(n_classes) if "log" in scoring else 0.6)

    @pytest.mark.skipif(
        parse_version(sklearn.__version__) < parse_version("1.8"),
        reason="scikit-learn has temperature scaling since 1.8",
    )
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_calibration_by_another_temperature(self, n_classes):
        """A converged model is overconfident if labels do not depend on the features."""
        X, y = noise(n_classes, n_samples=300)
        train, test = slice(None, 200), slice(200, None)
        model = bb.MCBoost(n_iterations=300).fit(X[train], y[train])
        calibrated = CalibratedClassifierCV(clone(model), method="temperature", cv=3)
        p = calibrated.fit(X[train], y[train]).predict_proba(X[test])
        plain = log_loss(y[test], model.predict_proba(X[test]))
        assert log_loss(y[test], p) < min(plain, 1.1 * np.log(n_classes))


CLASSES = np.array(["a", "b", "c"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_prediction_does_not_depend_on_the_order_of_summation(seed, n_classes):
    """Terms that cancel, for all classes but the last one, added up in two orders."""
    rng = np.random.default_rng(seed)
    terms = np.zeros((200, 40, n_classes))
    half = rng.normal(size=(200, 20, 1))
    terms[:, :20], terms[:, 20:] = half, -half[:, ::-1]
    terms[:, :, -1] -= 0.0 if n_classes == 2 else 1e-3
    slack = max(rounding_slack(of_sample) for of_sample in terms)
    orders = [rng.permutation(40) for _ in range(4)]
    labels = [
        labels_from_scores(decision_values(terms[:, order].sum(axis=1), slack), CLASSES)
        for order in orders
    ]
    assert all((label == "a").all() for label in labels)


@pytest.mark.parametrize(
    ("scores", "first"),
    [
        ([0.3, 0.1 + 0.2, 0.2], True),
        ([1e-13, 2e-13, -1.0], True),
        ([1.0, 1.0 + 2e-12, 0.0], False),
        ([0.3, 0.1 + 0.2], True),
        ([1e-13, 2e-13], False),
    ],
)
def test_tolerance_is_relative_to_the_largest_score(scores, first):
    assert labels_from_scores(decision_values(np.array([scores])), CLASSES) == (
        "a" if first else "b"
    )


def test_different_scores_are_unchanged():
    scores = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_array_equal(decision_values(scores, 1e-11), scores)
    np.testing.assert_array_equal(decision_values(scores[:, :2]), scores[:, 1] - scores[:, 0])
    np.testing.assert_array_equal(decision_values(scores[:, 0], 1e-11), scores[:, 0])


def test_shape_functions_predict_like_the_model():
    """AdaBoost.MO gives many samples two classes of one score."""
    X, y = blobs(3, n_samples=90)
    model = AdaBoostMO(n_iterations=10).fit(X, y)
    new = np.random.default_rng(1).normal(size=(500, X.shape[1]))
    largest = np.sort(model.decision_function(new), axis=1)
    assert (largest[:, -1] == largest[:, -2]).any()
    assert (model.shape_functions().predict(new) == model.predict(new)).all()
