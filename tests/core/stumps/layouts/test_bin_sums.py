import numpy as np
import pytest

from boostbench.core.stumps.layouts import bin_sums
from boostbench.core.stumps.layouts.bin_sums import SampleBins


@pytest.mark.parametrize("entries", [1, 7, 2**20])
@pytest.mark.parametrize("n_columns", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("additions_per_copy", [0, 1000])
def test_sums_equal_direct_summation(entries, n_columns, dtype, additions_per_copy, monkeypatch):
    monkeypatch.setattr(bin_sums, "_CHUNK_ENTRIES", entries)
    # If a copy costs little, columns are padded to a multiple of four.
    monkeypatch.setattr(bin_sums, "_ADDITIONS_PER_COPIED_ROW", additions_per_copy)
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 11, (50, 3)).astype(np.int32)
    W = rng.normal(size=(50, n_columns)).astype(dtype)
    expected = np.zeros((11, n_columns))
    for bins_of_sample, weights in zip(bins, W.astype(float), strict=True):
        for bin_number in bins_of_sample:
            expected[bin_number] += weights
    summed = SampleBins(bins, 11)
    summed.set_dtype(dtype)
    sums = summed.sums(W)
    assert sums.dtype == dtype
    assert sums.flags.c_contiguous
    np.testing.assert_allclose(sums, expected, atol=1e-5 if dtype is np.float32 else 1e-12)
    # `additions` bounds the additions of every bin over all chunks.
    assert summed.additions >= min(np.bincount(bins.ravel()).max(), 50 // max(1, entries // 3))


@pytest.mark.parametrize("n_columns", [1, 4])
@pytest.mark.parametrize("part_bins", [1, 10, 25])
def test_sums_in_parts_equal_sums_at_once(n_columns, part_bins, monkeypatch):
    rng = np.random.default_rng(0)
    bins = (rng.integers(0, 5, (50, 7)) + 5 * np.arange(7)).astype(np.int32)
    W = rng.normal(size=(50, n_columns))
    expected = SampleBins(bins, 35).sums(W)
    monkeypatch.setattr(bin_sums, "_PART_BINS", part_bins)
    summed = SampleBins(bins, 35)
    summed.set_dtype(np.float32)
    sums = summed.sums(W)
    assert sums.dtype == np.float64
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-13)


def test_sums_keep_the_precision_of_the_weights():
    bins = SampleBins(np.array([[0], [0], [1]], np.int32), 2)
    bins.set_dtype(np.float32)
    assert bins.sums(np.array([[1.0], [2.0**-40], [3.0]])).tolist() == [[1 + 2.0**-40], [3.0]]
