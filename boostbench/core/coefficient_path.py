"""The coefficients after each boosting round, where every round finds all of them anew."""

import numpy as np
from scipy import sparse


class CoefficientPath:
    """Collects the coefficients round by round; most of them are 0, and only the others are kept.

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
        """Add a round.

        Parameters
        ----------
        coefficients : ndarray of float64
            Of any shape; a round may have more than the one before, at the end.
        """
        flat = coefficients.ravel()
        indices = np.flatnonzero(flat)
        self._values.append(flat[indices])
        self._indices.append(indices)

    def replace_last(self, coefficients):
        """Correct the last round; parameters as of `append`."""
        del self._values[-1], self._indices[-1]
        self.append(coefficients)

    def rewind(self, rounds, n_coefficients):
        """Forget the rounds after so many.

        Parameters
        ----------
        rounds : int
            1 or more.
        n_coefficients : int
            Of the last round that is left.

        Returns
        -------
        ndarray of shape (n_coefficients,)
            Its coefficients.
        """
        del self._values[rounds + 1 :], self._indices[rounds + 1 :]
        coefficients = np.zeros(n_coefficients)
        coefficients[self._indices[-1]] = self._values[-1]
        return coefficients

    def matrix(self, n_coefficients):
        """Return all rounds.

        Parameters
        ----------
        n_coefficients : int
            Of the last round.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_rounds, n_coefficients)
        """
        # The first piece is no round: it holds the place of none.
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
        Of all coefficients after the last round.

    Returns
    -------
    ndarray of that shape
        0 for weak learners that were not found yet.
    """
    return path[[stage - 1]].toarray().reshape(shape) if stage else np.zeros(shape)
