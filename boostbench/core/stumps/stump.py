"""Decision stumps and stacks of them."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from boostbench.core.weak_learner import LearnerStack

# Outputs that are computed at a time, few enough to stay in the cache between the comparison with
# thresholds and the product with coefficients or weights.
BLOCK_OUTPUTS = 2**17

# Up to this many stumps, transposing X takes longer than it saves.
_MIN_STUMPS = 16


class Stump(NamedTuple):
    """Weak learner ``polarity * (+1 if x[feature] > threshold else -1)``.

    The fields may be arrays of one length, for many weak learners at once.
    """

    feature: int
    threshold: float
    polarity: int = 1

    def __call__(self, X):
        """Return the outputs of the stump.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_stumps), dtype=float64
            -1 or +1.
        """
        above = X[:, self.feature] > self.threshold
        return np.where(above, 1.0, -1.0) * self.polarity


class Stumps(LearnerStack):
    """Stack of T stumps.

    Parameters
    ----------
    stumps : sequence of Stump

    Attributes
    ----------
    feature : ndarray of shape (n_stumps,), dtype=int64
    threshold : ndarray of shape (n_stumps,), dtype=float64
    polarity : ndarray of shape (n_stumps,), dtype=float64

    Examples
    --------
    >>> stumps = Stumps([Stump(0, 1.5), Stump(0, 0.5, -1)])
    >>> stumps.scores(np.array([[0.0], [1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[-1.,  1.],
           [-1., -1.]])
    """

    def __init__(self, stumps):
        self.feature = np.array([s.feature for s in stumps], dtype=np.int64)
        self.threshold = np.array([s.threshold for s in stumps], dtype=np.float64)
        self.polarity = np.array([s.polarity for s in stumps], dtype=np.float64)

    @classmethod
    def positive(cls, feature, threshold):
        """Return stumps of polarity 1; many times faster than a list of `Stump`.

        Parameters
        ----------
        feature : ndarray of shape (n_stumps,)
        threshold : ndarray of shape (n_stumps,)

        Returns
        -------
        Stumps
        """
        stumps = cls([])
        stumps.feature = np.array(feature, dtype=np.int64)
        stumps.threshold = np.array(threshold, dtype=np.float64)
        stumps.polarity = np.ones(len(stumps.feature))
        return stumps

    def __len__(self):
        return len(self.feature)

    def __iter__(self):
        return map(Stump, self.feature, self.threshold, self.polarity)

    @property
    def tested(self):
        """Column of X that each stump tests."""
        return self.feature

    @property
    def n_parameters(self):
        """Number of parameters for prediction, without coefficients."""
        return 2 * len(self)

    def __repr__(self):
        if self.feature.ndim > 1:
            return super().__repr__()
        n_shown = 4
        tests = [
            f"{'+' if polarity > 0 else '-'}(x[{feature}] > {threshold:.4g})"
            for feature, threshold, polarity in zip(
                self.feature[:n_shown], self.threshold, self.polarity, strict=False
            )
        ]
        ellipsis = ["..."] * (len(self) > n_shown)
        return f"<{len(self)} Stumps: {', '.join(tests + ellipsis)}>"

    def outputs(self, X, selection=slice(None)):
        """Return -1 and +1, of shape (n_samples, n_selected); see `LearnerStack.outputs`."""
        above = X[:, self.feature[selection]] > self.threshold[selection]
        return np.where(above, self.polarity[selection], -self.polarity[selection])

    def scores(self, X, coefficients, selection=slice(None)):
        """Return the weighted sum of the stumps, faster than `LearnerStack.scores`."""
        feature, threshold = self.feature[selection], self.threshold[selection, None]
        if len(feature) <= _MIN_STUMPS:
            return super().scores(X, coefficients, selection)
        votes = np.ascontiguousarray(coefficients[selection].T) * self.polarity[selection]
        scores = np.repeat(-votes.sum(axis=-1, keepdims=True), len(X), axis=-1)
        votes *= 2.0
        # X is transposed, so that the features of the stumps are contiguous.
        if len(feature) > X.shape[1]:
            columns = np.ascontiguousarray(X.T)
        else:
            columns, feature = X.T[feature], np.arange(len(feature))
        width = max(1, BLOCK_OUTPUTS // max(1, len(X)))
        for start in range(0, len(feature), width):
            block = slice(start, start + width)
            above = columns.take(feature[block], axis=0) > threshold[block]
            scores += votes[..., block] @ above.astype(np.float64)
        return scores.T


def additive_tables(stumps, coefficients):
    r"""Yield the scores :math:`F(x) = \sum_t h_t(x) W_t` of stumps h as one table per feature.

    The sum of the stumps of a feature is a step function. A score needs one binary search and one
    table row per feature, for any number of stumps.

    Parameters
    ----------
    stumps : boostbench.core.stumps.stump.Stumps
    coefficients : ndarray of shape (n_stumps, n_classes)
        W.

    Yields
    ------
    feature : int
        Feature that a stump tests, ascending.
    thresholds : ndarray
        Distinct thresholds of the feature, ascending.
    table : ndarray of shape (n_thresholds + 1, n_classes)
        Contribution of the feature to the scores: in row 0 up to the first threshold, in row 1
        between the first and the second threshold, and so on.

    Examples
    --------
    >>> from boostbench.core.stumps.stump import Stump, Stumps
    >>> stumps = Stumps([Stump(0, 1.5), Stump(0, 0.5, -1)])
    >>> [(_, thresholds, table)] = additive_tables(stumps, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> thresholds
    array([0.5, 1.5])
    >>> table
    array([[-1.,  1.],
           [-1., -1.],
           [ 1., -1.]])
    """
    # 1) Sort the stumps, and add up the votes at each distinct threshold.
    order = np.lexsort((stumps.threshold, stumps.feature))
    features, thresholds = stumps.feature[order], stumps.threshold[order]
    votes = stumps.polarity[order, None] * coefficients[order]
    # True at the first stump of each distinct (feature, threshold).
    is_distinct = (np.diff(features, prepend=-1) > 0) | (np.diff(thresholds, prepend=np.nan) != 0)
    starts = np.flatnonzero(is_distinct)
    features, thresholds = features[starts], thresholds[starts]
    votes = np.add.reduceat(votes, starts, axis=0) if len(starts) else votes
    # 2) Below all thresholds the sum is minus all votes, and each threshold adds twice its votes.
    boundaries = np.append(np.flatnonzero(np.diff(features, prepend=-1)), len(features))
    for start, end in pairwise(boundaries):
        steps = np.concatenate([-votes[start:end].sum(axis=0, keepdims=True), 2 * votes[start:end]])
        yield features[start], thresholds[start:end], np.cumsum(steps, axis=0, out=steps)
