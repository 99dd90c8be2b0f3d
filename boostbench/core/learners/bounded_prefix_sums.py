"""Search many features for the largest absolute sum of weights below a threshold, in every round.

A feature divides the points (samples, or pairs of a sample and a class) by its thresholds. For
RBoost^rank the edge of a stump is proportional to the sum of the weights below its threshold, and
there are tens of thousands of features. `boostbench.core.learners.projected_stumps` calls this
search once per round.

After some rounds of boosting a few heavy points have most of the weight, and the weights of the
light points change slowly. The sum over all points is the sum over the heavy points, plus the last
known sum over the light points, plus the change of the light points' weights, which is bounded. By
these bounds only a few features can have the largest sum, and only these are summed over all
points. Sums that are equal within rounding errors are computed again in double precision. The
result equals an exhaustive search.
"""

import numpy as np

from boostbench.core.stumps.layouts.joint_histogram import PrefixSumTables, addition_cost
from boostbench.core.stumps.screening import round_to_float32
from boostbench.core.weak_learner import TIE_TOLERANCE, argmax_with_tolerance

# The number of heavy points is chosen among the multiples of this fraction, 1 / 32, of all points.
_HEAVY_STEPS = 32

# Costs are fractions of the time of an exhaustive search. The sums of one candidate feature take
# this many times its share of that time.
_COST_PER_FEATURE = 3.0

# Heavy points are chosen again once the searches have cost this much more than expected. This is
# about the cost of the choice.
_MAX_EXCESS_COST = 2.0

# Largest expected cost of a search with bounds that is worth the effort.
_MAX_COST = 0.6

# Number of points whose sums take as long as the passes over the sum below one threshold.
_COST_PER_THRESHOLD = 2

# Assumed relative change of the light points' weights until heavy points are chosen again.
_ASSUMED_CHANGE = 0.6

# Largest factor by which the previous sums over light points are scaled, since their rounding
# errors are scaled with them.
_MAX_GROWTH = 2.0

# Minimum number of rounds after which heavy points are chosen again. Half of the number of previous
# rounds takes its place if it is larger.
_MIN_ROUNDS = 50

# Number of rounds until the next attempt if no choice was worth the effort.
_RETRY_ROUNDS = 10

# Number of features with the largest bounds whose sums exclude other features.
_N_TOP_FEATURES = 8

# Number of points in a block of sums in double precision.
_EXACT_POINTS = 2**17


