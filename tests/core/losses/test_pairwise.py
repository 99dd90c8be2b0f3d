import math

import numpy as np
import pytest
from generic import nonnegative

from boostbench.core.losses.objective import get_loss
from boostbench.core.losses.restricted_problems import PairwiseLoss
from boostbench.core.solvers.newton import NonnegativeNewton

LOSSES = {"logistic": lambda rho: math.log1p(math.exp(-rho)), "exponential": lambda r: math.exp(-r)}
# Relative error of central differences in double precision with steps of 1e-5.
CLOSE = 1e-6


def draw(seed, n_classes=3, n_columns=5, n_samples=14):
    """Draw outputs of weak learners, and labels that depend slightly on the first column."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(n_samples) % n_classes
    H = rng.choice([-1.0, 1.0], size=(n_columns, n_samples))
    H[0] = np.where(labels > 0, 1.0, -1.0) * np.where(rng.uniform(size=n_samples) < 0.8, 1, -1)
    return H, labels, labels == np.arange(n_classes)[:, None]


def literal_value(W, H, labels, loss):
    total = 0.0
    for i, label in enumerate(labels):
        scores = [sum(W[r, t] * H[t, i] for t in range(len(H))) for r in range(len(W))]
        for r in range(len(W)):
            total += LOSSES[loss](scores[label] - scores[r])
    return total


@pytest.fixture(params=LOSSES)
def loss(request):
    return request.param


def make_problem(H, is_label, loss):
    return PairwiseLoss(H, is_label, get_loss(loss))


@pytest.mark.parametrize("n_classes", [2, 3, 4])
class TestDerivatives:
    def point(self, n_classes, loss):
        H, labels, is_label = draw(n_classes, n_classes)
        W = np.random.default_rng(1).uniform(0, 1, size=(n_classes, len(H)))
        return W, H, labels, make_problem(H, is_label, loss)

    def test_value_equals_the_definition(self, n_classes, loss):
        W, H, labels, problem = self.point(n_classes, loss)
        value, _ = problem.move(W)
        assert value == pytest.approx(literal_value(W, H, labels, loss), rel=1e-12)

    def test_gradient_equals_differences(self, n_classes, loss):
        W, H, labels, problem = self.point(n_classes, loss)
        _, gradient = problem.move(W)
        step = 1e-5
        for r, t in np.ndindex(W.shape):
            high, low = W.copy(), W.copy()
            high[r, t] += step
            low[r, t] -= step
            slope = (literal_value(high, H, labels, loss) - literal_value(low, H, labels, loss)) / (
                2 * step
            )
            assert gradient[r, t] == pytest.approx(slope, abs=CLOSE, rel=CLOSE)

    def test_derivatives_along_a_step_equal_differences(self, n_classes, loss):
        W, H, labels, problem = self.point(n_classes, loss)
        problem.move(W)
        step = np.random.default_rng(2).normal(size=W.shape)
        along = problem.along(step)
        for size in (0.0, 0.25, 1.0):
            expected = literal_value(W + size * step, H, labels, loss)
            assert along(size) == pytest.approx(expected, rel=CLOSE)

    @pytest.mark.parametrize("damping", [0.0, 0.5])
    def test_hessian_equals_differences(self, n_classes, loss, damping):
        W, H, _, problem = self.point(n_classes, loss)
        problem.move(W)
        free = np.random.default_rng(3).uniform(size=W.shape) < 0.7
        hessian = problem.damped_hessian(free, damping)
        actual = np.array([hessian.product(e) for e in np.eye(free.sum())])
        step = 1e-5
        exact = make_problem(H, problem.is_own_class, loss)
        expected = []
        for r, t in np.argwhere(free):
            high, low = W.copy(), W.copy()
            high[r, t] += step
            low[r, t] -= step
            expected.append((exact.move(high)[1] - exact.move(low)[1])[free] / (2 * step))
        expected = np.array(expected)
        expected += damping * np.diag(expected.diagonal())
        np.testing.assert_allclose(actual, expected, rtol=CLOSE, atol=CLOSE * expected.max())

    def test_preconditioner_inverts_the_block_of_each_class(self, n_classes, loss):
        W, _, _, problem = self.point(n_classes, loss)
        problem.move(W)
        free = np.random.default_rng(4).uniform(size=W.shape) < 0.6
        free[-1] = False
        # Large damping hides the ridge, which is not tested here.
        hessian = problem.damped_hessian(free, 0.1)
        numbers = range(free.sum())
        B = np.array([hessian.product(e) for e in np.eye(len(numbers))])
        actual = np.array([hessian.precondition(e) for e in np.eye(len(numbers))])
        classes = np.nonzero(free)[0]
        expected = np.zeros_like(B)
        for r in set(classes):
            block = np.ix_(classes == r, classes == r)
            expected[block] = np.linalg.inv(B[block])
        np.testing.assert_allclose(actual, expected, rtol=2e-3, atol=2e-3 * expected.max())

    def test_dual_equals_the_definition(self, n_classes, loss):
        W, H, labels, problem = self.point(n_classes, loss)
        problem.move(W)
        for i, label in enumerate(labels):
            for r in range(n_classes):
                rho = (W[label] - W[r]) @ H[:, i]
                slope = LOSSES[loss](rho - 1e-6) - LOSSES[loss](rho + 1e-6)
                expected = 0.0 if r == label else slope / 2e-6
                assert problem.dual[r, i] == pytest.approx(expected, rel=CLOSE)


def test_negligible_curvature_is_omitted(loss):
    """The Hessian without large margins is close to the full one, and positive semidefinite."""
    H, _, is_label = draw(3, n_classes=4, n_columns=8, n_samples=300)
    problem = make_problem(H, is_label, loss)
    W = np.random.default_rng(0).uniform(0, 3, size=(4, 8))
    problem.move(W)
    free = np.ones(W.shape, bool)
    hessian = problem.damped_hessian(free, 0.0)
    matrix = np.array([hessian.product(e) for e in np.eye(W.size)])
    exact = np.zeros_like(matrix)
    curvature = problem.loss.curvature(problem.dual)
    labels = is_label.argmax(axis=0)
    for i, r in np.ndindex(300, 4):
        if r != labels[i]:
            slope = np.zeros(W.shape)
            slope[labels[i]] = H[:, i]
            slope[r] -= H[:, i]
            exact += curvature[r, i] * np.outer(slope, slope)
    assert not np.array_equal(matrix, exact)
    off = np.abs(matrix - exact).reshape(4, 8, 4, 8).max(axis=(1, 3))
    # The true class has the curvature of all margins of its samples.
    rows = curvature.sum(axis=1) + np.array([curvature[:, labels == r].sum() for r in range(4)])
    assert (off <= 4e-3 * np.maximum(rows[:, None], rows)).all()
    assert np.linalg.eigvalsh(matrix).min() >= -1e-10 * matrix.max()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("nu", [3.0, 0.5, 0.02])
@pytest.mark.parametrize("seed", range(3))
def test_minimum_equals_a_generic_solver(loss, n_classes, nu, seed):
    H, labels, is_label = draw(seed, n_classes)
    shape = (n_classes, len(H))
    W, value, residual, *_ = NonnegativeNewton().minimise(
        make_problem(H, is_label, loss), np.zeros(shape), nu, 1e-8, 200
    )
    assert residual <= 1e-8
    assert value == pytest.approx(literal_value(W, H, labels, loss) + nu * W.sum(), rel=1e-12)
    rough = nonnegative(
        lambda w: literal_value(w.reshape(shape), H, labels, loss) + nu * w.sum(),
        np.full(W.size, 0.1),
    )
    assert value <= rough.fun + 1e-9
    assert value == pytest.approx(rough.fun, rel=1e-5)


def test_repeated_columns_do_not_change_the_minimum(loss):
    H, _, is_label = draw(0)
    once = NonnegativeNewton().minimise(
        make_problem(H, is_label, loss), np.zeros((3, 5)), 0.5, 1e-6, 99
    )
    twice = NonnegativeNewton().minimise(
        make_problem(np.vstack([H, H]), is_label, loss), np.zeros((3, 10)), 0.5, 1e-6, 99
    )
    assert twice.converged
    assert twice.value == pytest.approx(once.value, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_solutions_do_not_depend_on_the_order_of_samples(loss, seed):
    """Columns are added one by one, as in boosting, and each solution is the next start."""
    rng = np.random.default_rng(seed)
    n_samples, n_classes, n_columns = 150, 5, 15
    is_label = np.arange(n_classes)[:, None] == rng.integers(n_classes, size=n_samples)
    H = np.where(
        rng.random((n_columns, n_samples)) < 0.2 + 0.6 * is_label[rng.integers(5, size=n_columns)],
        1.0,
        -1.0,
    )
    order = rng.permutation(n_samples)
    solutions = []
    for columns, classes in ((H, is_label), (H[:, order], is_label[:, order])):
        w = np.zeros((n_classes, 0))
        for t in range(1, n_columns + 1):
            start = np.column_stack([w, np.zeros(n_classes)])
            problem = make_problem(columns[:t], classes, loss)
            w = NonnegativeNewton().minimise(problem, start, 1e-3, 0.1, 50).w
        solutions.append(w)
    np.testing.assert_array_equal(*solutions)
