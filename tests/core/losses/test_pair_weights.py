"""Compare the weights of pairs with eqs. (10) to (14) of MCBoost, written out (step 4)."""

import numpy as np
import pytest
from scipy.optimize import minimize as generic

from boostbench.core.losses import logistic_weights as two_class_weights
from boostbench.core.losses import pair_weights
from boostbench.core.losses.logistic_weights import LogisticWeights, TwoClassLogisticWeights
from boostbench.core.losses.pair_weights import (
    ExponentialWeights,
    TwoClassExponentialWeights,
)
from boostbench.core.solvers.balancing import ExponentialProblem, minimise

WEIGHTS = {"exponential": ExponentialWeights, "logistic": LogisticWeights}
NUS = [0.0, 1e-9, 1e-2, 1e-1]


class Instance:
    """Training state after a few rounds, and the next weak learner."""

    def __init__(self, loss, seed):
        rng = np.random.default_rng(seed)
        self.loss = loss
        self.k = k = int(rng.integers(2, 13))
        m = int(rng.integers(k, 60))
        self.y = np.concatenate([np.arange(k), rng.integers(k, size=m - k)])
        self.weights = WEIGHTS[loss](self.y, k)
        self.scores = np.zeros((m, k))
        for _ in range(seed % 4):
            h = np.where(rng.random(m) < 0.5, 1.0, -1.0)
            w = rng.choice([0.1, 1.0, 3.0]) * rng.random(k)
            self.weights.problem(h)
            self.weights.move(w)
            self.scores += h[:, None] * w
        self.h = np.where(rng.random(m) < rng.random(), 1.0, -1.0)
        # Two classes lie on one side of the weak learner only.
        for r in rng.choice(k, size=rng.integers(0, k // 2 + 1), replace=False):
            self.h[self.y == r] = rng.choice([-1.0, 1.0])
        self.own = np.eye(k, dtype=bool)[self.y]

    def margins(self, w):
        scores = self.scores + self.h[:, None] * w
        return scores[self.own][:, None] - scores

    def objective(self, w, nu):
        """Return eq. (13) or (14), and its gradient."""
        margins = self.margins(w)
        if self.loss == "exponential":
            value, u = np.log(np.exp(-margins).sum()), np.exp(-margins) / np.exp(-margins).sum()
        else:
            value, u = np.log1p(np.exp(-margins)).sum(), 1 / (1 + np.exp(margins))
        off = np.where(self.own, 0.0, u)
        G = np.where(self.own, off.sum(axis=1, keepdims=True), -off)
        return value + nu * w.sum(), nu - self.h @ G

    def solve(self, nu):
        problem, scale = self.weights.problem(self.h)
        return minimise(problem, nu / scale)

    @property
    def size(self):
        """Return the scale of the slopes, which is 1 for (13), the logarithm of the loss."""
        zero = np.zeros(self.k)
        return 1.0 if self.loss == "exponential" else self.objective(zero, 0)[0]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("loss", WEIGHTS)
class TestAgainstTheEquations:
    def test_gains_and_share_equal_the_equations(self, loss, seed):
        instance = Instance(loss, seed)
        margins = instance.margins(np.zeros(instance.k))
        u = np.exp(-margins) if loss == "exponential" else 1 / (1 + np.exp(margins))
        off = np.where(instance.own, 0.0, u)
        G = np.where(instance.own, off.sum(axis=1, keepdims=True), -off) / off.sum()
        gains = instance.weights.gains / instance.weights.total
        np.testing.assert_allclose(gains, G, rtol=1e-9, atol=1e-15)
        assert instance.weights.share == pytest.approx(off.sum() / u.sum(), rel=1e-9)

    def test_objective_equals_the_equation(self, loss, seed):
        instance = Instance(loss, seed)
        problem, scale = instance.weights.problem(instance.h)
        w = np.random.default_rng(seed).normal(size=instance.k)
        literal = instance.objective(w, 0)[1]
        np.testing.assert_allclose(scale * problem.gradient(w), literal, atol=1e-9 * scale)

    def test_generic_solver_is_not_better(self, loss, seed):
        """A generic solver finds no smaller value of the paper's objective."""
        instance = Instance(loss, seed)
        for nu in NUS:
            w = instance.solve(nu)
            value, gradient = instance.objective(w, nu)
            violation = np.where(w > 0, np.abs(gradient), np.maximum(-gradient, 0))
            assert violation.max() <= 1e-8 * instance.size
            assert w.min() == 0
            assert value <= instance.objective(np.zeros(instance.k), nu)[0]
            theirs = generic(
                instance.objective,
                np.full(instance.k, 0.1),
                args=(nu,),
                jac=True,
                bounds=[(0, 30)] * instance.k,
                options={"ftol": 1e-14, "gtol": 1e-9},
            )
            assert value <= theirs.fun + 1e-6 * instance.size


@pytest.mark.parametrize("seed", range(10))
def test_logistic_majorisation_converges_to_the_solution_of_newton(seed):
    """log(1 + o e^-r) <= log(1 + o) + u (e^-r - 1) gives a balancing problem with weights u."""
    instance = Instance("logistic", seed)
    rng = np.random.default_rng(seed)
    # Every class has samples on both sides, so that the minimum is finite.
    y = np.repeat(np.arange(instance.k), 6)
    h = np.where(np.arange(len(y)) % 6 < rng.integers(1, 6, size=instance.k)[y], 1.0, -1.0)
    is_label = np.eye(instance.k, dtype=bool)[y]
    odds = np.where(is_label, 0.0, np.exp(rng.normal(size=is_label.shape)))
    weights = LogisticWeights(y, instance.k)
    weights._odds[:] = odds
    weights.move(np.zeros(instance.k))
    problem, _ = weights.problem(h)
    exact = minimise(problem)

    total = np.zeros(instance.k)
    for _ in range(3000):
        now = odds * np.exp(-h[:, None] * (total[y][:, None] - total))
        u = now / (1 + now)
        sums = [is_label[h == side].T.astype(float) @ u[h == side] for side in (1, -1)]
        C = sums[0] + sums[1].T
        step = minimise(ExponentialProblem(C / C.sum(), 1e-9), tol=1e-12)
        total += step
        if np.ptp(step) < 1e-9:
            break
    np.testing.assert_allclose(total - total.min(), exact, atol=1e-5)


@pytest.mark.parametrize("loss", WEIGHTS)
def test_rounding_errors_do_not_grow_over_hundreds_of_moves(loss):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 4
    weights = WEIGHTS[loss](y, 4)
    scores = np.zeros((30, 4))
    for _ in range(500):
        h = np.where(rng.random(30) < 0.5, 1.0, -1.0)
        w = rng.normal(size=4)
        weights.problem(h)
        weights.move(w)
        scores += h[:, None] * w
    margins = scores[np.arange(30), y][:, None] - scores
    log_u = -margins if loss == "exponential" else -np.logaddexp(0, margins)
    is_label = np.eye(4, dtype=bool)[y]
    log_off = np.where(is_label, -np.inf, log_u)
    largest = log_off.max()
    off = np.exp(log_off - largest)
    np.testing.assert_allclose(
        -weights.gains[~is_label] / weights.total,
        (off / off.sum())[~is_label],
        rtol=1e-10,
        atol=1e-300,
    )
    rest = np.exp(log_u[is_label] - largest).sum()
    assert weights.share == pytest.approx(off.sum() / (off.sum() + rest), rel=1e-10)


@pytest.mark.parametrize("block", [1, 7, 2**14])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_weights_of_two_classes_equal_the_general_ones(seed, weighted, block, monkeypatch):
    monkeypatch.setattr(two_class_weights, "_BLOCK_SAMPLES", block)
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.append([0, 1], rng.integers(0, 2, 38)))
    times = rng.random(40) + 0.1 if weighted else None
    both = [kind(y, 2, times) for kind in (LogisticWeights, TwoClassLogisticWeights)]
    # The rounds include a learner without errors on one side, and steps up to the largest odds.
    for size in (1.0, 1.0, 3.0, 50.0, 300.0, 300.0, 300.0):
        h = np.where(rng.random(40) < 0.5, 1.0, -1.0)
        if size == 3.0:
            h[y == 0] = -1.0
        w = size * rng.random(2)
        problems = [weights.problem(h) for weights in both]
        assert problems[0][1] == pytest.approx(problems[1][1])
        for point in (w, np.zeros(2), np.array([0.3, 0.0])):
            (plain, _), (fast, _) = problems
            np.testing.assert_allclose(fast.gradient(point), plain.gradient(point), atol=1e-12)
            np.testing.assert_allclose(fast.hessian(), plain.hessian(), atol=1e-12)
        for weights in both:
            weights.move(w)
        plain, fast = both
        gains = fast.gains * [1.0, -1.0]
        np.testing.assert_allclose(gains, plain.gains, rtol=1e-9, atol=1e-15)
        assert fast.share == pytest.approx(plain.share)


@pytest.mark.parametrize("block", [2, 14, 2**17])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_exponential_weights_of_two_classes_are_bit_equal(seed, weighted, block, monkeypatch):
    monkeypatch.setattr(pair_weights, "_BLOCK_PAIRS", block)
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.append([0, 1], rng.integers(0, 2, 38)))
    sample_weight = rng.random(40) + 0.1 if weighted else None
    general = ExponentialWeights(labels, 2, sample_weight)
    special = TwoClassExponentialWeights(labels, 2, sample_weight)
    # Large coefficients finally make the loss underflow.
    for scale in (1.0, 1.0, 3.0, 50.0, 300.0, 300.0):
        outputs = np.where(rng.random(40) < 0.5, 1.0, -1.0)
        coefficients = scale * rng.random(2)
        (general_problem, _), (special_problem, _) = (
            weights.problem(outputs) for weights in (general, special)
        )
        for point in (coefficients, np.zeros(2)):
            np.testing.assert_array_equal(
                special_problem.gradient(point), general_problem.gradient(point)
            )
        for weights in (general, special):
            weights.move(coefficients)
        np.testing.assert_array_equal(special.gains * [1.0, -1.0], general.gains)
        assert special.share == general.share


@pytest.mark.parametrize("block", [1, 7, 40])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", WEIGHTS)
def test_result_does_not_depend_on_the_block_size(loss, weighted, block, monkeypatch):
    rng = np.random.default_rng(block)
    y = rng.permutation(np.arange(50) % 4)
    times = rng.random(50) + 0.1 if weighted else None
    single_block = WEIGHTS[loss](y, 4, times)
    monkeypatch.setattr(pair_weights, "_BLOCK_PAIRS", block)
    parts = WEIGHTS[loss](y, 4, times)
    for _ in range(5):
        h = np.where(rng.random(50) < 0.5, 1.0, -1.0)
        w = rng.random(4)
        problems = [weights.problem(h)[0] for weights in (single_block, parts)]
        for point in (w, np.zeros(4)):
            for name in ("gradient", "hessian"):
                arguments = [point] if name == "gradient" else []
                first, second = (getattr(problem, name)(*arguments) for problem in problems)
                np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-13)
        for weights in (single_block, parts):
            weights.move(w)
        np.testing.assert_allclose(single_block.gains, parts.gains, rtol=1e-12)
        assert single_block.share == pytest.approx(parts.share)
