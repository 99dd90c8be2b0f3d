r"""Exact search of the largest scores in a few blocks of each feature, for several columns.

The samples of each feature are divided into blocks by rank. A threshold that moves past a sample
changes the edges by twice its weights, and the score by at most twice its change bound (see
`boostbench.core.stumps.screening`). Let a and b be the scores at both ends of a block, and M the
sum of the change bounds in it. No score inside is larger than

.. math:: \frac{a + b}{2} + M.

Only blocks whose bound reaches the largest known score are evaluated. The first known scores are
the scores of the thresholds between blocks. If many blocks remain, the search is repeated with
smaller blocks, and then with the edges of all thresholds. The time that this saves depends on
weights and data, and is not known in advance. For one column,
`boostbench.core.stumps.layouts.sorted.RankBins` is faster.

`boostbench.core.stumps.layouts.sorted.Sorted` makes a `RankBlocks` for the search of several
columns. A *place* is the rank of a sample in the order of a feature, and the threshold after it; a
*position* is the number of a threshold among the edges of `Sorted`.
"""

from itertools import pairwise

import numpy as np

from boostbench.core.stumps.layouts.bin_sums import JointBinSums, bins_by_rank
from boostbench.core.stumps.layouts.layout import Layout

# A grid divides the samples of each feature into blocks. The two numbers of a grid are the number
# of blocks of a feature, and the largest fraction of all blocks that is worth evaluating: for more,
# computing all edges is faster. The coarse grid is tried first.
_GRIDS = (32, 1 / 16), (128, 1 / 8)

# Number of searches without blocks after a search whose bounds did not save time.
_PAUSE = 16

# Smallest number of samples in a block. Evaluating a few thresholds costs little more than a block.
_MIN_SAMPLES = 15

# Below this many weights, counted for each feature, computing all edges is as fast.
_MIN_SUMS = 2**22

# Number of samples from which, in single precision, too many edges are within rounding error of
# the largest.
_FLOAT64_SAMPLES = 2**13

# Number of blocks whose scores are bounded at a time, few enough for the cache.
_PIECE_BLOCKS = 2**13


