"""Bags end by the caller's validation samples, a time limit or a callback."""

import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boostbench import BaggedBooster, BaggedLsBoostRegressor, BaggedMCBoost, MCBoost

from ..problems import blobs, messy

JOINT = {
    "two classes": (BaggedMCBoost(n_estimators=4, random_state=0), 2),
    "three classes": (BaggedMCBoost(n_estimators=4, random_state=0), 3),
    "numbers": (BaggedLsBoostRegressor(n_estimators=4, random_state=0), 0),
}
ALL = JOINT | {"members": (BaggedBooster(n_estimators=3, n_iter_no_change=9, random_state=0), 3)}


def samples(n_classes, seed=0):
    """Draw a table with categories and missing values, and its labels or numbers."""
    X, y = messy(max(n_classes, 2), 300, seed)
    if n_classes == 0:
        return X, X["number"].fillna(1.0).to_numpy() + y
    return X, np.array(["ant", "bee", "cat"])[y]


def mean_loss(model, X, y, weights=None):
    if hasattr(model, "classes_"):
        return log_loss(y, model.predict_proba(X), sample_weight=weights)
    return mean_squared_error(y, model.predict(X), sample_weight=weights)


@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_validation_losses_are_losses_of_the_models_of_all_rounds(name, is_weighted):
    model, n_classes = JOINT[name]
    (X, y), (X_val, y_val) = samples(n_classes), samples(n_classes, seed=1)
    # Unknown categories and missing values of a feature without missing values in training.
    X_val.loc[:20, "words"] = "unknown"
    X_val.loc[20:40, X_val.columns[0]] = None
    weights = np.random.default_rng(0).integers(0, 3, len(y_val)) if is_weighted else None
    validation = {"X_val": X_val, "y_val": y_val, "sample_weight_val": weights}
    model = clone(model).fit(X, y, **validation)
    assert 0 < model.n_iterations_ < len(model.validation_losses_)
    for rounds in range(1, len(model.validation_losses_), 7):
        short = clone(model).set_params(n_iterations=rounds).fit(X, y, **validation)
        best = short.n_iterations_
        if best == rounds:
            np.testing.assert_allclose(
                model.validation_losses_[best - 1], mean_loss(short, X_val, y_val, weights)
            )
    assert model.validation_losses_[model.n_iterations_ - 1] == pytest.approx(
        mean_loss(model, X_val, y_val, weights)
    )


