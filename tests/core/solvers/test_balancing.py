import numpy as np
import pytest
from scipy.optimize import minimize as generic

from boostbench.core.solvers.balancing import ExponentialProblem, difference_hessian, minimise


def matrix(rng, n_classes, sparsity=0.0):
    """Return pulls of all sizes between the classes, and zeros."""
    C = rng.gamma(0.3, size=(n_classes, n_classes)) * (rng.random((n_classes,) * 2) >= sparsity)
    np.fill_diagonal(C, 0.0)
    C[0, 1] += 1e-3
    return C / C.sum()


def value(C, share, w):
    """Return the objective, computed literally."""
    total = 0.0
    for a in range(len(C)):
        for b in range(len(C)):
            total += C[a, b] * np.exp(w[b] - w[a])
    return np.log(1 - share + share * total) / share


@pytest.mark.parametrize("share", [1e-3, 0.6, 0.99])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_derivatives_are_those_of_the_function(n_classes, share):
    rng = np.random.default_rng(n_classes)
    C = matrix(rng, n_classes)
    problem = ExponentialProblem(C, share)
    w = rng.normal(size=n_classes)
    gradient, hessian = problem.gradient(w), problem.hessian()
    for a, direction in enumerate(1e-5 * np.eye(n_classes)):
        high, low = value(C, share, w + direction), value(C, share, w - direction)
        assert gradient[a] == pytest.approx((high - low) / 2e-5, abs=1e-7)
        slopes = problem.gradient(w + direction) - problem.gradient(w - direction)
        np.testing.assert_allclose(hessian[a], slopes / 2e-5, atol=1e-7)
    np.testing.assert_allclose(hessian.sum(axis=0), 0.0, atol=1e-14)


def test_difference_hessian_equals_the_matrix_by_hand():
    M = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    hessian = difference_hessian(M, M.sum(axis=0) + M.sum(axis=1))
    assert hessian.tolist() == [[6.0, -4.0, -2.0], [-4.0, 8.0, -4.0], [-2.0, -4.0, 6.0]]


@pytest.mark.parametrize("seed", range(20))
def test_two_classes_have_a_closed_form(seed):
    rng = np.random.default_rng(seed)
    right = 10.0 ** -rng.uniform(0.01, 12)
    C = np.array([[0.0, right], [1 - right, 0.0]])
    w = minimise(ExponentialProblem(C, rng.uniform(0.01, 0.99)))
    assert w.min() == 0.0
    # A slope of 1e-8 permits a larger relative error if the loss at the minimum is small.
    room = 1e-8 / np.sqrt(right * (1 - right))
    assert w[0] - w[1] == pytest.approx(0.5 * np.log(right / (1 - right)), abs=room)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 12, 40])
@pytest.mark.parametrize("seed", range(10))
def test_sums_of_rows_and_columns_are_equal_at_the_minimum(n_classes, seed):
    """The sums of a row and a column of M are equal at the minimum."""
    C = matrix(np.random.default_rng(seed), n_classes)
    w = minimise(ExponentialProblem(C, 0.8))
    M = C * np.exp(w - w[:, None])
    np.testing.assert_allclose(M.sum(axis=0), M.sum(axis=1), rtol=0, atol=1e-8)
    assert M.sum() < 1
    assert w.min() == 0


@pytest.mark.parametrize("nu", [0, 1e-9, 1e-8, 1e-7, 1e-4, 1e-2, 0.1, 10.0])
@pytest.mark.parametrize("sparsity", [0.0, 0.6, 0.9])
@pytest.mark.parametrize("share", [1e-7, 0.5, 0.99])
def test_generic_solver_is_not_better(nu, sparsity, share):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        C = matrix(rng, rng.integers(2, 13), sparsity)
        problem = ExponentialProblem(C, share)
        w = minimise(problem, nu)
        gradient = problem.gradient(w) + nu
        assert w.min() == 0
        assert np.abs(np.where(w > 0, gradient, np.minimum(gradient, 0))).max() <= 1e-8
        assert value(C, share, w) + nu * w.sum() <= 1e-12

        def objective(w, C=C):
            M = C * np.exp(w - w[:, None])
            total = 1 - share + share * M.sum()
            gradient = (M.sum(axis=0) - M.sum(axis=1)) / total
            return np.log(total) / share + nu * w.sum(), gradient + nu

        bounds = [(0, 30)] * len(C)
        theirs = generic(objective, 0.1 + np.zeros(len(C)), jac=True, bounds=bounds)
        # The tolerance is the rounding error of 1 - share + share * total.
        assert objective(w)[0] <= theirs.fun + 1e-7 + 1e-15 / share


def test_penalty_larger_than_every_pull_gives_zero():
    C = matrix(np.random.default_rng(0), 6)
    assert (minimise(ExponentialProblem(C, 0.5), nu=1.1) == 0).all()


def test_classes_without_samples_on_a_side_stay_finite():
    """Class 0 is always above class 1, and both overlap with class 2."""
    C = np.array([[0.0, 0.5, 0.1], [0.0, 0.0, 0.1], [0.1, 0.2, 0.0]])
    w = minimise(ExponentialProblem(C, 0.5))
    assert np.isfinite(w).all()
    perfect = np.array([[0.0, 0.5, 0.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    w = minimise(ExponentialProblem(perfect, 0.5))
    assert 15 < w.max() < 40
    assert w[0] == w.max()
