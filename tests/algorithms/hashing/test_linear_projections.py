import numpy as np
import pytest

from boostbench.algorithms import LPP, NPE, CodewordMCBoost, ReducedMCBoost
from boostbench.core.codebooks import largest_inner_product

from ..problems import blobs

REDUCTIONS = ["pca", "lda", "factor_analysis", "kernel_pca", "lpp", "npe"]


@pytest.mark.parametrize("model", [LPP, NPE])
def test_samples_on_a_line_keep_their_order(model):
    """The projection is the direction of the line, not a direction of noise."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 10, size=200))
    X = np.column_stack([t, np.sin(t), *rng.normal(size=(2, 200))])
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    projected = model(1).fit_transform(X @ turn)[:, 0]
    assert abs(np.corrcoef(projected, t)[0, 1]) > 0.98


@pytest.mark.parametrize("model", [LPP, NPE])
def test_neighbours_do_not_depend_on_rounding(model):
    """Integer rows have many neighbours at equal distances; rotation perturbs them by rounding."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(300, 4)).astype(float)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    plain, turned = (np.abs(model(4).fit_transform(seen)) for seen in (X, X @ turn))
    np.testing.assert_allclose(turned, plain, atol=1e-9 * plain.max())


@pytest.mark.parametrize("model", [LPP, NPE])
def test_number_of_components_is_limited_by_the_features(model):
    X, _ = blobs(3, n_features=4)
    fitted = model(9).fit(X)
    assert fitted.transform(X).shape == (45, 4)
    assert fitted.get_feature_names_out()[-1] == f"{model.__name__.lower()}3"


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("n_components", [1, 3, 30])
def test_booster_is_trained_on_reduced_features(reduction, n_components):
    X, y = blobs(4, n_samples=80, n_features=6, spread=0.3)
    fitted = ReducedMCBoost(20, n_components, reduction=reduction, random_state=0).fit(X, y)
    reduced = fitted.reducer_.transform(X)
    most = {"lda": 3, "kernel_pca": 30}.get(reduction, 6)
    assert reduced.shape == (80, min(n_components, most))
    plain = CodewordMCBoost(20, random_state=0).fit(reduced, y)
    np.testing.assert_allclose(fitted.decision_function(X), plain.decision_function(reduced))
    np.testing.assert_allclose(fitted.transform(X), plain.transform(reduced))
    # The codewords are a simplex for any number of reduced features.
    assert fitted.codewords_.shape == (4, 3)
    assert largest_inner_product(fitted.codewords_) == pytest.approx(-1 / 3)
    assert len(list(fitted.staged_predict(X))) == fitted.n_iterations_


def test_rejects_an_unknown_reduction():
    with pytest.raises(ValueError, match="'reduction' parameter of ReducedMCBoost must be"):
        ReducedMCBoost(reduction="tsne").fit(*blobs(3))


@pytest.mark.parametrize("X", [np.ones((6, 2)), np.repeat(np.eye(3), 2, axis=0)])
def test_rejects_data_without_linear_discriminants(X):
    model = ReducedMCBoost(5, reduction="lda")
    with pytest.raises(ValueError, match="X has no linear discriminants"):
        model.fit(X, np.repeat([0, 1, 2], 2))
