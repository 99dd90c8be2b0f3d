"""Sums of stumps with a coefficient for every class: their base, and their additive form."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, check_is_fitted

from boostbench.algorithms.base import ColumnGenerationClassifier, Master, spans
from boostbench.core.weak.additive import AdditiveTables
from boostbench.core.weak.stumps import Stumps

# An edge this near to 1 is a perfect weak learner: its coefficient would be infinite.
PERFECT = 1.0 - 1e-10

# An edge this near to 0 is a rounding error of the search, which adds up in single precision.
NO_EDGE = np.finfo(np.float32).eps


class StageWiseStumps(ColumnGenerationClassifier):
    """Classifiers of the form ``F(x) = sum_t h_t(x) W[t]`` with stumps and vote vectors."""

    _parameter_constraints: ClassVar = {
        **ColumnGenerationClassifier._parameter_constraints,
        "max_bins": [None, Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, n_iterations=1000, max_bins=None, random_state=None):
        self.n_iterations = n_iterations
        self.max_bins = max_bins
        self.random_state = random_state

    def _keep(self, master):
        self.hypotheses_ = Stumps(master.stumps)
        self.coefficients_ = np.reshape(master.votes, (len(master.stumps), len(self.classes_)))
        self.n_parameters_ = 2 * len(self.hypotheses_) + self.coefficients_.size

    def _staged_scores(self, X, stages):
        scores = np.zeros((len(X), len(self.classes_)))
        for some in spans(stages):
            scores = scores + self.hypotheses_.outputs(X, some) @ self.coefficients_[some]
            yield scores


class StumpMaster(Master):
    """Stumps, their votes, and the weights that the next one is found with.

    Parameters
    ----------
    search : boostbench.core.weak.stumps.StumpSearch
    weights : ndarray of shape (n_samples, n_columns)
    """

    def __init__(self, search, weights):
        self.search = search
        self.weights = weights
        self.stumps = []
        self.votes = []

    def step(self, edge):
        """Return the coefficient for an edge in [0, 1] and whether it leaves errors to correct."""
        capped = min(edge, PERFECT)
        return 0.5 * np.log((1 + capped) / (1 - capped)), edge < PERFECT


class AdditiveModel:
    """A fitted classifier with stumps as one table per feature: see `additive`.

    Attributes
    ----------
    tables : boostbench.core.weak.additive.AdditiveTables
    classes_ : ndarray of shape (n_classes,)
    """

    def __init__(self, model):
        self.tables = AdditiveTables(model.hypotheses_, model.coefficients_)
        self.classes_ = model.classes_
        self._intercept = np.zeros(len(model.classes_))
        if hasattr(model, "intercepts_"):
            self._intercept = model.intercepts_.sum(axis=0)
        self._n_features = model.n_features_in_

    def decision_function(self, X):
        """Score the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) where there are two classes
            As from the classifier, up to rounding.
        """
        X = check_array(X, dtype=np.float64)
        if X.shape[1] != self._n_features:
            raise ValueError(f"X has {X.shape[1]} features, expected {self._n_features}")
        scores = self.tables.scores(X)
        scores += self._intercept
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X):
        """Predict the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decision = self.decision_function(X)
        if decision.ndim == 1:
            return self.classes_[(decision > 0).astype(int)]
        return self.classes_[decision.argmax(axis=1)]


def additive(model):
    """Return a fitted stump ensemble as one table per feature.

    Parameters
    ----------
    model : estimator
        Fitted, with plain stumps in `hypotheses_` and a coefficient for every stump and class in
        `coefficients_`: AdaBoost, AdaBoostMH, AdaBoostECC, MultiBoost, MCBoost.

    Returns
    -------
    AdditiveModel

    Raises
    ------
    ValueError
        If the model is not of that form.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from boostbench.algorithms import AdaBoostMH
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostMH(n_iterations=50).fit(X, y)
    >>> bool((additive(model).predict(X) == model.predict(X)).all())
    True
    """
    check_is_fitted(model)
    shape = (len(model.hypotheses_), len(model.classes_))
    if not isinstance(model.hypotheses_, Stumps) or model.coefficients_.shape != shape:
        raise ValueError(
            f"{type(model).__name__} is no sum of stumps with a coefficient for every class"
        )
    return AdditiveModel(model)
