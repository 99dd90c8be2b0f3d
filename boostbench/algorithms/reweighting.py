"""Thinning of a fitted ensemble: sparse new coefficients for its members.

`reweight` solves for the coefficients and returns a `ReweightedEnsemble`. The members of an
ensemble are trees, boosting rounds of LightGBM, or stumps: a class for each kind computes their
scores.
"""

import copy
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from boostbench.algorithms.base.booster import densify
from boostbench.algorithms.base.decision_values import (
    INVERSE_TEMPERATURES,
    decision_values,
    labels_from_scores,
    log_probabilities,
    probabilities,
    rounding_slack,
)
from boostbench.algorithms.base.input_validation import encode_known_labels
from boostbench.algorithms.explanation.explainable import ExplainableMixin
from boostbench.algorithms.explanation.stump_sums import require_no_interactions
from boostbench.core.losses.objective import get_loss
from boostbench.core.losses.restricted_problems import RankingLoss, SumOfLosses, margin_rows
from boostbench.core.solvers.linear_programs import SoftMarginProgram
from boostbench.core.solvers.newton import NonnegativeNewton
from boostbench.util.compat import check_feature_names

# Largest violation of the optimality conditions, a derivative of the mean loss, that Newton's
# method may leave.
_NEWTON_TOLERANCE = 1e-7

# Maximum number of Newton steps. It only stops a solver without progress.
_MAX_NEWTON_STEPS = 500

# Excess over 1 of the edge of a member that does not enter the program. HiGHS satisfies the
# constraints of the members in the program to the same accuracy, its default feasibility tolerance.
_EDGE_TOLERANCE = 1e-7

# Decimals to which votes, divided by the largest one, are rounded: stumps with one feature and
# threshold are multiples of each other if these numbers are equal.
_VOTE_DECIMALS = 12


def reweight(ensemble, X, y, *, nu=1e-3, loss="logistic"):
    r"""Fit new coefficients for all members of a fitted ensemble, most of which become 0.

    The members' scores :math:`h_t(x)`, one for each class, are the columns of the restricted master
    problem of a totally corrective booster:

    .. math:: \min_{w \ge 0} \frac{1}{m (k - 1)} \sum_i \sum_{r \ne y_i} \lambda(\rho_{ir})
              + \nu 1^\top w, \quad
              \rho_{ir} = \sum_t w_t \frac{h_{t y_i}(x_i) - h_{t r}(x_i)}{s_t}

    for m samples and k classes, with the largest absolute difference :math:`s_t` of a member, so
    that `nu` does not depend on the scale of the scores. The result only holds members with a
    positive coefficient. If stumps are positive multiples of each other, only the first can have
    one.

    Parameters
    ----------
    ensemble : estimator
        Fitted classifier: AdaBoostClassifier, RandomForestClassifier or ExtraTreesClassifier of
        scikit-learn, LGBMClassifier of LightGBM, or a sum of stumps of boostbench. Its members are
        trees, whose scores are their probabilities; boosting rounds of LightGBM, with their raw
        scores; or stumps, with their coefficients and without the intercept.
    X : array-like of shape (n_samples, n_features)
        Samples; may be sparse for a sum of stumps. They should not be the training samples of the
        ensemble: on these, all overfitted trees have the same scores.
    y : array-like of shape (n_samples,)
        Labels of the samples.
    nu : float, default=1e-3
        Weight :math:`\nu` of the L1 norm, positive. A larger weight leaves fewer members.
    loss : {"logistic", "hinge"}, default="logistic"
        Loss :math:`\lambda`. The logistic loss is minimised by Newton's method. The hinge loss,
        which makes this LPBoost, is minimised by linear programs and takes longer.

    Returns
    -------
    ReweightedEnsemble

    Raises
    ------
    ValueError
        If the type of the ensemble is not supported, it has pairs of features, a label is not one
        of its classes, or a parameter is out of range.
    RuntimeError
        If a linear program cannot be solved.

    References
    ----------
    .. [1] A. Demiriz, K. P. Bennett and J. Shawe-Taylor, "Linear programming boosting via column
       generation", Machine Learning 46, 2002.
    .. [2] F. Akkerman, J. Ferry, C. Artigues, E. Hebrard and T. Vidal, "Boosting revisited:
       benchmarking and advancing LP-based ensemble methods", TMLR 2025: thinning of ensembles.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X[::3], y[::3])
    >>> thin = reweight(forest, X[1::3], y[1::3], nu=0.01)
    >>> len(thin.members_) < 20
    True
    >>> thin.score(X[2::3], y[2::3]) > 0.93
    True
    """
    # 1) Check the arguments and the samples.
    check_is_fitted(ensemble)
    if not 0 < nu < np.inf:
        raise ValueError(f"nu must be positive, got {nu!r}")
    if loss not in _SOLVERS:
        raise ValueError(f"loss must be one of {sorted(_SOLVERS)}, got {loss!r}")
    members = _make_members(ensemble)
    if isinstance(members, _StumpMembers):
        X, y = members.validate(X, y)
    else:
        # The property of this name in LightGBM has other values: look at instance attributes only.
        if "feature_names_in_" in vars(ensemble):
            check_feature_names(ensemble, X, reset=False)
        X, y = check_X_y(X, y, dtype=np.float64)
    is_own_class = np.eye(len(ensemble.classes_), dtype=bool)[
        encode_known_labels(y, ensemble.classes_)
    ]
    # 2) Compute the margins that each member adds, divided by s_t: a row for each member, and a
    # column for each pair (i, r) with r != y_i. A member whose margins are all 0 keeps them.
    n_pairs = len(y) * (is_own_class.shape[1] - 1)
    indices = members.distinct_indices()
    margins = margin_rows(members.scores(X, indices), len(indices), is_own_class, ~is_own_class)
    scales = np.maximum(margins.max(axis=1), -margins.min(axis=1))
    scales[scales == 0] = 1.0
    margins /= scales[:, None]
    # 3) Solve for the coefficients, and keep the members with a positive one. The solvers minimise
    # the sum over the pairs, which is n_pairs times the objective.
    w, objective = _SOLVERS[loss](margins, nu * n_pairs)
    remaining = np.flatnonzero(w)
    return ReweightedEnsemble(ensemble)._store(
        members,
        indices=indices[remaining],
        w=w[remaining],
        scales=scales[remaining],
        objective=objective / n_pairs,
        loss=loss,
    )


