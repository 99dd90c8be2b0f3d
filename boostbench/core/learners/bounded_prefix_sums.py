"""Search many features for the largest absolute sum of weights below a threshold, in every round.

A feature divides the points (samples, or pairs of a sample and a class) by its thresholds. For
RBoost^rank the edge of a stump is proportional to the sum of the weights below its threshold, and
there are tens of thousands of features. `boostbench.core.learners.projected_stumps` calls this
search once per round.

After some rounds of boosting a few *heavy* points have most of the weight, and the weights of the
other, *light* points change slowly. In some rounds the heavy points are chosen, and the sums over
the light points are stored. In the rounds after this choice, a sum over all points is the sum over
the heavy points, plus the stored sum over the light points, plus the change of the light points'
weights, which is bounded. By these bounds only a few features, the candidates, can have the largest
sum, and only these are summed over all points. Sums that are equal within rounding errors are
computed again in double precision. The result equals an exhaustive search, which sums the weights
of all points for all features.
"""

import numpy as np

from boostbench.core.stumps.layouts.joint_histogram import PrefixSumTables, addition_cost
from boostbench.core.stumps.screening import round_to_float32
from boostbench.core.weak_learner import TIE_TOLERANCE, argmax_with_tolerance

# The number of heavy points is a multiple of n_points / 32.
_HEAVY_STEPS = 32

# Costs are times, as fractions of the time of an exhaustive search. A candidate takes this many
# times as long as a feature of the exhaustive search, since its points are gathered first. The time
# of an exhaustive search is measured in additions of a point (`_additions`).
_CANDIDATE_COST = 3.0

# Cost of the searches since the choice of heavy points, beyond the expected cost, above which heavy
# points are chosen again. It is about the cost of a choice.
_MAX_EXCESS_COST = 2.0

# Expected cost of a search with bounds above which bounds are not worth the effort.
_MAX_COST = 0.6

# Cost of one threshold, in its prefix sum and in the maximum over thresholds, in units of the
# addition of one point.
_ADDITIONS_PER_THRESHOLD = 2

# Assumed relative change of the light points' weights until heavy points are chosen again. It is an
# estimate for the choice, and not a bound.
_ASSUMED_CHANGE = 0.6

# Largest factor by which the stored sums over light points are scaled, since their rounding errors
# are scaled with them.
_MAX_GROWTH = 2.0

# Minimum number of rounds after which heavy points are chosen again. Half of the number of previous
# rounds takes its place if it is larger.
_MIN_ROUNDS = 50

# Number of rounds until the next choice if bounds were not worth the effort.
_RETRY_ROUNDS = 10

# Number of features, the ones with the largest bounds, that are summed first. Their largest sum
# excludes other features.
_N_TOP_FEATURES = 8

