import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

import boostbench as bb
from boostbench.algorithms.base.master import StumpMaster
from boostbench.algorithms.base.observers import MIN_DECREASE, stratified_holdout
from boostbench.testing import check_fitted_booster

from ..problems import blobs

BOOSTERS = [
    bb.AdaBoost(),
    bb.AdaBoostECC(random_state=0),
    bb.AdaBoostMH(),
    bb.AdaBoostMO(),
    bb.AdaBoostSIP(),
    bb.GradBoost(nu=1e-5),
    bb.LsBoost(),
    bb.MCBoost(),
    bb.MCBoost(loss="logistic"),
    bb.MCBoost(weak_learner="tree", max_depth=1),
    bb.MultiBoost(nu=1e-5),
    bb.MultiBoost(nu=1e-5, loss="exponential"),
    bb.MultiBoost(nu=1e-3, loss="hinge"),
    bb.MultiBoost(nu=1e-6, start="zero"),
    bb.PerceptronAdaBoost(n_candidates=50, random_state=0),
    bb.ProjectedAdaBoostMH(n_components=3),
    bb.RBoostProj(random_state=0),
    bb.RBoostProj(rule="paper", n_projections=30, random_state=0),
    bb.RpBoost(random_state=0),
    bb.SAMME(),
    bb.SAMME(weak_learner="tree", random_state=0),
]


def plain_rule(losses, patience):
    """Return the last round and the best round, computed one loss at a time."""
    best = 1
    for stage, loss in enumerate(losses, 1):
        if loss < losses[best - 1] - MIN_DECREASE:
            best = stage
        if stage == best + patience:
            break
    return stage, best


@pytest.mark.parametrize("booster", BOOSTERS, ids=str)
def test_model_equals_a_fit_of_the_best_round(booster):
    patience = 5
    n_classes = 3 if booster.__sklearn_tags__().classifier_tags.multi_class else 2
    X, y = blobs(n_classes, n_samples=150, spread=2.5)
    y = np.array(["ant", "bee", "cat"])[y]
    # Validation samples of the same distribution; with other samples the first round is the best.
    X, y, X_val, y_val = X[::2], y[::2], X[1::2], y[1::2]
    n_iterations = 30
    longest = clone(booster).set_params(n_iterations=n_iterations).fit(X, y)
    losses = [log_loss(y_val, p) for p in longest.staged_predict_proba(X_val)]
    end, best = plain_rule(losses, patience)
    params = {"n_iterations": n_iterations, "n_iter_no_change": patience}
    stopped = clone(booster).set_params(**params).fit(X, y, X_val=X_val, y_val=y_val)
    assert stopped.n_iterations_ == best
    np.testing.assert_allclose(stopped.validation_losses_, losses[:end], rtol=1e-7)
    # The model equals a fit of this number of rounds exactly. Single-precision products of rows
    # depend on the size of the allocated memory.
    short = clone(booster).set_params(n_iterations=best).fit(X, y)
    tol = 1e-3 if booster.get_params().get("rule") == "paper" else 0.0
    scores = stopped.decision_function(X_val)
    np.testing.assert_allclose(scores, short.decision_function(X_val), rtol=tol, atol=tol)
    assert stopped.n_parameters_ == short.n_parameters_
    for name in ("objective_", "n_hypotheses_", "rows_"):
        if hasattr(short, name):
            np.testing.assert_allclose(getattr(stopped, name), getattr(short, name), rtol=tol)
    if hasattr(short, "dual_"):
        np.testing.assert_allclose(stopped.dual_, short.dual_, atol=1e-12)
    check_fitted_booster(stopped, X)


def test_early_stopping_saves_rounds_and_errors():
    X, y = blobs(2, n_samples=3300, spread=4.0)
    X, y, X_test, y_test = X[:300], y[:300], X[300:], y[300:]
    longest = bb.MCBoost(n_iterations=500).fit(X, y)
    stopped = bb.MCBoost(n_iterations=500, n_iter_no_change=20, random_state=0).fit(X, y)
    assert stopped.n_iterations_ <= len(stopped.validation_losses_) - 20 < 100
    assert log_loss(y_test, stopped.predict_proba(X_test)) < log_loss(
        y_test, longest.predict_proba(X_test)
    )


