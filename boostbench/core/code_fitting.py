r"""Codes by signs of kernel sums, fitted to similarities of samples: what BRE and KSH solve.

Both make inner products of codes like similarities S, and so have for one bit h, given the others,
the same problem: to make :math:`h^\top R h` large, with R what the others leave of S.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from boostbench.core.eigenvector_signs import canonical_signs

# What is objectives less than that much more, as a part, is no better.
_RELATIVE_TOLERANCE = 1e-9


def fit_similarity_codes(kernels, similarities, weights, n_sweeps):
    r"""Make inner products of codes like given similarities, by coordinate descent.

    The codes are the signs of ``kernels @ weights``, and what is made small is
    :math:`\sum_{i,j} (S_{ij} - \frac1b \langle h_i, h_j \rangle)^2`.

    Parameters
    ----------
    kernels : ndarray of shape (n_samples, n_anchors)
    similarities : ndarray of shape (n_samples, n_samples)
        S, symmetric.
    weights : ndarray of shape (n_anchors, n_bits)
        Where to start.
    n_sweeps : int

    Returns
    -------
    ndarray of shape (n_anchors, n_bits)
    """
    weights = weights.copy()
    n_bits = weights.shape[1]
    values = kernels @ weights
    for _ in range(n_sweeps):
        for bit in range(n_bits):
            codes = np.where(values > 0, 1.0, -1.0)
            other_codes = np.delete(codes, bit, axis=1)
            # The sum is a constant, less h' R h times a positive number.
            residual = n_bits * similarities - other_codes @ other_codes.T
            for anchor, kernel in enumerate(kernels.T):
                step = best_step(residual, values[:, bit], kernel)
                weights[anchor, bit] += step
                values[:, bit] += step * kernel
    return weights


def best_step(residual, values, kernel):
    """Find the step t for which ``h' residual h`` is largest, h the signs of values + t kernel.

    Parameters
    ----------
    residual : ndarray of shape (n_samples, n_samples)
        Symmetric.
    values, kernel : ndarray of shape (n_samples,)

    Returns
    -------
    float
        0 where no step is better than none.
    """
    active = np.flatnonzero(kernel)
    if not len(active):
        return 0.0
    crossings = -values[active] / kernel[active]
    order = np.argsort(crossings)
    crossings, rows = crossings[order], active[order]
    # From far below, where the signs are those of -kernel, each turn flips one sign.
    start = np.where(values > 0, 1.0, -1.0)
    start[active] = np.where(kernel[active] > 0, -1.0, 1.0)
    flipped = start[rows]
    products = residual[rows[:, None], rows] * np.multiply.outer(flipped, flipped)
    interactions = 2 * np.tril(products, -1).sum(axis=1) + products.diagonal()
    gains = np.cumsum(4 * (interactions - flipped * (residual @ start)[rows]))
    # A step lies before the first crossing, between two distinct ones, or after the last.
    gains = np.concatenate([[0.0], gains])
    is_distinct = np.concatenate([[True], np.diff(crossings) > 0, [True]])
    steps = np.concatenate(
        [[crossings[0] - 1], crossings[:-1] / 2 + crossings[1:] / 2, [crossings[-1] + 1]]
    )
    # Gains within the tolerance are equal but for rounding; the first one is taken.
    tolerance = _RELATIVE_TOLERANCE * float(np.abs(residual).sum())
    best = np.flatnonzero(is_distinct & (gains >= gains[is_distinct].max() - tolerance))[0]
    # A gain within rounding error is no reason to move.
    current = gains[np.searchsorted(crossings, 0.0)]
    return float(steps[best]) if gains[best] > current + tolerance else 0.0


def fit_class_codes(kernels, labels, n_bits, max_iter):
    """Find codes whose inner products tell classes apart, one bit after the other.

    Similarities are +1 for samples of one class and -1 for others.

    Parameters
    ----------
    kernels : ndarray of shape (n_samples, n_anchors)
        Centred.
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    n_bits : int
    max_iter : int
        Steps of L-BFGS for a bit.

    Returns
    -------
    ndarray of shape (n_anchors, n_bits)
        Codes are the signs of ``kernels @ weights``.
    """
    # R = n_bits S - B B', of low rank, as S = 2 Z Z' - 1 1' with the indicators Z of classes.
    indicators = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    positive = np.sqrt(2 * n_bits) * indicators
    negative = np.full((len(labels), 1), np.sqrt(n_bits))
    columns = []
    for _ in range(n_bits):
        start = _spectral(kernels, positive, negative)
        smooth = minimize(
            smooth_loss,
            start,
            (kernels, positive, negative),
            method="L-BFGS-B",
            jac=True,
            options={"maxiter": max_iter},
        ).x
        bits = [np.where(kernels @ weights > 0, 1.0, -1.0) for weights in (start, smooth)]
        objectives = [((b @ positive) ** 2).sum() - ((b @ negative) ** 2).sum() for b in bits]
        best = int(objectives[1] > objectives[0] + _RELATIVE_TOLERANCE * abs(objectives[0]))
        columns.append((start, smooth)[best])
        negative = np.column_stack([negative, bits[best]])
    return np.column_stack(columns)


def smooth_loss(weights, kernels, positive, negative):
    """Minus ``h' R h`` for a smooth sign h, divided by the square of the number of samples.

    Parameters
    ----------
    weights : ndarray of shape (n_anchors,)
    kernels : ndarray of shape (n_samples, n_anchors)
    positive, negative : ndarray of shape (n_samples, n_columns)
        ``R = positive @ positive.T - negative @ negative.T``.

    Returns
    -------
    value : float
    gradient : ndarray of shape (n_anchors,)
    """
    scale = float(len(kernels)) ** 2
    smooth = np.tanh(kernels @ weights / 2)
    image = positive @ (positive.T @ smooth) - negative @ (negative.T @ smooth)
    gradient = -kernels.T @ (image * (1 - smooth**2))
    return float(-smooth @ image / scale), gradient / scale


def _spectral(kernels, positive, negative):
    """Maximise ``h' R h`` for h without a sign, of the length of a code."""
    gram = kernels.T @ kernels
    ridge = 1e-9 * np.trace(gram) + np.finfo(float).tiny
    left, right = kernels.T @ positive, kernels.T @ negative
    _, vectors = eigh(
        left @ left.T - right @ right.T,
        gram + ridge * np.eye(len(gram)),
        subset_by_index=[len(gram) - 1] * 2,
    )
    return np.sqrt(len(kernels)) * vectors[:, 0] * canonical_signs(vectors)[0]
