"""Check the attribute `converged_`, and warnings about training without convergence."""

import warnings
from typing import ClassVar

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from boostbench.algorithms import MultiBoost, RBoostProj, RBoostRankTC

from .problems import blobs, noise


def fit(model, X, y, **validation):
    """Fit without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(X, y, **validation)


class TestMultiBoost:
    def test_sufficient_rounds_converge(self):
        X, y = blobs(3)
        model = fit(MultiBoost(nu=1e-3), X, y)
        assert model.n_iterations_ < 1000
        assert model.converged_ is True
        with pytest.warns(ConvergenceWarning, match="the model is constant"):
            constant = MultiBoost().fit(np.ones((6, 1)), [0, 0, 0, 1, 1, 1])
        assert constant.converged_ is True

    def test_too_few_rounds_do_not_converge(self):
        model = fit(MultiBoost(n_iterations=3, nu=1e-4), *blobs(3))
        assert model.n_iterations_ == 3
        assert model.converged_ is False

    def test_coarse_solver_warns(self):
        # L-BFGS-B stops at slopes larger than nu.
        X, y = blobs(3)
        params = {"nu": 1e-8, "solver_iterations": 100}
        with pytest.warns(ConvergenceWarning, match="try solver='newton', or a larger nu or tol"):
            model = MultiBoost(solver="lbfgs", **params).fit(X, y)
        assert model.converged_ is False
        assert fit(MultiBoost(**params), X, y).converged_ is True

    def test_warm_start_updates_the_convergence(self):
        X, y = blobs(3)
        model = fit(MultiBoost(n_iterations=5, nu=1e-4, warm_start=True), X, y)
        assert fit(model, X, y).converged_ is False
        assert fit(model.set_params(n_iterations=1000, nu=1e-3), X, y).converged_ is True

    def test_early_stopped_training_is_not_converged(self):
        X, y = blobs(3, n_samples=150, spread=3.0)
        params = {"nu": 1e-4, "n_iter_no_change": 3, "random_state": 0}
        model = fit(MultiBoost(**params), X, y)
        assert model.n_iterations_ < len(model.validation_losses_)
        assert model.converged_ is False

    def test_undone_rounds_do_not_warn(self):
        """The solver is too coarse for the last rounds, but early stopping removes them."""
        X, y = blobs(3)
        model = MultiBoost(nu=1e-8, solver="lbfgs", solver_iterations=100, n_iter_no_change=1000)
        fit(model, X, y, X_val=X, y_val=np.roll(y, 1))
        assert 0 < model.n_iterations_ < len(model.validation_losses_) < 1000
        assert model.converged_ is False


class TestRBoostProj:
    @pytest.mark.parametrize("rule", ["pair", "paper"])
    def test_too_few_solver_iterations_warn(self, rule):
        X, y = blobs(3)
        params = {"n_iterations": 6, "nu": 1e-4, "n_projections": 30, "rule": rule}
        params["random_state"] = 0
        with pytest.warns(ConvergenceWarning, match="stopped at solver_iterations=1, .* of 6"):
            model = RBoostProj(solver_iterations=1, **params).fit(X, y)
        assert not model.converged_[-1]
        assert fit(RBoostProj(solver_iterations=1000, **params), X, y).converged_.all()


class TestRBoostRankTC:
    PARAMS: ClassVar = {"n_iterations": 6, "n_projections": 30, "nu": 0.1, "random_state": 0}

    @pytest.mark.parametrize("solver", ["lbfgs", "newton"])
    def test_too_few_solver_iterations_warn(self, solver):
        X, y = noise(3)
        params = {"solver": solver, **self.PARAMS}
        with pytest.warns(ConvergenceWarning, match="solver_iterations=1,.* of 6 rounds"):
            model = RBoostRankTC(solver_iterations=1, **params).fit(X, y)
        assert not model.converged_[-1]
        enough = fit(RBoostRankTC(solver_iterations=1000, **params), X, y)
        assert enough.converged_.shape == (6,)
        assert enough.converged_.all()

    def test_empty_model_has_no_rounds_that_converged(self):
        X, y = noise(3)
        with pytest.warns(ConvergenceWarning, match="the model is constant"):
            model = RBoostRankTC(**self.PARAMS | {"nu": 1e3}).fit(X, y)
        assert model.converged_.shape == (0,)
