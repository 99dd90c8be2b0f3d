"""Tests of the sums over the samples of stumps against dense products with the views."""

import numpy as np
import pytest

from boostbench.algorithms.bagging import bag_stumps
from boostbench.algorithms.bagging.bag_stumps import make_bag_stumps
from boostbench.core.stumps.feature_codes import fit_feature_codes
from boostbench.core.stumps.views import fit_views

N_SAMPLES, N_MEMBERS = 120, 5
# Values of _SAMPLES_PER_BIN with which numeric columns never and always use histograms.
COMPARED, BINNED = np.inf, 0


def make_table(max_bins, seed=0):
    """Draw features of every kind; return their views and their stumps."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=N_SAMPLES),
            rng.integers(0, 4, N_SAMPLES),
            rng.integers(0, 2, N_SAMPLES),
            rng.integers(0, 7, N_SAMPLES),
            np.ones(N_SAMPLES),
            rng.normal(size=N_SAMPLES),
            rng.integers(0, 3, N_SAMPLES),
            np.full(N_SAMPLES, np.nan),
            rng.poisson(1.0, N_SAMPLES),
        ]
    )
    X[rng.random(X.shape) < [0, 0, 0, 0, 0, 0.2, 0.3, 0, 0.1]] = np.nan
    views = fit_views(X, categorical=[1, 2, 6])
    return views.transform(X), fit_feature_codes(X, views, max_bins)


def draw_stumps(layout, seed=1):
    uniforms = np.random.default_rng(seed).random((N_MEMBERS, len(layout.n_stumps)))
    return (uniforms * layout.n_stumps).astype(int)


@pytest.fixture(params=[BINNED, COMPARED], ids=["binned", "compared"])
def _samples_per_bin(request, monkeypatch):
    monkeypatch.setattr(bag_stumps, "_SAMPLES_PER_BIN", request.param)


@pytest.mark.usefixtures("_samples_per_bin")
@pytest.mark.parametrize("max_bins", [4, None])
@pytest.mark.parametrize("n_scores", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_sums_and_score_changes_equal_dense_products(n_scores, max_bins, seed):
    Z, stumps = make_table(max_bins, seed)
    layout = make_bag_stumps(stumps, n_scores)
    assert layout.n_compared == (
        0 if n_scores == 1 and bag_stumps._SAMPLES_PER_BIN == BINNED else 6
    )
    rows = np.random.default_rng(seed).permutation(N_SAMPLES)[:100]
    block, drawn = layout.block_stumps(rows), draw_stumps(layout)
    indices = layout.first_stump + drawn
    above = (Z[rows][:, stumps.view_of_stump[indices]] > stumps.threshold_of_stump[indices]).astype(
        float
    )
    # Sums of small integers are exact in single precision, in any order.
    rng = np.random.default_rng(2)
    derivatives = rng.integers(-9, 9, (2 * n_scores, 100, N_MEMBERS)).astype(np.float32)
    sums = block.zero_sums(2 * n_scores, N_MEMBERS)
    block.add_derivative_sums(derivatives, drawn, sums)
    total, sums_above = layout.sums_above(drawn, *[part.astype(float) for part in sums])
    np.testing.assert_array_equal(total, derivatives.sum(axis=1))
    expected = np.einsum("snm,nmc->msc", derivatives, above)
    np.testing.assert_array_equal(sums_above, expected)
    difference = rng.integers(-9, 9, (N_MEMBERS, n_scores, len(layout.n_stumps))).astype(float)
    constant = rng.integers(-9, 9, (n_scores, N_MEMBERS)).astype(np.float32)
    addends = layout.score_addends(drawn, difference)
    changes = block.score_changes(constant, drawn, *addends)
    expected = constant[:, None] + np.einsum("msc,nmc->snm", difference, above)
    np.testing.assert_array_equal(changes, expected)


@pytest.mark.parametrize("max_counts", [1, 2**20])
@pytest.mark.parametrize("max_bins", [4, None])
def test_admissible_ranges_contain_stumps_with_in_bag_samples_on_both_sides(
    max_bins, max_counts, monkeypatch
):
    # Samples and members are counted in several parts, or all at once.
    monkeypatch.setattr(bag_stumps, "_MAX_COUNTS", max_counts)
    monkeypatch.setattr(bag_stumps, "_BLOCK_SAMPLES", max_counts + 9)
    Z, stumps = make_table(max_bins)
    layout = make_bag_stumps(stumps, 1)
    # The bag of the last member has three samples, so that many columns do not vary.
    is_out_of_bag = np.random.default_rng(3).random((N_MEMBERS, N_SAMPLES)) < 0.3
    is_out_of_bag[-1, 3:] = True
    first, count = layout.admissible_ranges(is_out_of_bag)
    for member in range(N_MEMBERS):
        above = Z[~is_out_of_bag[member]][:, stumps.view_of_stump] > stumps.threshold_of_stump
        expected = set(np.flatnonzero(above.any(axis=0) & ~above.all(axis=0)))
        starts = layout.first_stump + first[member]
        admissible = {
            stump
            for start, n in zip(starts, count[member], strict=True)
            for stump in range(start, start + n)
        }
        assert admissible == expected
    assert (first >= 0).all()
    assert (first < layout.n_stumps).all()
    assert (count == 0).any()
