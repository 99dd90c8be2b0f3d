"""Bases of boosting classifiers and regressors: predictions from scores, and models of stumps.

A model has scores F, one per class or a single number. The bases turn them into the methods of
scikit-learn: `decision_function`, `predict`, `predict_proba`, and the staged predictions after each
round.
"""

import warnings
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.base.booster import Booster, TabularBooster, WeightedBooster, densify
from boostbench.algorithms.base.decision_values import (
    INVERSE_TEMPERATURES,
    decision_values,
    labels_from_scores,
    log_probabilities,
    probabilities,
    rounding_slack,
)
from boostbench.algorithms.base.parameters import (
    DeclaredParameters,
    Fraction,
    PositiveInt,
    TwoOrMore,
)
from boostbench.algorithms.explanation.explainable import ExplainableMixin
from boostbench.core.coefficient_path import coefficients_after
from boostbench.core.stumps.category_sets import add_category_sets, stack_stumps


class ScoringClassifier(ClassifierMixin, ExplainableMixin):
    """Mixin of classifiers (boosters and bags) that predict from the final scores alone.

    A class has a method `_scores`, which returns F for validated samples, and
    `inverse_temperature`, the factor of F in the probabilities.
    """

    def decision_function(self, X):
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores :math:`F_r(x)`; for two classes their difference, positive for ``classes_[1]``.
        """
        return decision_values(self._scores(X), self.score_slack())

    def predict(self, X):
        """Predict the class of the largest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return labels_from_scores(self.decision_function(X), self.classes_)

    def predict_proba(self, X):
        """Estimate the probabilities of the classes.

        They are the softmax (the logistic function for two classes) of the scores times
        `inverse_temperature`, a factor that follows from the loss.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype=float64
            Columns in the order of `classes_`. `predict` returns the most probable class.
        """
        return probabilities(self.decision_function(X), self.inverse_temperature())

    def predict_log_proba(self, X):
        """Estimate the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype=float64
            Logarithms of `predict_proba`; minus infinity if a probability underflows.
        """
        return log_probabilities(self.predict_proba(X))

    def score_slack(self):
        """Return the largest difference of scores that may be a rounding error.

        Returns
        -------
        float
            Scores that differ by at most this number count as equal.
        """
        return rounding_slack(self.coefficients_)


class BoostingClassifier(ScoringClassifier, Booster):
    """Base of the boosting classifiers, with early stopping and staged predictions.

    Parameters
    ----------
    n_iter_no_change : int or None, default=None
        Number of rounds in a row without progress after which early stopping ends the training.
        A round makes progress if it lowers the loss on held-out samples by more than 1e-4 below
        the loss after the last round of progress, whose model is kept. None: no early stopping,
        all samples are used for training.
    validation_fraction : float, default=0.1
        Fraction of the samples that early stopping holds out, stratified by class.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out samples of early stopping; the algorithm itself is deterministic.

    Attributes
    ----------
    validation_losses_ : ndarray of shape (n_rounds,)
        Log-loss of `predict_proba` on the held-out samples after each round, including the rounds
        after the last round of progress. Only with early stopping.
    """

    _: KW_ONLY
    n_iter_no_change: PositiveInt | None = None
    validation_fraction: Fraction = 0.1

    def staged_predict_proba(self, X):
        """Yield the probabilities of `predict_proba` after 1, 2, ..., `n_iterations_` rounds."""
        for scores in self.staged_decision_function(X):
            yield probabilities(scores, self.inverse_temperature())

    def inverse_temperature(self):
        """Return the factor of the scores in `predict_proba`, which depends on the loss.

        Returns
        -------
        float
            See `boostbench.algorithms.base.decision_values.probabilities`.
        """
        return INVERSE_TEMPERATURES.get(self._fit_param("loss"), 1.0)

    def staged_decision_function(self, X):
        """Yield the scores of `decision_function` after 1, 2, ..., `n_iterations_` rounds."""
        check_is_fitted(self)
        X = self._compute_views(densify(self._validate_input(X, reset=False)))
        slack = self.score_slack()
        for scores in self._staged_scores(X, range(1, self.n_iterations_ + 1)):
            yield decision_values(scores, slack)

    def staged_predict(self, X):
        """Yield the labels of `predict` after 1, 2, ..., `n_iterations_` rounds."""
        for scores in self.staged_decision_function(X):
            yield labels_from_scores(scores, self.classes_)


class NoEarlyStoppingMixin(DeclaredParameters):
    """Mixin of classifiers whose rounds cannot be undone; it precedes the other bases.

    It turns the parameters of early stopping into class attributes.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Inherited and unused: the algorithm is deterministic.
    """

    n_iter_no_change: ClassVar = None
    validation_fraction: ClassVar = 0.1


