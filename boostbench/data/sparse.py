"""When a matrix stays sparse."""

#: Dense matrices above this number of entries (80 MB) may stay sparse ...
LARGE = 10_000_000
#: ... if at most this share of them is not zero.
SPARSE = 0.1


def dense_unless_large(X):
    """Make a sparse matrix dense, unless it is both large and nearly empty.

    Parameters
    ----------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features)
        Any matrix.

    Returns
    -------
    ndarray or scipy.sparse.csr_matrix
        The same values.
    """
    if not hasattr(X, "toarray"):
        return X
    entries = X.shape[0] * X.shape[1]
    return X if entries > LARGE and X.nnz <= SPARSE * entries else X.toarray()
