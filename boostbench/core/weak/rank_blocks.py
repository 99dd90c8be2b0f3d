r"""The largest edges of all thresholds at the price of a few blocks, exactly, for several columns.

Samples are in blocks by their rank in each feature. While a threshold goes through a block, every
sample that it passes changes the edges by twice its weights, and so their size by twice its mass at
most (see `boostbench.core.weak.nearly_best`). With a and b the sizes where the block begins and
ends, and M the sum of the masses in it, no size inside is larger than

.. math:: \frac{a + b}{2} + M.

Only those blocks are looked at in which this reaches the largest size known, which is first that of
the thresholds between blocks. Where they are many, smaller blocks follow, and then the sums of all
thresholds: for which weights and data it pays cannot be told before. For one column there is a
faster way, by sums of two signs (see `boostbench.core.weak.rank_bins`).
"""

from itertools import pairwise

import numpy as np
from scipy import sparse

from boostbench.core.weak.layout import Layout

# Of a feature: how many, and which part of them it pays to look at. What has few is tried first.
_GRIDS = (32, 1 / 16), (128, 1 / 8)

# What did not pay is tried again after so many times.
_PAUSE = 16

# Of a block. Few thresholds are hardly more work than a block; many numbers that are added up one
# after the other make rounding large.
_SAMPLES = 15, 256

# With fewer weights to add up, all sums take no longer.
_MANY_SUMS = 2**22

# Of so many samples, weights leave the cache, but sums of blocks do not. Too many edges would be
# near to the largest in single precision.
_MANY_SAMPLES = 2**14

# Sums of so many blocks, features and columns stay in the cache.
_PIECE = 2**18


class RankBlocks(Layout):
    """A search for the largest edges.

    Parameters
    ----------
    everywhere : boostbench.core.weak.layouts.Sorted
        What has all edges, at the same positions.
    order : ndarray of shape (n_features, n_places), dtype=int32
        The samples of each feature, ascending, then `n_samples`.
    is_cut : ndarray of shape (n_features, n_places), dtype=bool
        Whether a threshold is between a sample and the next.
    n_samples : int

    Attributes
    ----------
    additions
        As of `boostbench.core.weak.layouts.Dense`.
    """

    def __init__(self, everywhere, order, is_cut, n_samples):
        self._everywhere = everywhere
        self._order, self._is_cut = order, is_cut
        self.dtype = np.float64 if n_samples >= _MANY_SAMPLES else np.float32
        # Samples of a block, and the part that it pays to look at.
        self._grids = [
            (min(-(-n_samples // number), _SAMPLES[1]), most)
            for number, most in _GRIDS
            if n_samples >= number * _SAMPLES[0]
        ]
        self._pauses = [0] * len(self._grids)
        self._known_pieces = {}
        # In a block, over the blocks, and in the block that is looked at. A bound has the masses,
        # which are added up in a block, and a few operations.
        additions = [2 * length + order.shape[1] // length + 9 for length, _ in self._grids]
        self.additions = max(*additions, everywhere.additions)

    @staticmethod
    def suits(n_samples, n_sums):
        """Return whether there is enough to add up: a weight for each feature and column."""
        return n_samples >= _GRIDS[0][0] * _SAMPLES[0] and n_sums >= _MANY_SUMS

    def pauses(self):
        """Tell whether this time all sums are faster, as it seems by the times before."""
        if not all(self._pauses):
            return False
        self._pauses = [pause - 1 for pause in self._pauses]
        return True

    def largest(self, W, total, slack, criterion):
        """Find all that may be the largest; as `boostbench.core.weak.layout.Layout.largest`."""
        masses = criterion.masses(W)
        # The padding takes a row of zeros.
        added = np.zeros((len(W) + 1, W.shape[1] + masses.shape[1]), W.dtype)
        np.multiply(W, -2.0, out=added[:-1, : W.shape[1]])
        added[:-1, W.shape[1] :] = masses
        for level, (length, most) in enumerate(self._grids):
            if self._pauses[level]:
                self._pauses[level] -= 1
                continue
            pieces = self._pieces(length, W.dtype.type, added.shape[1])
            if (yield from self._by_bounds(pieces, most, W, added, total, slack, criterion)):
                return
            self._pauses[level] = _PAUSE
        yield from self._everywhere.largest(W, total, slack, criterion)

    def _by_bounds(self, pieces, most, W, added, total, slack, criterion):
        """Yield as `largest`; tell whether it is all: no more than that part was looked at."""
        beside = self._everywhere.place(criterion.beside)
        most *= sum(piece.has_cut.size for piece in pieces)
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

    def _pieces(self, length, dtype, n_columns):
        """Cut the features into pieces for blocks of a length and so many columns."""
        n_features, n_places = self._order.shape
        width = max(1, _PIECE * length // (n_places * n_columns))
        if (length, dtype, width) not in self._known_pieces:
            self._known_pieces[length, dtype, width] = [
                _Piece(first, self._order[some], self._is_cut[some], length, dtype)
                for first in range(0, n_features, width)
                for some in [slice(first, first + width)]
            ]
        return self._known_pieces[length, dtype, width]


class _Piece:
    """Some features, each cut into blocks.

    Parameters
    ----------
    first : int
        The first feature.
    order, is_cut : ndarray of shape (n_some, n_places)
        As of `RankBlocks`.
    length : int
        Samples of a block.
    dtype : numpy.float32 or numpy.float64

    Attributes
    ----------
    top : float
        The largest size between blocks, the last time.
    has_cut : ndarray of shape (n_some, n_blocks), dtype=bool
        Whether there is a threshold in a block.
    """

    def __init__(self, first, order, is_cut, length, dtype):
        self.first, self.top = first, 0.0
        self._order, self._is_cut, self._length = order, is_cut, length
        n_some, n_places = order.shape
        self._starts = np.arange(0, n_places, length)
        self._ends = np.append(self._starts[1:], n_places) - 1
        self.has_cut = np.logical_or.reduceat(is_cut, self._starts, axis=1)
        ends = np.append(np.arange(n_some)[:, None] * n_places + self._starts, order.size)
        ones = np.ones(order.size, dtype)
        shape = len(ends) - 1, int(order.max()) + 1
        sums = sparse.csr_array((ones, order.ravel(), ends), shape=shape)
        self._sums = sums.tocsc() if shape[1] > _MANY_SAMPLES else sums

    def at_ends(self, added, total):
        """Add up.

        Parameters
        ----------
        added : ndarray of shape (n_samples + 1, n_columns + width)
            What a sample below a threshold adds to its edges, and the masses.
        total : ndarray of shape (n_columns,)

        Returns
        -------
        edges : ndarray of shape (n_some, n_blocks + 1, n_columns)
            At the end of each block. The first is before the samples.
        masses : ndarray of shape (n_some, n_blocks, width)
            Of each block.
        """
        sums = self._sums @ added[: self._sums.shape[1]]
        sums = sums.reshape(*self.has_cut.shape, -1)
        n_columns = len(total)
        edges = np.empty((len(sums), len(self._starts) + 1, n_columns), added.dtype)
        edges[:, 0] = total
        edges[:, 1:] = sums[..., :n_columns]
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
