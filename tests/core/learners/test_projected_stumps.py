import numpy as np
import pytest

from boostbench.core.learners.projected_stumps import (
    IndependentProjectionSearch,
    PooledProjectionSearch,
    ProjectedStumps,
)

from ..stumps import reference

# Relative precision of the searches, which sum in single precision.
PRECISION = 1e-5


def centred(G):
    """Subtract the mean, so that the weights sum to zero like the ones of pairwise margins."""
    return G - G.mean()


def generic_problem(seed):
    rng = np.random.default_rng(seed)
    n_samples, n_classes = rng.integers(4, 16), rng.integers(2, 5)
    X = rng.normal(size=(n_samples, rng.integers(2, 6)))
    return X, centred(rng.normal(size=(n_samples, n_classes)))


def duplicated_problem(seed):
    """Return data with three or four distinct rows, repeated in random order."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(3, 5), rng.integers(1, 6)))
    X = rows[rng.integers(0, len(rows), 24)]
    return X, centred(rng.normal(size=(24, rng.integers(2, 4))))


def binary_problem(seed):
    """Return data with few distinct rows, some of zeros, and exactly equal projections."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (25, 3)).astype(float), centred(rng.normal(size=(25, 3)))


def one_feature_problem(seed):
    """Return data with one feature, for which directions of unit length are -1 and +1."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(25, 1)), centred(rng.normal(size=(25, 3)))


def independent(X, G, seed, n_bins=6):
    rng = np.random.default_rng(seed)
    return IndependentProjectionSearch(X, G.shape[1], 7, n_bins, rng)


def pooled(X, G, seed, n_bins=6):
    return PooledProjectionSearch(
        X, G.shape[1], 7, n_bins, np.random.default_rng(seed), pool_size=6
    )


def candidates(search):
    """Return (directions, threshold) of all projected stumps of a search."""
    if isinstance(search, IndependentProjectionSearch):
        return [
            (directions, threshold)
            for directions, thresholds in zip(search.directions, search.thresholds.T, strict=True)
            for threshold in thresholds
        ]
    return [
        (search.pool[members], threshold)
        for members in search.pool_indices
        for threshold in search.thresholds
    ]


def check_best(search, X, G):
    """Compare the search with brute force over its candidates."""
    result = search.best(G)
    stump = result.learner
    edges = {
        (directions.astype(np.float32).tobytes(), float(threshold)): reference.projected_edge(
            X, G, directions, float(threshold)
        )
        for directions, threshold in candidates(search)
    }
    chosen = stump.directions.astype(np.float32).tobytes(), stump.threshold
    assert chosen in edges
    assert stump.polarity in (-1, 1)
    expected_edge = (G * stump(X)).sum()
    assert result.edge == pytest.approx(expected_edge, rel=1e-12)
    assert (result.outputs == stump(X)).all()
    tolerance = PRECISION * np.abs(G).sum()
    assert expected_edge == pytest.approx(stump.polarity * edges[chosen], abs=tolerance)
    assert expected_edge == pytest.approx(max(abs(e) for e in edges.values()), abs=tolerance)
    assert expected_edge >= -tolerance


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", [independent, pooled])
@pytest.mark.parametrize("n_bins", [2, 6])
def test_best_against_brute_force(kind, seed, n_bins):
    X, G = generic_problem(seed)
    check_best(kind(X, G, seed, n_bins), X, G)


@pytest.mark.parametrize("seed", range(20))
def test_best_with_duplicate_rows(seed):
    X, G = duplicated_problem(seed)
    check_best(independent(X, G, seed), X, G)


def quantiles_at_points():
    """Yield pooled searches with a quantile at a point."""
    for seed in range(10):
        for problem in (duplicated_problem, binary_problem, one_feature_problem):
            X, G = problem(seed)
            yield pooled(X, G, seed), X, G
    for seed in range(10):
        X, G = generic_problem(seed)
        yield pooled(X, G, seed, n_bins=len(X) * 6 - 1), X, G


def test_pooled_search_handles_quantiles_at_points():
    for search, X, G in quantiles_at_points():
        check_best(search, X, G)


def test_pooled_thresholds_lie_between_the_points():
    for search, X, _ in quantiles_at_points():
        points = search.pool.astype(float) @ X.T
        assert np.abs(points[..., None] - search.thresholds).min() > 1e-7


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("problem", [binary_problem, one_feature_problem])
def test_best_with_equal_projections(problem, seed):
    X, G = problem(seed)
    check_best(independent(X, G, seed), X, G)


@pytest.mark.parametrize("kind", [independent, pooled])
def test_best_for_data_of_zeros(kind):
    X = np.zeros((6, 2))
    G = centred(np.arange(18.0).reshape(6, 3))
    check_best(kind(X, G, 0), X, G)


def test_result_does_not_depend_on_the_chunk_size(monkeypatch):
    """Projections are processed in chunks."""
    X, G = generic_problem(3)
    full = independent(X, G, 3)
    monkeypatch.setattr("boostbench.core.learners.projected_stumps._CHUNK_POINTS", 2 * G.size)
    chunked = independent(X, G, 3)
    assert (chunked.thresholds == full.thresholds).all()
    for search in (full, chunked):
        check_best(search, X, G)
    first, second = full.best(G).learner, chunked.best(G).learner
    assert (first.directions == second.directions).all()
    assert first[1:] == second[1:]


@pytest.mark.parametrize("kind", [independent, pooled])
def test_search_has_no_state(kind):
    X, G = generic_problem(5)
    search = kind(X, G, 5)
    first = search.best(G).learner
    check_best(search, X, -G[::-1])
    second = search.best(G).learner
    assert (first.directions == second.directions).all()
    assert first[1:] == second[1:]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("problem", [generic_problem, duplicated_problem])
def test_independent_thresholds_are_quantiles_between_different_values(seed, problem):
    X, G = problem(seed)
    n_bins = 5
    search = independent(X, G, seed, n_bins)
    for directions, thresholds in zip(search.directions, search.thresholds.T, strict=True):
        points = np.sort((directions.astype(float) @ X.T).ravel())
        assert (np.diff(thresholds) >= 0).all()
        for index, threshold in enumerate(thresholds, start=1):
            assert np.abs(points - threshold).min() > 1e-6
            # Equal points are on one side of a threshold, so it may have fewer points below.
            n_below = (points < threshold).sum()
            expected = len(points) * index // n_bins
            assert n_below <= expected
            if n_below < expected:
                assert points[expected] - points[n_below] < 1e-5


@pytest.mark.parametrize("seed", range(10))
def test_pooled_thresholds_are_quantiles_of_all_points(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(18, 3))
    search = PooledProjectionSearch(X, 3, 7, 4, rng, pool_size=6)
    points = np.sort((search.pool.astype(float) @ X.T).ravel())
    below = [(points <= threshold).sum() for threshold in search.thresholds]
    expected = len(points) * np.arange(1, 4) / 4
    assert np.abs(np.array(below) - expected).max() <= 1


def test_pool_has_unit_length_and_uniform_members():
    X = np.random.default_rng(0).normal(size=(5, 3))
    search = PooledProjectionSearch(X, 4, 5000, 3, np.random.default_rng(0), pool_size=10)
    np.testing.assert_allclose(np.linalg.norm(search.pool, axis=1), 1.0, rtol=1e-6)
    assert search.pool_indices.shape == (5000, 4)
    for r in range(4):
        counts = np.bincount(search.pool_indices[:, r], minlength=10)
        assert len(counts) == 10
        assert np.abs(counts - 500).max() < 100
    assert np.abs(np.corrcoef(search.pool_indices.T) - np.eye(4)).max() < 0.06


def test_independent_directions_are_gaussian_and_differ():
    X = np.random.default_rng(0).normal(size=(5, 6))
    directions = IndependentProjectionSearch(X, 3, 2000, 4, np.random.default_rng(0)).directions
    assert directions.shape == (2000, 3, 6)
    assert directions.mean() == pytest.approx(0, abs=0.02)
    assert directions.std() == pytest.approx(1, abs=0.02)
    flat = directions.reshape(2000, -1)
    assert np.abs(np.corrcoef(flat.T) - np.eye(18)).max() < 0.1


@pytest.mark.parametrize("kind", [independent, pooled])
def test_outputs_use_the_direction_of_each_class(kind):
    X, G = generic_problem(2)
    stump = kind(X, G, 2).best(G).learner
    outputs = stump(X)
    assert outputs.shape == G.shape
    for i in range(len(X)):
        for r in range(G.shape[1]):
            sign = 1.0 if stump.directions[r] @ X[i] > stump.threshold else -1.0
            assert outputs[i, r] == stump.polarity * sign


@pytest.mark.parametrize("selection", [slice(None), slice(0, 0), slice(0, 2), slice(2, 5)])
def test_outputs_of_stack_equal_literal_evaluation(selection):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 4))
    directions = rng.normal(size=(5, 3, 4))
    threshold = np.array([0.0, 1.0, -1.0, -np.inf, 0.5])
    polarity = np.array([1, -1, -1, 1, 1])
    outputs = ProjectedStumps(directions, threshold, polarity).outputs(X, selection)
    chosen = range(5)[selection]
    assert outputs.shape == (15, 3, len(chosen))
    for index, t in enumerate(chosen):
        for i in range(15):
            for r in range(3):
                sign = 1.0 if directions[t, r] @ X[i] > threshold[t] else -1.0
                assert outputs[i, r, index] == polarity[t] * sign


def test_empty_stack_has_no_outputs():
    stumps = ProjectedStumps(np.empty((0, 4, 2)), [], [])
    assert stumps.outputs(np.ones((3, 2))).shape == (3, 4, 0)


@pytest.mark.parametrize("kind", [independent, pooled])
def test_values_within_rounding_errors_are_not_separated(kind):
    """The second half repeats the first half with differences of rounding errors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X[20:] = X[:20] * (1 + 2.0**-52 * rng.integers(-2, 3, (20, 5)))
    G = centred(rng.normal(size=(40, 3)))
    G[20:] = -G[:20]
    result = kind(X, G, 0).best(G)
    assert (result.outputs[20:] == result.outputs[:20]).all()
    assert result.edge == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", [independent, pooled])
def test_ties_do_not_depend_on_the_order_of_samples(kind):
    """Rounding errors, which depend on the order of samples, do not affect the result."""
    X, G = binary_problem(1)
    order = np.random.default_rng(0).permutation(len(X))
    stumps = [
        kind(X_permuted, G_permuted, 0).best(G_permuted).learner
        for X_permuted, G_permuted in ((X, G), (X[order], G[order]))
    ]
    assert (stumps[0].directions == stumps[1].directions).all()
    assert stumps[0].threshold == pytest.approx(stumps[1].threshold, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-280, 1.0, 1e280])
def test_scale_by_a_power_of_2_changes_no_stump(factor):
    rng = np.random.default_rng(0)
    G = centred(rng.normal(size=(30, 3)))
    X = 1e5 + rng.normal(size=(30, 2))
    factor = 2.0 ** round(np.log2(factor))
    plain, scaled = (
        IndependentProjectionSearch(values, 3, 40, 8, np.random.default_rng(1)).best(G)
        for values in (X, X * factor)
    )
    assert plain.edge == scaled.edge
    assert (plain.outputs == scaled.outputs).all()
    units = scaled.learner.directions * factor / plain.learner.directions
    assert (plain.learner.threshold * units == scaled.learner.threshold).all()
