"""Thinning a fitted ensemble: new coefficients for its members, most of them 0."""

import copy
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from boostbench.algorithms.base.booster import to_dense
from boostbench.algorithms.base.decisions import decision_values, labels_from_scores, rounding_slack
from boostbench.algorithms.base.labels import encode_known_labels
from boostbench.algorithms.base.probabilities import (
    INVERSE_TEMPERATURES,
    log_probabilities,
    probabilities,
)
from boostbench.algorithms.explanation.explainable import ExplainableMixin
from boostbench.algorithms.explanation.stump_sums import require_no_interactions
from boostbench.core.losses.margin import get_loss
from boostbench.core.losses.ranking import RankingLoss, SumOfLosses, margin_rows
from boostbench.core.solvers.newton import NonnegativeNewton
from boostbench.core.solvers.soft_margin import SoftMarginProgram
from boostbench.util.compat.sklearn import check_feature_names

# Newton's method: slopes of the mean loss that are as good as 0, and steps at most.
_NEWTON_TOLERANCE = 1e-7
_MAX_NEWTON_STEPS = 500
# Column generation: how far above 1 an edge may be that HiGHS takes for 1.
_EDGE_TOLERANCE = 1e-7
# Votes that are equal in so many digits are one direction.
_VOTE_DIGITS = 12


