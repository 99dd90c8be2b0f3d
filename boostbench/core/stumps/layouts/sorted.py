"""Edges by prefix sums over the samples in the order of each feature."""

from functools import cached_property
from itertools import pairwise

import numpy as np

from boostbench.core.stumps.class_prefix_sums import ClassPrefixSums
from boostbench.core.stumps.layouts.base import Layout
from boostbench.core.stumps.layouts.rank_bins import RankBins
from boostbench.core.stumps.layouts.rank_blocks import RankBlocks
from boostbench.core.stumps.thresholds import iter_columns, midpoint, sort_with_order

# Positions of a piece: few enough for their sums to stay in the cache, and worth the calls.
PIECE = 40_000


class Sorted(Layout):
    """Layout of mostly distinct values: prefix sums over the samples in the order of each feature.

    Every sample has a position. Features are processed in pieces. The sums of a piece have the axes
    place in a block, block, feature and column, so that one product with a triangular matrix adds
    the sums of earlier blocks for all features. The time of the product grows with the number of
    blocks, so the number of blocks is about the number of places in a block.

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
        n_samples, n_features = X.shape
        self._n_samples = n_samples
        self._length = 2 ** ((n_samples.bit_length() - 1) // 2)
        has_rank_bins = RankBins.is_worthwhile(n_samples)
        n_blocks = -(
            -(RankBins.padded_length(n_samples) if has_rank_bins else n_samples) // self._length
        )
        n_places = n_blocks * self._length
        self._width = max(1, PIECE // n_samples)
        # The last piece may have fewer features.
        self._widths = np.minimum(self._width, n_features - np.arange(0, n_features, self._width))
        # The padding gathers a row of zeros.
        self._order = np.full((n_features, n_places), n_samples, np.int32)
        stump_index = np.full((n_features, n_places), -1, np.int32)
        self.thresholds = [] if thresholds is None else thresholds
        first_index = 0
        for j, (values, order, feature_stumps) in enumerate(
            zip(iter_columns(X), self._order, stump_index, strict=True)
        ):
            order[:n_samples], values = sort_with_order(values)
            # A threshold is at the last sample below it.
            if thresholds is None:
                last = np.flatnonzero(values[:-1] < values[1:])
                self.thresholds.append(midpoint(values[:-1], values[1:])[last])
            else:
                last = np.searchsorted(values, thresholds[j], "right") - 1
            n_thresholds = len(last)
            feature_stumps[last] = np.arange(first_index, first_index + n_thresholds)
            first_index += n_thresholds
        # Each block starts from the sum of those before it, less half of the sum of all.
        self._carry = (np.tri(n_blocks, k=-1) - 0.5).astype(np.float32)
        # The half sums contain every weight once: added up in its block, over the blocks, and to
        # the block. A weight below the threshold in the same block is added twice more.
        self.total_additions = self._length + n_blocks + 1
        self.additions = self._length + 1
        self._stump_index = stump_index
        self._rank_bins = None
        if has_rank_bins:
            self._rank_bins = RankBins(self._order, self._is_threshold, n_samples, self.position)

    def screening_layout(self, n_columns):
        """Return the layout that finds the largest edges fastest; see `Layout`."""
        if n_columns == 1:
            return self._rank_bins or self
        is_worthwhile = RankBlocks.is_worthwhile(self._n_samples, self._order.size * n_columns)
        return self._rank_blocks if is_worthwhile and not self._rank_blocks.is_paused() else self

    def class_sums(self, labels):
        """Return a search by prefix sums of classes; see `Layout`."""
        inside = np.s_[:, : self._n_samples]
        return ClassPrefixSums(
            self._order[inside], self._is_threshold[inside], labels, self.position
        )

    @cached_property
    def _rank_blocks(self):
        return RankBlocks(self, self._order, self._is_threshold, self._n_samples)

    @cached_property
    def _is_threshold(self):
        return self._stump_index >= 0

    def _to_piece_order(self, values):
        """Return values of shape (n_features, n_places) in the order of positions."""
        n_features, n_places = values.shape
        result = np.empty(values.size, np.int64)
        for first in range(0, n_features, self._width):
            piece = values[first : first + self._width].reshape(-1, n_places)
            by_block = piece.reshape(len(piece), -1, self._length).transpose(2, 1, 0)
            block = slice(first * n_places, first * n_places + piece.size)
            result[block].reshape(by_block.shape)[:] = by_block
        return result

    def position(self, feature, place):
        """Return the positions of places in the sorted order of features."""
        piece = feature // self._width
        first = piece * self._width
        block, in_block = np.divmod(place, self._length)
        row = in_block * len(self._carry) + block
        return first * self._order.shape[1] + row * self._widths[piece] + feature - first

    def place(self, positions):
        """Return the features and places of positions."""
        n_places = self._order.shape[1]
        piece = positions // (self._width * n_places)
        first = piece * self._width
        row, in_piece = divmod(positions - first * n_places, self._widths[piece])
        in_block, block = divmod(row, len(self._carry))
        return first + in_piece, block * self._length + in_block

    def stumps_at(self, positions):
        """Return the stumps at positions; see `Layout`."""
        feature, place = self.place(positions)
        return feature, self._stump_index[feature, place]

    def above(self, feature, stump_index):
        """Return a mask of the samples above a threshold; see `Layout`."""
        if self._rank_bins is None:
            return None
        # With many samples, values of one feature are far apart in the rows of X.
        last = int((self._stump_index[feature] == stump_index).argmax())
        order = self._order[feature, : self._n_samples]
        is_majority = last < len(order) // 2
        above = np.full(len(order), is_majority)
        above[order[: last + 1] if is_majority else order[last + 1 :]] = not is_majority
        return above

    @property
    def n_positions(self):
        """Number of positions."""
        return self._order.size

    # Arrays over all positions are computed when they are needed: with many samples, `RankBins` and
    # `RankBlocks` do without them.
    @cached_property
    def stump_index(self):
        """Index of the stump at each position; -1 for padding."""
        return self._to_piece_order(self._stump_index)

    @cached_property
    def feature(self):
        """Feature at each position."""
        features = np.arange(len(self._order))[:, None]
        return self._to_piece_order(np.broadcast_to(features, self._order.shape))

    @cached_property
    def _rows(self):
        starts = range(self._width, len(self._order), self._width)
        ends = np.array(starts, int) * self._order.shape[1]
        return np.split(self._to_piece_order(self._order), ends)

    def pieces(self, W, total):
        """Yield edges, a few features at a time; see `Layout.pieces`. `total` is not used."""
        padded = np.zeros((len(W) + 1, W.shape[1]), W.dtype)
        np.multiply(W, -2.0, out=padded[:-1])
        # One array for all pieces: fresh memory costs more than the sums.
        sums_of_any = np.empty((len(self._rows[0]), W.shape[1]), W.dtype)
        for rows in self._rows:
            sums = sums_of_any[: len(rows)]
            padded.take(rows, axis=0, mode="clip", out=sums)
            blocks = sums.reshape(self._length, len(self._carry), -1)
            for before, place in pairwise(blocks):
                place += before
            blocks += self._carry @ blocks[-1]
            yield sums
