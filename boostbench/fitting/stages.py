"""Checked predictions of a fitted estimator after each boosting round, and their digests."""

import contextlib
import hashlib
import itertools
import numbers
from collections.abc import Collection, Iterator

import numpy as np

from boostbench.fitting.quantities import SCORE_DIGITS
from boostbench.util.numbers import round_significant

#: Usual names of the parameter that limits the number of boosting rounds.
ROUND_PARAMETERS = ("n_iterations", "n_estimators", "max_iter")
# Scores added up round by round and at once differ in the last bit, so that the classes of
# instances whose scores tie may differ; more than this share of them, and than a few, is a mistake.
TIES = 0.01
FEW_TIES = 2
_NUMBERS = "biuf"


def predict(estimator, X, classes: np.ndarray) -> np.ndarray:
    """Predict a label for each sample, and check it.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    classes : ndarray of shape (n_classes,)
        The labels that the estimator was fitted on.

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If it is no array of that shape, or of anything but `classes`.
    """
    return check_labels(estimator.predict(X), X.shape[0], classes)


def check_labels(
    labels, n_samples: int, classes: np.ndarray, method: str = "predict"
) -> np.ndarray:
    """Return labels as they are if they can be compared with the true ones; see `predict`."""
    shape = np.shape(labels)
    if shape != (n_samples,):
        raise ValueError(f"{method} gives shape {shape}, not ({n_samples},), a label for a sample")
    if np.ma.is_masked(labels):
        raise ValueError(f"{method} gives masked values, which are no labels")
    labels = np.asarray(labels)
    # NumPy would compare numbers with words as words.
    alike = (labels.dtype.kind in _NUMBERS) == (classes.dtype.kind in _NUMBERS)
    strange = labels[~np.isin(labels, classes)] if alike or labels.dtype == object else labels
    if len(strange):
        raise ValueError(
            f"{method} gives {strange.tolist()[0]!r}, which is no label of the training part"
        )
    return labels.astype(classes.dtype) if labels.dtype == object else labels


def stages(estimator, X, classes: np.ndarray, stop: int | None = None) -> Iterator[np.ndarray]:
    """Predict after 1, 2, ... boosting rounds, up to `stop` of them if it is given.

    This is the one place where `staged_predict` is called. An estimator without it has no stages.

    Yields
    ------
    ndarray of shape (n_samples,)
        As of `predict`, with its errors.
    """
    if hasattr(estimator, "staged_predict"):
        for labels in itertools.islice(estimator.staged_predict(X), stop):
            yield check_labels(labels, X.shape[0], classes, "staged_predict")


def predictions(
    estimator, X, classes: np.ndarray, rounds: Collection[int] = (), end: np.ndarray | None = None
) -> tuple[dict[str, np.ndarray], int | None]:
    """Predict in the end, and after some numbers of boosting rounds.

    A classifier that stopped early keeps its last stage for the checkpoints up to the number of
    rounds that were asked for; checkpoints beyond that are left out.

    Parameters
    ----------
    estimator, X, classes
        See `predict`.
    rounds : collection of int, default=()
        The checkpoints, ascending.
    end : ndarray of shape (n_samples,), default=None
        Result of `predict`. None: it is computed.

    Returns
    -------
    dict of str to ndarray of shape (n_samples,)
        Labels at the ``"end"``, and by the digits of each checkpoint.
    int or None
        Number of rounds done; None if no checkpoints are asked for or there are no stages.

    Raises
    ------
    ValueError
        As of `predict`.
    RuntimeError
        If the last stage is another than `end`, save for a few ties.
    """
    end = predict(estimator, X, classes) if end is None else end
    if not rounds or not hasattr(estimator, "staged_predict"):
        return {"end": end}, None
    by_stage = {"end": end}
    # Boosting may stop before its first round: then nothing is staged.
    done, last = 0, end
    for done, last in enumerate(stages(estimator, X, classes), start=1):
        if done in rounds:
            by_stage[str(done)] = last
    if np.sum(last != end) > max(FEW_TIES, TIES * len(end)):
        raise RuntimeError("the last stage of staged_predict is not what predict gives")
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    # An estimator may say how its own is called.
    names = (getattr(estimator, "staged_parameter", None), *ROUND_PARAMETERS)
    asked = next((params[name] for name in names if name in params), done)
    # The parameter may be "auto", or None for no limit: then all requested rounds were done.
    asked = asked if isinstance(asked, numbers.Real) else done
    return by_stage | {str(number): last for number in rounds if done < number <= asked}, done


@contextlib.contextmanager
def recorded_stage_scores(estimator) -> Iterator[list[float]]:
    """Record the mean absolute scores while an estimator predicts its stages.

    If `staged_predict` calls `staged_decision_function`, as in the boosters here, the scores pass
    through this method, so that they are not computed a second time.

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
    """Give the first 10 hex digits of the SHA-256 of predicted labels, or of codes.

    Equal numbers have equal digests, independent of their type.

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
