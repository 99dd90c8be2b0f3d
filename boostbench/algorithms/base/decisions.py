"""Conversion of class scores into `decision_function` values and labels."""

import numpy as np

#: Relative tolerance of equal scores, a bound on rounding errors: a fraction of the sum of the
#: absolute values that were added up.
ROUNDING = 2.0**-40


def decision_values(scores, slack=0.0):
    """Return the values of `decision_function`: for two classes one number per sample.

    If the largest scores of a sample differ by rounding errors only, they are made equal, so that
    the first of these classes is predicted on every machine.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
    slack : float, default=0.0
        Largest difference that may be a rounding error, see `rounding_slack`. With several scores
        per sample, it is raised to `ROUNDING` times the largest absolute score of the sample.

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
    """Return the largest difference of scores that may be a rounding error.

    Parameters
    ----------
    *terms : ndarray of shape (n_terms,) or (n_terms, n_classes)
        Summands of the scores: coefficients, or intercepts.

    Returns
    -------
    float
        `ROUNDING` times the sum of the absolute terms, for the class where it is largest.
    """
    sizes = sum(np.abs(np.atleast_1d(term)).sum(axis=0) for term in terms)
    return ROUNDING * float(np.max(sizes, initial=0.0))


def labels_from_scores(scores, classes):
    """Return the class of the largest score of each sample.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
        Result of `decision_values`.
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if scores.ndim == 1:
        return classes[(scores > 0).astype(int)]
    return classes[scores.argmax(axis=1)]
