"""Validation of labels and of sample weights; classes as numbers."""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from boostbench.util.compat import check_sample_weight

# Largest sample weight; the smallest one is its reciprocal. The squares of weights in this range
# can be summed over a billion samples in double precision.
_MAX_WEIGHT = 1e100


def sorted_labels(y):
    """Return the distinct labels, sorted, and the position of each sample's label.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        Distinct labels, sorted.
    numbers : ndarray of shape (n_samples,), dtype=int64
        Position of each sample's label in `labels`.

    Raises
    ------
    ValueError
        If y does not hold labels, or they cannot be sorted.
    """
    try:
        labels, numbers = np.unique(y, return_inverse=True)
    except TypeError:  # values of several types, such as strings and None
        kinds = " and ".join(sorted({type(label).__name__ for label in y}))
        raise ValueError(f"labels must sort, and y holds some of {kinds}") from None
    check_classification_targets(y)
    return labels, numbers


def encode_labels(y, learner):
    """Return the classes of a training set, and the class number of each sample.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels: strings, or a NumPy type.
    learner : estimator
        Estimator to name in an error message.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Classes, sorted.
    numbers : ndarray of shape (n_samples,), dtype=int64
        Class numbers, 0 to n_classes - 1.

    Raises
    ------
    ValueError
        If y does not hold labels, they cannot be sorted, or y holds one class only.
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
        If all samples of positive weight are of one class.
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
    """Return the class numbers of labels for the classes of a fitted estimator.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
        Classes, sorted.
    name : str, default="y"
        Name of the labels in an error message.

    Returns
    -------
    ndarray of shape (n_samples,), dtype=int64

    Raises
    ------
    ValueError
        If a label is not one of the classes.
    """
    try:
        unknown = np.setdiff1d(y, classes)
    except TypeError:  # values of several types, such as strings and None, cannot be sorted
        unknown = np.array([label for label in y if label not in classes.tolist()], dtype=object)
    if len(unknown):
        first = unknown.tolist()[0]
        raise ValueError(f"{name} holds {first!r}, which is no class of the training data")
    return np.searchsorted(classes, y)


def combine_weights(X, y, sample_weight, class_weight=None):
    """Check the sample weights, and multiply them by the class weights.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,) or None
        Sample weights; None: all are 1.
    class_weight : dict, "balanced" or None, default=None
        See scikit-learn's `compute_class_weight`; "balanced" takes the sample weights into
        account. None: all are 1.

    Returns
    -------
    X, y : ndarray
        Samples of positive weight.
    weights : ndarray of shape (n_present,), dtype=float64, or None
        Positive weights; None if neither sample weights nor class weights are given.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, all weights are 0, their number differs from the
        number of samples, or their sum of squares overflows or underflows.
    """
    if sample_weight is None and class_weight is None:
        return X, y, None
    weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    X, y, weights = _drop_zero_weights(X, y, weights)
    _check_range(weights)
    if class_weight is None:
        return X, y, weights
    classes, labels = sorted_labels(y)
    factors = compute_class_weight(class_weight, classes=classes, y=y, sample_weight=weights)
    # The comparison is False for NaN as well.
    if not factors.min() >= 0:
        raise ValueError(f"class_weight must not be negative or NaN, got {class_weight!r}")
    X, y, weights = _drop_zero_weights(X, y, weights * factors[labels])
    _check_range(weights)
    return X, y, weights


def normalise_weights(weights):
    """Scale weights to the mean 1, which keeps the scale of a sum over samples; None stays None."""
    return None if weights is None else weights / weights.mean()


def _check_range(weights):
    """Raise ValueError for weights whose products overflow or underflow in a sum."""
    if weights.max() > _MAX_WEIGHT or weights.min() < 1 / _MAX_WEIGHT:
        raise ValueError(
            f"Weights that are not 0 must lie between {1 / _MAX_WEIGHT:g} and {_MAX_WEIGHT:g}: "
            f"divide all by one number; these are from {weights.min():.3g} to "
            f"{weights.max():.3g}."
        )


def _drop_zero_weights(X, y, weights):
    """Return X, y and weights of the samples of positive weight; raise ValueError if none is."""
    is_positive = weights > 0
    if is_positive.all():
        return X, y, weights
    if not is_positive.any():
        raise ValueError("All samples have the weight 0: there is nothing to learn from.")
    return X[is_positive], y[is_positive], weights[is_positive]
