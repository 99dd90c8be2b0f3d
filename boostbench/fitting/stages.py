"""Checked predictions of a fitted estimator after each boosting round, and their digests.

A *stage* is the model after 1, 2, ... rounds, whose predictions `staged_predict` yields. Estimators
may be of any package, so that each prediction is checked before a measure uses it.
"""

import contextlib
import hashlib
import itertools
import numbers
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from boostbench.fitting.quantities import SCORE_DIGITS
from boostbench.util.numbers import round_significant

#: Names of the parameter that limits the number of boosting rounds: here, and in scikit-learn.
ROUND_PARAMETERS = ("n_iterations", "n_estimators", "max_iter")
#: Share and number of samples on which the last stage may differ from the prediction of the model.
#: Sums of scores round by round and at once differ in the last bit, so that classes with tied
#: scores may differ. More differences than both limits allow are a mistake of the estimator.
MAX_TIED_SHARE = 0.01
MAX_TIES = 2
# Kinds of NumPy's types of numbers: booleans, signed and unsigned integers, and floats.
_NUMBERS = "biuf"


def predict(estimator, X, classes: np.ndarray) -> np.ndarray:
    """Return the predicted label of each sample, after a check.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    classes : ndarray of shape (n_classes,)
        Labels of the training part.

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If the prediction has another shape, or a label that is not in `classes`.
    """
    return check_labels(estimator.predict(X), X.shape[0], classes)


def check_labels(
    labels, n_samples: int, classes: np.ndarray, method: str = "predict"
) -> np.ndarray:
    """Return predicted labels after a check of their shape and values.

    Parameters
    ----------
    labels : array-like
        Labels that a method of an estimator returned.
    n_samples : int
        Number of samples that were predicted.
    classes : ndarray of shape (n_classes,)
        Labels of the training part.
    method : str, default="predict"
        Name of the method, for errors.

    Raises
    ------
    ValueError
        See `predict`.
    """
    shape = np.shape(labels)
    if shape != (n_samples,):
        raise ValueError(f"{method} gives shape {shape}, not ({n_samples},), a label for a sample")
    if np.ma.is_masked(labels):
        raise ValueError(f"{method} gives masked values, which are no labels")
    labels = np.asarray(labels)
    # NumPy compares numbers with texts as texts: then no label is valid.
    is_comparable = (labels.dtype.kind in _NUMBERS) == (classes.dtype.kind in _NUMBERS)
    if is_comparable or labels.dtype == object:
        invalid = labels[~np.isin(labels, classes)]
    else:
        invalid = labels
    if len(invalid):
        raise ValueError(
            f"{method} gives {invalid.tolist()[0]!r}, which is no label of the training part"
        )
    return labels.astype(classes.dtype) if labels.dtype == object else labels


def stages(estimator, X, classes: np.ndarray, stop: int | None = None) -> Iterator[np.ndarray]:
    """Yield the predicted labels after 1, 2, ... boosting rounds.

    An estimator without `staged_predict` has no stages. Only this function calls `staged_predict`.

    Parameters
    ----------
    estimator, X, classes
        See `predict`.
    stop : int, default=None
        Number of stages that are computed. None: all stages.

    Yields
    ------
    ndarray of shape (n_samples,)
        Labels, checked as by `predict`.
    """
    if hasattr(estimator, "staged_predict"):
        for labels in itertools.islice(estimator.staged_predict(X), stop):
            yield check_labels(labels, X.shape[0], classes, "staged_predict")


class StagedPredictions(NamedTuple):
    """Predicted labels of a fit at the end of boosting and at checkpoints.

    Attributes
    ----------
    end : ndarray of shape (n_samples,)
        Labels at the end.
    at_checkpoints : list of ndarray of shape (n_samples,)
        Labels at the first checkpoints, up to the limit of rounds.
    n_rounds : int or None
        Number of rounds done; None without checkpoints or without stages.
    """

    end: np.ndarray
    at_checkpoints: list[np.ndarray]
    n_rounds: int | None


