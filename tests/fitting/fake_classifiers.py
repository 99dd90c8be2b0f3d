"""Small classifiers, quick to fit, with one peculiarity each."""

import os
import signal
import time
import warnings
from pathlib import Path
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB


class Nearest(ClassifierMixin, BaseEstimator):
    """Nearest class mean in `width` random features; each round separates one more class."""

    def __init__(self, n_iterations=6, width=2, random_state=None):
        self.n_iterations = n_iterations
        self.width = width
        self.random_state = random_state

    def fit(self, X, y):
        rng = np.random.default_rng(self.random_state)
        self.features_ = rng.choice(X.shape[1], self.width, replace=False)
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        self.n_iterations_ = min(self.n_iterations, len(self.classes_))
        self.n_parameters_ = self.means_.size
        self.weak_learner_time_ = 0.25
        self.coefficient_time_ = 0.125
        return self

    def staged_predict(self, X):
        for stage in range(1, self.n_iterations_ + 1):
            means = self.means_[:stage, self.features_]
            distance = ((X[:, None, self.features_] - means) ** 2).sum(axis=2)
            yield self.classes_[distance.argmin(axis=1)]

    def predict(self, X):
        *_, last = self.staged_predict(X)
        return last


class Staged(Nearest):
    """Classifier whose stages equal fits with fewer rounds."""

    staged_parameter = "n_iterations"


class Tying(Nearest):
    """Classifier whose predictions differ from its last stage for `n_ties` samples."""

    def __init__(self, n_iterations=6, width=2, n_ties=0, random_state=None):
        super().__init__(n_iterations, width, random_state)
        self.n_ties = n_ties

    def predict(self, X):
        predicted = super().predict(X)
        first, second, *_ = self.classes_
        tied = predicted[: self.n_ties]
        tied[:] = np.where(tied == first, second, first)
        return predicted


class Failing(Nearest):
    """Classifier whose fit fails for one seed, or for one width."""

    def __init__(self, n_iterations=6, width=2, fail_on=None, fail_width=None, random_state=None):
        super().__init__(n_iterations, width, random_state)
        self.fail_on = fail_on
        self.fail_width = fail_width

    def fit(self, X, y):
        if self.random_state == self.fail_on or self.width == self.fail_width:
            raise ValueError("cannot do this one\nsecond line")
        return super().fit(X, y)


class Hanging(Failing):
    """Classifier whose fit does not end for one seed."""

    def fit(self, X, y):
        while self.random_state == self.fail_on:
            time.sleep(0.01)
        return super().fit(X, y)


class Uninterruptible(Failing):
    """Classifier whose fit blocks signals, like compiled code that never returns."""

    def fit(self, X, y):
        if self.random_state == self.fail_on:
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            time.sleep(600)
        return super().fit(X, y)


class Exiting(Failing):
    def fit(self, X, y):
        if self.random_state == self.fail_on:
            raise SystemExit(3)
        return super().fit(X, y)


class Crashing(Failing):
    """Classifier that kills its process for one seed, like a lack of memory."""

    def fit(self, X, y):
        if self.random_state == self.fail_on:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class OddPredictions(Nearest):
    """Classifier that returns predictions of an unusual shape or type."""

    def __init__(self, n_iterations=6, width=2, form="column", random_state=None):
        super().__init__(n_iterations, width, random_state)
        self.form = form

    def predict(self, X):
        labels = super().predict(X)
        return {
            "column": labels[:, None],
            "row": labels[None],
            "short": labels[:3],
            "scalar": labels[0],
            "none": None,
            "float": labels.astype(float),
            "nan": np.where(labels == 0, np.nan, labels),
            "masked": np.ma.masked_array(labels, np.ones(len(labels), bool)),
            "text": labels.astype(str),
            "object": labels.astype(object),
            "signs": np.where(labels == 0, -1, 1),
            "values": labels + 0.5,
            "list": labels.tolist(),
        }[self.form]


