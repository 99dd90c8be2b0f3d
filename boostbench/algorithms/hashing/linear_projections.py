"""Linear transformers of centred features, and the projections LPP and NPE."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from boostbench.algorithms.base.categories import check_numeric
from boostbench.algorithms.base.input_validation import encode_labels
from boostbench.algorithms.base.parameters import DeclaredParameters, PositiveInt
from boostbench.core.linear_algebra import canonical_signs
from boostbench.core.projections import locality_preserving, neighbourhood_preserving

# Fraction of the variance that is discarded by the PCA before a projection, as in the programs of
# the authors of LPP and NPE.
_DISCARDED_VARIANCE = 0.02

# Squared distances that differ by less than this fraction of their mean are equal, so that
# rounding errors do not choose the neighbours.
_DISTANCE_TIE_TOLERANCE = 1e-9


class LinearTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DeclaredParameters):
    """Base of the projections and hashers: linear functions of centred features.

    A subclass defines `_fit_directions`. If its functions are linear in transformed features, it
    also defines `_fit_features` and `_transform_features`.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
    directions_ : ndarray of shape (n_features, n_components)
    """

    # A supervised transformer learns from labels.
    _supervised: ClassVar = False

    def fit(self, X, y=None):
        """Fit the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, finite.
        y : array-like of shape (n_samples,), default=None
            Labels; unsupervised transformers ignore them.

        Returns
        -------
        self
            The fitted transformer.

        Raises
        ------
        ValueError
            If X is not a finite matrix, a parameter is out of range, or a supervised transformer
            gets labels of one class only.
        """
        self._validate_params()
        labels = None
        X = check_numeric(X, type(self).__name__)
        if self._supervised:
            X, y = validate_data(self, X, y, dtype=np.float64)
            labels = encode_labels(y, self)[1]
        else:
            X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        rng = self._make_rng()
        self._fit_features(X, rng)
        features = self._transform_features(X)
        self.mean_ = features.mean(axis=0)
        self.directions_ = self._fit_directions(X, features - self.mean_, labels, rng)
        self._n_features_out = self.directions_.shape[1]
        return self

    def transform(self, X):
        """Return the projections of samples; hashers take their signs as bits.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = check_numeric(X, type(self).__name__)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (self._transform_features(X) - self.mean_) @ self.directions_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._supervised
        return tags

    def _make_rng(self):
        """Return None; a subclass that draws random numbers returns a generator."""

    def _fit_features(self, X, rng):
        """Fit the transformation of the features; a linear subclass has none to fit."""

    def _transform_features(self, X):
        """Return X itself; a subclass of kernel features returns (n_samples, n_transformed)."""
        return X

    @abstractmethod
    def _fit_directions(self, X, features, labels, rng):
        """Return a direction for each component.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features_in_)
        features : ndarray of shape (n_samples, n_transformed)
            Features that `_transform_features` returns, with the mean 0 over the samples.
        labels : ndarray of shape (n_samples,) or None
            Classes, from 0 to n_classes - 1.
        rng : numpy.random.Generator or None
            Random number generator from `_make_rng`.

        Returns
        -------
        ndarray of shape (n_transformed, n_components)
        """


class _GraphProjection(LinearTransformer):
    """Base of the projections that preserve a graph of neighbours.

    Parameters
    ----------
    n_components : int, default=2
        Number of components, at most the number of features.
    n_neighbors : int, default=12
        Number of neighbours of a sample in the graph.
    """

    # Since edition 3 ties between neighbours go to the first rows.
    edition = 3

    n_components: PositiveInt = 2
    n_neighbors: PositiveInt = 12

    def _fit_directions(self, X, features, labels, rng):
        """Return the directions of the graph of neighbours, after a PCA.

        See `LinearTransformer._fit_directions`.
        """
        # 1) Keep the principal components that have nearly all of the variance.
        components = PCA(svd_solver="full").fit(features)
        cumulative_variance = np.cumsum(components.explained_variance_)
        min_variance = (1 - _DISCARDED_VARIANCE) * cumulative_variance[-1]
        n_principal = 1 + int(np.searchsorted(cumulative_variance, min_variance))
        n_principal = max(n_principal, min(self.n_components, len(cumulative_variance)))
        basis = components.components_[:n_principal].T
        features = features @ basis
        # 2) Find the directions that preserve the neighbours among these components.
        neighbours, squared_distances = _nearest_neighbours(features, self.n_neighbors)
        n_components = min(self.n_components, features.shape[1])
        directions = basis @ self._graph_directions(
            features, neighbours, squared_distances, n_components
        )
        return directions * canonical_signs(directions)

    @abstractmethod
    def _graph_directions(self, features, neighbours, squared_distances, n_components):
        """Return directions that preserve the neighbours.

        Parameters
        ----------
        features : ndarray of shape (n_samples, n_principal)
            Principal components of the features.
        neighbours : ndarray of shape (n_samples, n_neighbors), dtype=int64
            Rows of the neighbours of each sample.
        squared_distances : ndarray of shape (n_samples, n_neighbors)
        n_components : int

        Returns
        -------
        ndarray of shape (n_principal, n_components)
        """


def _nearest_neighbours(X, n_neighbors):
    """Return the nearest other rows of each row; ties go to the first rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_neighbors : int
        Number of neighbours; at most n_samples - 1 are returned.

    Returns
    -------
    neighbours : ndarray of shape (n_samples, n_neighbors), dtype=int64
        Indices of rows, the nearest first.
    squared_distances : ndarray of shape (n_samples, n_neighbors)
    """
    n_others = len(X) - 1
    n_neighbors = n_queried = min(n_neighbors, n_others)
    index = NearestNeighbors().fit(X)
    # scikit-learn breaks ties arbitrarily. Double the number of queried rows until the farthest of
    # them is on a higher level than the last neighbour: then all rows that tie with this neighbour
    # have been queried.
    while True:
        n_queried = min(2 * n_queried, n_others)
        distances, rows = index.kneighbors(n_neighbors=n_queried)
        squared_distances = distances**2
        # Distances on one level, a multiple of the unit, are equal.
        unit = _DISTANCE_TIE_TOLERANCE * (squared_distances.mean() or 1.0)
        levels = np.rint(squared_distances / unit)
        order = np.lexsort((rows, levels))
        rows, squared_distances, levels = (
            np.take_along_axis(values, order, axis=1)
            for values in (rows, squared_distances, levels)
        )
        if n_queried == n_others or (levels[:, -1] > levels[:, n_neighbors - 1]).all():
            return rows[:, :n_neighbors], squared_distances[:, :n_neighbors]


class LPP(_GraphProjection):
    """Locality preserving projections.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
    directions_ : ndarray of shape (n_features_in_, n_components)

    References
    ----------
    .. [1] X. He and P. Niyogi, "Locality preserving projections", NIPS 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> LPP().fit_transform(load_iris().data).shape
    (150, 2)
    """

    def _graph_directions(self, features, neighbours, squared_distances, n_components):
        return locality_preserving(features, neighbours, squared_distances, n_components)


class NPE(_GraphProjection):
    """Neighbourhood preserving embedding.

    Attributes
    ----------
    mean_, directions_
        See `LPP`.

    References
    ----------
    .. [1] X. He, D. Cai, S. Yan and H.-J. Zhang, "Neighborhood preserving embedding", ICCV 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> NPE().fit_transform(load_iris().data).shape
    (150, 2)
    """

    def _graph_directions(self, features, neighbours, squared_distances, n_components):
        return neighbourhood_preserving(features, neighbours, n_components)
