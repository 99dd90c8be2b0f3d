"""Features with missing values and categories, as columns that stumps test like any other.

A stump asks ``z > threshold`` of a column z. Of a feature with missing values there are three such
columns, its *views*: in one a missing value counts as the lowest, in one as the highest, and one
says where it is missing. So the stumps on them are all thresholds, with missing values on either
side, and the test for a missing value. A category has a view that is 1 where the feature has it:
its stump is this category against the rest. Any other feature is its own view.

Views of one feature follow one another. Where samples are added to bins, they share joint bins
(`boostbench.core.stumps.feature_codes`), which are no more than the bins of the feature.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

#: The category of a view that says where a value is missing: no value is equal to it.
MISSING = np.inf


@dataclass(frozen=True)
class Views:
    """Columns that stumps test, made of features.

    Attributes
    ----------
    feature : ndarray of shape (n_views,), dtype=int64
        What each is a view of.
    category : ndarray of shape (n_views,), dtype=float64
        The view is 1 where the feature is equal to that, and else 0; `MISSING` where it is 1 for
        missing values only; NaN where it is the feature itself.
    fill : ndarray of shape (n_views,), dtype=float64
        The view of a missing value. Where the training data had none, it is that of the mean of the
        feature, or of its most frequent category.
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
        """Whether each feature is its own view."""
        return bool(len(self.feature) == self.n_features and np.isnan(self.category).all())

    def has_missing(self, feature):
        """Whether the training data had missing values of a feature."""
        some = self.feature == feature
        return bool(np.isinf(self.category[some]).any())

    def transform(self, X):
        """Look at samples.

        Parameters
        ----------
        X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features)
            NaN where a value is missing.

        Returns
        -------
        ndarray or scipy.sparse.csr_array of shape (n_samples, n_views), dtype=float64
            Without NaN. X itself where it has none, and each feature is its own view.
        """
        # A sum is NaN where there is one, and as soon found as a number. That of a sparse matrix
        # would sort its entries in place.
        values = X.data if sparse.issparse(X) else X
        if self.is_plain:
            with np.errstate(over="ignore", invalid="ignore"):
                total = values.sum()
            if not np.isnan(total):
                return X
        if sparse.issparse(X):
            Z = X.tocsc()[:, self.feature]
            at = np.repeat(np.arange(len(self.feature)), np.diff(Z.indptr))
            Z.data = self.expand_values(Z.data, at)
            Z.eliminate_zeros()
            return Z.tocsr()
        return self.expand_values(X[:, self.feature], slice(None))

    def above_if_missing(self, views, thresholds):
        """Whether a missing value is above some thresholds of some views."""
        return self.fill[views] > thresholds

    def expand_values(self, values, views):
        """Look at values of the features of some views.

        Parameters
        ----------
        values : ndarray of shape (..., n_some)
        views : slice or ndarray of shape (n_some,), or int

        Returns
        -------
        ndarray
            In the shape of the values.
        """
        category, fill = self.category[views], self.fill[views]
        seen = np.where(np.isnan(category), values, values == category)
        return np.where(np.isnan(values), fill, seen)


class ViewedFeatures:
    """Columns of the views of a training set, computed when they are read.

    Indexing is as of a matrix of shape (n_samples, n_views); `numpy.asarray` makes that matrix.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features), dtype=float64
        Training data, NaN where a value is missing.
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
        """Numbers of samples and views."""
        return len(self.features), len(self.views.feature)

    def __len__(self):
        return len(self.features)

    def __getitem__(self, key):
        rows, views = key if isinstance(key, tuple) else (key, slice(None))
        return self.views.expand_values(self.features[rows][..., self.views.feature[views]], views)

    def copy(self):
        """Return the same columns of a copy of the features."""
        return ViewedFeatures(self.features.copy(), self.views)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[:], dtype=dtype)


def identity_views(n_features):
    """Views of features that are their own."""
    return Views(
        np.arange(n_features), np.full(n_features, np.nan), np.zeros(n_features), n_features
    )


def fit_views(X, categorical=(), weights=None):
    """Find out which views the features of training data need.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        NaN where a value is missing.
    categorical : iterable of int, default=()
        Features that are categories, numbered from 0 on; of a dense X.
    weights : ndarray of shape (n_samples,), default=None
        How often each sample counts in means and frequencies; None: once.

    Returns
    -------
    Views
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.asarray(X.T @ weights) / weights.sum()
    special = {}
    for feature in np.union1d(np.flatnonzero(np.isnan(means)), list(categorical)).astype(int):
        column = X[:, [feature]].toarray()[:, 0] if sparse.issparse(X) else X[:, feature]
        missing = np.isnan(column)
        if feature in categorical:
            counts = np.bincount(column[~missing].astype(int), weights[~missing])
            special[feature] = _category_views(feature, counts, missing.any())
        elif missing.any():
            special[feature] = _numeric_views(feature, column[~missing])
    plain = np.delete(np.arange(X.shape[1]), list(special))
    rows = [np.column_stack([plain, np.full(len(plain), np.nan), means[plain]]), *special.values()]
    rows = np.concatenate([np.reshape(some, (-1, 3)) for some in rows])
    feature, category, fill = rows[np.argsort(rows[:, 0], kind="stable")].T
    return Views(feature.astype(int), category, np.nan_to_num(fill), X.shape[1])


def _numeric_views(feature, known):
    ends = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    return [*((feature, np.nan, end) for end in ends), (feature, MISSING, 1.0)]


def _category_views(feature, counts, is_missing):
    usual = -1 if is_missing else counts.argmax()
    found = [(feature, float(code), float(code == usual)) for code in np.flatnonzero(counts)]
    if is_missing:
        found.append((feature, MISSING, 1.0))
    # Of two, one is the other turned round.
    return found[-1:] if len(found) == 2 else found