def test_holdout_is_stratified():
    X, y = blobs(3, n_samples=200)
    model = bb.AdaBoostMH(n_iter_no_change=5, validation_fraction=0.2, random_state=3).fit(X, y)
    train, held_out = stratified_holdout(y, 0.2, np.random.RandomState(3))
    assert len(held_out) == 40
    assert np.ptp(np.bincount(y[held_out])) <= 1
    assert sorted([*train, *held_out]) == list(range(200))
    validated = bb.AdaBoostMH(n_iter_no_change=5).fit(
        X[train], y[train], X_val=X[held_out], y_val=y[held_out]
    )
    assert (validated.decision_function(X) == model.decision_function(X)).all()
    assert (validated.validation_losses_ == model.validation_losses_).all()


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 0.99])
def test_every_class_keeps_a_training_sample(fraction):
    labels = np.repeat([3, 5, 7, 8], [1, 2, 30, 60])
    for seed in range(20):
        train, held_out = stratified_holdout(labels, fraction, np.random.RandomState(seed))
        assert sorted([*train, *held_out]) == list(range(93))
        assert set(labels[train]) == {3, 5, 7, 8}
        assert len(held_out) == min(max(1, round(fraction * 93)), 89)
        share = len(held_out) / 89
        for label, n_others in [(7, 29), (8, 59)]:
            assert abs((labels[held_out] == label).sum() - share * n_others) <= 1


def test_fit_without_early_stopping_removes_validation_losses():
    X, y = blobs(3)
    model = bb.AdaBoostMH(n_iterations=8, n_iter_no_change=3, random_state=0).fit(X, y)
    assert len(model.validation_losses_)
    assert not hasattr(model.set_params(n_iter_no_change=None).fit(X, y), "validation_losses_")


def test_rounds_without_progress_end_the_training():
    # The classes are separable, so that the loss decreases without end, but ever more slowly.
    X = np.arange(60.0)[:, None]
    X = np.hstack([X, X[::-1] % 7])
    y = (X[:, 0] > 30).astype(int) + (X[:, 0] > 45)
    model = bb.MCBoost(n_iterations=1000, n_iter_no_change=5, random_state=0).fit(X, y)
    assert model.n_iterations_ < 100
    assert model.score(X, y) > 0.7


def test_validation_weights_multiply_the_losses():
    X, y = blobs(3, n_samples=200, spread=4.0)
    X, y, X_val, y_val = X[:100], y[:100], X[100:], y[100:]
    weights = np.arange(100) % 4
    model = bb.MCBoost(n_iterations=40, n_iter_no_change=40)
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    repeated = clone(model).fit(
        X, y, X_val=np.repeat(X_val, weights, axis=0), y_val=np.repeat(y_val, weights)
    )
    np.testing.assert_allclose(model.validation_losses_, repeated.validation_losses_)
    assert model.n_iterations_ == repeated.n_iterations_
    with pytest.raises(ValueError, match="give both"):
        model.fit(X, y, sample_weight_val=weights)