@pytest.mark.parametrize("name", JOINT)
def test_validation_samples_end_the_training_of_pairs(name, monkeypatch):
    from boostbench.algorithms.bagging.interactions import InteractionMaster

    masters, train = [], InteractionMaster.train

    def record_master(master):
        masters.append(master)
        train(master)

    monkeypatch.setattr(InteractionMaster, "train", record_master)
    model, n_classes = JOINT[name]
    (X, y), (X_val, y_val) = samples(n_classes), samples(n_classes, seed=1)
    # A product of two features, which stumps cannot represent.
    if n_classes:
        is_even = (X["number"] > 0) == (X["count"] > X["count"].median())
        is_even_val = (X_val["number"] > 0) == (X_val["count"] > X["count"].median())
        y, y_val = (np.where(even, y, "bee") for even in (is_even, is_even_val))
    else:
        y = y + X["number"].fillna(0) * X["count"].fillna(0)
        y_val = y_val + X_val["number"].fillna(0) * X_val["count"].fillna(0)
    model = clone(model).set_params(interactions=2).fit(X, y, X_val=X_val, y_val=y_val)
    [master] = masters
    assert master.best_round > 0
    best = master.loss.reported_losses(np.array(master.losses[master.best_round - 1]))
    assert float(best) == pytest.approx(mean_loss(model, X_val, y_val), rel=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_bags_do_not_depend_on_validation_samples(name):
    model, n_classes = ALL[name]
    X, y = samples(n_classes)
    rounds = {"n_iterations": 3} if name in JOINT else {"n_iter_no_change": 1000}
    if name == "members":
        rounds["estimator"] = MCBoost(n_iterations=3)
    plain = clone(model).set_params(**rounds).fit(X, y)
    validated = clone(model).set_params(**rounds).fit(X, y, X_val=X, y_val=y)
    for bag in (plain, validated):
        assert bag.score(X, y) > 0
    assert len(plain.stump_sum().stumps) == len(validated.stump_sum().stumps)
    np.testing.assert_array_equal(
        plain.stump_sum().coefficients, validated.stump_sum().coefficients
    )


def test_members_of_a_bag_stop_by_given_samples():
    X, y = blobs(3, n_samples=400, spread=3.0)
    X, y, X_val, y_val = X[:200], y[:200], X[200:], y[200:]
    weights = np.arange(200) % 3
    bag = BaggedBooster(n_estimators=3, n_iter_no_change=9, random_state=0)
    bag.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    for member in bag.estimators_:
        loss = member.validation_losses_[member.n_iterations_ - 1]
        assert loss == pytest.approx(mean_loss(member, X_val, y_val, weights))


@pytest.mark.parametrize("name", ALL)
def test_incomplete_validation_samples_are_rejected(name):
    model, n_classes = ALL[name]
    X, y = samples(n_classes)
    for validation in ({"X_val": X}, {"y_val": y}, {"sample_weight_val": np.ones(len(y))}):
        with pytest.raises(ValueError, match="X_val and y_val are for early stopping: give both"):
            clone(model).fit(X, y, **validation)
    with pytest.raises(ValueError, match=r"at least one non-zero number|have the weight 0"):
        clone(model).fit(X, y, X_val=X, y_val=y, sample_weight_val=np.zeros(len(y)))
    if n_classes:
        with pytest.raises(ValueError, match="'dog', which is no class of the training data"):
            clone(model).fit(X, y, X_val=X, y_val=np.full(len(y), "dog"))
    else:
        with pytest.raises(ValueError, match="y contains NaN"):
            clone(model).fit(X, y, X_val=X, y_val=np.full(len(y), np.nan))


@pytest.mark.parametrize("name", ALL)
def test_a_short_time_limit_keeps_one_round(name):
    model, n_classes = ALL[name]
    X, y = samples(n_classes)
    limited = clone(model).set_params(time_limit=1e-9).fit(X, y)
    members = getattr(limited, "estimators_", [limited])
    assert [len(member.validation_losses_) for member in members] == [1] * len(members)
    assert len(members) == (3 if name == "members" else 1)
    unlimited, long = (clone(model).set_params(time_limit=limit).fit(X, y) for limit in (None, 1e6))
    np.testing.assert_array_equal(unlimited.stump_sum().coefficients, long.stump_sum().coefficients)


def test_pairs_are_not_trained_after_the_time_limit():
    X, y = samples(2)
    model = BaggedMCBoost(interactions=2, time_limit=1e-9, random_state=0).fit(X, y)
    assert model.pairs_ == []


def test_progress_lines_show_the_validation_loss(capsys):
    X, y = samples(2)
    model = BaggedMCBoost(n_estimators=4, verbose=5, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    losses = [float(re.search(r"validation loss (\S+) ", line)[1]) for line in lines]
    n_rounds = len(model.validation_losses_)
    shown = [*range(5, n_rounds + 1, 5), *([n_rounds] if n_rounds % 5 else [])]
    np.testing.assert_allclose(losses, model.validation_losses_[np.array(shown) - 1], rtol=1e-5)
    assert f"(best round {model.n_iterations_})" in lines[-1]


def test_progress_lines_of_members(capsys):
    X, y = blobs(2)
    bag = BaggedBooster(n_estimators=5, n_iter_no_change=3, verbose=2, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    for line, index in zip(lines, [2, 4, 5], strict=True):
        member = bag.estimators_[index - 1]
        assert line.startswith(
            f"BaggedBooster, member {index} of 5: {member.n_iterations_} rounds, validation loss "
        )


class StopAfter:
    """Callback that ends the training after some members or rounds."""

    def __init__(self, count):
        self.count, self.names = count, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.names.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        self.scores = fitted_estimator.predict(X)
        return self.names.count("member") == self.count or self.names.count("round") == self.count


@pytest.mark.parametrize("name", ALL)
def test_callback_ends_the_training(name):
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    model, n_classes = ALL[name]
    X, y = samples(n_classes)
    callback = StopAfter(2)
    stopped = clone(model).set_callbacks(callback).fit(X, y)
    is_joint = name in JOINT
    assert callback.names == ["fit", *["round" if is_joint else "member"] * 2]
    if is_joint:
        assert len(stopped.validation_losses_) == 2
    else:
        assert len(stopped.estimators_) == 2
        assert stopped.feature_importances_.sum() == pytest.approx(1)
    assert (callback.scores == stopped.predict(X)).all()


@pytest.mark.parametrize("name", ALL)
def test_metadata_routing_passes_validation_samples(name):
    model, n_classes = ALL[name]
    X, y = blobs(max(n_classes, 2), n_samples=300, spread=3.0)
    X, y, X_val, y_val = X[:200], y[:200], X[200:], y[200:]
    with config_context(enable_metadata_routing=True):
        booster = clone(model).set_fit_request(X_val=True, y_val=True)
        pipeline = make_pipeline(StandardScaler(), booster)
        pipeline.fit(X, y, X_val=X_val, y_val=y_val)
    expected = clone(model).fit(StandardScaler().fit_transform(X), y, X_val=X_val, y_val=y_val)
    np.testing.assert_array_equal(
        pipeline[-1].stump_sum().coefficients, expected.stump_sum().coefficients
    )
