import numpy as np
import pytest

from boostbench.core.weak.layouts import Dense, Histogram, Sorted
from boostbench.core.weak.quick_layouts import FewBins, SortedPieces, quicken


def thresholds(column):
    values = np.unique(column)
    return (values[:-1] + values[1:]) / 2


def literal(X, cuts, G):
    """Edges of all stumps, one by one."""
    return np.array(
        [
            np.where(X[:, j] > threshold, 1.0, -1.0) @ G
            for j, own in enumerate(cuts)
            for threshold in own
        ]
    )


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("shape", [(2, 3), (15, 1), (16, 2), (17, 40), (1025, 90)])
@pytest.mark.parametrize("kind", [Sorted, Histogram])
def test_edges_of_every_stump(kind, shape, n_columns):
    rng = np.random.default_rng(shape[0])
    X = rng.normal(size=shape)
    X[: shape[0] // 3] = X[0]
    if kind is Histogram:
        X = np.round(X)
    cuts = [thresholds(column) for column in X.T]
    layout = quicken(kind(X, cuts), len(X))
    G = rng.normal(size=(len(X), n_columns))
    edges = layout.edges((-2 * G).astype(np.float32))
    assert edges.shape == (len(layout.feature), n_columns)
    is_cut = np.ones(len(edges), bool)
    is_cut[layout.without_cut] = False
    starts = np.cumsum([0] + [len(own) for own in cuts])
    assert set(layout.cut[is_cut]) == set(range(starts[-1]))
    assert (starts.searchsorted(layout.cut[is_cut], "right") - 1 == layout.feature[is_cut]).all()
    expected = literal(X, cuts, G)[layout.cut[is_cut]]
    np.testing.assert_allclose(edges[is_cut], expected, atol=1e-5 * np.abs(G).sum())


def test_a_piece_is_a_few_features():
    X = np.random.default_rng(0).normal(size=(1000, 90))
    layout = quicken(Sorted(X, [thresholds(column) for column in X.T]), 1000)
    assert isinstance(layout, SortedPieces)
    sizes = [len(piece) for piece in layout.pieces(np.zeros((1000, 2), np.float32))]
    assert sizes == [40 * 1008, 40 * 1008, 10 * 1008]
    assert sum(sizes) == len(layout.position)


def test_what_is_not_made_quicker_stays():
    X = np.random.default_rng(0).integers(2, size=(30, 4)).astype(float)
    dense = Dense(X, [thresholds(column) for column in X.T])
    assert quicken(dense, 30) is dense
    X = np.random.default_rng(0).integers(80, size=(400, 60)).astype(float)
    many = Histogram(X, [thresholds(column) for column in X.T])
    assert quicken(many, 400) is many
    few = Histogram(X[:, :5], [thresholds(column) for column in X[:, :5].T])
    assert isinstance(quicken(few, 400), FewBins)