def reweight(ensemble, X, y, *, nu=1e-3, loss="logistic"):
    r"""Find coefficients for the members of a fitted ensemble, all of them at once.

    The members' scores :math:`h_t(x)`, one for each class, are the columns of a restricted master
    problem, to which a totally corrective booster adds no more:

    .. math:: \min_{w \ge 0} \frac{1}{m (k - 1)} \sum_i \sum_{r \ne y_i} \lambda(\rho_{ir})
              + \nu 1^\top w, \quad
              \rho_{ir} = \sum_t w_t \frac{h_{t y_i}(x_i) - h_{t r}(x_i)}{s_t}

    with :math:`s_t` the largest size of these differences, so that `nu` means the same for small
    and large scores. Members without a coefficient are left out of what is returned; of stumps that
    are equal but for a factor, the first alone can have one.

    Parameters
    ----------
    ensemble : estimator
        A fitted classifier: AdaBoostClassifier, RandomForestClassifier or ExtraTreesClassifier of
        scikit-learn, LGBMClassifier of LightGBM, or a sum of stumps of boostbench. Its members are
        trees, whose scores are their probabilities; boosting rounds of LightGBM, with their raw
        scores; or stumps, with their coefficients and without the intercept.
    X : array-like of shape (n_samples, n_features)
        Samples, sparse where a sum of stumps takes that; best those that the ensemble was not
        fitted on: trees that have learnt their samples by heart are all alike on these.
    y : array-like of shape (n_samples,)
        Their labels.
    nu : float, default=1e-3
        :math:`\nu`, weight of the L1 norm, positive: the larger, the fewer members stay.
    loss : {"logistic", "hinge"}, default="logistic"
        :math:`\lambda`. The logistic loss is minimised by Newton's method; the hinge loss, which
        makes this LPBoost, by linear programs, and takes longer.

    Returns
    -------
    ReweightedEnsemble

    Raises
    ------
    ValueError
        If there is no way to tell the ensemble's members apart, it has pairs of features, a label
        is none of its classes, or a parameter is out of range.
    RuntimeError
        If a linear program is not solved.

    References
    ----------
    .. [1] A. Demiriz, K. P. Bennett and J. Shawe-Taylor, "Linear programming boosting via column
       generation", Machine Learning 46, 2002.
    .. [2] F. Akkerman, J. Ferry, C. Artigues, E. Hebrard and T. Vidal, "Boosting revisited:
       benchmarking and advancing LP-based ensemble methods", TMLR 2025, who thin ensembles so.

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
    check_is_fitted(ensemble)
    if not 0 < nu < np.inf:
        raise ValueError(f"nu must be positive, got {nu!r}")
    if loss not in _SOLVERS:
        raise ValueError(f"loss must be one of {sorted(_SOLVERS)}, got {loss!r}")
    members = _make_members(ensemble)
    if isinstance(members, _StumpMembers):
        X, y = members.validate(X, y)
    else:
        if "feature_names_in_" in vars(ensemble):
            check_feature_names(ensemble, X, reset=False)
        X, y = check_X_y(X, y, dtype=np.float64)
    is_own = np.eye(len(ensemble.classes_), dtype=bool)[encode_known_labels(y, ensemble.classes_)]
    n_pairs = len(y) * (is_own.shape[1] - 1)
    indices = members.distinct_members()
    A = margin_rows(members.scores(X, indices), len(indices), is_own, ~is_own)
    sizes = np.maximum(A.max(axis=1), -A.min(axis=1))
    sizes[sizes == 0] = 1.0
    A /= sizes[:, None]
    w, value = _SOLVERS[loss](A, nu * n_pairs)
    used = np.flatnonzero(w)
    return ReweightedEnsemble(ensemble)._store(
        members, indices[used], w[used], sizes[used], value / n_pairs, loss
    )


class ReweightedEnsemble(ClassifierMixin, BaseEstimator):
    """Members of an ensemble with new coefficients; made by `reweight`.

    It holds copies of its members, so that the ensemble may be fitted again.

    Parameters
    ----------
    ensemble : estimator
        The ensemble that `reweight` was called with. Predictions do not use it.

    Attributes
    ----------
    indices : ndarray of shape (n_members,), dtype=int64
        Which of the ensemble's members stay.
    coefficients_ : ndarray of shape (n_members,)
        :math:`w_t / s_t`, what the members' scores are multiplied with; positive.
    objective_ : float
        The minimum.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    """

    def __init__(self, ensemble):
        self.ensemble = ensemble

    def fit(self, X, y):
        """Change nothing: `reweight` found the coefficients. A clone, without any, is refused."""
        check_is_fitted(self)
        return self

    def decision_function(self, X):
        """Score the classes; as `BoostingClassifier.decision_function`."""
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
        return decision_values(total, self._slack)

    def predict(self, X):
        """Predict the labels; as `BoostingClassifier.predict`."""
        return labels_from_scores(self.decision_function(X), self.classes_)

    def predict_proba(self, X):
        """Estimate the probabilities of the classes; as `BoostingClassifier.predict_proba`."""
        return probabilities(self.decision_function(X), INVERSE_TEMPERATURES[self._loss])

    def predict_log_proba(self, X):
        """Estimate the logarithms; as `BoostingClassifier.predict_log_proba`."""
        return log_probabilities(self.predict_proba(X))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "members_")

    def _store(self, members, indices, weights, sizes, objective, loss):
        self._members = members.detach(indices)
        self.members_ = indices
        self.coefficients_ = weights / sizes
        self._slack = rounding_slack(weights)
        self.objective_ = objective
        self.classes_ = self.ensemble.classes_
        self.n_features_in_ = self.ensemble.n_features_in_
        # LightGBM has a property of this name, which does not give the names that it was given.
        if "feature_names_in_" in vars(self.ensemble):
            self.feature_names_in_ = self.ensemble.feature_names_in_
        self._loss = loss
        return self


class _TreeMembers:
    """Members that are classifiers, with their probabilities."""

    def __init__(self, ensemble):
        self._trees = dict(enumerate(ensemble.estimators_))
        if not hasattr(self._trees[0], "predict_proba"):
            kind = type(self._trees[0]).__name__
            raise ValueError(f"members must have probabilities, which a {kind} has not")
        self._classes = ensemble.classes_
        # Those of a forest know the numbers of the classes only, and all of them.
        self._members_have_labels = isinstance(ensemble, AdaBoostClassifier)

    def distinct_members(self):
        return np.arange(len(self._trees))

    def detach(self, indices):
        """Return copies of the members with these numbers, which the ensemble does not share."""
        detached = copy.copy(self)
        detached._trees = {index: copy.deepcopy(self._trees[index]) for index in indices}
        return detached

    def scores(self, X, indices):
        for index in indices:
            tree = self._trees[index]
            scores = np.zeros((len(X), len(self._classes)))
            columns = (
                np.searchsorted(self._classes, tree.classes_) if self._members_have_labels else ...
            )
            scores[:, columns] = tree.predict_proba(X)
            yield scores


class _LightGBMMembers:
    """Boosting rounds of LightGBM, with their raw scores."""

    def __init__(self, ensemble):
        self._booster = ensemble.booster_

    def distinct_members(self):
        return np.arange(self._booster.current_iteration())

    def detach(self, indices):
        """As of `_TreeMembers`; LightGBM copies all rounds."""
        return copy.deepcopy(self)

    def scores(self, X, indices):
        for index in indices:
            yield _class_columns(
                self._booster.predict(X, start_iteration=index, num_iteration=1, raw_score=True)
            )


class _StumpMembers:
    """Stumps, with their votes."""

    def __init__(self, ensemble):
        # A fit of the ensemble replaces its attributes and leaves those of a shallow copy.
        self._ensemble = copy.copy(ensemble)
        self._sum = ensemble.stump_sum()

    def distinct_members(self):
        stumps = self._sum.stumps
        votes = (self._sum.coefficients.T * stumps.polarity).T.reshape(len(stumps), -1)
        sizes = np.abs(votes).max(axis=1, keepdims=True)
        votes = np.round(votes / np.where(sizes, sizes, 1.0), _VOTE_DIGITS)
        members = np.column_stack([stumps.feature, stumps.threshold, votes])
        return np.sort(np.unique(members, axis=0, return_index=True)[1])

    def detach(self, indices):
        """As of `_TreeMembers`; all stumps are there already."""
        return self

    def validate(self, X, *y):
        """Check samples as the ensemble does, which may take tables or a sparse X."""
        checked = self._ensemble._validate_input(X, *y, reset=False)
        return (to_dense(checked[0]), checked[1]) if y else to_dense(checked)

    def scores(self, X, indices):
        X = self._ensemble._to_views(X)
        for index in indices:
            outputs = self._sum.stumps.outputs(X, slice(index, index + 1))
            yield _class_columns(outputs * self._sum.coefficients[index])


def _make_members(ensemble):
    """Take an ensemble apart: which of its members are different, and scores of some."""
    if isinstance(ensemble, ExplainableMixin) and is_classifier(ensemble):
        require_no_interactions(ensemble)
        return _StumpMembers(ensemble)
    if isinstance(ensemble, AdaBoostClassifier | RandomForestClassifier | ExtraTreesClassifier):
        return _TreeMembers(ensemble)
    if hasattr(ensemble, "booster_") and type(ensemble).__name__ == "LGBMClassifier":
        return _LightGBMMembers(ensemble)
    raise ValueError(f"{type(ensemble).__name__} is no ensemble that can be taken apart")


def _class_columns(scores):
    """Give both classes a column, where there is one number for the second."""
    scores = np.reshape(scores, (len(scores), -1))
    return scores / 2 * [-1.0, 1.0] if scores.shape[1] == 1 else scores


def _solve_logistic(A, nu):
    problem = RankingLoss(A, SumOfLosses(get_loss("logistic")))
    tol = _NEWTON_TOLERANCE * A.shape[1]
    solution = NonnegativeNewton().minimise(problem, np.zeros(len(A)), nu, tol, _MAX_NEWTON_STEPS)
    if not solution.converged:
        warnings.warn(
            "Newton's method did not come to the minimum; a larger nu makes it easier",
            ConvergenceWarning,
            stacklevel=3,
        )
    return solution.w, solution.value


def _solve_hinge(A, nu):
    program = SoftMarginProgram(A.shape[1], 1.0 / nu)
    added = []
    while len(added) < len(A):
        edges = A @ program.dual
        edges[added] = -np.inf
        if edges.max() <= 1.0 + _EDGE_TOLERANCE:
            break
        added.append(edges.argmax())
        program.add(A[added[-1]])
    w = np.zeros(len(A))
    w[added] = program.coefficients
    return w, nu * program.value


_SOLVERS = {"logistic": _solve_logistic, "hinge": _solve_hinge}
