"""Preparation of features for an algorithm: scaling, then projection."""

from collections.abc import Callable, Sequence

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

from boostbench.core.linear_algebra import canonical_signs


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


def preparation(
    train, scale: str, pca: float | None = None, categories: Sequence[tuple[int, int]] = ()
) -> Callable:
    """Learn from the training part how to scale and project features.

    Parameters
    ----------
    train : ndarray or sparse matrix of shape (n_samples, n_features)
        Features of the training part.
    scale : {"minmax", "standard", "unit", "none"}
        See `scaler`.
    pca : float or None, default=None
        Share of the variance that the principal components keep, which replace the scaled features;
        None keeps these. The result is dense. Sparse features have the components of the
        dense matrix.
    categories : sequence of (int, int), default=()
        Index and number of categories of each column of codes, which becomes a categorical column
        of a data frame; `pca` and ``"unit"`` then do not apply.

    Returns
    -------
    callable
        From features of any samples to the prepared features: a data frame, if there are
        categories.
    """
    if categories:
        return _frames(train, scale, categories)
    scaled = scaler(scale, sparse.issparse(train)).fit(train).transform
    if pca is None:
        return scaled
    train = scaled(train)
    # Both ways below subtract the mean's part from a Gram matrix, where digits may cancel.
    centre = None if sparse.issparse(train) else train.mean(axis=0)

    def centred(part):
        return part if centre is None else part - centre

    n_samples, n_features = train.shape
    way = _project_by_inner_products if n_samples < n_features else _project_by_covariances
    project = way(centred(train), pca)
    return lambda part: project(centred(scaled(part)))


def _frames(train, scale: str, categories: Sequence[tuple[int, int]]) -> Callable:
    """Return the function that scales numbers and converts codes to a data frame's categories."""
    import pandas as pd  # slow to import

    sizes = dict(categories)
    numbers = np.setdiff1d(np.arange(train.shape[1]), list(sizes))
    scale_numbers = scaler(scale).fit(train[:, numbers]).transform if len(numbers) else np.asarray

    def to_frame(part):
        columns = dict(zip(numbers.tolist(), scale_numbers(part[:, numbers]).T, strict=True))
        for column, n_categories in sizes.items():
            codes = np.nan_to_num(part[:, column], nan=-1).astype(np.intp)
            columns[column] = pd.Categorical.from_codes(codes, range(n_categories))
        return pd.DataFrame({column: columns[column] for column in range(train.shape[1])})

    return to_frame


# The matrix of the samples' inner products and the matrix of the features' covariances lead to the
# same components; the smaller matrix is decomposed, which takes a small part of the time of a
# singular value decomposition. Squaring loses half of the digits of the least components, but not
# of components with a good share of the variance. Scikit-learn chooses an eigenvector's sign by its
# largest entry; if two entries are equal up to rounding, `canonical_signs` takes the first.


def _project_by_inner_products(train, share: float) -> Callable:
    projection = KernelPCA(kernel="linear", eigen_solver="dense").fit(train)
    shares = np.cumsum(projection.eigenvalues_) / projection.eigenvalues_.sum()
    n_components = np.searchsorted(shares, share, side="right") + 1  # the rule of PCA
    of_components = canonical_signs(projection.eigenvectors_[:, :n_components])
    return lambda part: projection.transform(part)[:, :n_components] * of_components


def _project_by_covariances(train, share: float) -> Callable:
    projection = PCA(share, svd_solver="covariance_eigh").fit(train)
    of_components = canonical_signs(projection.components_.T)
    return lambda part: projection.transform(part) * of_components
