"""What boosters do with their scores: classifiers and regressors of scikit-learn."""

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.base.booster import Booster, WeightedBooster, to_dense
from boostbench.algorithms.base.decisions import decision_values, labels_from_scores, rounding_slack
from boostbench.algorithms.base.parameters import DeclaredParameters, Fraction, PositiveInt
from boostbench.algorithms.base.probabilities import (
    INVERSE_TEMPERATURES,
    log_probabilities,
    probabilities,
)
from boostbench.algorithms.explanation.explainable import ExplainableMixin


class ScoringClassifier(ClassifierMixin, ExplainableMixin):
    """The part of the classifiers, boosters and bags, that depends on the final scores alone."""

    def decision_function(self, X):
        """Score the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) where there are two classes
            :math:`F_r(x)`; for two classes the difference, positive for ``classes_[1]``.
        """
        return decision_values(self._scores(X), self.score_slack())

    def predict(self, X):
        """Predict the labels: the class of the largest score.

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

        They are the softmax, for two classes the logistic function, of the scores times a factor
        that follows from the loss: see `inverse_temperature`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype=float64
            In the order of `classes_`. `predict` gives the class of the largest.
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
            The logarithms of `predict_proba`; minus infinity where a probability underflows.
        """
        return log_probabilities(self.predict_proba(X))

    def score_slack(self):
        """Return the difference of scores that is rounding only: such scores are equal.

        Returns
        -------
        float
        """
        return rounding_slack(self.coefficients_)


class BoostingClassifier(ScoringClassifier, Booster):
    """Base of the boosting classifiers: the ways to predict a class from scores.

    Parameters
    ----------
    n_iter_no_change : int or None, default=None
        Early stopping: training ends after so many rounds in a row without progress, which is a
        loss on held-out samples that is less by more than 1e-4 than after the last round of
        progress. The model is that of this round. None: no early stopping, all samples train.
    validation_fraction : float, default=0.1
        Part of the samples that is held out, drawn by `random_state`, stratified.
    random_state : int, RandomState instance or None, default=None
        Draws what early stopping holds out; else unused, as the algorithm is deterministic.

    Attributes
    ----------
    validation_losses_ : ndarray of shape (n_rounds,)
        With early stopping: log-loss of `predict_proba` for the held-out samples after each round,
        those after the last one of progress included.
    """

    _: KW_ONLY
    n_iter_no_change: PositiveInt | None = None
    validation_fraction: Fraction = 0.1

    def staged_predict_proba(self, X):
        """Yield what `predict_proba` estimates after 1, 2, ..., `n_iterations_` rounds."""
        for scores in self.staged_decision_function(X):
            yield probabilities(scores, self.inverse_temperature())

    def inverse_temperature(self):
        """Return the factor of the scores in `predict_proba`; here that of the loss by its name.

        Returns
        -------
        float
            See `boostbench.algorithms.base.probabilities.probabilities`.
        """
        return INVERSE_TEMPERATURES.get(self._fit_param("loss"), 1.0)

    def staged_decision_function(self, X):
        """Yield the scores of `decision_function` after 1, 2, ..., `n_iterations_` rounds."""
        check_is_fitted(self)
        X = self._to_views(to_dense(self._validate_input(X, reset=False)))
        slack = self.score_slack()
        for scores in self._staged_scores(X, range(1, self.n_iterations_ + 1)):
            yield decision_values(scores, slack)

    def staged_predict(self, X):
        """Yield the labels of `predict` after 1, 2, ..., `n_iterations_` rounds."""
        for scores in self.staged_decision_function(X):
            yield labels_from_scores(scores, self.classes_)


class NoEarlyStoppingMixin(DeclaredParameters):
    """A classifier whose rounds cannot be undone; it stands before the other bases.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Unused: the algorithm is deterministic.
    """

    n_iter_no_change: ClassVar = None
    validation_fraction: ClassVar = 0.1


class BinaryClassifier(BoostingClassifier):
    """Base of the boosting classifiers of two classes: the targets are -1 and +1."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _encode_target(self, y):
        labels = super()._encode_target(y)
        n_classes = len(self.classes_)
        if n_classes > 2:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}, and y holds "
                f"{n_classes} classes."
            )
        return 2.0 * labels - 1.0


class BoostingRegressor(RegressorMixin, ExplainableMixin, WeightedBooster):
    """Base of the boosters that learn numbers."""

    class_weight: ClassVar = None

    def _encode_target(self, y):
        y = np.asarray(y, dtype=np.float64)
        # Objects such as None are missing values only now.
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
            :math:`F(x)`.
        """
        return self._scores(X)

    def inverse_temperature(self):
        """Return the factor of the scores: there are no probabilities."""
        return 1.0
