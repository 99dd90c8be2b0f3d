import warnings

import numpy as np
import pytest
from sklearn.svm import SVC

from boostbench.core.solvers.incremental_solvers import PrimalSVM


@pytest.fixture(autouse=True)
def raise_floating_point_errors():
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        yield


def draw(seed, n_columns, n_samples, signal=0.6, kind="sign"):
    """Draw labels, and columns that agree with most of them."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_samples) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    if kind == "sign":
        return y, np.where(rng.random((n_columns, n_samples)) < signal, y, -y)
    return y, np.cos(rng.normal(0, 2, (n_columns, n_samples)) - y)


def fitted(y, columns, C, loss="squared_hinge", tol=1e-3):
    svm = PrimalSVM(y, C, loss, tol)
    for column in columns:
        svm.add(column)
    return svm


def objectives(svm, y, columns, C, loss):
    """Return the objectives of (1) and of its dual (2), computed from the solver's results only."""
    hinge = np.maximum(0, 1 - y * (svm.weights @ columns + svm.intercept))
    v = columns @ (y * svm.dual)
    if loss == "hinge":
        return svm.weights @ svm.weights / 2 + C * hinge.sum(), svm.dual.sum() - v @ v / 2
    primal = svm.weights @ svm.weights / 2 + C * (hinge**2).sum()
    return primal, svm.dual.sum() - v @ v / 2 - (svm.dual**2).sum() / (4 * C)


def is_feasible(svm, y, C, loss):
    box = C if loss == "hinge" else np.inf
    balanced = abs(svm.dual @ y) <= 1e-9 * svm.dual.sum()
    return balanced and (svm.dual >= 0).all() and (svm.dual <= box * (1 + 1e-12)).all()


LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


