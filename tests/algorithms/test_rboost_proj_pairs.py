"""Test RBoostProj(rule="pair"): a coefficient per pair of a weak learner and a row of P."""

import functools
import itertools
import math
from typing import ClassVar

import numpy as np
import pytest
from generic import nonnegative
from sklearn.datasets import load_breast_cancer

from boostbench.algorithms import RBoostProj

from . import reference
from .problems import blobs, noise
from .projected_outputs import PairCoefficients, fit

LOSSES = ["logistic", "exponential"]
# Absolute error of searches and products, which are in single precision.
PRECISION = 1e-5


fitted = functools.partial(fit, PairCoefficients)


@pytest.mark.parametrize("projection", ["gaussian", "sign", "sparse"])
@pytest.mark.parametrize("scaling", ["sqrt_n", "n"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", LOSSES)
def test_scores_and_objective_equal_the_definition(name, n_classes, scaling, projection):
    """Both are computed after every round from the matrices P and the selected rows."""
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


class TestTwoClasses:
    """Tests of two classes, whose codes are numbers d: pairs are stumps with penalty nu / |d|."""

    @pytest.mark.parametrize("seed", range(4))
    def test_row_of_the_largest_difference_is_selected(self, seed):
        f = fitted(seed, 2, n_iterations=10)
        for t, v in enumerate(f.model.rows_):
            differences = np.abs(f.P[t, :, 1] - f.P[t, :, 0])
            assert v == differences.argmax()

    @pytest.mark.parametrize("seed", range(4))
    def test_two_classes_equal_boosting_of_the_logistic_loss(self, seed):
        """The margin of a sample is y_i sum_t a_t h_t(x_i), with a_t = |d_t| w_t."""
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

        optimum = nonnegative(total, np.zeros(10), jac=True)
        assert f.model.objective_[-1] == pytest.approx(optimum.fun, rel=1e-5)
        assert total(sizes * f.w[-1])[0] == pytest.approx(optimum.fun, rel=1e-5)


class TestInvariance:
    ARGUMENTS: ClassVar = {
        "n_iterations": 15,
        "n_projections": 16,
        "nu": 2e-3,
        "tol": 0,
        "random_state": 0,
    }

    def assert_equal_models(self, first, second, X, Z=None):
        np.testing.assert_allclose(first.objective_, second.objective_, rtol=1e-4)
        assert (first.rows_ == second.rows_).all()
        assert (first.predict(X) == second.predict(X if Z is None else Z)).all()

    def test_repeated_samples_do_not_change_the_model(self):
        """The objective is a mean over samples."""
        X, y = blobs(3)
        once = RBoostProj(**self.ARGUMENTS).fit(X, y)
        thrice = RBoostProj(**self.ARGUMENTS).fit(np.tile(X, (3, 1)), np.tile(y, 3))
        self.assert_equal_models(once, thrice, X)

    def test_factor_of_projections_equals_factor_of_nu(self):
        """P / 4 with nu equals P / 16 with nu / 4, for n = 16."""
        X, y = blobs(3)
        one = RBoostProj(**self.ARGUMENTS).fit(X, y)
        other = RBoostProj(**(self.ARGUMENTS | {"scaling": "n", "nu": 5e-4})).fit(X, y)
        self.assert_equal_models(one, other, X)
        np.testing.assert_allclose(one.coefficients_, other.coefficients_, rtol=0.05, atol=0.05)


class TestStoppingRule:
    ARGUMENTS: ClassVar = {"data": blobs, "n_iterations": 120, "nu": 0.02}

    @pytest.mark.parametrize("patience", [1, 3, 8, None])
    def test_training_ends_after_patience_rounds_in_a_row(self, patience):
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

    def test_training_ends_for_two_classes_and_continues_for_more(self):
        """Fit with the settings of Tables IV and V of the paper and the default stopping rule."""
        X, y = load_breast_cancer(return_X_y=True)
        two = RBoostProj(n_iterations=400, nu=1e-2, random_state=0).fit(X, y)
        assert two.n_iterations_ < 150
        X, y = blobs(10, n_samples=400, n_features=6)
        ten = RBoostProj(n_iterations=150, nu=1e-4, random_state=0).fit(X, y)
        assert ten.n_iterations_ == 150


def test_signed_coefficients_raise():
    X, y = blobs(3)
    with pytest.raises(ValueError, match="rule='paper'"):
        RBoostProj(positive=False).fit(X, y)


PARAMS = {"n_projections": 30, "random_state": 0}


def objective(w, outputs, codes, y, nu):
    """Return eq. (18) with the logistic loss."""
    scores = (outputs * w[:, None]).T @ codes
    margins = scores[np.arange(len(y)), y][:, None] - scores
    return np.log1p(np.exp(-margins)).mean() + nu * w.sum()


def test_first_round_equals_rboost_proj():
    X, y = noise(3)
    first, second = (
        RBoostProj(n_iterations=1, nu=1e-3, start=start, **PARAMS).fit(X, y)
        for start in ("zero", "previous")
    )
    np.testing.assert_array_equal(first.coefficients_, second.coefficients_)


def test_rounds_with_large_nu_equal_the_literal_problem():
    """A solver that reaches the minimum does not depend on its starting point."""
    X, y = noise(3, n_samples=30, seed=1)
    model = RBoostProj(n_iterations=5, nu=5e-3, tol=0, start="zero", **PARAMS).fit(X, y)
    assert model.converged_.all()
    H = np.array(reference.stage_outputs(model, X))
    columns = model.projection_columns()
    codes = np.array([next(columns)[row] for row in model.rows_])
    for t in range(1, 6):
        arguments = H[:t], codes[:t], y, model.nu
        w = model.weight_path_[[t - 1], :t].toarray().ravel()
        assert model.objective_[t - 1] == pytest.approx(objective(w, *arguments), rel=1e-6)
        best = nonnegative(objective, np.full(t, 0.1), arguments)
        assert model.objective_[t - 1] == pytest.approx(best.fun, rel=1e-5)


def test_start_from_zero_continues_after_convergence():
    X, y = blobs(4, n_samples=20, spread=0.7)
    params = {"n_iterations": 200, "nu": 1e-6, **PARAMS}
    before, zero = (
        RBoostProj(start=start, tol=tol, **params).fit(X, y)
        for start, tol in (("previous", 1e-5), ("zero", 0))
    )
    assert before.n_iterations_ < 200 == zero.n_iterations_
    used = [np.count_nonzero(model.coefficients_.any(axis=1)) for model in (before, zero)]
    assert used[0] < 50
    assert used[1] > 150


@pytest.mark.parametrize("rule", ["paper", "greedy"])
def test_rows_from_zero_raise(rule):
    with pytest.raises(ValueError, match=f"for rule='pair', not for rule='{rule}'"):
        RBoostProj(n_iterations=3, rule=rule, start="zero", **PARAMS).fit(*noise(3))
