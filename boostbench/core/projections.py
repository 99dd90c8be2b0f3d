"""Random matrices for projections of data or of weak learners' outputs."""

import math

import numpy as np

KINDS = ("gaussian", "sign", "sparse")


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
        values = np.zeros(6, np.float32)
        values[:2] = -math.sqrt(3), math.sqrt(3)
        return values[rng.integers(0, 6, shape, dtype=np.int8)]
    raise ValueError(f"projection must be one of {KINDS}, got {kind!r}")


def random_orthonormal(shape, rng):
    """Draw random matrices with orthonormal columns.

    Parameters
    ----------
    shape : tuple (n_matrices, n_inputs, n_outputs)
        If there are more outputs than inputs, several orthonormal bases stand side by side.
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
    return np.concatenate(list(bases.transpose(1, 0, 2, 3)), axis=2)[..., :n_outputs]
