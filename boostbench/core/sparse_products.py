"""Products of sparse and dense matrices by SciPy's compiled loops, without its checks.

``matrix @ W`` determines the type of W, checks it and converts it. For small data these steps take
longer than the loop itself, and every boosting round has several products.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from boostbench.util.compat.scipy import LOOPS


class CompressedMatrix(NamedTuple):
    """A sparse matrix whose construction, unlike SciPy's, neither checks nor copies its parts.

    Attributes
    ----------
    format : {"csc", "csr"}
    shape : tuple of (int, int)
    indptr, indices : ndarray of int32
    data : ndarray
        The parts of a `scipy.sparse.csc_array` or `csr_array`.

    Examples
    --------
    >>> matrix = CompressedMatrix.from_columns(np.int32([[1], [0]]), np.array([[2.0], [3.0]]), 2)
    >>> sparse_product(matrix, np.array([1.0, 10.0]))
    array([30.,  2.])
    >>> sparse_product(matrix.T, np.array([1.0, 10.0]))
    array([20.,  3.])
    """

    format: str
    shape: tuple[int, int]
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray

    @classmethod
    def from_columns(cls, rows, entries, n_rows):
        """Return the matrix with the same number of entries in each column.

        Parameters
        ----------
        rows : ndarray of shape (n_columns, n_entries), dtype=int32
        entries : ndarray of shape (n_columns, n_entries)
        n_rows : int

        Returns
        -------
        CompressedMatrix of shape (n_rows, n_columns)
        """
        n_columns, n_entries = rows.shape
        starts = np.arange(0, rows.size + 1, n_entries, dtype=np.int32)
        return cls("csc", (n_rows, n_columns), starts, rows.ravel(), entries.ravel())

    @property
    def T(self):
        """The transposed matrix; the parts are shared."""
        transposed_format = "csr" if self.format == "csc" else "csc"
        return self._replace(format=transposed_format, shape=self.shape[::-1])


def sparse_product(matrix, W):
    """Return ``matrix @ W`` for a sparse and a dense matrix.

    Parameters
    ----------
    matrix : CompressedMatrix, scipy.sparse.csc_array or csr_array of shape (n_rows, n_samples)
    W : ndarray of shape (n_samples, n_columns) or (n_samples,)
        Dense matrix in C order, of the data type of the sparse matrix or a wider one.

    Returns
    -------
    ndarray of shape (n_rows, n_columns) or (n_rows,)

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> sparse_product(csc_array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]))
    array([[13., 16.]])
    """
    sums = np.zeros((matrix.shape[0], *W.shape[1:]), W.dtype)
    add_sparse_product(matrix, W, sums)
    return sums


def add_sparse_product(matrix, W, sums):
    """Add the product of a sparse and a dense matrix to an array, as ``sums += matrix @ W`` does.

    Parameters
    ----------
    matrix : CompressedMatrix, scipy.sparse.csc_array or csr_array of shape (n_rows, n_samples)
    W : ndarray of shape (n_samples, n_columns) or (n_samples,)
        Dense matrix in C order, of the data type of the sparse matrix or a wider one.
    sums : ndarray of shape (n_rows, n_columns) or (n_rows,)
        Array in C order, of the data type of `W`. Overwritten.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> sums = np.ones((1, 2))
    >>> add_sparse_product(csc_array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]), sums)
    >>> sums
    array([[14., 17.]])
    """
    if LOOPS is None:
        kind = sparse.csc_array if matrix.format == "csc" else sparse.csr_array
        sums += kind((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape) @ W
        return
    matvec, matvecs = LOOPS[matrix.format]
    n_rows, n_samples = matrix.shape
    entries = matrix.indptr, matrix.indices, matrix.data
    if W.ndim == 1 or W.shape[1] == 1:
        matvec(n_rows, n_samples, *entries, W.ravel(), sums.ravel())
    else:
        matvecs(n_rows, n_samples, W.shape[1], *entries, W.ravel(), sums.ravel())