class BinaryClassifier(BoostingClassifier):
    """Base of the boosting classifiers for two classes, with the targets -1 and +1."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _encode_target(self, y):
        """Return -1 and +1 for both classes; raise ValueError if there are more."""
        labels = super()._encode_target(y)
        n_classes = len(self.classes_)
        if n_classes > 2:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}, and y holds "
                f"{n_classes} classes."
            )
        return 2.0 * labels - 1.0


class BoostingRegressor(RegressorMixin, ExplainableMixin, WeightedBooster):
    """Base of the boosters that predict numbers."""

    class_weight: ClassVar = None

    def _encode_target(self, y):
        """Return finite numbers as float64."""
        y = np.asarray(y, dtype=np.float64)
        # Objects such as None became NaN in the conversion.
        assert_all_finite(y, input_name="y")
        return y

    def predict(self, X):
        """Predict numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions :math:`F(x)`, or :math:`e^{F(x)}` if `link_` is ``"log"``.
        """
        scores = self._scores(X)
        return np.exp(scores) if self.link_ == "log" else scores

    @property
    def link_(self):
        """Link function g, ``"identity"`` or ``"log"``: the terms of the features add up to g(y).

        Here y is the prediction. With ``"log"``, each term multiplies the prediction by a factor.
        """
        return "identity"

    def inverse_temperature(self):
        """Return 1: the scores of a regressor are not scaled to probabilities."""
        return 1.0


class TotallyCorrective:
    """Mixin of boosters that fit all coefficients again in every round.

    The scores after an earlier round need all coefficients as they were after it. A subclass sets
    `weight_path_` in `_store_model`: the coefficients after each round, as returned by
    `boostbench.core.coefficient_path.CoefficientPath.matrix`.
    """

    def _staged_coefficients(self, stages):
        """Yield the coefficients after each number of rounds in `stages`."""
        for stage in stages:
            yield coefficients_after(self.weight_path_, stage, self.coefficients_.shape)[:stage]

    def _staged_scores(self, X, stages):
        """Yield the scores after given numbers of rounds; see `Booster._staged_scores`."""
        # The outputs of the weak learners are not needed one by one for the final scores.
        stages = list(stages)
        if stages == [self.n_iterations_]:
            yield self.hypotheses_.scores(X, self.coefficients_)
            return
        outputs = self.hypotheses_.outputs(X)
        for stage, coefficients in zip(stages, self._staged_coefficients(stages), strict=True):
            yield outputs[..., :stage] @ coefficients


class StumpEnsemble(TabularBooster, BoostingClassifier):
    """Base of classifiers ``F(x) = sum_t h_t(x) W[t]`` with stumps h and vote vectors W[t].

    Parameters
    ----------
    max_bins : int or None, default=None
        Number of quantile bins of each feature. None: all thresholds are searched.

    Attributes
    ----------
    hypotheses_ : Stumps or StumpsWithSets
        Stump of each round; see `boostbench.core.stumps.category_sets.stack_stumps`.
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        Vote vector W[t] of each round.
    n_parameters_ : int
        Number of parameters of the stumps and coefficients.
    """

    # Version of the numbers of the class. It is raised when a release changes results.
    edition = 2

    _: KW_ONLY
    max_bins: TwoOrMore | None = None

    _takes_sparse: ClassVar = True

    def _store_model(self, master):
        self.hypotheses_ = stack_stumps(master.stumps)
        self.coefficients_ = np.reshape(master.votes, (len(master.stumps), len(self.classes_)))
        self.n_parameters_ = self.hypotheses_.n_parameters + self.coefficients_.size


class CategorySetBooster(TabularBooster):
    """Booster of stumps that may separate a set of categories from the others.

    Parameters
    ----------
    category_sets : bool, default=False
        True: a stump tests the best set of categories. False: a stump separates one category from
        all others. Sets help if features have many categories; with few categories and few samples
        they overfit. Missing values count as one more category.
    """

    _: KW_ONLY
    category_sets: bool = False

    def _enable_category_sets(self, search):
        """Return a search that also finds sets of categories, if `category_sets` is set."""
        return add_category_sets(search, self.views_) if self.category_sets else search


def warn_unsolved(booster, converged):
    """Warn if the solver of the coefficients stopped at its limit in the last round.

    Parameters
    ----------
    booster : TotallyCorrective
        Estimator with the parameter `solver_iterations`.
    converged : list of bool
        Convergence of the solver in each round.
    """
    if converged and not converged[-1]:
        warnings.warn(
            f"{type(booster).__name__}'s solver stopped at "
            f"solver_iterations={booster.solver_iterations}, or could go no further, in "
            f"{converged.count(False)} of {len(converged)} rounds, in the last one as well: raise "
            f"solver_iterations, or take a larger nu",
            ConvergenceWarning,
            stacklevel=3,
        )
