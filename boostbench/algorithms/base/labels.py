"""Labels of samples as numbers of classes."""

import numpy as np
from sklearn.utils.multiclass import check_classification_targets


def sorted_labels(y):
    """Sort the labels of samples.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        The different ones, sorted.
    numbers : ndarray of shape (n_samples,), dtype=int64
        Which of them each is.

    Raises
    ------
    ValueError
        If these are no labels, or do not sort.
    """
    try:
        labels, numbers = np.unique(y, return_inverse=True)
    except TypeError:  # such as words with None among them
        kinds = " and ".join(sorted({type(label).__name__ for label in y}))
        raise ValueError(f"labels must sort, and y holds some of {kinds}") from None
    check_classification_targets(y)
    return labels, numbers


def encode_labels(y, learner):
    """Find the classes of a training set.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels: strings, or of one of NumPy's own types.
    learner : estimator
        Who learns from them, for the error.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Sorted.
    numbers : ndarray of shape (n_samples,), dtype=int64
        0 to n_classes - 1.

    Raises
    ------
    ValueError
        If these are no labels, do not sort, or are of one class only.
    """
    classes, numbers = sorted_labels(y)
    if len(classes) < 2:
        raise ValueError(
            f"{type(learner).__name__} needs at least 2 classes, and y holds 1 class only: "
            f"{classes.tolist()[0]!r}"
        )
    return classes, numbers


def check_classes_have_weight(y, y_present, learner):
    """Check that samples of at least two classes have a weight above 0, if y holds two classes.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        All labels.
    y_present : ndarray of shape (n_present,)
        The labels of the samples whose weight is above 0.
    learner : estimator
        Named in the error.

    Raises
    ------
    ValueError
        If all samples of a weight above 0 are of one class.
    """
    if len(y_present) == len(y):
        return
    labels, labels_present = sorted_labels(y)[0], sorted_labels(y_present)[0]
    if len(labels_present) == 1 < len(labels):
        raise ValueError(
            f"{type(learner).__name__} needs samples of at least 2 classes with a weight above 0: "
            f"y holds {len(labels)} classes, and sample_weight or class_weight is 0 for all "
            f"samples but those of {labels_present.tolist()[0]!r}"
        )


def encode_known_labels(y, classes, name="y"):
    """Find the numbers of labels whose classes are known from a training.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
        Sorted.
    name : str, default="y"
        Of the labels, for the error.

    Returns
    -------
    ndarray of shape (n_samples,), dtype=int64

    Raises
    ------
    ValueError
        If a label is none of the classes.
    """
    try:
        unknown = np.setdiff1d(y, classes)
    except TypeError:  # such as words with None among them: sets of these do not sort
        unknown = np.array([label for label in y if label not in classes.tolist()], dtype=object)
    if len(unknown):
        first = unknown.tolist()[0]
        raise ValueError(f"{name} holds {first!r}, which is no class of the training data")
    return np.searchsorted(classes, y)
