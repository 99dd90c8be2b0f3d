import numpy as np
import pytest
from scipy.optimize import check_grad

from boostbench.core.binary_codes import (
    best_step,
    fit_class_codes,
    fit_similarity_codes,
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
