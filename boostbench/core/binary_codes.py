"""Mathematics of the hashers in `boostbench.algorithms.hashing`: ITQ, CCA, BRE and KSH.

The code of a sample has n_bits bits, -1 or +1: the signs of linear functions of its features, or of
its kernel values at some anchors.

Iterative quantization (ITQ) rotates components so that signs lose little. Canonical correlation
analysis (CCA) finds directions of the features.

Binary reconstructive embeddings (BRE) and supervised hashing with kernels (KSH) choose codes H, of
shape (n_samples, n_bits), for which ``H @ H.T / n_bits`` approximates a matrix S of similarities.
They fit one bit h, a column of H, at a time. O is the matrix of the other bits (in KSH the
earlier bits), and the error is

    |S - (O O' + h h') / n_bits|^2 = |R - h h'|^2 / n_bits^2,    R = n_bits S - O O'.

R is called the residual. Since all entries of h h' are -1 or +1, the error is a constant minus
``2 h' R h / n_bits^2``: both methods maximise ``h.T @ R @ h``.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from boostbench.core.linear_algebra import canonical_signs

# Objectives that differ by less than this fraction are equal: rounding must not choose.
_RELATIVE_TOLERANCE = 1e-9


def itq_rotation(coordinates, rotation, n_iterations):
    """Return the rotation of iterative quantization, which moves samples close to cube corners.

    Each iteration replaces the samples by their nearest corners, and then finds the rotation that
    is nearest to them (the orthogonal Procrustes problem).

    Parameters
    ----------
    coordinates : ndarray of shape (n_samples, n_bits)
        Coordinates of the samples.
    rotation : ndarray of shape (n_bits, n_bits)
        Initial rotation, orthogonal.
    n_iterations : int

    Returns
    -------
    ndarray of shape (n_bits, n_bits)
        Orthogonal matrix. No iteration increases the distance of ``coordinates @ rotation`` from
        its signs.
    """
    for _ in range(n_iterations):
        corners = np.where(coordinates @ rotation > 0, 1.0, -1.0)
        # U V' is the nearest rotation if the product is decomposed to U S V'.
        left_vectors, _, right_vectors = np.linalg.svd(coordinates.T @ corners)
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
        Directions by descending correlation, at most as many as classes. The projections on them
        have the variance 1, where the variances of the features include the ridge.
    correlations : ndarray of shape (n_directions,)
    """
    # The squared correlations are the eigenvalues of ``C S^-1 C' a = rho^2 F a``, with the
    # covariance matrices F of the features, S of the class indicators, and C between both.
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
    :math:`\sum_{i,j} (S_{ij} - \frac1b \langle h_i, h_j \rangle)^2` with the codes :math:`h_i` of b
    bits. Each step sets one weight to its best value, so that the objective never rises.

    Parameters
    ----------
    kernels : ndarray of shape (n_samples, n_anchors)
        Centred kernel values.
    similarities : ndarray of shape (n_samples, n_samples)
        S, symmetric.
    weights : ndarray of shape (n_anchors, n_bits)
        Initial weights.
    n_sweeps : int
        Number of passes over all weights.

    Returns
    -------
    ndarray of shape (n_anchors, n_bits)
        Final weights.
    """
    weights = weights.copy()
    n_bits = weights.shape[1]
    projections = kernels @ weights
    for _ in range(n_sweeps):
        for bit in range(n_bits):
            codes = np.where(projections > 0, 1.0, -1.0)
            other_codes = np.delete(codes, bit, axis=1)
            # This is R of the module docstring. A step of weight (anchor, bit) adds a multiple of
            # the kernel values of the anchor to the numbers whose signs are the bit.
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
        Residual R, symmetric.
    projections : ndarray of shape (n_samples,)
        Present numbers, whose signs are the bit h.
    kernel : ndarray of shape (n_samples,)
        Change of these numbers per unit of t.

    Returns
    -------
    float
        Step; 0 if no step improves the objective.
    """
    # 1) Sort the steps t at which the sign of a sample flips. Other samples never flip.
    active = np.flatnonzero(kernel)
    if not len(active):
        return 0.0
    crossings = -projections[active] / kernel[active]
    order = np.argsort(crossings)
    crossings, rows = crossings[order], active[order]
    # 2) Start from t = -inf, where the signs s (`initial_signs`) are the signs of -kernel. Compute
    # `gains`: the total change of h' R h after 1, 2, ... flips. If the samples of a set F flip,
    # h = s - 2 s_F, where s_F is s in F and 0 elsewhere, so that h' R h changes by
    # 4 (s_F' R s_F - s_F' R s). The first term is the sum of the symmetric matrix
    # M_ij = s_i R_ij s_j (`products`) over F x F. With samples in the order of their flips, flip k
    # adds M_kk and twice M_kj for each earlier j (`interactions`). The second term grows by
    # s_k (R s)_k.
    initial_signs = np.where(projections > 0, 1.0, -1.0)
    initial_signs[active] = np.where(kernel[active] > 0, -1.0, 1.0)
    ordered_signs = initial_signs[rows]
    products = residual[rows[:, None], rows] * np.multiply.outer(ordered_signs, ordered_signs)
    interactions = 2 * np.tril(products, -1).sum(axis=1) + products.diagonal()
    gains = np.cumsum(4 * (interactions - ordered_signs * (residual @ initial_signs)[rows]))
    # 3) List the possible steps: before the first crossing, between two distinct ones, and after
    # the last. Entry n of `gains` and `steps` belongs to n flips. It is possible if crossings n - 1
    # and n are distinct.
    gains = np.concatenate([[0.0], gains])
    is_distinct = np.concatenate([[True], np.diff(crossings) > 0, [True]])
    steps = np.concatenate(
        [[crossings[0] - 1], crossings[:-1] / 2 + crossings[1:] / 2, [crossings[-1] + 1]]
    )
    # 4) Take the first step of the largest gain. Gains within the tolerance are equal but for
    # rounding.
    tolerance = _RELATIVE_TOLERANCE * float(np.abs(residual).sum())
    best = np.flatnonzero(is_distinct & (gains >= gains[is_distinct].max() - tolerance))[0]
    # The samples with negative crossings have flipped at t = 0, the present state: their number
    # gives the current gain. A gain within rounding error is no reason to move.
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
    # (n_samples, n_previous_bits). With S = 2 Z Z' - 1 1', the residual R = n_bits S - B B' is
    # P P' - N N' for P = sqrt(2 n_bits) Z and N = [sqrt(n_bits) 1, B]. Both have few columns, so
    # that products with R are cheap.
    indicators = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    P = np.sqrt(2 * n_bits) * indicators
    N = np.full((len(labels), 1), np.sqrt(n_bits))
    columns = []
    for _ in range(n_bits):
        # 1) Find two weight vectors: an eigenvector, which is optimal for real numbers in place of
        # signs, and from there a minimum of the loss of smooth signs.
        start = _eigenvector_weights(kernels, P, N)
        smooth = minimize(
            smooth_loss,
            start,
            (kernels, P, N),
            method="L-BFGS-B",
            jac=True,
            options={"maxiter": max_iter},
        ).x
        # 2) Keep the weights of the larger h' R h = |P' h|^2 - |N' h|^2.
        bits = [np.where(kernels @ weights > 0, 1.0, -1.0) for weights in (start, smooth)]
        objectives = [((b @ P) ** 2).sum() - ((b @ N) ** 2).sum() for b in bits]
        best = int(objectives[1] > objectives[0] + _RELATIVE_TOLERANCE * abs(objectives[0]))
        columns.append((start, smooth)[best])
        N = np.column_stack([N, bits[best]])
    return np.column_stack(columns)