class ReweightedEnsemble(ClassifierMixin, BaseEstimator):
    """Members of an ensemble with new coefficients, created by `reweight`.

    It holds copies of its members, so that the ensemble may be fitted again.

    Parameters
    ----------
    ensemble : estimator
        Argument of `reweight`. Predictions do not use it.

    Attributes
    ----------
    members_ : ndarray of shape (n_members,), dtype=int64
        Indices of the remaining members in the ensemble.
    coefficients_ : ndarray of shape (n_members,)
        Positive factors :math:`w_t / s_t` of the members' scores.
    objective_ : float
        Minimum of the objective.
    classes_ : ndarray of shape (n_classes,)
        Classes of the ensemble.
    n_features_in_ : int
        Number of features.
    """

    def __init__(self, ensemble):
        self.ensemble = ensemble

    def fit(self, X, y):
        """Return self, because `reweight` has fitted the coefficients.

        Raises
        ------
        NotFittedError
            If the estimator is a clone, which has no coefficients.
        """
        check_is_fitted(self)
        return self

    def decision_function(self, X):
        """Return the scores of the classes; see `BoostingClassifier.decision_function`."""
        check_is_fitted(self)
        if isinstance(self._members, _StumpMembers):
            X = self._members.validate(X)
        else:
            if not hasattr(self, "feature_names_in_"):
                X = np.asarray(X)
            X = validate_data(self, X, dtype=np.float64, reset=False)
        total = np.zeros((len(X), len(self.classes_)))
        scores = self._members.scores(X, self.members_)
        for coefficient, member_scores in zip(self.coefficients_, scores, strict=True):
            total += coefficient * member_scores
        return decision_values(total, self._rounding_slack)

    def predict(self, X):
        """Predict the labels; see `BoostingClassifier.predict`."""
        return labels_from_scores(self.decision_function(X), self.classes_)

    def predict_proba(self, X):
        """Estimate the class probabilities; see `BoostingClassifier.predict_proba`."""
        return probabilities(self.decision_function(X), INVERSE_TEMPERATURES[self._loss])

    def predict_log_proba(self, X):
        """Estimate log-probabilities; see `BoostingClassifier.predict_log_proba`."""
        return log_probabilities(self.predict_proba(X))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "members_")

    def _store(self, members, *, indices, w, scales, objective, loss):
        """Store the remaining members, and return self.

        Parameters
        ----------
        members : _TreeMembers, _LightGBMMembers or _StumpMembers
            All members of the ensemble.
        indices : ndarray of shape (n_members,), dtype=int64
            Indices of the remaining members.
        w, scales : ndarray of shape (n_members,)
            Coefficients w, and scales s, of the remaining members.
        objective : float
            Minimum of the objective.
        loss : str
            Argument of `reweight`.
        """
        self._members = members.detach(indices)
        self.members_ = indices
        self.coefficients_ = w / scales
        # Scores divided by their scale differ by at most 1 between classes, so that a member adds w
        # at most.
        self._rounding_slack = rounding_slack(w)
        self.objective_ = objective
        self.classes_ = self.ensemble.classes_
        self.n_features_in_ = self.ensemble.n_features_in_
        # Look at instance attributes only, as `reweight` does.
        if "feature_names_in_" in vars(self.ensemble):
            self.feature_names_in_ = self.ensemble.feature_names_in_
        self._loss = loss
        return self


