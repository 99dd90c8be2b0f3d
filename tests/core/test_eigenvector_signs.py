import numpy as np
import pytest
from scipy.linalg import eigh

from boostbench.core.binary_codes import canonical_directions
from boostbench.core.linear_algebra import canonical_signs
from boostbench.core.projections import _smallest_eigenvectors


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
    plain = _smallest_eigenvectors(matrix, scale, 3), canonical_directions(X, labels, 1e-3)[0]

    def flipped(*args, **kwargs):
        values, vectors = eigh(*args, **kwargs)
        return values, vectors * flip

    for name in ("projections", "binary_codes"):
        monkeypatch.setattr(f"boostbench.core.{name}.eigh", flipped)
    again = _smallest_eigenvectors(matrix, scale, 3), canonical_directions(X, labels, 1e-3)[0]
    for one, other in zip(plain, again, strict=True):
        np.testing.assert_array_equal(one, other)
