r"""The largest edges of all thresholds at the price of a few bins, exactly, for one column.

Samples are in bins by their rank in each feature. Let p and q be the sums of the positive and of
minus the negative weights in a bin, and l the sum of all weights below it. The sum below a
threshold in the bin is between l - q and l + p, so that the edge there, the total less twice that,
is no larger than

.. math:: \max(|t - 2 (l + p)|, |t - 2 (l - q)|).

Only those bins are looked at in which this reaches the largest edge known, which is first that of
the thresholds between bins. Each sum is off by at most what `Layout.error_bound` says, and bins are
looked at that come as near to the largest as that allows.
"""

import numpy as np

from boostbench.core.stumps.layouts.base import UNIT_ROUNDOFF, Layout
from boostbench.core.stumps.layouts.pair_tables import MIN_SAMPLES, PairTables
from boostbench.core.stumps.ties import TIE_TOLERANCE

# Of a feature. With twice as many the tables leave the cache, with half as many more is looked at.
_N_BINS = 128

# Samples of the bins that are looked at at a time.
_BLOCK_SAMPLES = 2**16


def bins_by_rank(order, n_samples, length, dtype):
    """Number the bins of so many samples each, by rank in each feature.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_places), dtype=int32
        As of `RankBins`.
    n_samples, length : int
    dtype : dtype

    Returns
    -------
    list of ndarray of shape (n_samples,)
        Of each feature, the bins of the samples.
    """
    codes = np.empty((len(order), n_samples), dtype)
    bins = np.arange(n_samples) // length
    for feature_codes, feature_order in zip(codes, order, strict=True):
        feature_codes[feature_order[:n_samples]] = bins
    return list(codes)


class RankBins(Layout):
    """A search for the largest edges.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_places), dtype=int32
        The samples of each feature, ascending, then `n_samples`: as many places as `n_places` says
        or more.
    is_threshold : ndarray of shape (n_features, n_places), dtype=bool
        Whether a threshold is between a sample and the next.
    n_samples : int
    position : callable
        Takes features and places, and returns positions.

    Attributes
    ----------
    additions
        As of `boostbench.core.stumps.layouts.dense.Dense`.
    """

    def __init__(self, order, is_threshold, n_samples, position):
        self._position = position
        self._length = -(-n_samples // _N_BINS)
        # By feature, bin and place in the bin.
        self._order, self._is_threshold = (
            of_places[:, : _N_BINS * self._length].reshape(-1, _N_BINS, self._length)
            for of_places in (order, is_threshold)
        )
        codes = bins_by_rank(order, n_samples, self._length, np.uint8)
        self._tables = PairTables(codes, _N_BINS, n_layers=2)
        n_bins = -(-n_samples // self._length)
        # The thresholds between bins.
        last = np.minimum(np.arange(1, n_bins + 1) * self._length, n_samples) - 1
        self._is_end = np.zeros((len(order), _N_BINS), bool)
        self._is_end[:, :n_bins] = is_threshold[:, last]
        # What follows on the tables is in double precision.
        self.additions = self._tables.additions + 1

    @staticmethod
    def is_worthwhile(n_samples):
        """Return whether there are enough samples."""
        return n_samples >= MIN_SAMPLES

    @staticmethod
    def n_places(n_samples):
        """Return how many places whole bins take."""
        return -(-n_samples // _N_BINS) * _N_BINS

    def candidates(self, W, total, tolerance, criterion):
        """Find all that may be the largest; see `Layout.candidates`."""
        weights = np.ascontiguousarray(W[:, 0])
        layer = (weights < 0).astype(np.int32)
        sums = self._tables.sums(weights, layer)[: len(self._order)].astype(np.float64)
        rise, fall = sums[:, 0], sums[:, 1]
        # The edges where a bin begins and ends.
        after = total - 2 * np.cumsum(rise + fall, axis=1)
        before = after + 2 * (rise + fall)
        bound = np.maximum(np.abs(before - 2 * rise), np.abs(before - 2 * fall))
        best_score = np.abs(after).max(where=self._is_end, initial=0.0)
        feature, bin_ = np.nonzero(bound >= best_score - tolerance)
        order = np.argsort(-bound[feature, bin_], kind="stable")
        width = max(1, _BLOCK_SAMPLES // self._length)
        # The last is that of places without a sample.
        changes = np.append(-2.0 * weights.astype(np.float64), 0.0)
        for start in range(0, len(order), width):
            selected = order[start : start + width]
            bins = feature[selected], bin_[selected]
            if bound[bins][0] < best_score - tolerance:
                break
            edges = changes.take(self._order[bins], mode="clip").cumsum(axis=1)
            edges += before[bins][:, None]
            edges *= self._is_threshold[bins]
            highest, lowest = edges.max(axis=1), edges.min(axis=1)
            best_score = max(best_score, highest.max(), -lowest.min())
            # As a rule those of one or two.
            near = np.flatnonzero(np.maximum(highest, -lowest) >= best_score - tolerance)
            bins = feature[selected[near]], bin_[selected[near]]
            edges = edges[near]
            # In one bin the sums differ by a few weights only, and by their rounding.
            spread = TIE_TOLERANCE * (rise - fall)[bins[0]].sum(axis=1)
            spread += 8 * UNIT_ROUNDOFF[np.float32] * (rise - fall)[bins]
            highest = np.maximum(highest[near] - 2 * spread, best_score - tolerance)
            lowest = np.minimum(lowest[near] + 2 * spread, tolerance - best_score)
            entries = np.flatnonzero((edges >= highest[:, None]) | (edges <= lowest[:, None]))
            if len(entries):
                row, place = np.divmod(entries, self._length)
                place += bins[1][row] * self._length
                yield self._position(bins[0][row], place), edges.ravel()[entries, None]
