"""What is done to the features before an algorithm sees them: scaling, then projection."""

from scipy import sparse
from sklearn.decomposition import PCA
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
        None keeps these. The components of sparse features are those of the dense matrix, so both
        parts are made dense.

    Returns
    -------
    tuple
        The training and the test part as the algorithm sees them.
    """
    fitted = scaler(scale, sparse.issparse(train)).fit(train)
    train, test = fitted.transform(train), fitted.transform(test)
    if pca is None:
        return train, test
    if sparse.issparse(train):
        train, test = train.toarray(), test.toarray()
    projection = PCA(pca, svd_solver="full").fit(train)
    return projection.transform(train), projection.transform(test)
