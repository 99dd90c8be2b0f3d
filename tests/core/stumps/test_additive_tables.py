import numpy as np
import pytest

from boostbench.core.stumps.stump import additive_tables

from .test_stump import draw_stack


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
