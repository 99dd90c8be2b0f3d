import math

import numpy as np
import pytest

from boostbench.core.losses.objective import LOSSES, get_loss
from boostbench.core.losses.restricted_problems import (
    LARGEST_NORM,
    LimitedLogSumExp,
    LogSumExp,
    RankingLoss,
    SumOfLosses,
)
from boostbench.core.solvers.newton import NonnegativeNewton

NAMES = [*LOSSES, "log-sum-exp"]


def make_problem(name, n_columns=4, n_pairs=30, seed=0):
    A = np.random.default_rng(seed).choice([-2.0, 0.0, 2.0], size=(n_columns, n_pairs))
    return RankingLoss(A, LogSumExp() if name == "log-sum-exp" else SumOfLosses(get_loss(name)))


@pytest.mark.parametrize("name", NAMES)
class TestDerivatives:
    W = np.array([0.3, 0.0, 0.7, 0.1])

    def test_gradient_equals_differences(self, name):
        problem = make_problem(name)
        gradient = problem.move(self.W)[1]
        for t, step in enumerate(1e-6 * np.eye(4)):
            change = problem.move(self.W + step)[0] - problem.move(self.W - step)[0]
            assert gradient[t] == pytest.approx(change / 2e-6, rel=1e-6)

    def test_margins_and_dual_equal_the_equations(self, name):
        """The equations are (1), (4) and (16)."""
        problem = make_problem(name)
        problem.move(self.W)
        np.testing.assert_allclose(problem.margins, self.W @ problem.A)
        expected = [
            1 / (1 + math.exp(rho)) if name == "logistic" else math.exp(-rho)
            for rho in problem.margins
        ]
        if name == "log-sum-exp":
            expected = np.array(expected) / sum(expected)
        np.testing.assert_allclose(problem.dual, expected)

    def test_derivatives_along_a_step_equal_differences(self, name):
        problem = make_problem(name)
        step = np.array([0.2, 0.4, -0.3, 0.0])
        problem.move(self.W)
        value = problem.along(step)
        for size in (0.0, 0.25, 1.0):
            expected = make_problem(name).move(self.W + size * step)[0]
            assert value(size) == pytest.approx(expected)

    def test_value_is_finite_for_margins_that_overflow_the_exponential(self, name):
        """The value far from the solution is finite, and decreases with the margins."""
        problem = make_problem(name)
        problem.A = np.abs(problem.A) + 1
        values = [problem.move(scale * np.ones(4))[0] for scale in (-20, 20, 1e3)]
        assert np.isfinite(values).all()
        assert values[0] > values[1] >= values[2]


@pytest.mark.parametrize("name", LOSSES)
class TestHessian:
    def test_hessian_equals_differences_of_the_gradient(self, name):
        problem = make_problem(name)
        w = TestDerivatives.W
        free = np.array([True, False, True, True])
        problem.move(w)
        hessian = problem.damped_hessian(free, 0.0)
        for t, step in zip(range(3), 1e-6 * np.eye(4)[free], strict=True):
            change = problem.move(w + step)[1] - problem.move(w - step)[1]
            product = hessian.product(np.eye(3)[t])
            np.testing.assert_allclose(product, change[free] / 2e-6, rtol=1e-2, atol=1e-2)

    def test_preconditioner_solves_the_damped_system(self, name):
        problem = make_problem(name)
        problem.move(TestDerivatives.W)
        hessian = problem.damped_hessian(np.ones(4, bool), 0.1)
        v = np.arange(4.0)
        np.testing.assert_allclose(hessian.product(hessian.precondition(v)), v, atol=1e-10)

    def test_damping_is_relative_to_the_diagonal(self, name):
        problem = make_problem(name)
        problem.move(TestDerivatives.W)
        free = np.ones(4, bool)
        plain, damped = (problem.damped_hessian(free, damping) for damping in (0.0, 0.5))
        for unit in np.eye(4):
            diagonal = plain.product(unit) @ unit
            np.testing.assert_allclose(
                damped.product(unit), plain.product(unit) + 0.5 * diagonal * unit, rtol=1e-8
            )

    def test_preconditioner_is_finite_for_repeated_columns(self, name):
        problem = make_problem(name)
        problem.A = np.concatenate([problem.A, problem.A])
        problem.move(np.tile(TestDerivatives.W, 2))
        solved = problem.damped_hessian(np.ones(8, bool), 0.0).precondition(np.ones(8))
        assert np.isfinite(solved).all()

    def test_hessian_without_free_coefficients_is_empty(self, name):
        problem = make_problem(name)
        problem.move(TestDerivatives.W)
        assert problem.damped_hessian(np.zeros(4, bool), 0.1).product(np.zeros(0)).shape == (0,)


def test_pairs_of_negligible_curvature_are_omitted():
    """The omitted pairs change the Hessian by less than a thousandth of the curvature."""
    problem = make_problem("exponential", n_pairs=400)
    problem.move(np.full(4, 0.5))
    full = (problem.A * problem.dual) @ problem.A.T
    hessian = problem.damped_hessian(np.ones(4, bool), 0.0)
    matrix = np.array([hessian.product(unit) for unit in np.eye(4)])
    assert 0 < np.abs(matrix - full).max() <= 4e-3 * problem.dual.sum()


def test_coefficient_with_negligible_pairs_only_converges():
    """If all its pairs are omitted, the curvature is 0, and the first step would reach 771."""
    A = np.zeros((2, 41))
    A[0, :40], A[1, 40] = np.repeat([2.0, -2.0], [30, 10]), 2.0
    problem = RankingLoss(A, SumOfLosses(get_loss("logistic")))
    solution = NonnegativeNewton().minimise(problem, np.array([0.0, 6.0]), 1e-9, 1e-8, 40)
    assert solution.converged
    # Pairs that contradict each other have u = 3/4 and 1/4; the last pair has 2 u = nu.
    np.testing.assert_allclose(solution.w, [math.log(3) / 2, math.log(2e9) / 2], rtol=1e-6)


class TestLimit:
    @pytest.mark.parametrize("norm", [LARGEST_NORM - 1, LARGEST_NORM, LARGEST_NORM + 1])
    def test_gradient_equals_differences(self, norm):
        problem = LimitedLogSumExp(make_problem("log-sum-exp").A)
        w = TestDerivatives.W / TestDerivatives.W.sum() * norm
        gradient = problem.move(w)[1]
        for t, step in enumerate(1e-5 * np.eye(4)):
            change = problem.move(w + step)[0] - problem.move(w - step)[0]
            assert gradient[t] == pytest.approx(change / 2e-5, rel=1e-4, abs=1e-6)

    def test_small_margins_are_not_changed(self):
        plain = make_problem("log-sum-exp")
        limited = LimitedLogSumExp(plain.A)
        assert limited.move(TestDerivatives.W)[0] == plain.move(TestDerivatives.W)[0]
        assert limited.norm_slope < 1e-100

    def test_margins_beyond_the_limit_gain_nothing(self):
        """The values become constant even if all margins have the largest possible size."""
        problem = LimitedLogSumExp(np.full((2, 5), 2.0))
        values = [problem.move(np.full(2, norm / 2))[0] for norm in (300, 340, 360, 400, 1e6)]
        assert values[0] > values[1] > values[2]
        assert values[2] <= values[3] + 0.02
        assert values[3] == pytest.approx(values[4], abs=1e-6)

    def test_exponentials_stay_within_double_precision(self):
        assert np.isfinite(np.exp(2 * LARGEST_NORM * (1 - 1e-15)))
        assert np.exp(-2 * LARGEST_NORM) > 0
