"""Edges by prefix sums over the samples in the order of each feature.

`Sorted` computes all edges. `RankBins`, for one column of weights, and
`boostbench.core.stumps.layouts.rank_blocks.RankBlocks`, for several, bound them first, and compute
only the edges that may be the largest. `ClassPrefixSums` is for stumps that vote for a class on
each side (`boostbench.core.learners.trees`): it searches all classes at the cost of one.

A *place* is the rank of a sample in the order of a feature, and the threshold after it. A
*position* is the number of a threshold among the edges of `Sorted`: `Sorted.positions_of` converts.
"""

from functools import cached_property
from itertools import pairwise

import numpy as np

from boostbench.core.stumps.layouts.bin_sums import bins_by_rank
from boostbench.core.stumps.layouts.joint_histogram import MIN_SAMPLES, PairTables
from boostbench.core.stumps.layouts.layout import UNIT_ROUNDOFF, Layout
from boostbench.core.stumps.layouts.rank_blocks import RankBlocks
from boostbench.core.stumps.thresholds import argsort_with_values, iter_columns, midpoint
from boostbench.core.weak_learner import TIE_TOLERANCE, argmax_with_tolerance

# Number of positions that `Sorted` processes at a time. Their sums stay in the cache, and there are
# enough of them to make the overhead of a call negligible.
PIECE = 40_000

# Number of bins of a feature in `RankBins`. Twice as many do not fit the cache. With half as many,
# more bins are evaluated.
_N_BINS = 128

# Number of samples in a batch of bins, which `RankBins` evaluates at a time. Their changes of an
# edge stay in the second-level cache.
_BATCH_SAMPLES = 2**16

# Number of (feature, sample) pairs in a batch of features, which `ClassPrefixSums` searches at a
# time. Its arrays fit in the cache.
_CLASS_BATCH_SAMPLES = 40_000


