"""What boosters of stumps promise, whatever they minimise."""

import numpy as np
import pytest
from sklearn.base import clone

from boostbench.algorithms import (
    CGENS,
    CGENSSLS,
    SAMME,
    AdaBoost,
    AdaBoostECC,
    AdaBoostMH,
    AdaBoostMO,
    AdaBoostSIP,
    GradBoost,
    LPBoost,
    MCBoost,
    MultiBoost,
    ProjectedAdaBoostMH,
    RBoostProj,
    RBoostRank,
)

from . import reference
from .problems import blobs, noise
from .test_estimators import BINARY

ADDITIVE = {
    "AdaBoost": AdaBoost(n_iterations=40),
    "AdaBoostECC": AdaBoostECC(n_iterations=40, random_state=0),
    "AdaBoostECC, one vote": AdaBoostECC(n_iterations=40, votes="one", random_state=0),
    "AdaBoostMH": AdaBoostMH(n_iterations=40),
    "AdaBoostSIP": AdaBoostSIP(n_iterations=40),
    "GradBoost": GradBoost(n_iterations=40),
    "MCBoost": MCBoost(n_iterations=40),
    "MCBoost, logistic": MCBoost(n_iterations=40, loss="logistic"),
    "MultiBoost": MultiBoost(n_iterations=40),
    "AdaBoostMO": AdaBoostMO(n_iterations=10),
    "CGENS": CGENS(n_iterations=40, C=0.1),
    "CGENSSLS": CGENSSLS(n_iterations=40),
    "LPBoost": LPBoost(n_iterations=40, C=0.3),
    "SAMME": SAMME(n_iterations=40),
    "RBoostProj": RBoostProj(n_iterations=20, n_projections=50, random_state=0),
}


# Those that take two classes as AdaBoost does, and what their scores are a multiple of its by.
ADABOOSTS = {
    "AdaBoost": (AdaBoost(), 1),
    "AdaBoostECC, one vote": (AdaBoostECC(votes="one", random_state=0), 2),
    "AdaBoostMH": (AdaBoostMH(), 2),
    "AdaBoostMO": (AdaBoostMO(), 2),
    "AdaBoostSIP, one vote": (AdaBoostSIP(votes="one"), 2),
    "MCBoost": (MCBoost(eta=1.0, nu=0.0), 1),
    "SAMME": (SAMME(), 2),
}
STAGEWISE = {
    "AdaBoostECC": AdaBoostECC(random_state=0),
    "AdaBoostSIP": AdaBoostSIP(),
    "MCBoost, logistic": MCBoost(loss="logistic", nu=0.0),
    **{name: model for name, (model, _) in ADABOOSTS.items()},
}
BINNED = {
    **STAGEWISE,
    "GradBoost": GradBoost(),
    "MultiBoost": MultiBoost(),
    "MultiBoost, from zero": MultiBoost(start="zero"),
}


def fitted(model, X, y, **params):
    return clone(model).set_params(**params).fit(X, y)


@pytest.mark.parametrize("problem", [blobs, noise])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("model", "multiple"), ADABOOSTS.values(), ids=ADABOOSTS.keys())
def test_two_classes_are_adaboost(model, multiple, problem, seed):
    X, y = problem(2, seed=seed)
    model = fitted(model, X, y, n_iterations=40)
    assert model.n_iterations_ == 40
    scores = [F / multiple for F in model.staged_decision_function(X)]
    reference.assert_rounds_of_adaboost(X, y, scores)


@pytest.mark.parametrize("model", STAGEWISE.values(), ids=STAGEWISE.keys())
def test_training_ends_where_no_stump_beats_chance(model):
    """XOR: every stump has an edge of exactly zero."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = fitted(model, X, [0, 1, 1, 0], n_iterations=50)
    assert model.n_iterations_ == 0
    assert (model.decision_function(X) == 0).all()
    assert list(model.staged_predict(X)) == []


@pytest.mark.parametrize("model", STAGEWISE.values(), ids=STAGEWISE.keys())
def test_a_perfect_stump_ends_the_training(model):
    X = np.column_stack([np.random.default_rng(0).normal(size=20), np.arange(20.0)])
    y = (X[:, 1] > 12).astype(int)
    model = fitted(model, X, y, n_iterations=50)
    assert model.n_iterations_ == 1
    assert cuts(model) == {(1, 12.5)}
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.coefficients_).all()
    assert np.abs(model.coefficients_).max() > 1


@pytest.mark.parametrize("max_bins", [2, 5])
@pytest.mark.parametrize("model", BINNED.values(), ids=BINNED.keys())
def test_binned_thresholds_are_used(model, max_bins):
    X, y = noise(2 if isinstance(model, AdaBoost) else 3, seed=3)
    binned = cuts(fitted(model, X, y, n_iterations=60, max_bins=max_bins))
    for feature in range(X.shape[1]):
        assert sum(of == feature for of, _ in binned) <= max_bins - 1
    assert len(cuts(fitted(model, X, y, n_iterations=60))) > X.shape[1] * (max_bins - 1)


def cuts(model):
    """What the stumps of a model test: features and thresholds."""
    stumps = model.stump_sum().stumps
    return set(zip(stumps.feature.tolist(), stumps.threshold.tolist(), strict=True))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", ADDITIVE.values(), ids=ADDITIVE.keys())
def test_additive_tables_predict_the_same(model, n_classes):
    if n_classes > 2 and isinstance(model, BINARY):
        pytest.skip("of two classes")
    X, y = blobs(n_classes, n_samples=90)
    names = np.array(["b", "a", "c"])[y]
    model.fit(X, names)
    tables = model.shape_functions()
    new = np.random.default_rng(1).normal(size=(500, X.shape[1]))
    for rows in (X, new, new.tolist()):
        scores = model.decision_function(rows)
        np.testing.assert_allclose(tables.decision_function(rows), scores, atol=1e-9)
        # Among scores that are equal but for rounding, rounding chooses.
        largest = np.sort(np.column_stack([-scores, scores]) if scores.ndim == 1 else scores)
        differ = largest[:, -1] - largest[:, -2] > 1e-8
        assert differ.mean() > 0.9
        assert (tables.predict(rows) == model.predict(rows))[differ].all()
    with pytest.raises(ValueError, match="4"):
        tables.predict(new[:, :3])


@pytest.mark.parametrize(
    "model",
    [
        MCBoost(n_iterations=3, weak_learner="tree"),
        RBoostRank(n_iterations=3, n_projections=10, random_state=0),
        SAMME(n_iterations=3, weak_learner="tree"),
        *(
            CGENS(n_iterations=12, weak_learner=kind, n_candidates=20, random_state=0)
            for kind in ("perceptron", "fourier", ["stump", "perceptron"])
        ),
    ],
    ids=str,
)
def test_what_is_not_additive_is_refused(model):
    with pytest.raises(ValueError, match=f"{type(model).__name__} is no sum of stumps"):
        model.fit(*blobs(2 if isinstance(model, BINARY) else 3)).shape_functions()


@pytest.mark.parametrize("n_components", [2, 6])
def test_stumps_on_projected_features_are_refused(n_components):
    """They would be taken for stumps on the features of the same numbers."""
    model = ProjectedAdaBoostMH(n_iterations=10, n_components=n_components).fit(*blobs(3))
    with pytest.raises(ValueError, match="ProjectedAdaBoostMH test projected features"):
        model.shape_functions()
