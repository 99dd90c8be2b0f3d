"""Validation of X, y and weights, and conversion of X to the columns that weak learners test.

These columns are called *views*: the values of a numeric feature, whether a value is missing, or
whether it is one category. See `boostbench.core.stumps.views`.
"""

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import validate_data

from boostbench.algorithms.base.categories import (
    check_numeric,
    encode_categories,
    find_categories,
    is_truncated,
    to_pandas,
)
from boostbench.algorithms.base.targets import (
    check_classes_have_weight,
    combine_weights,
    encode_labels,
)
from boostbench.core.stumps.views import ViewedFeatures, fit_views
from boostbench.util.compat import check_feature_names, safe_indexing
from boostbench.util.data_quality import find_faults


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
            Sample weights, by which the categories of the known categorical features are determined
            again. None: categories are determined by the number of samples.
        **options
            Options of scikit-learn's `validate_data`. ``reset=False``: X belongs to a fitted
            estimator, and its categories are known.

        Returns
        -------
        ndarray or scipy.sparse.csr_array of shape (n_samples, n_features); or it and y
            Codes of categories, and NaN for missing values.
        """
        # 1) Decide which data are accepted. A fit decides, and predictions accept the same.
        X = to_pandas(X)
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
        # 1) Check the data, and select the rows of positive weight.
        frame = to_pandas(X)
        X, y = self._validate_input(frame, y)
        self._warn_of_faults(frame, X, y, class_weight)
        rows, y_present, weights = combine_weights(
            np.arange(len(y)), y, sample_weight, class_weight
        )
        if is_classifier(self):
            check_classes_have_weight(y, y_present, self)
        has_dropped_rows = len(rows) < len(y)
        categories = getattr(self, "categories_", None)
        if categories and weights is not None and (has_dropped_rows or is_truncated(categories)):
            # 2) Determine the categories again: drop those without weight, and rank them by weight.
            X, y = self._validate_input(safe_indexing(frame, rows), y_present, weights=weights)
            return X, y, weights
        return (X[rows], y_present, weights) if has_dropped_rows else (X, y, weights)

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
            Class weights of the user, with whom rare classes need no warning.
        """
        is_named = isinstance(frame, pd.DataFrame) and hasattr(self, "feature_names_in_")
        if not is_named or sparse.issparse(X):
            return
        codes = classes = None
        if is_classifier(self):
            codes, classes = pd.factorize(y)
        categories = getattr(self, "categories_", {}) if self._accepts_tables else {}
        counts = [(feature, len(values)) for feature, values in categories.items()]
        for fault in find_faults(X, self.feature_names_in_, counts, codes, classes):
            if class_weight is None or fault.kind != "rare_class":
                warnings.warn(fault.text, UserWarning, stacklevel=4)

    def _to_views(self, X, weights=None, reset=False):
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
