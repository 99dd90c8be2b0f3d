"""Test Figure 1 of MCBoost: boosting in small steps follows the l1-constrained path."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from boostbench.core.coefficient_path import l1_constrained_path, stage_wise_path
from boostbench.core.losses.objective import get_loss
from boostbench.core.losses.restricted_problems import PairwiseLoss
from boostbench.core.stumps.search import StumpSearch

LOSSES = ["exponential", "logistic"]


@pytest.fixture(scope="module")
def weak_learners():
    """Return outputs of 8 stumps on 20 samples of each digit 3, 6 and 9, as in the paper."""
    X, y = load_digits(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == digit)[:20] for digit in (3, 6, 9)])
    X, y = X[rows], y[rows]
    is_label = np.unique(y)[:, None] == y
    search = StumpSearch(X)
    # Random weights emphasise different samples, so that the best stumps differ.
    rng = np.random.default_rng(0)
    H = []
    while len(H) < 8:
        u = np.where(is_label, 0.0, rng.gamma(0.5, size=is_label.shape)).T
        G = np.where(is_label.T, u.sum(axis=1, keepdims=True), -u)
        stump = search.best(G).learner
        if not any((stump(X) == h).all() for h in H):
            H.append(stump(X))
    return np.array(H), is_label


@pytest.mark.parametrize("loss", LOSSES)
class TestExactPath:
    NORMS = (0.5, 1.0, 2.0, 4.0)

    def test_path_meets_the_optimality_conditions(self, weak_learners, loss):
        """The slope is the same along all nonzero coefficients, and none is steeper."""
        H, is_label = weak_learners
        for norm, W in zip(
            self.NORMS, l1_constrained_path(H, is_label, get_loss(loss), self.NORMS), strict=True
        ):
            _, gradient = PairwiseLoss(H, is_label, get_loss(loss)).move(W)
            assert W.min() >= 0
            assert W.sum() == pytest.approx(norm)
            steepest = gradient.min()
            assert steepest < 0
            np.testing.assert_allclose(gradient[W > 1e-6], steepest, rtol=1e-3)

    def test_no_feasible_point_is_better(self, weak_learners, loss):
        H, is_label = weak_learners
        problem = PairwiseLoss(H, is_label, get_loss(loss))
        W = l1_constrained_path(H, is_label, get_loss(loss), [2.0])[0]
        value, _ = problem.move(W)
        rng = np.random.default_rng(0)
        for _ in range(200):
            other = rng.gamma(0.1, size=W.shape)
            other *= 2.0 / other.sum()
            assert problem.move(W + rng.choice([1e-3, 0.1, 1.0]) * (other - W))[0] >= value - 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_stage_wise_steps_take_the_steepest_coefficient(weak_learners, loss):
    H, is_label = weak_learners
    path = stage_wise_path(H, is_label, get_loss(loss), n_rounds=30, step=0.02)
    before = np.zeros_like(path[0])
    for W in path:
        margins = (before @ H)[is_label.argmax(axis=0), np.arange(is_label.shape[1])] - before @ H
        u = np.where(is_label, 0.0, get_loss(loss).value_and_dual(margins)[1])
        edges = np.where(is_label, u.sum(axis=0), -u) @ H.T
        moved = np.flatnonzero(W - before)
        assert len(moved) == 1
        assert (W - before).sum() == pytest.approx(0.02)
        assert edges.ravel()[moved[0]] == pytest.approx(edges.max())
        before = W


@pytest.mark.parametrize("loss", LOSSES)
def test_small_steps_follow_the_exact_path(weak_learners, loss):
    H, is_label = weak_learners
    norms = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
    exact = l1_constrained_path(H, is_label, get_loss(loss), norms)
    distances = []
    for step in (0.2, 0.05, 0.01):
        boosted = stage_wise_path(H, is_label, get_loss(loss), n_rounds=round(4 / step), step=step)
        rounds = np.round(norms / step).astype(int) - 1
        distances.append(np.abs(boosted[rounds] - exact).sum(axis=(1, 2)) / norms)
    assert (distances[-1] < 0.05).all()
    # Smaller steps follow the path more closely.
    assert distances[0].mean() > distances[1].mean() > distances[2].mean()


def test_iteration_limit_of_the_solver_raises(weak_learners, monkeypatch):
    monkeypatch.setattr("boostbench.core.coefficient_path._MAX_ITER", 1)
    with pytest.raises(RuntimeError, match=r"L1 norm of 1\.0"):
        l1_constrained_path(*weak_learners, get_loss("logistic"), [1.0])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(10))
def test_first_of_equally_steep_coefficients_moves(seed, loss):
    """The selected coefficient does not depend on the order of the samples."""
    rng = np.random.default_rng(seed)
    H, is_label = rng.choice([-1.0, 1.0], (6, 12)), rng.integers(0, 3, 12) == np.arange(3)[:, None]
    order = rng.permutation(12)
    one = stage_wise_path(H, is_label, get_loss(loss), n_rounds=60, step=0.1)
    other = stage_wise_path(H[:, order], is_label[:, order], get_loss(loss), n_rounds=60, step=0.1)
    assert (one == other).all()
