import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostbench.algorithms import (
    AdaBoost,
    AdaBoostMH,
    BaggedLsBoostRegressor,
    LsBoostRegressor,
    MultiBoost,
)
from boostbench.algorithms.base.estimators import BinaryClassifier
from boostbench.algorithms.base.master import MIN_EDGE, Master
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stumps

from ..problems import blobs


class ToyMaster(Master):
    """L2 boosting by stumps, of one or more targets at once."""

    def __init__(self, params, search, targets):
        super().__init__(params, search)
        self.residuals = targets.astype(float)
        self.stumps = []
        self.coefficients = []

    def generate(self):
        best = self.search.best(self.residuals)
        return best if best is not None and best.edge > MIN_EDGE else None

    def correct(self, best):
        self.stumps.append(best.learner)
        self.coefficients.append(best.outputs @ self.residuals / len(best.outputs))
        self.residuals -= np.outer(best.outputs, self.coefficients[-1])
        return True


class Toy:
    """Base of the toy boosters."""

    def __init__(self, n_iterations=10, random_state=None):
        self.n_iterations = n_iterations
        self.random_state = random_state

    def _store_model(self, master):
        self.hypotheses_ = Stumps(master.stumps)
        shape = (len(master.stumps), master.residuals.shape[1])
        self.coefficients_ = np.reshape(master.coefficients, shape)
        self.n_parameters_ = 2 * len(self.hypotheses_) + self.coefficients_.size


class ToyBinaryClassifier(Toy, BinaryClassifier):
    """Toy booster with scores of shape (n_samples,), like binary algorithms."""

    def _make_master(self, X, signs, random_state):
        return ToyMaster(self, StumpSearch(X), signs[:, None])

    def _staged_scores(self, X, stages):
        for scores in super()._staged_scores(X, stages):
            yield scores[:, 0]


@parametrize_with_checks([ToyBinaryClassifier()])
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


def test_binary_decision_function_is_one_dimensional():
    X, y = blobs(2)
    names = np.array(["no", "yes"])[y]
    toy = ToyBinaryClassifier(n_iterations=30).fit(X, names)
    scores = toy.decision_function(X)
    assert scores.shape == (len(X),)
    assert (toy.predict(X) == np.where(scores > 0, "yes", "no")).all()
    stages = list(toy.staged_decision_function(X))
    assert [stage.shape for stage in stages] == [(len(X),)] * 30
    np.testing.assert_allclose(stages[-1], scores)
    assert toy.score(X, names) > 0.8
    with pytest.raises(ValueError, match=r"[Bb]inary.*3 classes"):
        toy.fit(*blobs(3))


class TestTime:
    def test_phases_sum_to_the_time_of_the_fit(self, fine_clock):
        X, y = blobs(3, n_samples=300)
        model = MultiBoost(n_iterations=20).fit(X, y)
        assert set(model.seconds_) == {"preparation", "search", "coefficients"}
        assert min(model.seconds_.values()) > 0
        both = model.weak_learner_time_ + model.coefficient_time_
        assert both == pytest.approx(sum(model.seconds_.values()))

    def test_times_of_a_model_without_rounds(self):
        model = AdaBoostMH().fit(np.ones((4, 1)), [0, 0, 1, 1])
        assert model.n_iterations_ == 0
        assert model.coefficient_time_ == 0
        assert model.weak_learner_time_ >= 0

    def test_times_require_a_fitted_model(self):
        assert not hasattr(AdaBoostMH(), "weak_learner_time_")
        assert not hasattr(AdaBoostMH(), "coefficient_time_")


@pytest.mark.parametrize("model", [LsBoostRegressor(), BaggedLsBoostRegressor()])
def test_regression_targets_must_be_finite(model):
    y = np.array([1.0, None, 2.0, 3.0], dtype=object)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        model.fit(np.arange(4.0)[:, None], y)


def test_staged_predict_of_a_regressor_ends_with_its_predictions():
    X, y = blobs(3)
    model = LsBoostRegressor(n_iterations=9).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iterations_ == 9
    for rounds, stage in enumerate(stages, 1):
        fewer = LsBoostRegressor(n_iterations=rounds).fit(X, y)
        np.testing.assert_allclose(stage, fewer.predict(X), rtol=1e-12)


class TestBooleans:
    @pytest.mark.parametrize("model", [AdaBoost(n_iterations=True), MultiBoost(nu=True)])
    def test_booleans_are_rejected_for_numbers(self, model):
        with pytest.raises(ValueError, match=f"{type(model).__name__} must not be a boolean.*True"):
            model.fit(*blobs(2))

    def test_booleans_are_accepted_for_boolean_parameters(self):
        X, y = blobs(2)
        assert MultiBoost(n_iterations=3, warm_start=True).fit(X, y).n_iterations_ == 3
