"""Exact solution of the last restricted problem of a totally corrective ensemble.

The restricted problem is the minimum of loss and penalty over the coefficients of the weak learners
of a model. `final_solve` is for users; a function for each class of models makes its problem.
"""

import copy
import warnings
from collections.abc import Callable
from itertools import islice
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.base.input_validation import (
    combine_weights,
    encode_known_labels,
    normalise_weights,
)
from boostbench.algorithms.multiboost import MultiBoost
from boostbench.algorithms.rboost_proj import RBoostProj
from boostbench.algorithms.rboost_rank import RBoostRankTC
from boostbench.core.losses.objective import get_loss
from boostbench.core.losses.restricted_problems import (
    PairwiseLoss,
    RankingLoss,
    SumOfLosses,
    margin_rows,
)
from boostbench.core.solvers.newton import NonnegativeNewton


def final_solve(model, X, y, *, sample_weight=None, tol=1e-2, max_iter=1000):
    r"""Solve the restricted problem of a fitted model to a tolerance.

    RandomBoost's solver stops after 100 iterations, or when the slopes are below 1e-5. If it stops
    too early, which `converged_` and a `ConvergenceWarning` report, this function continues by
    Newton's method. It solves the model's problem over its weak learners, and adds none.

    Parameters
    ----------
    model : MultiBoost, RBoostProj or RBoostRankTC
        Fitted model; it is not changed.
    X : array-like of shape (n_samples, n_features)
        Training samples of the model, without the samples held out for early stopping.
    y : array-like of shape (n_samples,)
        Labels of the samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights of the training; None: all are 1.
    tol : float, default=1e-2
        Tolerance relative to `nu`: maximum violation of the dual constraints, and maximum deviation
        from equality of the constraints of positive coefficients.
    max_iter : int, default=1000
        Maximum number of Newton steps.

    Returns
    -------
    estimator
        Copy of the model with `coefficients_` at the minimum. The last entries of `objective_`,
        `weight_path_` and (if it is an array) `converged_` are updated, and `dual_` if the model
        has it. A model without rounds is returned as an unchanged copy.

    Raises
    ------
    ValueError
        If the type of the model is not supported, its problem is solved otherwise or has no
        minimum, weights are given to a model without weights, a label is not one of its classes,
        or a parameter is out of range.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If `max_iter` steps are too few, or rounding errors prevent convergence: with a small `nu`
        and separable classes, the minimum is far away.

    Notes
    -----
    A solver that stops early regularises, so the minimum may have a larger test error. Models with
    ``start="zero"`` rely on this regularisation, which this function removes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from boostbench import RBoostProj
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RBoostProj(n_iterations=10, nu=1e-5, random_state=0).fit(X, y)
    >>> solved = final_solve(model, X, y)
    >>> bool(solved.objective_[-1] <= model.objective_[-1])
    True
    """
    # 1) Check the arguments.
    make_problem = next(
        (factory for kind, factory in _PROBLEMS.items() if isinstance(model, kind)), None
    )
    if make_problem is None:
        names = ", ".join(kind.__name__ for kind in _PROBLEMS)
        raise ValueError(f"{type(model).__name__} has no problem to solve; supported are {names}")
    check_is_fitted(model)
    if not tol > 0:
        raise ValueError(f"tol must be positive, got {tol!r}")
    if not (isinstance(max_iter, Integral) and max_iter > 0):
        raise ValueError(f"max_iter must be a positive whole number, got {max_iter!r}")
    if not model._fit_param("nu") > 0:
        raise ValueError("nu is 0, so that the problem need not have a minimum")
    X, y = model._validate_input(X, y, reset=False)
    X, y, weights = combine_weights(X, y, sample_weight, model._fit_param("class_weight"))
    if not model.n_iterations_:
        return copy.copy(model)
    # 2) Solve the problem over the weak learners.
    is_own_class = encode_known_labels(y, model.classes_) == np.arange(len(model.classes_))[:, None]
    problem = make_problem(model, model._compute_views(X), is_own_class, normalise_weights(weights))
    nu = model._fit_param("nu") * problem.size
    solution = NonnegativeNewton().minimise(
        problem.smooth, problem.start, nu=nu, tol=tol * nu, max_iter=max_iter
    )
    if not solution.converged:
        warnings.warn(
            f"the slopes are {solution.residual / nu:.2g} times nu after {max_iter} Newton steps "
            f"at most, more than tol={tol:g}: a larger nu makes it easier",
            ConvergenceWarning,
            stacklevel=2,
        )
    # 3) Store the coefficients in a copy, replace the last entries of its histories, and compute
    # the sizes of its terms, which explanations show, from the new coefficients.
    solved = copy.copy(model)
    problem.store(solved, solution.w)
    last_coefficients = sparse.csr_array(solution.w.T.reshape(1, -1))
    solved.weight_path_ = sparse.vstack([model.weight_path_[:-1], last_coefficients], format="csr")
    solved.objective_ = np.append(model.objective_[:-1], solution.value / problem.size)
    if np.ndim(model.converged_):
        solved.converged_ = np.append(model.converged_[:-1], solution.converged)
    solved._store_term_sizes(X, weights)
    return solved


