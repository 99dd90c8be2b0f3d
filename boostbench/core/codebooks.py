"""Codes of classes: codewords for LADDER and CGENS-SLS, output codes for AdaBoost.ECC and MO.

A codeword is a unit vector for each class; a codebook holds the codewords of all classes. An output
code is a label -1 or +1 for each class: it divides the classes into two sides.
"""

import numpy as np
from scipy.linalg import helmert
from scipy.special import logsumexp

from boostbench.core.projections import random_orthonormal
from boostbench.core.solvers.lbfgs import nonnegative_quasi_newton

# Sharpness k of the log-sum-exp that smooths the largest inner product, in successive solves. The
# function is smooth and wrong for a small k, and close to the maximum and hard to minimise for a
# large one: each solution is the starting point of the next, harder problem.
_SHARPNESS = (2, 5, 10, 20, 50, 100, 300, 1000, 3000)

# The smoothed problem has local optima, so that several random starts are tried.
_N_STARTS = 5

# Starts whose largest inner products differ by less than this number have reached the same optimum,
# up to the precision of L-BFGS.
_SAME_OPTIMUM = 1e-5

# The solver requires nonnegative coefficients, so that this number is added to all coordinates. It
# exceeds the coordinates of vectors of about unit length by far.
_SHIFT = 16.0

# Maximum number of L-BFGS steps per solve. It only stops a solver without progress.
_MAX_STEPS = 1000


def simplex_vertices(n_classes):
    """Return the vertices of the regular simplex.

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
    >>> simplex_vertices(2)
    array([[ 1.],
           [-1.]])
    """
    # The rows of Helmert's matrix are orthonormal, and orthogonal to the vector of ones. Its
    # columns are therefore the unit vectors of all classes, projected along the ones: a regular
    # simplex.
    return normalise_rows(helmert(n_classes).T)


def max_distance_codewords(n_classes, n_components, rng):
    """Return unit vectors that maximise the smallest distance between them (LADDER, eq. (13)).

    Parameters
    ----------
    n_classes : int
        2 or more.
    n_components : int
        Dimension, 1 or more. For 2 the vectors are the corners of a regular polygon, and for
        ``n_classes - 1`` or more the vertices of a regular simplex. For 1 there are only two
        distinct vectors, -1 and +1, so that classes share them. Otherwise L-BFGS minimises the
        largest inner product of two vectors, smoothed (see `smoothed_largest_product`), and the
        best local optimum of five starts is returned.
    rng : numpy.random.Generator
        Generator of the starts.

    Returns
    -------
    ndarray of shape (n_classes, n_components), dtype=float64
        A unit vector for each class.

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
        return np.pad(simplex_vertices(n_classes), [(0, 0), (0, n_zeros)])
    if n_components == 1:
        return np.where(np.arange(n_classes)[:, None] % 2, -1.0, 1.0)
    if n_components == 2:
        angles = 2 * np.pi * np.arange(n_classes) / n_classes
        return np.column_stack([np.cos(angles), np.sin(angles)])
    candidates = [
        _maximise_distance(rng.normal(size=(n_classes, n_components))) for _ in range(_N_STARTS)
    ]
    largest = np.array([largest_inner_product(vectors) for vectors in candidates])
    # Several starts can reach the same optimum up to a rotation: take the first of them.
    return candidates[int((largest <= largest.min() + _SAME_OPTIMUM).argmax())]


def draw_codebook(n_classes, n_components, rng):
    """Draw a codebook: vectors of `max_distance_codewords`, rotated and permuted at random.

    A rotation changes no margin, but it changes the signs of coordinates, which hashing uses. All
    bits of zero-padded coordinates would be equal without it.

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
    """Return the largest inner product between two rows of `vectors`, which have unit length."""
    products = vectors @ vectors.T
    return float(products[~np.eye(len(vectors), dtype=bool)].max())


def normalise_rows(vectors):
    """Return the rows, scaled to unit length."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def smoothed_largest_product(flat, shape, sharpness):
    """Return the smoothed largest inner product of the normalised rows, and its gradient.

    Parameters
    ----------
    flat : ndarray of shape (n_vectors * n_components,)
        Rows, of any positive length.
    shape : tuple of int
        (n_vectors, n_components).
    sharpness : float
        k in ``log(sum(exp(k <y_i, y_j>))) / k``, the sum over ordered pairs of different rows.

    Returns
    -------
    value : float
        Upper bound on the largest inner product, which it approaches for large k.
    gradient : ndarray of shape (n_vectors * n_components,)
        Derivatives of the value with respect to `flat`.
    """
    # The product of a row with itself is left out of the sum, as exp(-inf) = 0. With the shares
    # p_ij = exp(k <y_i, y_j>) / sum, the derivative by the unit vector y_i is 2 sum_j p_ij y_j: the
    # pair occurs as (i, j) and as (j, i).
    vectors = flat.reshape(shape)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / lengths
    products = units @ units.T
    np.fill_diagonal(products, -np.inf)
    log_sum = logsumexp(sharpness * products)
    gradient = 2 * np.exp(sharpness * products - log_sum) @ units
    # A row of length l is normalised to y = row / l: a change of the row changes y by its component
    # orthogonal to y, divided by l.
    gradient -= (gradient * units).sum(axis=1, keepdims=True) * units
    return log_sum / sharpness, (gradient / lengths).ravel()


def _maximise_distance(vectors):
    """Return unit vectors at a local optimum of the smallest distance, starting from `vectors`.

    Parameters
    ----------
    vectors : ndarray of shape (n_vectors, n_components)

    Returns
    -------
    ndarray of shape (n_vectors, n_components)
    """
    shape = vectors.shape
    for sharpness in _SHARPNESS:
        # The default value binds the present value of the loop's variable.
        def smooth(shifted, sharpness=sharpness):
            return smoothed_largest_product(shifted - _SHIFT, shape, sharpness)

        shifted = normalise_rows(vectors).ravel() + _SHIFT
        # nu = 0: there is no penalty.
        shifted = nonnegative_quasi_newton(smooth, shifted, nu=0.0, max_iter=_MAX_STEPS).w
        vectors = (shifted - _SHIFT).reshape(shape)
    return normalise_rows(vectors)


def random_half(n_classes, rng):
    """Assign +1 to a random half of the classes.

    Parameters
    ----------
    n_classes : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n_classes,), dtype=float64
        +1 for ``n_classes // 2`` classes and -1 for the other classes.
    """
    code = np.full(n_classes, -1.0)
    code[rng.permutation(n_classes)[: n_classes // 2]] = 1.0
    return code


def exhaustive_codes(n_classes):
    """Return every division of the classes into two sides, each of them once.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    ndarray of shape (2 ** (n_classes - 1) - 1, n_classes), dtype=float64
        -1 or +1. The first class is +1 in every code, and every code has both signs.

    Examples
    --------
    >>> exhaustive_codes(3)
    array([[ 1., -1.,  1.],
           [ 1.,  1., -1.],
           [ 1., -1., -1.]])
    """
    # Code number n, from 1 on, has -1 for class 1 + b where bit b of n is 1.
    negative = np.arange(1, 2 ** (n_classes - 1))[:, None] >> np.arange(n_classes - 1) & 1
    return np.concatenate([np.ones((len(negative), 1)), 1.0 - 2.0 * negative], axis=1)
