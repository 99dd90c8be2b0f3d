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
    """Nearest class mean in `width` random features; one more class is told apart each round."""

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
    """Knows after each round what it would have been without those that follow."""

    staged_parameter = "n_iterations"


class Tying(Nearest):
    """Predicts another class than its last stage for some instances."""

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
    """Fails for one seed, or for one width."""

    def __init__(self, n_iterations=6, width=2, fail_on=None, fail_width=None, random_state=None):
        super().__init__(n_iterations, width, random_state)
        self.fail_on = fail_on
        self.fail_width = fail_width

    def fit(self, X, y):
        if self.random_state == self.fail_on or self.width == self.fail_width:
            raise ValueError("cannot do this one\nsecond line")
        return super().fit(X, y)


class Hanging(Failing):
    """Takes for ever for one seed."""

    def fit(self, X, y):
        while self.random_state == self.fail_on:
            time.sleep(0.01)
        return super().fit(X, y)


class Uninterruptible(Failing):
    """Hangs where no signal reaches it, as compiled code does that never returns."""

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
    """Takes its process with it for one seed, as running out of memory does."""

    def fit(self, X, y):
        if self.random_state == self.fail_on:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class OddPredictions(Nearest):
    """Predicts in a form of its own."""

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
    """Its error has a text that is no valid Unicode."""

    def fit(self, X, y):
        raise ValueError("no file \udcff here")


class FailingWithoutText(Nearest):
    """Its error has no text at all."""

    class Error(Exception):
        def __str__(self):
            raise RuntimeError("what?")

    def fit(self, X, y):
        raise FailingWithoutText.Error


class Slow(Nearest):
    """Takes a while; for ever, once the file that ``$SLOW_AFTER`` names has two records.

    Then it leaves a file with the number of its process in the folder ``$SLOW_BLOCKED``.
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
    """Keeps 400 MB of each fit, and takes as long as joblib waits until it looks at the size."""

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
    """Ends its stages with something else than it predicts."""

    def predict(self, X):
        return np.roll(super().predict(X), 1)


class MinimalClassifier:
    """Not even a scikit-learn estimator: no parameters, no stages, no seed."""

    def fit(self, X, y):
        self.label_ = y[0]

    def predict(self, X):
        return np.full(len(X), self.label_)


class AnyParameters:
    """Takes any parameter."""

    def __init__(self, **params):
        self.params = params

    def fit(self, X, y):
        pass

    def predict(self, X):
        return np.zeros(len(X), int)


class Binary(Nearest):
    """Says that it takes two classes only."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class ReorderedClasses(GaussianNB):
    """Its columns are those of its `classes_`, which are in an order of its own."""

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
    """Of two classes; its scores have shape (n,), and it has no probabilities."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        low, high = (X[y == label].mean(axis=0) for label in self.classes_)
        self.direction_, self.bias_ = high - low, (high @ high - low @ low) / 2
        return self

    def decision_function(self, X):
        return X @ self.direction_ - self.bias_

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]
