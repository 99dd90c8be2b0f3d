import numpy as np
import pytest

from boostbench.core.losses.objective import euclidean_lengths
from boostbench.core.stumps import search as search_module
from boostbench.core.stumps.layouts import rank_blocks
from boostbench.core.stumps.layouts.rank_blocks import RankBlocks
from boostbench.core.stumps.layouts.sorted import Sorted
from boostbench.core.stumps.screening import AllColumnsCriterion, MaxAbsEdge, SumAbsEdge
from boostbench.core.stumps.search import StumpSearch, StumpSearchWithExclusion
from boostbench.core.weak_learner import TIE_TOLERANCE

from .. import reference


@pytest.fixture(params=["few samples", "many samples"])
def small_blocks(request, monkeypatch):
    """Search by blocks for any number of samples, in pieces of one or two features."""
    monkeypatch.setattr(rank_blocks, "_MIN_SUMS", 1)
    monkeypatch.setattr(rank_blocks, "_MIN_SAMPLES", 2)
    monkeypatch.setattr(rank_blocks, "_PIECE_BLOCKS", 50)
    if request.param == "many samples":
        monkeypatch.setattr(rank_blocks, "_FLOAT64_SAMPLES", 1)


def search_without_blocks(X):
    search = StumpSearch(X)
    search._layout.screening_layout = search._layout.layout_for_columns
    return search


