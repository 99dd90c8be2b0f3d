r"""The largest edges of all thresholds at the price of a few blocks, exactly, for several columns.

Samples are in blocks by their rank in each feature. While a threshold goes through a block, every
sample that it passes changes the edges by twice its weights, and so their size by twice its mass at
most (see `boostbench.core.stumps.screening`). With a and b the sizes where the block begins and
ends, and M the sum of the masses in it, no size inside is larger than

.. math:: \frac{a + b}{2} + M.

Only those blocks are looked at in which this reaches the largest size known, which is first that of
the thresholds between blocks. Where they are many, smaller blocks follow, and then the sums of all
thresholds: for which weights and data it pays cannot be told before. For one column there is a
faster way, by sums of two signs (see `boostbench.core.stumps.layouts.rank_bins`).
"""

from itertools import pairwise

import numpy as np

from boostbench.core.stumps.layouts.base import Layout
from boostbench.core.stumps.layouts.joint_bin_sums import JointBinSums
from boostbench.core.stumps.layouts.rank_bins import bins_by_rank

# Of a feature: how many, and which part of them it pays to look at. What has few is tried first.
_GRIDS = (32, 1 / 16), (128, 1 / 8)

# What did not pay is tried again after so many times.
_PAUSE = 16

# Of a block. A few thresholds are hardly more work than a block.
_MIN_SAMPLES = 15

# With fewer weights to add up, all sums take no longer.
_MIN_SUMS = 2**22

# Of so many samples too many edges are near to the largest in single precision.
_FLOAT64_SAMPLES = 2**13

# So many blocks of some features are bounded at a time.
_PIECE = 2**13


