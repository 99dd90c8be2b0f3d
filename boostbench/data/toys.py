"""Toy data of our own, where a paper only shows a picture of its own."""

from collections.abc import Sequence

import numpy as np

_DECIMALS = 6


def make_gaussians(
    means: Sequence[Sequence[float]],
    covariance: Sequence[Sequence[float]],
    samples_per_class: int = 100,
    random_state: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw normally distributed classes that differ in their means only.

    Parameters
    ----------
    means : sequence of shape (n_classes, n_features)
        Mean of each class.
    covariance : sequence of shape (n_features, n_features)
        Covariance of every class.
    samples_per_class : int, default=100
        Number of samples of each class.
    random_state : int, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_classes * samples_per_class, n_features), float64
        Features, rounded to 6 decimals.
    y : ndarray of shape (n_classes * samples_per_class,), int64
        Class numbers from 0, class by class.

    Raises
    ------
    ValueError
        If the shapes do not fit, or the covariance is not positive definite.

    Examples
    --------
    >>> X, y = make_gaussians([[0, 0], [5, 5]], [[1, 0.5], [0.5, 1]], samples_per_class=3)
    >>> X.shape, y.tolist()
    ((6, 2), [0, 0, 0, 1, 1, 1])
    """
    rng = np.random.default_rng(random_state)
    draws = [
        rng.multivariate_normal(
            mean, covariance, samples_per_class, check_valid="raise", method="cholesky"
        )
        for mean in means
    ]
    # Last bits depend on the processor; without them, so do neither the checksum nor a stump.
    return np.concatenate(draws).round(_DECIMALS), np.repeat(
        np.arange(len(draws)), samples_per_class
    )
