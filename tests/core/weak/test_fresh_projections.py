import numpy as np
import pytest

from boostbench.core.weak.fresh_projections import FreshProjections


def brute_force(X, matrix, residual):
    """The largest |edge| of all stumps on the columns of X @ matrix, and of the constant one."""
    best = abs(residual.sum())
    for values in (X @ matrix).T:
        for threshold in np.unique(values):
            outputs = np.where(values > threshold, 1.0, -1.0)
            best = max(best, abs(outputs @ residual))
    return best


def random_draw(seed, shape):
    rng = np.random.default_rng(seed)
    return lambda n_rounds: rng.normal(size=(n_rounds, *shape))


@pytest.mark.parametrize("n_projections", [1, 3, 8])
@pytest.mark.parametrize("repeated", [False, True])
def test_it_finds_what_brute_force_finds(n_projections, repeated, monkeypatch):
    # Two rounds a batch, so that batches end in between.
    module = "boostbench.core.weak.fresh_projections"
    monkeypatch.setattr(f"{module}._BATCH_VALUES", 2 * 30 * n_projections)
    rng = np.random.default_rng(n_projections)
    X = rng.integers(0, 3, (30, 4)).astype(float) if repeated else rng.normal(size=(30, 4))
    search = FreshProjections(X, random_draw(0, (4, n_projections)), n_projections)
    matrices = iter(np.concatenate([random_draw(0, (4, n_projections))(2 * k) for k in (3,)]))
    for _ in range(5):
        residual = rng.normal(size=30)
        found = search.best(residual[:, None])
        assert abs(found.edge) == pytest.approx(brute_force(X, next(matrices), residual))
        assert found.edge == pytest.approx(found.outputs @ residual)
        assert (found.learner(X) == found.outputs).all()


def test_the_constant_stump():
    search = FreshProjections(np.arange(5.0)[:, None], lambda n: np.ones((n, 1, 1)), 1)
    found = search.best(np.array([[1.0], [2.0], [1.0], [3.0], [1.0]]))
    assert found.edge == -8
    assert found.learner.threshold == np.inf
    assert (found.outputs == -1).all()


def test_values_that_differ_by_rounding_are_not_parted():
    X = np.array([[1e8, 1.0], [1e8 + 1e-6, 1.0], [2e8, 1.0]])
    search = FreshProjections(X, lambda n: np.ones((n, 2, 1)), 1)
    found = search.best(np.array([[1.0], [-1.0], [0.1]]))
    assert found.outputs[0] == found.outputs[1]


def test_features_that_do_not_vary():
    search = FreshProjections(np.full((4, 2), 3.0), random_draw(0, (2, 2)), 2)
    found = search.best(np.array([[1.0], [-1.0], [1.0], [-1.0]]))
    assert found.edge == 0
