"""Validation of X, y and weights; classes as numbers, and X as the columns that weak learners test.

These columns are called *views*: the values of a numeric feature, whether a value is missing, or
whether it is one category. See `boostbench.core.stumps.views`.
"""

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from boostbench.algorithms.base.categories import (
    check_numeric,
    convert_to_pandas,
    encode_categories,
    find_categories,
    may_be_truncated,
)
from boostbench.core.stumps.views import ViewedFeatures, fit_views
from boostbench.util.compat import check_feature_names, check_sample_weight, safe_indexing
from boostbench.util.data_quality import find_faults

# Largest sample weight; the smallest one is its reciprocal. The squares of weights in this range
# can be summed over a billion samples in double precision.
_MAX_WEIGHT = 1e100


def warn_of_shared_rows(X, y, X_val, y_val):
    """Warn if most validation samples are training samples.

    Equal rows of discrete data are no fault: the warning compares the validation samples that occur
    in the training data with the training samples that occur there twice.

    Parameters
    ----------
    X, X_val : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features)
        Checked training and validation samples. Sparse samples are not compared.
    y, y_val : ndarray of shape (n_samples,)
        Labels or numbers.
    """
    if sparse.issparse(X) or sparse.issparse(X_val):
        return
    train, validation = (
        pd.util.hash_pandas_object(pd.DataFrame(samples).assign(y=labels), index=False)
        for samples, labels in ((X, y), (X_val, y_val))
    )
    is_shared = validation.isin(train)
    if is_shared.mean() > 0.5 and train.duplicated(keep=False).mean() < is_shared.mean() / 2:
        warnings.warn(
            f"{is_shared.sum()} of the {len(validation)} samples of X_val are training samples: "
            "early stopping needs samples that the model is not trained on",
            UserWarning,
            stacklevel=3,
        )


