import math

import numpy as np
import pytest

from boostbench.core.losses.margin import LOSSES, get_loss
from boostbench.core.losses.ranking import (
    LARGEST_NORM,
    LimitedLogSumExp,
    LogSumExp,
    RankingLoss,
    SumOfLosses,
)
from boostbench.core.solvers.newton import NonnegativeNewton

NAMES = [*LOSSES, "log-sum-exp"]


def problem_of(name, n_columns=4, n_pairs=30, seed=0):
    A = np.random.default_rng(seed).choice([-2.0, 0.0, 2.0], size=(n_columns, n_pairs))
    return RankingLoss(A, LogSumExp() if name == "log-sum-exp" else SumOfLosses(get_loss(name)))


@pytest.mark.parametrize("name", NAMES)
class TestDerivatives:
    W = np.array([0.3, 0.0, 0.7, 0.1])

    def test_gradient(self, name):
        problem = problem_of(name)
        gradient = problem.move(self.W)[1]
        for t, step in enumerate(1e-6 * np.eye(4)):
            change = problem.move(self.W + step)[0] - problem.move(self.W - step)[0]
            assert gradient[t] == pytest.approx(change / 2e-6, rel=1e-6)

    def test_margins_and_dual(self, name):
        """Eqs. (1), (4) and (16)."""
        problem = problem_of(name)
        problem.move(self.W)
        np.testing.assert_allclose(problem.margins, self.W @ problem.A)
        wanted = [
            1 / (1 + math.exp(rho)) if name == "logistic" else math.exp(-rho)
            for rho in problem.margins
        ]
        if name == "log-sum-exp":
            wanted = np.array(wanted) / sum(wanted)
        np.testing.assert_allclose(problem.dual, wanted)

    def test_along(self, name):
        problem = problem_of(name)
        step = np.array([0.2, 0.4, -0.3, 0.0])
        problem.move(self.W)
        value = problem.along(step)
        for size in (0.0, 0.25, 1.0):
            wanted = problem_of(name).move(self.W + size * step)[0]
            assert value(size) == pytest.approx(wanted)

    def test_margins_that_overflow_the_exponential(self, name):
        """Far from the solution the value stays finite, and falls with the margins."""
        problem = problem_of(name)
        problem.A = np.abs(problem.A) + 1
        values = [problem.move(scale * np.ones(4))[0] for scale in (-20, 20, 1e3)]
        assert np.isfinite(values).all()
        assert values[0] > values[1] >= values[2]


@pytest.mark.parametrize("name", LOSSES)
class TestHessian:
    def test_against_differences_of_the_gradient(self, name):
        problem = problem_of(name)
        w = TestDerivatives.W
        free = np.array([True, False, True, True])
        problem.move(w)
        hessian = problem.damped_hessian(free, 0.0)
        for t, step in zip(range(3), 1e-6 * np.eye(4)[free], strict=True):
            change = problem.move(w + step)[1] - problem.move(w - step)[1]
            found = hessian.product(np.eye(3)[t])
            np.testing.assert_allclose(found, change[free] / 2e-6, rtol=1e-2, atol=1e-2)

    def test_precondition_solves(self, name):
        problem = problem_of(name)
        problem.move(TestDerivatives.W)
        hessian = problem.damped_hessian(np.ones(4, bool), 0.1)
        v = np.arange(4.0)
        np.testing.assert_allclose(hessian.product(hessian.precondition(v)), v, atol=1e-10)

    def test_damping_is_relative_to_the_diagonal(self, name):
        problem = problem_of(name)
        problem.move(TestDerivatives.W)
        free = np.ones(4, bool)
        plain, damped = (problem.damped_hessian(free, damping) for damping in (0.0, 0.5))
        for unit in np.eye(4):
            diagonal = plain.product(unit) @ unit
            np.testing.assert_allclose(
                damped.product(unit), plain.product(unit) + 0.5 * diagonal * unit, rtol=1e-8
            )

    def test_columns_that_come_twice(self, name):
        problem = problem_of(name)
        problem.A = np.concatenate([problem.A, problem.A])
        problem.move(np.tile(TestDerivatives.W, 2))
        solved = problem.damped_hessian(np.ones(8, bool), 0.0).precondition(np.ones(8))
        assert np.isfinite(solved).all()

    def test_no_free_coefficients(self, name):
        problem = problem_of(name)
        problem.move(TestDerivatives.W)
        assert problem.damped_hessian(np.zeros(4, bool), 0.1).product(np.zeros(0)).shape == (0,)


def test_pairs_of_negligible_curvature_are_left_out():
    """They change the Hessian by less than a thousandth of the curvature."""
    problem = problem_of("exponential", n_pairs=400)
    problem.move(np.full(4, 0.5))
    full = (problem.A * problem.dual) @ problem.A.T
    hessian = problem.damped_hessian(np.ones(4, bool), 0.0)
    found = np.array([hessian.product(unit) for unit in np.eye(4)])
    assert 0 < np.abs(found - full).max() <= 4e-3 * problem.dual.sum()


def test_a_coefficient_of_negligible_pairs_alone():
    """Without them it has no curvature, and the first step took it to 771."""
    A = np.zeros((2, 41))
    A[0, :40], A[1, 40] = np.repeat([2.0, -2.0], [30, 10]), 2.0
    problem = RankingLoss(A, SumOfLosses(get_loss("logistic")))
    solution = NonnegativeNewton().minimise(problem, np.array([0.0, 6.0]), 1e-9, 1e-8, 40)
    assert solution.converged
    # u = 3/4 and 1/4 of pairs that contradict each other; 2 u = nu of the last one.
    np.testing.assert_allclose(solution.w, [math.log(3) / 2, math.log(2e9) / 2], rtol=1e-6)


class TestLimit:
    @pytest.mark.parametrize("norm", [LARGEST_NORM - 1, LARGEST_NORM, LARGEST_NORM + 1])
    def test_gradient(self, norm):
        problem = LimitedLogSumExp(problem_of("log-sum-exp").A)
        w = TestDerivatives.W / TestDerivatives.W.sum() * norm
        gradient = problem.move(w)[1]
        for t, step in enumerate(1e-5 * np.eye(4)):
            change = problem.move(w + step)[0] - problem.move(w - step)[0]
            assert gradient[t] == pytest.approx(change / 2e-5, rel=1e-4, abs=1e-6)

    def test_nothing_changes_far_below(self):
        plain = problem_of("log-sum-exp")
        limited = LimitedLogSumExp(plain.A)
        assert limited.move(TestDerivatives.W)[0] == plain.move(TestDerivatives.W)[0]
        assert limited.norm_slope < 1e-100

    def test_beyond_nothing_is_gained(self):
        """Even where all margins are as large as they can be."""
        problem = LimitedLogSumExp(np.full((2, 5), 2.0))
        values = [problem.move(np.full(2, norm / 2))[0] for norm in (300, 340, 360, 400, 1e6)]
        assert values[0] > values[1] > values[2]
        assert values[2] <= values[3] + 0.02
        assert values[3] == pytest.approx(values[4], abs=1e-6)

    def test_no_exponential_leaves_double_precision(self):
        assert np.isfinite(np.exp(2 * LARGEST_NORM * (1 - 1e-15)))
        assert np.exp(-2 * LARGEST_NORM) > 0
