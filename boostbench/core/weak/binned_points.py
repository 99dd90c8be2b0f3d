"""Points in the bins of very many features, and the sums of their weights below thresholds."""

from itertools import pairwise

import numpy as np

from boostbench.core.weak.pair_tables import PairTables


class BinnedPoints(PairTables):
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
        super().__init__(codes, n_thresholds + 1)
        self._n_features, self._n_thresholds = len(codes), n_thresholds

    @property
    def additions(self):
        """Roundings on the way of a weight into a sum below a threshold, at most."""
        return super().additions + self._n_thresholds

    def below(self, weights):
        """Add up weights below thresholds.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32

        Returns
        -------
        ndarray of shape (n_thresholds, n_features), dtype=float32
        """
        sums, start = np.empty((self._n_thresholds, self._n_features), np.float32), 0
        for bins in self.pieces(weights):
            here = sums[:, start : start + len(bins)]
            # By thresholds, as what follows looks for the largest of each feature.
            here[:] = bins[: here.shape[1], 0, : self._n_thresholds].T
            start += len(bins)
        for before, sum_ in pairwise(sums):
            sum_ += before
        return sums
