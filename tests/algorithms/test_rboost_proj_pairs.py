"""RBoostProj(rule="pair"): a coefficient for each pair of a weak learner and a row of P."""

import itertools
import math
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer

from boostbench.algorithms import RBoostProj
from boostbench.core.weak.discriminants import CodedDiscriminants

from . import reference
from .problems import blobs, noise
from .projected_outputs import Fitted, objective, projections

LOSSES = ["logistic", "exponential"]
# Searches and products are in single precision.
PRECISION = 1e-5


class Pairs(Fitted):
    """A coefficient for each pair of a weak learner and a row of P."""

    rule = "pair"

    def __init__(self, model, X, y):
        super().__init__(model, X, y)
        self.codes = [self.P[t, v] for t, v in enumerate(model.rows_)]

    def design(self, t):
        """List what a unit of each coefficient adds to the margins, after round t."""
        found = np.zeros((len(self.y), self.k, t + 1))
        for i, r, s in itertools.product(range(len(self.y)), range(self.k), range(t + 1)):
            found[i, r, s] = (self.codes[s][self.y[i]] - self.codes[s][r]) * self.H[s][i]
        return found

    def weights(self, t):
        """Return w after round t; of no pair before the first."""
        return self.w[t, : t + 1] if t >= 0 else np.zeros(0)


fitted = Pairs.make


