"""The one loop of all five papers: column generation, as a scikit-learn classifier."""

import time
from abc import ABC, abstractmethod
from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

# Rows are scored in chunks, so that the outputs of the weak learners stay in the cache between the
# comparison with the thresholds and the product with the coefficients.
_CHUNK_ROWS = 256


class Master(ABC):
    """The restricted master problem: the state of one training run.

    It holds the weak learners found so far (the columns), their coefficients (the primal
    variables) and the weights of the samples (the dual variables).
    """

    @abstractmethod
    def generate(self):
        """Find the weak learner of the most violated dual constraint (steps 1 and 2).

        Returns
        -------
        column : object or None
            What `correct` takes; None where no constraint is violated any more, which ends the
            training.
        """

    @abstractmethod
    def correct(self, column):
        """Add the column, find the coefficients, update the dual variables (steps 3 to 5).

        Parameters
        ----------
        column : object
            From `generate`.

        Returns
        -------
        bool
            False where another round would change nothing, which ends the training.
        """


class ColumnGenerationClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of the boosting classifiers: the loop, timing, and the ways to predict.

    A subclass has the constructor parameters `n_iterations` and `random_state`, and gives
    `_master`, `_keep` and `_staged_scores`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
    n_iterations_ : int
        Boosting rounds done: `n_iterations`, or fewer where the training converged.
    n_parameters_ : int
        Numbers that prediction needs.
    weak_learner_time_ : float
        CPU seconds of the search for weak learners, preparation included.
    coefficient_time_ : float
        CPU seconds of finding the coefficients and updating the weights ("step 4").
    """

    # What a subclass takes is declared the way scikit-learn's own estimators do it, so that a bad
    # value is refused before the data are touched.
    _parameter_constraints: ClassVar = {
        "n_iterations": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def fit(self, X, y):
        """Train the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, finite.
        y : array-like of shape (n_samples,)
            Labels of any type that sorts.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        ValueError
            If X is not a finite matrix, y holds one class only, or a parameter is out of range.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._check_classes()

        started = time.process_time()
        master = self._master(X, labels, check_random_state(self.random_state))
        search_time, coefficient_time = time.process_time() - started, 0.0
        rounds = 0
        while rounds < self.n_iterations:
            started = time.process_time()
            column = master.generate()
            found = time.process_time()
            search_time += found - started
            if column is None:
                break
            rounds += 1
            progress = master.correct(column)
            coefficient_time += time.process_time() - found
            if not progress:
                break
        self.n_iterations_ = rounds
        self.weak_learner_time_ = search_time
        self.coefficient_time_ = coefficient_time
        self._keep(master)
        return self

    def _check_classes(self):
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, and y holds 1 class only: "
                f"{self.classes_[0]!r}"
            )
        if len(self.classes_) > 2 and not self.__sklearn_tags__().classifier_tags.multi_class:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}, and y holds "
                f"{len(self.classes_)} classes."
            )

    @abstractmethod
    def _master(self, X, labels, random_state):
        """Return the `Master` of a training set; `labels` are 0 to n_classes - 1."""

    @abstractmethod
    def _keep(self, master):
        """Take over from the master what prediction needs."""

    @abstractmethod
    def _staged_scores(self, X, stages):
        """Yield the scores F, of shape (n_samples, n_classes), after each number in `stages`."""

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
        X = self._validated(X)
        chunks = (X[start : start + _CHUNK_ROWS] for start in range(0, len(X), _CHUNK_ROWS))
        scores = (next(self._staged_scores(chunk, [self.n_iterations_])) for chunk in chunks)
        return _decision(np.concatenate(list(scores)))

    def predict(self, X):
        """Predict the labels: the class of the largest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._labels(self.decision_function(X))

    def staged_decision_function(self, X):
        """Score the classes after every boosting round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray
            As from `decision_function`, after 1, 2, ..., `n_iterations_` rounds.
        """
        for scores in self._staged_scores(self._validated(X), range(1, self.n_iterations_ + 1)):
            yield _decision(scores)

    def staged_predict(self, X):
        """Predict the labels after every boosting round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,)
            As from `predict`, after 1, 2, ..., `n_iterations_` rounds.
        """
        for decision in self.staged_decision_function(X):
            yield self._labels(decision)

    def _validated(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _labels(self, decision):
        if decision.ndim == 1:
            return self.classes_[(decision > 0).astype(int)]
        return self.classes_[decision.argmax(axis=1)]


def spans(stages):
    """Turn stages into the slices of rounds between them.

    Parameters
    ----------
    stages : iterable of int
        Ascending.

    Yields
    ------
    slice

    Examples
    --------
    >>> list(spans([1, 3]))
    [slice(0, 1, None), slice(1, 3, None)]
    """
    start = 0
    for stop in stages:
        yield slice(start, stop)
        start = stop


def _decision(scores):
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
