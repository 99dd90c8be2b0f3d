"""What is done to the features before an algorithm sees them: scaling, then projection."""

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, KernelPCA
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    StandardScaler,
)

SCALES = ("minmax", "standard", "unit", "none")


def scaler(kind: str, is_sparse: bool = False):
    """Make the transformer that scales features; the caller fits it on the training part.

    Parameters
    ----------
    kind : {"minmax", "standard", "unit", "none"}
        Each feature to [-1, 1], or to mean 0 and variance 1; each sample to length 1; or nothing.
    is_sparse : bool, default=False
        Whether the features are a sparse matrix, which may be stretched but not shifted: then
        ``minmax`` divides by the largest magnitude, and ``standard`` keeps the mean.

    Returns
    -------
    transformer
        Unfitted, with the interface of scikit-learn.
    """
    if kind == "minmax":
        return MaxAbsScaler() if is_sparse else MinMaxScaler((-1, 1))
    if kind == "standard":
        return StandardScaler(with_mean=not is_sparse)
    return Normalizer() if kind == "unit" else FunctionTransformer(accept_sparse=True)


def prepare(train, test, scale: str, pca: float | None = None) -> tuple:
    """Scale and project both parts by what the training part says.

    Parameters
    ----------
    train, test : ndarray or sparse matrix of shape (n_samples, n_features)
        Features of the two parts.
    scale : {"minmax", "standard", "unit", "none"}
        See `scaler`.
    pca : float or None, default=None
        Share of the variance that the principal components keep, which replace the scaled features;
        None keeps these. What comes out is dense, also of sparse features, whose components are
        those of the dense matrix.

    Returns
    -------
    tuple
        The training and the test part as the algorithm sees them.
    """
    fitted = scaler(scale, sparse.issparse(train)).fit(train)
    train, test = fitted.transform(train), fitted.transform(test)
    if pca is None:
        return train, test
    if not sparse.issparse(train):
        # Both ways below subtract the mean's part from a Gram matrix, where digits may cancel.
        centre = train.mean(axis=0)
        train, test = train - centre, test - centre
    n_samples, n_features = train.shape
    way = _by_samples if n_samples < n_features else _by_features
    return way(train, test, pca)


# The same components come from the matrix of the samples' inner products and from that of the
# features' covariances; the smaller one is decomposed, which takes a small part of the time of a
# singular value decomposition. Squaring loses half of the digits of the least components, but not
# of those that hold a good share of the variance.


def _by_samples(train, test, share: float) -> tuple:
    projection = KernelPCA(kernel="linear", eigen_solver="dense").fit(train)
    shares = np.cumsum(projection.eigenvalues_) / projection.eigenvalues_.sum()
    n_components = np.searchsorted(shares, share, side="right") + 1  # the rule of PCA
    return tuple(projection.transform(part)[:, :n_components] for part in (train, test))


def _by_features(train, test, share: float) -> tuple:
    projection = PCA(share, svd_solver="covariance_eigh").fit(train)
    return projection.transform(train), projection.transform(test)
