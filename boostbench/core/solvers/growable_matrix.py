"""Matrix with a growing number of rows, for solvers whose problems gain columns."""

import numpy as np

_FIRST_ROWS = 64


class GrowableMatrix:
    """Rows in one block of memory, which doubles when it is full.

    A column of a problem is stored as a row, so that it is contiguous.

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
        self._n = 0

    @property
    def matrix(self):
        """View of the rows, of shape (n_rows, length), dtype=float64."""
        return self._block[: self._n]

    def append(self, row):
        """Append a row, an array of shape (length,)."""
        if self._n == len(self._block):
            block = np.empty((2 * self._n, self._block.shape[1]))
            block[: self._n] = self._block
            self._block = block
        self._block[self._n] = row
        self._n += 1
