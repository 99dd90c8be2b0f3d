"""A fitted model scores its training rows as the training did that it comes from.

Every master remembers its scores: as they are, or in the weights of the samples or of their pairs
with classes, or in the value of its objective. What it remembers after the last round of the model
is compared with what follows from the scores of the fitted model, as the papers have it.
"""

from inspect import isclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

import boostbench as bb
from boostbench.algorithms.base.booster import Booster, to_dense
from boostbench.algorithms.base.categories import decode_categories
from boostbench.algorithms.base.estimators import NoEarlyStoppingMixin
from boostbench.algorithms.rpboost import _LeastSquaresBooster
from boostbench.core.losses.margin import get_loss

from .models import BINARY, CASES
from .problems import messy, mixed

BAGS = (bb.BaggedLsBoostRegressor, bb.BaggedMCBoost)
MORE = {
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

# What adds up round by round in double precision, and what is solved for in single precision.
EXACT, SINGLE = 1e-7, 2e-4


class Watch:
    """Keeps what the training remembers after each round, and the rows that it sees."""

    def __init__(self, training, X, y, weights=None):
        self.training = training
        self.X, self.labels = to_dense(X), np.unique(y, return_inverse=True)[1]
        self.target = y
        self.weights = np.ones(len(y)) if weights is None else weights
        self.memories = [None]

    def on_round_end(self):
        self.memories.append(np.copy(self.kind[0](self)))
        return False

    def on_training_end(self):
        pass

    @property
    def kind(self):
        booster = self.training.booster
        return next(known for kind, known in REMEMBERED.items() if isinstance(booster, kind))

    @property
    def master(self):
        return self.training.master

    @property
    def own(self):
        return np.eye(self.labels.max() + 1, dtype=bool)[self.labels]

    @property
    def signs(self):
        return 2.0 * self.labels - 1


def shares(values):
    return values / values.sum()


def pairs(watch, values):
    """Of each sample and the classes that it is not in."""
    return values[~watch.own]


def margins(watch, scores):
    """Of the score of the own class before the others."""
    scores = np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores
    return pairs(watch, scores[watch.own][:, None] - scores)


def pair_weights(watch, scores, loss):
    """Shares of the weights of the pairs, which are minus the derivatives of a loss."""
    fall = get_loss(loss).value_and_dual(margins(watch, scores))[1]
    return shares(np.repeat(watch.weights, watch.own.shape[1] - 1) * fall)


def of_multiboost(watch, scores):
    """The mean loss over all pairs, those of margin 0 with the own classes too, and the norm."""
    model, rho = watch.training.booster, np.zeros(watch.own.shape)
    rho[~watch.own] = margins(watch, scores)
    if model.loss == "hinge":
        losses = np.maximum(0.0, 1.0 - rho)
    else:
        losses = get_loss(model.loss).value_and_dual(rho)[0]
    penalty = model.nu * np.abs(model.coefficients_).sum()
    return np.average(losses.mean(axis=1), weights=watch.weights) + penalty


def half_margins(watch, scores):
    weights = np.repeat(watch.weights, watch.own.shape[1] - 1)
    return shares(weights * np.exp(-margins(watch, scores) / 2))


def of_projections(watch, scores):
    return pair_weights(watch, scores, watch.training.booster.loss)


def of_rankings(watch, scores):
    return pair_weights(watch, scores, watch.training.booster.loss.removesuffix("_sum"))


def of_codes(watch, scores):
    """The outputs of AdaBoost.MO for its codes, which are as many as there are classes here."""
    codes = watch.training.booster.codes_
    if len(codes) == 1:
        outputs = scores[:, :1] * codes[0, 0]
    else:
        outputs = np.linalg.solve(codes.T, scores.T).T
    return shares(watch.weights[:, None] * np.exp(-codes.T[watch.labels] * outputs))


def of_support_vectors(watch, scores):
    model = watch.training.booster
    slack = np.maximum(0.0, 1.0 - watch.signs * scores)
    losses = slack if model.loss == "hinge" else slack**2
    return model.coefficients_ @ model.coefficients_ / 2 + model.C * watch.weights @ losses


def of_soft_margins(watch, scores):
    model = watch.training.booster
    slack = np.maximum(0.0, 1.0 - watch.signs * scores)
    return model.coefficients_.sum() + model.C * watch.weights @ slack


def of_negative_margins(watch, scores):
    model = watch.training.booster
    margin = 1 / max(model.n_iterations_, 2) if model.margin is None else model.margin
    rho = watch.signs * scores
    return np.average(np.maximum(0.0, margin - rho) - model.C * rho, weights=watch.weights)


def of_entropy_margins(watch, scores):
    model = watch.training.booster
    d, rho = model.dual_, watch.signs * scores
    some = d > 0
    entropy = d[some] @ np.log(d[some] / shares(watch.weights)[some])
    return -(d @ rho + entropy / max(0.5, 2 / model.epsilon * np.log(1 / model.nu)))


def remembered_codewords(watch):
    risk = watch.master.risk
    return risk.predictions @ risk.codewords.T


def of_signs(watch, scores):
    """Shares of the weights of AdaBoost, of its samples or their pairs with all classes."""
    if scores.ndim == 1:
        return shares(watch.weights * np.exp(-watch.signs * scores))[:, None]
    return shares(watch.weights[:, None] * np.exp(np.where(watch.own, -scores, scores)))


def of_residuals(watch, scores):
    is_class = hasattr(watch.training.booster, "classes_")
    return (watch.signs if is_class else watch.target) - scores


def remembered_weights(watch):
    return shares(np.abs(watch.master.weights))


def remembered_pairs(watch):
    return shares(np.abs(pairs(watch, watch.master.weights)))


def remembered_gains(watch):
    gains = watch.master.weights.gains
    # Of two classes the second has the gains of the first, of the other sign.
    return shares(np.abs(gains[:, 0]) if gains.shape[1] == 1 else -pairs(watch, gains))


def remembered_objective(watch):
    return watch.master.objective[-1]


def remembered_simplex(watch):
    codewords = watch.training.booster.codewords_
    left = watch.master.ridge.residual / watch.weights[:, None]
    return (codewords[watch.labels] - left) @ codewords.T


def themselves(watch, scores):
    return scores


# By kind, the first that fits: what a master remembers, the same by the scores of the model, and
# by how much they may differ.
REMEMBERED = {
    bb.AdaBoostMO: (remembered_weights, of_codes, EXACT),
    # The votes are on both sides of the margin.
    bb.AdaBoostECC: (remembered_pairs, half_margins, EXACT),
    (bb.AdaBoost, bb.AdaBoostMH): (remembered_weights, of_signs, EXACT),
    bb.SAMME: (
        remembered_weights,
        lambda watch, scores: shares(watch.weights * np.exp(-scores[watch.own])),
        EXACT,
    ),
    bb.GradBoost: (lambda watch: watch.master.scores.T, themselves, EXACT),
    bb.MCBoost: (remembered_gains, of_projections, EXACT),
    bb.MultiBoost: (remembered_objective, of_multiboost, SINGLE),
    bb.RBoostRank: (
        remembered_pairs,
        lambda watch, scores: pair_weights(watch, scores, "exponential"),
        EXACT,
    ),
    bb.RBoostRankTC: (remembered_pairs, of_rankings, EXACT),
    bb.RBoostProj: (remembered_pairs, of_projections, SINGLE),
    bb.CGENS: (remembered_objective, of_support_vectors, EXACT),
    bb.CGENSSLS: (remembered_simplex, themselves, EXACT),
    bb.LPBoost: (remembered_objective, of_soft_margins, EXACT),
    bb.NMBoost: (remembered_objective, of_negative_margins, EXACT),
    bb.ERLPBoost: (remembered_objective, of_entropy_margins, EXACT),
    (bb.CodewordMCBoost, bb.CodewordBoosting): (remembered_codewords, themselves, EXACT),
    _LeastSquaresBooster: (lambda watch: watch.master.residual, of_residuals, EXACT),
    BAGS: (
        lambda watch: (
            watch.master.scores.mean(axis=1, dtype=float) * watch.master.loss.scale
            + watch.master.loss.offset
        ),
        themselves,
        SINGLE,
    ),
}


def ways(model):
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
    found = []
    for name, model in (CASES | MORE).items():
        for n_classes in (2,) if isinstance(model, BINARY) else (2, 3):
            for way in ways(model):
                found.append(pytest.param(model, n_classes, way, id=f"{name}, {n_classes}, {way}"))
    return found


@pytest.mark.parametrize(("model", "n_classes", "way"), fits())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_model_scores_as_the_training_did(model, n_classes, way, monkeypatch):
    X, y = (messy if way == "table" else mixed)(n_classes, n_samples=150, seed=1)
    watches = []

    def onlookers(booster, training, *data, listed=Booster._make_observers, **validation):
        watches.append(Watch(training, *data))
        return [*listed(booster, training, *data, **validation), watches[0]]

    monkeypatch.setattr(Booster, "_make_observers", onlookers)
    model, fit = clone(model), {}
    if way != "plain" and has_fit_parameter(model, "sample_weight"):
        fit["sample_weight"] = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    if way == "early stopping":
        model.set_params(n_iterations=30, n_iter_no_change=2, random_state=0)
    if way == "sparse with missing values":
        X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    if way.startswith("sparse"):
        X = sparse.csr_array(X)
    model.fit(X, y, **fit)
    (watch,) = watches
    _, follow, tolerance = watch.kind
    assert 0 < model.n_iterations_ < len(watch.memories)
    found = watch.memories[model.n_iterations_]
    watch.training.booster = model
    X = decode_categories(
        watch.X, getattr(model, "categories_", {}), X.columns if way == "table" else None
    )
    wanted = follow(watch, model._scores(X))
    np.testing.assert_allclose(
        found, wanted.reshape(found.shape), rtol=tolerance, atol=tolerance * np.abs(found).max()
    )


def test_every_booster_is_among_them():
    models = [type(model) for model in (CASES | MORE).values()]
    for name in bb.__all__:
        kind = getattr(bb, name)
        assert kind in models or not (isclass(kind) and issubclass(kind, Booster)), name
