import numpy as np
import pytest
from scipy import sparse

from boostbench.core.stumps import thresholds as quantiles
from boostbench.core.stumps.layouts import sparse as sparse_layouts
from boostbench.core.stumps.layouts.sparse import SparseFeatures
from boostbench.core.stumps.search import StumpSearch


def features(seed, n_samples=60, n_features=9):
    """Draw signed, positive, negative, binary, full, empty and constant features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)).round(1)
    X[rng.random(X.shape) < 0.7] = 0.0
    X[:, 1] = np.abs(X[:, 1])
    X[:, 2] = -np.abs(X[:, 2])
    X[:, 3] = X[:, 3] > 0
    X[:, 4] = rng.normal(size=n_samples)
    X[:, 5] = 0.0
    X[:, 6] = 2.0
    X[:, 7] = np.abs(rng.normal(size=n_samples)) + 1
    return X


@pytest.mark.parametrize("max_bins", [None, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_edges_equal_dense_edges(max_bins, weighted, form):
    rng = np.random.default_rng(1)
    X, G = features(0), rng.normal(size=(60, 3))
    weights = rng.integers(1, 4, 60).astype(float) if weighted else None
    dense, thin = (StumpSearch(data, max_bins, weights) for data in (X, form(X)))

    def edges_by_stump(search):
        edges = search.edges(G)
        is_stump = ~search.is_padding
        return dict(
            zip(
                zip(search.feature[is_stump], search.threshold[is_stump], strict=True),
                edges[is_stump],
                strict=True,
            )
        )

    expected, actual = edges_by_stump(dense), edges_by_stump(thin)
    assert actual.keys() == expected.keys()
    for stump, edges in expected.items():
        np.testing.assert_allclose(actual[stump], edges, atol=1e-4)
    # The edges also equal the definition.
    for (feature, threshold), edges in actual.items():
        outputs = np.where(X[:, feature] > threshold, 1.0, -1.0)
        np.testing.assert_allclose(edges, outputs @ G, atol=1e-4)
    first, second = dense.best(G), thin.best(G)
    assert (first.learner, first.column) == (second.learner, second.column)
    np.testing.assert_array_equal(first.outputs, second.outputs)
    assert dense.best_sum_abs_edge(G).learner == thin.best_sum_abs_edge(G).learner


def test_binary_features_need_no_running_sums():
    rng = np.random.default_rng(0)
    X, G = (rng.random((50, 20)) < 0.2).astype(float), rng.normal(size=(50, 4))
    np.testing.assert_allclose(
        StumpSearch(sparse.csr_array(X)).edges(G), (2 * X - 1).T @ G, atol=1e-5
    )


def test_constant_features_give_no_stump():
    for X in (sparse.csr_array((5, 3)), sparse.csr_array(np.ones((5, 3)))):
        search = StumpSearch(X)
        assert search.n_positions == 0
        assert search.best(np.ones((5, 2))) is None


def test_explicit_zeros_and_duplicate_entries_are_summed():
    dense = np.array([[0.0, 1.0], [3.0, 0.0]])
    pieces = sparse.coo_array(([0.0, 1.0, 1.0, 2.0], ([0, 0, 1, 1], [0, 1, 0, 0])), shape=(2, 2))
    X = SparseFeatures(pieces)
    assert X.matrix.nnz == 2
    np.testing.assert_array_equal(X[:, np.array([0, 1])], dense)
    thresholds, codes = X.find_thresholds()
    np.testing.assert_array_equal(thresholds, [[1.5], [0.5]])
    np.testing.assert_array_equal(codes, [1, 1])


@pytest.mark.parametrize("max_bins", [None, 2, 4, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_thresholds_and_codes_equal_dense_ones(max_bins, weighted):
    for seed in range(10):
        X = features(seed)
        weights = np.random.default_rng(seed).integers(1, 4, len(X)) if weighted else None
        data = SparseFeatures(sparse.csr_array(X))
        thresholds, codes = data.find_thresholds(max_bins, weights)
        for j, column in enumerate(X.T):
            np.testing.assert_array_equal(
                thresholds[j], quantiles.find_thresholds(column, max_bins, weights), strict=True
            )
            stored = slice(*data.matrix.indptr[j : j + 2])
            expected = quantiles.bin_indices(column[data.matrix.indices[stored]], thresholds[j])
            np.testing.assert_array_equal(codes[stored], expected)


def test_empty_features_are_skipped():
    rng = np.random.default_rng(0)
    few = sparse.random_array((40, 7), density=0.3, rng=rng, format="coo")
    used = np.sort(rng.choice(100_000, 7, replace=False))
    wide = sparse.coo_array((few.data, (few.row, used[few.col])), (40, 100_000))
    G = rng.normal(size=(40, 3))
    actual, expected = StumpSearch(wide).best(G), StumpSearch(few).best(G)
    assert actual.learner == expected.learner._replace(feature=used[expected.learner.feature])
    assert actual.edge == expected.edge
    assert SparseFeatures(wide).used.tolist() == used[np.unique(few.col)].tolist()


@pytest.fixture
def small_blocks(monkeypatch):
    """Search by blocks of three thresholds for any data."""
    monkeypatch.setattr(sparse_layouts, "_BLOCK_THRESHOLDS", 3)
    monkeypatch.setattr(sparse_layouts, "_THRESHOLDS_PER_BLOCK", 0)
    monkeypatch.setattr(sparse_layouts, "_VALUES_PER_THRESHOLD", 10**6)
    monkeypatch.setattr(sparse_layouts, "_MAX_OPEN", 1.0)


def norms(edges):
    return np.sqrt(np.square(edges).sum(axis=1))


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("digits", [0, 8])
def test_search_by_blocks_equals_dense_search(n_columns, digits, small_blocks):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = features(seed)
        # Rounded weights cause many ties; a few large weights leave few blocks open.
        G = rng.normal(size=(len(X), n_columns)).round(digits) ** 3 + 0.1 * (seed % 3)
        dense, by_blocks = StumpSearch(X), StumpSearch(sparse.csr_array(X))
        for best in ("best", "best_sum_abs_edge"):
            expected, actual = (getattr(search, best)(G) for search in (dense, by_blocks))
            assert (actual.learner, actual.column) == (expected.learner, expected.column)
            assert actual.edge == expected.edge
        excluded = rng.choice(by_blocks.n_positions, 5, replace=False)
        position, edges, _ = by_blocks.best_position_excluding(
            G, norms, norms, norms(np.abs(G).sum(axis=0)[None])[0], excluded
        )
        exact = by_blocks.exact_edges_all_columns(G, np.arange(by_blocks.n_positions))
        np.testing.assert_allclose(edges, exact[excluded], atol=1e-9)
        scores = norms(exact)
        scores[excluded] = 0.0
        assert scores[position] == pytest.approx(scores.max(), rel=1e-9)


def test_few_blocks_are_evaluated(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 500), density=0.1, rng=rng, format="csr")
    search = StumpSearch(X)
    chunk_sizes = []
    layout = search._layout.screening_layout(1)
    candidates = layout.iter_candidates

    def counting(*arguments):
        for positions, edges in candidates(*arguments):
            chunk_sizes.append(len(edges))
            yield positions, edges

    monkeypatch.setattr(layout, "iter_candidates", counting)
    assert search.best(rng.normal(size=(400, 1))).learner is not None
    assert sum(chunk_sizes) < search.n_positions / 10
