"""Binary codes, the signs of linear functions or kernel expansions: ITQ, CCA, BRE and KSH.

Iterative quantization (ITQ) rotates components, canonical correlation analysis (CCA) finds
directions of the features. Binary reconstructive embeddings (BRE) and supervised hashing with
kernels (KSH) approximate similarities S by inner products of codes. For one bit h, with the other
bits fixed, both maximise ``h.T @ R @ h``, where R is the residual of S.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from boostbench.core.linear_algebra import canonical_signs

# Objectives that differ by less than this fraction are equal: rounding must not choose.
_RELATIVE_TOLERANCE = 1e-9


def itq_rotation(components, rotation, n_iterations):
    """Return the rotation of iterative quantization, which moves samples close to cube corners.

    Parameters
    ----------
    components : ndarray of shape (n_samples, n_bits)
    rotation : ndarray of shape (n_bits, n_bits)
        Initial rotation, orthogonal.
    n_iterations : int

    Returns
    -------
    ndarray of shape (n_bits, n_bits)
        Orthogonal matrix. No iteration increases the distance of ``components @ rotation`` from its
        signs.
    """
    for _ in range(n_iterations):
        corners = np.where(components @ rotation > 0, 1.0, -1.0)
        left_vectors, _, right_vectors = np.linalg.svd(components.T @ corners)
        rotation = left_vectors @ right_vectors
    return rotation


def canonical_directions(X, labels, ridge):
    """Return the directions of features that are most correlated with the classes (CCA).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred data.
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    ridge : float
        Number added to the diagonals of the covariances of features and of class indicators.

    Returns
    -------
    directions : ndarray of shape (n_features, n_directions)
        Directions by descending correlation. With the ridge, each has unit variance.
    correlations : ndarray of shape (n_directions,)
    """
    indicators = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    n_samples, n_features = X.shape
    cross = X.T @ indicators / n_samples
    class_covariance = indicators.T @ indicators / n_samples + ridge * np.eye(indicators.shape[1])
    feature_covariance = X.T @ X / n_samples + ridge * np.eye(n_features)
    n_directions = min(n_features, indicators.shape[1])
    squared_correlations, directions = eigh(
        cross @ np.linalg.solve(class_covariance, cross.T),
        feature_covariance,
        subset_by_index=[n_features - n_directions, n_features - 1],
    )
    directions = directions[:, ::-1] * canonical_signs(directions[:, ::-1])
    return directions, np.sqrt(np.maximum(squared_correlations[::-1], 0))


def fit_similarity_codes(kernels, similarities, weights, n_sweeps):
    r"""Fit codes whose inner products approximate similarities, by coordinate descent (BRE).

    The codes are the signs of ``kernels @ weights``. The objective is
    :math:`\sum_{i,j} (S_{ij} - \frac1b \langle h_i, h_j \rangle)^2`.

    Parameters
    ----------
    kernels : ndarray of shape (n_samples, n_anchors)
    similarities : ndarray of shape (n_samples, n_samples)
        S, symmetric.
    weights : ndarray of shape (n_anchors, n_bits)
        Initial weights.
    n_sweeps : int
        Passes over all weights.

    Returns
    -------
    ndarray of shape (n_anchors, n_bits)
    """
    weights = weights.copy()
    n_bits = weights.shape[1]
    projections = kernels @ weights
    for _ in range(n_sweeps):
        for bit in range(n_bits):
            codes = np.where(projections > 0, 1.0, -1.0)
            other_codes = np.delete(codes, bit, axis=1)
            # The objective is a constant minus a positive multiple of h' R h.
            residual = n_bits * similarities - other_codes @ other_codes.T
            for anchor, kernel in enumerate(kernels.T):
                step = best_step(residual, projections[:, bit], kernel)
                weights[anchor, bit] += step
                projections[:, bit] += step * kernel
    return weights


def best_step(residual, projections, kernel):
    """Return the step t that maximises ``h' R h`` for ``h = sign(projections + t * kernel)``.

    Parameters
    ----------
    residual : ndarray of shape (n_samples, n_samples)
        Symmetric matrix R.
    projections : ndarray of shape (n_samples,)
        Present values, whose signs are the bit.
    kernel : ndarray of shape (n_samples,)
        Change of the values with t.

    Returns
    -------
    float
        Step; 0 if no step improves the objective.
    """
    # 1) Sort the steps t at which the sign of a sample flips.
    active = np.flatnonzero(kernel)
    if not len(active):
        return 0.0
    crossings = -projections[active] / kernel[active]
    order = np.argsort(crossings)
    crossings, rows = crossings[order], active[order]
    # 2) Compute the gain of the first flips over t = -inf, where the signs equal the signs of
    # -kernel. If the samples of a set F flip their signs s, h' R h changes by
    # 4 (sum_{i, j in F} s_i R_ij s_j - sum_{i in F} s_i (R s)_i).
    start = np.where(projections > 0, 1.0, -1.0)
    start[active] = np.where(kernel[active] > 0, -1.0, 1.0)
    flipped = start[rows]
    products = residual[rows[:, None], rows] * np.multiply.outer(flipped, flipped)
    interactions = 2 * np.tril(products, -1).sum(axis=1) + products.diagonal()
    gains = np.cumsum(4 * (interactions - flipped * (residual @ start)[rows]))
    # 3) List the steps: before the first crossing, between two distinct ones, or after the last.
    gains = np.concatenate([[0.0], gains])
    is_distinct = np.concatenate([[True], np.diff(crossings) > 0, [True]])
    steps = np.concatenate(
        [[crossings[0] - 1], crossings[:-1] / 2 + crossings[1:] / 2, [crossings[-1] + 1]]
    )
    # 4) Take the first step of the largest gain. Gains within the tolerance are equal but for
    # rounding.
    tolerance = _RELATIVE_TOLERANCE * float(np.abs(residual).sum())
    best = np.flatnonzero(is_distinct & (gains >= gains[is_distinct].max() - tolerance))[0]
    # A gain within rounding error is no reason to move.
    current = gains[np.searchsorted(crossings, 0.0)]
    return float(steps[best]) if gains[best] > current + tolerance else 0.0


def fit_class_codes(kernels, labels, n_bits, max_iter):
    """Fit codes whose inner products separate classes, one bit after the other (KSH).

    The similarity of two samples is +1 if they are of one class and -1 otherwise.

    Parameters
    ----------
    kernels : ndarray of shape (n_samples, n_anchors)
        Centred kernel values.
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    n_bits : int
    max_iter : int
        Maximum number of L-BFGS iterations per bit.

    Returns
    -------
    ndarray of shape (n_anchors, n_bits)
        Weights; the codes are the signs of ``kernels @ weights``.
    """
    # Let S be the similarities, Z the class indicators, and B the bits so far, of shape
    # (n_samples, n_previous_bits). The residual R = n_bits S - B B' has low rank, because
    # S = 2 Z Z' - 1 1'.
    indicators = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    positive = np.sqrt(2 * n_bits) * indicators
    negative = np.full((len(labels), 1), np.sqrt(n_bits))
    columns = []
    for _ in range(n_bits):
        # The better of two solutions is taken: an eigenvector, for real numbers in place of signs,
        # and the minimum of a loss of smooth signs.
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
    """Return ``-h' R h / n_samples ** 2`` for the smoothed signs ``h = tanh(kernels @ w / 2)``.

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
    """Return the w that maximises ``h' R h`` over ``h = kernels @ w`` of norm ``sqrt(n_samples)``.

    See `smooth_loss` for the parameters. The solution is an eigenvector.
    """
    gram = kernels.T @ kernels
    ridge = 1e-9 * np.trace(gram) + np.finfo(float).tiny
    positive_part, negative_part = kernels.T @ positive, kernels.T @ negative
    _, vectors = eigh(
        positive_part @ positive_part.T - negative_part @ negative_part.T,
        gram + ridge * np.eye(len(gram)),
        subset_by_index=[len(gram) - 1] * 2,
    )
    return np.sqrt(len(kernels)) * vectors[:, 0] * canonical_signs(vectors)[0]
