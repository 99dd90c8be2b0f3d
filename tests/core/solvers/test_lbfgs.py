from functools import partial

import numpy as np
import pytest
from generic import nonnegative

from boostbench.core.solvers.lbfgs import nonnegative_quasi_newton, scipy_lbfgsb

SOLVERS = {
    "scipy": scipy_lbfgsb,
    "projected": nonnegative_quasi_newton,
    "slow progress": partial(nonnegative_quasi_newton, progress=1e-12, gradient_unit=5e-7),
}

pytestmark = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)


def shrunk_distance(target):
    return lambda w: (0.5 * ((w - target) ** 2).sum(), w - target)


@pytest.mark.parametrize("nu", [0.0, 0.3, 5.0])
def test_soft_threshold(nu, solve):
    """The minimum of |w - a|^2 / 2 + nu sum(w) over w >= 0 is at max(a - nu, 0)."""
    target = np.array([-2.0, -0.1, 0.0, 0.2, 0.3, 1.0, 4.0])
    w, value, *_ = solve(shrunk_distance(target), np.zeros(7), nu, 100)
    expected = np.maximum(target - nu, 0.0)
    np.testing.assert_allclose(w, expected, atol=1e-5)
    assert value == pytest.approx(0.5 * ((w - target) ** 2).sum() + nu * w.sum())


@pytest.mark.parametrize("seed", range(10))
def test_quadratics_meet_the_optimality_conditions(seed, solve):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(30, 12)), rng.normal(size=30)
    nu = rng.uniform(0, 5)

    def smooth(w):
        residual = A @ w - b
        return 0.5 * residual @ residual, A.T @ residual

    w, value, *_ = solve(smooth, np.zeros(12), nu, 1000)
    slope = smooth(w)[1] + nu
    assert (w >= 0).all()
    assert slope.min() > -1e-2
    assert np.abs(slope * w).max() < 1e-2
    rough = nonnegative(lambda w: smooth(w)[0] + nu * w.sum(), rng.uniform(size=12))
    assert value == pytest.approx(rough.fun, rel=1e-6)


def test_large_penalty_gives_zero(solve):
    w, value, *_ = solve(shrunk_distance(np.ones(4)), np.ones(4), 2.0, 100)
    assert (w == 0).all()
    assert value == 2.0


def test_solver_begins_at_the_start(solve):
    target = np.array([1.0, 2.0])
    calls = []

    def smooth(w):
        calls.append(w.copy())
        return shrunk_distance(target)(w)

    w, value, *_ = solve(smooth, target - 0.5, 0.5, 100)
    assert (calls[0] == target - 0.5).all()
    np.testing.assert_allclose(w, target - 0.5)
    assert value == pytest.approx(0.25 + 0.5 * 2)


@pytest.mark.parametrize("n_iterations", [1, 2, 5])
def test_few_iterations_improve_and_stay_feasible(n_iterations, solve):
    scale = 10.0 ** np.arange(6)

    def smooth(w):
        return 0.5 * (scale * (w - 1) ** 2).sum(), scale * (w - 1)

    start = np.zeros(6)
    w, value, *_ = solve(smooth, start, 0.1, n_iterations)
    assert (w >= 0).all()
    assert value < smooth(start)[0]
    assert value == pytest.approx(smooth(w)[0] + 0.1 * w.sum())
