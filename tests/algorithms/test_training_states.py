"""Tests that a fitted model reproduces the training state of its last round.

The state of a master depends on its scores: it holds the scores, the weights of samples or of
(sample, class) pairs, or the objective. The tests compute the same quantity from the scores of the
fitted model, by the formulas of the papers.
"""

from inspect import isclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

import boostbench as bb
from boostbench.algorithms.base.booster import Booster, densify
from boostbench.algorithms.base.categories import decode_categories
from boostbench.algorithms.base.estimators import NoEarlyStoppingMixin
from boostbench.algorithms.rpboost import _LeastSquaresBooster
from boostbench.core.losses.objective import get_loss

from .models import BINARY, CASES
from .problems import messy, mixed

BAGS = (bb.BaggedLsBoostRegressor, bb.BaggedMCBoost)
FURTHER_CASES = {
    "BaggedLsBoostRegressor": bb.BaggedLsBoostRegressor(
        n_iterations=40, n_estimators=3, random_state=0
    ),
    "BaggedMCBoost": bb.BaggedMCBoost(n_iterations=40, n_estimators=3, random_state=0),
    "BaggedMCBoost, binned": bb.BaggedMCBoost(
        n_iterations=40, n_estimators=3, max_bins=8, random_state=0
    ),
    "CodewordBoosting": bb.CodewordBoosting(n_iterations=12, random_state=0),
    "LsBoostRegressor": bb.LsBoostRegressor(n_iterations=12),
    "ProjectedAdaBoostMH": bb.ProjectedAdaBoostMH(n_iterations=12, random_state=0),
    "ReducedMCBoost": bb.ReducedMCBoost(n_iterations=12, n_components=3, random_state=0),
}

# Tolerances of states that are updated in double precision or solved in single precision.
DOUBLE_PRECISION, SINGLE_PRECISION = 1e-7, 2e-4


class TrainingRecorder:
    """Observer that records the state of the master after each round, and the training rows."""

    def __init__(self, training, X, y, weights=None):
        self.training = training
        self.X, self.labels = densify(X), np.unique(y, return_inverse=True)[1]
        self.target = y
        self.weights = np.ones(len(y)) if weights is None else weights
        self.states = [None]

    def on_round_end(self):
        self.states.append(np.copy(self.kind[0](self)))
        return False

    def on_training_end(self):
        pass

    @property
    def kind(self):
        booster = self.training.booster
        return next(entry for kind, entry in TRAINING_STATES.items() if isinstance(booster, kind))

    @property
    def master(self):
        return self.training.master

    @property
    def label_positions(self):
        return np.eye(self.labels.max() + 1, dtype=bool)[self.labels]

    @property
    def signs(self):
        return 2.0 * self.labels - 1


def normalised(values):
    return values / values.sum()


def pairs(recorder, values):
    """Return the values of all pairs of a sample and a wrong class."""
    return values[~recorder.label_positions]


def margins(recorder, scores):
    """Return the margins of all pairs of a sample and a wrong class."""
    scores = np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores
    return pairs(recorder, scores[recorder.label_positions][:, None] - scores)


def pair_weights(recorder, scores, loss):
    """Return the normalised weights of the pairs, minus the derivatives of a loss."""
    derivatives = get_loss(loss).value_and_dual(margins(recorder, scores))[1]
    return normalised(
        np.repeat(recorder.weights, recorder.label_positions.shape[1] - 1) * derivatives
    )


def multiboost_objective(recorder, scores):
    """Return the penalised mean loss over all pairs, including the true classes (margin 0)."""
    model, rho = recorder.training.booster, np.zeros(recorder.label_positions.shape)
    rho[~recorder.label_positions] = margins(recorder, scores)
    if model.loss == "hinge":
        losses = np.maximum(0.0, 1.0 - rho)
    else:
        losses = get_loss(model.loss).value_and_dual(rho)[0]
    penalty = model.nu * np.abs(model.coefficients_).sum()
    return np.average(losses.mean(axis=1), weights=recorder.weights) + penalty


def half_margins(recorder, scores):
    weights = np.repeat(recorder.weights, recorder.label_positions.shape[1] - 1)
    return normalised(weights * np.exp(-margins(recorder, scores) / 2))


