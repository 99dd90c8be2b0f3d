import numpy as np
import pytest
from scipy.optimize import minimize

from boostbench.core.losses.objective import ROW_NORMS

# The norm of a row, and its dual norm, written out.
PLAIN = {
    "l2": (lambda w: sum(x * x for x in w) ** 0.5, lambda g: sum(x * x for x in g) ** 0.5),
    "linf": (lambda w: max(abs(x) for x in w), lambda g: sum(abs(x) for x in g)),
}


@pytest.fixture(params=["l2", "linf"])
def name(request):
    return request.param


def rows(seed=0, shape=(40, 4)):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=shape) * rng.exponential(size=(shape[0], 1))
    W[3] = 0.0
    W[4, 1:] = 0.0
    W[5] = [1.0, -1.0, 1.0, -1.0]
    return W


def test_norms_equal_their_definitions(name):
    W = rows()
    value, _ = PLAIN[name]
    np.testing.assert_allclose(ROW_NORMS[name]().evaluate(W), [value(w) for w in W], rtol=1e-12)


def numeric_minimum(g, weight, name):
    """Return the minimum of |w|^2 / 2 - g w + weight |w| by a generic method."""
    value, _ = PLAIN[name]
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 5000}

    def bound(w):
        return 0.5 * w @ w - g @ w + weight * value(w)

    return min(minimize(bound, g, method="Nelder-Mead", options=options).fun, 0.0)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.5])
def test_ranking_score_orders_rows_by_their_minima(name, weight):
    """The dual norms of the rows have another order, except for the Euclidean norm."""
    G = np.random.default_rng(5).normal(size=(30, 3)).astype(np.float32)
    order = np.array([-numeric_minimum(g, weight, name) for g in G.astype(float)])
    for dtype in (np.float64, np.float32):
        scores = ROW_NORMS[name]().ranking_score(G.astype(dtype), weight)
        assert scores.dtype == dtype
        assert (scores >= 0).all()
        i, j = np.nonzero(order[:, None] > order + 1e-5)
        assert (scores[i] > scores[j]).all()


@pytest.mark.parametrize("weight", [0.0, 0.1, 0.7, 2.0])
def test_prox_is_optimal(name, weight):
    """(v - w) / weight is a subgradient of the norm at w, which suffices for a convex function."""
    V = rows(2)
    value, dual = PLAIN[name]
    for v, w in zip(V, ROW_NORMS[name]().prox(V, weight), strict=True):
        assert dual(v - w) <= weight + 1e-12
        assert (v - w) @ w == pytest.approx(weight * value(w), abs=1e-12)
        assert (w == 0).all() == (dual(v) <= weight)


@pytest.mark.parametrize("weight", [0.2, 1.0])
def test_prox_equals_a_numeric_minimum(name, weight):
    V = np.random.default_rng(3).normal(size=(8, 3)) * 1.5
    value, _ = PLAIN[name]
    for v, w in zip(V, ROW_NORMS[name]().prox(V, weight), strict=True):

        def objective(z, v=v):
            return 0.5 * (z - v) @ (z - v) + weight * value(z)

        options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}
        minimum = minimize(objective, v, method="Nelder-Mead", options=options)
        assert objective(w) <= minimum.fun + 1e-12
        np.testing.assert_allclose(w, minimum.x, atol=1e-4)
