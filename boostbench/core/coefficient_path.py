"""Coefficients after each round of a totally corrective booster."""

import numpy as np
from scipy import sparse


class CoefficientPath:
    """Sparse record of the coefficients after each round; most of them are 0.

    Examples
    --------
    >>> path = CoefficientPath()
    >>> path.append(np.array([[1.0, 0.0]]))
    >>> path.append(np.array([[0.5, 0.0], [0.0, 2.0]]))
    >>> path.matrix(4).toarray()
    array([[1. , 0. , 0. , 0. ],
           [0.5, 0. , 0. , 2. ]])
    """

    def __init__(self):
        self._values = [np.empty(0)]
        self._indices = [np.empty(0, np.int64)]

    def append(self, coefficients):
        """Append the coefficients of a round.

        Parameters
        ----------
        coefficients : ndarray of float64
            Array of any shape. A round may have more coefficients than the previous round; the new
            ones come last.
        """
        flat = coefficients.ravel()
        indices = np.flatnonzero(flat)
        self._values.append(flat[indices])
        self._indices.append(indices)

    def replace_last(self, coefficients):
        """Replace the coefficients of the last round; see `append`."""
        del self._values[-1], self._indices[-1]
        self.append(coefficients)

    def rewind(self, rounds, n_coefficients):
        """Remove the rounds after the first `rounds`.

        Parameters
        ----------
        rounds : int
            Number of rounds that remain, 1 or more.
        n_coefficients : int
            Number of coefficients of the last of them.

        Returns
        -------
        ndarray of shape (n_coefficients,)
            Coefficients of the last remaining round.
        """
        del self._values[rounds + 1 :], self._indices[rounds + 1 :]
        coefficients = np.zeros(n_coefficients)
        coefficients[self._indices[-1]] = self._values[-1]
        return coefficients

    def matrix(self, n_coefficients):
        """Return the coefficients of all rounds.

        Parameters
        ----------
        n_coefficients : int
            Number of coefficients of the last round.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_rounds, n_coefficients)
        """
        # The first, empty piece makes concatenation work before the first round.
        indptr = np.cumsum([len(indices) for indices in self._indices])
        parts = np.concatenate(self._values), np.concatenate(self._indices), indptr
        return sparse.csr_array(parts, shape=(len(indptr) - 1, n_coefficients))


def stage_coefficients(path, stage, shape):
    """Return the coefficients after a number of rounds.

    Parameters
    ----------
    path : scipy.sparse.csr_array of shape (n_rounds, n_coefficients)
        From `CoefficientPath.matrix`.
    stage : int
        0 to n_rounds.
    shape : tuple of int
        Shape of the coefficients after the last round.

    Returns
    -------
    ndarray of shape `shape`
        Coefficients; 0 for weak learners of later rounds.
    """
    return path[[stage - 1]].toarray().reshape(shape) if stage else np.zeros(shape)
