import numpy as np
import pytest
from scipy.linalg.lapack import dpotrf

from boostbench.core.linear_algebra import inverse_from_cholesky, weighted_gram

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
