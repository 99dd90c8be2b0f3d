r"""Search for the threshold with the best class weights on both sides, at the cost of one class.

A threshold that moves up passes one sample, and changes the weight of one class. Let :math:`C_i`
be the weight of the class of sample i up to this sample, in the order of a feature. Then the class
weights :math:`b_c` below a threshold fulfil

.. math:: \max_c b_c = \max_{i \text{ below}} C_i, \qquad
    \sum_c b_c^2 = \sum_{i \text{ below}} w_i (2 C_i - w_i),

and the weights above it fulfil the same equations in reversed order. So a running maximum or sum
over the samples of a feature is enough for any number of classes.

`boostbench.core.stumps.layouts.sorted.Sorted` makes `ClassPrefixSums`, and the search of stumps
that vote for classes (`boostbench.core.learners.trees`) uses it.
"""

import numpy as np

from boostbench.core.stumps.ties import TIE_TOLERANCE, argmax_with_tolerance

# Number of (feature, sample) pairs in a block. Its arrays fit in the cache.
_BLOCK_SAMPLES = 40_000


class ClassPrefixSums:
    """Search over the thresholds of all features.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_samples), dtype=int32
        Samples in ascending order of each feature.
    is_threshold : ndarray of shape (n_features, n_samples), dtype=bool
        True if a threshold lies between a sample and the next in the order.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.
    position : callable
        Function of a feature and a rank in its order. It returns a position, the number by which
        the layout knows the threshold after this rank.

    Examples
    --------
    >>> order, is_threshold = np.array([[0, 1, 2, 3]]), np.array([[True, True, True, False]])
    >>> labels = np.array([2, 2, 0, 1])
    >>> sums = ClassPrefixSums(order, is_threshold, labels, lambda feature, rank: rank)
    >>> int(sums.best_position(np.full(4, 0.25), majority_weight, scale=1.0))
    1
    """

    def __init__(self, order, is_threshold, labels, position):
        self._is_threshold, self._labels, self._position = is_threshold[:, :-1], labels, position
        n_features, n_samples = order.shape
        self._width = max(1, _BLOCK_SAMPLES // n_samples)
        # `_samples` has the samples of each feature sorted by class and value. `_index_in_block`
        # has the place of each sample of the feature's order in a block of features sorted that
        # way.
        self._samples, self._index_in_block = np.empty((2, n_features, n_samples), np.int32)
        for feature, feature_order in enumerate(order):
            by_class = np.argsort(labels[feature_order], kind="stable")
            self._samples[feature] = feature_order[by_class]
            block_start = feature % self._width * n_samples
            self._index_in_block[feature, by_class] = np.arange(
                block_start, block_start + n_samples
            )

    def best_position(self, weights, score, scale):
        """Return the position of the threshold with the largest score.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
            Not negative.
        score : callable
            Function of three arrays of shape (n_block_features, n_samples), with the samples in
            the order of each feature: weight of the sample, and weight of its class up to and from
            this sample, both with the sample. Returns the scores of the thresholds behind all but
            the last sample, of shape (n_block_features, n_samples - 1). May overwrite its
            arguments.
        scale : float
            Approximate upper bound of the scores. Scores whose difference is a rounding error of
            `scale` are ties.

        Returns
        -------
        int or None
            Ties go to the first feature and threshold. None if there is no threshold.
        """
        # 1) Sum the weights of each class, for samples that are sorted by class.
        counts, totals = np.bincount(self._labels), np.bincount(self._labels, weights)
        # `preceding` is the weight of all earlier classes.
        preceding = np.repeat(np.cumsum(totals) - totals, counts)
        totals = np.repeat(totals, counts)
        # 2) Score the thresholds of a block of features, and collect the scores near the largest
        #    one.
        best, candidates, tolerance = -np.inf, [], TIE_TOLERANCE * scale
        for block_start in range(0, len(self._index_in_block), self._width):
            block = slice(block_start, block_start + self._width)
            weight_of_sample = weights.take(self._samples[block])
            below = weight_of_sample.cumsum(axis=1)
            below -= preceding
            above = totals - below
            above += weight_of_sample
            scores = score(
                *(
                    sums.take(self._index_in_block[block])
                    for sums in (weight_of_sample, below, above)
                )
            )
            scores[~self._is_threshold[block]] = -np.inf
            largest = scores.max(initial=-np.inf)
            if largest >= best - tolerance:
                best = max(best, largest)
                feature, rank = np.nonzero(scores >= best - tolerance)
                candidates.append((block_start + feature, rank, scores[feature, rank]))
        if best == -np.inf:
            return None
        # 3) Break ties: the first feature and threshold wins.
        features, ranks, scores = map(np.concatenate, zip(*candidates, strict=True))
        first = argmax_with_tolerance(scores, scale)
        return self._position(features[first], ranks[first])


def majority_weight(weights, below, above):
    """Return the sum of the largest class weights of both sides, a score of `ClassPrefixSums`."""
    below, above = below[:, :-1], above[:, :0:-1]
    np.maximum.accumulate(below, axis=1, out=below)
    np.maximum.accumulate(above, axis=1, out=above)
    below += above[:, ::-1]
    return below
