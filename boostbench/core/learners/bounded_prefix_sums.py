"""Search very many features for the largest sum of weights below a threshold, round after round.

After some rounds of boosting most of the weight is on few points, and the weights of the others
change little. So the sums over the heavy points, and what the others added up to when they were
last looked at, tell the sums over all points up to the change in the weights of the others. Few
features can have the largest sum then; only theirs are added up over all points. What comes as near
to the largest as rounding can tell is added up in double precision. The result is that of a search
without bounds.
"""

import numpy as np

from boostbench.core.stumps.float32 import single
from boostbench.core.stumps.layouts.pair_tables import BinnedPoints, price
from boostbench.core.stumps.ties import EQUAL, first_largest

# Numbers of heavy points that are considered: all thirty-seconds of the points.
_N_HEAVY_COUNTS = 32

# Prices, as parts of a search of all features over all points. What it costs to add up the points
# of one more feature, relative to its part of that; to take the heavy points out; and the dearest
# way of searching by them that is worth it.
_COST_PER_FEATURE = 3.0
_MAX_EXCESS_COST = 2.0
_MAX_COST = 0.6

# Points that cost as much as the passes over a sum below a threshold.
_COST_PER_BIN = 2

# The other points may change their weights by that part, until heavy points are chosen anew.
_MAX_CHANGE = 0.6

# The sums over the others grow by no larger factor: what they are off by grows with them.
_MAX_GROWTH = 2.0

# Heavy points are chosen anew after that many rounds, or half of the rounds before if that is more;
# where no choice was worth it, the next one is made after so many.
_MIN_ROUNDS = 50
_RETRY_ROUNDS = 10

# Features of the largest bounds, whose sums the others have to reach.
_N_TOP_FEATURES = 8

# Points that are added up in double precision at a time.
_EXACT_POINTS = 2**17


