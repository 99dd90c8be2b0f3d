import numpy as np
import pytest

from boostbench.core.weak.additive import AdditiveTables

from .test_stumps import stacked


@pytest.mark.parametrize("n_stumps", [0, 1, 7, 100])
def test_tables_give_the_scores_of_the_stumps(n_stumps):
    rng = np.random.default_rng(n_stumps)
    stumps, X = stacked(rng, n_stumps)
    W = rng.normal(size=(n_stumps, 3))
    tables = AdditiveTables(stumps, W)
    np.testing.assert_allclose(tables.scores(X), stumps.outputs(X) @ W, atol=1e-12)
    assert tables.scores(X[:0]).shape == (0, 3)
    # 5 features with 4 thresholds each, whatever the number of stumps.
    assert tables.n_parameters <= 5 * (4 + 3 * 5)
    assert set(tables.features) == set(stumps.feature)
