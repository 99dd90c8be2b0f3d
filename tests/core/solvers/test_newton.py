import numpy as np
import pytest
from generic import nonnegative

from boostbench.core.solvers.newton import (
    DampedHessian,
    NonnegativeNewton,
    Problem,
    significant_mask,
)


class Matrix(DampedHessian):
    def __init__(self, B):
        self.B = B

    def product(self, v):
        return self.B @ v

    def precondition(self, v):
        return v / self.B.diagonal()


class Smooth(Problem):
    """Objective with derivatives written out; `calls` lists the points of evaluation."""

    def __init__(self, value, gradient, hessian):
        self.value, self.gradient, self.hessian = value, gradient, hessian
        self.calls = []

    def move(self, w):
        self.w = w
        self.calls.append(w)
        return self.value(w), self.gradient(w)

    def along(self, step):
        return lambda size: self.value(self.w + size * step)

    def damped_hessian(self, free, damping):
        B = self.hessian(self.w)[np.ix_(free, free)]
        return Matrix(B + damping * np.diag(B.diagonal()))


def least_squares(A, b):
    return Smooth(
        lambda w: 0.5 * ((A @ w - b) ** 2).sum(), lambda w: A.T @ (A @ w - b), lambda w: A.T @ A
    )


def logistic(A):
    def dual(w):
        return 1 / (1 + np.exp(A @ w))

    return Smooth(
        lambda w: np.log1p(np.exp(-A @ w)).sum(),
        lambda w: -A.T @ dual(w),
        lambda w: (A.T * (dual(w) * (1 - dual(w)))) @ A + 1e-12 * np.eye(A.shape[1]),
    )


def residual(problem, w, nu):
    slope = problem.gradient(w) + nu
    return np.where(w > 0, abs(slope), np.maximum(-slope, 0)).max()


@pytest.mark.parametrize("nu", [0.0, 0.3, 5.0])
def test_solution_equals_soft_thresholding(nu):
    """The minimum of |w - a|^2 / 2 + nu sum(w) over w >= 0 is at max(a - nu, 0)."""
    target = np.array([-2.0, -0.1, 0.0, 0.2, 0.3, 1.0, 4.0])
    problem = least_squares(np.eye(7), target)
    w, value, slope, *_ = NonnegativeNewton().minimise(problem, np.zeros(7), nu, 1e-9, 100)
    np.testing.assert_allclose(w, np.maximum(target - nu, 0.0), atol=1e-8)
    assert value == pytest.approx(0.5 * ((w - target) ** 2).sum() + nu * w.sum())
    assert slope <= 1e-9


@pytest.mark.parametrize("make", ["squares", "logistic"])
@pytest.mark.parametrize("seed", range(10))
def test_solution_equals_a_generic_solver(make, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 12)) @ np.diag(10.0 ** rng.uniform(-1, 1, size=12))
    nu = rng.uniform(0.1, 5)
    problem = least_squares(A, rng.normal(size=30)) if make == "squares" else logistic(A)
    start = rng.uniform(size=12) * rng.integers(2, size=12)
    w, value, slope, *_ = NonnegativeNewton().minimise(problem, start, nu, 1e-6, 500)
    assert (w >= 0).all()
    assert slope <= 1e-6
    assert slope == pytest.approx(residual(problem, w, nu), rel=1e-9)
    rough = nonnegative(
        lambda w: problem.value(w) + nu * w.sum(),
        np.full(12, 0.1),
        jac=lambda w: problem.gradient(w) + nu,
    )
    assert value <= rough.fun + 1e-9
    assert value == pytest.approx(rough.fun, rel=1e-6)


def test_last_evaluation_is_at_the_solution():
    problem = logistic(np.random.default_rng(0).normal(size=(20, 5)))
    w, value, *_ = NonnegativeNewton().minimise(problem, np.zeros(5), 0.5, 1e-8, 100)
    assert (problem.calls[-1] == w).all()
    assert value == problem.value(w) + 0.5 * w.sum()


@pytest.mark.parametrize("n_steps", [0, 1, 2, 5])
def test_few_steps_improve_and_stay_feasible(n_steps):
    problem = logistic(np.random.default_rng(1).normal(size=(40, 20)))
    start = np.full(20, 0.5)
    w, value, *_ = NonnegativeNewton().minimise(problem, start, 0.1, 0.0, n_steps)
    assert (w >= 0).all()
    assert len(problem.calls) <= n_steps + 1
    before = problem.value(start) + 0.1 * start.sum()
    assert value == before if n_steps == 0 else value < before


@pytest.mark.parametrize("nu", [1e-1, 1e-4, 1e-8])
def test_objective_never_increases_on_separable_data(nu):
    """Separable data have vanishing curvature on the way, and full steps overshoot."""
    rng = np.random.default_rng(2)
    A = np.abs(rng.normal(size=(50, 10))) * 10.0 ** rng.uniform(-2, 2, size=10)
    problem = logistic(A)
    _, _, slope, *_ = NonnegativeNewton().minimise(problem, np.zeros(10), nu, 1e-3 * nu, 200)
    values = [problem.value(w) + nu * w.sum() for w in problem.calls]
    assert (np.diff(values) <= 1e-15).all()
    assert slope <= 1e-3 * nu
    assert len(problem.calls) < 100


def test_problem_without_coefficients():
    w, value, slope, *_ = NonnegativeNewton().minimise(
        least_squares(np.ones((3, 0)), np.ones(3)), np.zeros(0), 1.0, 0.0, 10
    )
    assert (len(w), value, slope) == (0, 1.5, 0.0)


@pytest.mark.parametrize("power", [0, 3, 30])
def test_mask_selects_the_fewest_entries_with_nearly_all_of_the_sum(power):
    curvature = np.random.default_rng(0).random((5, 200)) ** power
    for row, is_significant in zip(curvature, significant_mask(curvature), strict=True):
        np.testing.assert_array_equal(is_significant, significant_mask(row))
        parts = np.sort(row[is_significant]) / row.sum()
        assert parts.sum() >= 1 - 1e-3 - 1e-12
        assert parts[1:].sum() < 1 - 1e-3 or power == 0
        assert row[~is_significant].max(initial=0) <= row[is_significant].min()


def test_equal_entries_are_selected_together():
    curvature = np.full(1000, 0.1)
    curvature[::2] += 1e-17
    assert significant_mask(np.append(curvature, 1e-9)).tolist() == [True] * 1000 + [False]


def test_zero_curvature_selects_all_entries():
    assert significant_mask(np.zeros((2, 3))).all()
