import numpy as np
import pytest

from boostbench.core.stumps.layouts.joint_histogram import JointHistogram
from boostbench.core.stumps.layouts.sorted import Sorted
from boostbench.core.stumps.search import StumpSearch, StumpSearchWithExclusion

from . import reference


def rng(seed=0):
    return np.random.default_rng(seed)


# The data for which each layout is chosen.
DATA = {
    Sorted: lambda: np.column_stack([rng().normal(size=(25, 2)), rng(1).integers(0, 9, 25)]),
    JointHistogram: lambda: rng().integers(0, 21, (400, 2)).astype(float),
}
LAYOUTS = pytest.mark.parametrize("layout", DATA)


@LAYOUTS
def test_data_select_each_layout(layout):
    assert type(StumpSearchWithExclusion(DATA[layout]())._layout) is layout


@LAYOUTS
def test_search_without_exclusions_equals_stump_search(layout):
    X = DATA[layout]()
    for n_columns in (1, 3):
        G = rng(2).normal(size=(len(X), n_columns))
        first, second = StumpSearchWithExclusion(X).best(G), StumpSearch(X).best(G)
        assert (first.learner, first.edge, first.column) == (
            second.learner,
            second.edge,
            second.column,
        )
        assert (first.outputs == second.outputs).all()


@pytest.mark.parametrize("layout", [Sorted, JointHistogram])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_excluded_stumps_are_never_returned_again(layout, n_columns):
    X = DATA[layout]()
    G = rng(3).normal(size=(len(X), n_columns))
    rest = {
        (feature, threshold): max(
            abs(reference.edge(X, G[:, c], feature, threshold)) for c in range(n_columns)
        )
        for feature, threshold in reference.stumps(X)
    }
    search = StumpSearchWithExclusion(X)
    while rest:
        best = search.best(G)
        stump = best.learner
        assert best.edge == pytest.approx(max(rest.values()), rel=1e-5)
        assert best.edge == pytest.approx(rest.pop((stump.feature, stump.threshold)), rel=1e-12)
        assert best.edge == pytest.approx(G[:, best.column] @ best.outputs)
        assert (stump(X) == best.outputs).all()
        search.exclude(stump)
    assert search.best(G) is None


def test_exclusion_of_stumps_in_many_pieces():
    X = rng().integers(0, 21, (900, 160)).astype(float)
    G = rng(4).normal(size=(len(X), 2))
    search, excluded = StumpSearchWithExclusion(X), []
    for _ in range(300):
        best = search.best(G)
        search.exclude(best.learner)
        excluded.append((best.learner.feature, best.learner.threshold))
    assert len(set(excluded)) == 300
    assert search.is_padding.sum() >= 300


def test_exclusion_keeps_stumps_of_other_features():
    X = np.repeat(np.arange(4.0)[:, None], 2, axis=1)
    G = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    search = StumpSearchWithExclusion(X)
    first = search.best(G).learner
    search.exclude(first)
    second = search.best(G).learner
    assert second.threshold == first.threshold == 1.5
    assert {first.feature, second.feature} == {0, 1}


def test_constant_features_give_no_stump():
    assert StumpSearchWithExclusion(np.ones((3, 2))).best(np.ones((3, 1))) is None
