import numpy as np
import pytest

from boostbench.core.learners import output_products
from boostbench.core.learners.output_products import OutputProducts
from boostbench.core.stumps.stump import Stump

from ..stumps import reference


@pytest.mark.parametrize("rows_per_feature", [0, 2, 10**6])
@pytest.mark.parametrize("seed", range(4))
def test_products_equal_products_with_the_matrix_of_outputs(seed, rows_per_feature, monkeypatch):
    """Stumps repeat, in both polarities, and the second feature has the values of the first."""
    monkeypatch.setattr(output_products, "_ROWS_PER_FEATURE", rows_per_feature)
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (20, 3)).astype(float)
    X[:, 1] = X[:, 0]
    all_stumps = list(reference.stumps(X))
    products, H = OutputProducts(X), np.empty((0, 20))
    for _ in range(40):
        stump = Stump(*all_stumps[rng.integers(len(all_stumps))], int(rng.choice([-1, 1])))
        H = np.vstack([H, stump(X)])
        products.append(stump, H[-1])
        codes, weights = rng.normal(size=(len(H), 4)), rng.normal(size=(4, 20))
        np.testing.assert_allclose(products.scores(codes), codes.T @ H, atol=1e-12)
        np.testing.assert_allclose(products.edges(weights), H @ weights.T, atol=1e-12)


def test_products_with_outputs_of_other_weak_learners():
    rng = np.random.default_rng(0)
    products, H = OutputProducts(rng.normal(size=(20, 1))), rng.choice([-1.0, 1.0], (30, 20))
    for outputs in H:
        products.append(None, outputs)
    codes, weights = rng.normal(size=(30, 4)), rng.normal(size=(4, 20))
    np.testing.assert_allclose(products.scores(codes), codes.T @ H, atol=1e-12)
    np.testing.assert_allclose(products.edges(weights), H @ weights.T, atol=1e-12)
