"""Sums of stumps with a coefficient for every class: their base, and their additive form."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, check_is_fitted

from boostbench.algorithms.base import (
    PERFECT,
    BoostingClassifier,
    Master,
    Weighted,
    decision,
    predicted,
)
from boostbench.core.weak.additive import AdditiveTables
from boostbench.core.weak.stumps import Stumps


class StumpEnsemble(Weighted, BoostingClassifier):
    """Classifiers of the form ``F(x) = sum_t h_t(x) W[t]`` with stumps and vote vectors."""

    _parameter_constraints: ClassVar = {
        **BoostingClassifier._parameter_constraints,
        "max_bins": [None, Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, n_iterations=1000, max_bins=None, random_state=None, class_weight=None):
        self.n_iterations = n_iterations
        self.max_bins = max_bins
        self.random_state = random_state
        self.class_weight = class_weight

    def _keep(self, master):
        self.hypotheses_ = Stumps(master.stumps)
        self.coefficients_ = np.reshape(master.votes, (len(master.stumps), len(self.classes_)))
        self.n_parameters_ = 2 * len(self.hypotheses_) + self.coefficients_.size


class StumpMaster(Master):
    """Stumps, their votes, and the weights that the next one is found with.

    Parameters
    ----------
    params, search
        As of `Master`.
    weights : ndarray of shape (n_samples, n_columns)
        Those of samples that are all alike.
    sample_weight : ndarray of shape (n_samples,), default=None
        None: all are 1.
    """

    per_round: ClassVar = ("stumps", "votes")

    def __init__(self, params, search, weights, sample_weight=None):
        super().__init__(params, search)
        self._factors = None
        if sample_weight is not None:
            self._factors = (sample_weight / sample_weight.mean())[:, None]
        self.weights = self.scaled(weights)
        self.stumps = []
        self.votes = []

    def scaled(self, weights):
        """Multiply what samples alike would weigh with their own weights, of mean 1."""
        return weights if self._factors is None else weights * self._factors

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
        columns = model.coefficients_.reshape(len(model.hypotheses_), -1)
        self.tables = AdditiveTables(model.hypotheses_, columns)
        self.classes_ = model.classes_
        self._intercept = model.intercepts_.sum(axis=0) if hasattr(model, "intercepts_") else 0.0
        self._is_binary = model.coefficients_.ndim == 1
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
        return scores[:, 0] if self._is_binary else decision(scores)

    def predict(self, X):
        """Predict the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return predicted(self.decision_function(X), self.classes_)


def additive(model):
    """Return a fitted stump ensemble as one table per feature.

    Parameters
    ----------
    model : estimator
        Fitted, with stumps on single features in `hypotheses_`, and in `coefficients_` one number
        for each or one for each and every class: AdaBoost, AdaBoostMH, AdaBoostECC, AdaBoostSIP,
        GradBoost, MultiBoost, CGENSSLS, LPBoost; with stumps, CGENS, MCBoost and RBoostProj.

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
    name = type(model).__name__
    if hasattr(model, "project"):
        raise ValueError(f"the stumps of {name} test projected features, not those of X")
    shape = np.shape(model.coefficients_)
    expected = [(len(model.hypotheses_),), (len(model.hypotheses_), len(model.classes_))]
    plain = isinstance(model.hypotheses_, Stumps) and model.hypotheses_.feature.ndim == 1
    if not plain or shape not in expected:
        raise ValueError(f"{name} is no sum of stumps with a coefficient for every class")
    return AdditiveModel(model)