def data(n_samples, seed):
    """Draw features with ties, and append a copy and a mirrored feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 6))
    X[: n_samples // 5, 0] = 0.5
    X[:, 1] = np.round(X[:, 1], 2)
    X[:, 3] = -X[:, 2]
    X[:, 4] = X[:, 2]
    return X, rng


def weights(kind, X, rng):
    """Return weights of three classes, as in boosting or hard for a search."""
    labels = np.digitize(X[:, 2] + rng.normal(size=len(X)) / 2, [-0.5, 0.5])
    is_label = labels[:, None] == np.arange(3)
    return {
        "classes": np.where(is_label, 2.0, -1.0),
        "concentrated": np.where(is_label, 2.0, -1.0) * rng.gamma(0.2, size=(len(X), 1)),
        "noise": rng.normal(size=is_label.shape),
        "tie": np.where((X[:, 2] > 0.2)[:, None], 1.0, -1.0) * [1.0, 1.0, 0.5],
        "one": np.eye(len(X))[:, [len(X) // 2, 0, 3]],
        "zero": np.zeros(is_label.shape),
    }[kind]


KINDS = "classes", "concentrated", "noise", "tie", "one", "zero"


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tolerance", [0.0, 1e-3, 0.2])
@pytest.mark.parametrize("criterion", ["entries", "votes", "lengths", "lengths excluded some"])
def test_candidates_include_every_score_near_the_largest(dtype, tolerance, criterion, monkeypatch):
    monkeypatch.setattr(rank_blocks, "_GRIDS", ((40, 1.0),))
    X, rng = data(330, 0)
    thresholds = reference.thresholds(X)
    layout = Sorted(X, thresholds)
    blocks = layout.screening_layout(3)
    assert isinstance(blocks, RankBlocks)
    assert layout.screening_layout(1) is layout
    dtype = np.result_type(dtype, blocks.dtype).type
    above = np.concatenate(
        [column > cuts[:, None] for column, cuts in zip(X.T, thresholds, strict=True)]
    )
    positions = np.flatnonzero(layout.stump_index >= 0)
    cases = [*reference.hostile(rng, len(X)), *(weights(kind, X, rng) for kind in KINDS)]
    for case in cases:
        W = (case if case.ndim == 2 else case[:, None] * [1.0, -0.5, 0.0]).astype(dtype)
        total = W.sum(axis=0, dtype=np.float64)
        exact = np.where(above, 1.0, -1.0) @ W.astype(np.float64)
        scale = float(np.abs(W).sum())
        off = blocks.error_bound(dtype, 3) * scale
        excluded = (
            positions[rng.permutation(len(positions))[:40]]
            if "excluded" in criterion
            else positions[:0]
        )
        judge = {"entries": MaxAbsEdge(), "votes": SumAbsEdge(3)}.get(
            criterion, AllColumnsCriterion(euclidean_lengths, euclidean_lengths, excluded)
        )
        candidates = {}
        for rows, edges in blocks.iter_candidates(W, total, 2 * off + tolerance * scale, judge):
            for cut, row in zip(layout.stump_index[rows], edges, strict=True):
                assert cut >= 0
                candidates[int(cut)] = row
        for cut, row in candidates.items():
            assert np.abs(row - exact[cut]).max() <= off + 1e-12 * scale
        left_out = set(layout.stump_index[excluded].tolist())
        assert left_out <= set(candidates)
        sizes = judge.scores(exact.copy()).max(axis=1)
        sizes[list(left_out)] = -np.inf
        near = np.flatnonzero(sizes >= sizes.max() - tolerance * scale)
        assert set(near.tolist()) <= set(candidates)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grids", [((4, 1.0),), ((4, 0.1), (30, 1.0)), ((4, 0.01), (30, 0.02))])
@pytest.mark.parametrize("n_samples", [131, 400])
def test_search_equals_search_of_all_edges(kind, grids, n_samples, monkeypatch):
    monkeypatch.setattr(rank_blocks, "_GRIDS", grids)
    monkeypatch.setattr(rank_blocks, "_PAUSE", 3)
    monkeypatch.setattr(search_module, "_MIN_FLOAT32_SUMS", 0)
    X, rng = data(n_samples, n_samples)
    G = weights(kind, X, rng)
    plain, search = search_without_blocks(X), StumpSearch(X)
    assert isinstance(search._layout.screening_layout(3), RankBlocks)
    excluded = np.flatnonzero(~plain.is_padding)[:: len(X) // 7]
    scale = float(np.abs(G).sum())
    for _ in range(5):
        for one, other in (
            (search.best(G), plain.best(G)),
            (search.best_sum_abs_edge(G), plain.best_sum_abs_edge(G)),
        ):
            assert (one.learner, one.column) == (other.learner, other.column)
            np.testing.assert_array_equal(one.outputs, other.outputs)
        exact = plain.exact_edges_all_columns(G, np.arange(plain.n_positions))
        sizes = euclidean_lengths(exact.copy())
        sizes[excluded], sizes[plain.is_padding] = 0.0, -1.0
        first = plain.stump_index[sizes >= sizes.max() - TIE_TOLERANCE * scale].min()
        for of_all in (search, plain):
            one, its_edges, off = of_all.best_position_excluding(
                G, euclidean_lengths, euclidean_lengths, scale, excluded
            )
            assert (np.abs(its_edges - exact[excluded]) <= off).all()
            assert of_all.stump_index[one] == first


def counted(monkeypatch, owner, name):
    """Return the calls of a generator, as a list that grows."""
    original, counts = getattr(owner, name), []

    def method(self, *args):
        counts.append(1)
        return (yield from original(self, *args))

    monkeypatch.setattr(owner, name, method)
    return counts


def test_few_blocks_are_evaluated(monkeypatch):
    X = np.random.default_rng(0).normal(size=(5000, 100))
    y = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
    G = np.where(y[:, None] == np.arange(10) % 4, 3.0, -1.0)
    search = StumpSearch(X)
    assert isinstance(search._layout.screening_layout(10), RankBlocks)
    of_all, evaluate_blocks = counted(monkeypatch, Sorted, "iter_edge_slices"), []
    original = rank_blocks._FeatureBlocks.evaluate_blocks

    def count_open_blocks(self, is_left, *args):
        evaluate_blocks.append(np.count_nonzero(is_left))
        return original(self, is_left, *args)

    monkeypatch.setattr(rank_blocks._FeatureBlocks, "evaluate_blocks", count_open_blocks)
    search.best(G)
    search.best_sum_abs_edge(G)
    assert not of_all
    assert 0 < sum(evaluate_blocks) < 40


@pytest.mark.usefixtures("small_blocks")
def test_search_falls_back_to_all_edges_if_many_blocks_remain(monkeypatch):
    # Every block is reported as open.
    monkeypatch.setattr(rank_blocks, "_GRIDS", ((32, 0.0), (128, 0.0)))
    X, rng = data(400, 0)
    of_all = counted(monkeypatch, Sorted, "iter_edge_slices")
    tried = counted(monkeypatch, RankBlocks, "_search_blocks")
    search = StumpSearch(X)
    noise = rng.normal(size=(len(X), 3))
    for _ in range(1 + rank_blocks._PAUSE):
        search.best(noise)
    assert (len(of_all), len(tried)) == (1 + rank_blocks._PAUSE, 2)
    search.best(noise)
    assert len(tried) == 3


@pytest.mark.usefixtures("small_blocks")
def test_excluded_stumps_do_not_hide_others():
    X, rng = data(300, 0)
    G = rng.normal(size=(300, 3))
    search = StumpSearchWithExclusion(X)
    sizes = np.abs(StumpSearch(X).edges(G)).max(axis=1)
    bests = []
    for _ in range(20):
        bests.append(search.best(G))
        search.exclude(bests[-1].learner)
    edges = [best.edge for best in bests]
    assert edges == sorted(edges, reverse=True)
    assert len({best.learner._replace(polarity=1) for best in bests}) == 20
    assert edges[0] == pytest.approx(sizes.max(), rel=1e-5)
