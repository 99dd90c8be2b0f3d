"""From the scores of the classes to what `decision_function` and `predict` give."""

import numpy as np

# Scores that differ by less than this part of what was added up are equal: the rest is rounding.
_ROUNDING = 2.0**-40


def decision(scores, added=0.0):
    """Turn scores into what `decision_function` gives: one number a sample for two classes.

    The largest scores of a sample, where they differ by rounding only, are made equal, so that the
    first of these classes is predicted on every machine.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
    added : float, default=0.0
        The sum of the sizes of what the scores were added up from; if that is not known, the
        largest score of a sample stands for it.

    Returns
    -------
    ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes

    Examples
    --------
    >>> decision(np.array([[0.1 + 0.2, 0.3, -1.0], [1.0, 2.0, 0.0]])).argmax(axis=1)
    array([0, 1])
    >>> decision(np.array([0.3 - 0.2 - 0.1]), added=0.6)
    array([0.])
    """
    if scores.ndim == 1:
        return np.where(np.abs(scores) <= _ROUNDING * added, 0.0, scores)
    largest = scores.max(axis=1)
    sizes = np.maximum(largest, -scores.min(axis=1))
    slack = _ROUNDING * np.maximum(sizes, added)
    if scores.shape[1] == 2:
        difference = scores[:, 1] - scores[:, 0]
        return np.where(np.abs(difference) <= slack, 0.0, difference)
    equal = scores >= (largest - slack)[:, None]
    return np.where(equal, largest[:, None], scores)


def added_up(estimator):
    """Sum of the sizes of a fitted model's coefficients, of the class where it is largest.

    Parameters
    ----------
    estimator : BoostingClassifier

    Returns
    -------
    float
        0.0 where it has no coefficients.
    """
    coefficients = getattr(estimator, "coefficients_", None)
    return 0.0 if coefficients is None else float(abs(coefficients).sum(axis=0).max(initial=0.0))


def predicted(decision, classes):
    """Choose the class of the largest score.

    Parameters
    ----------
    decision : ndarray of shape (n_samples, n_classes) or (n_samples,)
        From `decision`.
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if decision.ndim == 1:
        return classes[(decision > 0).astype(int)]
    return classes[decision.argmax(axis=1)]
