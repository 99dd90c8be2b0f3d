"""Points in the bins of very many features, and the sums of their weights below thresholds."""

import numpy as np

from boostbench.core.weak.pair_tables import PairTables


class BinnedPoints:
    """Points, by the bins that they are in.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_points), dtype=unsigned int
        Of each feature, how many of its thresholds the points are above.
    n_thresholds : int
        Of a feature.

    Examples
    --------
    >>> codes = np.array([[1, 1, 0], [0, 0, 1]], np.uint8)
    >>> points = BinnedPoints(codes, n_thresholds=1)
    >>> points.below(np.array([-5, 3, 2], np.float32)).tolist()
    [[2.0, -2.0]]
    """

    def __init__(self, codes, n_thresholds):
        self._tables = PairTables(codes, n_thresholds + 1)
        self._below = np.tri(n_thresholds, self._tables.width, dtype=np.float32)
        self._n_features = len(codes)

    @property
    def additions(self):
        """Roundings on the way of a weight into a sum, at most."""
        return self._tables.additions + len(self._below)

    def only(self, some):
        """Leave points out.

        Parameters
        ----------
        some : ndarray of shape (n_kept,), dtype=int64
            The numbers of those that stay.

        Returns
        -------
        BinnedPoints
            Its `below` takes the weights of those that stay.
        """
        fewer = object.__new__(BinnedPoints)
        fewer.__dict__.update(self.__dict__, _tables=self._tables.only(some))
        return fewer

    def below(self, weights):
        """Add up weights below thresholds.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32

        Returns
        -------
        ndarray of shape (n_thresholds, n_features), dtype=float32
        """
        return self._below @ self._tables.sums(weights)[: self._n_features, 0].T
