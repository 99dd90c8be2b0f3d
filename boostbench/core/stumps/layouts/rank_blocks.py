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
from boostbench.core.stumps.layouts.joint_bin_sums import JointSums
from boostbench.core.stumps.layouts.rank_bins import codes_by_rank

# Of a feature: how many, and which part of them it pays to look at. What has few is tried first.
_GRIDS = (32, 1 / 16), (128, 1 / 8)

# What did not pay is tried again after so many times.
_PAUSE = 16

# Of a block. A few thresholds are hardly more work than a block.
_FEWEST_SAMPLES = 15

# With fewer weights to add up, all sums take no longer.
_MANY_SUMS = 2**22

# Of so many samples too many edges are near to the largest in single precision.
_MANY_SAMPLES = 2**13

# So many blocks of some features are bounded at a time.
_PIECE = 2**13


class RankBlocks(Layout):
    """A search for the largest edges.

    Parameters
    ----------
    everywhere : boostbench.core.stumps.layouts.sorted.Sorted
        What has all edges, at the same positions.
    order : ndarray of shape (n_features, n_places), dtype=int32
        The samples of each feature, ascending, then `n_samples`.
    is_cut : ndarray of shape (n_features, n_places), dtype=bool
        Whether a threshold is between a sample and the next.
    n_samples : int
    """

    def __init__(self, everywhere, order, is_cut, n_samples):
        self._everywhere = everywhere
        self._order, self._is_cut, self._n_samples = order, is_cut, n_samples
        self.dtype = np.float64 if n_samples >= _MANY_SAMPLES else np.float32
        self._grids = [grid for grid in _GRIDS if n_samples >= grid[0] * _FEWEST_SAMPLES]
        self._pauses = [0]
        self._pieces = [self._cut_up(self._grids[0][0])]

    @property
    def additions(self):
        """Roundings on the way of a weight into an edge or a bound, at most; as of `Dense`."""
        own = [piece.additions for pieces in self._pieces for piece in pieces]
        return max(*own, self._everywhere.additions)

    @property
    def of_total(self):
        """Roundings on the way of the total into an edge, at most."""
        return self.additions

    @staticmethod
    def suits(n_samples, n_sums):
        """Return whether there is enough to add up: a weight for each feature and column."""
        return n_samples >= _GRIDS[0][0] * _FEWEST_SAMPLES and n_sums >= _MANY_SUMS

    def pauses(self):
        """Tell whether this time all sums are faster, as it seems by the times before."""
        if not all(self._pauses):
            return False
        self._pauses = [pause - 1 for pause in self._pauses]
        return True

    def largest(self, W, total, slack, criterion):
        """Find all that may be the largest; see `Layout.largest`."""
        added = np.hstack([W, criterion.masses(W)])
        for level, pieces in enumerate(self._pieces):
            if self._pauses[level]:
                self._pauses[level] -= 1
                continue
            most = self._grids[level][1] * sum(piece.has_cut.size for piece in pieces)
            if (yield from self._by_bounds(pieces, most, W, added, total, slack, criterion)):
                return
            self._pauses[level] = _PAUSE
        if len(self._pieces) < len(self._grids):
            # From the next time on, as the slack does not count its roundings yet.
            self._pieces.append(self._cut_up(self._grids[len(self._pieces)][0]))
            self._pauses.append(0)
        yield from self._everywhere.sliced(W, total)

    def _by_bounds(self, pieces, most, W, added, total, slack, criterion):
        """Yield as `largest`; tell whether it is all: no more blocks than that were left."""
        beside = self._everywhere.place(criterion.beside)
        reached = -np.inf
        # What was large the last time is large again, as a rule.
        for piece in sorted(pieces, key=lambda piece: -piece.top):
            edges, masses = piece.at_ends(added, total)
            sizes = _sizes(edges, criterion)
            bound = sizes[:, :-1] + sizes[:, 1:]
            bound *= 0.5
            bound += masses
            is_known = piece.mark(*beside)
            sizes = sizes[:, 1:]
            sizes[~piece.is_end(is_known)] = -np.inf
            piece.top = sizes.max()
            reached = max(reached, piece.top)
            is_left = _any(bound >= reached - slack) & piece.has_cut
            most -= np.count_nonzero(is_left)
            if most < 0:
                return False
            if is_known is None and not is_left.any():
                continue
            feature, place, edges = piece.looked_at(is_left, is_known, edges, W)
            is_near = _any(_sizes(edges, criterion) >= reached - slack)
            if is_known is not None:
                is_near |= is_known[feature - piece.first, place]
            if is_near.any():
                yield self._everywhere.position(feature[is_near], place[is_near]), edges[is_near]
        return True

    def _cut_up(self, number):
        """Cut the features into pieces, and each of them into so many blocks."""
        length = -(-self._n_samples // number)
        width = max(1, _PIECE // number)
        return [
            _Piece(
                first, self._order[some], self._is_cut[some], self._n_samples, length, self.dtype
            )
            for first in range(0, len(self._order), width)
            for some in [slice(first, first + width)]
        ]


class _Piece:
    """Some features, each cut into blocks.

    Parameters
    ----------
    first : int
        The first feature.
    order, is_cut : ndarray of shape (n_some, n_places)
        As of `RankBlocks`.
    n_samples : int
    length : int
        Samples of a block.
    dtype : numpy.float32 or numpy.float64

    Attributes
    ----------
    top : float
        The largest size between blocks, the last time.
    has_cut : ndarray of shape (n_some, n_blocks), dtype=bool
        Whether there is a threshold in a block.
    additions : int
        Roundings on the way of a weight into an edge or a bound, at most.
    """

    def __init__(self, first, order, is_cut, n_samples, length, dtype):
        self.first, self.top = first, 0.0
        self._order, self._is_cut, self._length = order, is_cut, length
        n_places = order.shape[1]
        self._starts = np.arange(0, n_places, length)
        self._ends = np.append(self._starts[1:], n_places) - 1
        self.has_cut = np.logical_or.reduceat(is_cut, self._starts, axis=1)
        codes = codes_by_rank(order, n_samples, length, np.int32)
        rows = np.arange(self.has_cut.size).reshape(self.has_cut.shape)
        self._sums = JointSums(codes, rows, rows.size)
        self._sums.convert(dtype)
        # In a block, over the blocks, and in the block that is looked at. A bound has the masses,
        # and a few operations.
        self.additions = 2 * self._sums.additions + length + len(self._starts) + 8

    def at_ends(self, added, total):
        """Add up.

        Parameters
        ----------
        added : ndarray of shape (n_samples, n_columns + width)
            The weights and the masses.
        total : ndarray of shape (n_columns,)

        Returns
        -------
        edges : ndarray of shape (n_some, n_blocks + 1, n_columns)
            At the end of each block. The first is before the samples.
        masses : ndarray of shape (n_some, n_blocks, width)
            Of each block.
        """
        sums = self._sums(added).reshape(*self.has_cut.shape, -1)
        n_columns = len(total)
        edges = np.empty((len(sums), len(self._starts) + 1, n_columns), added.dtype)
        edges[:, 0] = total
        np.multiply(sums[..., :n_columns], -2.0, out=edges[:, 1:])
        for before, after in pairwise(edges.swapaxes(0, 1)):
            after += before
        return edges, sums[..., n_columns:]

    def mark(self, feature, place):
        """Tell which of all places are some places of some features; None for none of all."""
        here = (feature >= self.first) & (feature < self.first + len(self._order))
        if not here.any():
            return None
        are = np.zeros(self._order.shape, bool)
        are[feature[here] - self.first, place[here]] = True
        return are

    def is_end(self, is_known):
        """Tell at the end of which blocks there is a threshold that counts."""
        ends = self._is_cut[:, self._ends]
        return ends if is_known is None else ends & ~is_known[:, self._ends]

    def looked_at(self, is_left, is_known, edges, W):
        """Add up for all thresholds of some blocks.

        Parameters
        ----------
        is_left : ndarray of shape (n_some, n_blocks), dtype=bool
            Which blocks.
        is_known : ndarray of shape (n_some, n_places), dtype=bool, or None
            Blocks of these places as well.
        edges
            As of `at_ends`.
        W : ndarray of shape (n_samples, n_columns)

        Returns
        -------
        feature, place : ndarray of shape (n_thresholds,)
        edges : ndarray of shape (n_thresholds, n_columns)
        """
        if is_known is not None:
            is_left = is_left | np.logical_or.reduceat(is_known, self._starts, axis=1)
        feature, block = np.nonzero(is_left)
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
        is_cut = self._is_cut[feature, place]
        return self.first + feature[is_cut], place[is_cut], edges[is_cut]


def _sizes(edges, criterion):
    """Give the sizes for edges of shape (..., n_columns): (..., width)."""
    sizes = criterion.sizes(edges.copy().reshape(-1, edges.shape[-1]))
    return sizes.reshape(*edges.shape[:-1], -1)


def _any(are):
    """Tell where one of the last axis is."""
    if are.shape[-1] == 1:
        return are[..., 0]
    found = np.zeros(are.shape[:-1], bool)
    # Many short rows take long, few places do not.
    found.ravel()[np.flatnonzero(are) // are.shape[-1]] = True
    return found