def predictions(
    estimator, X, classes: np.ndarray, rounds: Collection[int] = (), end: np.ndarray | None = None
) -> StagedPredictions:
    """Return the predicted labels at the end of boosting, and at checkpoints.

    A classifier that stopped early has its last stage at later checkpoints, up to the limit of
    rounds that its parameter sets; checkpoints beyond this limit are left out.

    Parameters
    ----------
    estimator, X, classes
        See `predict`.
    rounds : collection of int, default=()
        Checkpoints: ascending numbers of boosting rounds.
    end : ndarray of shape (n_samples,), default=None
        Result of `predict`. None: it is computed.

    Returns
    -------
    StagedPredictions

    Raises
    ------
    ValueError
        See `predict`.
    RuntimeError
        If the last stage differs from `end` on more samples than ties explain (`MAX_TIES`).
    """
    end = predict(estimator, X, classes) if end is None else end
    if not rounds or not hasattr(estimator, "staged_predict"):
        return StagedPredictions(end, [], None)
    # 1) Keep the stages at checkpoints. Boosting may stop before its first round: then there is no
    #    stage.
    at_checkpoints = []
    n_done, last = 0, end  # number and labels of the last stage
    for n_done, last in enumerate(stages(estimator, X, classes), start=1):
        if n_done in rounds:
            at_checkpoints.append(last)
    if np.sum(last != end) > max(MAX_TIES, MAX_TIED_SHARE * len(end)):
        raise RuntimeError("the last stage of staged_predict is not what predict gives")
    # 2) Repeat the last stage at later checkpoints, up to the limit of rounds. An estimator may
    #    name the parameter of its limit, which may be "auto" or None: then all rounds were done.
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    names = (getattr(estimator, "staged_parameter", None), *ROUND_PARAMETERS)
    limit = next((params[name] for name in names if name in params), n_done)
    limit = limit if isinstance(limit, numbers.Real) else n_done
    at_checkpoints += [last for n in rounds if n_done < n <= limit]
    return StagedPredictions(end, at_checkpoints, n_done)


@contextlib.contextmanager
def recorded_stage_scores(estimator) -> Iterator[list[float]]:
    """Record the mean absolute scores while an estimator predicts its stages.

    `staged_predict` of the boosters here calls `staged_decision_function`. Inside the context, a
    function that records the scores and passes them on replaces this method of the estimator, so
    that the scores are not computed a second time.

    Yields
    ------
    list of float
        Mean absolute score after 1, 2, ... rounds, filled by `staged_predict`; it stays empty if
        the estimator has no `staged_decision_function` or does not call it.
    """
    means: list[float] = []
    staged_scores = getattr(estimator, "staged_decision_function", None)
    if staged_scores is None:
        yield means
        return

    def staged_decision_function(X):
        means.clear()
        for scores in staged_scores(X):
            means.append(mean_size(scores))
            yield scores

    # The attribute of the instance hides the method of its class, until it is deleted.
    estimator.staged_decision_function = staged_decision_function
    try:
        yield means
    finally:
        del estimator.staged_decision_function


def mean_size(scores: np.ndarray) -> float:
    """Return the mean absolute score, with `SCORE_DIGITS` significant digits."""
    return round_significant(np.abs(scores).mean(), SCORE_DIGITS)


def digest_of_labels(predicted: np.ndarray) -> str:
    """Return the first 10 hex digits of the SHA-256 of predicted labels, or of codes.

    Equal numbers have equal digests, whether they are integers, booleans or floats.

    Examples
    --------
    >>> digest_of_labels(np.array([0, 2, 1])) == digest_of_labels(np.array([0.0, 2.0, 1.0]))
    True
    """
    if predicted.dtype.kind in _NUMBERS:
        content = np.ascontiguousarray(predicted, "<i8").tobytes()
    else:
        content = "\0".join(map(str, predicted.ravel().tolist())).encode()
    return hashlib.sha256(content).hexdigest()[:10]
