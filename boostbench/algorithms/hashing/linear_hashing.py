"""Hash codes by linear functions, the baselines of LADDER: LSH, ITQ and supervised ITQ."""

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state

from boostbench.algorithms.base.parameters import NonNegativeInt, PositiveFloat, PositiveInt, Seed
from boostbench.algorithms.hashing.linear_projections import LinearTransformer
from boostbench.algorithms.hashing.packed_codes import PackedCodesMixin
from boostbench.core.binary_codes import canonical_directions, itq_rotation
from boostbench.core.linear_algebra import canonical_signs
from boostbench.core.projections import random_orthonormal


class Hasher(PackedCodesMixin, LinearTransformer):
    """Base of the hashers: `transform` returns a number for each bit, and `hash` the bits.

    Parameters
    ----------
    n_components : int, default=8
        Number of bits of a code.
    random_state : int, RandomState instance or None, default=None
    """

    n_components: PositiveInt = 8
    _: KW_ONLY
    random_state: Seed = None

    def _make_rng(self):
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))


class LSH(Hasher):
    """Locality-sensitive hashing by random hyperplanes through the mean.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seed of the hyperplanes.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,)
    directions_ : ndarray of shape (n_features_in_, n_components)
        Normals of the hyperplanes, with entries drawn from N(0, 1).

    References
    ----------
    .. [1] M. S. Charikar, "Similarity estimation techniques from rounding algorithms", 2002.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> LSH(n_components=12, random_state=0).fit(X).hash(X).shape
    (20, 2)
    """

    def _fit_directions(self, X, features, labels, rng):
        return rng.normal(size=(X.shape[1], self.n_components))


class ITQ(Hasher):
    """Iterative quantization: principal components, rotated towards the corners of a cube.

    If there are more bits than components, zero components are added before the rotation.

    Parameters
    ----------
    n_iterations : int, default=50
        Number of updates of the rotation.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial rotation.

    Attributes
    ----------
    mean_, directions_
        See `LSH`.

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

    def _fit_directions(self, X, features, labels, rng):
        components = self._components(features, labels)
        components = np.pad(components, [(0, 0), (0, self.n_components - components.shape[1])])
        start = random_orthonormal((1, self.n_components, self.n_components), rng)[0]
        return components @ itq_rotation(features @ components, start, self.n_iterations)

    def _components(self, features, labels):
        n_components = min(self.n_components, *features.shape)
        components = PCA(n_components, svd_solver="full").fit(features).components_.T
        return components * canonical_signs(components)


class SupervisedITQ(ITQ):
    """Iterative quantization of canonical components: CCA with the classes instead of PCA.

    Each component is scaled by its canonical correlation. There are at most as many components as
    classes.

    Parameters
    ----------
    ridge : float, default=1e-4
        Number added to the diagonals of the covariances, an option that scikit-learn's CCA lacks.

    Attributes
    ----------
    mean_, directions_
        See `LSH`.

    See Also
    --------
    ITQ : The unsupervised method of the same paper.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SupervisedITQ(n_components=3, random_state=0).fit(X, y).transform(X).shape
    (150, 3)
    """

    # Since edition 2 components have a canonical sign.
    edition = 2

    ridge: PositiveFloat = 1e-4

    _supervised: ClassVar = True

    def _components(self, features, labels):
        directions, correlations = canonical_directions(features, labels, self.ridge)
        return (directions * correlations)[:, : self.n_components]
