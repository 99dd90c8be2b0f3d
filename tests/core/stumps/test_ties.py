"""Check that searches select the same weak learner for every order of summation."""

from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from boostbench.core.learners.gini_trees import GiniTreeSearch
from boostbench.core.learners.output_code_stumps import OutputCodeStumpSearch
from boostbench.core.learners.random_features import UnionSearch
from boostbench.core.learners.trees import ClassStumpSearch
from boostbench.core.learners.vector_trees import CodewordVote, LeastSquares, VectorTreeSearch
from boostbench.core.losses.objective import euclidean_lengths
from boostbench.core.stumps import evaluation
from boostbench.core.stumps import search as search_module
from boostbench.core.stumps.evaluation import make_joint_histogram
from boostbench.core.stumps.layouts.sorted import Sorted
from boostbench.core.stumps.search import (
    ConstantFallbackSearch,
    StumpSearch,
    StumpSearchWithExclusion,
)
from boostbench.core.weak_learner import TIE_TOLERANCE, argmax_with_tolerance

from . import reference

LAYOUTS = [make_joint_histogram, Sorted]


@st.composite
def tied_problems(draw, n_columns=None):
    """Draw data with many ties (flags, grids, repeated or mirrored columns) and whole weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_samples = draw(st.integers(2, 40))
    n_columns = n_columns or draw(st.integers(1, 4))
    X = rng.integers(0, draw(st.integers(2, 6)), (n_samples, draw(st.integers(1, 5))))
    X = X.astype(float)
    X[0, 0] = 7.0
    extra = draw(st.sampled_from(["none", "twice", "mirrored", "scaled"]))
    copies = {"none": X[:, :0], "twice": X, "mirrored": 1 - X, "scaled": 3 * X + 0.5}
    X = np.column_stack([X, copies[extra]])[:, rng.permutation(X.shape[1] + copies[extra].shape[1])]
    G = rng.integers(-3, 4, (n_samples, n_columns))
    times = rng.integers(1, 4, n_samples)
    return X, G, times, rng.permutation(n_samples)


# Multiples of these numbers are rounded, so that their sums depend on the order.
UNITS = st.sampled_from([0.1, 1 / 3, 1e-9 / 7, np.pi])


def equivalent_searches(X, G, times, order):
    """Yield equivalent forms of a problem, as searches and their weights."""
    G = G * times[:, None]
    yield StumpSearch(X), G
    yield StumpSearch(csr_array(X)), G
    yield StumpSearch(X[order]), G[order]
    repeated = np.repeat(np.arange(len(X)), times)
    yield StumpSearch(X[repeated]), (G / times[:, None])[repeated]
    for layout in LAYOUTS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evaluation, "choose_layout", layout)
            yield StumpSearch(X), G


def exact_edges(X, G):
    """Return all stumps in canonical order, and their edges, which whole weights make exact."""
    stumps = list(reference.stumps(X))
    outputs = [reference.output(X, *stump) for stump in stumps]
    return stumps, np.array(outputs) @ G


# The only edge is 0 up to the rounding of repeated rows.
NO_EDGE = np.array([[7.0], [1.0]]), np.array([[-3], [-2]]), np.array([2, 3]), np.array([1, 0])


@example(problem=NO_EDGE, unit=0.1)
@given(problem=tied_problems(), unit=UNITS)
@settings(max_examples=60, deadline=None)
def test_ties_go_to_the_first_stump(problem, unit):
    X, G, times, _ = problem
    stumps, edges = exact_edges(X, G * times[:, None])
    for search, weights in equivalent_searches(*problem):
        best, voted, each = (
            find(unit * weights)
            for find in (search.best, search.best_sum_abs_edge, search.best_per_column)
        )
        # NumPy's argmax returns the first of equal values.
        first, column = divmod(int(np.abs(edges).argmax()), edges.shape[1])
        assert (best.learner.feature, best.learner.threshold) == stumps[first]
        assert best.column == column
        first = int(np.abs(edges).sum(axis=1).argmax())
        assert (voted.learner.feature, voted.learner.threshold) == stumps[first]
        assert voted.votes.tolist() == np.where(edges[first] >= 0, 1.0, -1.0).tolist()
        firsts = [stumps[first] for first in np.abs(edges).argmax(axis=0)]
        assert list(zip(search.feature[each], search.threshold[each], strict=True)) == firsts
        position = search.best_position(
            unit * weights, lambda rows: np.square(rows).sum(axis=1), scale=(4 * unit * 40 * 9) ** 2
        )
        positions, none, scale = [position], np.empty(0, np.int64), 4 * unit * 40 * 9
        for many in (0, 2**20):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(search_module, "_MIN_FLOAT32_SUMS", many)
                positions.append(
                    search.best_position_excluding(
                        unit * weights, euclidean_lengths, euclidean_lengths, scale, none
                    )[0]
                )
        first = int(np.square(edges).sum(axis=1).argmax())
        for position in positions:
            assert (search.feature[position], search.threshold[position]) == stumps[first]


@given(problem=tied_problems(), unit=UNITS)
@settings(max_examples=30, deadline=None)
def test_stumps_are_excluded_in_canonical_order(problem, unit):
    X, G, times, _ = problem
    G = G * times[:, None]
    stumps, edges = exact_edges(X, G)
    sizes = np.abs(edges).max(axis=1, initial=0.0)
    for kind in LAYOUTS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evaluation, "choose_layout", kind)
            search = StumpSearchWithExclusion(X)
        remaining = sizes.copy()
        for _ in range(min(5, len(stumps))):
            first = int(remaining.argmax())
            best = search.best(unit * G).learner
            assert (best.feature, best.threshold) == stumps[first]
            search.exclude(best)
            remaining[first] = -1.0


def best_trees(search, labels, weights):
    """Yield the best tree of every search for trees."""
    n_classes = 3
    G = np.eye(n_classes)[labels] * weights[:, None]
    for many in (2, 99):
        with pytest.MonkeyPatch.context() as patch:
            for kind in (ClassStumpSearch, GiniTreeSearch):
                patch.setattr(kind, "min_classes_for_sums", many)
            for kind in (ClassStumpSearch, partial(GiniTreeSearch, max_leaf_nodes=4)):
                best = kind(search, labels, n_classes).best(weights)
                yield None if best is None else best.learner
    codewords = np.array([[1.0, 0, -1], [0, 1, 1], [-1, 1, 0.5]])
    for criterion in (LeastSquares(), CodewordVote(codewords)):
        best = VectorTreeSearch(search, 2, weights).best(G @ codewords, criterion)
        yield None if best is None else best.tree


@given(problem=tied_problems(n_columns=1), unit=st.sampled_from([0.1, 1 / 3, np.pi]))
@settings(max_examples=40, deadline=None)
def test_trees_do_not_depend_on_the_order_of_summation(problem, unit):
    X, G, times, order = problem
    labels = np.abs(G[:, 0]) % 3
    repeated = np.repeat(np.arange(len(X)), times)
    weights = unit * times / times.sum()
    forms = [
        (StumpSearch(X), labels, weights),
        (StumpSearch(X[order]), labels[order], weights[order]),
    ]
    forms.append((StumpSearch(csr_array(X)), labels, weights))
    once = np.full(len(repeated), unit / times.sum())
    forms.append((StumpSearch(X[repeated]), labels[repeated], once))
    for layout in LAYOUTS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evaluation, "choose_layout", layout)
            forms.append((StumpSearch(X), labels, weights))
    expected, *rest = [list(best_trees(*form)) for form in forms]
    for other_trees in rest:
        for tree, actual in zip(expected, other_trees, strict=True):
            assert (tree is None) == (actual is None)
            if tree is not None:
                assert tree.feature.tolist() == actual.feature.tolist()
                assert tree.threshold.tolist() == actual.threshold.tolist()
                np.testing.assert_allclose(tree.value, actual.value, atol=1e-9)


@given(problem=tied_problems(n_columns=3), unit=UNITS)
@settings(max_examples=40, deadline=None)
def test_stumps_with_codes_do_not_depend_on_the_order_of_samples(problem, unit):
    X, G, _, order = problem
    codes = np.array([[1, -1, 0], [0, 1, -1], [1, 0, -1], [1, -1, 0]], np.float32)
    violation = np.array([0.5, 0.25, 0.5, 0.5], np.float32) * np.float32(unit)
    stumps, edges = exact_edges(X, G)
    best = OutputCodeStumpSearch(X).best(unit * G, codes, violation)
    scores = np.abs(edges @ codes.T) + violation / unit
    # Violations that are equal in single precision only are no ties.
    positions = np.argwhere(scores >= scores.max() - 1e-6)
    expected = [(*stumps[q], v) for q, v in positions]
    assert (best.learner.feature, best.learner.threshold, best.column) in expected
    reordered = OutputCodeStumpSearch(X[order]).best(unit * G[order], codes, violation)
    assert (reordered.learner, reordered.column) == (best.learner, best.column)


@pytest.mark.parametrize("n_features", [1, 40, 1500])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_first_of_thousands_of_equal_stumps_is_selected(n_features, n_columns):
    rng = np.random.default_rng(n_features)
    flag = rng.integers(0, 2, 200)
    noise = rng.integers(0, 2, (200, n_features))
    X = np.column_stack([noise, np.tile(flag[:, None], n_features), 1 - noise]).astype(float)
    G = rng.normal(size=(200, n_columns)) + 3.0 * (2 * flag - 1)[:, None]
    for data in (X, csr_array(X)):
        search = StumpSearch(data)
        assert search.best(G).learner.feature == n_features
        assert search.best_sum_abs_edge(G).learner.feature == n_features
        assert (search.feature[search.best_per_column(G)] == n_features).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_zero_weights_tie_all_stumps(layout, monkeypatch):
    monkeypatch.setattr(evaluation, "choose_layout", layout)
    X = np.random.default_rng(0).integers(0, 9, (300, 5)).astype(float)
    search, G = StumpSearch(X), np.zeros((300, 2))
    assert (search.best(G).learner.feature, search.best(G).learner.threshold) == (0, 0.5)
    assert search.best(G).column == 0
    assert search.best_sum_abs_edge(G).learner.feature == 0
    assert set(search.stump_index[search.best_per_column(G)]) == {0}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(5))
def test_search_distinguishes_nearly_equal_stumps(layout, seed, monkeypatch):
    """The difference is below the resolution of single precision, and above the tie tolerance."""
    monkeypatch.setattr(evaluation, "choose_layout", layout)
    rng = np.random.default_rng(seed)
    n_samples = 500
    order = rng.permutation(n_samples)
    X = (order[:, None] % np.array([2, 2, 7, 2])).astype(float)
    X[:, 1] = 1 - X[:, 0]
    X[0, 1] = X[0, 0]
    side = 2 * X[:, 0] - 1
    G = (side * (1 + rng.random(n_samples)))[:, None]
    total = np.abs(G).sum()
    for little, feature in ((1e-8, 0), (-1e-8, 1)):
        # The stumps of the first two features differ at sample 0 only.
        G[0] = side[0] * little * total
        assert StumpSearch(X).best(G).learner.feature == feature


def test_tie_tolerance_separates_ties_from_differences():
    assert argmax_with_tolerance(np.array([1.0, 1.0 + TIE_TOLERANCE / 2, 0.0]), 1.0) == 0
    assert argmax_with_tolerance(np.array([1.0, 1.0 + 2 * TIE_TOLERANCE, 0.0]), 1.0) == 1
    values = np.array([[1.0, 2.0, 2.0 - 1e-12], [3.0, 1.0, 3.0]])
    assert argmax_with_tolerance(values, np.array([1.0, 1.0])).tolist() == [1, 0]


def test_constant_stump_comes_after_an_equal_stump():
    X = np.repeat([0.0, 1.0], 10)[:, None]
    G = np.where(np.arange(20) < 10, 0.0, 0.1)[:, None]
    assert ConstantFallbackSearch(StumpSearch(X)).best(G).learner.threshold == 0.5
    assert ConstantFallbackSearch(StumpSearch(X)).best(G + 1e-3).learner.threshold == np.inf


def test_tie_between_searches_goes_to_the_first_search():
    X = np.repeat([0.0, 1.0], 10)[:, None]
    G = np.where(np.arange(20) < 10, -0.1, 0.1)[:, None]

    class ScaledSearch:
        def __init__(self, X, factor):
            self.X, self.factor = X, factor

        def best(self, G):
            best = StumpSearch(self.X).best(G)
            return best._replace(edge=best.edge * self.factor, column=int(self.factor < 1))

    for factors, first in (((1 - 1e-13, 1.0), 1), ((1.0, 1 - 1e-13), 0), ((1 - 1e-6, 1.0), 0)):
        assert UnionSearch([ScaledSearch(X, factor) for factor in factors]).best(G).column == first
