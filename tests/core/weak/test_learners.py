import numpy as np
import pytest

from boostbench.core.weak.learners import ProjectedStumps, Stumps
from boostbench.core.weak.stumps import Stump

SOME = [slice(None), slice(0, 0), slice(0, 2), slice(2, 5)]


@pytest.mark.parametrize("some", SOME)
def test_stumps_side_by_side(some):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (20, 3)).astype(float)
    stumps = [
        Stump(0, 1.0, 1),
        Stump(2, 0.5, -1),
        Stump(1, 3.0, 1),
        Stump(1, -1.0, -1),
        Stump(0, 2.0, -1),
    ]
    outputs = Stumps(stumps).outputs(X, some)
    assert len(Stumps(stumps)) == 5
    assert outputs.shape == (20, len(stumps[some]))
    for t, (feature, threshold, polarity) in enumerate(stumps[some]):
        for i in range(20):
            sign = 1.0 if X[i, feature] > threshold else -1.0
            assert outputs[i, t] == polarity * sign


@pytest.mark.parametrize("some", SOME)
def test_projected_stumps_side_by_side(some):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 4))
    directions = rng.normal(size=(5, 3, 4))
    threshold = np.array([0.0, 1.0, -1.0, -np.inf, 0.5])
    polarity = np.array([1, -1, -1, 1, 1])
    outputs = ProjectedStumps(directions, threshold, polarity).outputs(X, some)
    chosen = range(5)[some]
    assert outputs.shape == (15, 3, len(chosen))
    for place, t in enumerate(chosen):
        for i in range(15):
            for r in range(3):
                sign = 1.0 if directions[t, r] @ X[i] > threshold[t] else -1.0
                assert outputs[i, r, place] == polarity[t] * sign


def test_no_hypothesis():
    X = np.ones((3, 2))
    assert Stumps([]).outputs(X).shape == (3, 0)
    assert ProjectedStumps(np.empty((0, 4, 2)), [], []).outputs(X).shape == (3, 4, 0)