def smooth_loss(weights, kernels, P, N):
    """Return ``-h' R h / n_samples ** 2`` for smoothed signs ``h = tanh(kernels @ weights / 2)``.

    Parameters
    ----------
    weights : ndarray of shape (n_anchors,)
    kernels : ndarray of shape (n_samples, n_anchors)
    P, N : ndarray of shape (n_samples, n_columns)
        Factors of the residual: ``R = P @ P.T - N @ N.T``.

    Returns
    -------
    value : float
    gradient : ndarray of shape (n_anchors,)
    """
    # The derivative of tanh(z / 2) is (1 - tanh(z / 2)^2) / 2, and the gradient of
    # h' R h is 2 R h.
    scale = float(len(kernels)) ** 2
    smooth = np.tanh(kernels @ weights / 2)
    image = P @ (P.T @ smooth) - N @ (N.T @ smooth)
    gradient = -kernels.T @ (image * (1 - smooth**2))
    return float(-smooth @ image / scale), gradient / scale


def _eigenvector_weights(kernels, P, N):
    """Return the w that maximises ``h' R h`` over ``h = kernels @ w`` of norm ``sqrt(n_samples)``.

    See `smooth_loss` for the parameters. The solution is the eigenvector v of the largest
    eigenvalue of ``K' R K v = rho K' K v`` with the matrix K of the kernels, times
    ``sqrt(n_samples)``.
    """
    # A tiny ridge makes K' K positive definite.
    gram = kernels.T @ kernels
    ridge = 1e-9 * np.trace(gram) + np.finfo(float).tiny
    positive_part, negative_part = kernels.T @ P, kernels.T @ N
    _, vectors = eigh(
        positive_part @ positive_part.T - negative_part @ negative_part.T,
        gram + ridge * np.eye(len(gram)),
        subset_by_index=[len(gram) - 1] * 2,
    )
    return np.sqrt(len(kernels)) * vectors[:, 0] * canonical_signs(vectors)[0]
