import numpy as np

from boostbench.core.losses.member_squares import Squares


def test_derivatives_are_those_of_half_the_squared_error():
    rng = np.random.default_rng(0)
    y, weights = rng.normal(size=7), rng.uniform(0.5, 2.0, (7, 3))
    scores, move = rng.normal(size=(2, 1, 7, 3))

    def loss(size):
        return (weights * (y[:, None] - scores[0] - size * move[0]) ** 2).sum(axis=0) / 2

    squares = Squares(y, weights.astype(np.float32))
    slopes, curvatures = squares.derivatives(scores.astype(np.float32))
    # Differences of a square are exact.
    down = (loss(-1.0) - loss(1.0)) / 2
    second = loss(1.0) - 2 * loss(0.0) + loss(-1.0)
    np.testing.assert_allclose((slopes[0] * move[0]).sum(axis=0), down, rtol=1e-5)
    np.testing.assert_allclose((curvatures[0] * move[0] ** 2).sum(axis=0), second, rtol=1e-5)
    along = squares.curvature_along(move.astype(np.float32), curvatures)
    np.testing.assert_allclose(along, second, rtol=1e-5)
