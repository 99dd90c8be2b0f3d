"""Quality of probabilities and scores: log-loss, Brier score, ROC AUC, balanced accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy.stats import rankdata

from boostbench.fitting.measures.base import FIT_TIMES, Measure
from boostbench.fitting.quantities import SCORES
from boostbench.records.fit_results import SplitResults, record_type
from boostbench.records.schema import Count, Fraction, NonNegative

if TYPE_CHECKING:
    from boostbench.fitting.trial import Fit, Trial

# Least probability in a log-loss, which is infinite for 0; the value of `sklearn.metrics.log_loss`.
_EPS = np.finfo(float).eps


class ScoresResults(SplitResults, kw_only=True):
    """Quality of the probabilities and scores of a fit.

    Attributes
    ----------
    log_loss, brier, auc, balanced_accuracy : float or None
        See `ScoreQuality`.
    """

    test_error: Fraction
    log_loss: NonNegative | None
    brier: NonNegative | None
    auc: Fraction | None
    balanced_accuracy: Fraction
    n_iterations: Count | None


ScoresRecord = record_type(ScoresResults)


class ScoreQuality(NamedTuple):
    """Quality of the scores and of the predicted labels of a test part.

    Attributes
    ----------
    log_loss : float or None
        Mean negative logarithm of the probability of the true class, in nats; None without
        `predict_proba`.
    brier : float or None
        Brier score; None without `predict_proba`.
    auc : float or None
        Area under the ROC curve, a fraction, the mean over the classes against the rest; None
        without scores, or if the test part has one class.
    balanced_accuracy : float
        Mean over the tested classes of the fraction of correct labels, as in
        `sklearn.metrics.balanced_accuracy_score`.
    """

    log_loss: float | None
    brier: float | None
    auc: float | None
    balanced_accuracy: float


class Scores(Measure):
    """Log-loss, Brier score, area under the ROC curve and balanced accuracy on the test part."""

    form = ScoresRecord
    quantities = (*SCORES, "test_error", "accuracy", "n_iterations", *FIT_TIMES)
    suffix = "scores"
    # This entry of the config only makes the key differ from other measures; its value has no
    # meaning.
    settings: ClassVar = {"scores": "probabilities"}
    needs = ("predict", "predict_proba|decision_function")

    def take(self, trial: Trial, X, y: np.ndarray) -> ScoresResults:
        """Fit, and return the quality of the scores."""
        fit = trial.fit(X, y)
        labels = self.outputs(fit)["end"]
        return ScoresResults(
            **measure_scores(fit, labels, np.unique(y))._asdict(),
            # Subclasses override `loss`; the record has the error rate.
            test_error=Measure.loss(self, fit, labels),
            n_iterations=fit.count("n_iterations_"),
            seconds=fit.times(),
        )


class ScoresByAuc(Scores):
    """Scores of a fit with the parameters of the largest mean ROC AUC in cross-validation."""

    judged_by = "auc"
    by_stage: ClassVar[bool] = False
    quantity = "auc"

    def loss(self, fit: Fit, output: np.ndarray) -> float:
        """Return 1 minus the area under the ROC curve of the test part."""
        return 1.0 - auc_of(fit)


class ScoresByLogLoss(Scores):
    """Scores of a fit with the parameters of the least mean log-loss in cross-validation."""

    needs = ("predict", "predict_proba")
    judged_by = "log_loss"
    by_stage: ClassVar[bool] = False
    quantity = "log_loss"

    def loss(self, fit: Fit, output: np.ndarray) -> float:
        """Return the log-loss of the test part."""
        return log_loss_of(fit)


def measure_scores(fit: Fit, labels: np.ndarray, classes: np.ndarray) -> ScoreQuality:
    """Return the quality of the scores and of the predicted labels of the test part.

    Parameters
    ----------
    fit : Fit
    labels : ndarray of shape (n_test,)
        Predicted labels.
    classes : ndarray of shape (n_classes,)
        Labels of all classes of the data set.

    Returns
    -------
    ScoreQuality

    Raises
    ------
    ValueError
        See `class_columns`.
    """
    probabilities, scores = _predict_scores(fit, classes)
    _, class_indices = np.unique(fit.y_test, return_inverse=True)
    # The recall of a class is its number of correct labels, divided by its number of samples.
    recalls = np.bincount(class_indices, labels == fit.y_test) / np.bincount(class_indices)
    return ScoreQuality(
        log_loss=_log_loss(fit.y_test, probabilities, classes),
        brier=_brier(fit.y_test, probabilities, classes),
        auc=_auc(fit.y_test, scores, classes),
        balanced_accuracy=float(recalls.mean()),
    )


def log_loss_of(fit: Fit) -> float:
    """Return the log-loss of the test part of a fit, in nats, over the classes of both parts.

    Raises
    ------
    ValueError
        If the estimator has no `predict_proba`, which may depend on its parameters.
    """
    classes = np.union1d(fit.y_train, fit.y_test)
    loss = _log_loss(fit.y_test, _predict_scores(fit, classes)[0], classes)
    if loss is None:
        raise ValueError(f"{type(fit.estimator).__name__} as it is set has no predict_proba")
    return loss


def auc_of(fit: Fit) -> float:
    """Return the area under the ROC curve of the test part of a fit.

    Raises
    ------
    ValueError
        If the test part has one class.
    """
    classes = np.union1d(fit.y_train, fit.y_test)
    area = _auc(fit.y_test, _predict_scores(fit, classes)[1], classes)
    if area is None:
        raise ValueError("a part with one class has no area under the ROC curve")
    return area


def _predict_scores(fit: Fit, classes: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the probabilities and the scores of the test part, each None if it has none.

    The scores are the probabilities, or without them the values of `decision_function`.

    Parameters
    ----------
    fit : Fit
    classes : ndarray of shape (n_classes,)
        Labels of all classes.

    Returns
    -------
    probabilities, scores : ndarray of shape (n_test, n_classes) or None
    """
    probabilities = class_columns(fit, "predict_proba", classes)
    if probabilities is not None:
        return probabilities, probabilities
    return None, class_columns(fit, "decision_function", classes)


