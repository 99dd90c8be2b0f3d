import numpy as np
import pytest

from boostbench.core.losses.batched import (
    BatchedBinaryLogistic,
    BatchedMulticlassLogistic,
    BatchedSquaredLoss,
)

N_MODELS, N_SAMPLES = 3, 8


def value(scores, y, weights):
    """Return eq. (14) of MCBoost for each model, of one score or one for each class."""
    if len(scores) == 1:
        scores = np.concatenate([-scores, scores]) / 2
    margins = scores[y, np.arange(N_SAMPLES)] - scores
    terms = np.logaddexp(0.0, -margins)
    terms[y, np.arange(N_SAMPLES)] = 0.0
    return (weights * terms.sum(axis=0)).sum(axis=0)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_slopes_and_curvatures_are_derivatives_of_the_loss(n_classes):
    rng = np.random.default_rng(0)
    y = np.sort(np.arange(N_SAMPLES) % n_classes)
    weights = rng.integers(0, 3, size=(N_SAMPLES, N_MODELS)).astype(np.float32)
    scores = 2 * rng.normal(size=(1 if n_classes == 2 else n_classes, N_SAMPLES, N_MODELS))
    scores = scores.astype(np.float32)
    loss = (
        BatchedBinaryLogistic(y, weights)
        if n_classes == 2
        else BatchedMulticlassLogistic(y, weights, n_classes)
    )
    slopes, curvatures = loss.derivatives(scores)
    h = 1e-3
    for place in np.ndindex(scores.shape):
        step = np.zeros(scores.shape)
        step[place] = h
        low, middle, high = (value(scores + a * step, y, weights)[place[2]] for a in (-1, 0, 1))
        # Differences of fourth and third order, and rounding.
        assert slopes[place] == pytest.approx((low - high) / (2 * h), rel=1e-5, abs=1e-5)
        assert curvatures[place] == pytest.approx((low - 2 * middle + high) / h**2, abs=1e-4)
    move = rng.normal(size=scores.shape).astype(np.float32)
    steps = (a * h * move.astype(float) for a in (-1, 0, 1))
    low, middle, high = (value(scores + step, y, weights) for step in steps)
    along = loss.curvature_along(move, curvatures)
    np.testing.assert_allclose(along, (low - 2 * middle + high) / h**2, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_far_scores_are_no_error(n_classes):
    scores = np.zeros((1 if n_classes == 2 else n_classes, 2, 1), np.float32)
    scores[-1, :, 0] = [1e6, -1e6]
    y = np.full(2, n_classes - 1)
    weights = np.ones((2, 1), np.float32)
    loss = (
        BatchedBinaryLogistic(y, weights)
        if n_classes == 2
        else BatchedMulticlassLogistic(y, weights, n_classes)
    )
    slopes, curvatures = loss.derivatives(scores)
    assert slopes[-1, :, 0].tolist() == [0.0, n_classes - 1]
    assert np.isfinite(curvatures).all()


def test_derivatives_are_those_of_half_the_squared_error():
    rng = np.random.default_rng(0)
    y, weights = rng.normal(size=7), rng.uniform(0.5, 2.0, (7, 3))
    scores, move = rng.normal(size=(2, 1, 7, 3))

    def loss(size):
        return (weights * (y[:, None] - scores[0] - size * move[0]) ** 2).sum(axis=0) / 2

    squares = BatchedSquaredLoss(y, weights.astype(np.float32))
    slopes, curvatures = squares.derivatives(scores.astype(np.float32))
    # Differences of a square are exact.
    down = (loss(-1.0) - loss(1.0)) / 2
    second = loss(1.0) - 2 * loss(0.0) + loss(-1.0)
    np.testing.assert_allclose((slopes[0] * move[0]).sum(axis=0), down, rtol=1e-5)
    np.testing.assert_allclose((curvatures[0] * move[0] ** 2).sum(axis=0), second, rtol=1e-5)
    along = squares.curvature_along(move.astype(np.float32), curvatures)
    np.testing.assert_allclose(along, second, rtol=1e-5)
