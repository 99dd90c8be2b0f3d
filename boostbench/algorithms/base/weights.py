"""Validation and combination of sample weights and class weights."""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from boostbench.algorithms.base.labels import sorted_labels
from boostbench.util.compat.sklearn import check_sample_weight

#: Largest sample weight: its square can be summed over a billion samples in double precision.
_MAX_WEIGHT = 1e100


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
    present = weights > 0
    if present.all():
        return X, y, weights
    if not present.any():
        raise ValueError("All samples have the weight 0: there is nothing to learn from.")
    return X[present], y[present], weights[present]
