"""Preparation of features for an algorithm: scaling, then projection.

A `boostbench.fitting.trial.Trial` learns it from its training part and applies it to both parts.
"""

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
    """Return the transformer that scales features; the caller fits it on the training part.

    Parameters
    ----------
    kind : {"minmax", "standard", "unit", "none"}
        ``"minmax"``: each feature to [-1, 1]. ``"standard"``: each feature to mean 0 and variance
        1. ``"unit"``: each sample to Euclidean length 1. ``"none"``: no scaling.
    is_sparse : bool, default=False
        True: the features are a sparse matrix, which a shift would make dense. ``"minmax"`` then
        divides by the largest magnitude, and ``"standard"`` keeps the mean.

    Returns
    -------
    transformer
        Unfitted transformer of scikit-learn.
    """
    if kind == "minmax":
        return MaxAbsScaler() if is_sparse else MinMaxScaler((-1, 1))
    if kind == "standard":
        return StandardScaler(with_mean=not is_sparse)
    return Normalizer() if kind == "unit" else FunctionTransformer(accept_sparse=True)


def fit_scaling_and_projection(
    train, scale: str, pca: float | None = None, categories: Sequence[tuple[int, int]] = ()
) -> Callable:
    """Learn from the training part how to scale and project features.

    Parameters
    ----------
    train : ndarray or sparse matrix of shape (n_train, n_features)
        Features of the training part.
    scale : {"minmax", "standard", "unit", "none"}
        See `scaler`.
    pca : float or None, default=None
        Share of the variance that the principal components keep, which replace the scaled features;
        None: no projection. The result is dense. Sparse features have the components of the
        dense matrix.
    categories : sequence of (int, int), default=()
        Index and number of categories of each column of codes, which becomes a categorical column
        of a data frame. Neither `pca` nor the scale ``"unit"`` can be combined with categories.

    Returns
    -------
    callable
        Function of features of any samples, which returns the prepared features: an ndarray or a
        sparse matrix, or a data frame if there are categories.
    """
    if categories:
        return _fit_frame_preparation(train, scale, categories)
    scale_features = scaler(scale, sparse.issparse(train)).fit(train).transform
    if pca is None:
        return scale_features
    train = scale_features(train)
    # Subtract the mean of dense features first: the projections centre only the Gram or
    # covariance matrix, which loses digits if the mean is large.
    centre = None if sparse.issparse(train) else train.mean(axis=0)

    def centred(features):
        return features if centre is None else features - centre

    n_samples, n_features = train.shape
    fit_projection = (
        _project_by_inner_products if n_samples < n_features else _project_by_covariances
    )
    project = fit_projection(centred(train), pca)
    return lambda features: project(centred(scale_features(features)))


def _fit_frame_preparation(train, scale: str, categories: Sequence[tuple[int, int]]) -> Callable:
    """Fit the scaling of numbers, and return a function that prepares a data frame.

    The function scales the numbers, and converts the codes to categories.

    Parameters are as in `fit_scaling_and_projection`. A code is the number of a category, NaN if it
    is missing.
    """
    import pandas as pd  # slow to import

    n_categories_by_column = dict(categories)
    numeric = np.setdiff1d(np.arange(train.shape[1]), list(n_categories_by_column))
    if len(numeric):
        scale_numbers = scaler(scale).fit(train[:, numeric]).transform
    else:
        scale_numbers = np.asarray  # transformers refuse a matrix without columns

    def to_frame(features):
        scaled = scale_numbers(features[:, numeric])
        columns = dict(zip(numeric.tolist(), scaled.T, strict=True))
        for column, n_categories in n_categories_by_column.items():
            # The code -1 is a missing value of pandas.
            codes = np.nan_to_num(features[:, column], nan=-1).astype(np.intp)
            columns[column] = pd.Categorical.from_codes(codes, range(n_categories))
        return pd.DataFrame({column: columns[column] for column in range(train.shape[1])})

    return to_frame


# Principal components of a centred matrix X are eigenvectors of X' X, of shape (n_features,
# n_features); or X' times the eigenvectors of X X', of shape (n_samples, n_samples). The functions
# below decompose the smaller matrix, which takes a small part of the time of a singular value
# decomposition of X. Squaring loses half of the digits of the least components, but not of
# components with a good share of the variance. Scikit-learn chooses an eigenvector's sign by its
# largest entry; if two entries are equal up to rounding, `canonical_signs` takes the first.


def _project_by_inner_products(train, share: float) -> Callable:
    """Return the projection of features to principal components, by eigenvectors of X X'.

    Parameters
    ----------
    train : ndarray or sparse matrix of shape (n_train, n_features)
        Scaled features.
    share : float
        Share of the variance that the components keep.
    """
    kernel_pca = KernelPCA(kernel="linear", eigen_solver="dense").fit(train)
    cumulative_shares = np.cumsum(kernel_pca.eigenvalues_) / kernel_pca.eigenvalues_.sum()
    # The rule of scikit-learn's PCA is to take the first components that exceed the share.
    n_components = np.searchsorted(cumulative_shares, share, side="right") + 1
    signs = canonical_signs(kernel_pca.eigenvectors_[:, :n_components])
    return lambda features: kernel_pca.transform(features)[:, :n_components] * signs


def _project_by_covariances(train, share: float) -> Callable:
    """Return the same projection as `_project_by_inner_products`, by eigenvectors of X' X."""
    pca = PCA(share, svd_solver="covariance_eigh").fit(train)
    signs = canonical_signs(pca.components_.T)
    return lambda features: pca.transform(features) * signs