class BoundedPrefixSumSearch:
    """Search for the feature and threshold with the largest absolute sum of weights below it.

    The object is called like a function, once per round.

    Parameters
    ----------
    bins : ndarray of shape (n_features, n_points) of unsigned integers
        Number of thresholds of the feature below each point.
    n_thresholds : int
        Number of thresholds of each feature.

    Attributes
    ----------
    points : PrefixSumTables
        Tables from which the sums over all points are computed.

    Examples
    --------
    >>> bins = np.array([[1, 1, 0], [0, 0, 1]], np.uint8)
    >>> search = BoundedPrefixSumSearch(bins, n_thresholds=1)
    >>> search(np.array([-5.0, 3.0, 2.0]))
    (0, 0, 2.0)
    """

    def __init__(self, bins, n_thresholds):
        self._bins, self._n_thresholds = bins, n_thresholds
        self.points = PrefixSumTables(bins, n_thresholds)
        # Bounds by the chosen heavy points; None while all features are searched.
        self._bounds = None
        # Number of the present round, and of the round of the next choice.
        self._round = self._next_choice = 0

    def __call__(self, weights):
        """Return the sum with the largest absolute value.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float64

        Returns
        -------
        threshold_index, feature : int
            Ties go to the first feature, then to its first threshold.
        sum_below : float
            Signed sum of the weights below the threshold.
        """
        # 1) Search the features that can have the largest sum by the bounds, if there are few.
        self._round += 1
        weights_float32 = round_to_float32(weights)
        if self._bounds:
            features = self._candidates(weights_float32)
            if (
                self._bounds.excess_cost(len(features)) > _MAX_EXCESS_COST
                or self._round >= self._next_choice
            ):
                # Forget the heavy points, and choose others in the next search of all features.
                self._bounds, self._next_choice = None, self._round
            if _COST_PER_FEATURE * len(features) < len(self._bins):
                sums = self._sums_below(features, weights_float32)
                return self._select_first(weights, sums, features)
        # 2) Search all features. If it is time, choose heavy points for the next rounds.
        sums = self.points.below(weights_float32)
        if self._round >= self._next_choice:
            self._bounds = self._choose_heavy_points(weights_float32, sums)
            n_rounds = max(_MIN_ROUNDS, self._round // 2) if self._bounds else _RETRY_ROUNDS
            self._next_choice = self._round + n_rounds
        return self._select_first(weights, sums, np.arange(len(self._bins)))

    def _select_first(self, weights, sums, features):
        """Return threshold index, feature and sum of the first of the largest absolute sums.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float64
        sums : ndarray of shape (n_thresholds, n_summed_features), dtype=float32
        features : ndarray of shape (n_summed_features,)
            Features whose sums were computed.

        Returns
        -------
        threshold_index, feature, sum_below
            See `__call__`.
        """
        # 1) Find the sums that are equal to the largest one within rounding errors of float32.
        scale = float(np.abs(weights).sum())
        largest = _max_abs_sums(sums)
        min_score = largest.max() - self._slack(scale)
        candidates = np.flatnonzero(largest >= min_score)
        threshold_index, feature_index = np.nonzero(np.abs(sums[:, candidates]) >= min_score)
        feature_index = candidates[feature_index]
        # 2) Sum these in double precision, in canonical order, and take the first of the largest.
        canonical_order = np.lexsort([threshold_index, feature_index])
        threshold_index, feature = (
            threshold_index[canonical_order],
            features[feature_index[canonical_order]],
        )
        exact = np.empty(len(feature))
        width = max(1, _EXACT_POINTS // len(weights))
        for start in range(0, len(feature), width):
            block = slice(start, start + width)
            is_below = self._bins[feature[block]] <= threshold_index[block, None]
            exact[block] = np.where(is_below, weights, 0.0).sum(axis=1)
        first = argmax_with_tolerance(np.abs(exact), scale)
        return int(threshold_index[first]), int(feature[first]), float(exact[first])

    def _candidates(self, weights):
        """Return the features that may have the largest sum, in ascending order.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32
        """
        # The sums of the features with the largest bounds are computed first: features whose bound
        # is below the largest of these sums are excluded.
        bounds, scale = self._bounds.bounds(weights)
        n_top = min(_N_TOP_FEATURES, len(bounds))
        top = np.argpartition(-bounds, n_top - 1)[:n_top]
        best = _max_abs_sums(self._sums_below(top, weights)).max()
        slack = self._slack(scale, self._bounds.roundings)
        return np.flatnonzero(bounds >= best - slack)

    def _slack(self, scale, roundings=0):
        """Return an upper bound on the rounding errors of the difference of two sums.

        Parameters
        ----------
        scale : float
            Sum of absolute weights.
        roundings : int, default=0
            Number of additions behind a sum over the heavy points.
        """
        # An addition has an error of at most eps / 2, relative to `scale`, so that the difference
        # of two sums has `roundings` times eps. Factor 4 covers the additions of the bounds as
        # well.
        roundings = max(roundings, self.points.additions)
        return (4 * roundings * float(np.finfo(np.float32).eps) + TIE_TOLERANCE) * scale

    def _sums_below(self, features, weights):
        """Return the sums of some features over all points, (n_thresholds, n_features)."""
        return PrefixSumTables(self._bins[features], self._n_thresholds).below(weights)

    def _choose_heavy_points(self, weights, sums):
        """Choose the heavy points, so that the expected cost of a search is smallest.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32
        sums : ndarray of shape (n_thresholds, n_features), dtype=float32
            Sums of the weights below all thresholds.

        Returns
        -------
        _HeavyPointBounds or None
            Bounds by the chosen points. None if the smallest cost exceeds `_MAX_COST`.
        """
        n_points = len(weights)
        if n_points < _HEAVY_STEPS:
            return None
        # 1) For each number of heavy points, bound the change of the sums over the light points.
        # Count the features that this bound excludes.
        magnitudes = np.abs(weights)
        by_magnitude = np.argsort(-magnitudes)
        n_heavy = n_points * np.arange(1, _HEAVY_STEPS) // _HEAVY_STEPS
        cumulative = np.cumsum(magnitudes[by_magnitude], dtype=np.float64)
        assumed_change = _ASSUMED_CHANGE * (cumulative[-1] - cumulative[n_heavy - 1])
        largest_sums = np.sort(_max_abs_sums(sums))
        n_excluded = np.searchsorted(largest_sums, largest_sums[-1] - assumed_change)
        # 2) Take the number of the smallest cost: the sums over the heavy points of all features,
        # and the sums over all points of the features that are not excluded.
        base_cost = self._cost(n_heavy) / self._cost(n_points)
        costs = base_cost + _COST_PER_FEATURE * (1 - n_excluded / len(largest_sums))
        cheapest = costs.argmin()
        if costs[cheapest] > _MAX_COST:
            return None
        heavy, light = by_magnitude[: n_heavy[cheapest]], by_magnitude[n_heavy[cheapest] :]
        heavy.sort()
        points = PrefixSumTables(self._bins.take(heavy, axis=1), self._n_thresholds)
        return _HeavyPointBounds(
            points,
            heavy=heavy,
            light=light,
            weights=weights,
            sums=sums,
            base_cost=base_cost[cheapest],
            expected_cost=costs[cheapest],
        )

    def _cost(self, n_points):
        """Return the cost of the sums over `n_points` points; only ratios of costs matter."""
        threshold_cost = _COST_PER_THRESHOLD * self._n_thresholds
        return addition_cost(n_points, self._n_thresholds + 1) + threshold_cost


class _HeavyPointBounds:
    """Bounds on all sums, computed from the sums over the heavy points.

    Parameters
    ----------
    points : PrefixSumTables
        Sums over the heavy points.
    heavy, light : ndarray of int
        Indices of the heavy points and of the light points.
    weights : ndarray of shape (n_points,), dtype=float32
        Current weights of all points.
    sums : ndarray of shape (n_thresholds, n_features), dtype=float32
        Sums of these weights over all points.
    base_cost, expected_cost : float
        Cost of a search without candidates, and with the expected number of candidates.

    Attributes
    ----------
    roundings : int
        Number of additions behind a sum; see `PrefixSumTables`.
    """

    def __init__(self, points, heavy, light, weights, sums, base_cost, expected_cost):
        self._points, self._heavy, self._light = points, heavy, light
        self._light_weights = weights[light]
        self._light_magnitude = float(np.abs(self._light_weights).sum())
        self._light_sums = sums - points.below(weights[heavy])
        self._scale_at_choice = float(np.abs(weights).sum())
        self._base_cost, self._expected_cost = base_cost, expected_cost
        self._excess_cost = 0.0
        self.roundings = points.additions

    def bounds(self, weights):
        """Return an upper bound on the largest absolute sum of each feature.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32

        Returns
        -------
        bounds : ndarray of shape (n_features,), dtype=float32
            Bounds, up to rounding errors.
        scale : float
            Sum of absolute weights that rounding errors are relative to. It includes the previous
            weights of the heavy points, whose rounding errors are in the sums over light points.
        """
        current = weights[self._light]
        magnitude = float(np.abs(current).sum())
        growth = np.float32(
            magnitude / self._light_magnitude
            if magnitude < _MAX_GROWTH * self._light_magnitude
            else _MAX_GROWTH
        )
        # The sum over the light points below a threshold is `growth` times its previous value, plus
        # the changes of the points below: between -fall and rise.
        change = current - growth * self._light_weights
        rise, fall = change[change > 0].sum(), -change[change < 0].sum()
        sums = self._points.below(weights[self._heavy])
        sums += growth * self._light_sums
        scale = float(np.abs(weights).sum()) + float(growth) * self._scale_at_choice
        return np.maximum(sums.max(axis=0) + rise, fall - sums.min(axis=0)), scale

    def excess_cost(self, n_candidates):
        """Add the cost of a search with `n_candidates`, and return the excess of all searches."""
        cost = self._base_cost + _COST_PER_FEATURE * n_candidates / self._light_sums.shape[1]
        self._excess_cost += max(0.0, cost - self._expected_cost)
        return self._excess_cost


def _max_abs_sums(sums):
    """Return the largest absolute sum of each feature."""
    return np.maximum(sums.max(axis=0), -sums.min(axis=0))