class RankBlocks(Layout):
    """Search of the largest scores of several columns of weights.

    Parameters
    ----------
    full_layout : boostbench.core.stumps.layouts.sorted.Sorted
        Layout that computes all edges, with the same positions.
    order : ndarray of shape (n_features, n_places), dtype=int32
        Samples of each feature, ascending, then the padding `n_samples`.
    is_threshold : ndarray of shape (n_features, n_places), dtype=bool
        True if a threshold lies between a sample and the next one.
    n_samples : int
    """

    def __init__(self, full_layout, order, is_threshold, n_samples):
        self._full_layout = full_layout
        self._order, self._is_threshold, self._n_samples = order, is_threshold, n_samples
        self.dtype = np.float64 if n_samples >= _FLOAT64_SAMPLES else np.float32
        self._grid_sizes = [size for size in _GRIDS if n_samples >= size[0] * _MIN_SAMPLES]
        # The finer grid is made when it is needed.
        self._grids = [self._make_grid(*self._grid_sizes[0])]

    @property
    def additions(self):
        """Largest number of roundings of a weight in an edge or a bound; see `Layout`."""
        piece_additions = [piece.additions for grid in self._grids for piece in grid.pieces]
        return max(*piece_additions, self._full_layout.additions)

    @property
    def total_additions(self):
        """Largest number of roundings of the total in an edge; see `Layout`."""
        return self.additions

    @staticmethod
    def is_worthwhile(n_samples, n_sums):
        """Return True if the search may save time: `n_sums` counts weights for each feature."""
        return n_samples >= _GRIDS[0][0] * _MIN_SAMPLES and n_sums >= _MIN_SUMS

    def consume_pause(self):
        """Return True, and count this search as one of the pause, if all grids are paused.

        Earlier searches then suggest that computing all edges is faster.
        """
        if not all(grid.pause for grid in self._grids):
            return False
        for grid in self._grids:
            grid.pause -= 1
        return True

    def iter_candidates(self, W, total, tolerance, criterion):
        """Yield all edges that may have the largest score; see `Layout.iter_candidates`.

        The positions `criterion.excluded` do not count for the largest score. `GradBoost` excludes
        the stumps of its model from the search for a new stump. It compares the new stump with
        them, so that their edges are yielded too, and their blocks are evaluated.
        """
        # 1) Try the grids, from coarse to fine. A grid pauses after a search that it did not help.
        weights_and_bounds = np.hstack([W, criterion.change_bounds(W)])
        for grid in self._grids:
            if grid.pause:
                grid.pause -= 1
                continue
            is_complete = yield from self._search_blocks(
                grid, W, weights_and_bounds, total, tolerance, criterion
            )
            if is_complete:
                return
            grid.pause = _PAUSE
        # 2) Make the next grid for the next search: this search has a fixed tolerance, for the
        #    `additions` of the present grids.
        if len(self._grids) < len(self._grid_sizes):
            self._grids.append(self._make_grid(*self._grid_sizes[len(self._grids)]))
        # 3) Compute all edges.
        yield from self._full_layout.iter_edge_slices(W, total)

    def _search_blocks(self, grid, W, weights_and_bounds, total, tolerance, criterion):
        """Yield the edges that may have the largest score, found by the blocks of one grid.

        Parameters
        ----------
        grid : _Grid
        W : ndarray of shape (n_samples, n_columns)
            Weights.
        weights_and_bounds : ndarray of shape (n_samples, n_columns + n_scores)
            Weights and their change bounds, side by side.
        total : ndarray of shape (n_columns,)
            Sums of the weights.
        tolerance : float
            Scores that differ by at most this number may be equal up to rounding.
        criterion : boostbench.core.stumps.screening.AllColumnsCriterion
            Turns edges into scores.

        Yields
        ------
        positions : ndarray of shape (n_near,)
        edges : ndarray of shape (n_near, n_columns)

        Returns
        -------
        bool
            Value of ``yield from``. False if too many blocks must be evaluated: the search is
            incomplete, and the next one may yield the same edges again, which does no harm.
        """
        excluded = self._full_layout.places_of(criterion.excluded)
        best_score, n_open_left = -np.inf, grid.max_open
        # Usually the same features have large scores as in the previous search.
        for piece in sorted(grid.pieces, key=lambda piece: -piece.last_max_score):
            # 1) Bound the scores in each block by the scores at its two ends.
            end_edges, change_bounds = piece.block_edges(weights_and_bounds, total)
            scores = _scores(end_edges, criterion)
            bound = scores[:, :-1] + scores[:, 1:]
            bound *= 0.5
            bound += change_bounds
            # 2) Update the largest score by the ends that are thresholds and not excluded.
            is_excluded = piece.place_mask(*excluded)
            scores = scores[:, 1:]
            scores[~piece.ends_at_threshold(is_excluded)] = -np.inf
            piece.last_max_score = scores.max()
            best_score = max(best_score, piece.last_max_score)
            # 3) Evaluate the blocks that may contain a larger score.
            is_open = _has_any_in_row(bound >= best_score - tolerance) & piece.has_threshold
            n_open_left -= np.count_nonzero(is_open)
            if n_open_left < 0:
                return False
            if is_excluded is None and not is_open.any():
                continue
            feature, place, edges = piece.evaluate_blocks(is_open, is_excluded, end_edges, W)
            is_near = _has_any_in_row(_scores(edges, criterion) >= best_score - tolerance)
            if is_excluded is not None:
                is_near |= is_excluded[feature - piece.first_feature, place]
            if is_near.any():
                positions = self._full_layout.positions_of(feature[is_near], place[is_near])
                yield positions, edges[is_near]
        return True

    def _make_grid(self, n_blocks, max_open_fraction):
        """Return a grid with `n_blocks` blocks for each feature."""
        length = -(-self._n_samples // n_blocks)
        features_per_piece = max(1, _PIECE_BLOCKS // n_blocks)
        pieces = [
            _FeatureBlocks(
                first_feature=first,
                order=self._order[rows],
                is_threshold=self._is_threshold[rows],
                n_samples=self._n_samples,
                block_length=length,
                dtype=self.dtype,
            )
            for first in range(0, len(self._order), features_per_piece)
            for rows in [slice(first, first + features_per_piece)]
        ]
        return _Grid(pieces, max_open_fraction)


class _Grid:
    """Division of the samples of all features into blocks of equal length.

    Parameters
    ----------
    pieces : list of _FeatureBlocks
        Blocks of a few features each.
    max_open_fraction : float
        Largest fraction of the blocks that is worth evaluating.

    Attributes
    ----------
    max_open : float
        Largest number of blocks that is worth evaluating.
    pause : int
        Number of coming searches that skip the grid.
    """

    def __init__(self, pieces, max_open_fraction):
        self.pieces, self.pause = pieces, 0
        self.max_open = max_open_fraction * sum(piece.has_threshold.size for piece in pieces)


class _FeatureBlocks:
    """Blocks of consecutive ranks, for a few features.

    Parameters
    ----------
    first_feature : int
        First feature.
    order, is_threshold : ndarray of shape (n_features, n_places)
        Parameters of `RankBlocks` for these features.
    n_samples : int
    block_length : int
        Number of samples in a block.
    dtype : numpy.float32 or numpy.float64

    Attributes
    ----------
    last_max_score : float
        Largest score between blocks in the previous search.
    has_threshold : ndarray of shape (n_features, n_blocks), dtype=bool
        True if a threshold lies in a block.
    additions : int
        Largest number of roundings of a weight in an edge or a bound.
    """

    def __init__(self, first_feature, order, is_threshold, n_samples, block_length, dtype):
        self.first_feature, self.last_max_score = first_feature, 0.0
        self._order, self._is_threshold, self._block_length = order, is_threshold, block_length
        n_places = order.shape[1]
        self._starts = np.arange(0, n_places, block_length)
        self._ends = np.append(self._starts[1:], n_places) - 1
        self.has_threshold = np.logical_or.reduceat(is_threshold, self._starts, axis=1)
        codes = bins_by_rank(order, n_samples, block_length, np.int32)
        n_features, n_blocks = self.has_threshold.shape
        self._sums = JointBinSums(codes, np.full(n_features, n_blocks))
        self._sums.set_dtype(dtype)
        # A weight is added up in its block, over the blocks, and in the evaluated block. A bound
        # includes the change bounds, and a few more operations.
        self.additions = 2 * self._sums.additions + block_length + len(self._starts) + 8

    def block_edges(self, weights_and_bounds, total):
        """Return the edges between blocks, and the change bounds of blocks.

        Parameters
        ----------
        weights_and_bounds : ndarray of shape (n_samples, n_columns + n_scores)
            Weights and change bounds.
        total : ndarray of shape (n_columns,)

        Returns
        -------
        edges : ndarray of shape (n_features, n_blocks + 1, n_columns)
            Edges before the first block and after each block.
        change_bounds : ndarray of shape (n_features, n_blocks, n_scores)
            Sum of the change bounds in each block.
        """
        sums = self._sums(weights_and_bounds).reshape(*self.has_threshold.shape, -1)
        n_columns = len(total)
        edges = np.empty((len(sums), len(self._starts) + 1, n_columns), weights_and_bounds.dtype)
        edges[:, 0] = total
        # A threshold that moves past a sample changes the edge by -2 times its weight: the edge
        # after a block is the edge before it plus the changes in the block.
        np.multiply(sums[..., :n_columns], -2.0, out=edges[:, 1:])
        for before, after in pairwise(edges.swapaxes(0, 1)):
            after += before
        return edges, sums[..., n_columns:]

    def place_mask(self, feature, place):
        """Return a mask of the given places of features; None if none is in this piece."""
        row = feature - self.first_feature
        is_in_piece = (row >= 0) & (row < len(self._order))
        if not is_in_piece.any():
            return None
        mask = np.zeros(self._order.shape, bool)
        mask[row[is_in_piece], place[is_in_piece]] = True
        return mask

    def ends_at_threshold(self, is_excluded):
        """Return a mask of the blocks that end at a threshold that is not excluded."""
        ends = self._is_threshold[:, self._ends]
        return ends if is_excluded is None else ends & ~is_excluded[:, self._ends]

    def evaluate_blocks(self, is_open, is_excluded, end_edges, W):
        """Return the edges of all thresholds in selected blocks.

        Parameters
        ----------
        is_open : ndarray of shape (n_features, n_blocks), dtype=bool
            Blocks to evaluate.
        is_excluded : ndarray of shape (n_features, n_places), dtype=bool, or None
            Places whose blocks are evaluated as well.
        end_edges : ndarray of shape (n_features, n_blocks + 1, n_columns)
            Edges between blocks, from `block_edges`.
        W : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        feature, place : ndarray of shape (n_thresholds,)
        edges : ndarray of shape (n_thresholds, n_columns)
        """
        if is_excluded is not None:
            is_open = is_open | np.logical_or.reduceat(is_excluded, self._starts, axis=1)
        feature, block = np.nonzero(is_open)
        place = self._starts[block][:, None] + np.arange(self._block_length)
        # Places past the end repeat the last place. It has no threshold, so that these edges are
        # dropped below.
        place = np.minimum(place, self._order.shape[1] - 1)
        edge_before_block = end_edges[feature, block]
        feature = np.broadcast_to(feature[:, None], place.shape)
        edges = W.take(self._order[feature, place], axis=0, mode="clip")
        # The edges in a block are prefix sums of the changes, from the edge before the block.
        edges *= -2.0
        edges[:, 0] += edge_before_block
        for previous, following in pairwise(edges.swapaxes(0, 1)):
            following += previous
        is_threshold = self._is_threshold[feature, place]
        return self.first_feature + feature[is_threshold], place[is_threshold], edges[is_threshold]


def _scores(edges, criterion):
    """Return the scores, of shape (..., n_scores), of edges of shape (..., n_columns)."""
    scores = criterion.scores(edges.copy().reshape(-1, edges.shape[-1]))
    return scores.reshape(*edges.shape[:-1], -1)


def _has_any_in_row(mask):
    """Return `mask.any(axis=-1)`, fast for short rows."""
    if mask.shape[-1] == 1:
        return mask[..., 0]
    result = np.zeros(mask.shape[:-1], bool)
    # NumPy reduces short rows slowly, and few elements are True.
    result.ravel()[np.flatnonzero(mask) // mask.shape[-1]] = True
    return result
