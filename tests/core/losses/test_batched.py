import numpy as np
import pytest

from boostbench.core.losses.batched import (
    BatchedBinaryLogistic,
    BatchedMulticlassLogistic,
    BatchedPoissonLoss,
    BatchedQuantileLoss,
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
        # The tolerances cover fourth- and third-order terms and rounding.
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
    # Central differences of a quadratic function are exact.
    down = (loss(-1.0) - loss(1.0)) / 2
    second = loss(1.0) - 2 * loss(0.0) + loss(-1.0)
    np.testing.assert_allclose((slopes[0] * move[0]).sum(axis=0), down, rtol=1e-5)
    np.testing.assert_allclose((curvatures[0] * move[0] ** 2).sum(axis=0), second, rtol=1e-5)
    along = squares.curvature_along(move.astype(np.float32), curvatures)
    np.testing.assert_allclose(along, second, rtol=1e-5)


def poisson_loss(scores, y):
    return np.exp(scores) - y * scores


def smooth_quantile_loss(scores, y, quantile=0.3, width=0.2):
    residuals = y - scores
    return quantile * residuals + width * np.logaddexp(0.0, -residuals / width)


LOSSES = {
    "Poisson": (BatchedPoissonLoss, poisson_loss),
    "quantile": (lambda y, w: BatchedQuantileLoss(y, w, 0.3, 0.2), smooth_quantile_loss),
}


@pytest.mark.parametrize("name", LOSSES)
def test_slopes_of_one_score_are_derivatives_of_the_loss(name):
    make_loss, value_of = LOSSES[name]
    rng = np.random.default_rng(0)
    y, weights = rng.poisson(1.0, 50).astype(float), rng.uniform(0.5, 2.0, (50, 3))
    scores = rng.normal(size=(1, 50, 3))
    slopes, curvatures = make_loss(y, weights.astype(np.float32)).derivatives(
        scores.astype(np.float32)
    )
    h = 1e-4
    low, high = (value_of(scores[0] + a * h, y[:, None]) for a in (-1, 1))
    np.testing.assert_allclose(slopes[0], weights * (low - high) / (2 * h), atol=1e-5)
    assert (curvatures > 0).all()


def test_poisson_step_never_passes_the_minimum_of_a_region():
    for total in (0.0, 1e-3, 0.5, 1.0, 3.0, 1e4):
        y, weights = np.array([0.0, total]), np.ones((2, 1), np.float32)
        slopes, curvatures = BatchedPoissonLoss(y, weights).derivatives(
            np.log(np.full((1, 2, 1), 0.5, np.float32))
        )
        step = slopes.sum() / curvatures.sum()
        minimum = np.log(total) if total else -np.inf
        assert abs(step) <= min(abs(minimum), 2.0) + 1e-6
        if 0.4 < total < 3.5:
            # The step is a Pade approximation of the logarithm, hence the tolerance.
            assert step == pytest.approx(minimum, rel=0.1)


def test_poisson_curvature_has_the_sum_of_the_second_derivative_at_the_minimum():
    y = np.random.default_rng(0).poisson(0.3, 1000).astype(float)
    scores = np.full((1, 1000, 1), np.log(y.mean()), np.float32)
    loss = BatchedPoissonLoss(y, np.ones((1000, 1), np.float32))
    slopes, curvatures = loss.derivatives(scores)
    assert slopes.sum() == pytest.approx(0, abs=1e-2)
    assert curvatures.sum() == pytest.approx(np.exp(scores).sum(), rel=1e-4)


def test_quantile_curvature_bounds_the_loss():
    loss = BatchedQuantileLoss(np.zeros(1), np.ones((1, 1), np.float32), 0.3, 0.2)
    steps = np.linspace(-5, 5, 201)
    for score in (0.0, 1e-6, -1e-5, 1e-3, 0.1, -0.4, 3.0):
        slope, curvature = np.ravel(loss.derivatives(np.full((1, 1, 1), score, np.float32)))
        bound = smooth_quantile_loss(score, 0.0) - slope * steps + curvature * steps**2 / 2
        assert (smooth_quantile_loss(score + steps, 0.0) <= bound + 1e-5).all()


@pytest.mark.parametrize("name", LOSSES)
def test_curvature_along_a_direction_is_the_weighted_sum_of_squares(name):
    rng = np.random.default_rng(0)
    loss = LOSSES[name][0](rng.poisson(2.0, 9).astype(float), np.ones((9, 2), np.float32))
    curvatures = loss.derivatives(rng.normal(size=(1, 9, 2)).astype(np.float32))[1]
    direction = rng.normal(size=(1, 9, 2)).astype(np.float32)
    expected = (curvatures * direction**2).sum(axis=(0, 1))
    np.testing.assert_allclose(loss.curvature_along(direction, curvatures), expected, rtol=1e-5)
