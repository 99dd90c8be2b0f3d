import numpy as np
import pytest
from scipy import sparse

from boostbench.core import sparse_products

LOOPS = pytest.param(
    sparse_products.csc_matvecs,
    marks=pytest.mark.skipif(sparse_products.csc_matvecs is None, reason="SciPy has no such loops"),
)


@pytest.mark.parametrize("loops", [LOOPS, None])
@pytest.mark.parametrize("shape", [(9,), (9, 1), (9, 5)])
@pytest.mark.parametrize(("entries", "of"), [("f4", "f4"), ("f4", "f8"), ("f8", "f8")])
def test_product_is_that_of_scipy(entries, of, shape, loops, monkeypatch):
    monkeypatch.setattr(sparse_products, "csc_matvecs", loops)
    rng = np.random.default_rng(0)
    matrix = sparse.csc_array(rng.integers(0, 3, (6, 9)).astype(entries))
    W = rng.normal(size=shape).astype(of)
    found = sparse_products.product(matrix, W)
    assert found.dtype == of
    assert np.array_equal(found, matrix @ W)