class RankBlocks(Layout):
    """A search for the largest edges.

    Parameters
    ----------
    full_layout : boostbench.core.stumps.layouts.sorted.Sorted
        What has all edges, at the same positions.
    order : ndarray of shape (n_features, n_places), dtype=int32
        The samples of each feature, ascending, then `n_samples`.
    is_threshold : ndarray of shape (n_features, n_places), dtype=bool
        Whether a threshold is between a sample and the next.
    n_samples : int
    """

    def __init__(self, full_layout, order, is_threshold, n_samples):
        self._full_layout = full_layout
        self._order, self._is_threshold, self._n_samples = order, is_threshold, n_samples
        self.dtype = np.float64 if n_samples >= _FLOAT64_SAMPLES else np.float32
        self._grids = [grid for grid in _GRIDS if n_samples >= grid[0] * _MIN_SAMPLES]
        self._pauses = [0]
        self._pieces = [self._make_pieces(self._grids[0][0])]

    @property
    def additions(self):
        """Roundings on the way of a weight into an edge or a bound, at most; as of `Dense`."""
        additions = [piece.additions for pieces in self._pieces for piece in pieces]
        return max(*additions, self._full_layout.additions)

    @property
    def total_additions(self):
        """Roundings on the way of the total into an edge, at most."""
        return self.additions

    @staticmethod
    def is_worthwhile(n_samples, n_sums):
        """Return whether there is enough to add up: a weight for each feature and column."""
        return n_samples >= _GRIDS[0][0] * _MIN_SAMPLES and n_sums >= _MIN_SUMS

    def is_paused(self):
        """Tell whether this time all sums are faster, as it seems by the times before."""
        if not all(self._pauses):
            return False
        self._pauses = [pause - 1 for pause in self._pauses]
        return True

    def candidates(self, W, total, tolerance, criterion):
        """Find all that may be the largest; see `Layout.candidates`."""
        summands = np.hstack([W, criterion.masses(W)])
        for level, pieces in enumerate(self._pieces):
            if self._pauses[level]:
                self._pauses[level] -= 1
                continue
            max_open = self._grids[level][1] * sum(piece.has_threshold.size for piece in pieces)
            if (
                yield from self._search_blocks(
                    pieces, max_open, W, summands, total, tolerance, criterion
                )
            ):
                return
            self._pauses[level] = _PAUSE
        if len(self._pieces) < len(self._grids):
            # From the next time on, as the tolerance does not count its roundings yet.
            self._pieces.append(self._make_pieces(self._grids[len(self._pieces)][0]))
            self._pauses.append(0)
        yield from self._full_layout.iter_slices(W, total)

    def _search_blocks(self, pieces, max_open, W, summands, total, tolerance, criterion):
        """Yield as `largest`; tell whether it is all: no more blocks than that were left."""
        excluded = self._full_layout.place(criterion.excluded)
        best_score = -np.inf
        # What was large the last time is large again, as a rule.
        for piece in sorted(pieces, key=lambda piece: -piece.last_max):
            edges, masses = piece.block_edges(summands, total)
            scores = _scores(edges, criterion)
            bound = scores[:, :-1] + scores[:, 1:]
            bound *= 0.5
            bound += masses
            is_excluded = piece.position_mask(*excluded)
            scores = scores[:, 1:]
            scores[~piece.is_end(is_excluded)] = -np.inf
            piece.last_max = scores.max()
            best_score = max(best_score, piece.last_max)
            is_open = _any_last_axis(bound >= best_score - tolerance) & piece.has_threshold
            max_open -= np.count_nonzero(is_open)
            if max_open < 0:
                return False
            if is_excluded is None and not is_open.any():
                continue
            feature, place, edges = piece.evaluate_blocks(is_open, is_excluded, edges, W)
            is_near = _any_last_axis(_scores(edges, criterion) >= best_score - tolerance)
            if is_excluded is not None:
                is_near |= is_excluded[feature - piece.first, place]
            if is_near.any():
                yield self._full_layout.position(feature[is_near], place[is_near]), edges[is_near]
        return True

    def _make_pieces(self, n_blocks):
        """Cut the features into pieces, and each of them into so many blocks."""
        length = -(-self._n_samples // n_blocks)
        width = max(1, _PIECE // n_blocks)
        return [
            _FeatureBlocks(
                first,
                self._order[rows],
                self._is_threshold[rows],
                self._n_samples,
                length,
                self.dtype,
            )
            for first in range(0, len(self._order), width)
            for rows in [slice(first, first + width)]
        ]


class _FeatureBlocks:
    """Some features, each cut into blocks.

    Parameters
    ----------
    first : int
        The first feature.
    order, is_threshold : ndarray of shape (n_some, n_places)
        As of `RankBlocks`.
    n_samples : int
    length : int
        Samples of a block.
    dtype : numpy.float32 or numpy.float64

    Attributes
    ----------
    last_max : float
        The largest size between blocks, the last time.
    has_cut : ndarray of shape (n_some, n_blocks), dtype=bool
        Whether there is a threshold in a block.
    additions : int
        Roundings on the way of a weight into an edge or a bound, at most.
    """

    def __init__(self, first, order, is_threshold, n_samples, length, dtype):
        self.first, self.last_max = first, 0.0
        self._order, self._is_threshold, self._length = order, is_threshold, length
        n_places = order.shape[1]
        self._starts = np.arange(0, n_places, length)
        self._ends = np.append(self._starts[1:], n_places) - 1
        self.has_threshold = np.logical_or.reduceat(is_threshold, self._starts, axis=1)
        codes = bins_by_rank(order, n_samples, length, np.int32)
        rows = np.arange(self.has_threshold.size).reshape(self.has_threshold.shape)
        self._sums = JointBinSums(codes, rows, rows.size)
        self._sums.set_dtype(dtype)
        # In a block, over the blocks, and in the block that is looked at. A bound has the masses,
        # and a few operations.
        self.additions = 2 * self._sums.additions + length + len(self._starts) + 8

    def block_edges(self, summands, total):
        """Add up.

        Parameters
        ----------
        summands : ndarray of shape (n_samples, n_columns + width)
            The weights and the masses.
        total : ndarray of shape (n_columns,)

        Returns
        -------
        edges : ndarray of shape (n_some, n_blocks + 1, n_columns)
            At the end of each block. The first is before the samples.
        masses : ndarray of shape (n_some, n_blocks, width)
            Of each block.
        """
        sums = self._sums(summands).reshape(*self.has_threshold.shape, -1)
        n_columns = len(total)
        edges = np.empty((len(sums), len(self._starts) + 1, n_columns), summands.dtype)
        edges[:, 0] = total
        np.multiply(sums[..., :n_columns], -2.0, out=edges[:, 1:])
        for before, after in pairwise(edges.swapaxes(0, 1)):
            after += before
        return edges, sums[..., n_columns:]

    def position_mask(self, feature, place):
        """Tell which of all places are some places of some features; None for none of all."""
        here = (feature >= self.first) & (feature < self.first + len(self._order))
        if not here.any():
            return None
        mask = np.zeros(self._order.shape, bool)
        mask[feature[here] - self.first, place[here]] = True
        return mask

    def is_end(self, is_excluded):
        """Tell at the end of which blocks there is a threshold that counts."""
        ends = self._is_threshold[:, self._ends]
        return ends if is_excluded is None else ends & ~is_excluded[:, self._ends]

    def evaluate_blocks(self, is_open, is_excluded, edges, W):
        """Add up for all thresholds of some blocks.

        Parameters
        ----------
        is_open : ndarray of shape (n_some, n_blocks), dtype=bool
            Which blocks.
        is_excluded : ndarray of shape (n_some, n_places), dtype=bool, or None
            Blocks of these places as well.
        edges
            As of `block_edges`.
        W : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        feature, place : ndarray of shape (n_thresholds,)
        edges : ndarray of shape (n_thresholds, n_columns)
        """
        if is_excluded is not None:
            is_open = is_open | np.logical_or.reduceat(is_excluded, self._starts, axis=1)
        feature, block = np.nonzero(is_open)
        place = self._starts[block][:, None] + np.arange(self._length)
        # Behind the last sample there is no threshold.
        place = np.minimum(place, self._order.shape[1] - 1)
        before = edges[feature, block]
        feature = np.broadcast_to(feature[:, None], place.shape)
        edges = W.take(self._order[feature, place], axis=0, mode="clip")
        edges *= -2.0
        edges[:, 0] += before
        for before, after in pairwise(edges.swapaxes(0, 1)):
            after += before
        is_threshold = self._is_threshold[feature, place]
        return self.first + feature[is_threshold], place[is_threshold], edges[is_threshold]


def _scores(edges, criterion):
    """Give the sizes for edges of shape (..., n_columns): (..., width)."""
    scores = criterion.scores(edges.copy().reshape(-1, edges.shape[-1]))
    return scores.reshape(*edges.shape[:-1], -1)


def _any_last_axis(mask):
    """Tell where one of the last axis is."""
    if mask.shape[-1] == 1:
        return mask[..., 0]
    result = np.zeros(mask.shape[:-1], bool)
    # Many short rows take long, few places do not.
    result.ravel()[np.flatnonzero(mask) // mask.shape[-1]] = True
    return result
