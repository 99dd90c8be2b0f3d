import numpy as np
import pytest

from boostbench.core.weak import stump_scores as module
from boostbench.core.weak.additive import AdditiveTables
from boostbench.core.weak.stump_scores import stump_scores
from boostbench.core.weak.stumps import Stump, Stumps


def ensemble(rng, n_stumps, n_features=5, n_classes=3):
    stumps = [
        Stump(int(rng.integers(n_features)), float(rng.integers(4)), int(rng.choice([-1, 1])))
        for _ in range(n_stumps)
    ]
    # Values on the thresholds too: a stump is -1 there.
    X = rng.integers(-1, 10, size=(40, n_features)) / 2
    return Stumps(stumps), rng.normal(size=(n_stumps, n_classes)), X


@pytest.mark.parametrize("block", [1, 100, 10**6])
@pytest.mark.parametrize("n_stumps", [0, 1, 7, 100])
def test_direct_scores_are_the_outputs_times_the_coefficients(n_stumps, block, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", block)
    stumps, W, X = ensemble(np.random.default_rng(n_stumps), n_stumps)
    for some in (slice(None), slice(2, 5), slice(0, 0)):
        np.testing.assert_allclose(
            stump_scores(stumps, W, X, some), stumps.outputs(X, some) @ W[some], atol=1e-12
        )
    assert stump_scores(stumps, W, X[:0]).shape == (0, 3)


@pytest.mark.parametrize("n_stumps", [0, 1, 7, 100])
def test_additive_tables_give_the_same_scores(n_stumps):
    stumps, W, X = ensemble(np.random.default_rng(n_stumps), n_stumps)
    tables = AdditiveTables(stumps, W)
    np.testing.assert_allclose(tables.scores(X), stumps.outputs(X) @ W, atol=1e-12)
    assert tables.scores(X[:0]).shape == (0, 3)
    # 5 features with 4 thresholds each, whatever the number of stumps.
    assert tables.n_parameters <= 5 * (4 + 3 * 5)
    assert set(tables.features) == set(stumps.feature)
