import numpy as np
import pytest

from boostbench.core.weak.layouts import Dense, FewBins, Histogram, Sorted, choose_layout


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
@pytest.mark.parametrize("kind", [Dense, FewBins, Histogram, Sorted])
def test_edges_of_every_stump(kind, shape, n_columns):
    rng = np.random.default_rng(shape[0])
    X = rng.normal(size=shape)
    X[: shape[0] // 3] = X[0]
    if kind is not Sorted:
        X = np.round(X)
    cuts = [thresholds(column) for column in X.T]
    layout = kind(X, cuts)
    G = rng.normal(size=(len(X), n_columns))
    edges = np.concatenate(list(layout.pieces((-2 * G).astype(np.float32), G.sum(axis=0))))
    assert edges.dtype == np.float32
    assert edges.shape == (len(layout.feature), n_columns)
    is_cut = layout.cut >= 0
    starts = np.cumsum([0] + [len(own) for own in cuts])
    assert set(layout.cut[is_cut]) == set(range(starts[-1]))
    assert (starts.searchsorted(layout.cut[is_cut], "right") - 1 == layout.feature[is_cut]).all()
    expected = literal(X, cuts, G)[layout.cut[is_cut]]
    np.testing.assert_allclose(edges[is_cut], expected, atol=1e-5 * np.abs(G).sum())


def test_a_piece_is_a_few_features():
    X = np.random.default_rng(0).normal(size=(1000, 90))
    layout = Sorted(X, [thresholds(column) for column in X.T])
    pieces = layout.pieces(np.zeros((1000, 2), np.float32), np.zeros(2))
    assert [len(piece) for piece in pieces] == [40 * 1008, 40 * 1008, 10 * 1008]


@pytest.mark.parametrize(
    ("n_values", "n_features", "layout"),
    [
        (1, 3, Dense),
        (2, 3, Dense),
        (7, 3, Dense),
        (12, 3, FewBins),
        (60, 60, FewBins),
        (60, 65, Histogram),
        (200, 3, Sorted),
    ],
)
def test_the_layout_suits_the_number_of_values(n_values, n_features, layout):
    X = np.arange(200 * n_features).reshape(n_features, 200).T % n_values
    X = X.astype(float)
    assert type(choose_layout(X, [thresholds(column) for column in X.T])) is layout
