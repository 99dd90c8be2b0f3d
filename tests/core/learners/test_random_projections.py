import numpy as np
import pytest

from boostbench.core.learners.random_projections import RandomProjectionSearch


def brute_force(X, matrix, residual):
    """Return the largest |edge| of all stumps on the columns of X @ matrix and of the constant."""
    best = abs(residual.sum())
    for values in (X @ matrix).T:
        for threshold in np.unique(values):
            outputs = np.where(values > threshold, 1.0, -1.0)
            best = max(best, abs(outputs @ residual))
    return best


def random_draw(shape):
    return lambda batch, n_rounds: np.random.default_rng(batch).normal(size=(n_rounds, *shape))


def ones(n_features):
    return lambda batch, n_rounds: np.ones((n_rounds, n_features, 1))


@pytest.mark.parametrize("n_projections", [1, 3, 8])
@pytest.mark.parametrize("repeated", [False, True])
def test_best_equals_brute_force(n_projections, repeated, monkeypatch):
    # Batches of two rounds, so that the test crosses their boundaries.
    module = "boostbench.core.learners.random_projections"
    monkeypatch.setattr(f"{module}._BATCH_VALUES", 2 * 30 * n_projections)
    rng = np.random.default_rng(n_projections)
    X = rng.integers(0, 3, (30, 4)).astype(float) if repeated else rng.normal(size=(30, 4))
    draw = random_draw((4, n_projections))
    search = RandomProjectionSearch(X, draw, n_projections)
    for matrix in np.concatenate([draw(batch, 2) for batch in range(3)]):
        residual = rng.normal(size=30)
        result = search.best(residual[:, None])
        # The search is in single precision, but the edge is evaluated in double precision.
        assert abs(result.edge) == pytest.approx(brute_force(X, matrix, residual), rel=1e-6)
        assert result.edge == pytest.approx(result.outputs @ residual)
        assert (result.learner(X) == result.outputs).all()


def test_constant_stump_has_an_infinite_threshold():
    search = RandomProjectionSearch(np.arange(5.0)[:, None], ones(1), 1)
    result = search.best(np.array([[1.0], [2.0], [1.0], [3.0], [1.0]]))
    assert result.edge == -8
    assert result.learner.threshold == np.inf
    assert (result.outputs == -1).all()


def test_values_within_rounding_errors_are_not_separated():
    X = np.array([[1e8, 1.0], [1e8 + 1e-6, 1.0], [2e8, 1.0]])
    search = RandomProjectionSearch(X, ones(2), 1)
    result = search.best(np.array([[1.0], [-1.0], [0.1]]))
    assert result.outputs[0] == result.outputs[1]


def test_constant_features_give_the_constant_stump():
    search = RandomProjectionSearch(np.full((4, 2), 3.0), random_draw((2, 2)), 2)
    result = search.best(np.array([[1.0], [-1.0], [1.0], [-1.0]]))
    assert result.edge == 0


@pytest.mark.parametrize("max_cached", [0, 300, 2**24])
def test_restart_repeats_the_results(max_cached, monkeypatch):
    """The cache holds all batches, one, or none."""
    module = "boostbench.core.learners.random_projections"
    monkeypatch.setattr(f"{module}._BATCH_VALUES", 2 * 20 * 2)
    monkeypatch.setattr(f"{module}._MAX_CACHED_POSITIONS", max_cached)
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(20, 3)), rng.normal(size=(9, 20, 1))
    drawn_batches = []

    def draw(batch, n_rounds):
        drawn_batches.append(batch)
        return random_draw((3, 2))(batch, n_rounds)

    search = RandomProjectionSearch(X, draw, 2, cache_batches=True)
    first = [search.best(G) for G in weights[:5]]
    search.restart()
    # After `restart`, continue beyond the rounds of the first pass.
    second = [search.best(G) for G in weights]
    fresh = RandomProjectionSearch(X, random_draw((3, 2)), 2)
    for result, repeated, expected in zip(first, second, map(fresh.best, weights), strict=False):
        assert result.edge == repeated.edge == expected.edge
        assert result.learner.threshold == repeated.learner.threshold
    assert len(second) == 9
    n_kept = max_cached // (2 * 2 * (20 + 16))
    assert drawn_batches == [0, 1, 2, *range(min(n_kept, 3), 5)]


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_result_does_not_depend_on_the_scale_of_features(scale):
    rng = np.random.default_rng(2)
    X, residual = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
    plain, scaled = (RandomProjectionSearch(Z, random_draw((2, 2)), 2) for Z in (X, scale * X))
    assert plain.best(residual).edge == scaled.best(residual).edge


@pytest.mark.parametrize("scale", [2.0**-500, 2.0**500])
def test_result_does_not_depend_on_the_scale_of_weights(scale):
    rng = np.random.default_rng(2)
    X, residual = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
    plain, scaled = (RandomProjectionSearch(X, random_draw((2, 2)), 2) for _ in range(2))
    assert scale * plain.best(residual).edge == scaled.best(scale * residual).edge


def test_equal_samples_are_not_separated_if_all_edges_are_small():
    """Rounding errors of many weights exceed the largest edge."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20_000, 2)).astype(float)
    G = rng.normal(size=(20_000, 1))
    for corner in np.unique(X, axis=0):
        inside = (X == corner).all(axis=1)
        G[inside] -= G[inside].mean()
    result = RandomProjectionSearch(X, random_draw((2, 2)), 2).best(G)
    assert (result.learner(X) == result.outputs).all()