class _RestrictedProblem(NamedTuple):
    """Restricted problem over the weak learners of a model.

    Attributes
    ----------
    smooth : boostbench.core.solvers.newton.Problem
        Sum of the losses.
    start : ndarray
        Current coefficients of the model.
    size : int
        Divisor of the sum in the model's objective.
    store : callable
        ``store(model, w)`` sets the coefficients w, at which `smooth` was evaluated last.
    """

    smooth: object
    start: np.ndarray
    size: int
    store: Callable


def _multiboost_problem(model, X, is_own_class, weights):
    """Return the problem of a `MultiBoost`.

    Parameters
    ----------
    model : MultiBoost
    X : ndarray of shape (n_samples, n_views)
        Training samples, as views.
    is_own_class : ndarray of shape (n_classes, n_samples), dtype=bool
        Mask of the class of each sample.
    weights : ndarray of shape (n_samples,) or None
        Sample weights of mean 1; None: all are 1.

    Returns
    -------
    _RestrictedProblem
    """
    if model._fit_param("loss") == "hinge":
        raise ValueError("loss='hinge' is a linear program, whose solution is exact already")
    H = np.ascontiguousarray(model.hypotheses_.outputs(X).T)
    smooth = PairwiseLoss(H, is_own_class, get_loss(model._fit_param("loss"), weights))

    def store(solved, W):
        solved.coefficients_ = np.ascontiguousarray(W.T)
        solved.dual_ = np.ascontiguousarray(smooth.dual.T)

    start = np.ascontiguousarray(model.coefficients_.T)
    return _RestrictedProblem(smooth, start, is_own_class.size, store)


def _rboost_proj_problem(model, X, is_own_class, weights):
    """Return the problem of an `RBoostProj`; see `_multiboost_problem`.

    A row of A holds the margins that one coefficient adds: the coefficient of a pair, whose code is
    a row of `pair_codes`, of shape (n_learners, n_classes), or the coefficient of a row of P, of
    shape (n_projections, n_learners, n_classes).
    """
    if not model._fit_param("positive"):
        raise ValueError("final_solve needs positive=True, and the model has positive=False")
    outputs = model.hypotheses_.outputs(X)
    if model._fit_param("rule") == "pair":
        pair_codes = model._pair_codes
        scores = (np.outer(h, code) for h, code in zip(outputs.T, pair_codes, strict=True))
    else:
        # A row of P holds one coefficient of the code of every weak learner.
        P = np.stack(list(islice(model.projection_columns(), model.n_iterations_)), axis=1)
        scores = (outputs @ codes for codes in P)
    start = model.weight_path_[[-1]].toarray()[0]
    # The mean includes the pairs of a sample and its own class, whose margin is 0.
    A = margin_rows(scores, len(start), is_own_class.T, np.ones_like(is_own_class.T))
    if weights is not None:
        weights = np.repeat(weights, len(is_own_class))
    smooth = RankingLoss(A, SumOfLosses(get_loss(model._fit_param("loss"), weights)))

    def store(solved, w):
        if model._fit_param("rule") == "pair":
            solved.coefficients_ = w[:, None] * pair_codes
        else:
            solved.coefficients_ = np.tensordot(w, P, axes=1)

    return _RestrictedProblem(smooth, start, is_own_class.size, store)


def _rboost_rank_problem(model, X, is_own_class, weights):
    """Return the problem of an `RBoostRankTC`; see `_multiboost_problem`."""
    if model._fit_param("loss") == "exponential":
        raise ValueError(
            "loss='exponential' is eq. (2), which has no minimum where the weak learners separate "
            "the classes; loss='exponential_sum' has one"
        )
    if weights is not None:
        raise ValueError("RBoostRankTC takes no weights of samples: sample_weight must be None")
    is_own_class = is_own_class.T
    outputs = model.hypotheses_.outputs(X)
    A = margin_rows(np.moveaxis(outputs, -1, 0), outputs.shape[-1], is_own_class, ~is_own_class)
    smooth = RankingLoss(A, SumOfLosses(get_loss(model._fit_param("loss").removesuffix("_sum"))))

    def store(solved, w):
        solved.coefficients_ = w
        solved.dual_ = np.zeros(is_own_class.shape)
        solved.dual_[~is_own_class] = smooth.dual

    return _RestrictedProblem(smooth, model.coefficients_, 1, store)


# Function that makes the problem of each class of models.
_PROBLEMS = {
    MultiBoost: _multiboost_problem,
    RBoostProj: _rboost_proj_problem,
    RBoostRankTC: _rboost_rank_problem,
}
