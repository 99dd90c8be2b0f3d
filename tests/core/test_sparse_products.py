import numpy as np
import pytest
from scipy import sparse

from boostbench.core import sparse_products
from boostbench.core.sparse_products import product


@pytest.mark.parametrize("loops", ["loops", "no loops"])
@pytest.mark.parametrize("shape", [(9,), (9, 1), (9, 5)])
@pytest.mark.parametrize("entries", [np.float32, np.float64])
def test_product_is_that_of_scipy(shape, entries, loops, monkeypatch):
    if loops == "no loops":
        monkeypatch.setattr(sparse_products, "csc_matvecs", None)
    rng = np.random.default_rng(0)
    matrix = sparse.csc_array(rng.integers(0, 3, (6, 9)).astype(entries))
    W = rng.normal(size=shape)
    found = product(matrix, W)
    assert found.dtype == np.float64
    assert np.array_equal(found, matrix @ W)
    if entries == np.float32:
        few = W.astype(entries)
        assert product(matrix, few).dtype == entries
        assert np.array_equal(product(matrix, few), matrix @ few)
