import subprocess
import sys

import highspy
import numpy as np
import pytest
from generic import soft_margin
from scipy.optimize import linprog

from boostbench.core.solvers.linear_programs import SoftMarginProgram, pairwise_hinge
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


def draw_margins(seed, n_columns=12, n_samples=25):
    """Draw margins y h(x) of columns that are better than chance."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n_columns, n_samples)) < 0.65, 1.0, -1.0)


def margin_errors(program, margins):
    return np.maximum(0, 1 - program.coefficients @ margins)


@pytest.mark.parametrize("C", [0.01, 0.05, 0.2, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_primal_equals_dual_after_each_column(C, seed):
    margins = draw_margins(seed)
    program = SoftMarginProgram(margins.shape[1], C)
    for j, row in enumerate(margins):
        program.add(row)
        columns = margins[: j + 1]
        least = program.coefficients.sum() + C * margin_errors(program, columns).sum()
        assert program.value == pytest.approx(soft_margin(columns, C), abs=1e-7)
        assert least == pytest.approx(program.dual.sum(), abs=1e-6)
        assert ((program.dual >= 0) & (program.dual <= C)).all()
        assert (program.coefficients >= 0).all()
        # The solution meets complementary slackness.
        edges = columns @ program.dual
        assert edges.max() <= 1 + 1e-6
        assert edges[program.coefficients > 1e-9] == pytest.approx(1.0, abs=1e-6)
        errors = margin_errors(program, columns)
        assert program.dual[errors > 1e-6] == pytest.approx(C)


def test_margins_may_be_real_numbers():
    """Cosines, for example, are weak learners with real outputs."""
    margins = np.random.default_rng(0).normal(0.2, 1.0, (9, 30))
    program = SoftMarginProgram(30, 0.3)
    for row in margins:
        program.add(row)
    assert program.value == pytest.approx(soft_margin(margins, 0.3), abs=1e-7)


def test_soft_margin_program_without_columns():
    program = SoftMarginProgram(4, 0.5)
    assert program.dual.tolist() == [0.5] * 4
    assert program.value == 2.0


def test_bounds_that_highs_treats_as_infinite_raise_an_error():
    with pytest.raises(ValueError, match=r"1e\+20, and HiGHS takes 1e\+20 for infinite"):
        SoftMarginProgram(2, np.array([1.0, 1e20]))
    program = SoftMarginProgram(2, np.array([1.0, 9e19]))
    program.add(np.array([1.0, -1.0]))
    assert program.value == pytest.approx(9e19)


def test_highs_failure_raises(monkeypatch):
    program = SoftMarginProgram(3, 1.0)
    program.add(np.ones(3))
    monkeypatch.setattr(
        highspy.Highs, "getModelStatus", lambda self: highspy.HighsModelStatus.kTimeLimit
    )
    with pytest.raises(RuntimeError, match="program of 2 weak learners was not solved: Time limit"):
        program.add(np.array([1.0, 1.0, -1.0]))


def test_highs_error_raises():
    with pytest.raises(RuntimeError, match="HiGHS reports an error"):
        SoftMarginProgram(2, 1.0).add(np.array([np.inf, 1.0]))


def test_highs_writes_nothing_to_the_terminal():
    program = (
        "import numpy as np; "
        "from boostbench.core.solvers.linear_programs import SoftMarginProgram; "
        "SoftMarginProgram(2, max_dual=1.0).add(np.ones(2))"
    )
    # HiGHS flushes its buffer at exit, so that the test runs a process to its end.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
