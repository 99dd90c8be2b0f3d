import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from boostbench.algorithms import (
    BRE,
    ITQ,
    KSH,
    LPP,
    LSH,
    NPE,
    CodewordMCBoost,
    ReducedMCBoost,
    SupervisedITQ,
)
from boostbench.core.codebooks import largest_inner_product

from ..problems import blobs

HASHERS = [
    LSH(random_state=0),
    ITQ(n_iterations=5, random_state=0),
    SupervisedITQ(n_iterations=5, random_state=0),
    BRE(n_components=3, n_anchors=5, n_pairs=10, n_sweeps=1, random_state=0),
    KSH(n_components=3, n_anchors=5, solver_iterations=5, random_state=0),
]
ALL = pytest.mark.parametrize("hasher", HASHERS, ids=lambda hasher: type(hasher).__name__)


def precision(hasher, X, y):
    """Return the mean share of nearest codes with the class of the query."""
    codes = hasher.fit(X, y).transform(X) > 0
    distances = (codes[:, None] != codes).sum(axis=2) + 0.5 * np.eye(len(X)) * codes.shape[1] * 9
    near = distances.argsort(axis=1, kind="stable")[:, :5]
    return (y[near] == y[:, None]).mean()


@ALL
def test_hash_packs_the_signs(hasher):
    X, y = blobs(3, n_samples=60, n_features=13)
    for n_bits in (1, 3, 5):
        fitted = clone(hasher).set_params(n_components=n_bits).fit(X, y)
        numbers, codes = fitted.transform(X), fitted.hash(X)
        assert numbers.shape == (60, n_bits)
        assert fitted.n_bits_ == n_bits
        assert codes.shape == (60, 1)
        assert (np.unpackbits(codes, axis=1, count=n_bits) == (numbers > 0)).all()


@ALL
def test_neighbours_have_similar_codes(hasher):
    X, y = blobs(4, n_samples=80, n_features=10, spread=0.2)
    assert precision(clone(hasher).set_params(n_components=5), X, y) > 0.6


def test_lsh_collisions_follow_the_angle():
    """The share of equal bits is 1 - angle / pi."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3))
    X -= X.mean(axis=0)
    bits = LSH(n_components=20_000, random_state=0).fit(X).transform(X) > 0
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = 1 - np.arccos((units @ units.T).clip(-1, 1)) / np.pi
    share = (bits[:, None] == bits).mean(axis=2)
    np.testing.assert_allclose(share, expected, atol=0.02)


def test_itq_keeps_the_principal_subspace():
    X, _ = blobs(3, n_samples=60, n_features=6)
    fitted = ITQ(n_components=3, random_state=0).fit(X)
    right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2]
    projector = fitted.directions_ @ fitted.directions_.T
    np.testing.assert_allclose(projector, right[:3].T @ right[:3], atol=1e-10)


@pytest.mark.parametrize("model", [ITQ, SupervisedITQ])
def test_more_bits_than_components(model):
    X, y = blobs(3, n_samples=60, n_features=4)
    numbers = model(n_components=11, random_state=0).fit(X, y).transform(X)
    shares = (numbers > 0).mean(axis=0)
    assert ((shares > 0.05) & (shares < 0.95)).all()


def test_labels_improve_the_codes():
    """Half of the features are noise."""
    rng = np.random.default_rng(0)
    X, y = blobs(4, n_samples=200, n_features=10, spread=0.4)
    X = np.hstack([X, 8 * rng.normal(size=(200, 10))])
    for with_labels, without in ((SupervisedITQ, ITQ), (KSH, BRE)):
        first, second = (
            precision(m(n_components=6, random_state=0), X, y) for m in (with_labels, without)
        )
        assert first > second + 0.1


@ALL
class TestBadInput:
    def test_rejects_zero_bits(self, hasher):
        with pytest.raises(
            ValueError, match=f"'n_components' parameter of {type(hasher).__name__} must"
        ):
            type(hasher)(n_components=0).fit(*blobs(3))

    def test_rejects_words(self, hasher):
        X, y = blobs(3)
        frame = pd.DataFrame(X, columns=list("abcd"))
        words = frame.assign(b="elm")
        with pytest.raises(ValueError, match="column 'b' holds categories"):
            hasher.fit(words, y)
        with pytest.raises(ValueError, match="column 'b' holds categories"):
            hasher.fit(frame, y).transform(words)

    def test_one_class_is_rejected_by_supervised_hashers(self, hasher):
        X, _ = blobs(3)
        if hasher._supervised:
            with pytest.raises(ValueError, match="needs at least 2 classes, and y holds 1 class"):
                hasher.fit(X, np.ones(len(X)))
        else:
            assert hasher.fit(X, np.ones(len(X))).hash(X).shape == (45, 1)

    def test_identical_samples_have_finite_codes(self, hasher):
        X, y = np.ones((30, 3)), np.arange(30) % 3
        assert np.isfinite(hasher.fit(X, y).transform(X)).all()


@pytest.mark.parametrize("model", [BRE, KSH])
def test_fewer_anchors_than_bits(model):
    expected = "n_anchors=4 are fewer than the bits, n_components=5; take more anchors"
    with pytest.raises(ValueError, match=expected):
        model(n_components=5, n_anchors=4).fit(*blobs(3))


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
    plain, turned = (np.abs(model(4).fit_transform(data)) for data in (X, X @ turn))
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
