"""Test the fit of binary codes: kernel codes, rotations, and canonical directions."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.cross_decomposition import CCA

from boostbench.core.binary_codes import (
    best_step,
    canonical_directions,
    fit_class_codes,
    fit_similarity_codes,
    itq_rotation,
    smooth_loss,
)


def signs(values):
    return np.where(values > 0, 1.0, -1.0)


def draw_symmetric(rng, n):
    R = rng.normal(size=(n, n))
    return R + R.T


@pytest.mark.parametrize("seed", range(8))
def test_step_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    R, values, kernel = draw_symmetric(rng, 12), rng.normal(size=12), rng.normal(size=12).round(1)

    def worth(t):
        h = signs(values + t * kernel)
        return h @ R @ h

    moving = kernel != 0
    turns = np.sort(-values[moving] / kernel[moving])
    places = [0.0, turns[0] - 1, *((turns[1:] + turns[:-1]) / 2), turns[-1] + 1]
    step = best_step(R, values, kernel)
    assert worth(step) == pytest.approx(max(worth(t) for t in places))


def test_zero_kernel_gives_no_step():
    assert best_step(np.eye(3), np.ones(3), np.zeros(3)) == 0.0


def test_step_without_improvement_is_zero():
    # The product of a single sample with itself is 1 for both signs.
    assert best_step(np.eye(1), np.array([0.3]), np.array([1.0])) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_reconstruction_error_never_increases(seed):
    rng = np.random.default_rng(seed)
    kernels, similarities = rng.normal(size=(30, 8)), draw_symmetric(rng, 30).clip(-1, 1)
    start = rng.normal(size=(8, 4))

    def loss(weights):
        h = signs(kernels @ weights)
        return ((similarities - h @ h.T / 4) ** 2).sum()

    losses = [loss(fit_similarity_codes(kernels, similarities, start, n)) for n in range(4)]
    assert losses[0] == loss(start)
    assert losses[1] < losses[0]
    assert (np.diff(losses) <= 1e-9).all()


def test_similarities_of_codes_are_reconstructed():
    rng = np.random.default_rng(2)
    kernels = rng.normal(size=(40, 6))
    codes = signs(kernels @ rng.normal(size=(6, 3)))
    weights = fit_similarity_codes(kernels, codes @ codes.T / 3, rng.normal(size=(6, 3)), 5)
    h = signs(kernels @ weights)
    assert np.abs(codes @ codes.T - h @ h.T).mean() / 3 < 0.15


def test_gradient_of_the_smooth_loss_equals_differences():
    rng = np.random.default_rng(3)
    arguments = rng.normal(size=(20, 5)), rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    value, _ = smooth_loss(np.ones(5), *arguments)
    h = np.tanh(arguments[0].sum(axis=1) / 2)
    R = arguments[1] @ arguments[1].T - arguments[2] @ arguments[2].T
    assert value == pytest.approx(-(h @ R @ h) / 400)
    wrong = check_grad(
        lambda w: smooth_loss(w, *arguments)[0],
        lambda w: smooth_loss(w, *arguments)[1],
        rng.normal(size=5),
    )
    assert wrong < 1e-6


def test_more_bits_reduce_the_loss():
    """The similarities are approximated better by more bits."""
    rng = np.random.default_rng(4)
    labels = np.arange(60) % 3
    kernels = rng.normal(size=(60, 5)) + rng.normal(size=(3, 5))[labels]
    kernels -= kernels.mean(axis=0)
    same = 2.0 * (labels[:, None] == labels) - 1
    losses = []
    for n_bits in (1, 2, 4, 8):
        h = signs(kernels @ fit_class_codes(kernels, labels, n_bits, 100))
        assert h.shape == (60, n_bits)
        losses.append(((same - h @ h.T / n_bits) ** 2).mean())
    assert losses[-1] < losses[0]
    # Separated classes have different codes.
    apart = 5 * np.eye(3)[labels] - 5 / 3
    h = signs(apart @ fit_class_codes(apart, labels, 8, 100))
    agreement = h @ h.T / 8
    assert agreement[same > 0].min() == 1.0
    assert agreement[same < 0].max() <= 0.25


def test_bit_of_two_separated_classes_equals_the_label():
    labels = np.arange(20) % 2
    kernels = np.where(labels, 1.0, -1.0)[:, None] * [1.0, 2.0]
    h = signs(kernels @ fit_class_codes(kernels, labels, 1, 50))[:, 0]
    assert abs(h @ np.where(labels, 1.0, -1.0)) == 20


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
    expected = [
        np.corrcoef(a, b)[0, 1] for a, b in zip(theirs.T, cca.transform(X, Z)[1].T, strict=True)
    ]
    np.testing.assert_allclose(correlations[:n], expected, atol=1e-4)
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
