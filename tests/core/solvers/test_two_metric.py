"""Test behaviour of the quasi-Newton solver that L-BFGS (test_lbfgs.py) does not have."""

import numpy as np
import pytest
from scipy.optimize import nnls

from boostbench.core.solvers import lbfgs
from boostbench.core.solvers.lbfgs import nonnegative_quasi_newton
from boostbench.core.solvers.newton import kkt_residual


@pytest.mark.parametrize("seed", range(20))
def test_least_squares_solution_is_optimal(seed):
    """Half of the coefficients are 0 at the optimum, but not at the start."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(40, 25)) * 10.0 ** rng.uniform(-0.5, 0.5, 25)
    b = rng.normal(size=40)

    def smooth(w):
        error = A @ w - b
        return 0.5 * error @ error, A.T @ error

    _, value, _, converged, _ = nonnegative_quasi_newton(smooth, rng.uniform(size=25), 0.0, 5000)
    best, distance = nnls(A, b)
    assert converged
    assert value == pytest.approx(distance**2 / 2, rel=1e-6)
    assert (best == 0).any()


def test_objective_never_increases():
    scale, target = 10.0 ** np.arange(7), np.array([1.0, -1, 1, -1, 1, -1, 1])
    values = []

    def smooth(w):
        return 0.5 * scale @ (w - target) ** 2, scale * (w - target)

    for n_steps in range(1, 40):
        w, value, *_ = nonnegative_quasi_newton(smooth, np.full(7, 2.0), 0.1, n_steps)
        assert value == pytest.approx(smooth(w)[0] + 0.1 * w.sum())
        values.append(value)
    assert (np.diff(values) <= 1e-8 * np.array(values[:-1])).all()
    assert values[-1] == pytest.approx(0.5 * scale[target < 0].sum(), rel=1e-4)


def test_early_stop_is_reported():
    scale = 10.0 ** np.arange(6)

    def smooth(w):
        return 0.5 * (scale * (w - 1) ** 2).sum(), scale * (w - 1)

    w, _, _, converged, _ = nonnegative_quasi_newton(smooth, np.zeros(6), 0.1, 3)
    assert not converged
    assert kkt_residual(w, smooth(w)[1] + 0.1) > 1e-5
    w, _, _, converged, _ = nonnegative_quasi_newton(smooth, np.zeros(6), 0.1, 1000)
    assert converged


def test_start_at_the_optimum_stops_immediately():
    calls = []

    def smooth(w):
        calls.append(w)
        return 0.5 * w @ w - w.sum(), w - 1

    w, _, _, converged, _ = nonnegative_quasi_newton(smooth, np.ones(3), 0.0, 10)
    assert converged
    assert (w == 1).all()
    assert len(calls) == 1


@pytest.mark.parametrize("slope", [-1.0, 1.0], ids=["no way down", "downhill"])
def test_last_evaluation_is_at_the_solution(slope):
    calls = []

    def smooth(w):
        calls.append(w.copy())
        return slope * -w.sum(), -np.ones_like(w)

    w = nonnegative_quasi_newton(smooth, np.ones(3), 0.5, 5).w
    assert len(calls) > 2
    np.testing.assert_array_equal(calls[-1], w)
    assert (w == 1).all() == (slope < 0)


def test_infinite_values_are_not_accepted_as_decrease():
    """The first step of a steep function ends at a point where it is not finite."""

    def smooth(w):
        with np.errstate(over="ignore"):
            value = float(np.exp(np.minimum(100 * (w[0] - 5), 800)) - 100 * w[0])
            return value, np.exp(np.minimum(100 * (w - 5), 800)) * 100 - 100

    w, _, _, converged, _ = nonnegative_quasi_newton(smooth, np.zeros(1), 0.0, 1000)
    assert converged
    assert w[0] == pytest.approx(5, abs=1e-4)


def keep_precision(numbers, n_bits, least=0.0):
    return numbers


class TestRoundedSolution:
    """Solutions are rounded, so that they do not depend on the order of summation."""

    @staticmethod
    def flat_objective(seed, noise=0.0):
        """Return a loss of 40 coefficients that depends on 6 combinations of them only.

        The gradient has relative rounding errors of size `noise`, as in another order of summation.
        """
        rng = np.random.default_rng(seed)
        A = np.sign(rng.normal(size=(60, 6))) @ rng.normal(size=(6, 40)) / 40**0.5
        # A tenth of the margins is negative, so that the minimum is finite.
        A *= np.where(rng.random(60) < 0.1, -1.0, 1.0)[:, None] * np.sign(A.sum(axis=1))[:, None]

        def smooth(w):
            margins = A @ w
            weights = 1.0 / (1.0 + np.exp(margins)) / len(A)
            off = noise * rng.uniform(-1, 1, len(w)) * (weights @ np.abs(A))
            return np.logaddexp(0.0, -margins).mean(), off - weights @ A

        return smooth

    @pytest.mark.parametrize("ends", [{}, {"progress": 1e-12, "gradient_unit": 5e-7}], ids=str)
    @pytest.mark.parametrize("seed", range(5))
    def test_solution_does_not_depend_on_rounding_errors(self, seed, ends):
        start = np.zeros(40)
        first, second = (
            nonnegative_quasi_newton(self.flat_objective(seed, noise), start, 1e-3, 100, **ends).w
            for noise in (0.0, 1e-15)
        )
        np.testing.assert_array_equal(first, second)

    def test_rounding_errors_grow_without_a_grid(self, monkeypatch):
        """Growth by a factor of more than 1000 shows that the test above is meaningful."""
        monkeypatch.setattr(lbfgs, "snap_to_grid", keep_precision)
        start = np.zeros(40)
        far = []
        for seed in range(5):
            first, second = (
                nonnegative_quasi_newton(self.flat_objective(seed, noise), start, 1e-3, 100).w
                for noise in (0.0, 1e-15)
            )
            far.append(np.abs(first - second).max() / first.max())
        assert max(far) > 1e-12

    @pytest.mark.parametrize("seed", range(5))
    def test_grid_does_not_reduce_the_accuracy(self, seed, monkeypatch):
        arguments = self.flat_objective(seed), np.zeros(40), 1e-3, 5000
        rough = nonnegative_quasi_newton(*arguments, progress=0)
        monkeypatch.setattr(lbfgs, "snap_to_grid", keep_precision)
        fine = nonnegative_quasi_newton(*arguments, progress=0)
        assert rough.residual <= 1e-5
        # Convexity bounds the possible decrease by the remaining slopes times the distance.
        distance = np.abs(rough.w - fine.w).sum() + fine.w.sum()
        assert rough.value <= fine.value + 2e-5 * distance


def test_given_value_at_the_start_saves_an_evaluation():
    points = []

    def smooth(w):
        points.append(w.tolist())
        return ((w - 1) ** 2).sum(), 2 * (w - 1)

    start = np.full(3, 0.25)
    expected = nonnegative_quasi_newton(smooth, start, 0.1, 50)
    evaluated, points = points, []
    solution = nonnegative_quasi_newton(smooth, start, 0.1, 50, initial=(1.6875, np.full(3, -1.5)))
    assert points == evaluated[1:]
    assert solution.w.tolist() == expected.w.tolist()
    assert solution.value == expected.value


def test_start_at_the_solution_needs_no_evaluation():
    solution = nonnegative_quasi_newton(None, np.ones(2), 0.0, 50, initial=(3.0, np.zeros(2)))
    assert solution.converged
    assert solution.value == 3.0
