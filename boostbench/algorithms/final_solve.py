"""Taking the coefficients of a totally corrective ensemble to the minimum of its own problem."""

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

from boostbench.algorithms.base.labels import encode_known_labels
from boostbench.algorithms.base.weights import combine_weights, normalise_weights
from boostbench.algorithms.multiboost import MultiBoost
from boostbench.algorithms.rboost_proj import RBoostProj
from boostbench.algorithms.rboost_rank import RBoostRankTC
from boostbench.core.losses.margin import get_loss
from boostbench.core.losses.pairwise import PairwiseLoss
from boostbench.core.losses.ranking import RankingLoss, SumOfLosses, margin_rows
from boostbench.core.solvers.newton import NonnegativeNewton


def final_solve(model, X, y, *, sample_weight=None, tol=1e-2, max_iter=1000):
    r"""Find the coefficients of all weak learners of a fitted model anew, to a tolerance.

    RandomBoost's solver ends after 100 iterations, or where slopes are below 1e-5. Where that was
    too early, of which `converged_` and a `ConvergenceWarning` tell, this goes on from there by
    Newton's method. The problem is the model's own, over the weak learners that it has; none are
    added.

    Parameters
    ----------
    model : MultiBoost, RBoostProj or RBoostRankTC
        Fitted. It is left as it is.
    X : array-like of shape (n_samples, n_features)
        The samples that it was trained on, without those held out for early stopping.
    y : array-like of shape (n_samples,)
        Their labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights, if it was trained with weights.
    tol : float, default=1e-2
        How much the constraints of the dual problem may be violated, and those of positive
        coefficients miss equality, as a part of `nu`.
    max_iter : int, default=1000
        Newton steps at most.

    Returns
    -------
    estimator
        A copy of the model with `coefficients_` at the minimum. The last entries of `objective_`
        and `weight_path_`, and of `converged_` where that tells of every round, are of them, and
        `dual_` is, if the model has it. A model without a round is as it was.

    Raises
    ------
    ValueError
        If the model is none of these, its problem has another solver or no minimum, there are
        weights where it takes none, a label is none of its classes, or a parameter is out of range.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If `max_iter` steps were too few, or rounding hides the minimum: a small `nu` leaves it far
        away where the weak learners separate the classes.

    Notes
    -----
    A solver that stops early regularises: the minimum may err more. With
    ``start="zero"`` stopping is the point, and this undoes it.

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
    make_problem = next((of for kind, of in _PROBLEMS.items() if isinstance(model, kind)), None)
    if make_problem is None:
        names = ", ".join(kind.__name__ for kind in _PROBLEMS)
        raise ValueError(f"{type(model).__name__} has no problem to solve; these have: {names}")
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
    is_own = encode_known_labels(y, model.classes_) == np.arange(len(model.classes_))[:, None]
    problem = make_problem(model, model._to_views(X), is_own, normalise_weights(weights))
    nu = model._fit_param("nu") * problem.size
    solution = NonnegativeNewton().minimise(problem.smooth, problem.start, nu, tol * nu, max_iter)
    if not solution.converged:
        warnings.warn(
            f"the slopes are {solution.residual / nu:.2g} times nu after {max_iter} Newton steps "
            f"at most, more than tol={tol:g}: a larger nu makes it easier",
            ConvergenceWarning,
            stacklevel=2,
        )
    solved = copy.copy(model)
    problem.store(solved, solution.w)
    last = sparse.csr_array(solution.w.T.reshape(1, -1))
    solved.weight_path_ = sparse.vstack([model.weight_path_[:-1], last], format="csr")
    solved.objective_ = np.append(model.objective_[:-1], solution.value / problem.size)
    if np.ndim(model.converged_):
        solved.converged_ = np.append(model.converged_[:-1], solution.converged)
    solved._store_term_sizes(X, weights)
    return solved


class _RestrictedProblem(NamedTuple):
    """The problem over the weak learners of a model.

    Attributes
    ----------
    smooth : boostbench.core.solvers.newton.Problem
        The sum of the losses.
    start : ndarray
        The coefficients that the model has.
    size : int
        What the model divides the sum by.
    store : callable
        ``keep(model, w)`` gives a model the coefficients w, at which `smooth` is.
    """

    smooth: object
    start: np.ndarray
    size: int
    store: Callable


def _multiboost_problem(model, X, is_own, weights):
    if model._fit_param("loss") == "hinge":
        raise ValueError("loss='hinge' is a linear program, whose solution is exact already")
    H = np.ascontiguousarray(model.hypotheses_.outputs(X).T)
    smooth = PairwiseLoss(H, is_own, get_loss(model._fit_param("loss"), weights))

    def store(solved, W):
        solved.coefficients_ = np.ascontiguousarray(W.T)
        solved.dual_ = np.ascontiguousarray(smooth.dual.T)

    start = np.ascontiguousarray(model.coefficients_.T)
    return _RestrictedProblem(smooth, start, is_own.size, store)


def _rboost_proj_problem(model, X, is_own, weights):
    if not model._fit_param("positive"):
        raise ValueError("positive=False has coefficients of any sign: this is for positive=True")
    outputs = model.hypotheses_.outputs(X)
    if model._fit_param("rule") == "pair":
        codes = model._pair_codes
        scores = (np.outer(h, code) for h, code in zip(outputs.T, codes, strict=True))
    else:
        # A row of P is a code for all weak learners.
        codes = np.stack(list(islice(model.projection_columns(), model.n_iterations_)), axis=1)
        scores = (outputs @ row_codes for row_codes in codes)
    start = model.weight_path_[[-1]].toarray()[0]
    # The mean is over the pairs of a sample and its own class too, whose margin is 0.
    A = margin_rows(scores, len(start), is_own.T, np.ones_like(is_own.T))
    if weights is not None:
        weights = np.repeat(weights, len(is_own))
    smooth = RankingLoss(A, SumOfLosses(get_loss(model._fit_param("loss"), weights)))

    def store(solved, w):
        if model._fit_param("rule") == "pair":
            solved.coefficients_ = w[:, None] * codes
        else:
            solved.coefficients_ = np.tensordot(w, codes, axes=1)

    return _RestrictedProblem(smooth, start, is_own.size, store)


def _rboost_rank_problem(model, X, is_own, weights):
    if model._fit_param("loss") == "exponential":
        raise ValueError(
            "loss='exponential' is eq. (2), which has no minimum where the weak learners separate "
            "the classes; loss='exponential_sum' has one"
        )
    if weights is not None:
        raise ValueError("RBoostRankTC takes no weights of samples: sample_weight must be None")
    is_own = is_own.T
    outputs = model.hypotheses_.outputs(X)
    A = margin_rows(np.moveaxis(outputs, -1, 0), outputs.shape[-1], is_own, ~is_own)
    smooth = RankingLoss(A, SumOfLosses(get_loss(model._fit_param("loss").removesuffix("_sum"))))

    def store(solved, w):
        solved.coefficients_ = w
        solved.dual_ = np.zeros(is_own.shape)
        solved.dual_[~is_own] = smooth.dual

    return _RestrictedProblem(smooth, model.coefficients_, 1, store)


_PROBLEMS = {
    MultiBoost: _multiboost_problem,
    RBoostProj: _rboost_proj_problem,
    RBoostRankTC: _rboost_rank_problem,
}
