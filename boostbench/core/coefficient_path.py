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
        self._places = [np.empty(0, np.int64)]

    def append(self, coefficients):
        """Add a round.

        Parameters
        ----------
        coefficients : ndarray of float64
            Of any shape; a round may have more than the one before, at the end.
        """
        flat = coefficients.ravel()
        places = np.flatnonzero(flat)
        self._values.append(flat[places])
        self._places.append(places)

    def replace_last(self, coefficients):
        """Correct the last round; parameters as of `append`."""
        del self._values[-1], self._places[-1]
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
        del self._values[rounds + 1 :], self._places[rounds + 1 :]
        coefficients = np.zeros(n_coefficients)
        coefficients[self._places[-1]] = self._values[-1]
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
        ends = np.cumsum([len(places) for places in self._places])
        parts = np.concatenate(self._values), np.concatenate(self._places), ends
        return sparse.csr_array(parts, shape=(len(ends) - 1, n_coefficients))


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