class Sorted(Layout):
    """Layout of mostly distinct values: prefix sums over the samples in the order of each feature.

    Features are processed in *pieces*, a few at a time. The places of a feature are divided into
    *blocks* of equal length. Every place has a position, after the positions of all earlier pieces:
    ``(place_in_block * n_blocks + block) * n_features_of_piece + feature_in_piece``. For a piece of
    two features, six samples and blocks of two places:

    ===== ===== ============== =============================
    place block place in block positions in features 0 and 1
    ===== ===== ============== =============================
    0     0     0              0, 1
    1     0     1              6, 7
    2     1     0              2, 3
    3     1     1              8, 9
    4     2     0              4, 5
    5     2     1              10, 11
    ===== ===== ============== =============================

    So the sums of a piece have the axes place in a block, block, feature and column, and one
    product with a triangular matrix adds the sums of earlier blocks for all features. The time of
    the product grows with the number of blocks, so the number of blocks is about the number of
    places in a block.

    Parameters
    ----------
    X, thresholds, codes
        Parameters of `choose_layout`. If `thresholds` is None, all midpoints are thresholds.

    Attributes
    ----------
    feature, stump_index, additions, total_additions
        Attributes of `Layout`.
    thresholds : list of ndarray
        Thresholds of each feature.
    """

    def __init__(self, X, thresholds=None, codes=None):
        # 1) Choose the length and number of blocks, and the number of features of a piece.
        n_samples, n_features = X.shape
        self._n_samples = n_samples
        self._block_length = 2 ** ((n_samples.bit_length() - 1) // 2)
        has_rank_bins = RankBins.is_worthwhile(n_samples)
        min_places = RankBins.padded_length(n_samples) if has_rank_bins else n_samples
        self._n_blocks = n_blocks = -(-min_places // self._block_length)
        n_places = n_blocks * self._block_length
        self._features_per_piece = max(1, PIECE // n_samples)
        # The last piece may have fewer features.
        self._n_features_of_piece = np.minimum(
            self._features_per_piece,
            n_features - np.arange(0, n_features, self._features_per_piece),
        )
        # 2) Sort the samples by each feature. The padding is the number of a row of zeros, which
        #    `iter_edges` appends to the weights.
        self._order = np.full((n_features, n_places), n_samples, np.int32)
        stump_index = np.full((n_features, n_places), -1, np.int32)
        self.thresholds = [] if thresholds is None else thresholds
        first_index = 0
        for j, (values, order, feature_stumps) in enumerate(
            zip(iter_columns(X), self._order, stump_index, strict=True)
        ):
            order[:n_samples], values = argsort_with_values(values)
            # A threshold is at the last sample below it.
            if thresholds is None:
                last = np.flatnonzero(values[:-1] < values[1:])
                self.thresholds.append(midpoint(values[:-1], values[1:])[last])
            else:
                last = np.searchsorted(values, thresholds[j], "right") - 1
            n_thresholds = len(last)
            feature_stumps[last] = np.arange(first_index, first_index + n_thresholds)
            first_index += n_thresholds
        # 3) Prepare the sums. The edge is the sum of all weights less twice the weights below the
        #    threshold: with the weights times -2, the sum of a prefix less half of the sum of all.
        #    Each block starts from the sum of the blocks before it, less this half: row b of
        #    `_carry` has 1/2 for each block before b, and -1/2 for block b and each one after it.
        self._carry = (np.tri(n_blocks, k=-1) - 0.5).astype(np.float32)
        # The half sums contain every weight once: added up in its block, over the blocks, and to
        # the block. A weight below the threshold in the same block is added twice more.
        self.total_additions = self._block_length + n_blocks + 1
        self.additions = self._block_length + 1
        self._stump_index_at_place = stump_index
        self._rank_bins = None
        if has_rank_bins:
            self._rank_bins = RankBins(
                self._order, self._is_threshold, n_samples, self.positions_of
            )

    def screening_layout(self, n_columns):
        """Return the layout that finds the largest edges fastest; see `Layout`."""
        if n_columns == 1:
            return self._rank_bins or self
        is_worthwhile = RankBlocks.is_worthwhile(self._n_samples, self._order.size * n_columns)
        if not is_worthwhile or self._rank_blocks.consume_pause():
            return self
        return self._rank_blocks

    def class_sum_search(self, labels):
        """Return a search by prefix sums of classes; see `Layout`."""
        inside = np.s_[:, : self._n_samples]
        return ClassPrefixSums(
            self._order[inside], self._is_threshold[inside], labels, self.positions_of
        )

    @cached_property
    def _rank_blocks(self):
        """Search of several columns; it is made when it is needed."""
        return RankBlocks(self, self._order, self._is_threshold, self._n_samples)

    @cached_property
    def _is_threshold(self):
        """True if a threshold lies after a place: (n_features, n_places)."""
        return self._stump_index_at_place >= 0

    def _reorder_by_position(self, values):
        """Return values of shape (n_features, n_places) in the order of positions.

        See the table in `Sorted`.
        """
        # The axes of `piece` are feature and place, and the axes of `by_block` are place in a
        # block, block and feature: its order in memory is the order of positions.
        n_features, n_places = values.shape
        result = np.empty(values.size, np.int64)
        for first_feature in range(0, n_features, self._features_per_piece):
            piece = values[first_feature : first_feature + self._features_per_piece].reshape(
                -1, n_places
            )
            by_block = piece.reshape(len(piece), -1, self._block_length).transpose(2, 1, 0)
            piece_positions = slice(first_feature * n_places, first_feature * n_places + piece.size)
            result[piece_positions].reshape(by_block.shape)[:] = by_block
        return result

    def positions_of(self, feature, place):
        """Return the positions of places in the order of features; see the formula in `Sorted`."""
        piece = feature // self._features_per_piece
        first_feature = piece * self._features_per_piece
        block, place_in_block = np.divmod(place, self._block_length)
        row = place_in_block * self._n_blocks + block
        position_in_piece = row * self._n_features_of_piece[piece] + feature - first_feature
        return first_feature * self._order.shape[1] + position_in_piece

    def places_of(self, positions):
        """Return the features and places of positions, the inverse of `positions_of`."""
        n_places = self._order.shape[1]
        piece = positions // (self._features_per_piece * n_places)
        first_feature = piece * self._features_per_piece
        row, feature_in_piece = divmod(
            positions - first_feature * n_places, self._n_features_of_piece[piece]
        )
        place_in_block, block = divmod(row, self._n_blocks)
        return first_feature + feature_in_piece, block * self._block_length + place_in_block

    def feature_and_stump_at(self, positions):
        """Return the stumps at positions; see `Layout`."""
        feature, place = self.places_of(positions)
        return feature, self._stump_index_at_place[feature, place]

    def above(self, feature, stump_index):
        """Return a mask of the samples above a threshold; see `Layout`."""
        if self._rank_bins is None:
            return None
        # The values of one feature are far apart in the rows of X, so that the order of the feature
        # is faster if there are many samples. `last` is the place of the last sample below the
        # threshold. Fewer samples are on one side, the minority, and only these are set.
        last = int((self._stump_index_at_place[feature] == stump_index).argmax())
        order = self._order[feature, : self._n_samples]
        is_majority_above = last < len(order) // 2
        is_above = np.full(len(order), is_majority_above)
        minority = order[: last + 1] if is_majority_above else order[last + 1 :]
        is_above[minority] = not is_majority_above
        return is_above

    @property
    def n_positions(self):
        """Number of positions."""
        return self._order.size

    # Arrays over all positions are computed when they are needed: with many samples, `RankBins` and
    # `RankBlocks` do without them.
    @cached_property
    def stump_index(self):
        """Index of the stump at each position; -1 for padding."""
        return self._reorder_by_position(self._stump_index_at_place)

    @cached_property
    def feature(self):
        """Feature at each position."""
        features = np.arange(len(self._order))[:, None]
        return self._reorder_by_position(np.broadcast_to(features, self._order.shape))

    @cached_property
    def _samples_of_piece(self):
        """Sample at each position, for each piece; `n_samples` for padding."""
        starts = range(self._features_per_piece, len(self._order), self._features_per_piece)
        ends = np.array(starts, int) * self._order.shape[1]
        return np.split(self._reorder_by_position(self._order), ends)

    def iter_edges(self, W, total):
        """Yield edges, a few features at a time; see `Layout.iter_edges`. `total` is not used."""
        padded = np.zeros((len(W) + 1, W.shape[1]), W.dtype)
        np.multiply(W, -2.0, out=padded[:-1])
        # All pieces share one array, because fresh memory costs more than the sums.
        buffer = np.empty((len(self._samples_of_piece[0]), W.shape[1]), W.dtype)
        for samples in self._samples_of_piece:
            sums = buffer[: len(samples)]
            padded.take(samples, axis=0, mode="clip", out=sums)
            # The axes are place in a block, block, and feature and column. First compute prefix
            # sums inside each block; the last row of `by_place` then has the block totals.
            by_place = sums.reshape(self._block_length, self._n_blocks, -1)
            for before, after in pairwise(by_place):
                after += before
            # Add the totals of earlier blocks, less half of the sum of all.
            by_place += self._carry @ by_place[-1]
            yield sums


class RankBins(Layout):
    """Exact search of the largest edges of one column of weights, in a few bins of each feature.

    The samples of each feature are divided into bins of consecutive places. From one threshold to
    the next, the edge decreases by twice the weights of the samples between them. Hence the edge of
    a threshold in a bin is between ``edge_before_bin - 2 * positive_sum`` and ``edge_before_bin - 2
    * negative_sum``, where `edge_before_bin` is the edge of the threshold before the bin, and the
    two sums are over the positive and over the negative weights in the bin. The larger absolute
    value of these two numbers is the bound of the bin.

    The edges of the thresholds between bins are computed first. Then the bins are evaluated by
    decreasing bound, until the next bound is smaller than the largest edge, within rounding errors.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_places), dtype=int32
        Samples of each feature in ascending order of its values, followed by padding with the value
        `n_samples`. `n_places` is at least `padded_length(n_samples)`.
    is_threshold : ndarray of shape (n_features, n_places), dtype=bool
        True if a threshold lies between a sample and the next one.
    n_samples : int
    positions_of : callable
        Function of arrays of features and places. It returns the positions of the thresholds after
        these places.

    Attributes
    ----------
    additions : int
        See `boostbench.core.stumps.layouts.layout.Layout`.
    """

    def __init__(self, order, is_threshold, n_samples, positions_of):
        self._positions_of = positions_of
        # The last bins may be empty, since the size of a bin is rounded up.
        self._bin_size = -(-n_samples // _N_BINS)
        # The axes are feature, bin and place in the bin.
        self._order, self._is_threshold = (
            values[:, : _N_BINS * self._bin_size].reshape(-1, _N_BINS, self._bin_size)
            for values in (order, is_threshold)
        )
        codes = bins_by_rank(order, n_samples, self._bin_size, np.uint8)
        # Layer 0 has the sums of the positive weights, and layer 1 the sums of the negative ones.
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

    def iter_candidates(self, W, total, tolerance, criterion):
        """Yield all edges that may be the largest; see `Layout.iter_candidates`."""
        # 1) Add up the positive and the negative weights in each bin: (n_features, n_bins) each.
        weights = np.ascontiguousarray(W[:, 0])
        is_negative = (weights < 0).astype(np.int32)
        sums = self._tables.sums(weights, is_negative)[: len(self._order)].astype(np.float64)
        positive_sum, negative_sum = sums[:, 0], sums[:, 1]
        abs_sum = positive_sum - negative_sum
        # 2) Compute the edges before and after each bin, and the bound of each bin.
        edge_after_bin = total - 2 * np.cumsum(positive_sum + negative_sum, axis=1)
        edge_before_bin = edge_after_bin + 2 * (positive_sum + negative_sum)
        bound = np.maximum(
            np.abs(edge_before_bin - 2 * positive_sum), np.abs(edge_before_bin - 2 * negative_sum)
        )
        best_score = np.abs(edge_after_bin).max(where=self._has_threshold_after_bin, initial=0.0)
        open_feature, open_bin = np.nonzero(bound >= best_score - tolerance)
        by_bound = np.argsort(-bound[open_feature, open_bin], kind="stable")
        bins_per_batch = max(1, _BATCH_SAMPLES // self._bin_size)
        # 3) Evaluate bins by decreasing bound, a batch of bins at a time: `edges` has the shape
        #    (n_bins, bin_size). Padding takes the last change, which is 0. Places without a
        #    threshold get the edge 0.
        changes = np.append(-2.0 * weights.astype(np.float64), 0.0)
        for start in range(0, len(by_bound), bins_per_batch):
            selected = by_bound[start : start + bins_per_batch]
            bins = open_feature[selected], open_bin[selected]
            if bound[bins][0] < best_score - tolerance:
                break
            edges = changes.take(self._order[bins], mode="clip").cumsum(axis=1)
            edges += edge_before_bin[bins][:, None]
            edges *= self._is_threshold[bins]
            highest, lowest = edges.max(axis=1), edges.min(axis=1)
            best_score = max(best_score, highest.max(), -lowest.min())
            # 4) Yield the edges near the largest one. Usually they are in one or two bins. Edges of
            #    one bin differ by weights of the bin only, so that a smaller tolerance suffices:
            #    relative to all weights of the feature, plus the rounding errors of the bin.
            min_score = best_score - tolerance
            near = np.flatnonzero(np.maximum(highest, -lowest) >= min_score)
            near_feature, near_bin = bins[0][near], bins[1][near]
            bin_tolerance = TIE_TOLERANCE * abs_sum[near_feature].sum(axis=1)
            bin_tolerance += 8 * UNIT_ROUNDOFF[np.float32] * abs_sum[near_feature, near_bin]
            near_edges = edges[near]
            is_large = _is_large_in_bin(near_edges, bin_tolerance, min_score)
            row, place_in_bin = np.nonzero(is_large)
            if len(row):
                place = near_bin[row] * self._bin_size + place_in_bin
                yield self._positions_of(near_feature[row], place), near_edges[is_large][:, None]


def _is_large_in_bin(edges, bin_tolerance, min_score):
    """Return a mask of the large edges that are near the highest or the lowest edge of their bin.

    Without the second condition, a bin would have thousands of edges with a large enough score.

    Parameters
    ----------
    edges : ndarray of shape (n_bins, bin_size)
    bin_tolerance : ndarray of shape (n_bins,)
        Upper bound on the rounding error of an edge relative to the other edges of its bin.
    min_score : float
        Smallest absolute value of a large edge.

    Returns
    -------
    ndarray of shape (n_bins, bin_size), dtype=bool
    """
    min_kept = np.maximum(edges.max(axis=1) - 2 * bin_tolerance, min_score)
    max_kept = np.minimum(edges.min(axis=1) + 2 * bin_tolerance, -min_score)
    return (edges >= min_kept[:, None]) | (edges <= max_kept[:, None])


class ClassPrefixSums:
    r"""Search for the threshold with the best class weights, at the cost of one class.

    Parameters
    ----------
    order : ndarray of shape (n_features, n_samples), dtype=int32
        Samples in ascending order of each feature.
    is_threshold : ndarray of shape (n_features, n_samples), dtype=bool
        True if a threshold lies between a sample and the next in the order.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.
    positions_of : callable
        Function of a feature and a rank in its order. It returns a position, the number by which
        the layout knows the threshold after this rank.

    Examples
    --------
    >>> order, is_threshold = np.array([[0, 1, 2, 3]]), np.array([[True, True, True, False]])
    >>> labels = np.array([2, 2, 0, 1])
    >>> sums = ClassPrefixSums(order, is_threshold, labels, lambda feature, rank: rank)
    >>> int(sums.best_position(np.full(4, 0.25), majority_weight, scale=1.0))
    1

    Notes
    -----
    A threshold that moves up passes one sample, and changes the weight of one class. Let
    :math:`C_i` be the weight of the class of sample i up to this sample, in the order of a feature.
    Then the class weights :math:`b_c` below a threshold fulfil

    .. math:: \max_c b_c = \max_{i \text{ below}} C_i, \qquad
        \sum_c b_c^2 = \sum_{i \text{ below}} w_i (2 C_i - w_i),

    and the weights above it fulfil the same equations in reversed order. So a running maximum or
    sum over the samples of a feature is enough for any number of classes.
    """

    def __init__(self, order, is_threshold, labels, positions_of):
        self._is_threshold, self._labels = is_threshold[:, :-1], labels
        self._positions_of = positions_of
        n_features, n_samples = order.shape
        self._features_per_batch = max(1, _CLASS_BATCH_SAMPLES // n_samples)
        # The class sums are cumulative sums in the order of `_samples_by_class`: by class, and by
        # value within a class. `_index_in_batch` brings them back to the order of values: for each
        # feature and rank, it has the flat index of the sample in the batch of features.
        self._samples_by_class, self._index_in_batch = np.empty(
            (2, n_features, n_samples), np.int32
        )
        for feature, feature_order in enumerate(order):
            # `by_class` has ranks in the order of the feature. The assignment to these ranks
            # inverts the permutation: it stores the index of the sample with each rank.
            by_class = np.argsort(labels[feature_order], kind="stable")
            self._samples_by_class[feature] = feature_order[by_class]
            batch_start = feature % self._features_per_batch * n_samples
            self._index_in_batch[feature, by_class] = np.arange(
                batch_start, batch_start + n_samples
            )

    def best_position(self, weights, score, scale):
        """Return the position of the threshold with the largest score.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
            Not negative.
        score : callable
            Function of `weight`, `class_weight_up_to` and `class_weight_from`, arrays of shape
            (n_batch_features, n_samples) in the order of each feature: weight of sample i, and
            weight of its class up to i (:math:`C_i` of the notes) and from i on, both with i.
            Returns the scores of the thresholds behind all but the last sample, of shape
            (n_batch_features, n_samples - 1). May overwrite its arguments.
        scale : float
            Approximate upper bound of the scores. Scores whose difference is a rounding error of
            `scale` are ties.

        Returns
        -------
        int or None
            Ties go to the first feature and threshold. None if there is no threshold.
        """
        # 1) Sum the weights of each class. For each sample in the order of classes, `own_totals`
        #    has the sum of its class, and `preceding` the sum of all earlier classes.
        counts, totals = np.bincount(self._labels), np.bincount(self._labels, weights)
        own_totals = np.repeat(totals, counts)
        preceding = np.repeat(np.cumsum(totals) - totals, counts)
        # 2) Score the thresholds of a batch of features, and collect the scores near the largest
        #    one. The sums are in class order until `_index_in_batch` brings them back.
        best, candidates, tolerance = -np.inf, [], TIE_TOLERANCE * scale
        for batch_start in range(0, len(self._index_in_batch), self._features_per_batch):
            batch = slice(batch_start, batch_start + self._features_per_batch)
            weight = weights.take(self._samples_by_class[batch])
            up_to_sample = weight.cumsum(axis=1)
            up_to_sample -= preceding
            from_sample = own_totals - up_to_sample
            from_sample += weight
            index = self._index_in_batch[batch]
            scores = score(weight.take(index), up_to_sample.take(index), from_sample.take(index))
            scores[~self._is_threshold[batch]] = -np.inf
            largest = scores.max(initial=-np.inf)
            if largest >= best - tolerance:
                best = max(best, largest)
                feature, rank = np.nonzero(scores >= best - tolerance)
                candidates.append((batch_start + feature, rank, scores[feature, rank]))
        if best == -np.inf:
            return None
        # 3) Break ties: the first feature and threshold wins.
        features, ranks, scores = map(np.concatenate, zip(*candidates, strict=True))
        first = argmax_with_tolerance(scores, scale)
        return self._positions_of(features[first], ranks[first])


def majority_weight(weights, class_weight_up_to, class_weight_from):
    """Return the sum of the largest class weights of both sides, a score of `ClassPrefixSums`."""
    # The threshold behind a sample has the next sample as the first one above it. The running
    # maximum of the upper side starts at the last sample, so that it sees the columns reversed.
    below, above = class_weight_up_to[:, :-1], class_weight_from[:, 1:]
    np.maximum.accumulate(below, axis=1, out=below)
    np.maximum.accumulate(above[:, ::-1], axis=1, out=above[:, ::-1])
    below += above
    return below
