import numpy as np
import pytest

from boostbench.core.solvers.newton import significant_mask


@pytest.mark.parametrize("power", [0, 3, 30])
def test_the_fewest_that_have_nearly_all_of_the_sum(power):
    curvature = np.random.default_rng(0).random((5, 200)) ** power
    for row, kept in zip(curvature, significant_mask(curvature), strict=True):
        np.testing.assert_array_equal(kept, significant_mask(row))
        parts = np.sort(row[kept]) / row.sum()
        assert parts.sum() >= 1 - 1e-3 - 1e-12
        assert parts[1:].sum() < 1 - 1e-3 or power == 0
        assert row[~kept].max(initial=0) <= row[kept].min()


def test_rounding_does_not_part_equals():
    curvature = np.full(1000, 0.1)
    curvature[::2] += 1e-17
    assert significant_mask(np.append(curvature, 1e-9)).tolist() == [True] * 1000 + [False]


def test_without_any_curvature_all_is_left():
    assert significant_mask(np.zeros((2, 3))).all()
