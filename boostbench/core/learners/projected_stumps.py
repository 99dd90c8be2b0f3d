"""Search for the best stump on randomly projected data: the weak learner of RBoost^rank.

Every class r has its own projection matrix P[r]. So a projected feature j has n_classes * n_samples
weighted points: point (r, i) is ``P[r][j] @ X[i]`` with the weight ``G[i, r]``. Thresholds are
quantiles of these points; the intervals between them are bins.

The columns of weights come from pairwise margins, so ``G`` sums to zero and the edge of a stump is
minus twice the sum of the weights of the points below its threshold (RandomBoost, eq. (5)). The
searches therefore look for the largest absolute sum below a threshold.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy import sparse

from boostbench.core.learners.bounded_prefix_sums import BoundedPrefixSumSearch
from boostbench.core.projections import random_matrix
from boostbench.core.stumps.thresholds import above_middle, bin_indices
from boostbench.core.weak_learner import (
    TIE_TOLERANCE,
    LearnerStack,
    SearchResult,
    argmax_with_tolerance,
)

# Number of points of the projected features that are computed and sorted together: few enough for
# the cache, and enough to make the overhead of the calls negligible.
_CHUNK_POINTS = 2**19

# Data are rescaled before the projection if their largest magnitude is 2 ** 64 or more, or below
# 2 ** -64: sums of products of such numbers could overflow or underflow.
_EXTREME_EXPONENT = 64

# Number of weights in a block of sums in double precision, so that the block stays in the cache.
_EXACT_WEIGHTS = 2**17


class ProjectedStump(NamedTuple):
    """Weak learner: ``polarity * (+1 if directions[r] @ x > threshold else -1)`` for class r.

    Attributes
    ----------
    directions : ndarray of shape (n_classes, n_features)
        Row j of the projection matrix of each class, for a projected feature j.
    threshold : float
    polarity : int
        -1 or +1.
    """

    directions: np.ndarray
    threshold: float
    polarity: int

    def __call__(self, X):
        """Return -1 or +1 for all classes, of shape (n_samples, n_classes)."""
        return np.where(X @ self.directions.T > self.threshold, 1.0, -1.0) * self.polarity

    def make_result(self, X, G):
        """Return the stump as `SearchResult` for training data X and weights G."""
        outputs = self(X)
        return SearchResult(self, outputs, float((G * outputs).sum()))


class ProjectedStumps(LearnerStack):
    """Stack of stumps on projections of the data, with one direction for each class.

    Hypothesis t for class r is ``polarity[t] * (+1 if directions[t, r] @ x > threshold[t] else
    -1)``, or :math:`h_t(P^{(r)} x)` in RandomBoost.

    Parameters
    ----------
    directions : ndarray of shape (n_hypotheses, n_classes, n_features)
    threshold : ndarray of shape (n_hypotheses,)
    polarity : ndarray of shape (n_hypotheses,)
        -1 or +1.
    """

    def __init__(self, directions, threshold, polarity):
        self.directions = np.asarray(directions, dtype=np.float64)
        self.threshold = np.asarray(threshold, dtype=np.float64)
        self.polarity = np.asarray(polarity, dtype=np.float64)

    def __len__(self):
        return len(self.threshold)

    def outputs(self, X, selection=slice(None)):
        """Return outputs of shape (n_samples, n_classes, n_selected); see `LearnerStack`."""
        # A single product projects the samples on the directions of all classes and stumps.
        directions = self.directions[selection].transpose(1, 0, 2)
        projected = X @ directions.reshape(-1, directions.shape[2]).T
        projected = projected.reshape(len(X), *directions.shape[:2])
        polarity = self.polarity[selection]
        return np.where(projected > self.threshold[selection], polarity, -polarity)


class _ProjectionSearch(ABC):
    """Base class of searches for projected stumps.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data, which subclasses set.
    """

    @abstractmethod
    def projection_rows(self, features):
        """Return rows of the projection matrices.

        Parameters
        ----------
        features : ndarray of int or int
            Indices of projected features.

        Returns
        -------
        ndarray of shape (n_projected_features, n_classes, n_features), dtype=float64
            Directions in the space of X. Without the first axis if `features` is an int.
        """

    @abstractmethod
    def _find_largest(self, G):
        """Find the projected feature and threshold with the largest sum of weights below it.

        The sign of the sum is ignored, since a stump may have either polarity.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_classes)
            Weight of each point (r, i), in row i and column r.

        Returns
        -------
        feature : int
            Index of the projected feature.
        threshold : float
            Value of the threshold.
        sum_below : float
            Sum of the weights of the points below the threshold, of all classes.
        """

    def best(self, G):
        """Return the projected stump with the largest edge; see `Search.best`.

        G must sum to zero. The polarity makes the edge positive.
        """
        feature, threshold, sum_below = self._find_largest(G)
        # The edge of the stump without polarity is -2 * sum_below.
        polarity = -1 if sum_below > 0 else 1
        return ProjectedStump(
            self.projection_rows(feature), float(threshold), polarity
        ).make_result(self.X, G)


class IndependentProjectionSearch(_ProjectionSearch):
    """Search with independent Gaussian projections, as in the paper.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    n_classes : int
    n_projections : int
        Number of projected features per class, n of the paper.
    n_bins : int
        Number of bins of a projected feature, which has ``n_bins - 1`` candidate thresholds.
    rng : numpy.random.Generator
    """

    def __init__(self, X, n_classes, n_projections, n_bins, rng):
        self.X = X
        # Draw the directions, and bin the points of all projected features, in chunks of features.
        n_points = n_classes * len(X)
        n_thresholds = n_bins - 1
        data, self._data_scale = _rescale_data(X)
        self.directions = random_matrix("gaussian", (n_projections, n_classes, X.shape[1]), rng)
        self.thresholds = np.empty((n_thresholds, n_projections))
        bins = np.empty((n_projections, n_points), np.min_scalar_type(n_thresholds))
        width = max(1, _CHUNK_POINTS // n_points)
        for start in range(0, n_projections, width):
            chunk = slice(start, start + width)
            directions = self.directions[chunk].astype(np.float64)
            points = (directions @ data).reshape(-1, n_points)
            rounding_gap = _rounding_gap(directions, data).max(axis=1)
            bins[chunk], self.thresholds[:, chunk] = _bin_by_quantiles(points, rounding_gap, n_bins)
        self.prefix_sum_search = BoundedPrefixSumSearch(bins, n_thresholds)

    def projection_rows(self, features):
        """Return rows of the projection matrices; see `_ProjectionSearch.projection_rows`."""
        # The directions were multiplied by rescaled data.
        return self.directions[features].astype(np.float64) * self._data_scale

    def _find_largest(self, G):
        """Return the largest sum; see `_ProjectionSearch._find_largest`."""
        # The points of a feature are ordered by class, then by sample.
        threshold_index, feature, sum_below = self.prefix_sum_search(G.T.ravel())
        return feature, self.thresholds[threshold_index, feature], sum_below


class PooledProjectionSearch(_ProjectionSearch):
    """Search with pooled projections, which is faster, and a different model.

    A pool of `pool_size` Gaussian directions of unit length is drawn once. Each row of the
    projection matrix of each class is a random member of the pool. All features share one grid of
    thresholds. Each direction has the same distribution as in `IndependentProjectionSearch`, up to
    its length, but the features depend on each other. The weights are summed over `pool_size`
    directions instead of ``n_projections * n_classes``.

    Parameters
    ----------
    X, n_classes, n_projections, n_bins, rng
        Same as for `IndependentProjectionSearch`.
    pool_size : int
        Number of directions in the pool.
    """

    def __init__(self, X, n_classes, n_projections, n_bins, rng, pool_size):
        # 1) Draw the pool, and assign a direction to each projected feature and class.
        self.X = X
        data, self._data_scale = _rescale_data(X)
        pool = random_matrix("gaussian", (pool_size, X.shape[1]), rng).astype(np.float64)
        self.pool = pool / np.linalg.norm(pool, axis=1, keepdims=True)
        self.pool_indices = rng.integers(0, pool_size, (n_projections, n_classes))
        # 2) Bin the projected samples by one grid of thresholds.
        points = self.pool @ data
        self.thresholds = _quantile_thresholds(points, _rounding_gap(self.pool, data).max(), n_bins)
        # 3) Make the matrices whose products sum weights by bin, and these sums by class.
        self._bins = np.searchsorted(self.thresholds, points)
        self._bin_indicators = _make_bin_indicators(self._bins, len(self.thresholds))
        self._feature_indicators = _make_feature_indicators(self.pool_indices, pool_size)

    def projection_rows(self, features):
        """Return rows of the projection matrices; see `_ProjectionSearch.projection_rows`."""
        return self.pool[self.pool_indices[features]] * self._data_scale

    def _find_largest(self, G):
        """Return the largest sum; see `_ProjectionSearch._find_largest`."""
        # 1) Sum the weights by bin, direction and class: row b of `sums` has the sums of bin b, in
        # a column for each (direction, class). Add the rows before it: row b then has the sums
        # below threshold b. `sums` has the shape (n_thresholds, pool_size * n_classes), and column
        # d * n_classes + r for direction d and class r, the column order of `_feature_indicators`.
        sums = self._bin_indicators @ np.ascontiguousarray(G, dtype=np.float32)
        sums = sums.reshape(len(self.thresholds), -1)
        for index in range(1, len(sums)):
            sums[index] += sums[index - 1]
        # 2) Add up the classes of each projected feature, in single precision.
        magnitudes = np.abs(self._feature_indicators @ np.ascontiguousarray(sums.T))
        # 3) Sum again, in double precision, if a sum may be the largest within rounding errors. The
        # number of weights bounds the number of terms of a sum.
        scale = np.abs(G).sum()
        slack = (2 * G.size * float(np.finfo(np.float32).eps) + TIE_TOLERANCE) * scale
        features, threshold_indices = np.nonzero(magnitudes >= magnitudes.max() - slack)
        exact = np.empty(len(features))
        width = max(1, _EXACT_WEIGHTS // G.size)
        for start in range(0, len(features), width):
            block = slice(start, start + width)
            exact[block] = self._exact_sums(G, features[block], threshold_indices[block])
        first = argmax_with_tolerance(np.abs(exact), scale)
        return features[first], self.thresholds[threshold_indices[first]], exact[first]

    def _exact_sums(self, G, features, threshold_indices):
        """Return sums of weights below thresholds in double precision.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_classes)
        features, threshold_indices : ndarray of shape (n_sums,)
            Projected feature, and index of the threshold, of each sum.

        Returns
        -------
        ndarray of shape (n_sums,)
        """
        # The selected bins have the shape (n_sums, n_classes, n_samples).
        is_below = self._bins[self.pool_indices[features]] <= threshold_indices[:, None, None]
        return np.where(is_below, G.T, 0.0).sum(axis=(1, 2))


def _make_bin_indicators(bins, n_thresholds):
    """Return a sparse matrix whose product with the weights of the samples sums them by bin.

    Parameters
    ----------
    bins : ndarray of shape (n_directions, n_samples)
        Number of thresholds below each sample on each direction.
    n_thresholds : int

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n_thresholds * n_directions, n_samples), dtype=float32
        Row b * n_directions + d is 1 for the samples in bin b of direction d. The last bin, above
        all thresholds, has no rows.
    """
    n_directions, n_samples = bins.shape
    direction, sample = np.nonzero(bins < n_thresholds)
    rows = bins[direction, sample] * n_directions + direction
    return sparse.csr_matrix(
        (np.ones(len(rows), np.float32), (rows, sample)), (n_thresholds * n_directions, n_samples)
    )


def _make_feature_indicators(pool_indices, pool_size):
    """Return a sparse matrix whose product adds up the sums of the classes of each feature.

    Parameters
    ----------
    pool_indices : ndarray of shape (n_projections, n_classes)
        Direction of each projected feature for each class.
    pool_size : int
        Number of directions.

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n_projections, pool_size * n_classes), dtype=float32
        Row j is 1 in column d * n_classes + r if feature j has direction d for class r.
    """
    n_projections, n_classes = pool_indices.shape
    columns = pool_indices * n_classes + np.arange(n_classes)
    starts = np.arange(n_projections + 1) * n_classes
    return sparse.csr_matrix(
        (np.ones(columns.size, np.float32), columns.ravel(), starts),
        shape=(n_projections, pool_size * n_classes),
    )


def _rescale_data(X):
    """Rescale data so that no projection overflows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    data : ndarray of shape (n_features, n_samples)
        ``X.T * data_scale``.
    data_scale : float
        Power of 2, which is exact. It is 1 unless the exponents are extreme.
    """
    exponent = int(np.frexp(np.abs(X).max())[1])
    is_extreme = abs(exponent) >= _EXTREME_EXPONENT
    data_scale = float(np.ldexp(1.0, -max(min(exponent, 1000), -1000))) if is_extreme else 1.0
    return np.ascontiguousarray(X.T) * data_scale, data_scale


def _rounding_gap(directions, data):
    """Return the largest difference of projected values that rounding errors can cause.

    The error of a sum of d products is at most d 2^-53 times the sum of their absolute values. A
    difference has two sums, and a prediction may add them up in another order, with errors of its
    own: together 4 d 2^-53. The result is twice as large, since eps is 2^-52.

    Parameters
    ----------
    directions : ndarray of shape (..., n_features)
    data : ndarray of shape (n_features, n_samples)

    Returns
    -------
    ndarray of shape (...)
    """
    largest = np.abs(directions) @ np.abs(data).max(axis=1)
    return 4 * len(data) * np.finfo(np.float64).eps * largest


def _bin_by_quantiles(points, rounding_gap, n_bins):
    """Bin each row by its quantiles, without separating values that are equal up to rounding.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_points)
    rounding_gap : ndarray of shape (n_rows,)
        Neighbours are equal if their difference is at most this number.
    n_bins : int

    Returns
    -------
    bins : ndarray of shape (n_rows, n_points)
        Number of thresholds of the row below each point.
    thresholds : ndarray of shape (n_bins - 1, n_rows)
        Thresholds between neighbouring points; -inf if no point is below.
    """
    # 1) Find the rank of each quantile among the sorted values of a row, counted from 0. A
    # threshold lies between the value of this upper rank and the value before it.
    n_rows, n_points = points.shape
    values = np.sort(points, axis=1)
    upper_ranks = np.broadcast_to(n_points * np.arange(1, n_bins) // n_bins, (n_rows, n_bins - 1))
    row = np.arange(n_rows)[:, None]
    rounding_gap = rounding_gap[:, None]
    # 2) Move a threshold that would divide equal values down to the start of their run.
    lower_ranks = np.maximum(upper_ranks - 1, 0)
    if (values[row, upper_ranks] - values[row, lower_ranks] <= rounding_gap).any():
        changes = np.ones((n_rows, n_points), bool)
        changes[:, 1:] = np.diff(values, axis=1) > rounding_gap
        run_starts = np.maximum.accumulate(np.where(changes, np.arange(n_points), 0), axis=1)
        upper_ranks = run_starts[row, upper_ranks]
        lower_ranks = np.maximum(upper_ranks - 1, 0)
    # 3) Compute the thresholds, and count them below each point. No point is below the first rank.
    thresholds = above_middle(values[row, lower_ranks], values[row, upper_ranks])
    thresholds[upper_ranks == 0] = -np.inf
    bins = [
        bin_indices(row_points, row_thresholds)
        for row_points, row_thresholds in zip(points, thresholds, strict=True)
    ]
    return np.stack(bins), thresholds.T


def _quantile_thresholds(points, rounding_gap, n_bins):
    """Return thresholds near the quantiles of all points, between points with a clear difference.

    The side of a point that is equal to a threshold would depend on rounding errors.

    Parameters
    ----------
    points : ndarray of shape (n_directions, n_samples)
    rounding_gap : float
        Neighbours are clearly different if their difference exceeds this number.
    n_bins : int

    Returns
    -------
    ndarray of shape (n_thresholds,)
        Ascending thresholds, at most n_bins - 1; minus infinity if all points are equal.
    """
    values = np.sort(points, axis=None)
    starts = np.flatnonzero(np.diff(values) > rounding_gap) + 1
    if not len(starts):
        return np.array([-np.inf])
    quantiles = len(values) * np.arange(1, n_bins) // n_bins
    # `starts` has the rank of the first value of each run of equal values but the lowest run. The
    # rank of each quantile moves down to the start of its run, or, in the lowest run, up to the
    # first start. The threshold lies below this value.
    upper_ranks = starts[np.maximum(np.searchsorted(starts, quantiles, "right") - 1, 0)]
    return np.unique(above_middle(values[upper_ranks - 1], values[upper_ranks]))
