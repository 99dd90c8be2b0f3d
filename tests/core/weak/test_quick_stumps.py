import numpy as np
import pytest

from boostbench.core.weak.quick_stumps import QuickStumpSearch
from boostbench.core.weak.stumps import StumpSearch

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
def test_it_finds_the_stump_of_the_plain_search(kind, n_columns):
    rng = np.random.default_rng(n_columns)
    X = KINDS[kind](rng)
    plain, fast = StumpSearch(X), QuickStumpSearch(X)
    for _ in range(20):
        G = rng.normal(size=(len(X), n_columns)) * rng.gamma(0.3, size=(len(X), 1))
        stump, column, edge = fast.best(G)
        *_, expected = plain.best(G)
        assert edge == pytest.approx(expected, rel=1e-5)
        assert edge == pytest.approx(G[:, column] @ stump(X))
        stump, votes, edge = fast.best_vote(G)
        assert edge == pytest.approx(plain.best_vote(G)[2], rel=1e-5)
        np.testing.assert_allclose(votes * (stump(X) @ G), np.abs(stump(X) @ G))
        np.testing.assert_allclose(by_stump(fast, G), by_stump(plain, G), atol=1e-4 * expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_columns", [1, 4])
def test_the_best_beside_the_known(kind, n_columns):
    rng = np.random.default_rng(n_columns)
    search = QuickStumpSearch(KINDS[kind](rng))
    G = rng.normal(size=(len(search.X), n_columns))
    edges = search.edges(G)
    sizes = np.square(edges).sum(axis=1)
    # The largest and the smallest are known, and others anywhere.
    known = np.append(np.argsort(sizes)[[-1, -2, 0]], rng.choice(len(sizes), len(sizes) // 9))
    known = np.unique(known[search._is_cut[known]])
    position, of_known = search.best_beside(known, G, lambda some: np.square(some).sum(axis=1))
    np.testing.assert_array_equal(of_known, edges[known])
    sizes[known] = 0.0
    assert position not in known
    assert np.square(edges[position]).sum() == sizes.max() > 0


def by_stump(search, G):
    """Edges in the order of features and thresholds, of every stump once."""
    edges = search.edges(G)
    rows = {}
    for position, where in enumerate(zip(search.feature, search.threshold, strict=True)):
        if where not in rows or edges[position].any():
            rows[where] = edges[position]
    return np.array([rows[where] for where in sorted(rows)])


def test_sums_inside_a_tie_do_not_count():
    X = np.array([[0.0, 1, 1, 1, 2, 3, 4, 5, 6, 7]]).T
    # Between the samples of value 1 there is an edge of 6.3, but no threshold.
    G = np.array([[0.1, -3, 1.5, 1.5, 0, 0, 0, 0, -0.2, 0.6]]).T
    search = QuickStumpSearch(X)
    assert len(search._layout.without_cut) > 0
    stump, _, edge = search.best(G)
    assert (stump.threshold, stump.polarity) == (6.5, 1)
    assert edge == pytest.approx(0.7)
