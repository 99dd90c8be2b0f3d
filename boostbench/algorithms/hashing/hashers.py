"""Hash codes of LADDER's baselines: LSH, ITQ and supervised ITQ (linear); BRE and KSH (kernels).

A bit of a code is the sign of a linear function of the features, or of kernel values at some
anchors. The mathematics is in `boostbench.core.binary_codes`.

Each class defines `_fit_directions` of `LinearTransformer`, whose argument `features` contains X or
the kernel values, with mean 0.
"""

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from boostbench.algorithms.base.parameters import (
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Seed,
    TwoOrMore,
)
from boostbench.algorithms.hashing import PackedCodesMixin
from boostbench.algorithms.hashing.linear_projections import LinearTransformer
from boostbench.algorithms.kernel_svc import mean_gamma
from boostbench.core.binary_codes import (
    canonical_directions,
    fit_class_codes,
    fit_similarity_codes,
    itq_rotation,
)
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
        """Return the random number generator of `random_state`."""
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
        """Return the directions to rotate, of shape (n_features, at most `n_components`)."""
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


class _KernelHasher(Hasher):
    """Base of hashers by signs of kernel expansions around anchors, a sample of the training data.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_anchors, n_features_in_)
    gamma_ : float
        Parameter of the kernel ``exp(-gamma_ |x - anchor|^2)``; 1 / (2 gamma_) is the mean squared
        distance between training data and anchors.
    mean_ : ndarray of shape (n_anchors,)
        Mean of the kernel values, which is subtracted.
    directions_ : ndarray of shape (n_anchors, n_components)
    """

    def _fit_features(self, X, rng):
        """Draw the anchors, and set the width of the kernel."""
        if self.n_anchors < self.n_components:
            raise ValueError(
                f"n_anchors={self.n_anchors} are fewer than the bits, "
                f"n_components={self.n_components}; take more anchors"
            )
        self.anchors_ = X[rng.permutation(len(X))[: self.n_anchors]]
        self.gamma_ = mean_gamma(X, self.anchors_)

    def _transform_features(self, X):
        """Return the kernel values at the anchors, of shape (n_samples, n_anchors)."""
        return rbf_kernel(X, self.anchors_, self.gamma_)


class BRE(_KernelHasher):
    r"""Binary reconstructive embedding: Hamming distances approximate distances of the samples.

    For samples of unit length it minimises
    :math:`\sum_{i,j} (\frac12 |x_i - x_j|^2 - \frac1b H_{ij})^2`, where H is the Hamming distance
    of codes of b bits. Coordinate descent sets one weight at a time to its exact minimum.

    Parameters
    ----------
    n_anchors : int, default=50
        Number of anchors.
    n_pairs : int, default=500
        Number of samples whose pairs make up the objective.
    n_sweeps : int, default=3
        Number of passes over all weights.
    random_state : int, RandomState instance or None, default=None
        Seed of the anchors, the samples and the initial weights.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_anchors, n_features_in_)
    gamma_ : float
        Parameter of the kernel ``exp(-gamma_ |x - anchor|^2)``.
    directions_ : ndarray of shape (n_anchors, n_components)

    Notes
    -----
    This is the unsupervised method. LADDER does not state the pairs or the number of anchors.

    References
    ----------
    .. [1] B. Kulis and T. Darrell, "Learning to hash with binary reconstructive embeddings",
       NIPS 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> BRE(n_components=3, random_state=0).fit(X).transform(X).shape
    (150, 3)
    """

    n_anchors: PositiveInt = 50
    n_pairs: TwoOrMore = 500
    n_sweeps: NonNegativeInt = 3

    def _fit_directions(self, X, features, labels, rng):
        # The Hamming distance H of two codes of b bits shall equal b d, where d is half the squared
        # distance of the samples, which are scaled to unit length. The inner product of two codes,
        # divided by b, is 1 - 2 H / b; its target is therefore 1 - 2 d.
        rows = rng.permutation(len(X))[: self.n_pairs]
        distances = euclidean_distances(normalize(X[rows]), squared=True) / 2
        start = rng.normal(size=(features.shape[1], self.n_components))
        return fit_similarity_codes(features[rows], 1 - 2 * distances, start, self.n_sweeps)


class KSH(_KernelHasher):
    r"""Supervised hashing with kernels: inner products of codes separate the classes.

    The bits are fitted one after the other. Each maximises :math:`h^\top R h`, where R is the
    residual of S after the earlier bits, and S is +1 for samples of one class and -1 otherwise. An
    eigenvector solves the problem without the sign, L-BFGS with a smooth sign, and the better
    solution is taken.

    Parameters
    ----------
    n_anchors : int, default=300
        Number of anchors.
    solver_iterations : int, default=100
        Maximum number of L-BFGS iterations per bit.
    random_state : int, RandomState instance or None, default=None
        Seed of the anchors.

    Attributes
    ----------
    anchors_, gamma_, directions_
        See `BRE`.

    References
    ----------
    .. [1] W. Liu, J. Wang, R. Ji, Y.-G. Jiang and S.-F. Chang, "Supervised hashing with kernels",
       CVPR 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KSH(n_components=3, random_state=0).fit(X, y).transform(X).shape
    (150, 3)
    """

    # Since edition 2 the eigenvector of a bit has a canonical sign.
    edition = 2

    n_anchors: PositiveInt = 300
    solver_iterations: NonNegativeInt = 100

    _supervised: ClassVar = True

    def _fit_directions(self, X, features, labels, rng):
        return fit_class_codes(features, labels, self.n_components, self.solver_iterations)
