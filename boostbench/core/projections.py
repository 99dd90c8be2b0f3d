"""Projections: random matrices for boosters, and the directions of LPP and NPE for LADDER.

LPP and NPE find directions of the features that preserve the neighbours of each sample.
"""

import math

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from boostbench.core.linear_algebra import canonical_signs

# Distributions of `random_matrix`.
KINDS = ("gaussian", "sign", "sparse")

# Ridge added to the diagonal of a matrix, as a fraction of the mean diagonal entry: it makes a
# positive semidefinite matrix definite.
_RIDGE = 1e-9

# Ridge of the weights of neighbours, as a fraction of the trace of their Gram matrix, which is
# singular where there are more neighbours than dimensions.
_WEIGHT_RIDGE = 1e-3


def random_matrix(kind, shape, rng):
    """Draw a random projection matrix whose entries have mean 0 and variance 1.

    The caller applies the papers' factor ``1 / sqrt(n)`` where it matters: it scales coefficients,
    and leaves the choice of a stump unchanged.

    Parameters
    ----------
    kind : {"gaussian", "sign", "sparse"}
        N(0, 1); -1 and +1 with equal probability; or 0 with probability 2/3, and -sqrt(3) and
        +sqrt(3) with probability 1/6 each.
    shape : tuple of int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of the given shape, dtype=float32

    Raises
    ------
    ValueError
        If the kind is unknown.
    """
    if kind == "gaussian":
        return rng.standard_normal(shape, dtype=np.float32)
    if kind == "sign":
        return (2 * rng.integers(0, 2, shape, dtype=np.int8) - 1).astype(np.float32)
    if kind == "sparse":
        # Two of six equally likely values are not 0.
        values = np.zeros(6, np.float32)
        values[:2] = -math.sqrt(3), math.sqrt(3)
        return values[rng.integers(0, 6, shape, dtype=np.int8)]
    raise ValueError(f"projection must be one of {KINDS}, got {kind!r}")


def random_orthonormal(shape, rng):
    """Draw random matrices with orthonormal columns.

    Parameters
    ----------
    shape : tuple (n_matrices, n_inputs, n_outputs)
        A column has n_inputs entries. If there are more outputs than inputs, several orthonormal
        bases stand side by side.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of the given shape, dtype=float64

    Examples
    --------
    >>> matrix = random_orthonormal((1, 3, 2), np.random.default_rng(0))[0]
    >>> bool(np.allclose(matrix.T @ matrix, np.eye(2)))
    True
    """
    n_matrices, n_inputs, n_outputs = shape
    n_bases = -(-n_outputs // n_inputs)
    normal = rng.standard_normal((n_matrices, n_bases, n_inputs, min(n_inputs, n_outputs)))
    bases = np.linalg.qr(normal)[0]
    # Put the bases of each matrix side by side, and cut the surplus columns.
    return np.concatenate(list(bases.transpose(1, 0, 2, 3)), axis=2)[..., :n_outputs]


def locality_preserving(X, neighbours, squared_distances, n_components):
    r"""Return the directions a of locality preserving projections.

    They minimise

    .. math:: \sum_{ij} W_{ij} (a^\top x_i - a^\top x_j)^2 = 2 a^\top X^\top (D - W) X a

    under :math:`a^\top X^\top D X a = 1`, where D has the row sums of W on its diagonal. The weight
    of two neighbours is :math:`W_{ij} = e^{-d^2 / 2 s}` with their distance d and the mean squared
    distance s of all neighbours; other weights are 0.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred data.
    neighbours : ndarray of shape (n_samples, n_neighbours), dtype=int64
        Row indices of the neighbours of each sample.
    squared_distances : ndarray of shape (n_samples, n_neighbours)
        Squared distances to the neighbours.
    n_components : int
        At most n_features.

    Returns
    -------
    ndarray of shape (n_features, n_components)

    References
    ----------
    X. He and P. Niyogi, "Locality preserving projections", NIPS 2003.
    """
    mean = squared_distances.mean()
    weights = _weight_matrix(
        neighbours, np.exp(-squared_distances / (2 * mean if mean > 0 else 1.0))
    )
    # Samples are neighbours if one of them is among the nearest samples of the other.
    weights = weights.maximum(weights.T)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    degree_matrix = X.T @ (degrees[:, None] * X)
    return _minimising_directions(degree_matrix - X.T @ (weights @ X), degree_matrix, n_components)


def neighbourhood_preserving(X, neighbours, n_components):
    r"""Return the directions a of neighbourhood preserving embedding.

    They minimise

    .. math:: \sum_i (a^\top x_i - \sum_j W_{ij} a^\top x_j)^2 = \|(X - W X) a\|^2

    under :math:`\|X a\| = 1`. W reconstructs each sample from its neighbours; see
    `reconstruction_weights`.

    Parameters
    ----------
    X, neighbours, n_components
        See `locality_preserving`.

    Returns
    -------
    ndarray of shape (n_features, n_components)

    References
    ----------
    X. He, D. Cai, S. Yan and H.-J. Zhang, "Neighborhood preserving embedding", ICCV 2005.
    """
    residuals = X - _weight_matrix(neighbours, reconstruction_weights(X, neighbours)) @ X
    return _minimising_directions(residuals.T @ residuals, X.T @ X, n_components)


def reconstruction_weights(X, neighbours):
    """Return the weights, of sum 1, that reconstruct each sample best from its neighbours.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    neighbours : ndarray of shape (n_samples, n_neighbours), dtype=int64

    Returns
    -------
    ndarray of shape (n_samples, n_neighbours)

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [4.0]])
    >>> reconstruction_weights(X, np.array([[1, 2], [0, 2], [0, 1]]))[1].round(2)
    array([0.75, 0.25])
    """
    # The squared distance of a sample from its reconstruction is w' G w, with the Gram matrix G of
    # the differences to its neighbours. Its minimiser of sum 1 solves G w = 1, up to a factor.
    differences = X[neighbours] - X[:, None]
    grams = differences @ differences.transpose(0, 2, 1)
    n_neighbours = neighbours.shape[1]
    traces = np.trace(grams, axis1=1, axis2=2)
    ridges = np.where(traces > 0, _WEIGHT_RIDGE * traces, 1.0)
    grams += ridges[:, None, None] * np.eye(n_neighbours)
    weights = np.linalg.solve(grams, np.ones((*neighbours.shape, 1)))[..., 0]
    return weights / weights.sum(axis=1, keepdims=True)


def _weight_matrix(neighbours, values):
    """Return the sparse matrix W with ``W[i, neighbours[i, k]] = values[i, k]``."""
    n_samples, n_neighbours = neighbours.shape
    indptr = np.arange(0, neighbours.size + 1, n_neighbours)
    return sparse.csr_array((values.ravel(), neighbours.ravel(), indptr), (n_samples, n_samples))


def _minimising_directions(matrix, constraint, n_components):
    """Return the directions a of the smallest ``a' matrix a`` with ``a' constraint a = 1``.

    These are the eigenvectors of the smallest eigenvalues of ``matrix a = rho constraint a``, with
    canonical signs.

    Parameters
    ----------
    matrix, constraint : ndarray of shape (n_features, n_features)
        Symmetric matrices, `constraint` positive semidefinite.
    n_components : int

    Returns
    -------
    ndarray of shape (n_features, n_components)
    """
    ridge = _RIDGE * np.trace(constraint) / len(constraint) + np.finfo(float).tiny
    constraint = constraint + ridge * np.eye(len(constraint))
    directions = eigh(matrix, constraint, subset_by_index=[0, n_components - 1])[1]
    return directions * canonical_signs(directions)
