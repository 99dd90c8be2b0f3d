"""Hash codes by Gaussian kernels, which LADDER is compared with: BRE and KSH."""

from typing import ClassVar

from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.preprocessing import normalize

from boostbench.algorithms.hashing import Hasher
from boostbench.algorithms.kernels import mean_gamma
from boostbench.algorithms.parameters import NonNegativeInt, PositiveInt, TwoOrMore
from boostbench.core.code_fitting import fit_class_codes, fit_similarity_codes

__all__ = ["BRE", "KSH"]


class _KernelHasher(Hasher):
    """Signs of sums of Gaussian kernels around anchors, samples of the training data.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_anchors, n_features_in_)
    gamma_ : float
        The kernel is ``exp(-gamma_ |x - anchor|^2)``, with 1 / (2 gamma_) the mean squared distance
        between training data and anchors.
    mean_ : ndarray of shape (n_anchors,)
        Of the kernels, which is subtracted.
    directions_ : ndarray of shape (n_anchors, n_components)
    """

    def _prepare(self, X, rng):
        if self.n_anchors < self.n_components:
            raise ValueError(
                f"n_anchors={self.n_anchors} are fewer than the bits, "
                f"n_components={self.n_components}; take more anchors"
            )
        self.anchors_ = X[rng.permutation(len(X))[: self.n_anchors]]
        self.gamma_ = mean_gamma(X, self.anchors_)

    def _features(self, X):
        return rbf_kernel(X, self.anchors_, self.gamma_)


class BRE(_KernelHasher):
    r"""Binary reconstructive embedding: Hamming distances that are like distances of the samples.

    For samples of length 1 it makes :math:`\sum_{i,j} (\frac12 |x_i - x_j|^2 - \frac1b H_{ij})^2`
    small, with H the Hamming distance of codes of b bits. One weight of one bit after the other is
    set to its best value; that is found exactly.

    Parameters
    ----------
    n_anchors : int, default=50
    n_pairs : int, default=500
        All pairs of that many samples count.
    n_sweeps : int, default=3
        How often each weight is set.
    random_state : int, RandomState instance or None, default=None
        Of the anchors, the samples and the first weights.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_anchors, n_features_in_)
    gamma_ : float
        The kernel is ``exp(-gamma_ |x - anchor|^2)``.
    directions_ : ndarray of shape (n_anchors, n_components)

    Notes
    -----
    It is the unsupervised form. Which pairs count, and how many anchors there are, is not said in
    LADDER.

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

    def _directions(self, X, features, labels, rng):
        rows = rng.permutation(len(X))[: self.n_pairs]
        distances = euclidean_distances(normalize(X[rows]), squared=True) / 2
        start = rng.normal(size=(features.shape[1], self.n_components))
        return fit_similarity_codes(features[rows], 1 - 2 * distances, start, self.n_sweeps)


class KSH(_KernelHasher):
    r"""Hashing with kernels and labels: inner products of codes that tell classes apart.

    The bits are found one after the other. Each makes :math:`b^\top R b` large, where R is what the
    bits before have left of b S, and S is +1 for samples of one class and -1 for others: first
    without the sign, by an eigenvector, then with a smooth sign, by L-BFGS; the better one is kept.

    Parameters
    ----------
    n_anchors : int, default=300
    solver_iterations : int, default=100
        Of L-BFGS, for each bit.
    random_state : int, RandomState instance or None, default=None
        Of the anchors.

    Attributes
    ----------
    anchors_, gamma_, directions_
        As of `BRE`.

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

    # The eigenvector that a bit starts from has a sign by convention.
    edition = 2

    n_anchors: PositiveInt = 300
    solver_iterations: NonNegativeInt = 100

    _supervised: ClassVar = True

    def _directions(self, X, features, labels, rng):
        return fit_class_codes(features, labels, self.n_components, self.solver_iterations)