def pair_weights_of_loss(recorder, scores):
    return pair_weights(recorder, scores, recorder.training.booster.loss)


def pair_weights_of_sum_loss(recorder, scores):
    return pair_weights(recorder, scores, recorder.training.booster.loss.removesuffix("_sum"))


def output_code_weights(recorder, scores):
    """Return the weights of AdaBoost.MO; its codes are invertible for up to three classes."""
    codes = recorder.training.booster.codes_
    if len(codes) == 1:
        outputs = scores[:, :1] * codes[0, 0]
    else:
        outputs = np.linalg.solve(codes.T, scores.T).T
    return normalised(recorder.weights[:, None] * np.exp(-codes.T[recorder.labels] * outputs))


def svm_objective(recorder, scores):
    model = recorder.training.booster
    slack = np.maximum(0.0, 1.0 - recorder.signs * scores)
    losses = slack if model.loss == "hinge" else slack**2
    return model.coefficients_ @ model.coefficients_ / 2 + model.C * recorder.weights @ losses


def soft_margin_objective(recorder, scores):
    model = recorder.training.booster
    slack = np.maximum(0.0, 1.0 - recorder.signs * scores)
    return model.coefficients_.sum() + model.C * recorder.weights @ slack


def nm_boost_objective(recorder, scores):
    model = recorder.training.booster
    margin = 1 / max(model.n_iterations_, 2) if model.margin is None else model.margin
    rho = recorder.signs * scores
    return np.average(np.maximum(0.0, margin - rho) - model.C * rho, weights=recorder.weights)


def erlp_boost_objective(recorder, scores):
    model = recorder.training.booster
    d, rho = model.dual_, recorder.signs * scores
    is_positive = d > 0
    entropy = d[is_positive] @ np.log(d[is_positive] / normalised(recorder.weights)[is_positive])
    return -(d @ rho + entropy / max(0.5, 2 / model.epsilon * np.log(1 / model.nu)))


def scores_of_codewords(recorder):
    risk = recorder.master.risk
    return risk.predictions @ risk.codewords.T


def adaboost_weights(recorder, scores):
    """Return the normalised weights of AdaBoost, or of AdaBoost.MH for all classes."""
    if scores.ndim == 1:
        return normalised(recorder.weights * np.exp(-recorder.signs * scores))[:, None]
    return normalised(
        recorder.weights[:, None] * np.exp(np.where(recorder.label_positions, -scores, scores))
    )


def residuals(recorder, scores):
    is_class = hasattr(recorder.training.booster, "classes_")
    return (recorder.signs if is_class else recorder.target) - scores


def master_weights(recorder):
    return normalised(np.abs(recorder.master.weights))


def master_pair_weights(recorder):
    return normalised(np.abs(pairs(recorder, recorder.master.weights)))


def master_gains(recorder):
    gains = recorder.master.weights.gains
    # Two classes have opposite gains, of which a master may store one.
    return normalised(np.abs(gains[:, 0]) if gains.shape[1] == 1 else -pairs(recorder, gains))


def master_objective(recorder):
    return recorder.master.objective[-1]


def scores_of_residual(recorder):
    codewords = recorder.training.booster.codewords_
    targets = recorder.master.ridge.residual / recorder.weights[:, None]
    return (codewords[recorder.labels] - targets) @ codewords.T


def identity(recorder, scores):
    return scores