class InputValidationMixin:
    """Mixin of boosters and bags that validates X, y and weights."""

    # True if X may be sparse; `_make_master` then receives it in CSR format.
    _takes_sparse: ClassVar = False

    # True if X may be a table, with missing values and categories, see `TabularBooster`.
    _takes_tables: ClassVar = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = tags.input_tags.categorical = self._takes_tables
        return tags

    def _encode_target(self, y):
        """Check the labels, set `classes_`, and return the labels as class numbers from 0."""
        self.classes_, labels = encode_labels(y, self)
        return labels

    def _validate_input(self, X, *y, weights=None, **options):
        """Check X and y, and return them as arrays.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        *y : array-like of shape (n_samples,)
            Labels or numbers, if there are any.
        weights : ndarray of shape (n_samples,), default=None
            Sample weights, for a second pass that ranks the categories of the same features by
            weight. None: a first pass, which finds the categorical features and ranks their
            categories by the number of samples.
        **options
            Options of scikit-learn's `validate_data`. ``reset=False``: X belongs to a fitted
            estimator, and its categories are known.

        Returns
        -------
        X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features), dtype=float64
            Categories are replaced by their codes, and missing values by NaN.
        y : ndarray of shape (n_samples,)
            Present only if `y` is passed; without it, the result is X alone.
        """
        # 1) Decide which data are accepted. A fit decides, and predictions accept the same.
        X = convert_to_pandas(X)
        reset = options.get("reset", True)
        if reset:
            # The class attributes may depend on parameters, which a user may set after the fit.
            self._accepts_sparse, self._accepts_tables = self._takes_sparse, self._takes_tables
        accepted = "csr" if self._accepts_sparse else False
        if not reset and hasattr(X, "columns") and hasattr(self, "feature_names_in_"):
            # Check the names first: a column at the wrong position would fail as non-numeric.
            check_feature_names(self, X, reset=False)
        # 2) Replace categories by their codes, which a fit determines, and other columns by
        # numbers.
        if self._accepts_tables:
            if reset:
                requested = self.categorical_features if weights is None else list(self.categories_)
                self.categories_ = find_categories(X, requested, weights)
            X = encode_categories(X, self.categories_)
            options["ensure_all_finite"] = "allow-nan"
        else:
            X = check_numeric(X, type(self).__name__)
        return validate_data(self, X, *y, dtype=np.float64, accept_sparse=accepted, **options)

    def _validate_weighted_input(self, X, y, sample_weight, class_weight=None):
        """Check X, y and weights; return them without the samples of weight 0.

        Parameters
        ----------
        X, y, sample_weight, class_weight
            See `boostbench.algorithms.base.booster.WeightedBooster`.

        Returns
        -------
        X : ndarray or scipy.sparse.csr_array of shape (n_present, n_features)
        y : ndarray of shape (n_present,)
        weights : ndarray of shape (n_present,) or None
            Products of the sample weights and the class weights; None: all are 1.
        """
        # 1) Check the data, and find the rows of positive weight: `combine_weights` selects among
        #    the numbers of the rows, in place of X.
        frame = convert_to_pandas(X)
        X, y = self._validate_input(frame, y)
        self._warn_of_faults(frame, X, y, class_weight)
        row_numbers = np.arange(len(y))
        present_rows, y_present, weights = combine_weights(
            row_numbers, y, sample_weight, class_weight
        )
        if is_classifier(self):
            check_classes_have_weight(y, y_present, self)
        has_dropped_rows = len(present_rows) < len(y)
        categories = getattr(self, "categories_", None)
        # 2) Find the categories again if the weights may change them: a category without weight is
        #    dropped, and of too many categories, the ones of the largest weight are kept.
        if (
            categories
            and weights is not None
            and (has_dropped_rows or may_be_truncated(categories))
        ):
            X, y = self._validate_input(
                safe_indexing(frame, present_rows), y_present, weights=weights
            )
            return X, y, weights
        return (X[present_rows], y_present, weights) if has_dropped_rows else (X, y, weights)

    def _warn_of_faults(self, frame, X, y, class_weight=None):
        """Warn of faults of the data in a data frame with names.

        Faults are a feature that separates the classes alone, identifiers, constant features and
        rare classes; see `boostbench.util.data_quality.find_faults`.

        Parameters
        ----------
        frame : array-like of shape (n_samples, n_features)
            Training data as a user passed them. Only a data frame is judged.
        X : ndarray of shape (n_samples, n_features), float64
            The same data with codes of categories.
        y : ndarray of shape (n_samples,)
            Labels or target values.
        class_weight : object, default=None
            Class weights that the user passed. With any, rare classes need no warning.
        """
        is_named = isinstance(frame, pd.DataFrame) and hasattr(self, "feature_names_in_")
        if not is_named or sparse.issparse(X):
            return
        codes = classes = None
        if is_classifier(self):
            codes, classes = pd.factorize(y)
        categories = getattr(self, "categories_", {}) if self._accepts_tables else {}
        category_counts = [(feature, len(values)) for feature, values in categories.items()]
        for fault in find_faults(X, self.feature_names_in_, category_counts, codes, classes):
            if class_weight is None or fault.kind != "rare_class":
                warnings.warn(fault.text, UserWarning, stacklevel=4)

    def _compute_views(self, X, weights=None, reset=False):
        """Return the views of a checked X, the columns that weak learners test.

        Parameters
        ----------
        X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features)
        weights : ndarray of shape (n_samples,), default=None
            Sample weights; None: all are 1.
        reset : bool, default=False
            True: X is the training data, and determines the views.

        Returns
        -------
        ndarray, ViewedFeatures or scipy.sparse.csr_array of shape (n_samples, n_views)
            X itself for an estimator without tables. `ViewedFeatures`, for training data with
            categories or missing values, computes a view when it is read.
        """
        if not self._accepts_tables:
            if reset:
                # An earlier fit may have had another weak learner.
                for name in ("categories_", "views_"):
                    vars(self).pop(name, None)
            return X
        if reset:
            self.views_ = fit_views(X, self.categories_, weights)
            if not (sparse.issparse(X) or self.views_.is_plain):
                return ViewedFeatures(X, self.views_)
        return self.views_.transform(X)


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
