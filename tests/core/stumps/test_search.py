import numpy as np
import pytest

from boostbench.core.losses.objective import euclidean_lengths
from boostbench.core.stumps import search as search_module
from boostbench.core.stumps.evaluation import make_joint_histogram
from boostbench.core.stumps.layouts.sorted import Sorted
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stump

from . import reference

MANY_SEEDS = range(20)


@pytest.fixture(params=[make_joint_histogram, Sorted])
def layout(request, monkeypatch):
    """Force each layout, independently of the data."""
    monkeypatch.setattr("boostbench.core.stumps.evaluation.choose_layout", request.param)


def mixed_features(rng):
    """Draw continuous, discrete, binary, constant and nearly constant features."""
    n_samples = rng.integers(2, 45)
    kinds = [
        rng.normal(size=n_samples),
        rng.integers(0, 4, n_samples),
        rng.integers(0, 2, n_samples),
        np.full(n_samples, 3.25),
        np.where(np.arange(n_samples) == n_samples // 2, 1e6, -1e-6),
        1e9 + rng.integers(0, 3, n_samples) * np.spacing(1e9),
        np.repeat(rng.normal(size=(n_samples + 2) // 3), 3)[:n_samples],
    ]
    order = rng.permutation(len(kinds))
    return np.column_stack([kinds[i] for i in order]).astype(float)


def positions(search):
    """Return the positions that hold a stump; the others are padding."""
    return np.flatnonzero(~search.is_padding)


def stumps_of(search):
    """Return the set of (feature, threshold) at the positions."""
    return {(int(search.feature[p]), float(search.threshold[p])) for p in positions(search)}


def literal_edges(search, X, G):
    """Return the edges, summed one by one, and 0 at the padding."""
    edges = np.zeros((search.n_positions, G.shape[1]))
    for p in positions(search):
        for c in range(G.shape[1]):
            edges[p, c] = reference.edge(X, G[:, c], search.feature[p], search.threshold[p])
    return edges


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("seed", MANY_SEEDS)
class TestAgainstBruteForce:
    def problem(self, seed):
        rng = np.random.default_rng(seed)
        X = mixed_features(rng)
        return X, rng.normal(size=(len(X), rng.integers(1, 5)))

    def test_positions_hold_every_stump_once(self, seed):
        X, _ = self.problem(seed)
        search = StumpSearch(X)
        sides = {(f, tuple(reference.output(X, f, t))) for f, t in stumps_of(search)}
        expected = {(f, tuple(reference.output(X, f, t))) for f, t in reference.stumps(X)}
        assert sides == expected
        assert len(stumps_of(search)) == len(expected)

    def test_edges_at_every_position_equal_brute_force(self, seed):
        X, G = self.problem(seed)
        search = StumpSearch(X)
        tolerance = 1e-5 * np.abs(G).sum(axis=0).max()
        np.testing.assert_allclose(
            search.edges(G), literal_edges(search, X, G), rtol=0, atol=tolerance
        )

    def test_best_equals_brute_force(self, seed):
        X, G = self.problem(seed)
        stump, outputs, edge, column, _ = StumpSearch(X).best(G)
        assert outputs.tolist() == stump(X).tolist()
        literal = reference.edge(X, G[:, column], stump.feature, stump.threshold)
        assert edge == pytest.approx(stump.polarity * literal, rel=1e-12)
        assert edge == pytest.approx(reference.largest_edge(X, G), rel=1e-5)

    def test_best_sum_abs_edge_equals_brute_force(self, seed):
        X, G = self.problem(seed)
        stump, outputs, edge, _, votes = StumpSearch(X).best_sum_abs_edge(G)
        assert stump.polarity == 1
        assert outputs.tolist() == stump(X).tolist()
        assert set(votes) <= {-1.0, 1.0}
        literal = sum(
            vote * reference.edge(X, G[:, c], stump.feature, stump.threshold)
            for c, vote in enumerate(votes)
        )
        assert edge == pytest.approx(literal, rel=1e-12)
        assert edge == pytest.approx(reference.largest_vote_edge(X, G), rel=1e-5)

    @pytest.mark.parametrize("block", [2**20, 1])
    def test_best_per_column_equals_brute_force(self, seed, block, monkeypatch):
        monkeypatch.setattr("boostbench.core.stumps.search._BLOCK_EDGES", block)
        X, _ = self.problem(seed)
        G = np.random.default_rng(seed).normal(size=(len(X), 19))
        search = StumpSearch(X)
        positions = search.best_per_column(G)
        assert positions.shape == (19,)
        for c, position in enumerate(positions):
            literal = reference.edge(
                X, G[:, c], search.feature[position], search.threshold[position]
            )
            largest = reference.largest_edge(X, G[:, [c]])
            assert abs(literal) == pytest.approx(largest, rel=1e-5)

    def test_best_per_column_with_columns_of_very_different_size(self, seed):
        X, _ = self.problem(seed)
        G = np.random.default_rng(seed).normal(size=(len(X), 4))
        search = StumpSearch(X)
        scales = np.array([1.0, 2.0**-200, 2.0**200, 0.0])
        assert (search.best_per_column(scales * G)[:3] == search.best_per_column(G)[:3]).all()

    def test_sums_of_integer_weights_are_exact(self, seed):
        """Sums of small integers are exact in single precision, so that no tolerance is needed."""
        X, G = self.problem(seed)
        G = np.round(G)
        search = StumpSearch(X)
        assert (search.edges(G) == literal_edges(search, X, G)).all()
        assert search.best(G).edge == reference.largest_edge(X, G)
        assert search.best_sum_abs_edge(G).edge == reference.largest_vote_edge(X, G)


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("seed", range(5))
def test_joint_bins_of_discrete_features(seed):
    """Discrete features of many samples share joint bins."""
    rng = np.random.default_rng(seed)
    n_samples = 150
    X = np.column_stack([rng.integers(0, k, n_samples) for k in (2, 3, 2, 1, 5, 2, 18, 2, 2)])
    X = X.astype(float)
    X[:, 7] = X[:, 0] + X[:, 1]
    G = rng.integers(-3, 4, (n_samples, 2)).astype(float)
    search = StumpSearch(X)
    assert (search.edges(G) == literal_edges(search, X, G)).all()
    assert search.best(G).edge == reference.largest_edge(X, G)


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("n_thresholds", [1, 2, 15, 16, 17, 31, 32, 33, 48, 49])
def test_features_with_different_numbers_of_thresholds(n_thresholds):
    rng = np.random.default_rng(n_thresholds)
    X = np.zeros((60, 5))
    X[:, 1] = rng.permutation(np.arange(60) % (n_thresholds + 1))
    X[:, 2] = rng.permutation(60)
    X[:, 3] = np.arange(60) > 40
    G = rng.integers(-3, 4, (60, 3)).astype(float)
    search = StumpSearch(X)
    assert len(stumps_of(search)) == n_thresholds + 60
    assert (search.edges(G) == literal_edges(search, X, G)).all()


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("varying", range(4))
def test_single_varying_feature_is_selected(varying):
    X = np.ones((20, 4))
    X[:, varying] = np.arange(20)
    G = np.where(np.arange(20) < 7, -1.0, 1.0)[:, None]
    search = StumpSearch(X)
    for best, polarity in ((search.best(G), 1), (search.best(-G), -1)):
        assert best.learner == Stump(varying, 6.5, polarity)
        assert (best.column, best.edge) == (0, 20.0)


@pytest.mark.parametrize("max_bins", [None, 4])
def test_constant_features_have_no_position(max_bins):
    search, G = StumpSearch(np.full((5, 3), 2.0), max_bins), np.ones((5, 2))
    assert search.n_positions == 0
    assert search.edges(G).shape == (0, 2)
    assert search.best(G) is search.best_sum_abs_edge(G) is search.best_per_column(G) is None
    assert search.best_position(G, lambda edges: edges.sum(axis=1), 1.0) is None


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 0.1, 1e-310, 1e300, -1e300, 123456.789])
@pytest.mark.parametrize("max_bins", [None, 2])
def test_neighbouring_doubles_are_separated(value, max_bins):
    X = np.array([[value], [np.nextafter(value, np.inf)]])
    best = StumpSearch(X, max_bins).best(np.array([[-1.0], [1.0]]))
    assert best.edge == 2.0
    assert best.learner(X).tolist() == [-1.0, 1.0]


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("low", [-1.0, 0.0, 0.5])
def test_largest_doubles_are_separated(low):
    largest = np.finfo(float).max
    X = np.array([[low * largest], [largest]])
    best = StumpSearch(X).best(np.array([[-1.0], [1.0]]))
    assert best.edge == 2.0
    assert best.learner(X).tolist() == [-1.0, 1.0]
    assert np.isfinite(best.learner.threshold)


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("scale", [2.0**-560, 2.0**-90, 2.0**-30, 2.0**30, 2.0**90, 2.0**560])
def test_search_does_not_depend_on_the_scale_of_weights(scale):
    rng = np.random.default_rng(0)
    X, G = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    search = StumpSearch(X)
    best, scaled = search.best(G), search.best(scale * G)
    assert (scaled.learner, scaled.column) == (best.learner, best.column)
    assert scaled.edge == scale * best.edge
    best, scaled = search.best_sum_abs_edge(G), search.best_sum_abs_edge(scale * G)
    assert scaled.learner == best.learner
    assert scaled.votes.tolist() == best.votes.tolist()
    assert scaled.edge == scale * best.edge


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("scale", [2.0**-900, 2.0**-560, 2.0**-90, 2.0**90, 2.0**560, 2.0**900])
def test_scale_does_not_affect_ties(scale):
    rng = np.random.default_rng(1)
    x, G = rng.integers(0, 6, (50, 1)).astype(float), rng.normal(size=(50, 1))
    search = StumpSearch(np.hstack([x, 5 - x]))
    assert search.best(G).learner.feature == 0
    assert search.best(scale * G).learner == search.best(G).learner


def test_search_never_returns_padding_for_small_edges():
    """The rounding errors of many weights exceed the largest edge."""
    n = 2**17
    X = np.column_stack([np.arange(n) // 2, np.arange(n)[::-1] // 2]).astype(float)
    search = StumpSearch(X)
    assert search.is_padding.any()
    positions = search.best_per_column(np.where(np.arange(n) % 2, 1.0, -1.0)[:, None] * np.ones(2))
    assert not search.is_padding[positions].any()


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("seed", MANY_SEEDS)
@pytest.mark.parametrize("many", [0, search_module._MIN_FLUSHED])
def test_weights_of_very_different_size(seed, many, monkeypatch):
    """A few samples have nearly all the weight, as in late rounds of a training."""
    monkeypatch.setattr(search_module, "_MIN_FLUSHED", many)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    G = rng.choice([-1.0, 1.0], (40, 3)) * 10.0 ** rng.uniform(-40, 0, (40, 3))
    tolerance = 1e-6 * np.abs(G).sum()
    search = StumpSearch(X)
    np.testing.assert_allclose(search.edges(G), literal_edges(search, X, G), atol=tolerance)
    assert search.best(G).edge == pytest.approx(reference.largest_edge(X, G), abs=tolerance)
    largest = reference.largest_vote_edge(X, G)
    assert search.best_sum_abs_edge(G).edge == pytest.approx(largest, abs=tolerance)


def test_many_thresholds_of_many_samples_keep_single_precision():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    G = rng.normal(size=(5000, 1)) / 5000
    search = StumpSearch(X)
    order = np.argsort(X, axis=0)
    below = np.cumsum(G[order, 0], axis=0)
    exact = np.abs(G.sum() - 2 * below[:-1]).max()
    assert search.best(G).edge == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("max_bins", [2, 3, 8])
def test_quantiles_of_weights_equal_quantiles_of_repeated_rows(max_bins):
    rng = np.random.default_rng(0)
    X, times = rng.normal(size=(40, 3)).round(1), rng.integers(1, 6, 40)
    times[X[:, 0] > 0.5] *= 9
    weighted = stumps_of(StumpSearch(X, max_bins, times.astype(float)))
    assert weighted == stumps_of(StumpSearch(X.repeat(times, axis=0), max_bins))
    assert weighted != stumps_of(StumpSearch(X, max_bins))


@pytest.mark.parametrize("seed", MANY_SEEDS)
@pytest.mark.parametrize("max_bins", [2, 3, 8, 16, 100])
def test_binned_thresholds_are_a_subset_of_all_thresholds(seed, max_bins):
    X = mixed_features(np.random.default_rng(seed))
    exact, binned = StumpSearch(X), StumpSearch(X, max_bins)
    for feature, values in enumerate(X.T):
        all_thresholds = {threshold for f, threshold in stumps_of(exact) if f == feature}
        selected = {threshold for f, threshold in stumps_of(binned) if f == feature}
        assert selected <= all_thresholds
        assert len(selected) <= max_bins - 1
        assert bool(selected) == bool(all_thresholds)
        if len(set(values)) <= max_bins:
            assert selected == all_thresholds


@pytest.mark.parametrize("max_bins", [2, 4, 10])
def test_binned_thresholds_are_quantiles(max_bins):
    """Each bin of distinct values holds its share of the samples."""
    values = np.random.default_rng(0).permutation(1000.0 + np.arange(1000))
    thresholds = sorted(
        threshold for _, threshold in stumps_of(StumpSearch(values[:, None], max_bins))
    )
    below = [(values < threshold).sum() for threshold in thresholds]
    assert len(below) == max_bins - 1
    assert np.abs(np.array(below) - 1000 * np.arange(1, max_bins) / max_bins).max() <= 1


def test_frequent_value_has_its_own_bin():
    values = np.concatenate([np.zeros(900), 1.0 + np.arange(100)])
    assert (0, 0.5) in stumps_of(StumpSearch(values[:, None], 10))


@pytest.mark.parametrize("max_bins", [None, 5])
@pytest.mark.parametrize("polarity", [-1, 1])
def test_stump_of_a_position_has_its_feature_threshold_and_polarity(max_bins, polarity):
    X = np.random.default_rng(3).normal(size=(12, 2))
    search = StumpSearch(X, max_bins)
    for position in np.flatnonzero(~search.is_padding):
        feature, threshold = search.feature[position], search.threshold[position]
        stump = search.stump(position, polarity)
        assert stump == Stump(feature, threshold, polarity)
        expected = polarity * np.array(reference.output(X, feature, threshold))
        assert stump(X).tolist() == expected.tolist()


def test_search_does_not_modify_its_arguments():
    rng = np.random.default_rng(0)
    X, G = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    X.setflags(write=False)
    G.setflags(write=False)
    search = StumpSearch(X)
    first = search.edges(G).copy()
    search.best(G)
    search.best_sum_abs_edge(G)
    search.edges(G)[:] = 0.0
    assert (search.edges(G) == first).all()


KINDS = {
    "distinct": lambda rng: rng.normal(size=(60, 5)),
    "with ties": lambda rng: np.round(3 * rng.normal(size=(60, 5))),
    "few ties": lambda rng: np.round(rng.normal(size=(60, 5)), 1),
    "few bins": lambda rng: rng.integers(8, size=(200, 5)) * [1, 1, 0, 2, 1],
    "many bins": lambda rng: rng.integers(80, size=(400, 60)).astype(float),
    "in pieces": lambda rng: np.round(rng.normal(size=(700, 130)), 3),
    "two values": lambda rng: rng.integers(2, size=(60, 5)).astype(float),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_columns", [1, 4, 26])
def test_every_layout_equals_brute_force_on_larger_problems(kind, n_columns):
    rng = np.random.default_rng(n_columns)
    X = KINDS[kind](rng).astype(float)
    thresholds = [np.reshape(reference.midpoints(column), (-1, 1)) for column in X.T]
    search = StumpSearch(X)
    for _ in range(3):
        G = rng.normal(size=(len(X), n_columns)) * rng.gamma(0.3, size=(len(X), 1))
        sides = (column > thresholds for column, thresholds in zip(X.T, thresholds, strict=True))
        edges = np.abs(np.concatenate([np.where(above, 1.0, -1.0) @ G for above in sides]))
        best = search.best(G)
        assert best.edge == pytest.approx(edges.max(), rel=1e-5)
        assert best.edge == pytest.approx(G[:, best.column] @ best.learner(X))
        best = search.best_sum_abs_edge(G)
        assert best.edge == pytest.approx(edges.sum(axis=1).max(), rel=1e-5)
        of_stump = best.learner(X) @ G
        np.testing.assert_allclose(best.votes * of_stump, np.abs(of_stump))
        positions = search.best_per_column(G)
        stumps = Stump(search.feature[positions], search.threshold[positions])
        each = np.abs((stumps(X) * G).sum(axis=0))
        np.testing.assert_allclose(each, edges.max(axis=0), rtol=1e-5)
        position = search.best_position(G, lambda rows: np.square(rows).sum(axis=1), 1.0)
        size = np.square(search.stump(position)(X) @ G).sum()
        assert size == pytest.approx(np.square(edges).sum(axis=1).max(), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_columns", [1, 4])
@pytest.mark.parametrize("many", [0, 2**20])
def test_best_position_excluding_equals_brute_force(kind, n_columns, many, monkeypatch):
    monkeypatch.setattr(search_module, "_MIN_FLOAT32_SUMS", many)
    rng = np.random.default_rng(n_columns)
    search = StumpSearch(KINDS[kind](rng))
    G = rng.normal(size=(len(search.X), n_columns))
    edges = search.edges(G)
    sizes = np.square(edges).sum(axis=1)
    # The excluded positions include the largest and the smallest edge.
    excluded = np.append(np.argsort(sizes)[[-1, -2, 0]], rng.choice(len(sizes), len(sizes) // 9))
    excluded = np.unique(excluded[~search.is_padding[excluded]])
    position, excluded_edges, off = search.best_position_excluding(
        G, euclidean_lengths, euclidean_lengths, 1.0, excluded
    )
    assert (np.abs(excluded_edges - search.exact_edges_all_columns(G, excluded)) <= off).all()
    assert (off < 1e-4 * np.abs(G).sum(axis=0)).all()
    sizes[excluded] = 0.0
    assert position not in excluded
    assert np.square(edges[position]).sum() == pytest.approx(sizes.max(), rel=1e-5)
    assert sizes.max() > 0


def test_rounding_inside_a_tie_does_not_affect_the_result():
    X = np.array([[0.0, 1, 1, 1, 2, 3, 4, 5, 6, 7]]).T
    # A cut between the samples of value 1 would have an edge of 6.3, but it is no threshold.
    G = np.array([[0.1, -3, 1.5, 1.5, 0, 0, 0, 0, -0.2, 0.6]]).T
    search = StumpSearch(X)
    assert search.is_padding.any()
    best = search.best(G)
    assert best.learner == Stump(0, 6.5, 1)
    assert best.edge == pytest.approx(0.7)
    assert search.best_sum_abs_edge(G).learner == Stump(0, 6.5)
    position = search.best_position(G, lambda edges: np.abs(edges[:, 0]), 1.0)
    assert {position, *search.best_per_column(G)} == {position}
    assert search.stump(position) == Stump(0, 6.5)


@pytest.mark.usefixtures("layout")
def test_totals_of_many_samples_are_exact():
    """Edges are small against the totals, since ten classes do not depend on the features.

    Totals in single precision would have errors of more than a tenth of the best edge.
    """
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (100_000, 8)).astype(float)
    G = np.where(np.arange(len(X))[:, None] % 10 == np.arange(10), 1.0, -1.0) / (10 * len(X))
    edges = np.abs((2 * X - 1).T @ G).sum(axis=1)
    search = StumpSearch(X)
    largest = np.zeros(8)
    np.maximum.at(largest, search.feature, np.abs(search.edges(G)).sum(axis=1))
    # The tolerance is for the sums below the thresholds, which are in single precision.
    np.testing.assert_allclose(largest, edges, rtol=0, atol=2e-3 * edges.max())
