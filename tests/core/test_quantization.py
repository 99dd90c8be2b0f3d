import numpy as np
import pytest
from sklearn.cross_decomposition import CCA

from boostbench.core.binary_codes import canonical_directions, itq_rotation


def loss(components, rotation):
    turned = components @ rotation
    return ((turned - np.where(turned > 0, 1.0, -1.0)) ** 2).sum()


@pytest.mark.parametrize("seed", range(5))
def test_quantization_error_never_increases(seed):
    rng = np.random.default_rng(seed)
    components = rng.normal(size=(60, 4))
    start = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    rotations = [itq_rotation(components, start, n) for n in range(15)]
    assert (rotations[0] == start).all()
    for rotation in rotations:
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(4), atol=1e-12)
    assert (np.diff([loss(components, rotation) for rotation in rotations]) <= 1e-9).all()


def test_rotated_corners_are_recovered():
    rng = np.random.default_rng(0)
    corners = rng.choice([-1.0, 1.0], size=(80, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    starts = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(10))
    losses = [loss(corners @ turn, itq_rotation(corners @ turn, s, 50)) for s in starts]
    assert min(losses) < 1e-12


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_canonical_correlations_equal_scikit_learn(n_classes):
    rng = np.random.default_rng(1)
    labels = rng.permutation(200) % n_classes
    X = rng.normal(size=(200, 6)) + rng.normal(size=(n_classes, 6))[labels]
    X -= X.mean(axis=0)
    directions, correlations = canonical_directions(X, labels, ridge=1e-9)
    n = n_classes - 1  # the indicators of all classes add up to 1
    Z = np.eye(n_classes)[labels][:, :n]
    cca = CCA(n, max_iter=5000, tol=1e-12).fit(X, Z)
    ours, theirs = X @ directions[:, :n], cca.transform(X)
    wanted = [
        np.corrcoef(a, b)[0, 1] for a, b in zip(theirs.T, cca.transform(X, Z)[1].T, strict=True)
    ]
    np.testing.assert_allclose(correlations[:n], wanted, atol=1e-4)
    np.testing.assert_allclose(ours.T @ ours / 200, np.eye(n), atol=1e-5)
    for a, b in zip(ours.T, theirs.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1.0, abs=1e-4)


def test_canonical_directions_with_few_or_many_features():
    labels = np.arange(8) % 4
    X = np.random.default_rng(0).normal(size=(8, 2))
    directions, correlations = canonical_directions(X - X.mean(axis=0), labels, ridge=0.1)
    assert directions.shape == (2, 2)
    assert (np.diff(correlations) <= 0).all()
    X = np.random.default_rng(0).normal(size=(8, 30))
    directions, correlations = canonical_directions(X - X.mean(axis=0), labels, ridge=0.1)
    assert directions.shape == (30, 4)
    assert (correlations < 1).all()
