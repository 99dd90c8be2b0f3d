"""Small operations of linear algebra: signs, rounding, symmetric and sparse matrices.

NumPy and SciPy have general versions of most of them. These versions save checks, copies or half of
the arithmetic, which matters for the small matrices of a boosting round.
"""

import math
import sys
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpotri

from boostbench.util.compat import LOOPS

# Magnitudes that differ by less than this fraction count as equal, so that rounding errors do not
# choose between them.
_RELATIVE_TOLERANCE = 1e-6

# Number of rows that a `GrowableMatrix` has memory for at first.
_FIRST_ROWS = 64


def canonical_signs(columns):
    """Return the sign for each column that makes its entry of largest magnitude positive.

    Ties, up to rounding, go to the first entry.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)

    Returns
    -------
    ndarray of shape (n_columns,), dtype=float64
        -1 or +1.

    Examples
    --------
    >>> canonical_signs(np.array([[1.0, -2.0], [-1.0, 1.0]]))
    array([ 1., -1.])
    """
    magnitudes = np.abs(columns)
    largest_rows = (magnitudes >= (1 - _RELATIVE_TOLERANCE) * magnitudes.max(axis=0)).argmax(axis=0)
    return np.where(columns[largest_rows, np.arange(columns.shape[1])] < 0, -1.0, 1.0)


