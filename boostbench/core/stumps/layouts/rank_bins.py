r"""Exact search of the largest edges in a few bins of each feature, for one column.

The samples of each feature are binned by rank. From one threshold to the next, the edge decreases
by twice the weights of the samples between them. Hence the edge of a threshold in a bin is between
``edge_before_bin - 2 * positive_sum`` and ``edge_before_bin - 2 * negative_sum``, where
`edge_before_bin` is the edge of the threshold before the bin, and the two sums are over the
positive and over the negative weights in the bin. The larger absolute value of these two numbers is
the bound of the bin.

The edges of the thresholds between bins are computed first. Then the bins are evaluated by
decreasing bound, until the next bound is smaller than the largest edge, within rounding errors.
"""

import numpy as np

from boostbench.core.stumps.layouts.base import UNIT_ROUNDOFF, Layout
from boostbench.core.stumps.layouts.pair_tables import MIN_SAMPLES, PairTables
from boostbench.core.stumps.ties import TIE_TOLERANCE

# Number of bins of a feature. Twice as many do not fit the cache. With half as many, more bins
# are evaluated.
_N_BINS = 128

# Number of samples in the bins that are evaluated at a time.
_BLOCK_SAMPLES = 2**16


def bins_by_rank(order, n_samples, bin_size, dtype):
    """Return the bin of each sample in each feature, if samples are binned by rank.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_places), dtype=int32
        Samples of each feature in ascending order of its values; see `RankBins`.
    n_samples : int
    bin_size : int
        Number of samples in a bin; the last bin may have fewer.
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
        Samples of each feature in ascending order of its values, followed by padding with the value
        `n_samples`. `n_places` is at least `padded_length(n_samples)`.
    is_threshold : ndarray of shape (n_features, n_places), dtype=bool
        True if a threshold lies between a sample and the next one.
    n_samples : int
    position : callable
        Function of arrays of features and places. It returns the positions of the thresholds after
        these places.

    Attributes
    ----------
    additions : int
        See `boostbench.core.stumps.layouts.base.Layout`.
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
        # The conversion of the sums to double precision counts as one addition.
        self.additions = self._tables.additions + 1

    @staticmethod
    def is_worthwhile(n_samples):
        """Return True if the search saves time."""
        return n_samples >= MIN_SAMPLES

    @staticmethod
    def padded_length(n_samples):
        """Return the number of samples, rounded up to a multiple of the number of bins."""
        return -(-n_samples // _N_BINS) * _N_BINS

    def candidates(self, W, total, tolerance, criterion):
        """Yield all edges that may be the largest; see `Layout.candidates`."""
        weights = np.ascontiguousarray(W[:, 0])
        is_negative = (weights < 0).astype(np.int32)
        sums = self._tables.sums(weights, is_negative)[: len(self._order)].astype(np.float64)
        positive_sum, negative_sum = sums[:, 0], sums[:, 1]
        abs_sum = positive_sum - negative_sum
        # 1) Compute the edges before and after each bin, and the bound of each bin.
        edge_after_bin = total - 2 * np.cumsum(positive_sum + negative_sum, axis=1)
        edge_before_bin = edge_after_bin + 2 * (positive_sum + negative_sum)
        bound = np.maximum(
            np.abs(edge_before_bin - 2 * positive_sum), np.abs(edge_before_bin - 2 * negative_sum)
        )
        best_score = np.abs(edge_after_bin).max(where=self._has_threshold_after_bin, initial=0.0)
        feature, bin_ = np.nonzero(bound >= best_score - tolerance)
        by_bound = np.argsort(-bound[feature, bin_], kind="stable")
        block_bins = max(1, _BLOCK_SAMPLES // self._bin_size)
        # 2) Evaluate bins by decreasing bound. Padding takes the last change, which is 0.
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
            # Within one bin, rounding is bounded by the bin's own absolute weights, so the
            # tolerance can be tightened to `bin_rounding_bound`.
            bin_rounding_bound = TIE_TOLERANCE * abs_sum[bins[0]].sum(axis=1)
            bin_rounding_bound += 8 * UNIT_ROUNDOFF[np.float32] * abs_sum[bins]
            min_kept = np.maximum(highest[near] - 2 * bin_rounding_bound, best_score - tolerance)
            max_kept = np.minimum(lowest[near] + 2 * bin_rounding_bound, tolerance - best_score)
            entries = np.flatnonzero((edges >= min_kept[:, None]) | (edges <= max_kept[:, None]))
            if len(entries):
                row, place = np.divmod(entries, self._bin_size)
                place += bins[1][row] * self._bin_size
                yield self._position(bins[0][row], place), edges.ravel()[entries, None]
