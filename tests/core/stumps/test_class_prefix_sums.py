import numpy as np
import pytest

from boostbench.core.learners import gini_trees
from boostbench.core.learners.gini_trees import GiniTreeSearch
from boostbench.core.learners.trees import ClassStumpSearch
from boostbench.core.stumps.layouts import sorted as sorted_layout
from boostbench.core.stumps.layouts.sorted import Sorted
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.weak_learner import TIE_TOLERANCE

from . import reference


@pytest.fixture(params=[1, 10**5])
def block_sizes(request, monkeypatch):
    """Process one feature per block, or all features at once."""
    monkeypatch.setattr(sorted_layout, "_CLASS_BATCH_SAMPLES", request.param)


@pytest.fixture
def always_sums(monkeypatch):
    """Use `ClassPrefixSums` for any number of classes."""
    for kind in (ClassStumpSearch, GiniTreeSearch):
        monkeypatch.setattr(kind, "min_classes_for_sums", 2)


def problem(seed, n_classes, n_samples=60):
    """Return data with ties, repeated features, zero weights, and a class without samples."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 5))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] = -X[:, 0]
    X[:, 3] = 1.0
    labels = rng.integers(n_classes, size=n_samples)
    labels[labels == 1] = 0
    weights = rng.exponential(size=n_samples) ** 3 * (rng.random(n_samples) < 0.7)
    return X, labels, weights / weights.sum()


def class_weights(labels, weights, n_classes, above):
    return [np.bincount(labels[side], weights[side], n_classes) for side in (~above, above)]


def majority_score(sides):
    return sum(side.max() for side in sides)


def gini_score(sides):
    low, high = (side.sum() for side in sides)
    gain = sum((side**2).sum() / max(side.sum(), 1e-300) for side in sides)
    # The search reduces the gain of a split if a side has nearly no weight.
    return (gain - (sum(sides) ** 2).sum()) * min(1.0, 4e6 * low * high)


SCORES = [
    (sorted_layout.majority_weight, majority_score),
    (gini_trees._gain_from_sums, gini_score),
]


@pytest.mark.usefixtures("block_sizes")
@pytest.mark.parametrize(("score", "expected_score"), SCORES)
@pytest.mark.parametrize("n_classes", [3, 14])
@pytest.mark.parametrize("seed", range(6))
def test_best_position_equals_brute_force(score, expected_score, n_classes, seed):
    X, labels, weights = problem(seed, n_classes)
    search = StumpSearch(X)
    assert isinstance(search._layout, Sorted)
    stump = search.stump(
        search.class_sum_search(labels).best_position(weights, score, 1e-12 / TIE_TOLERANCE)
    )
    stumps = list(reference.stumps(X))
    scores = np.array(
        [
            expected_score(class_weights(labels, weights, n_classes, X[:, j] > cut))
            for j, cut in stumps
        ]
    )
    assert (stump.feature, stump.threshold) == stumps[(scores >= scores.max() - 1e-12).argmax()]


@pytest.mark.parametrize("kind", [ClassStumpSearch, GiniTreeSearch])
def test_ties_are_the_same_by_sums_and_by_edges(kind, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 1))
    order = X[:, 0].argsort()
    labels, weights = np.zeros(60, int), np.zeros(60)
    labels[order[1:3]] = 1
    chosen = []
    # The advantage of the threshold behind the third sample over the first one increases.
    for advantage in np.linspace(0, 3, 61):
        weights[order[:4]] = 0.2, 0.3, 0.3, 0.2 + advantage * TIE_TOLERANCE
        ranks = []
        for min_classes in (2, 99):
            monkeypatch.setattr(kind, "min_classes_for_sums", min_classes)
            search = StumpSearch(X)
            assert isinstance(search._layout, Sorted)
            args = (2,) if kind is GiniTreeSearch else ()
            tree = kind(search, labels, 2, *args).best(weights).learner
            ranks.append(np.count_nonzero(X <= tree.threshold[0]))
        assert ranks[0] == ranks[1]
        chosen.append(ranks[0])
    assert chosen == sorted(chosen)
    assert (chosen[0], chosen[-1]) == (1, 3)


@pytest.mark.usefixtures("always_sums")
@pytest.mark.parametrize("kind", [ClassStumpSearch, lambda *args: GiniTreeSearch(*args, 4)])
@pytest.mark.parametrize("n_classes", [3, 4, 9])
@pytest.mark.parametrize("seed", range(6))
def test_search_by_sums_equals_search_by_edges(kind, n_classes, seed):
    X, labels, weights = problem(seed, n_classes, n_samples=90)
    search = kind(StumpSearch(X), labels, n_classes)
    result = search.best(weights)
    assert search._prefix_sums is not None
    search._prefix_sums = None
    result_by_edges = search.best(weights)
    for name in ("feature", "threshold", "children", "value"):
        assert (getattr(result.learner, name) == getattr(result_by_edges.learner, name)).all()


def test_best_position_is_none_without_thresholds():
    order, is_cut = np.tile(np.arange(8), (3, 1)), np.zeros((3, 8), bool)
    sums = sorted_layout.ClassPrefixSums(order, is_cut, np.arange(8) % 4, positions_of=None)
    assert sums.best_position(np.ones(8), sorted_layout.majority_weight, 1.0) is None


def test_few_distinct_values_are_searched_by_edges():
    X = np.random.default_rng(0).integers(0, 3, (200, 4)).astype(float)
    assert StumpSearch(X).class_sum_search(np.arange(200) % 9) is None