@pytest.mark.parametrize("projection", ["gaussian", "sign", "sparse"])
@pytest.mark.parametrize("scaling", ["sqrt_n", "n"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", LOSSES)
def test_the_model(name, n_classes, scaling, projection):
    """Scores and eq. (18) after every round, from the matrices P and the rows chosen."""
    nu = 3e-2 if scaling == "sqrt_n" else 1e-2
    f = fitted(n_classes=n_classes, loss=name, projection=projection, scaling=scaling, nu=nu)
    assert f.w.shape == (7, 7)
    assert (f.w >= 0).all()
    for t, scores in enumerate(reference.class_scores(f.model, f.X)):
        F = np.zeros((len(f.X), n_classes))
        total = 0.0
        for i, r in itertools.product(range(len(f.X)), range(n_classes)):
            for s in range(t + 1):
                F[i, r] += f.w[t, s] * f.P[s, f.model.rows_[s], r] * f.H[s][i]
        margins = reference.differences(F, f.y)
        np.testing.assert_allclose(
            reference.differences(scores, f.y), margins, atol=PRECISION * np.abs(F).max()
        )
        for margin in margins.ravel():
            total += math.exp(-margin) if name == "exponential" else math.log1p(math.exp(-margin))
        total = total / margins.size + nu * sum(f.w[t])
        assert f.model.objective_[t] == pytest.approx(total, rel=PRECISION)
    np.testing.assert_allclose(
        f.model.coefficients_, f.w[-1][:, None] * np.array(f.codes), rtol=PRECISION
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("nu", [0.03, 0.01, 1e-3])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("data", [blobs, noise])
class TestTheCoefficientsAreOptimal:
    def test_optimality_conditions(self, data, name, nu, n_classes):
        """The derivatives of eq. (18) are not negative, and 0 for positive coefficients."""
        f = fitted(data=data, n_classes=n_classes, loss=name, nu=nu)
        for t in range(7):
            w = f.w[t, : t + 1]
            _, gradient = objective(w, f.design(t), name, nu)
            if f.model.converged_[t]:
                assert gradient.min() > -3e-5
                assert np.abs(gradient[w > 0]).max(initial=0) < 1e-3 * nu + 3e-5
        assert f.model.converged_.all()

    def test_no_other_solver_finds_less(self, data, name, nu, n_classes):
        f = fitted(data=data, n_classes=n_classes, loss=name, nu=nu)
        rng = np.random.default_rng(0)
        for t in (0, 3, 6):
            arguments = (f.design(t), name, nu)
            value, _ = objective(f.w[t, : t + 1], *arguments)
            for start in (np.zeros(t + 1), rng.uniform(0, 1, t + 1)):
                found = minimize(
                    objective,
                    start,
                    arguments,
                    jac=True,
                    method="SLSQP",
                    bounds=[(0, None)] * (t + 1),
                    options={"ftol": 1e-13, "maxiter": 1000},
                )
                assert found.success
                assert value <= found.fun * (1 + 1e-4)
                # And the other way round, or the comparison would be of no worth.
                assert found.fun <= value * (1 + 1e-6)

    def test_the_gap_to_the_dual_is_closed(self, data, name, nu, n_classes):
        """Eq. (23) with a constraint for each pair; u scaled down to be feasible exactly."""
        f = fitted(data=data, n_classes=n_classes, loss=name, nu=nu)
        for t in range(7):
            u = f.dual(t)
            violation = np.einsum("ir,irs->s", u, f.design(t)).max()
            x = u.size * u * min(1.0, nu / violation)
            if name == "logistic":
                conjugate = x * np.log(x) + (1 - x) * np.log(1 - x)
            else:
                conjugate = x * np.log(x) - x
            primal, _ = objective(f.w[t, : t + 1], f.design(t), name, nu)
            dual = -conjugate.mean()
            assert dual <= primal * (1 + 1e-9)
            assert primal - dual < 5e-3 * primal


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_most_violated_constraint_is_added(seed, name, n_classes):
    """By brute force over stumps, polarities and rows of P."""
    f = fitted(seed, n_classes, n_iterations=5, n_projections=4, loss=name)
    candidates = reference.stump_outputs(f.X)
    for t, v in enumerate(f.model.rows_):
        u = f.dual(t - 1)
        pulls = np.zeros((4, len(f.y)))
        for row, i, r in itertools.product(range(4), range(len(f.y)), range(n_classes)):
            pulls[row, i] += u[i, r] * (f.P[t, row, f.y[i]] - f.P[t, row, r])
        largest = max(abs(h @ pull) for h in candidates for pull in pulls)
        assert f.H[t] @ pulls[v] == pytest.approx(largest, abs=PRECISION)


def test_discriminants_take_the_most_violated_constraint():
    X, y = noise(3, n_samples=21, n_features=3)
    model = RBoostProj(
        n_iterations=4, n_projections=8, weak_learner="wlda", tol=0, nu=1e-2, random_state=0
    ).fit(X, y)
    first = projections(model)[0]
    u = np.full((21, 3), 0.5 / 63)
    weights = np.array(
        [[u[i].sum() - u[i, r] if r == y[i] else -u[i, r] for r in range(3)] for i in range(21)]
    )
    found = CodedDiscriminants(X).best(weights, first, np.zeros(8))
    assert model.rows_[0] == found.column
    assert (model.hypotheses_.outputs(X)[:, 0] == found.outputs).all()


class TestTwoClasses:
    """A code is one number then, d: pairs are stumps with a weight nu / |d| of their own."""

    @pytest.mark.parametrize("seed", range(4))
    def test_the_row_of_the_largest_difference_is_chosen(self, seed):
        f = fitted(seed, 2, n_iterations=10)
        for t, v in enumerate(f.model.rows_):
            differences = np.abs(f.P[t, :, 1] - f.P[t, :, 0])
            assert v == differences.argmax()

    @pytest.mark.parametrize("seed", range(4))
    def test_it_is_boosting_of_the_logistic_loss(self, seed):
        """Refitted with one margin a sample, y_i sum_t a_t h_t(x_i), where a_t = |d_t| w_t."""
        f = fitted(seed, 2, n_iterations=10, nu=1e-2)
        sizes = np.array([abs(code[1] - code[0]) for code in f.codes])
        sign = np.array([1.0 if code[1] > code[0] else -1.0 for code in f.codes])
        H = np.array(f.H).T * sign * np.where(f.y == 1, 1.0, -1.0)[:, None]

        def total(a):
            margins = H @ a
            dual = 1 / (1 + np.exp(margins))
            value = np.logaddexp(0, -margins).mean() / 2 + math.log(2) / 2
            penalty = 0.01 / sizes
            return value + penalty @ a, penalty - H.T @ dual / (2 * len(H))

        found = minimize(
            total,
            np.zeros(10),
            jac=True,
            method="SLSQP",
            bounds=[(0, None)] * 10,
            options={"ftol": 1e-13, "maxiter": 1000},
        )
        assert f.model.objective_[-1] == pytest.approx(found.fun, rel=1e-5)
        assert total(sizes * f.w[-1])[0] == pytest.approx(found.fun, rel=1e-5)


class TestInvariance:
    ARGUMENTS: ClassVar = {
        "n_iterations": 15,
        "n_projections": 16,
        "nu": 2e-3,
        "tol": 0,
        "random_state": 0,
    }

    def same(self, one, other, X, Z=None):
        np.testing.assert_allclose(one.objective_, other.objective_, rtol=1e-4)
        assert (one.rows_ == other.rows_).all()
        assert (one.predict(X) == other.predict(X if Z is None else Z)).all()

    def test_repeated_samples(self):
        """The losses are averaged."""
        X, y = blobs(3)
        once = RBoostProj(**self.ARGUMENTS).fit(X, y)
        thrice = RBoostProj(**self.ARGUMENTS).fit(np.tile(X, (3, 1)), np.tile(y, 3))
        self.same(once, thrice, X)

    def test_features_are_only_compared(self):
        X, y = blobs(3)
        Z = np.exp(X)[:, ::-1]
        plain = RBoostProj(**self.ARGUMENTS).fit(X, y)
        other = RBoostProj(**self.ARGUMENTS).fit(Z, y)
        self.same(plain, other, X, Z)

    def test_what_P_is_divided_by_counts_as_nu(self):
        """With n = 16, P / 4 and nu are P / 16 and nu / 4."""
        X, y = blobs(3)
        one = RBoostProj(**self.ARGUMENTS).fit(X, y)
        other = RBoostProj(**(self.ARGUMENTS | {"scaling": "n", "nu": 5e-4})).fit(X, y)
        self.same(one, other, X)
        np.testing.assert_allclose(one.coefficients_, other.coefficients_, rtol=0.05, atol=0.05)


class TestTheEnd:
    ARGUMENTS: ClassVar = {"data": blobs, "n_iterations": 120, "nu": 0.02}

    @pytest.mark.parametrize("patience", [1, 3, 8, None])
    def test_after_so_many_rounds_in_a_row(self, patience):
        long = fitted(**self.ARGUMENTS).model
        short = fitted(**self.ARGUMENTS, tol=1e-3, patience=patience).model
        assert long.n_iterations_ == 120
        objective = long.objective_
        idle = 0
        for last in range(1, 120):
            change = abs(objective[last - 1] - objective[last]) / abs(objective[last - 1])
            idle = idle + 1 if change < 1e-3 else 0
            if idle == (patience or 20):
                break
        assert short.n_iterations_ == last + 1 < 120
        assert (short.objective_ == objective[: last + 1]).all()

    def test_two_classes_end_and_classes_that_are_learned_go_on(self):
        """What Tables IV and V of the paper ask for; the stop is at its default."""
        X, y = load_breast_cancer(return_X_y=True)
        two = RBoostProj(n_iterations=400, nu=1e-2, random_state=0).fit(X, y)
        assert two.n_iterations_ < 150
        X, y = blobs(10, n_samples=400, n_features=6)
        ten = RBoostProj(n_iterations=150, nu=1e-4, random_state=0).fit(X, y)
        assert ten.n_iterations_ == 150


def test_any_sign_is_refused():
    X, y = blobs(3)
    with pytest.raises(ValueError, match="rule='paper'"):
        RBoostProj(positive=False).fit(X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", LOSSES)
def test_too_heavy_a_norm_leaves_no_coefficient(name):
    f = fitted(loss=name, nu=50.0)
    assert (f.w == 0).all()
    assert (f.model.coefficients_ == 0).all()
    assert np.ptp(f.model.objective_) == 0
