r"""The best threshold by the sums of all classes on both of its sides, at the price of one class.

A threshold that moves up passes one sample, and changes the sum of its class only. Let :math:`C_i`
be what the class of sample i weighs up to this sample, in the order of a feature. Then of the
classes' sums :math:`b_c` below a threshold

.. math:: \max_c b_c = \max_{i \text{ below}} C_i, \qquad
    \sum_c b_c^2 = \sum_{i \text{ below}} w_i (2 C_i - w_i),

and likewise above it. So a running maximum or sum over the samples of a feature is all that it
takes, whatever the number of classes.
"""

import numpy as np

from boostbench.core.stumps.ties import EQUAL, first_largest

# Samples of features that are looked through at a time: few enough to stay in the cache.
_PIECE = 40_000


class ClassSums:
    """A search over the thresholds of all features.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_samples), dtype=int32
        The samples of each feature, ascending.
    is_cut : ndarray of shape (n_features, n_samples), dtype=bool
        Whether a threshold is between a sample and the next.
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    position : callable
        Takes a feature and a place in its order, and returns a position.

    Examples
    --------
    >>> order, is_cut = np.array([[0, 1, 2, 3]]), np.array([[True, True, True, False]])
    >>> sums = ClassSums(order, is_cut, np.array([2, 2, 0, 1]), lambda feature, place: place)
    >>> int(sums.best_position(np.full(4, 0.25), heaviest, scale=1.0))
    1
    """

    def __init__(self, order, is_cut, labels, position):
        self._is_cut, self._labels, self._position = is_cut[:, :-1], labels, position
        n_features, n_samples = order.shape
        self._width = max(1, _PIECE // n_samples)
        # Of each feature the samples class by class, and where they are there, in its piece.
        self._samples, self._places = np.empty((2, n_features, n_samples), np.int32)
        for feature, of_feature in enumerate(order):
            by_class = np.argsort(labels[of_feature], kind="stable")
            self._samples[feature] = of_feature[by_class]
            first = feature % self._width * n_samples
            self._places[feature, by_class] = np.arange(first, first + n_samples)

    def best_position(self, weights, size, scale):
        """Find the threshold of the largest size.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
            Not negative.
        size : callable
            Takes three arrays of shape (n_some, n_samples) about some features, with the samples in
            the order of each: their weights, and what the class of a sample weighs up to it and
            from it on. Returns the sizes of the thresholds behind all but the last sample, of shape
            (n_some, n_samples - 1). It may overwrite what it takes.
        scale : float
            What a size could be at most, about: sizes that differ by next to nothing of that are
            equal.

        Returns
        -------
        int or None
            Its position; of equally good ones that of the first feature and threshold. None where
            there is none.
        """
        counts, totals = np.bincount(self._labels), np.bincount(self._labels, weights)
        # Of the samples class by class.
        before = np.repeat(np.cumsum(totals) - totals, counts)
        totals = np.repeat(totals, counts)
        reached, near, slack = -np.inf, [], EQUAL * scale
        for first in range(0, len(self._places), self._width):
            some = slice(first, first + self._width)
            own = weights.take(self._samples[some])
            below = own.cumsum(axis=1)
            below -= before
            above = totals - below
            above += own
            sizes = size(*(part.take(self._places[some]) for part in (own, below, above)))
            sizes[~self._is_cut[some]] = -np.inf
            largest = sizes.max(initial=-np.inf)
            if largest >= reached - slack:
                reached = max(reached, largest)
                feature, place = np.nonzero(sizes >= reached - slack)
                near.append((first + feature, place, sizes[feature, place]))
        if reached == -np.inf:
            return None
        features, places, sizes = map(np.concatenate, zip(*near, strict=True))
        at = first_largest(sizes, scale)
        return self._position(features[at], places[at])


def heaviest(own, below, above):
    """Give what the heaviest classes on both sides weigh; see `ClassSums.best_position`."""
    below, above = below[:, :-1], above[:, :0:-1]
    np.maximum.accumulate(below, axis=1, out=below)
    np.maximum.accumulate(above, axis=1, out=above)
    below += above[:, ::-1]
    return below