class BrokenConstructor(Nearest):
    def __init__(self, n_iterations=6, width=2, random_state=None):
        if width == 3:
            raise RuntimeError("no licence found")
        super().__init__(n_iterations, width, random_state)


class Unprintable(Nearest):
    """Classifier whose error message is invalid Unicode."""

    def fit(self, X, y):
        raise ValueError("no file \udcff here")


class FailingWithoutText(Nearest):
    """Classifier whose error has no message."""

    class Error(Exception):
        def __str__(self):
            raise RuntimeError("what?")

    def fit(self, X, y):
        raise FailingWithoutText.Error


class Slow(Nearest):
    """Slow classifier, whose fits do not end once the file ``$SLOW_AFTER`` has two records.

    A blocked fit writes a file named by its process number into the folder ``$SLOW_BLOCKED``.
    """

    def fit(self, X, y):
        time.sleep(0.1)
        path = Path(os.environ.get("SLOW_AFTER", "no file"))
        while path.exists() and path.read_text().count('"schema":2') >= 2:
            if folder := os.environ.get("SLOW_BLOCKED"):
                Path(folder, str(os.getpid())).touch()
            time.sleep(0.05)
        return super().fit(X, y)


class Growing(Nearest):
    """Classifier that leaks 400 MB per fit; a fit lasts one period of joblib's memory check."""

    kept: ClassVar = []

    def fit(self, X, y):
        self.kept.append(np.ones(50_000_000))
        time.sleep(1.1)
        return super().fit(X, y)


class Interrupting(Failing):
    def fit(self, X, y):
        if self.random_state == self.fail_on:
            raise KeyboardInterrupt
        return super().fit(X, y)


class WarningClassifier(Nearest):
    def fit(self, X, y):
        warnings.warn("did not converge\nreally", UserWarning, stacklevel=1)
        warnings.warn("did not converge\nreally", UserWarning, stacklevel=1)
        return super().fit(X, y)


class InconsistentStages(Nearest):
    """Classifier whose last stage differs from its predictions."""

    def predict(self, X):
        return np.roll(super().predict(X), 1)


class MinimalClassifier:
    """Classifier without parameters, stages and seed, which is no scikit-learn estimator."""

    def fit(self, X, y):
        self.label_ = y[0]

    def predict(self, X):
        return np.full(len(X), self.label_)


class AnyParameters:
    """Classifier with arbitrary parameters."""

    def __init__(self, **params):
        self.params = params

    def fit(self, X, y):
        pass

    def predict(self, X):
        return np.zeros(len(X), int)


class Binary(Nearest):
    """Classifier whose tags restrict it to two classes."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class ReorderedClasses(GaussianNB):
    """Classifier whose `classes_`, and columns of probabilities, are not in ascending order."""

    def __init__(self, order="ascending", priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.order = order

    def fit(self, X, y):
        super().fit(X, y)
        labels = self.classes_
        self._order = {
            "ascending": np.arange(len(labels)),
            "descending": np.arange(len(labels))[::-1],
            "rolled": np.roll(np.arange(len(labels)), 1),
        }.get(self.order, np.zeros(len(labels), int))
        self._labels, self.classes_ = labels, labels[self._order]
        return self

    def _call_with_classes(self, classes, method, X):
        previous, self.classes_ = self.classes_, classes
        try:
            return getattr(super(), method)(X)
        finally:
            self.classes_ = previous

    def predict(self, X):
        return self._call_with_classes(self._labels, "predict", X)

    def predict_proba(self, X):
        return self._call_with_classes(self._labels, "predict_proba", X)[:, self._order]


class BinaryWithoutProbabilities(BaseEstimator):
    """Classifier of two classes with scores of shape (n,) and without probabilities."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        low, high = (X[y == label].mean(axis=0) for label in self.classes_)
        self.direction_, self.bias_ = high - low, (high @ high - low @ low) / 2
        return self

    def decision_function(self, X):
        return X @ self.direction_ - self.bias_

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class InvalidScores(Nearest):
    """Classifier whose probabilities are NaN."""

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), np.nan)
