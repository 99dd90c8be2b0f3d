"""Projections that keep neighbours, as transformers: LPP and NPE."""

from abc import abstractmethod

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from boostbench.algorithms.parameters import Declared, PositiveInt
from boostbench.core.graph_projections import locality_preserving, neighbourhood_preserving

# As the authors' programs do, principal components come first: what they lose of the variance.
_LOST = 0.02


class _GraphProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Declared):
    n_components: PositiveInt = 2
    n_neighbors: PositiveInt = 12

    def fit(self, X, y=None):
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, finite.
        y : None
            Not looked at.

        Returns
        -------
        self
            The fitted transformer.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self.mean_ = X.mean(axis=0)
        X = X - self.mean_
        components = PCA(svd_solver="full").fit(X)
        shares = np.cumsum(components.explained_variance_)
        kept = 1 + int(np.searchsorted(shares, (1 - _LOST) * shares[-1]))
        basis = components.components_[: max(kept, min(self.n_components, len(shares)))].T
        X = X @ basis
        near = NearestNeighbors(n_neighbors=min(self.n_neighbors, len(X) - 1)).fit(X)
        distances, neighbours = near.kneighbors()
        found = self._directions(X, neighbours, distances**2, min(self.n_components, X.shape[1]))
        self.directions_ = basis @ found
        self._n_features_out = found.shape[1]
        return self

    def transform(self, X):
        """Project.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components), dtype=float64
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (X - self.mean_) @ self.directions_

    @abstractmethod
    def _directions(self, X, neighbours, squares, n_components):
        """Find directions of centred X."""


class LPP(_GraphProjection):
    """Locality preserving projections.

    Parameters
    ----------
    n_components : int, default=2
        At most as many as there are features.
    n_neighbors : int, default=12
        Of a sample in the graph.

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

    def _directions(self, X, neighbours, squares, n_components):
        return locality_preserving(X, neighbours, squares, n_components)


class NPE(_GraphProjection):
    """Neighbourhood preserving embedding.

    Parameters
    ----------
    n_components : int, default=2
        At most as many as there are features.
    n_neighbors : int, default=12
        Of a sample in the graph.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
    directions_ : ndarray of shape (n_features_in_, n_components)

    References
    ----------
    .. [1] X. He, D. Cai, S. Yan and H.-J. Zhang, "Neighborhood preserving embedding", ICCV 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> NPE().fit_transform(load_iris().data).shape
    (150, 2)
    """

    def _directions(self, X, neighbours, squares, n_components):
        return neighbourhood_preserving(X, neighbours, n_components)
