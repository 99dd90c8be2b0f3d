import numpy as np
import pytest
from scipy.sparse import csr_matrix

from boostbench.data import sparse


@pytest.mark.parametrize(
    ("large", "n_filled", "stays_sparse"), [(99, 10, True), (99, 11, False), (100, 1, False)]
)
def test_large_and_nearly_empty_matrices_stay_sparse(monkeypatch, large, n_filled, stays_sparse):
    monkeypatch.setattr(sparse, "LARGE", large)
    dense = np.zeros(100)
    dense[:n_filled] = 1
    dense = dense.reshape(10, 10)
    X = sparse.dense_unless_large(csr_matrix(dense))
    assert isinstance(X, np.ndarray) != stays_sparse
    assert (X == dense).all()
