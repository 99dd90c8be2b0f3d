"""Standard deviations of the functions of a bag, against its members and against refits."""

import pickle

import numpy as np
import pandas as pd
import pytest

from boostbench import BaggedLsBoostRegressor, BaggedMCBoost, MCBoost
from boostbench.algorithms.bagging.interactions import InteractionMaster
from boostbench.algorithms.bagging.stump_rounds import JointStumpMaster

from ..problems import blobs, messy


def draw(n_samples, rng, n_outputs):
    """Draw samples of a known population; one output: numbers."""
    X = rng.normal(size=(n_samples, 4))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    score = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + np.where(X[:, 2] > 0.5, 1, 0)
    if n_outputs == 1:
        return X, score + rng.normal(size=n_samples)
    noisy = np.stack([score, np.zeros(n_samples), -score][:n_outputs], axis=1)
    return X, (noisy + rng.gumbel(size=noisy.shape)).argmax(axis=1)


def bag(n_outputs, **params):
    kind = BaggedLsBoostRegressor if n_outputs == 1 else BaggedMCBoost
    return kind(**{"random_state": 0} | params)


@pytest.fixture
def member_scores(monkeypatch):
    """Record the scores of all members at the training samples after each best round."""
    recorded = {}
    for kind in (JointStumpMaster, InteractionMaster):

        def track_best(stage, loss, original=kind._track_best, name=kind.__name__):
            has_fallen = original(stage, loss)
            if has_fallen:
                recorded[name] = stage.loss.scale * stage.scores.astype(float)
            return has_fallen

        monkeypatch.setattr(kind, "_track_best", track_best)
    return recorded


@pytest.mark.parametrize("interactions", [0, 2])
@pytest.mark.parametrize("n_outputs", [1, 2, 3])
def test_spread_of_scores_equals_the_spread_of_the_members(n_outputs, interactions, member_scores):
    """Few members have so few components that all are stored."""
    X, y = messy(max(2, n_outputs), 300)
    y = y if n_outputs > 1 else X["number"].fillna(0.0).to_numpy() * 100 + y
    model = bag(n_outputs, n_estimators=4, interactions=interactions).fit(X, y)
    assert len(model.pairs_) == interactions
    scores = member_scores["InteractionMaster" if interactions else "JointStumpMaster"]
    expected = np.sqrt(3.0) * scores.std(axis=1)
    for samples in (None, X, X[:50]):
        spread = model.shape_functions(samples).spread(X)
        actual = np.linalg.norm(spread, axis=-1)
        np.testing.assert_allclose(actual, expected, rtol=0.01, atol=0.003 * expected.max())


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_std_of_a_function_is_exact_if_components_are_left_out(n_outputs, member_scores):
    X, y = draw(400, np.random.default_rng(0), n_outputs)
    X = X[:, :1]
    model = bag(n_outputs).fit(X, y)
    scores = member_scores["JointStumpMaster"]
    assert model._spread.intercept.shape[1] < model.n_estimators - 1
    expected = np.sqrt(3.0) * (scores - scores.mean(axis=0)).std(axis=1)
    _, std = model.shape_functions().explain_local(X, return_std=True)
    actual = std.to_numpy().reshape(len(X), n_outputs, 2)[..., 1]
    np.testing.assert_allclose(actual, expected, rtol=0.01, atol=1e-3 * expected.max())


@pytest.mark.parametrize("n_outputs", [1, 2, 3])
def test_bands_cover_the_functions_of_new_samples(n_outputs):
    """Two standard deviations cover at least 95 %, and the bands are not twice as wide again."""
    rng = np.random.default_rng(0)
    X, y = draw(500, rng, n_outputs)
    model = bag(n_outputs).fit(X, y)
    terms, std = model.shape_functions(X).explain_local(X, return_std=True)
    refits = np.stack(
        [
            bag(n_outputs).fit(*draw(500, rng, n_outputs)).shape_functions(X).explain_local(X)
            for _ in range(10)
        ]
    )
    is_term = terms.columns.get_level_values(-1) != "intercept"
    deviation = np.abs(terms.to_numpy() - refits.mean(axis=0))[:, is_term]
    assert np.mean(deviation < 2 * std.to_numpy()[:, is_term]) > 0.95
    ratio = std.to_numpy()[:, is_term].mean() / refits.std(axis=0, ddof=1)[:, is_term].mean()
    assert 1.0 < ratio < 2.5


@pytest.mark.parametrize("n_classes", [2, 3])
def test_std_of_probabilities_is_the_slope_times_the_spread(n_classes):
    X, y = blobs(n_classes, n_samples=200)
    model = BaggedMCBoost(random_state=0).fit(X, y)
    shares, std = model.predict_proba(X, return_std=True)
    np.testing.assert_array_equal(shares, model.predict_proba(X))
    spread = model.shape_functions().spread(X)
    scores = model.decision_function(X).reshape(len(X), -1)
    variance, step = 0.0, 1e-6
    for component in np.moveaxis(spread, -1, 0):
        shifted = scores + step * component
        exponents = np.exp(shifted if n_classes > 2 else np.hstack([0 * shifted, shifted]))
        slopes = (exponents / exponents.sum(axis=1, keepdims=True) - shares) / step
        variance = variance + slopes**2
    expected = np.sqrt(np.minimum(variance, shares * (1 - shares)))
    assert (variance < shares * (1 - shares)).mean() > 0.5
    np.testing.assert_allclose(std, expected, rtol=1e-3, atol=1e-6)


def test_std_of_numbers_is_the_spread_in_their_unit():
    X, y = draw(300, np.random.default_rng(0), 1)
    predictions, std = bag(1).fit(X, y).predict(X, return_std=True)
    scaled = bag(1).fit(X, 1e6 * y).predict(X, return_std=True)
    assert std.shape == predictions.shape
    np.testing.assert_allclose(scaled[1], 1e6 * std, rtol=1e-2)


def test_explain_global_returns_stds_row_by_row():
    X, y = messy(3)
    shapes = BaggedMCBoost(random_state=0).fit(X, y).shape_functions(X)
    table, std = shapes.explain_global(return_std=True)
    pd.testing.assert_frame_equal(table, shapes.explain_global())
    assert list(std.columns) == list(shapes.outputs)
    assert std.index.equals(table.index)
    assert (std.to_numpy() > 0).mean() > 0.9


@pytest.mark.parametrize("n_outputs", [1, 2, 3])
@pytest.mark.parametrize("interactions", [0, 5])
def test_spread_at_most_doubles_the_size_of_a_model(n_outputs, interactions):
    X, y = draw(500, np.random.default_rng(0), n_outputs)
    model = bag(n_outputs, interactions=interactions).fit(X, y)
    size = len(pickle.dumps(model))
    del model._spread
    model._term_sizes = model._term_sizes._replace(row_weights=[])
    assert size < 2 * len(pickle.dumps(model))


def test_models_without_members_name_the_bags():
    X, y = blobs(2)
    shapes = MCBoost(n_iterations=3).fit(X, y).shape_functions(X)
    for explain in (shapes.explain_global, lambda **options: shapes.explain_local(X, **options)):
        with pytest.raises(ValueError, match="spread of the members of a bag"):
            explain(return_std=True)


def test_refit_replaces_the_spread():
    X, y = blobs(2, n_samples=100)
    model = BaggedMCBoost(random_state=0).fit(X, y)
    model.fit(X[:, :2], y)
    assert model.shape_functions().spread(X[:, :2]).shape[:2] == (len(X), 1)
