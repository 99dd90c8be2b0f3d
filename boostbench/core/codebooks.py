"""Codebooks: a unit vector for each class, the codeword, as far from the others as can be."""

import numpy as np
from scipy.linalg import helmert
from scipy.special import logsumexp

from boostbench.core.projections import random_orthonormal
from boostbench.core.solvers.two_metric import nonnegative_quasi_newton

# The largest inner product is smoothed by a logarithm of a sum of exponentials, ever less.
_SHARPNESS = (2, 5, 10, 20, 50, 100, 300, 1000, 3000)

# The smoothed problem has local optima.
_N_STARTS = 5

# L-BFGS comes so near to an optimum.
_TOLERANCE = 1e-5

# The solver's coefficients are not negative: they are the coordinates and this, which no coordinate
# of a vector of about length 1 comes near to.
_SHIFT = 16.0
_MAX_STEPS = 1000


def simplex(n_classes):
    """Make the regular simplex.

    Parameters
    ----------
    n_classes : int
        2 or more.

    Returns
    -------
    ndarray of shape (n_classes, n_classes - 1), dtype=float64
        Unit vectors with inner products ``-1 / (n_classes - 1)``.

    Examples
    --------
    >>> simplex(2)
    array([[ 1.],
           [-1.]])
    """
    return normalise_rows(helmert(n_classes).T)


def max_distance_codewords(n_classes, n_components, rng):
    """Find unit vectors whose smallest distance is as large as can be: LADDER, eq. (13).

    Parameters
    ----------
    n_classes : int
        2 or more.
    n_components : int
        1 or more. With 2 they are the corners of a regular polygon, from ``n_classes - 1`` on those
        of a regular simplex; with 1 there are only two vectors, so that classes share one. In
        between they are found by L-BFGS on the smoothed largest inner product, the best of five
        starts: a local optimum.
    rng : numpy.random.Generator
        Of the starts.

    Returns
    -------
    ndarray of shape (n_classes, n_components), dtype=float64

    Examples
    --------
    >>> square = max_distance_codewords(4, 2, np.random.default_rng(0))
    >>> (square @ square.T).round(6) + 0.0
    array([[ 1.,  0., -1.,  0.],
           [ 0.,  1.,  0., -1.],
           [-1.,  0.,  1.,  0.],
           [ 0., -1.,  0.,  1.]])
    """
    if n_components >= n_classes - 1:
        n_zeros = n_components - (n_classes - 1)
        return np.pad(simplex(n_classes), [(0, 0), (0, n_zeros)])
    if n_components == 1:
        return np.where(np.arange(n_classes)[:, None] % 2, -1.0, 1.0)
    if n_components == 2:
        angles = 2 * np.pi * np.arange(n_classes) / n_classes
        return np.column_stack([np.cos(angles), np.sin(angles)])
    candidates = [
        _maximise_distance(rng.normal(size=(n_classes, n_components))) for _ in range(_N_STARTS)
    ]
    largest = np.array([largest_inner_product(vectors) for vectors in candidates])
    # Starts may come to one optimum, turned: the first of them is taken.
    return candidates[int((largest <= largest.min() + _TOLERANCE).argmax())]


def draw_codebook(n_classes, n_components, rng):
    """Draw a codebook: vectors of `max_distance_codewords`, turned and permuted at random.

    Turning changes no margin, but it changes the signs of coordinates, which hashing looks at: on
    padded coordinates all bits would be alike.

    Parameters
    ----------
    n_classes, n_components : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n_classes, n_components), dtype=float64
    """
    vectors = max_distance_codewords(n_classes, n_components, rng)
    rotation = random_orthonormal((1, n_components, n_components), rng)[0]
    return vectors[rng.permutation(n_classes)] @ rotation


def largest_inner_product(vectors):
    """Give the inner product of the two nearest of some unit vectors, the rows."""
    products = vectors @ vectors.T
    return float(products[~np.eye(len(vectors), dtype=bool)].max())


def normalise_rows(vectors):
    """Give each row length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def smoothed_inner_product(flat, shape, sharpness):
    """Smooth the largest inner product of normalised rows, and differentiate it.

    Parameters
    ----------
    flat : ndarray of shape (n_vectors * n_components,)
        Vectors of any length but 0.
    shape : tuple of int
        (n_vectors, n_components).
    sharpness : float
        k of ``log(sum(exp(k <y_i, y_j>))) / k``, over pairs of vectors.

    Returns
    -------
    value : float
    gradient : ndarray of shape (n_vectors * n_components,)
    """
    vectors = flat.reshape(shape)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / lengths
    products = units @ units.T
    np.fill_diagonal(products, -np.inf)
    value = logsumexp(sharpness * products)
    gradient = 2 * np.exp(sharpness * products - value) @ units
    # Only what is across a vector turns it.
    gradient -= (gradient * units).sum(axis=1, keepdims=True) * units
    return value / sharpness, (gradient / lengths).ravel()


def _maximise_distance(vectors):
    """Move vectors apart."""
    shape = vectors.shape
    for sharpness in _SHARPNESS:

        def smooth(shifted, sharpness=sharpness):
            return smoothed_inner_product(shifted - _SHIFT, shape, sharpness)

        shifted = normalise_rows(vectors).ravel() + _SHIFT
        shifted = nonnegative_quasi_newton(smooth, shifted, 0.0, _MAX_STEPS).w
        vectors = (shifted - _SHIFT).reshape(shape)
    return normalise_rows(vectors)
