import numpy as np

from boostbench.core.coefficient_path import CoefficientPath, coefficients_after


def draw(n_rounds, n_classes, seed=0):
    """Return sparse coefficients of shape (t, n_classes) for the rounds t = 1, 2, ..."""
    rng = np.random.default_rng(seed)
    return [
        rng.normal(size=(t, n_classes)) * (rng.random((t, n_classes)) < 0.3)
        for t in range(1, n_rounds + 1)
    ]


def test_coefficients_after_a_round_have_zeros_for_later_columns():
    rounds = draw(6, 3)
    path = CoefficientPath()
    for W in rounds:
        path.append(W)
    matrix = path.matrix(18)
    assert matrix.shape == (6, 18)
    assert matrix.nnz == sum(np.count_nonzero(W) for W in rounds)
    for t, W in enumerate(rounds, start=1):
        stage = coefficients_after(matrix, t, (6, 3))
        np.testing.assert_array_equal(stage[:t], W)
        assert (stage[t:] == 0).all()
    assert (coefficients_after(matrix, 0, (6, 3)) == 0).all()


def test_last_round_can_be_replaced():
    first, last = draw(2, 2)
    better = np.ones((2, 2))
    path = CoefficientPath()
    path.append(first)
    path.append(last)
    path.replace_last(better)
    np.testing.assert_array_equal(path.matrix(4).toarray()[1], better.ravel())
    np.testing.assert_array_equal(path.matrix(4).toarray()[0, :2], first.ravel())


def test_empty_path():
    matrix = CoefficientPath().matrix(0)
    assert matrix.shape == (0, 0)
    assert coefficients_after(matrix, 0, (0, 3)).shape == (0, 3)
    assert CoefficientPath().matrix(5).shape == (0, 5)
