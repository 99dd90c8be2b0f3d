import numpy as np
import pytest
from generic import nonnegative

from boostbench.algorithms import RBoostProj

from . import reference
from .problems import blobs, noise

PARAMS = {"n_projections": 30, "random_state": 0}


def objective(w, outputs, codes, y, nu):
    """Return eq. (18) with the logistic loss."""
    scores = (outputs * w[:, None]).T @ codes
    margins = scores[np.arange(len(y)), y][:, None] - scores
    return np.log1p(np.exp(-margins)).mean() + nu * w.sum()


def test_first_round_equals_rboost_proj():
    X, y = noise(3)
    one, other = (
        RBoostProj(n_iterations=1, nu=1e-3, start=start, **PARAMS).fit(X, y)
        for start in ("zero", "previous")
    )
    np.testing.assert_array_equal(one.coefficients_, other.coefficients_)


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
