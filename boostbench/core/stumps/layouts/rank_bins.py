r"""Exact search of the largest edges in a few bins of each feature, for one column.

The samples of each feature are binned by rank. Let p and q be the sums of the positive weights and
of the absolute negative weights in a bin, t the total, and l the sum of all weights below the bin.
The sum below a threshold in the bin is between l - q and l + p. The absolute edge of the threshold,
the total minus twice this sum, is at most

.. math:: \max(|t - 2 (l + p)|, |t - 2 (l - q)|).

Only bins whose bound reaches the largest known edge, within rounding errors, are evaluated. At
first only the edges of thresholds between bins are known.
"""

import numpy as np

from boostbench.core.stumps.layouts.base import UNIT_ROUNDOFF, Layout
from boostbench.core.stumps.layouts.pair_tables import MIN_SAMPLES, PairTables
from boostbench.core.stumps.ties import TIE_TOLERANCE

# Bins of a feature. Twice as many do not fit the cache; with half as many, more bins are evaluated.
_N_BINS = 128

# Samples of the bins that are evaluated at a time.
_BLOCK_SAMPLES = 2**16


def bins_by_rank(order, n_samples, bin_size, dtype):
    """Return the bins of samples by rank in each feature, with `bin_size` samples in a bin.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_places), dtype=int32
        Samples of each feature, ascending; see `RankBins`.
    n_samples, length : int
    dtype : dtype

    Returns
    -------
    list of ndarray of shape (n_samples,)
        Bin of each sample, for each feature.
    """
    codes = np.empty((len(order), n_samples), dtype)
    bins = np.arange(n_samples) // bin_size
    for feature_codes, feature_order in zip(codes, order, strict=True):
        feature_codes[feature_order[:n_samples]] = bins
    return list(codes)


class RankBins(Layout):
    """Search of the largest edges of one column of weights.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_places), dtype=int32
        Samples of each feature, ascending, then the padding `n_samples`. There are at least
        `padded_length` places.
    is_threshold : ndarray of shape (n_features, n_places), dtype=bool
        True if a threshold lies between a sample and the next one.
    n_samples : int
    position : callable
        Function of features and places that returns positions.

    Attributes
    ----------
    additions
        See `boostbench.core.stumps.layouts.dense.Dense`.
    """

    def __init__(self, order, is_threshold, n_samples, position):
        self._position = position
        self._bin_size = -(-n_samples // _N_BINS)
        # The axes are feature, bin and place in the bin.
        self._order, self._is_threshold = (
            values[:, : _N_BINS * self._bin_size].reshape(-1, _N_BINS, self._bin_size)
            for values in (order, is_threshold)
        )
        codes = bins_by_rank(order, n_samples, self._bin_size, np.uint8)
        self._tables = PairTables(codes, _N_BINS, n_layers=2)
        n_bins = -(-n_samples // self._bin_size)
        # True if a threshold lies between a bin and the next one.
        last = np.minimum(np.arange(1, n_bins + 1) * self._bin_size, n_samples) - 1
        self._has_threshold_after_bin = np.zeros((len(order), _N_BINS), bool)
        self._has_threshold_after_bin[:, :n_bins] = is_threshold[:, last]
        # The sums of the tables are converted to double precision.
        self.additions = self._tables.additions + 1

    @staticmethod
    def is_worthwhile(n_samples):
        """Return True if the search saves time."""
        return n_samples >= MIN_SAMPLES

    @staticmethod
    def padded_length(n_samples):
        """Return the number of places in full bins."""
        return -(-n_samples // _N_BINS) * _N_BINS

    def candidates(self, W, total, tolerance, criterion):
        """Yield all edges that may be the largest; see `Layout.candidates`."""
        weights = np.ascontiguousarray(W[:, 0])
        is_negative = (weights < 0).astype(np.int32)
        sums = self._tables.sums(weights, is_negative)[: len(self._order)].astype(np.float64)
        positive_sum, negative_sum = sums[:, 0], sums[:, 1]
        abs_sum = positive_sum - negative_sum
        # 1) Compute the edges at the ends of all bins, and the bound of each bin.
        edge_after_bin = total - 2 * np.cumsum(positive_sum + negative_sum, axis=1)
        edge_before_bin = edge_after_bin + 2 * (positive_sum + negative_sum)
        bound = np.maximum(
            np.abs(edge_before_bin - 2 * positive_sum), np.abs(edge_before_bin - 2 * negative_sum)
        )
        best_score = np.abs(edge_after_bin).max(where=self._has_threshold_after_bin, initial=0.0)
        feature, bin_ = np.nonzero(bound >= best_score - tolerance)
        by_bound = np.argsort(-bound[feature, bin_], kind="stable")
        block_bins = max(1, _BLOCK_SAMPLES // self._bin_size)
        # 2) Evaluate bins by decreasing bound. The last change is for places without a sample.
        changes = np.append(-2.0 * weights.astype(np.float64), 0.0)
        for start in range(0, len(by_bound), block_bins):
            selected = by_bound[start : start + block_bins]
            bins = feature[selected], bin_[selected]
            if bound[bins][0] < best_score - tolerance:
                break
            edges = changes.take(self._order[bins], mode="clip").cumsum(axis=1)
            edges += edge_before_bin[bins][:, None]
            edges *= self._is_threshold[bins]
            highest, lowest = edges.max(axis=1), edges.min(axis=1)
            best_score = max(best_score, highest.max(), -lowest.min())
            # Usually one or two bins have an edge near the largest one.
            near = np.flatnonzero(np.maximum(highest, -lowest) >= best_score - tolerance)
            bins = feature[selected[near]], bin_[selected[near]]
            edges = edges[near]
            # Edges of one bin differ by few weights, so their rounding errors are small.
            bin_rounding_bound = TIE_TOLERANCE * abs_sum[bins[0]].sum(axis=1)
            bin_rounding_bound += 8 * UNIT_ROUNDOFF[np.float32] * abs_sum[bins]
            min_kept = np.maximum(highest[near] - 2 * bin_rounding_bound, best_score - tolerance)
            max_kept = np.minimum(lowest[near] + 2 * bin_rounding_bound, tolerance - best_score)
            entries = np.flatnonzero((edges >= min_kept[:, None]) | (edges <= max_kept[:, None]))
            if len(entries):
                row, place = np.divmod(entries, self._bin_size)
                place += bins[1][row] * self._bin_size
                yield self._position(bins[0][row], place), edges.ravel()[entries, None]