@LOSSES
@pytest.mark.parametrize("C", [1e-3, 1e-2, 0.1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize("kind", ["sign", "cosine"])
@pytest.mark.parametrize(("tol", "seed", "shape"), [(1e-4, 1, (50, 80)), (1e-8, 3, (6, 24))])
def test_duality_gap_is_within_the_tolerance(loss, C, kind, tol, seed, shape):
    y, columns = draw(seed, *shape, kind=kind)
    svm = PrimalSVM(y, C, loss, tol)
    for j, column in enumerate(columns):
        svm.add(column)
        primal, dual = objectives(svm, y, columns[: j + 1], C, loss)
        assert svm.objective == pytest.approx(primal, rel=1e-9)
        assert is_feasible(svm, y, C, loss)
        allowed = tol if loss == "hinge" else 1e-9
        assert -1e-9 * primal <= primal - dual <= allowed * primal + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_bias_of_a_nearly_unweighted_svm_is_optimal(seed):
    """All samples are within the margin if C is small, and the bias alone determines the scores."""
    y, columns = draw(seed, 3, 25)
    C = 1e-9
    svm = fitted(y, columns, C, "hinge")
    primal, dual = objectives(svm, y, columns, C, "hinge")
    assert is_feasible(svm, y, C, "hinge")
    assert primal - dual <= 1e-3 * primal


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_inverse_is_recomputed_after_loss_of_precision(seed, C):
    """Rounding makes updates of the inverse singular if the widths are 1e-8."""
    y, columns = draw(seed, 30, 60)
    svm = fitted(y, columns, C, "hinge", tol=1e-9)
    primal, dual = objectives(svm, y, columns, C, "hinge")
    assert is_feasible(svm, y, C, "hinge")
    assert primal - dual <= 1e-9 * primal + 1e-12


@LOSSES
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_weights_follow_from_the_dual_variables(loss, C):
    """Eq. (7) is the condition on which column generation rests."""
    y, columns = draw(5, 90, 80, signal=0.55)
    svm = fitted(y, columns, C, loss)
    expected = columns @ (y * svm.dual)
    np.testing.assert_allclose(svm.weights, expected, atol=1e-10 * svm.dual.sum())


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_hinge_solution_equals_libsvm(C):
    y, columns = draw(2, 20, 100)
    peer = SVC(C=C, kernel="linear", tol=1e-9).fit(columns.T, y)
    svm = fitted(y, columns, C, "hinge", tol=1e-9)
    np.testing.assert_allclose(svm.weights, peer.coef_[0], atol=2e-4 * np.abs(peer.coef_).max())


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_squared_hinge_solution_equals_libsvm(C):
    """The dual has no upper bounds, and adds 1 / (2 C) to the diagonal of the kernel."""
    y, columns = draw(2, 20, 100)
    kernel = columns.T @ columns + np.eye(100) / (2 * C)
    peer = SVC(C=1e9, kernel="precomputed", tol=1e-9).fit(kernel, y)
    svm = fitted(y, columns, C)
    dual = np.zeros(100)
    dual[peer.support_] = np.abs(peer.dual_coef_[0])
    np.testing.assert_allclose(svm.dual, dual, atol=1e-5 * dual.max())
    assert svm.intercept == pytest.approx(peer.intercept_[0], abs=1e-5)


@LOSSES
def test_solution_does_not_depend_on_the_order_of_columns(loss):
    y, columns = draw(4, 30, 80)
    one = fitted(y, columns, 0.3, loss, tol=1e-10)
    other = fitted(y, columns[::-1], 0.3, loss, tol=1e-10)
    np.testing.assert_allclose(other.weights[::-1], one.weights, atol=1e-6)


@LOSSES
class TestDegenerateData:
    def check(self, y, columns, C, loss):
        svm = PrimalSVM(y, C, loss)
        for j, column in enumerate(columns):
            svm.add(column)
            primal, dual = objectives(svm, y, columns[: j + 1], C, loss)
            assert is_feasible(svm, y, C, loss)
            assert primal - dual <= 2e-3 * primal + 1e-12
        return svm

    def test_large_bias(self, loss):
        """The bias is not shrunk to 0 if 19 of 20 samples have one class."""
        y = np.where(np.arange(100) % 20 == 0, 1.0, -1.0)
        svm = self.check(y, np.ones((1, 100)), 0.01, loss)
        assert svm.weights[0] == pytest.approx(0, abs=1e-9)
        assert svm.intercept == pytest.approx(-0.9 if loss == "squared_hinge" else -1, abs=0.02)

    def test_repeated_and_constant_columns(self, loss):
        y, columns = draw(6, 10, 50)
        svm = self.check(y, np.vstack([columns, columns, -columns, np.ones((1, 50))]), 1.0, loss)
        w = svm.weights
        np.testing.assert_allclose(w[:10], w[10:20], atol=1e-9)
        np.testing.assert_allclose(w[:10], -w[20:30], atol=1e-9)

    def test_column_that_separates_the_classes(self, loss):
        y, columns = draw(7, 12, 40)
        for C in (0.01, 1.0, 1e4):
            self.check(y, np.vstack([columns[:4], y[None], columns[4:]]), C, loss)

    def test_two_samples(self, loss):
        y = np.array([1.0, -1.0])
        svm = self.check(y, np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]), 10.0, loss)
        assert svm.weights @ [1, 1, -1] > 0.9
        assert svm.intercept == pytest.approx(0, abs=1e-9)

    def test_repeated_samples(self, loss):
        y, columns = draw(8, 3, 8)
        self.check(np.tile(y, 20), np.tile(columns, 20), 1.0, loss)

    def test_numbers_of_very_different_sizes(self, loss):
        y, columns = draw(9, 30, 60, kind="cosine")
        scales = 10.0 ** np.random.default_rng(0).uniform(-3, 2, (30, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.check(y, scales * columns, 1.0, loss)

    def test_more_columns_than_samples(self, loss):
        y, columns = draw(10, 150, 20)
        self.check(y, columns, 1.0, loss)
