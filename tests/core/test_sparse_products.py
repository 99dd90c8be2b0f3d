import numpy as np
import pytest
from scipy import sparse

from boostbench.core import linear_algebra

LOOPS = pytest.param(
    linear_algebra.LOOPS,
    marks=pytest.mark.skipif(linear_algebra.LOOPS is None, reason="SciPy has no such loops"),
)


@pytest.mark.parametrize("loops", [LOOPS, None])
@pytest.mark.parametrize("shape", [(9,), (9, 1), (9, 5)])
@pytest.mark.parametrize(("entries", "of"), [("f4", "f4"), ("f4", "f8"), ("f8", "f8")])
@pytest.mark.parametrize("kind", [sparse.csc_array, sparse.csr_array])
def test_product_equals_scipy(kind, entries, of, shape, loops, monkeypatch):
    monkeypatch.setattr(linear_algebra, "LOOPS", loops)
    rng = np.random.default_rng(0)
    matrix = kind(rng.integers(0, 3, (6, 9)).astype(entries))
    W = rng.normal(size=shape).astype(of)
    product = linear_algebra.sparse_product(matrix, W)
    assert product.dtype == of
    assert np.array_equal(product, matrix @ W)


@pytest.mark.parametrize("loops", [LOOPS, None])
@pytest.mark.parametrize("shape", [(9,), (9, 5)])
@pytest.mark.parametrize("kind", [sparse.csc_array, sparse.csr_array])
def test_add_product_adds_to_the_array(kind, shape, loops, monkeypatch):
    monkeypatch.setattr(linear_algebra, "LOOPS", loops)
    rng = np.random.default_rng(0)
    # Sums of whole numbers are exact in any order.
    matrix = kind(rng.integers(0, 3, (6, 9)).astype("f4"))
    W = rng.integers(-9, 9, shape).astype("f4")
    sums = np.ones((6, *shape[1:]), "f4")
    linear_algebra.add_sparse_product(matrix, W, sums)
    assert np.array_equal(sums, 1 + matrix @ W)