def snap_to_grid(numbers, n_bits, min_unit=sys.float_info.min):
    """Round numbers to multiples of a common unit, a power of 2 that depends on the largest one.

    The last bits of a sum differ between libraries of linear algebra. Solvers round their steps, so
    that such differences do not grow from step to step, and results are equal on every machine.

    Parameters
    ----------
    numbers : ndarray
        Numbers; they are returned unchanged if all of them are 0, or one of them is not finite.
    n_bits : int
        Number of bits that are kept of the number with the largest magnitude.
    min_unit : float, default=sys.float_info.min
        Minimum of the unit. The default is the smallest number of full precision.

    Returns
    -------
    ndarray
        Rounded numbers, of the shape of `numbers`.

    Examples
    --------
    >>> snap_to_grid(np.array([1.0, 1 / 3, 1e-9]), 8).tolist()
    [1.0, 0.3359375, 0.0]
    """
    largest = float(np.abs(numbers).max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return numbers
    # The first bit of `largest` has the value 2^(exponent - 1), and its bit number `n_bits` has the
    # value of the unit.
    _, exponent = math.frexp(largest)
    unit = max(math.ldexp(1.0, exponent - n_bits), min_unit)
    return np.rint(numbers / unit) * unit


def weighted_gram(rows, weights):
    """Return the weighted Gram matrix ``(rows * weights) @ rows.T``.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns), dtype=float64
    weights : ndarray of shape (n_columns,), dtype=float64
        Nonnegative weights.

    Returns
    -------
    ndarray of shape (n_rows, n_rows)

    Examples
    --------
    >>> weighted_gram(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 4.0]))
    array([[17., 35.],
           [35., 73.]])
    """
    scaled = rows * np.sqrt(weights)
    return scaled @ scaled.T


def inverse_from_cholesky(factor):
    """Return the inverse of a positive definite matrix from its Cholesky factor.

    Parameters
    ----------
    factor : ndarray of shape (n, n), dtype=float64
        Lower triangular factor, as returned by LAPACK's ``potrf`` with ``lower=1``.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> inverse_from_cholesky(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.25  , 0.    ],
           [0.    , 0.0625]])
    """
    lower, _ = dpotri(factor, lower=1)
    return np.tril(lower) + np.tril(lower, -1).T


class CompressedMatrix(NamedTuple):
    """Sparse matrix whose construction, unlike SciPy's, neither checks nor copies its parts.

    Attributes
    ----------
    format : {"csc", "csr"}
        Compressed columns or compressed rows, as in SciPy.
    shape : tuple of (int, int)
    indptr : ndarray of int32
        Start of each column (csc) or row (csr) in `indices` and `data`, and the end of the last.
    indices : ndarray of int32
        Row (csc) or column (csr) of each entry.
    data : ndarray
        Entries, column by column or row by row.

    Examples
    --------
    >>> matrix = sparse_from_columns(np.int32([[1], [0]]), np.array([[2.0], [3.0]]), n_rows=2)
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

    @property
    def T(self):
        """The transposed matrix; the parts are shared."""
        transposed_format = "csr" if self.format == "csc" else "csc"
        return self._replace(format=transposed_format, shape=self.shape[::-1])


def sparse_from_columns(rows, entries, n_rows):
    """Return a sparse matrix with the same number of entries in each column.

    Parameters
    ----------
    rows : ndarray of shape (n_columns, n_entries), dtype=int32
        Row of each entry of each column.
    entries : ndarray of shape (n_columns, n_entries)
    n_rows : int
        Number of rows of the matrix.

    Returns
    -------
    CompressedMatrix of shape (n_rows, n_columns)
    """
    n_columns, n_entries = rows.shape
    return CompressedMatrix(
        format="csc",
        shape=(n_rows, n_columns),
        indptr=np.arange(0, rows.size + 1, n_entries, dtype=np.int32),
        indices=rows.ravel(),
        data=entries.ravel(),
    )


def sparse_product(matrix, dense):
    """Return ``matrix @ dense`` for a sparse and a dense matrix.

    Parameters
    ----------
    matrix : CompressedMatrix, scipy.sparse.csc_array or csr_array of shape (n_rows, n_columns)
    dense : ndarray of shape (n_columns, n_dense_columns) or (n_columns,)
        Dense matrix in C order, of the data type of the sparse matrix or a wider one.

    Returns
    -------
    ndarray of shape (n_rows, n_dense_columns) or (n_rows,)

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> sparse_product(csc_array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]))
    array([[13., 16.]])
    """
    sums = np.zeros((matrix.shape[0], *dense.shape[1:]), dense.dtype)
    add_sparse_product(matrix, dense, sums)
    return sums


def add_sparse_product(matrix, dense, sums):
    """Add the product of a sparse and a dense matrix to an array: ``sums += matrix @ dense``.

    Parameters
    ----------
    matrix : CompressedMatrix, scipy.sparse.csc_array or csr_array of shape (n_rows, n_columns)
    dense : ndarray of shape (n_columns, n_dense_columns) or (n_columns,)
        Dense matrix in C order, of the data type of the sparse matrix or a wider one.
    sums : ndarray of shape (n_rows, n_dense_columns) or (n_rows,)
        Array in C order, of the data type of `dense`. Overwritten.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> sums = np.ones((1, 2))
    >>> add_sparse_product(csc_array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]), sums)
    >>> sums
    array([[14., 17.]])
    """
    # `LOOPS` holds the compiled functions behind SciPy's product. They are private: if this SciPy
    # has none of their names, the public product takes their place.
    if LOOPS is None:
        kind = sparse.csc_array if matrix.format == "csc" else sparse.csr_array
        sums += kind((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape) @ dense
        return
    matvec, matvecs = LOOPS[matrix.format]
    n_rows, n_columns = matrix.shape
    entries = matrix.indptr, matrix.indices, matrix.data
    if dense.ndim == 1 or dense.shape[1] == 1:
        matvec(n_rows, n_columns, *entries, dense.ravel(), sums.ravel())
    else:
        matvecs(n_rows, n_columns, dense.shape[1], *entries, dense.ravel(), sums.ravel())


def accumulate_rows(values):
    """Replace each row of an array by the sum of the rows up to it, as `numpy.cumsum` does.

    An addition waits for the one before it in its column, so that two columns at a time take no
    longer than one. If the number of columns is even, pairs of neighbouring columns are therefore
    added up as the real and imaginary parts of complex numbers. The rounding is the same.

    Parameters
    ----------
    values : ndarray of shape (n_rows, ...) and of float32 or float64
        Overwritten. The last axis is contiguous if there are several.

    Returns
    -------
    ndarray
        `values`.

    Examples
    --------
    >>> accumulate_rows(np.array([[1.0, 0.5], [2.0, 0.5], [4.0, 0.5]]))
    array([[1. , 0.5],
           [3. , 1. ],
           [7. , 1.5]])
    """
    pairs = values
    if values.ndim > 1 and values.shape[-1] % 2 == 0:
        pairs = values.view(np.result_type(values, np.complex64))
    np.cumsum(pairs, axis=0, out=pairs)
    return values


class GrowableMatrix:
    """Matrix to which rows are appended, in one block of memory, which doubles when it is full.

    Solvers store a column of their problem as a row, so that it is contiguous.

    Parameters
    ----------
    length : int
        Length of the rows.

    Examples
    --------
    >>> rows = GrowableMatrix(2)
    >>> rows.append([1.0, 2.0])
    >>> rows.append([3.0, 4.0])
    >>> rows.matrix
    array([[1., 2.],
           [3., 4.]])
    """

    def __init__(self, length):
        self._block = np.empty((_FIRST_ROWS, length))
        self._n_rows = 0

    @property
    def matrix(self):
        """View of the rows, of shape (n_rows, length), dtype=float64."""
        return self._block[: self._n_rows]

    def append(self, row):
        """Append a row, an array of shape (length,)."""
        if self._n_rows == len(self._block):
            block = np.empty((2 * self._n_rows, self._block.shape[1]))
            block[: self._n_rows] = self._block
            self._block = block
        self._block[self._n_rows] = row
        self._n_rows += 1
