import numpy as np
import pytest

from boostbench.core.solvers.newton import significant_mask


@pytest.mark.parametrize("power", [0, 3, 30])
def test_mask_selects_the_fewest_entries_with_nearly_all_of_the_sum(power):
    curvature = np.random.default_rng(0).random((5, 200)) ** power
    for row, is_significant in zip(curvature, significant_mask(curvature), strict=True):
        np.testing.assert_array_equal(is_significant, significant_mask(row))
        parts = np.sort(row[is_significant]) / row.sum()
        assert parts.sum() >= 1 - 1e-3 - 1e-12
        assert parts[1:].sum() < 1 - 1e-3 or power == 0
        assert row[~is_significant].max(initial=0) <= row[is_significant].min()


def test_equal_entries_are_selected_together():
    curvature = np.full(1000, 0.1)
    curvature[::2] += 1e-17
    assert significant_mask(np.append(curvature, 1e-9)).tolist() == [True] * 1000 + [False]


def test_zero_curvature_selects_all_entries():
    assert significant_mask(np.zeros((2, 3))).all()
