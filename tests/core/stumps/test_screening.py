"""Test bounds on the absolute sums, which rounding errors are relative to."""

import math

import numpy as np
import pytest

from boostbench.core.stumps.screening import (
    MaxAbsEdge,
    SumAbsEdge,
    abs_column_sums,
    flush_negligible,
    round_to_float32,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (7, 1), (1, 5), (700, 3), (40, 26)])
@pytest.mark.parametrize("power", [1, 9])
def test_bounds_are_at_least_the_absolute_sums(dtype, shape, power):
    W = (np.random.default_rng(0).normal(size=shape) ** power).astype(dtype)
    exact = np.array([math.fsum(column) for column in np.abs(W).T])
    assert (abs_column_sums(W) >= exact).all()
    assert MaxAbsEdge().scale_bound(W) >= MaxAbsEdge().scale(exact)
    assert SumAbsEdge(shape[1]).scale_bound(W) >= SumAbsEdge(shape[1]).scale(exact)


def test_bound_of_a_column_does_not_depend_on_other_columns():
    W = np.ones((50, 4), np.float32)
    W[:, 2] = 30.0
    assert MaxAbsEdge().scale_bound(W) == pytest.approx(1500.0, rel=1e-2)


def test_negligible_weights_become_zero():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(500, 4)) * 10.0 ** rng.uniform(-60, 0, (500, 4))
    converted = round_to_float32(weights)
    assert converted.dtype == np.float32
    assert converted.flags.c_contiguous
    is_kept = converted != 0
    assert 0.2 < is_kept.mean() < 0.5
    np.testing.assert_array_equal(converted[is_kept], weights.astype(np.float32)[is_kept])
    # Weights are normal numbers; the lost weight is below the rounding error of the largest one.
    assert np.abs(converted[is_kept]).min() > np.finfo(np.float32).tiny
    assert np.abs(weights[~is_kept]).sum() < 2.0**-24 * np.abs(weights).max()


def test_arguments_are_not_modified():
    weights = np.array([1.0, 1e-30], np.float32)
    np.testing.assert_array_equal(flush_negligible(weights, 1.0), [1, 0])
    np.testing.assert_array_equal(round_to_float32(weights), [1, 0])
    np.testing.assert_array_equal(weights, np.array([1.0, 1e-30], np.float32))


def test_empty_weights_are_converted():
    np.testing.assert_array_equal(round_to_float32(np.zeros((3, 2))), np.zeros((3, 2)))
    assert round_to_float32(np.empty((0, 2))).shape == (0, 2)