def class_columns(fit: Fit, method: str, classes: np.ndarray) -> np.ndarray | None:
    """Return a method's values for the test part, with a column for each class of the data.

    The columns of the estimator are in the order of its `classes_`, or of the ascending labels. A
    class that the training part lacks has probability 0, or the least score.

    Parameters
    ----------
    fit : Fit
    method : {"predict_proba", "decision_function"}
        Method of the estimator.
    classes : ndarray of shape (n_classes,)
        Labels of all classes of the data, ascending.

    Returns
    -------
    ndarray of shape (n_test, n_classes) or None
        None: the estimator lacks the method.

    Raises
    ------
    ValueError
        If the values are not finite, have another shape than one column for each class of the
        training part, or if `classes_` are not the labels of the training part.
    """
    predict_values = getattr(fit.estimator, method, None)
    if predict_values is None:
        return None
    values = np.asarray(predict_values(fit.X_test), dtype=float)
    if values.ndim == 1:  # scores of the second of two classes
        values = np.stack([-values, values], axis=1)
    labels = np.unique(fit.y_train)
    order = np.asarray(getattr(fit.estimator, "classes_", labels))
    if not np.array_equal(np.sort(order), labels):
        raise ValueError("classes_ are not the labels of the training part, each once")
    if values.shape != (len(fit.y_test), len(labels)):
        raise ValueError(
            f"{method} gives shape {values.shape}, not ({len(fit.y_test)}, {len(labels)})"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{method} gives NaN or infinity")
    lowest = 0.0 if method == "predict_proba" else values.min()
    values_by_class = np.full((len(values), len(classes)), lowest)
    values_by_class[:, np.searchsorted(classes, order)] = values
    return values_by_class


def _log_loss(y: np.ndarray, probabilities: np.ndarray | None, classes: np.ndarray) -> float | None:
    """Return the mean negative logarithm of the true class's probability; None without it.

    Parameters
    ----------
    y : ndarray of shape (n_test,)
        True labels.
    probabilities : ndarray of shape (n_test, n_classes) or None
    classes : ndarray of shape (n_classes,)
        Labels of the columns, ascending.
    """
    if probabilities is None:
        return None
    true_class = np.searchsorted(classes, y)
    p = probabilities[np.arange(len(y)), true_class]
    return float(-np.log(np.clip(p, _EPS, 1 - _EPS)).mean())


def _brier(y: np.ndarray, probabilities: np.ndarray | None, classes: np.ndarray) -> float | None:
    """Return the mean squared distance of the probabilities from 1 for the true class and 0 else.

    For two classes it is half of this distance, as in `sklearn.metrics.brier_score_loss`.
    """
    if probabilities is None:
        return None
    squares = ((probabilities - (y[:, None] == classes)) ** 2).sum(axis=1).mean()
    return float(squares / 2 if len(classes) == 2 else squares)


def _auc(y: np.ndarray, scores: np.ndarray | None, classes: np.ndarray) -> float | None:
    """Return the mean area under the ROC curves of each tested class against the other classes.

    With two classes both areas are equal. The area is the statistic of Mann and Whitney, divided by
    the number of pairs of a member and a non-member of the class:
    (sum of the members' ranks - n (n + 1) / 2) / (n (n_test - n)) for n members. None: there are no
    scores, or the test part has one class.
    """
    tested = np.unique(y)
    if scores is None or len(tested) < 2:
        return None
    ranks = rankdata(scores[:, np.searchsorted(classes, tested)], axis=0)
    is_member = y[:, None] == tested
    n_members = is_member.sum(axis=0)
    statistics = (ranks * is_member).sum(axis=0) - n_members * (n_members + 1) / 2
    return float((statistics / (n_members * (len(y) - n_members))).mean())
