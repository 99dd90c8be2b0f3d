import numpy as np
import pytest

from boostbench.algorithms import (
    SAMME,
    AdaBoost,
    AdaBoostECC,
    AdaBoostMH,
    AdaBoostMO,
    AdaBoostSIP,
    GradBoost,
    MCBoost,
    MultiBoost,
    ProjectedAdaBoostMH,
    RBoostProj,
    RBoostRank,
)

from .problems import blobs

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
    "SAMME": SAMME(n_iterations=40),
    "RBoostProj": RBoostProj(n_iterations=20, n_projections=50, random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", ADDITIVE.values(), ids=ADDITIVE.keys())
def test_additive_tables_predict_the_same(model, n_classes):
    if n_classes > 2 and isinstance(model, AdaBoost):
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
    ],
)
def test_what_is_not_additive_is_refused(model):
    with pytest.raises(ValueError, match=f"{type(model).__name__} is no sum of stumps"):
        model.fit(*blobs(3)).shape_functions()


@pytest.mark.parametrize("n_components", [2, 6])
def test_stumps_on_projected_features_are_refused(n_components):
    """They would be taken for stumps on the features of the same numbers."""
    model = ProjectedAdaBoostMH(n_iterations=10, n_components=n_components).fit(*blobs(3))
    with pytest.raises(ValueError, match="ProjectedAdaBoostMH test projected features"):
        model.shape_functions()
