"""Tests of all boosters of stumps."""

import numpy as np
import pytest
from sklearn.base import clone

import boostbench as bb

from .. import reference
from ..problems import blobs, noise

# Boosters that equal AdaBoost on two classes, and the factor of their scores.
ADABOOSTS = {
    "AdaBoost": (bb.AdaBoost(), 1),
    "AdaBoostECC, one vote": (bb.AdaBoostECC(votes="one", random_state=0), 2),
    "AdaBoostMH": (bb.AdaBoostMH(), 2),
    "AdaBoostMO": (bb.AdaBoostMO(), 2),
    "AdaBoostSIP, one vote": (bb.AdaBoostSIP(votes="one"), 2),
    "MCBoost": (bb.MCBoost(eta=1.0, nu=0.0), 1),
    "SAMME": (bb.SAMME(), 2),
}
STAGEWISE = {
    "AdaBoostECC": bb.AdaBoostECC(random_state=0),
    "AdaBoostSIP": bb.AdaBoostSIP(),
    "MCBoost, logistic": bb.MCBoost(loss="logistic", nu=0.0),
    "MCBoost, half steps": bb.MCBoost(),
    **{name: model for name, (model, _) in ADABOOSTS.items()},
}
BINNED = {
    **STAGEWISE,
    "GradBoost": bb.GradBoost(),
    "MultiBoost": bb.MultiBoost(),
    "MultiBoost, from zero": bb.MultiBoost(start="zero"),
}


def fitted(model, X, y, **params):
    return clone(model).set_params(**params).fit(X, y)


@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("model", "multiple"), ADABOOSTS.values(), ids=ADABOOSTS.keys())
def test_two_classes_equal_adaboost(model, multiple, problem, seed):
    X, y = problem(2, seed=seed)
    model = fitted(model, X, y, n_iterations=40)
    assert model.n_iterations_ == 40
    scores = [F / multiple for F in model.staged_decision_function(X)]
    reference.assert_rounds_of_adaboost(X, y, scores)


@pytest.mark.parametrize("model", STAGEWISE.values(), ids=STAGEWISE.keys())
def test_training_ends_without_a_positive_edge(model):
    """Every stump has an edge of exactly zero on XOR."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = fitted(model, X, [0, 1, 1, 0], n_iterations=50)
    assert model.n_iterations_ == 0
    assert (model.decision_function(X) == 0).all()
    assert list(model.staged_predict(X)) == []


@pytest.mark.parametrize("model", STAGEWISE.values(), ids=STAGEWISE.keys())
def test_perfect_stump_ends_the_training(model):
    X = np.column_stack([np.random.default_rng(0).normal(size=20), np.arange(20.0)])
    y = (X[:, 1] > 12).astype(int)
    model = fitted(model, X, y, n_iterations=50)
    assert model.n_iterations_ == 1
    assert cuts(model) == {(1, 12.5)}
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.coefficients_).all()
    assert 1 < np.abs(model.coefficients_).max() < 25


@pytest.mark.parametrize("model", [bb.AdaBoostMH(50), bb.AdaBoostMO(300), bb.SAMME(50)])
def test_stump_for_two_of_three_classes_does_not_end_the_training(model):
    """A stump separates the first or the last of three groups along a line, never the middle."""
    X = np.repeat(np.arange(3.0), 10)[:, None]
    y = X[:, 0].astype(int)
    model = fitted(model, X, y)
    assert model.n_iterations_ == model.n_iterations
    assert model.score(X, y) == 1.0
    assert all(np.isfinite(scores).all() for scores in model.staged_decision_function(X))


@pytest.mark.parametrize("max_bins", [2, 5])
@pytest.mark.parametrize("model", BINNED.values(), ids=BINNED.keys())
def test_binned_thresholds_are_used(model, max_bins):
    X, y = noise(2 if isinstance(model, bb.AdaBoost) else 3, seed=3)
    binned = cuts(fitted(model, X, y, n_iterations=30, max_bins=max_bins))
    for feature in range(X.shape[1]):
        assert sum(of == feature for of, _ in binned) <= max_bins - 1
    assert len(cuts(fitted(model, X, y, n_iterations=30))) > X.shape[1] * (max_bins - 1)


def cuts(model):
    """Return the features and thresholds of the stumps of a model."""
    stumps = model.stump_sum().stumps
    return set(zip(stumps.feature.tolist(), stumps.threshold.tolist(), strict=True))


@pytest.mark.parametrize("n_components", [2, 6])
def test_stump_sum_rejects_projected_features(n_components):
    """Projected features would be confused with the features of equal indices."""
    model = bb.ProjectedAdaBoostMH(n_iterations=10, n_components=n_components).fit(*blobs(3))
    with pytest.raises(ValueError, match="ProjectedAdaBoostMH test projected features"):
        model.shape_functions()