# Each booster (the first matching class counts) has the state of its master, the same state
# computed from the scores of the model, and the relative tolerance.
TRAINING_STATES = {
    bb.AdaBoostMO: (master_weights, output_code_weights, DOUBLE_PRECISION),
    # The votes change the scores of both classes of a margin.
    bb.AdaBoostECC: (master_pair_weights, half_margins, DOUBLE_PRECISION),
    (bb.AdaBoost, bb.AdaBoostMH): (master_weights, adaboost_weights, DOUBLE_PRECISION),
    bb.SAMME: (
        master_weights,
        lambda recorder, scores: normalised(
            recorder.weights * np.exp(-scores[recorder.label_positions])
        ),
        DOUBLE_PRECISION,
    ),
    bb.GradBoost: (lambda recorder: recorder.master.scores.T, identity, DOUBLE_PRECISION),
    bb.MCBoost: (master_gains, pair_weights_of_loss, DOUBLE_PRECISION),
    bb.MultiBoost: (master_objective, multiboost_objective, SINGLE_PRECISION),
    bb.RBoostRank: (
        master_pair_weights,
        lambda recorder, scores: pair_weights(recorder, scores, "exponential"),
        DOUBLE_PRECISION,
    ),
    bb.RBoostRankTC: (master_pair_weights, pair_weights_of_sum_loss, DOUBLE_PRECISION),
    bb.RBoostProj: (master_pair_weights, pair_weights_of_loss, SINGLE_PRECISION),
    bb.CGENS: (master_objective, svm_objective, DOUBLE_PRECISION),
    bb.CGENSSLS: (scores_of_residual, identity, DOUBLE_PRECISION),
    bb.LPBoost: (master_objective, soft_margin_objective, DOUBLE_PRECISION),
    bb.NMBoost: (master_objective, nm_boost_objective, DOUBLE_PRECISION),
    bb.ERLPBoost: (master_objective, erlp_boost_objective, DOUBLE_PRECISION),
    (bb.CodewordMCBoost, bb.CodewordBoosting): (scores_of_codewords, identity, DOUBLE_PRECISION),
    _LeastSquaresBooster: (lambda recorder: recorder.master.residual, residuals, DOUBLE_PRECISION),
    BAGS: (
        lambda recorder: (
            recorder.master.scores.mean(axis=1, dtype=float) * recorder.master.loss.scale
            + recorder.master.loss.offset
        ),
        identity,
        SINGLE_PRECISION,
    ),
}


def variants(model):
    yield "plain"
    if has_fit_parameter(model, "sample_weight"):
        yield "weights"
    if not isinstance(model, (NoEarlyStoppingMixin, bb.LsBoostRegressor, *BAGS)):
        yield "early stopping"
    if model.__sklearn_tags__().input_tags.sparse:
        yield "sparse"
    if model.__sklearn_tags__().input_tags.allow_nan:
        yield "table"
        if model.__sklearn_tags__().input_tags.sparse:
            yield "sparse with missing values"


def fits():
    recorders = []
    for name, model in (CASES | FURTHER_CASES).items():
        for n_classes in (2,) if isinstance(model, BINARY) else (2, 3):
            for variant in variants(model):
                recorders.append(
                    pytest.param(model, n_classes, variant, id=f"{name}, {n_classes}, {variant}")
                )
    return recorders


@pytest.mark.parametrize(("model", "n_classes", "variant"), fits())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_model_reproduces_the_training_state(model, n_classes, variant, monkeypatch):
    X, y = (messy if variant == "table" else mixed)(n_classes, n_samples=150, seed=1)
    recorders = []

    def make_observers(booster, training, early_stopping, *data, original=Booster._make_observers):
        recorders.append(TrainingRecorder(training, *data))
        return [*original(booster, training, early_stopping, *data), recorders[0]]

    monkeypatch.setattr(Booster, "_make_observers", make_observers)
    model, fit = clone(model), {}
    if variant != "plain" and has_fit_parameter(model, "sample_weight"):
        fit["sample_weight"] = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    if variant == "early stopping":
        model.set_params(n_iterations=30, n_iter_no_change=2, random_state=0)
    if variant == "sparse with missing values":
        X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    if variant.startswith("sparse"):
        X = sparse.csr_array(X)
    model.fit(X, y, **fit)
    (recorder,) = recorders
    _, expected_state, tolerance = recorder.kind
    assert 0 < model.n_iterations_ < len(recorder.states)
    state = recorder.states[model.n_iterations_]
    recorder.training.booster = model
    X = decode_categories(
        recorder.X, getattr(model, "categories_", {}), X.columns if variant == "table" else None
    )
    expected = expected_state(recorder, model._scores(X))
    np.testing.assert_allclose(
        state, expected.reshape(state.shape), rtol=tolerance, atol=tolerance * np.abs(state).max()
    )


def test_all_boosters_are_tested():
    models = [type(model) for model in (CASES | FURTHER_CASES).values()]
    for name in bb.__all__:
        kind = getattr(bb, name)
        assert kind in models or not (isclass(kind) and issubclass(kind, Booster)), name
