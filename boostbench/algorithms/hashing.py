"""Hash codes by linear functions, which LADDER is compared with: LSH, ITQ, and ITQ by labels."""

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from boostbench.algorithms.packed import PackedCodes
from boostbench.algorithms.parameters import (
    Declared,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Seed,
)
from boostbench.core.projections import orthonormal
from boostbench.core.quantization import canonical, turned_to_corners


class Hasher(PackedCodes, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Declared):
    """Base of the hashers: `transform` gives a number for each bit, `hash` the bits.

    A subclass has the constructor parameters `n_components`, the bits of a code, and
    `random_state`, and gives `_learn` and `_numbers`.
    """

    n_components: PositiveInt = 8
    _: KW_ONLY
    random_state: Seed = None

    #: Whether labels are learned from.
    _supervised: ClassVar = False

    def fit(self, X, y=None):
        """Learn the hash functions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, finite.
        y : array-like of shape (n_samples,), default=None
            Labels; a hasher that does not learn from them does not look at them.

        Returns
        -------
        self
            The fitted hasher.

        Raises
        ------
        ValueError
            If X is not a finite matrix, a parameter is out of range, or labels are needed and y
            holds one class only.
        """
        self._validate_params()
        labels = None
        if self._supervised:
            X, y = validate_data(self, X, y, dtype=np.float64)
            check_classification_targets(y)
            classes, labels = np.unique(y, return_inverse=True)
            if len(classes) < 2:
                raise ValueError(
                    f"{type(self).__name__} needs at least 2 classes, and y holds 1 class only: "
                    f"{classes[0]!r}"
                )
        else:
            X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        seed = check_random_state(self.random_state).randint(2**31)
        self._n_features_out = self.n_components
        self._learn(X, labels, np.random.default_rng(seed))
        return self

    def transform(self, X):
        """Compute what the bits are the signs of.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components), dtype=float64
        """
        check_is_fitted(self)
        return self._numbers(validate_data(self, X, dtype=np.float64, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._supervised
        return tags

    @abstractmethod
    def _learn(self, X, labels, rng):
        """Learn from features, and perhaps labels from 0 to n_classes - 1."""

    @abstractmethod
    def _numbers(self, X):
        """Compute what `transform` gives."""


class _LinearHasher(Hasher):
    """Signs of linear functions of the centred features.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
    directions_ : ndarray of shape (n_features_in_, n_components)
    """

    def _learn(self, X, labels, rng):
        self.mean_ = X.mean(axis=0)
        self.directions_ = self._directions(X - self.mean_, labels, rng)

    @abstractmethod
    def _directions(self, X, labels, rng):
        """Choose a direction for each bit, for centred X."""

    def _numbers(self, X):
        return (X - self.mean_) @ self.directions_


class LSH(_LinearHasher):
    """Locality-sensitive hashing: sides of random hyperplanes through the mean.

    Parameters
    ----------
    n_components : int, default=8
        Bits of a code.
    random_state : int, RandomState instance or None, default=None
        Of the hyperplanes.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
    directions_ : ndarray of shape (n_features_in_, n_components)
        Entries drawn from N(0, 1).

    References
    ----------
    .. [1] M. S. Charikar, "Similarity estimation techniques from rounding algorithms", 2002.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> LSH(n_components=12, random_state=0).fit(X).hash(X).shape
    (20, 2)
    """

    def _directions(self, X, labels, rng):
        return rng.normal(size=(X.shape[1], self.n_components))


class ITQ(_LinearHasher):
    """Iterative quantization: principal components, turned towards the corners of a cube.

    With more bits than components the rest are zeros before they are turned.

    Parameters
    ----------
    n_components : int, default=8
        Bits of a code.
    n_iterations : int, default=50
        Updates of the rotation.
    random_state : int, RandomState instance or None, default=None
        Of the rotation that it starts from.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
    directions_ : ndarray of shape (n_features_in_, n_components)

    References
    ----------
    .. [1] Y. Gong, S. Lazebnik, A. Gordo and F. Perronnin, "Iterative quantization: a Procrustean
       approach to learning binary codes for large-scale image retrieval", PAMI 35, 2013.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> ITQ(n_components=3, random_state=0).fit(X).transform(X).shape
    (20, 3)
    """

    n_iterations: NonNegativeInt = 50

    def _directions(self, X, labels, rng):
        found = self._components(X, labels)
        found = np.pad(found, [(0, 0), (0, self.n_components - found.shape[1])])
        start = orthonormal((1, self.n_components, self.n_components), rng)[0]
        return found @ turned_to_corners(X @ found, start, self.n_iterations)

    def _components(self, X, labels):
        n_components = min(self.n_components, *X.shape)
        return PCA(n_components, svd_solver="full").fit(X).components_.T


class SupervisedITQ(ITQ):
    """Iterative quantization of canonical components: CCA with the classes in place of PCA.

    Each component is scaled by its canonical correlation. There are as many as classes at most.

    Parameters
    ----------
    n_components : int, default=8
        Bits of a code.
    n_iterations : int, default=50
        Updates of the rotation.
    ridge : float, default=1e-4
        Added to the covariances' diagonals, which scikit-learn's CCA cannot do.
    random_state : int, RandomState instance or None, default=None
        Of the rotation that it starts from.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
    directions_ : ndarray of shape (n_features_in_, n_components)

    References
    ----------
    .. [1] Y. Gong, S. Lazebnik, A. Gordo and F. Perronnin, "Iterative quantization: a Procrustean
       approach to learning binary codes for large-scale image retrieval", PAMI 35, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SupervisedITQ(n_components=3, random_state=0).fit(X, y).transform(X).shape
    (150, 3)
    """

    ridge: PositiveFloat = 1e-4

    _supervised: ClassVar = True

    def _components(self, X, labels):
        directions, correlations = canonical(X, labels, self.ridge)
        return (directions * correlations)[:, : self.n_components]
