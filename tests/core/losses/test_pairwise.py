import math

import numpy as np
import pytest
from generic import nonnegative

from boostbench.core.losses.margin import get_loss
from boostbench.core.losses.pairwise import PairwiseLoss
from boostbench.core.solvers.newton import NonnegativeNewton

LOSSES = {"logistic": lambda rho: math.log1p(math.exp(-rho)), "exponential": lambda r: math.exp(-r)}
# What differences of double precision over steps of 1e-5 are off by, at most, relative to it.
CLOSE = 1e-6


def draw(seed, n_classes=3, n_columns=5, n_samples=14):
    """Draw outputs of weak learners, and labels; the first column says a little of the labels."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(n_samples) % n_classes
    H = rng.choice([-1.0, 1.0], size=(n_columns, n_samples))
    H[0] = np.where(labels > 0, 1.0, -1.0) * np.where(rng.uniform(size=n_samples) < 0.8, 1, -1)
    return H, labels, labels == np.arange(n_classes)[:, None]


def literal(W, H, labels, loss):
    total = 0.0
    for i, label in enumerate(labels):
        scores = [sum(W[r, t] * H[t, i] for t in range(len(H))) for r in range(len(W))]
        for r in range(len(W)):
            total += LOSSES[loss](scores[label] - scores[r])
    return total


@pytest.fixture(params=LOSSES)
def loss(request):
    return request.param


def problem_of(H, own, loss):
    return PairwiseLoss(H, own, get_loss(loss))


@pytest.mark.parametrize("n_classes", [2, 3, 4])
class TestDerivatives:
    def point(self, n_classes, loss):
        H, labels, own = draw(n_classes, n_classes)
        W = np.random.default_rng(1).uniform(0, 1, size=(n_classes, len(H)))
        return W, H, labels, problem_of(H, own, loss)

    def test_value(self, n_classes, loss):
        W, H, labels, problem = self.point(n_classes, loss)
        value, _ = problem.move(W)
        assert value == pytest.approx(literal(W, H, labels, loss), rel=1e-12)

    def test_gradient(self, n_classes, loss):
        W, H, labels, problem = self.point(n_classes, loss)
        _, gradient = problem.move(W)
        step = 1e-5
        for r, t in np.ndindex(W.shape):
            high, low = W.copy(), W.copy()
            high[r, t] += step
            low[r, t] -= step
            slope = (literal(high, H, labels, loss) - literal(low, H, labels, loss)) / (2 * step)
            assert gradient[r, t] == pytest.approx(slope, abs=CLOSE, rel=CLOSE)

    def test_along(self, n_classes, loss):
        W, H, labels, problem = self.point(n_classes, loss)
        problem.move(W)
        step = np.random.default_rng(2).normal(size=W.shape)
        along = problem.along(step)
        for size in (0.0, 0.25, 1.0):
            wanted = literal(W + size * step, H, labels, loss)
            assert along(size) == pytest.approx(wanted, rel=CLOSE)

    @pytest.mark.parametrize("damping", [0.0, 0.5])
    def test_hessian(self, n_classes, loss, damping):
        W, H, _, problem = self.point(n_classes, loss)
        problem.move(W)
        free = np.random.default_rng(3).uniform(size=W.shape) < 0.7
        hessian = problem.damped_hessian(free, damping)
        found = np.array([hessian.product(e) for e in np.eye(free.sum())])
        step = 1e-5
        exact = problem_of(H, problem.is_own_class, loss)
        wanted = []
        for r, t in np.argwhere(free):
            high, low = W.copy(), W.copy()
            high[r, t] += step
            low[r, t] -= step
            wanted.append((exact.move(high)[1] - exact.move(low)[1])[free] / (2 * step))
        wanted = np.array(wanted)
        wanted += damping * np.diag(wanted.diagonal())
        np.testing.assert_allclose(found, wanted, rtol=CLOSE, atol=CLOSE * wanted.max())

    def test_the_preconditioner_inverts_the_blocks_of_the_classes(self, n_classes, loss):
        W, _, _, problem = self.point(n_classes, loss)
        problem.move(W)
        free = np.random.default_rng(4).uniform(size=W.shape) < 0.6
        free[-1] = False
        # Damping outweighs the ridge, which is not to be tested.
        hessian = problem.damped_hessian(free, 0.1)
        numbers = range(free.sum())
        B = np.array([hessian.product(e) for e in np.eye(len(numbers))])
        found = np.array([hessian.precondition(e) for e in np.eye(len(numbers))])
        classes = np.nonzero(free)[0]
        wanted = np.zeros_like(B)
        for r in set(classes):
            block = np.ix_(classes == r, classes == r)
            wanted[block] = np.linalg.inv(B[block])
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-3 * wanted.max())

    def test_dual(self, n_classes, loss):
        W, H, labels, problem = self.point(n_classes, loss)
        problem.move(W)
        for i, label in enumerate(labels):
            for r in range(n_classes):
                rho = (W[label] - W[r]) @ H[:, i]
                slope = LOSSES[loss](rho - 1e-6) - LOSSES[loss](rho + 1e-6)
                wanted = 0.0 if r == label else slope / 2e-6
                assert problem.dual[r, i] == pytest.approx(wanted, rel=CLOSE)


def test_what_has_next_to_no_curvature_is_left_out(loss):
    """Most large margins do not matter: the Hessian is near the whole one, and not indefinite."""
    H, _, own = draw(3, n_classes=4, n_columns=8, n_samples=300)
    problem = problem_of(H, own, loss)
    W = np.random.default_rng(0).uniform(0, 3, size=(4, 8))
    problem.move(W)
    free = np.ones(W.shape, bool)
    hessian = problem.damped_hessian(free, 0.0)
    found = np.array([hessian.product(e) for e in np.eye(W.size)])
    exact = np.zeros_like(found)
    curvature = problem.loss.curvature(problem.dual)
    labels = own.argmax(axis=0)
    for i, r in np.ndindex(300, 4):
        if r != labels[i]:
            slope = np.zeros(W.shape)
            slope[labels[i]] = H[:, i]
            slope[r] -= H[:, i]
            exact += curvature[r, i] * np.outer(slope, slope)
    assert not np.array_equal(found, exact)
    off = np.abs(found - exact).reshape(4, 8, 4, 8).max(axis=(1, 3))
    # An own class has the curvature of all margins of its samples.
    rows = curvature.sum(axis=1) + np.array([curvature[:, labels == r].sum() for r in range(4)])
    assert (off <= 4e-3 * np.maximum(rows[:, None], rows)).all()
    assert np.linalg.eigvalsh(found).min() >= -1e-10 * found.max()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("nu", [3.0, 0.5, 0.02])
@pytest.mark.parametrize("seed", range(3))
def test_the_minimum_against_a_generic_solver(loss, n_classes, nu, seed):
    H, labels, own = draw(seed, n_classes)
    shape = (n_classes, len(H))
    W, value, residual, *_ = NonnegativeNewton().minimise(
        problem_of(H, own, loss), np.zeros(shape), nu, 1e-8, 200
    )
    assert residual <= 1e-8
    assert value == pytest.approx(literal(W, H, labels, loss) + nu * W.sum(), rel=1e-12)
    rough = nonnegative(
        lambda w: literal(w.reshape(shape), H, labels, loss) + nu * w.sum(), np.full(W.size, 0.1)
    )
    assert value <= rough.fun + 1e-9
    assert value == pytest.approx(rough.fun, rel=1e-5)


def test_repeated_columns_are_no_obstacle(loss):
    H, _, own = draw(0)
    alone = NonnegativeNewton().minimise(problem_of(H, own, loss), np.zeros((3, 5)), 0.5, 1e-6, 99)
    twice = NonnegativeNewton().minimise(
        problem_of(np.vstack([H, H]), own, loss), np.zeros((3, 10)), 0.5, 1e-6, 99
    )
    assert twice.converged
    assert twice.value == pytest.approx(alone.value, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_samples_decides_nothing(loss, seed):
    """Columns come one by one, as in boosting, and each solution is the start of the next."""
    rng = np.random.default_rng(seed)
    n_samples, n_classes, n_columns = 150, 5, 15
    own = np.arange(n_classes)[:, None] == rng.integers(n_classes, size=n_samples)
    H = np.where(
        rng.random((n_columns, n_samples)) < 0.2 + 0.6 * own[rng.integers(5, size=n_columns)],
        1.0,
        -1.0,
    )
    order = rng.permutation(n_samples)
    found = []
    for columns, classes in ((H, own), (H[:, order], own[:, order])):
        w = np.zeros((n_classes, 0))
        for t in range(1, n_columns + 1):
            start = np.column_stack([w, np.zeros(n_classes)])
            problem = problem_of(columns[:t], classes, loss)
            w = NonnegativeNewton().minimise(problem, start, 1e-3, 0.1, 50).w
        found.append(w)
    np.testing.assert_array_equal(*found)
