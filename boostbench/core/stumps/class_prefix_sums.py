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
_BLOCK_SAMPLES = 40_000


class ClassPrefixSums:
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
    >>> sums = ClassPrefixSums(order, is_cut, np.array([2, 2, 0, 1]), lambda feature, place: place)
    >>> int(sums.best_position(np.full(4, 0.25), majority_weight, scale=1.0))
    1
    """

    def __init__(self, order, is_cut, labels, position):
        self._is_cut, self._labels, self._position = is_cut[:, :-1], labels, position
        n_features, n_samples = order.shape
        self._width = max(1, _BLOCK_SAMPLES // n_samples)
        # Of each feature the samples class by class, and where they are there, in its piece.
        self._samples, self._places = np.empty((2, n_features, n_samples), np.int32)
        for feature, feature_order in enumerate(order):
            by_class = np.argsort(labels[feature_order], kind="stable")
            self._samples[feature] = feature_order[by_class]
            block_start = feature % self._width * n_samples
            self._places[feature, by_class] = np.arange(block_start, block_start + n_samples)

    def best_position(self, weights, score, scale):
        """Find the threshold of the largest size.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
            Not negative.
        score : callable
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
        preceding = np.repeat(np.cumsum(totals) - totals, counts)
        totals = np.repeat(totals, counts)
        best, candidates, slack = -np.inf, [], EQUAL * scale
        for block_start in range(0, len(self._places), self._width):
            block = slice(block_start, block_start + self._width)
            weight_of_sample = weights.take(self._samples[block])
            below = weight_of_sample.cumsum(axis=1)
            below -= preceding
            above = totals - below
            above += weight_of_sample
            scores = score(
                *(sums.take(self._places[block]) for sums in (weight_of_sample, below, above))
            )
            scores[~self._is_cut[block]] = -np.inf
            largest = scores.max(initial=-np.inf)
            if largest >= best - slack:
                best = max(best, largest)
                feature, rank = np.nonzero(scores >= best - slack)
                candidates.append((block_start + feature, rank, scores[feature, rank]))
        if best == -np.inf:
            return None
        features, ranks, scores = map(np.concatenate, zip(*candidates, strict=True))
        first = first_largest(scores, scale)
        return self._position(features[first], ranks[first])


def majority_weight(weights, below, above):
    """Give what the heaviest classes on both sides weigh; see `ClassPrefixSums.best_position`."""
    below, above = below[:, :-1], above[:, :0:-1]
    np.maximum.accumulate(below, axis=1, out=below)
    np.maximum.accumulate(above, axis=1, out=above)
    below += above[:, ::-1]
    return below