class _TreeMembers:
    """Members that are classifiers; their scores are probabilities.

    The classes of other members have the same methods: `distinct_indices` returns the members that
    may get a coefficient, `detach` copies the members to keep, and `scores` computes their scores.
    Members are referred to by their indices in the ensemble.
    """

    def __init__(self, ensemble):
        self._trees = dict(enumerate(ensemble.estimators_))
        if not hasattr(self._trees[0], "predict_proba"):
            kind = type(self._trees[0]).__name__
            raise ValueError(f"members must have probabilities, which a {kind} has not")
        self._classes = ensemble.classes_
        # True if a tree may lack classes. A tree of AdaBoost has probabilities for the labels of
        # its training samples only, its `classes_`. A tree of a forest has one for every class.
        self._may_lack_classes = isinstance(ensemble, AdaBoostClassifier)

    def distinct_indices(self):
        """Return the indices of all members."""
        return np.arange(len(self._trees))

    def detach(self, indices):
        """Return an object with copies of the given members, independent of the ensemble."""
        detached = copy.copy(self)
        detached._trees = {index: copy.deepcopy(self._trees[index]) for index in indices}
        return detached

    def scores(self, X, indices):
        """Yield the scores of given members, each of shape (n_samples, n_classes)."""
        for index in indices:
            tree = self._trees[index]
            scores = np.zeros((len(X), len(self._classes)))
            if self._may_lack_classes:
                columns = np.searchsorted(self._classes, tree.classes_)
            else:
                columns = slice(None)
            scores[:, columns] = tree.predict_proba(X)
            yield scores


class _LightGBMMembers:
    """Boosting rounds of LightGBM; their scores are raw scores."""

    def __init__(self, ensemble):
        self._booster = ensemble.booster_

    def distinct_indices(self):
        """Return the indices of all members."""
        return np.arange(self._booster.current_iteration())

    def detach(self, indices):
        """Return a copy of all rounds, since LightGBM cannot copy a part."""
        return copy.deepcopy(self)

    def scores(self, X, indices):
        """Yield the scores of given rounds; see `_TreeMembers.scores`."""
        for index in indices:
            yield _one_column_per_class(
                self._booster.predict(X, start_iteration=index, num_iteration=1, raw_score=True)
            )


