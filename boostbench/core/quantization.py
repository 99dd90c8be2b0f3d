"""Linear maps whose signs are codes: the rotation of ITQ, and components that follow classes."""

import numpy as np
from scipy.linalg import eigh

from boostbench.core.eigenvector_signs import canonical_signs


def itq_rotation(components, rotation, n_iterations):
    """Turn samples so that they are near to corners of a cube: the rotation of ITQ.

    Parameters
    ----------
    components : ndarray of shape (n_samples, n_bits)
    rotation : ndarray of shape (n_bits, n_bits)
        Where to start, orthogonal.
    n_iterations : int

    Returns
    -------
    ndarray of shape (n_bits, n_bits)
        Orthogonal. The distance of ``components @ rotation`` from its signs never rises.
    """
    for _ in range(n_iterations):
        corners = np.where(components @ rotation > 0, 1.0, -1.0)
        left, _, right = np.linalg.svd(components.T @ corners)
        rotation = left @ right
    return rotation


def canonical_directions(X, labels, ridge):
    """Find the directions of features that are most correlated with the classes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred.
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    ridge : float
        Added to the diagonals of the covariances of features and of class indicators.

    Returns
    -------
    directions : ndarray of shape (n_features, n_directions)
        In falling order of their correlation; of variance 1, as far as the ridge leaves it.
    correlations : ndarray of shape (n_directions,)
    """
    indicators = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    n_samples, n_features = X.shape
    cross = X.T @ indicators / n_samples
    class_covariance = indicators.T @ indicators / n_samples + ridge * np.eye(indicators.shape[1])
    feature_covariance = X.T @ X / n_samples + ridge * np.eye(n_features)
    n_directions = min(n_features, indicators.shape[1])
    squares, directions = eigh(
        cross @ np.linalg.solve(class_covariance, cross.T),
        feature_covariance,
        subset_by_index=[n_features - n_directions, n_features - 1],
    )
    directions = directions[:, ::-1] * canonical_signs(directions[:, ::-1])
    return directions, np.sqrt(np.maximum(squares[::-1], 0))