class TestErrors:
    def test_rejects_boosters_whose_rounds_cannot_be_undone(self):
        X, y = blobs(2)
        with pytest.raises(TypeError, match=r"LPBoost got an unexpected .*'n_iter_no_change'"):
            bb.LPBoost(n_iter_no_change=5)
        with pytest.raises(ValueError, match="LPBoost has no early stopping, which X_val"):
            bb.LPBoost().fit(X, y, X_val=X, y_val=y)

    def test_rejects_masters_without_per_round_lists(self, monkeypatch):
        monkeypatch.setattr(StumpMaster, "per_round_lists", None)
        with pytest.raises(ValueError, match="AdaBoostMH has no early stopping, which n_iter"):
            bb.AdaBoostMH(n_iter_no_change=5).fit(*blobs(2))

    def test_rejects_a_warm_start(self):
        with pytest.raises(ValueError, match="set n_iter_no_change=None or warm_start=False"):
            bb.MultiBoost(n_iter_no_change=5, warm_start=True).fit(*blobs(2))

    def test_rejects_too_few_samples(self):
        with pytest.raises(ValueError, match=r"class of 2 samples or more.*n_iter_no_change=None"):
            bb.MCBoost(n_iter_no_change=5).fit(np.arange(3.0)[:, None], [0, 1, 2])

    @pytest.mark.parametrize("params", [{"n_iter_no_change": 0}, {"validation_fraction": 1.0}])
    def test_rejects_parameters_out_of_range(self, params):
        with pytest.raises(ValueError, match=next(iter(params))):
            bb.MCBoost(**params).fit(*blobs(2))

    def test_rejects_unused_validation_samples(self):
        X, y = blobs(2)
        with pytest.raises(ValueError, match="early stopping: set n_iter_no_change"):
            bb.MCBoost().fit(X, y, X_val=X, y_val=y)
        with pytest.raises(ValueError, match="give both"):
            bb.MCBoost(n_iter_no_change=3).fit(X, y, X_val=X)
        with pytest.raises(ValueError, match="LsBoostRegressor has no early stopping, which X_val"):
            bb.LsBoostRegressor().fit(X, y, X_val=X, y_val=y)

    def test_rejects_validation_labels_of_unknown_classes(self):
        X, y = blobs(2)
        with pytest.raises(ValueError, match=r"y_val holds .*2.*no class of the training data"):
            bb.MCBoost(n_iter_no_change=3).fit(X, y, X_val=X, y_val=y + 1)
        with pytest.raises(ValueError, match="features"):
            bb.MCBoost(n_iter_no_change=3).fit(X, y, X_val=X[:, 1:], y_val=y)


@pytest.mark.parametrize("n_classes", [1, 3, 300])
def test_stratified_holdout_sorts_by_class_and_random_number(n_classes):
    """The samples have the order of a sort by two keys."""
    labels = np.random.default_rng(0).integers(n_classes, size=2000)
    train, held_out = stratified_holdout(labels, 0.25, np.random.RandomState(0))
    state = np.random.RandomState(0)
    order = np.lexsort([state.random_sample(2000), labels])
    start = state.random_sample()
    first = np.unique(labels[order], return_index=True)[1]
    rest = np.delete(order, first)
    expected = rest[((np.arange(500) + start) * len(rest) / 500).astype(int)]
    np.testing.assert_array_equal(held_out, expected)
    np.testing.assert_array_equal(train, np.setdiff1d(np.arange(2000), expected))


class TestSharedRows:
    """Validation samples that are training samples."""

    @pytest.mark.parametrize(
        "model",
        [
            bb.MCBoost(n_iterations=3, n_iter_no_change=2),
            bb.BaggedMCBoost(n_iterations=3, n_estimators=2, random_state=0),
            bb.BaggedBooster(bb.MCBoost(n_iterations=3), n_estimators=2, random_state=0),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_fit_warns_if_most_validation_samples_are_training_samples(self, model):
        X, y = load_iris(return_X_y=True)
        with pytest.warns(UserWarning, match="51 of the 60 samples of X_val are training samples"):
            clone(model).fit(X[:140], y[:140], X_val=X[90:], y_val=y[90:])

    def test_rows_that_are_equal_by_nature_give_no_warning(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 2, (200, 3)).astype(float)
        y = (X.sum(axis=1) + rng.normal(size=200) > 1.5).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            model = bb.MCBoost(n_iterations=3, n_iter_no_change=2)
            model.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])

    def test_rows_with_another_label_are_no_training_samples(self):
        X, y = load_iris(return_X_y=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            bb.MCBoost(n_iterations=3, n_iter_no_change=2).fit(X, y, X_val=X, y_val=(y + 1) % 3)
