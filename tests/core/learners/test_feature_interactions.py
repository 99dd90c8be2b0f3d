import numpy as np
import pandas as pd
import pytest

from boostbench.core.learners.feature_interactions import make_axes, purify, rank_pairs
from boostbench.core.stumps.views import fit_views


def test_purified_tables_have_mean_zero_in_rows_and_columns():
    rng = np.random.default_rng(0)
    original, weights = rng.normal(size=(6, 4, 2)), rng.integers(0, 5, (6, 4)).astype(float)
    table, rows, columns = purify(original, weights)
    np.testing.assert_allclose(table + rows[:, None] + columns, original, atol=1e-12)
    weighted = weights[:, :, None] * table
    np.testing.assert_allclose(weighted.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(weighted.sum(axis=1), 0, atol=1e-12)
    # Subtract means of rows and columns in turn until convergence.
    expected = original.copy()
    for _ in range(2000):
        expected -= (weights[:, :, None] * expected).sum(1, keepdims=True) / weights.sum(1)[
            :, None, None
        ]
        expected -= (weights[:, :, None] * expected).sum(0, keepdims=True) / weights.sum(0)[:, None]
    np.testing.assert_allclose(expected[weights > 0], table[weights > 0], atol=1e-9)


def test_interaction_of_a_sum_of_main_effects_is_zero():
    weights = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [2.0, 0.0, 0.0]])
    original = (np.array([1.0, -2.0, 5.0])[:, None] + [3.0, 0.0, -1.0])[..., None]
    np.testing.assert_allclose(purify(original, weights)[0][weights > 0], 0, atol=1e-12)


def test_gains_equal_best_quadrants_of_brute_force():
    rng = np.random.default_rng(0)
    above = rng.random((60, 7)) < 0.4
    axis_of = np.array([0, 0, 1, 1, 1, 2, 3])
    slopes, curvatures = rng.normal(size=(2, 60)), rng.random((2, 60))
    pairs, gains = rank_pairs(above.astype(float), axis_of, slopes, curvatures)
    expected = {}
    for a in range(7):
        for b in range(a + 1, 7):
            pair = axis_of[a], axis_of[b]
            if pair[0] == pair[1]:
                continue
            gain = 0.0
            for first in (above[:, a], ~above[:, a]):
                for second in (above[:, b], ~above[:, b]):
                    quadrant = first & second
                    sums = slopes[:, quadrant].sum(axis=1), curvatures[:, quadrant].sum(axis=1)
                    gain += (sums[0] ** 2 / (sums[1] + 1)).sum()
            expected[pair] = max(gain, expected.get(pair, 0.0))
    assert len(pairs) == 6
    np.testing.assert_allclose(gains, [expected[tuple(pair)] for pair in pairs], rtol=1e-9)
    assert (np.diff(gains) <= 0).all()


@pytest.fixture
def axes():
    """Axes of numbers and categories, with and without missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5))
    X[:, 2:] = rng.integers([2, 3, 1], size=(50, 3))
    X[rng.random(X.shape) < [0, 0.2, 0, 0.2, 0.2]] = np.nan
    views = fit_views(X, categorical=[2, 3, 4])
    Z = views.transform(X)
    cuts = {view: np.unique(column)[:-1] + 1e-9 for view, column in enumerate(Z.T)}
    return make_axes(views, cuts, 5), views, X, Z


def test_cells_separate_values_categories_and_missing_values(axes):
    axes, _, X, Z = axes
    assert [axis.n_cells for axis in axes] == [6, 7, 2, 4, 2]
    assert [axis.feature for axis in axes] == [0, 1, 2, 3, 4]
    for axis in axes:
        values = pd.Series(X[:, axis.feature])
        cells = axis.cell_indices(Z)
        assert set(cells) == set(range(axis.n_cells))
        if axis.has_missing:
            [missing] = set(cells[values.isna()])
            assert (cells[values.notna()] != missing).all()
        is_present = values.notna().to_numpy()
        if axis.thresholds is None:
            assert (pd.crosstab(values[is_present], cells[is_present]) > 0).sum(axis=1).eq(1).all()
        else:
            expected = (values.to_numpy()[is_present, None] > axis.thresholds).sum(axis=1)
            np.testing.assert_array_equal(cells[is_present], expected)


def test_stumps_match_their_views_and_span_all_functions(axes):
    axes, views, _, Z = axes
    rng = np.random.default_rng(1)
    for axis in axes:
        of_views, thresholds, outputs = axis.stumps(views.fill[axis.views[0]])
        expected_outputs = 2.0 * (Z[:, of_views] > thresholds) - 1
        np.testing.assert_array_equal(outputs[axis.cell_indices(Z)], expected_outputs)
        values = rng.normal(size=axis.n_cells)
        A = np.column_stack([np.ones(axis.n_cells), outputs])
        np.testing.assert_allclose(A @ np.linalg.lstsq(A, values)[0], values, atol=1e-12)
