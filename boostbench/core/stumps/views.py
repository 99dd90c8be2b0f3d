"""Views: numeric columns that represent missing values and categories.

A stump tests ``z > threshold`` for a column z. A feature with missing values has three such
columns, its *views*: one in which a missing value is the lowest value, one in which it is the
highest, and an indicator of missing values. The stumps on these views are all thresholds, with
missing values on either side, and the test for a missing value. A category has a view that is 1 for
this category; its stump separates the category from the rest. Any other feature is its own view.

The views of a feature are consecutive. They share the bins of the feature if samples are added to
bins (`boostbench.core.stumps.feature_codes`).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

#: Category of the view that indicates missing values. No value equals it.
MISSING = np.inf


@dataclass(frozen=True)
class Views:
    """Columns that stumps test, computed from features.

    Attributes
    ----------
    feature : ndarray of shape (n_views,), dtype=int64
        Index of the original feature of each view.
    category : ndarray of shape (n_views,), dtype=float64
        Category for which the view is 1, and 0 otherwise; `MISSING` if the view is 1 for missing
        values only; NaN if the view is the feature itself.
    fill : ndarray of shape (n_views,), dtype=float64
        Value of the view for a missing value. If the training data have no missing value of the
        feature, a missing value counts as the mean, or as the most frequent category.
    n_features : int

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [np.nan, 2.0], [5.0, 1.0]])
    >>> views = fit_views(X, categorical=[1])
    >>> views.transform(X)
    array([[1., 1., 0., 1., 0., 0.],
           [1., 5., 1., 0., 0., 1.],
           [5., 5., 0., 0., 1., 0.]])
    """

    feature: np.ndarray
    category: np.ndarray
    fill: np.ndarray
    n_features: int

    @property
    def is_plain(self):
        """True if each feature is its own view."""
        return bool(len(self.feature) == self.n_features and np.isnan(self.category).all())

    def has_missing(self, feature):
        """Return True if the training data have missing values of a feature."""
        feature_views = self.feature == feature
        return bool(np.isinf(self.category[feature_views]).any())

    def transform(self, X):
        """Return the views of samples.

        Parameters
        ----------
        X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features)
            Missing values are NaN.

        Returns
        -------
        ndarray or scipy.sparse.csr_array of shape (n_samples, n_views), dtype=float64
            Views without NaN; X itself if it has no NaN and each feature is its own view.
        """
        # A NaN makes the sum NaN, and the sum takes less time than a comparison. `X.sum()` of a
        # sparse matrix would sort its entries in place.
        values = X.data if sparse.issparse(X) else X
        if self.is_plain:
            with np.errstate(over="ignore", invalid="ignore"):
                total = values.sum()
            if not np.isnan(total):
                return X
        if sparse.issparse(X):
            Z = X.tocsc()[:, self.feature]
            column_views = np.repeat(np.arange(len(self.feature)), np.diff(Z.indptr))
            Z.data = self.expand_values(Z.data, column_views)
            Z.eliminate_zeros()
            return Z.tocsr()
        return self.expand_values(X[:, self.feature], slice(None))

    def is_missing_above(self, views, thresholds):
        """Return a mask of the thresholds that a missing value exceeds in the given views."""
        return self.fill[views] > thresholds

    def expand_values(self, values, views):
        """Return the values of views from the values of their features.

        Parameters
        ----------
        values : ndarray of shape (..., n_selected)
        views : slice or ndarray of shape (n_selected,), or int

        Returns
        -------
        ndarray
            Same shape as the values.
        """
        category, fill = self.category[views], self.fill[views]
        # A view without a category is the feature itself; others are indicators of one category.
        present = np.where(np.isnan(category), values, values == category)
        return np.where(np.isnan(values), fill, present)


class ViewedFeatures:
    """Matrix of the views of a training set, computed on access.

    Indexing works as for a matrix of shape (n_samples, n_views); `numpy.asarray` returns it.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features), dtype=float64
        Training data; missing values are NaN.
    views : Views

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [np.nan, 2.0], [5.0, 1.0]])
    >>> columns = ViewedFeatures(X, fit_views(X, categorical=[1]))
    >>> columns.shape, columns[:, 1], columns[1]
    ((3, 6), array([1., 5., 5.]), array([1., 5., 1., 0., 0., 1.]))
    """

    ndim = 2

    def __init__(self, features, views):
        self.features, self.views = features, views

    @property
    def shape(self):
        """Number of samples and number of views."""
        return len(self.features), len(self.views.feature)

    def __len__(self):
        return len(self.features)

    def __getitem__(self, key):
        rows, views = key if isinstance(key, tuple) else (key, slice(None))
        return self.views.expand_values(self.features[rows][..., self.views.feature[views]], views)

    def copy(self):
        """Return the views of a copy of the features."""
        return ViewedFeatures(self.features.copy(), self.views)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[:], dtype=dtype)


def identity_views(n_features):
    """Return views of features that are their own views."""
    return Views(
        np.arange(n_features), np.full(n_features, np.nan), np.zeros(n_features), n_features
    )


def fit_views(X, categorical=(), weights=None):
    """Return the views that the features of training data need.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Missing values are NaN.
    categorical : iterable of int, default=()
        Features of a dense X that are categories with codes from 0.
    weights : ndarray of shape (n_samples,), default=None
        Counts of the samples in means and frequencies. None means one for each.

    Returns
    -------
    Views
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.asarray(X.T @ weights) / weights.sum()
    # 1) Find the views of the features with missing values and of categories. A view is a row of
    #    three numbers: feature, category and fill, the attributes of `Views`.
    views_of_feature = {}
    for feature in np.union1d(np.flatnonzero(np.isnan(means)), list(categorical)).astype(int):
        column = X[:, [feature]].toarray()[:, 0] if sparse.issparse(X) else X[:, feature]
        is_missing = np.isnan(column)
        if feature in categorical:
            counts = np.bincount(column[~is_missing].astype(int), weights[~is_missing])
            views_of_feature[feature] = _category_views(feature, counts, is_missing.any())
        elif is_missing.any():
            views_of_feature[feature] = _numeric_views(feature, column[~is_missing])
    # 2) Add the other features, which are their own views, and sort the views by feature.
    plain = np.delete(np.arange(X.shape[1]), list(views_of_feature))
    plain_views = np.column_stack([plain, np.full(len(plain), np.nan), means[plain]])
    view_rows = np.concatenate(
        [np.reshape(rows, (-1, 3)) for rows in [plain_views, *views_of_feature.values()]]
    )
    feature, category, fill = view_rows[np.argsort(view_rows[:, 0], kind="stable")].T
    return Views(feature.astype(int), category, np.nan_to_num(fill), X.shape[1])


def _numeric_views(feature, present_values):
    """Return the views of a number with missing values: as lowest, as highest, missing or not."""
    ends = (present_values.min(), present_values.max()) if len(present_values) else (0.0, 0.0)
    return [*((feature, np.nan, end) for end in ends), (feature, MISSING, 1.0)]


def _category_views(feature, counts, has_missing):
    """Return a view for each category that occurs, and one for missing values if there are some.

    `counts` has the number of samples of each category. A missing value without a view of its own
    counts as the most frequent category, whose view it fills with 1.
    """
    most_frequent = -1 if has_missing else counts.argmax()
    views = [
        (feature, float(code), float(code == most_frequent)) for code in np.flatnonzero(counts)
    ]
    if has_missing:
        views.append((feature, MISSING, 1.0))
    # One of two views is enough, since the other is its complement. The later category is used, or
    # the indicator of missing values if only one category occurs.
    return views[-1:] if len(views) == 2 else views
