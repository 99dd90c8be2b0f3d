import numpy as np
import pytest

from boostbench.core.stumps.stump import Stump, Stumps, additive_tables


def test_arrays_of_stumps_are_evaluated_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    fields = rng.integers(0, 3, 5), rng.normal(size=5), rng.choice([-1, 1], 5)
    outputs = Stump(*fields)(X)
    for column, one in zip(outputs.T, zip(*fields, strict=True), strict=True):
        assert column.tolist() == Stump(*one)(X).tolist()


def draw_stack(rng, n_stumps, n_features=5):
    """Draw stumps, and data with values on thresholds, where a stump is -1."""
    stumps = [
        Stump(int(rng.integers(n_features)), float(rng.integers(4)), int(rng.choice([-1, 1])))
        for _ in range(n_stumps)
    ]
    return Stumps(stumps), rng.integers(-1, 10, size=(40, n_features)) / 2


@pytest.mark.parametrize("selection", [slice(None), slice(0, 0), slice(0, 2), slice(2, 5)])
def test_outputs_of_stack_equal_single_stumps(selection):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (20, 3)).astype(float)
    facts = [(0, 1.0, 1), (2, 0.5, -1), (1, 3.0, 1), (1, -1.0, -1), (0, 2.0, -1)]
    stumps = [Stump(*fields) for fields in facts]
    outputs = Stumps(stumps).outputs(X, selection)
    assert len(Stumps(stumps)) == 5
    assert outputs.shape == (20, len(stumps[selection]))
    for t, (feature, threshold, polarity) in enumerate(stumps[selection]):
        for i in range(20):
            sign = 1.0 if X[i, feature] > threshold else -1.0
            assert outputs[i, t] == polarity * sign


def test_empty_stack_has_no_outputs():
    assert Stumps([]).outputs(np.ones((3, 2))).shape == (3, 0)


@pytest.mark.parametrize("block", [1, 100, 10**6])
@pytest.mark.parametrize("n_stumps", [0, 1, 7, 100])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_scores_equal_outputs_times_coefficients(n_stumps, block, shape, monkeypatch):
    monkeypatch.setattr("boostbench.core.stumps.stump.BLOCK_OUTPUTS", block)
    rng = np.random.default_rng(n_stumps)
    stumps, X = draw_stack(rng, n_stumps)
    W = rng.normal(size=(n_stumps, *shape))
    for selection in (slice(None), slice(2, 5), slice(0, 0)):
        scores = stumps.scores(X, W, selection)
        assert scores.shape == (len(X), *shape)
        np.testing.assert_allclose(scores, stumps.outputs(X, selection) @ W[selection], atol=1e-12)
    assert stumps.scores(X[:0], W).shape == (0, *shape)


@pytest.mark.parametrize("n_stumps", [0, 1, 7, 100])
def test_tables_give_the_scores_of_the_stumps(n_stumps):
    rng = np.random.default_rng(n_stumps)
    stumps, X = draw_stack(rng, n_stumps)
    W = rng.normal(size=(n_stumps, 3))
    scores, features = np.zeros((len(X), 3)), []
    for feature, thresholds, table in additive_tables(stumps, W):
        scores += table[thresholds.searchsorted(X[:, feature])]
        features.append(feature)
        assert len(thresholds) <= 4  # This holds for any number of stumps.
    np.testing.assert_allclose(scores, stumps.outputs(X) @ W, atol=1e-12)
    assert features == sorted(set(stumps.feature))
