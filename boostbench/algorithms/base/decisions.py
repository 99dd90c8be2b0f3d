"""From the scores of the classes to what `decision_function` and `predict` give."""

import numpy as np

#: Scores that differ by less than this part of what was added up are equal: the rest is rounding.
ROUNDING = 2.0**-40


def decision_values(scores, slack=0.0):
    """Turn scores into what `decision_function` gives: one number a sample for two classes.

    The largest scores of a sample, where they differ by rounding only, are made equal, so that the
    first of these classes is predicted on every machine.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
    slack : float, default=0.0
        A difference that is rounding only, as from `rounding_slack`. Of several scores it is at
        least `ROUNDING` times the largest of a sample.

    Returns
    -------
    ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes

    Examples
    --------
    >>> decision_values(np.array([[0.3, 0.1 + 0.2, -1.0], [1.0, 2.0, 0.0]])).argmax(axis=1)
    array([0, 1])
    >>> decision_values(np.array([0.3 - 0.2 - 0.1]), slack=1e-12)
    array([0.])
    """
    if scores.ndim == 1:
        return np.where(np.abs(scores) <= slack, 0.0, scores)
    largest = scores.max(axis=1)
    sizes = np.maximum(largest, -scores.min(axis=1))
    slack = np.maximum(ROUNDING * sizes, slack)
    if scores.shape[1] == 2:
        difference = scores[:, 1] - scores[:, 0]
        return np.where(np.abs(difference) <= slack, 0.0, difference)
    equal = scores >= (largest - slack)[:, None]
    return np.where(equal, largest[:, None], scores)


def rounding_slack(*terms):
    """Give the difference of scores that is rounding only.

    Parameters
    ----------
    *terms : ndarray of shape (n_terms,) or (n_terms, n_classes)
        What the scores are added up from: coefficients, or intercepts.

    Returns
    -------
    float
        `ROUNDING` times the sum of the sizes, of the class where it is largest.
    """
    sizes = sum(np.abs(np.atleast_1d(some)).sum(axis=0) for some in terms)
    return ROUNDING * float(np.max(sizes, initial=0.0))


def labels_from_scores(scores, classes):
    """Choose the class of the largest score.

    Parameters
    ----------
    decision : ndarray of shape (n_samples, n_classes) or (n_samples,)
        From `scores`.
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if scores.ndim == 1:
        return classes[(scores > 0).astype(int)]
    return classes[scores.argmax(axis=1)]
