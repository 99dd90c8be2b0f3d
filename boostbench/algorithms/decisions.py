"""From the scores of the classes to what `decision_function` and `predict` give."""


def decision(scores):
    """Turn scores into what `decision_function` gives: one number a sample for two classes.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples,)

    Returns
    -------
    ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
    """
    if scores.ndim == 2 and scores.shape[1] == 2:
        return scores[:, 1] - scores[:, 0]
    return scores


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
