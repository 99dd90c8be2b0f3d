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
_N_NUMBERS = 32

# Prices, as parts of a search of all features over all points. What it costs to add up the points
# of one more feature, relative to its part of that; to take the heavy points out; and the dearest
# way of searching by them that is worth it.
_ONE_BY_ONE = 3.0
_TAKING_OUT = 2.0
_WORTH_IT = 0.6

# Points that cost as much as the passes over a sum below a threshold.
_PER_BIN = 2

# The other points may change their weights by that part, until heavy points are chosen anew.
_CHANGE = 0.6

# The sums over the others grow by no larger factor: what they are off by grows with them.
_GROWTH = 2.0

# Heavy points are chosen anew after that many rounds, or half of the rounds before if that is more;
# where no choice was worth it, the next one is made after so many.
_ROUNDS = 50
_AGAIN = 10

# Features of the largest bounds, whose sums the others have to reach.
_N_FIRST = 8

# Points that are added up in double precision at a time.
_EXACT_POINTS = 2**17


class LargestSum:
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
    >>> search = LargestSum(codes, n_thresholds=1)
    >>> search(np.array([-5.0, 3.0, 2.0]))
    (0, 0, 2.0)
    """

    def __init__(self, codes, n_thresholds):
        self._codes, self._n_thresholds = codes, n_thresholds
        self.points = BinnedPoints(codes, n_thresholds)
        self._heavy = None
        self._round = self._choice = 0

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
            if self._heavy.waste(len(features)) > _TAKING_OUT or self._round >= self._choice:
                self._heavy, self._choice = None, self._round
            if _ONE_BY_ONE * len(features) < len(self._codes):
                return self._first(exact, self._below(features, weights), features)
        sums = self.points.below(weights)
        if self._round >= self._choice:
            self._heavy = self._choose(weights, sums)
            lasts = max(_ROUNDS, self._round // 2) if self._heavy else _AGAIN
            self._choice = self._round + lasts
        return self._first(exact, sums, np.arange(len(self._codes)))

    def _first(self, weights, sums, features):
        """First threshold and feature of the largest size, of those that were added up."""
        scale = float(np.abs(weights).sum())
        largest = _largest_sizes(sums)
        least = largest.max() - self._slack(scale)
        near = np.flatnonzero(largest >= least)
        place, nth = np.nonzero(np.abs(sums[:, near]) >= least)
        nth = near[nth]
        by_feature = np.lexsort([place, nth])
        place, feature = place[by_feature], features[nth[by_feature]]
        exact = np.empty(len(feature))
        width = max(1, _EXACT_POINTS // len(weights))
        for start in range(0, len(feature), width):
            some = slice(start, start + width)
            is_below = self._codes[feature[some]] <= place[some, None]
            exact[some] = np.where(is_below, weights, 0.0).sum(axis=1)
        first = first_largest(np.abs(exact), scale)
        return int(place[first]), int(feature[first]), float(exact[first])

    def _candidates(self, weights):
        """Features that may have the largest sum, ascending."""
        bounds, scale = self._heavy.bounds(weights)
        n_first = min(_N_FIRST, len(bounds))
        first = np.argpartition(-bounds, n_first - 1)[:n_first]
        reached = _largest_sizes(self._below(first, weights)).max()
        slack = self._slack(scale, self._heavy.additions)
        return np.flatnonzero(bounds >= reached - slack)

    def _slack(self, scale, additions=0):
        """What two sums may differ by, of weights whose sizes add up to `scale`, that are equal."""
        additions = max(additions, self.points.additions)
        return (4 * additions * float(np.finfo(np.float32).eps) + EQUAL) * scale

    def _below(self, features, weights):
        return BinnedPoints(self._codes[features], self._n_thresholds).below(weights)

    def _choose(self, weights, sums):
        """Choose as many points as make the search cheapest; None where that is not worth it."""
        n_points = len(weights)
        if n_points < _N_NUMBERS:
            return None
        sizes = np.abs(weights)
        by_size = np.argsort(-sizes)
        numbers = n_points * np.arange(1, _N_NUMBERS) // _N_NUMBERS
        mass = np.cumsum(sizes[by_size], dtype=np.float64)
        room = _CHANGE * (mass[-1] - mass[numbers - 1])
        largest = np.sort(_largest_sizes(sums))
        n_below = np.searchsorted(largest, largest[-1] - room)
        plain = self._price(numbers) / self._price(n_points)
        prices = plain + _ONE_BY_ONE * (1 - n_below / len(largest))
        at = prices.argmin()
        if prices[at] > _WORTH_IT:
            return None
        heavy, others = by_size[: numbers[at]], by_size[numbers[at] :]
        heavy.sort()
        points = BinnedPoints(self._codes.take(heavy, axis=1), self._n_thresholds)
        return _HeavyPoints(points, heavy, others, weights, sums, plain[at], prices[at])

    def _price(self, n_points):
        return price(n_points, self._n_thresholds + 1) + _PER_BIN * self._n_thresholds


class _HeavyPoints:
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
    plain, expected : float
        Prices of a search: without candidates, and with as many as there should be.

    Attributes
    ----------
    additions : int
        As of `BinnedPoints`.
    """

    def __init__(self, points, heavy, others, weights, sums, plain, expected):
        self._points, self._heavy, self._others = points, heavy, others
        self._before = weights[others]
        self._mass = float(np.abs(self._before).sum())
        self._sums = sums - points.below(weights[heavy])
        self._scale = float(np.abs(weights).sum())
        self._plain, self._expected = plain, expected
        self._wasted = 0.0
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
        now = weights[self._others]
        mass = float(np.abs(now).sum())
        factor = np.float32(mass / self._mass if mass < _GROWTH * self._mass else _GROWTH)
        change = now - factor * self._before
        rise, fall = change[change > 0].sum(), -change[change < 0].sum()
        sums = self._points.below(weights[self._heavy])
        sums += factor * self._sums
        scale = float(np.abs(weights).sum()) + float(factor) * self._scale
        return np.maximum(sums.max(axis=0) + rise, fall - sums.min(axis=0)), scale

    def waste(self, n_candidates):
        """Return what all searches have cost above what was expected; the last had candidates."""
        paid = self._plain + _ONE_BY_ONE * n_candidates / self._sums.shape[1]
        self._wasted += max(0.0, paid - self._expected)
        return self._wasted


def _largest_sizes(sums):
    """Of each feature, the largest size of its sums."""
    return np.maximum(sums.max(axis=0), -sums.min(axis=0))
