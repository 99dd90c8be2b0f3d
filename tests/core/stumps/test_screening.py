"""Test bounds on the absolute sums, which rounding errors are relative to."""

import math

import numpy as np
import pytest

from boostbench.core.stumps.screening import MaxAbsEdge, SumAbsEdge, abs_column_sums


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (7, 1), (1, 5), (700, 3), (40, 26)])
@pytest.mark.parametrize("power", [1, 9])
def test_bounds_are_at_least_the_absolute_sums(dtype, shape, power):
    W = (np.random.default_rng(0).normal(size=shape) ** power).astype(dtype)
    exact = np.array([math.fsum(column) for column in np.abs(W).T])
    assert (abs_column_sums(W) >= exact).all()
    assert MaxAbsEdge().bound(W) >= MaxAbsEdge().scale(exact)
    assert SumAbsEdge(shape[1]).bound(W) >= SumAbsEdge(shape[1]).scale(exact)


def test_bound_of_a_column_does_not_depend_on_other_columns():
    W = np.ones((50, 4), np.float32)
    W[:, 2] = 30.0
    assert MaxAbsEdge().bound(W) == pytest.approx(1500.0, rel=1e-2)
