import numpy as np
import pytest
from scipy.optimize import linprog

from boostbench.core.solvers.linear_programs import pairwise_hinge
from tests.core.losses.test_pairwise import draw


def literal_value(W, H, labels, nu):
    total = nu * W.sum()
    for i, label in enumerate(labels):
        scores = W @ H[:, i]
        total += sum(max(0.0, 1 - (scores[label] - scores[r])) for r in range(len(W)) if r != label)
    return total


def dual_edges(dual, H, labels):
    """Return the left-hand sides of the dual constraints, one per class and column."""
    result = np.zeros((len(dual), len(H)))
    for i, label in enumerate(labels):
        for r in range(len(dual)):
            result[label] += dual[r, i] * H[:, i]
            result[r] -= dual[r, i] * H[:, i]
    return result


def dual_value(H, labels, n_classes, nu):
    """Solve the dual program: max sum(u), 0 <= u <= 1, with all edges at most nu."""
    pairs = [(i, r) for i in range(len(labels)) for r in range(n_classes) if r != labels[i]]
    rows = np.zeros((n_classes, len(H), len(pairs)))
    for p, (i, r) in enumerate(pairs):
        rows[labels[i], :, p] += H[:, i]
        rows[r, :, p] -= H[:, i]
    rows = rows.reshape(-1, len(pairs))
    return -linprog(-np.ones(len(pairs)), rows, np.full(len(rows), nu), bounds=(0, 1)).fun


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("nu", [20.0, 2.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_primal_equals_dual(n_classes, nu, seed):
    H, labels, is_label = draw(seed, n_classes)
    W, value, *_, dual = pairwise_hinge(H, is_label, nu)
    assert W.shape == (n_classes, len(H))
    assert (W >= 0).all()
    assert value == pytest.approx(literal_value(W, H, labels, nu))
    assert value == pytest.approx(dual_value(H, labels, n_classes, nu))
    assert ((dual >= 0) & (dual <= 1)).all()
    assert (dual[is_label] == 0).all()
    assert dual.sum() == pytest.approx(value)
    assert dual_edges(dual, H, labels).max() <= nu + 1e-7


def test_program_without_columns():
    _, _, is_label = draw(0)
    W, value, *_, dual = pairwise_hinge(np.empty((0, 14)), is_label, 1.0)
    assert W.shape == (3, 0)
    assert (dual == ~is_label).all()
    assert value == 28
