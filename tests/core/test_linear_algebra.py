"""Test products, inverses, signs of eigenvectors, and matrices that grow."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf

from boostbench.core import linear_algebra
from boostbench.core.binary_codes import canonical_directions
from boostbench.core.linear_algebra import (
    GrowableMatrix,
    accumulate_rows,
    canonical_signs,
    inverse_from_cholesky,
    weighted_gram,
)
from boostbench.core.projections import _minimising_directions

# Relative rounding error of a sum of 50 products, and its growth in an inverse.
ROUNDING = 50 * np.finfo(float).eps


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(7, 50))


def test_weighted_gram_equals_the_definition(rows):
    weights = np.random.default_rng(1).random(50)
    gram = weighted_gram(rows, weights)
    expected = np.einsum("ai,i,bi->ab", rows, weights, rows)
    sizes = np.einsum("ai,i,bi->ab", abs(rows), weights, abs(rows))
    assert np.all(abs(gram - expected) <= ROUNDING * sizes)


def test_inverse_is_symmetric_and_within_rounding(rows):
    matrix = rows @ rows.T
    factor, failed = dpotrf(matrix, lower=1)
    inverse = inverse_from_cholesky(factor)
    assert failed == 0
    assert np.array_equal(inverse, inverse.T)
    condition = np.linalg.cond(matrix)
    assert np.all(abs(matrix @ inverse - np.eye(7)) <= ROUNDING * condition)


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


def test_largest_entry_of_each_column_becomes_positive():
    columns = np.random.default_rng(0).normal(size=(30, 8))
    turned = columns * canonical_signs(columns)
    assert (turned.max(axis=0) == np.abs(columns).max(axis=0)).all()
    # The result does not depend on the sign of a column.
    np.testing.assert_array_equal(-columns * canonical_signs(-columns), turned)


@pytest.mark.parametrize("rounding", [-1e-12, 0.0, 1e-12])
def test_first_of_equal_entries_determines_the_sign(rounding):
    column = np.array([[0.1], [-0.5], [0.5 + rounding], [0.3]])
    assert canonical_signs(column) == -1
    assert canonical_signs(np.zeros((3, 1))) == 1


@pytest.mark.parametrize("flip", [[1, 1, 1], [-1, 1, -1]])
def test_eigenvectors_do_not_depend_on_the_sign_of_the_solver(flip, monkeypatch):
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(40, 3)), rng.permutation(40) % 4
    matrix, scale = X.T @ np.diag(rng.random(40)) @ X, X.T @ X
    plain = _minimising_directions(matrix, scale, 3), canonical_directions(X, labels, 1e-3)[0]

    def flipped(*args, **kwargs):
        values, vectors = eigh(*args, **kwargs)
        return values, vectors * flip

    for name in ("projections", "binary_codes"):
        monkeypatch.setattr(f"boostbench.core.{name}.eigh", flipped)
    flipped_signs = (
        _minimising_directions(matrix, scale, 3),
        canonical_directions(X, labels, 1e-3)[0],
    )
    for first, second in zip(plain, flipped_signs, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("shape", [(40,), (40, 1), (40, 2), (40, 5), (40, 6), (40, 2, 24), (0, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_accumulated_rows_equal_numpy_to_the_last_bit(shape, dtype):
    rng = np.random.default_rng(0)
    values = (rng.normal(size=shape) * 10.0 ** rng.integers(-9, 9, shape)).astype(dtype)
    expected = np.cumsum(values, axis=0)
    from_the_end = values.copy()
    accumulate_rows(from_the_end[::-1])
    np.testing.assert_array_equal(from_the_end[::-1], np.cumsum(values[::-1], axis=0))
    assert accumulate_rows(values) is values
    np.testing.assert_array_equal(values, expected)


def test_growth_keeps_the_rows():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    growing = GrowableMatrix(3)
    assert growing.matrix.shape == (0, 3)
    for n, row in enumerate(rows, start=1):
        growing.append(row)
        if n in (1, 63, 64, 65, 128, 129, 200):
            assert (growing.matrix == rows[:n]).all()
            assert growing.matrix.flags.c_contiguous