class _StumpMembers:
    """Stumps of a booster; their scores are their votes: outputs -1 or +1 times coefficients."""

    def __init__(self, ensemble):
        # A shallow copy is enough: a later fit of the ensemble replaces its attributes, and does
        # not modify the arrays.
        self._ensemble = copy.copy(ensemble)
        self._stump_sum = ensemble.stump_sum()

    def distinct_indices(self):
        """Return the indices of the stumps that are no positive multiples of an earlier stump."""
        # The votes above the threshold identify a stump of a given feature and threshold. The
        # polarity is the output there, and the votes below are the opposite ones.
        stumps = self._stump_sum.stumps
        # A row of `votes` has one vote, or one for each class.
        votes = (self._stump_sum.coefficients.T * stumps.polarity).T.reshape(len(stumps), -1)
        scales = np.abs(votes).max(axis=1, keepdims=True)
        votes = np.round(votes / np.where(scales, scales, 1.0), _VOTE_DECIMALS)
        keys = np.column_stack([stumps.feature, stumps.threshold, votes])
        _, first_indices = np.unique(keys, axis=0, return_index=True)
        return np.sort(first_indices)

    def detach(self, indices):
        """Return self, which is independent of the ensemble."""
        return self

    def validate(self, X, *y):
        """Check samples, and labels if given, by the rules of the ensemble; return X as dense."""
        checked = self._ensemble._validate_input(X, *y, reset=False)
        return (densify(checked[0]), checked[1]) if y else densify(checked)

    def scores(self, X, indices):
        """Yield the scores of given stumps; see `_TreeMembers.scores`."""
        X = self._ensemble._compute_views(X)
        for index in indices:
            outputs = self._stump_sum.stumps.outputs(X, slice(index, index + 1))
            yield _one_column_per_class(outputs * self._stump_sum.coefficients[index])


def _make_members(ensemble):
    """Return the members of an ensemble, as an object of one of the classes above."""
    if isinstance(ensemble, ExplainableMixin) and is_classifier(ensemble):
        require_no_interactions(ensemble)
        return _StumpMembers(ensemble)
    if isinstance(ensemble, AdaBoostClassifier | RandomForestClassifier | ExtraTreesClassifier):
        return _TreeMembers(ensemble)
    if hasattr(ensemble, "booster_") and type(ensemble).__name__ == "LGBMClassifier":
        return _LightGBMMembers(ensemble)
    raise ValueError(f"{type(ensemble).__name__} is no ensemble that can be taken apart")


def _one_column_per_class(scores):
    """Return scores with one column per class; a single score F becomes -F / 2 and F / 2.

    A binary model has one score, the difference of the scores of its second and first class.
    """
    scores = np.reshape(scores, (len(scores), -1))
    return scores / 2 * [-1.0, 1.0] if scores.shape[1] == 1 else scores


def _solve_logistic(margins, penalty):
    """Minimise the sum of the logistic loss over all pairs plus a penalty, by Newton's method.

    Parameters
    ----------
    margins : ndarray of shape (n_members, n_pairs)
        Margins that each member adds.
    penalty : float
        Weight of the L1 norm of w.

    Returns
    -------
    w : ndarray of shape (n_members,)
        Nonnegative coefficients.
    objective : float
        Minimum of the objective.
    """
    problem = RankingLoss(margins, SumOfLosses(get_loss("logistic")))
    tol = _NEWTON_TOLERANCE * margins.shape[1]
    solution = NonnegativeNewton().minimise(
        problem, np.zeros(len(margins)), nu=penalty, tol=tol, max_iter=_MAX_NEWTON_STEPS
    )
    if not solution.converged:
        warnings.warn(
            "Newton's method did not reach the minimum; a larger nu makes it easier",
            ConvergenceWarning,
            # The warning names the line that calls `reweight`.
            stacklevel=3,
        )
    return solution.w, solution.value


def _solve_hinge(margins, penalty):
    """Minimise the sum of the hinge loss plus a penalty, by column generation.

    Parameters and results are the same as for `_solve_logistic`. The program is LPBoost, which
    minimises the L1 norm of w plus C times the sum of the losses: with C = 1 / penalty, this is the
    objective divided by the penalty. The dual variables weight the pairs. A member violates its
    dual constraint if its edge, the weighted sum of its margins, exceeds 1. The member with the
    largest edge is added to the program until no constraint is violated.
    """
    program = SoftMarginProgram(margins.shape[1], max_dual=1.0 / penalty)
    added = []
    while len(added) < len(margins):
        edges = margins @ program.dual
        edges[added] = -np.inf
        if edges.max() <= 1.0 + _EDGE_TOLERANCE:
            break
        best = edges.argmax()
        added.append(best)
        program.add(margins[best])
    w = np.zeros(len(margins))
    w[added] = program.coefficients
    return w, penalty * program.value


# Solver of each loss.
_SOLVERS = {"logistic": _solve_logistic, "hinge": _solve_hinge}
