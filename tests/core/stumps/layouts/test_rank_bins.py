import numpy as np
import pytest

from boostbench.core.stumps import evaluation
from boostbench.core.stumps.evaluation import make_joint_histogram
from boostbench.core.stumps.layouts import sorted as sorted_layout
from boostbench.core.stumps.layouts.layout import UNIT_ROUNDOFF
from boostbench.core.stumps.layouts.sorted import RankBins, Sorted
from boostbench.core.stumps.screening import MaxAbsEdge
from boostbench.core.stumps.search import StumpSearch, StumpSearchWithExclusion
from boostbench.core.weak_learner import TIE_TOLERANCE

from .. import reference

pytestmark = pytest.mark.usefixtures("many_samples")


@pytest.fixture(params=[(130, 3), (700, 4), (1500, 2)])
def layout_case(request, monkeypatch):
    """Return data with ties, thresholds, and a layout that screens edges by bins."""
    monkeypatch.setattr(sorted_layout, "MIN_SAMPLES", 1)
    monkeypatch.setattr(sorted_layout, "_BATCH_SAMPLES", 40)
    rng = np.random.default_rng(request.param[0])
    X = rng.normal(size=request.param)
    X[: len(X) // 5, 0] = 0.5
    X[:, 1] = np.round(X[:, 1], 1)
    thresholds = reference.thresholds(X)
    return X, thresholds, Sorted(X, thresholds)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tolerance", [0.0, 1e-3, 0.5, 3.0])
def test_candidates_include_every_edge_near_the_largest(layout_case, dtype, tolerance):
    X, thresholds, layout = layout_case
    bins = layout.screening_layout(1)
    assert isinstance(bins, RankBins)
    assert layout.screening_layout(2) is layout
    positions = np.flatnonzero(layout.stump_index >= 0)
    feature, place = layout.places_of(positions)
    owners = zip(feature, place // bins._bin_size, strict=True)
    bin_of_cut = dict(zip(layout.stump_index[positions], owners, strict=True))
    for weights in reference.hostile(np.random.default_rng(1), len(X)):
        weights = weights.astype(dtype)
        exact = reference.edges(X, thresholds, weights.astype(np.float64))
        scale = float(np.abs(weights).sum())
        off = bins.error_bound(dtype) * scale
        candidates = {}
        total = weights.sum(dtype=np.float64, keepdims=True)
        for rows, edges in bins.iter_candidates(
            weights[:, None], total, 2 * off + tolerance * scale, MaxAbsEdge()
        ):
            for cut, edge in zip(layout.stump_index[rows], edges[:, 0], strict=True):
                if cut >= 0:
                    candidates[int(cut)] = edge
        for cut, edge in candidates.items():
            assert abs(edge - exact[cut]) <= off + 1e-12 * scale
        # Each bin with such an edge yields its largest one of each sign, up to rounding in the bin.
        apart = 2 * (TIE_TOLERANCE + 8 * UNIT_ROUNDOFF[np.float32]) * scale + 2 * off
        best = {}
        for cut in candidates:
            bin_and_sign = (*bin_of_cut[cut], exact[cut] > 0)
            best[bin_and_sign] = max(abs(exact[cut]), best.get(bin_and_sign, 0.0))
        for cut in np.flatnonzero(np.abs(exact) >= np.abs(exact).max() - tolerance * scale):
            assert best[(*bin_of_cut[cut], exact[cut] > 0)] >= abs(exact[cut]) - apart


def test_samples_above_each_threshold(layout_case):
    X, thresholds, layout = layout_case
    number = 0
    for feature, cuts in enumerate(thresholds):
        for cut in cuts:
            np.testing.assert_array_equal(layout.above(feature, number), X[:, feature] > cut)
            number += 1


@pytest.mark.parametrize("kind", ["normal", "equal", "one", "zero", "tie"])
@pytest.mark.parametrize("seed", range(4))
def test_search_equals_search_of_all_edges(kind, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n_samples = int(rng.integers(200, 900))
    X = rng.normal(size=(n_samples, 5))
    X[:, 3] = -X[:, 2]
    X[:, 4] = X[rng.permutation(n_samples), 0]
    sign = np.where(X[:, 2] + rng.normal(size=n_samples) > 0.3, 1.0, -1.0)
    G = {
        "normal": rng.normal(size=n_samples),
        "equal": sign,
        "one": np.eye(n_samples)[n_samples // 2],
        "zero": np.zeros(n_samples),
        "tie": np.where(X[:, 2] > 0.2, 1.0, -1.0),
    }[kind][:, None]
    plain = StumpSearch(X).best(G)
    monkeypatch.setattr(sorted_layout, "MIN_SAMPLES", 1)
    monkeypatch.setattr(sorted_layout, "_BATCH_SAMPLES", 100)
    search = StumpSearch(X)
    assert isinstance(search._layout.screening_layout(1), RankBins)
    binned = search.best(G)
    assert (binned.learner, binned.column) == (plain.learner, plain.column)
    np.testing.assert_array_equal(binned.outputs, plain.outputs)
    # Brute force finds no larger edge.
    thresholds = reference.thresholds(X)
    assert (
        np.abs(reference.edges(X, thresholds, G[:, 0])).max()
        <= binned.edge + 1e-9 * np.abs(G).sum()
    )
    # Several columns, and each of them, are searched in the same layout.
    both = np.hstack([G, rng.normal(size=G.shape)])
    monkeypatch.setattr(evaluation, "choose_layout", make_joint_histogram)
    other = StumpSearch(X)
    assert search.best(both).learner == other.best(both).learner
    of_each = [one.stump_index[one.best_per_column(both)].tolist() for one in (search, other)]
    assert of_each[0] == of_each[1]


def test_few_bins_are_evaluated(monkeypatch):
    monkeypatch.setattr(sorted_layout, "MIN_SAMPLES", 1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6400, 10))
    search = StumpSearch(X)
    G = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, 1.0, -1.0)[:, None]
    looked_at = []
    original = RankBins.iter_candidates

    def counted(self, W, total, tolerance, criterion):
        for rows, edges in original(self, W, total, tolerance, criterion):
            looked_at.append(len(edges))
            yield rows, edges

    monkeypatch.setattr(RankBins, "iter_candidates", counted)
    search.best(G)
    assert sum(looked_at) < 100


def test_excluded_stumps_do_not_hide_others(monkeypatch):
    rng = np.random.default_rng(0)
    X, G = rng.normal(size=(300, 3)), rng.normal(size=(300, 1))
    searches = [StumpSearchWithExclusion(X)]
    monkeypatch.setattr(sorted_layout, "MIN_SAMPLES", 1)
    searches.append(StumpSearchWithExclusion(X))
    for _ in range(20):
        first, second = (search.best(G).learner for search in searches)
        assert first == second
        for search in searches:
            search.exclude(first)
