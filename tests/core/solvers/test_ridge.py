import numpy as np
import pytest

from boostbench.core.solvers.incremental_solvers import GrowingRidge


def draw(seed, n_columns, n_samples, n_targets):
    rng = np.random.default_rng(seed)
    columns = np.where(rng.random((n_columns, n_samples)) < 0.7, 1.0, -1.0)
    return columns, rng.normal(1.0, 2.0, (n_samples, n_targets))


def closed_form(H, L, C):
    """Return W, b and U of eq. (11); a row of H is a column of the problem."""
    inverse = np.linalg.inv(H.T @ H + np.eye(len(L)) / C)
    ones = np.ones(len(L))
    b = (ones @ inverse @ L) / (ones @ inverse @ ones)
    U = inverse @ (L - b)
    return H @ U, b, U


@pytest.mark.parametrize("C", [1e-3, 0.03, 1.0, 100.0])
@pytest.mark.parametrize("n_targets", [1, 4])
def test_solution_equals_the_closed_form_after_each_column(C, n_targets):
    columns, L = draw(1, 25, 40, n_targets)
    ridge = GrowingRidge(L, C)
    for j, column in enumerate(columns, start=1):
        ridge.add(column)
        W, b, U = closed_form(columns[:j], L, C)
        np.testing.assert_allclose(ridge.weights(), W, atol=1e-9)
        np.testing.assert_allclose(C * ridge.residual, U, atol=1e-9 * C)
        intercepts = ridge.target_means - np.array(ridge.means) @ ridge.weights()
        np.testing.assert_allclose(intercepts, b, atol=1e-9)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_many_columns_keep_full_precision(C):
    """Gram-Schmidt in one pass suffices for repeated columns and more columns than samples."""
    columns, L = draw(2, 150, 60, 2)
    columns = np.vstack([columns, columns[:30], -columns[:5]])
    ridge = GrowingRidge(L, C)
    for column in columns:
        ridge.add(column)
    W, _, U = closed_form(columns, L, C)
    np.testing.assert_allclose(ridge.weights(), W, atol=1e-7 * np.abs(W).max())
    np.testing.assert_allclose(C * ridge.residual, U, atol=1e-7 * np.abs(U).max())


def test_solutions_of_fewer_columns_are_kept():
    columns, L = draw(3, 12, 30, 3)
    ridge = GrowingRidge(L, 0.1)
    for column in columns:
        ridge.add(column)
    centred = columns - columns.mean(axis=1, keepdims=True)
    orthogonal = np.linalg.solve(ridge.triangle().T, centred)
    for j in range(1, 13):
        W, b, _ = closed_form(columns[:j], L, 0.1)
        scores = ridge.target_means + orthogonal[:j].T @ ridge.orthogonal_coefficients[:j]
        np.testing.assert_allclose(scores, columns[:j].T @ W + b, atol=1e-10)


def test_solution_without_columns():
    ridge = GrowingRidge(np.array([[1.0, 0.0], [3.0, 0.0]]), 1.0)
    assert ridge.target_means.tolist() == [2.0, 0.0]
    assert ridge.weights().shape == ridge.orthogonal_coefficients.shape == (0, 2)


def test_constant_column_changes_nothing():
    columns, L = draw(4, 1, 20, 2)
    ridge = GrowingRidge(L, 1.0)
    ridge.add(columns[0])
    before = ridge.residual.copy()
    ridge.add(np.ones(20))
    assert (ridge.residual == before).all()
    assert (ridge.weights()[1] == 0).all()


def test_repeated_column_with_large_weights():
    """The remainder of the column is rounding, whose product with the column may be negative."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        columns, L = draw(0, 2, 60, 2)
        weights = 1e30 * rng.random(60)
        ridge = GrowingRidge(L, 0.01, weights)
        for column in (*columns, *columns):
            ridge.add(column)
        scores = (
            ridge.target_means + (np.stack([*columns, *columns]).T - ridge.means) @ ridge.weights()
        )
        root = np.sqrt(weights)[:, None]
        H = np.column_stack([np.ones(60), *columns])
        expected = H @ np.linalg.lstsq(H * root, L * root)[0]
        np.testing.assert_allclose(scores, expected, rtol=1e-6)
