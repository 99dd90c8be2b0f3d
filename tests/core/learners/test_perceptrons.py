import numpy as np
import pytest

from boostbench.core.learners.perceptrons import (
    Perceptron,
    Perceptrons,
    differs_from_next,
    edges_on_lines,
)

from ..stumps import reference


def random_perceptrons(n, rng):
    return [Perceptron(rng.normal(size=3), float(rng.normal())) for _ in range(n)]


@pytest.mark.parametrize("selection", [slice(None), slice(0, 0), slice(0, 2), slice(2, 5)])
def test_outputs_equal_literal_evaluation(selection):
    rng = np.random.default_rng(0)
    X, perceptrons = rng.normal(size=(20, 3)), random_perceptrons(5, rng)
    stacked = Perceptrons(perceptrons)
    outputs = stacked.outputs(X, selection)
    assert len(stacked) == 5
    assert outputs.shape == (20, len(perceptrons[selection]))
    for t, (direction, threshold) in enumerate(perceptrons[selection]):
        for i in range(20):
            value = sum(w * x for w, x in zip(direction, X[i], strict=True))
            assert outputs[i, t] == (1.0 if value > threshold else -1.0)


def test_outputs_of_stack_equal_single_perceptrons():
    rng = np.random.default_rng(1)
    X, perceptrons = rng.normal(size=(50, 3)), random_perceptrons(4, rng)
    single = np.column_stack([perceptron(X) for perceptron in perceptrons])
    assert set(single.ravel()) == {-1.0, 1.0}
    assert (Perceptrons(perceptrons).outputs(X) == single).all()


def test_value_equal_to_threshold_is_below():
    assert Perceptron(np.array([1.0]), 2.0)(np.array([[2.0], [2.5]])).tolist() == [-1.0, 1.0]


def test_empty_stack_has_no_outputs():
    assert Perceptrons([]).outputs(np.ones((3, 2))).shape == (3, 0)


@pytest.mark.parametrize("seed", range(5))
def test_edges_on_lines_equal_single_edges(seed):
    rng = np.random.default_rng(seed)
    values, weights = rng.normal(size=(2, 4, 9))
    order, edges = edges_on_lines(values, weights)
    for line, w, places, line_edges in zip(values, weights, order, edges, strict=True):
        cuts = reference.midpoints(line)
        assert (np.diff(line[places]) > 0).all()
        expected = [reference.edge(line[:, None], w, 0, cut) for cut in cuts]
        np.testing.assert_allclose(line_edges, expected, atol=1e-12)


def test_values_within_rounding_errors_are_not_separable():
    values = np.array([[-3.0, -3.0 + 1e-9, 1.0, 1.0, 2.0], [0.0, 1e-3, 2e-3, 1e4, 1.001e4]])
    assert differs_from_next(values).tolist() == [
        [False, True, False, True],
        [False, False, True, True],
    ]
    assert not differs_from_next(np.zeros((1, 3))).any()
