import numpy as np
import pytest

from boostbench.core.weak.linear import Perceptron, Perceptrons


def drawn(n, rng):
    return [Perceptron(rng.normal(size=3), float(rng.normal())) for _ in range(n)]


@pytest.mark.parametrize("some", [slice(None), slice(0, 0), slice(0, 2), slice(2, 5)])
def test_side_by_side(some):
    rng = np.random.default_rng(0)
    X, perceptrons = rng.normal(size=(20, 3)), drawn(5, rng)
    stacked = Perceptrons(perceptrons)
    outputs = stacked.outputs(X, some)
    assert len(stacked) == 5
    assert outputs.shape == (20, len(perceptrons[some]))
    for t, (direction, threshold) in enumerate(perceptrons[some]):
        for i in range(20):
            value = sum(w * x for w, x in zip(direction, X[i], strict=True))
            assert outputs[i, t] == (1.0 if value > threshold else -1.0)


def test_one_alone_and_among_others():
    rng = np.random.default_rng(1)
    X, perceptrons = rng.normal(size=(50, 3)), drawn(4, rng)
    alone = np.column_stack([perceptron(X) for perceptron in perceptrons])
    assert set(alone.ravel()) == {-1.0, 1.0}
    assert (Perceptrons(perceptrons).outputs(X) == alone).all()


def test_the_threshold_itself_is_below():
    assert Perceptron(np.array([1.0]), 2.0)(np.array([[2.0], [2.5]])).tolist() == [-1.0, 1.0]


def test_no_hypothesis():
    assert Perceptrons([]).outputs(np.ones((3, 2))).shape == (3, 0)
