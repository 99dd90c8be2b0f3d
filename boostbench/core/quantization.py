"""Linear maps whose signs are binary codes.

These are the rotation of iterative quantization (ITQ) and the directions of canonical correlation
analysis (CCA).
"""

import numpy as np
from scipy.linalg import eigh

from boostbench.core.eigenvector_signs import canonical_signs


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