# Number of weights in a block of sums in double precision, so that the block stays in the cache.
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
    tables : PrefixSumTables
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
        self.tables = PrefixSumTables(bins, n_thresholds)
        # Bounds by the heavy points; None while all features are searched.
        self._bounds = None
        # Number of the present round, from 1.
        self._round = 0
        # First round whose search of all features may choose heavy points.
        self._next_choice = 0

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
        self._round += 1
        weights_float32 = round_to_float32(weights)
        if self._bounds:
            # 1) Find the candidates by the bounds.
            features = self._candidates(weights_float32)
            self._bounds.record_search(len(features))
            # 2) Drop bounds that are old or have become costly. The candidates stay valid. Without
            # bounds, step 4 chooses heavy points again: in this round, or, if step 3 returns, in
            # the next.
            if self._round >= self._next_choice or self._bounds.excess_cost > _MAX_EXCESS_COST:
                self._bounds, self._next_choice = None, self._round
            # 3) Search the candidates only, if this is faster.
            if _CANDIDATE_COST * len(features) < len(self._bins):
                sums = self._sums_below(features, weights_float32)
                return self._select_first(weights, sums, features)
        # 4) Search all features. If it is time, choose heavy points for the next rounds.
        sums = self.tables.below(weights_float32)
        if self._round >= self._next_choice:
            self._bounds = self._choose_heavy_points(weights_float32, sums)
            n_rounds = max(_MIN_ROUNDS, self._round // 2) if self._bounds else _RETRY_ROUNDS
            self._next_choice = self._round + n_rounds
        return self._select_first(weights, sums, np.arange(len(self._bins)))

    def _select_first(self, weights, sums, features):
        """Return threshold index, feature and sum of the first of the largest absolute sums.

        "First" refers to the canonical order: by feature, then by threshold.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float64
        sums : ndarray of shape (n_thresholds, n_summed_features), dtype=float32
            Sums of the weights below all thresholds, from `PrefixSumTables.below`.
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
        """Return the candidates: the features that may have the largest sum, in ascending order.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32

        Returns
        -------
        ndarray of shape (n_candidates,), dtype=int64
        """
        # The features with the largest bounds are summed first. Features whose bound is below the
        # largest of these sums are excluded.
        bounds, scale = self._bounds.bounds(weights)
        n_top = min(_N_TOP_FEATURES, len(bounds))
        top = np.argpartition(-bounds, n_top - 1)[:n_top]
        best = _max_abs_sums(self._sums_below(top, weights)).max()
        slack = self._slack(scale, self._bounds.roundings)
        return np.flatnonzero(bounds >= best - slack)

    def _slack(self, scale, roundings=0):
        """Return an upper bound on the rounding error of a sum, or a bound, minus another sum.

        Parameters
        ----------
        scale : float
            Sum of absolute weights.
        roundings : int, default=0
            Number of roundings of a weight in a sum over the heavy points.

        Returns
        -------
        float
        """
        # A sum in which each weight is rounded r times has an error of at most r eps / 2, relative
        # to `scale`. Four sums have 4 r eps / 2 = 2 r eps together: three in a bound (over the
        # heavy points now, and over all points and the heavy points at their choice), and the sum
        # that the bound is compared with. Twice as much, 4 r eps, covers the roundings of the
        # change of the light points.
        roundings = max(roundings, self.tables.additions)
        return (4 * roundings * float(np.finfo(np.float32).eps) + TIE_TOLERANCE) * scale

    def _sums_below(self, features, weights):
        """Return sums over all points below all thresholds of the given features.

        The result has the shape (n_thresholds, n_given_features), dtype=float32.
        """
        return PrefixSumTables(self._bins[features], self._n_thresholds).below(weights)

    def _choose_heavy_points(self, weights, sums):
        """Choose the number of heavy points that makes the expected cost of a search smallest.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32
        sums : ndarray of shape (n_thresholds, n_features), dtype=float32
            Sums of the weights below all thresholds.

        Returns
        -------
        _HeavyPointBounds or None
            Bounds by the chosen points. None if the smallest cost exceeds `_MAX_COST`, or if there
            are too few points.
        """
        n_points = len(weights)
        if n_points < _HEAVY_STEPS:
            return None
        # 1) For each number of heavy points, assume that the weights of the light points change by
        # 60 %. A feature whose largest sum is below the best one by more than the assumed change
        # cannot win: count these features.
        magnitudes = np.abs(weights)
        by_magnitude = np.argsort(-magnitudes)
        n_heavy = n_points * np.arange(1, _HEAVY_STEPS) // _HEAVY_STEPS
        cumulative = np.cumsum(magnitudes[by_magnitude], dtype=np.float64)
        assumed_change = _ASSUMED_CHANGE * (cumulative[-1] - cumulative[n_heavy - 1])
        largest_sums = np.sort(_max_abs_sums(sums))
        n_excluded = np.searchsorted(largest_sums, largest_sums[-1] - assumed_change)
        # 2) Take the number with the smallest cost. This is the cost of the sums of all features
        # over the heavy points, and of the sums of the other features over all points.
        base_cost = self._additions(n_heavy) / self._additions(n_points)
        costs = base_cost + _CANDIDATE_COST * (1 - n_excluded / len(largest_sums))
        cheapest = costs.argmin()
        if costs[cheapest] > _MAX_COST:
            return None
        # 3) Store the sums over the heavy and the light points.
        heavy, light = by_magnitude[: n_heavy[cheapest]], by_magnitude[n_heavy[cheapest] :]
        heavy.sort()
        tables = PrefixSumTables(self._bins.take(heavy, axis=1), self._n_thresholds)
        return _HeavyPointBounds(
            tables,
            heavy=heavy,
            light=light,
            weights=weights,
            sums=sums,
            base_cost=base_cost[cheapest],
            expected_cost=costs[cheapest],
        )

    def _additions(self, n_points):
        """Return the cost of the sums of a feature, in units of the addition of one point.

        Parameters
        ----------
        n_points : int or ndarray of int
            Number of points that are added up.
        """
        threshold_additions = _ADDITIONS_PER_THRESHOLD * self._n_thresholds
        return addition_cost(n_points, self._n_thresholds + 1) + threshold_additions


class _HeavyPointBounds:
    """Bounds on all sums, computed from the sums over the heavy points.

    The object is made when the heavy points are chosen, and used in the rounds after.

    Parameters
    ----------
    tables : PrefixSumTables
        Tables from which the sums over the heavy points are computed.
    heavy, light : ndarray of int
        Indices of the heavy points and of the light points.
    weights : ndarray of shape (n_points,), dtype=float32
        Weights of all points in the round of the choice.
    sums : ndarray of shape (n_thresholds, n_features), dtype=float32
        Sums of these weights over all points.
    base_cost, expected_cost : float
        Cost of a search without candidates, and with the expected number of candidates.

    Attributes
    ----------
    roundings : int
        Number of roundings of a weight in a sum over the heavy points.
    excess_cost : float
        Cost of the recorded searches beyond their expected cost.
    """

    def __init__(self, tables, heavy, light, weights, sums, base_cost, expected_cost):
        self._tables, self._heavy, self._light = tables, heavy, light
        self._light_weights = weights[light]
        self._light_magnitude = float(np.abs(self._light_weights).sum())
        self._light_sums = sums - tables.below(weights[heavy])
        self._scale_at_choice = float(np.abs(weights).sum())
        self._base_cost, self._expected_cost = base_cost, expected_cost
        self.excess_cost = 0.0
        self.roundings = tables.additions

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
            Number that rounding errors are relative to: the sum of the absolute weights of all
            points now, plus their scaled sum at the choice, since the stored sums have rounding
            errors as well.
        """
        # 1) Bound the change of the sums over the light points. `growth` is the growth of their
        # total weight since the choice. A sum is `growth` times its stored value, plus the changes
        # of the points below the threshold, which add up to a number between -fall and rise.
        current = weights[self._light]
        magnitude = float(np.abs(current).sum())
        growth = np.float32(
            magnitude / self._light_magnitude
            if magnitude < _MAX_GROWTH * self._light_magnitude
            else _MAX_GROWTH
        )
        change = current - growth * self._light_weights
        rise, fall = change[change > 0].sum(), -change[change < 0].sum()
        # 2) Add the sums over the heavy points and the scaled sums over the light points.
        sums = self._tables.below(weights[self._heavy])
        sums += growth * self._light_sums
        scale = float(np.abs(weights).sum()) + float(growth) * self._scale_at_choice
        # A positive sum is at most the maximum plus `rise`, and a negative one at least the minimum
        # minus `fall`.
        return np.maximum(sums.max(axis=0) + rise, fall - sums.min(axis=0)), scale

    def record_search(self, n_candidates):
        """Add the unexpected part of the cost of a search with `n_candidates` to `excess_cost`."""
        cost = self._base_cost + _CANDIDATE_COST * n_candidates / self._light_sums.shape[1]
        self.excess_cost += max(0.0, cost - self._expected_cost)


def _max_abs_sums(sums):
    """Return the largest absolute sum of each feature; `sums` is (n_thresholds, n_features)."""
    return np.maximum(sums.max(axis=0), -sums.min(axis=0))