class BoundedPrefixSumSearch:
    """The search, for weights that change from round to round.

    Parameters
    ----------
    codes, n_thresholds
        As of `boostbench.core.stumps.layouts.pair_tables.BinnedPoints`.

    Attributes
    ----------
    points : BinnedPoints

    Examples
    --------
    >>> codes = np.array([[1, 1, 0], [0, 0, 1]], np.uint8)
    >>> search = BoundedPrefixSumSearch(codes, n_thresholds=1)
    >>> search(np.array([-5.0, 3.0, 2.0]))
    (0, 0, 2.0)
    """

    def __init__(self, codes, n_thresholds):
        self._codes, self._n_thresholds = codes, n_thresholds
        self.points = BinnedPoints(codes, n_thresholds)
        self._heavy = None
        self._round = self._next_choice = 0

    def __call__(self, weights):
        """Find the sum of the largest size.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float64

        Returns
        -------
        threshold, feature : int
            Of equal sums those of the first feature, and of its first threshold.
        below : float
            With its sign.
        """
        self._round += 1
        exact, weights = weights, single(weights)
        if self._heavy:
            features = self._candidates(weights)
            if (
                self._heavy.excess_cost(len(features)) > _MAX_EXCESS_COST
                or self._round >= self._next_choice
            ):
                self._heavy, self._next_choice = None, self._round
            if _COST_PER_FEATURE * len(features) < len(self._codes):
                return self._select_first(exact, self._sums_below(features, weights), features)
        sums = self.points.below(weights)
        if self._round >= self._next_choice:
            self._heavy = self._choose_heavy_points(weights, sums)
            n_rounds = max(_MIN_ROUNDS, self._round // 2) if self._heavy else _RETRY_ROUNDS
            self._next_choice = self._round + n_rounds
        return self._select_first(exact, sums, np.arange(len(self._codes)))

    def _select_first(self, weights, sums, features):
        """First threshold and feature of the largest size, of those that were added up."""
        scale = float(np.abs(weights).sum())
        largest = _max_abs_sums(sums)
        min_score = largest.max() - self._slack(scale)
        candidates = np.flatnonzero(largest >= min_score)
        threshold, feature_index = np.nonzero(np.abs(sums[:, candidates]) >= min_score)
        feature_index = candidates[feature_index]
        canonical_order = np.lexsort([threshold, feature_index])
        threshold, feature = threshold[canonical_order], features[feature_index[canonical_order]]
        exact = np.empty(len(feature))
        width = max(1, _EXACT_POINTS // len(weights))
        for start in range(0, len(feature), width):
            block = slice(start, start + width)
            is_below = self._codes[feature[block]] <= threshold[block, None]
            exact[block] = np.where(is_below, weights, 0.0).sum(axis=1)
        first = first_largest(np.abs(exact), scale)
        return int(threshold[first]), int(feature[first]), float(exact[first])

    def _candidates(self, weights):
        """Features that may have the largest sum, ascending."""
        bounds, scale = self._heavy.bounds(weights)
        n_top = min(_N_TOP_FEATURES, len(bounds))
        top = np.argpartition(-bounds, n_top - 1)[:n_top]
        best = _max_abs_sums(self._sums_below(top, weights)).max()
        slack = self._slack(scale, self._heavy.additions)
        return np.flatnonzero(bounds >= best - slack)

    def _slack(self, scale, additions=0):
        """What two sums may differ by, of weights whose sizes add up to `scale`, that are equal."""
        additions = max(additions, self.points.additions)
        return (4 * additions * float(np.finfo(np.float32).eps) + EQUAL) * scale

    def _sums_below(self, features, weights):
        return BinnedPoints(self._codes[features], self._n_thresholds).below(weights)

    def _choose_heavy_points(self, weights, sums):
        """Choose as many points as make the search cheapest; None where that is not worth it."""
        n_points = len(weights)
        if n_points < _N_HEAVY_COUNTS:
            return None
        magnitudes = np.abs(weights)
        by_magnitude = np.argsort(-magnitudes)
        n_heavy = n_points * np.arange(1, _N_HEAVY_COUNTS) // _N_HEAVY_COUNTS
        total = np.cumsum(magnitudes[by_magnitude], dtype=np.float64)
        change = _MAX_CHANGE * (total[-1] - total[n_heavy - 1])
        largest = np.sort(_max_abs_sums(sums))
        n_excluded = np.searchsorted(largest, largest[-1] - change)
        base_cost = self._cost(n_heavy) / self._cost(n_points)
        costs = base_cost + _COST_PER_FEATURE * (1 - n_excluded / len(largest))
        cheapest = costs.argmin()
        if costs[cheapest] > _MAX_COST:
            return None
        heavy, light = by_magnitude[: n_heavy[cheapest]], by_magnitude[n_heavy[cheapest] :]
        heavy.sort()
        points = BinnedPoints(self._codes.take(heavy, axis=1), self._n_thresholds)
        return _HeavyPointBounds(
            points, heavy, light, weights, sums, base_cost[cheapest], costs[cheapest]
        )

    def _cost(self, n_points):
        return price(n_points, self._n_thresholds + 1) + _COST_PER_BIN * self._n_thresholds


class _HeavyPointBounds:
    """Bounds of all sums by some of the points.

    Parameters
    ----------
    points : BinnedPoints
        The heavy ones.
    heavy, others : ndarray of int
        Their numbers, and those of the others.
    weights : ndarray of shape (n_points,), dtype=float32
        Of all points.
    sums : ndarray of shape (n_thresholds, n_features), dtype=float32
        Of these weights.
    base_cost, expected : float
        Prices of a search: without candidates, and with as many as there should be.

    Attributes
    ----------
    additions : int
        As of `BinnedPoints`.
    """

    def __init__(self, points, heavy, light, weights, sums, base_cost, expected_cost):
        self._points, self._heavy, self._light = points, heavy, light
        self._previous_weights = weights[light]
        self._previous_total = float(np.abs(self._previous_weights).sum())
        self._previous_sums = sums - points.below(weights[heavy])
        self._previous_scale = float(np.abs(weights).sum())
        self._base_cost, self._expected_cost = base_cost, expected_cost
        self._excess_cost = 0.0
        self.additions = points.additions

    def bounds(self, weights):
        """Bound the largest size of a feature's sums.

        Parameters
        ----------
        weights : ndarray of shape (n_points,), dtype=float32

        Returns
        -------
        bounds : ndarray of shape (n_features,), dtype=float32
            Exact but for rounding.
        scale : float
            The sizes of all weights that they come from, which rounding is relative to: also of
            those before, as what the heavy ones of them were off by is in the sums of the others.
        """
        current = weights[self._light]
        total = float(np.abs(current).sum())
        factor = np.float32(
            total / self._previous_total
            if total < _MAX_GROWTH * self._previous_total
            else _MAX_GROWTH
        )
        change = current - factor * self._previous_weights
        rise, fall = change[change > 0].sum(), -change[change < 0].sum()
        sums = self._points.below(weights[self._heavy])
        sums += factor * self._previous_sums
        scale = float(np.abs(weights).sum()) + float(factor) * self._previous_scale
        return np.maximum(sums.max(axis=0) + rise, fall - sums.min(axis=0)), scale

    def excess_cost(self, n_candidates):
        """Return what all searches have cost above what was expected; the last had candidates."""
        cost = self._base_cost + _COST_PER_FEATURE * n_candidates / self._previous_sums.shape[1]
        self._excess_cost += max(0.0, cost - self._expected_cost)
        return self._excess_cost


def _max_abs_sums(sums):
    """Of each feature, the largest size of its sums."""
    return np.maximum(sums.max(axis=0), -sums.min(axis=0))
