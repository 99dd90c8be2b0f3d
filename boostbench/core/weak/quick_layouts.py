"""Two of the layouts of `boostbench.core.weak.layouts`, made faster for one stump a round.

They stand apart because a change there would put the records of every algorithm with stumps out of
date. What they add up is the same, in another order.
"""

import numpy as np

from boostbench.core.weak.layouts import Histogram, Sorted

# A histogram with more blocks than that needs too large a matrix of all pairs of blocks.
_FEW_BLOCKS = 256

# Positions of a piece: few enough for their sums to stay in the cache, and worth the calls.
_PIECE = 40_000


def quicken(layout, n_samples):
    """Make the quick form of a layout.

    Parameters
    ----------
    layout : boostbench.core.weak.layouts.Dense, Histogram or Sorted
    n_samples : int

    Returns
    -------
    object
        With what a layout has. It may have other positions.
    """
    if isinstance(layout, Sorted):
        return SortedPieces(layout, n_samples)
    if isinstance(layout, Histogram) and layout._n_blocks <= _FEW_BLOCKS:
        return FewBins(layout)
    return layout


class FewBins(Histogram):
    """A histogram whose prefix sums are products with triangular matrices.

    Parameters
    ----------
    histogram : boostbench.core.weak.layouts.Histogram
        Of few bins.
    """

    def __init__(self, histogram):
        vars(self).update(vars(histogram))
        of_block = self.feature[: self._n_blocks]
        self._within = np.tri(len(self.feature) // self._n_blocks, dtype=np.float32)
        self._earlier = np.tri(self._n_blocks, k=-1, dtype=np.float32)
        self._earlier *= of_block[:, None] == of_block

    def edges(self, W):
        """Edges at all positions; as of the layouts."""
        sums = self._within @ self._bin_sums(W).reshape(len(self._within), -1)
        sums = sums.reshape(len(self._within), self._n_blocks, W.shape[1])
        # A product with ones sums the rows of W faster than np.sum does.
        total = np.ones(len(W), W.dtype) @ W
        sums += self._earlier @ sums[-1] - 0.5 * total
        return sums.reshape(-1, W.shape[1])


class SortedPieces:
    """Sorted features, a few at a time.

    The slow axis is the place in a block, then come block, feature and column. So the blocks of all
    features of a piece start from one product with a triangular matrix. Since that grows with the
    number of blocks, there are about as many of them as places in one.

    Parameters
    ----------
    layout : boostbench.core.weak.layouts.Sorted
    n_samples : int

    Attributes
    ----------
    position : ndarray of shape (n_positions,), dtype=int64
        Where in `layout` each position is; -1 for padding.
    """

    def __init__(self, layout, n_samples):
        ranked = _by_rank(layout, n_samples)
        self._length = 2 ** ((n_samples.bit_length() - 1) // 2)
        n_blocks = -(-n_samples // self._length)
        self._carry = (np.tri(n_blocks, k=-1) - 0.5).astype(np.float32)
        width = max(1, _PIECE // n_samples)
        pieces = []
        for some in np.split(ranked, range(width, ranked.shape[1], width), axis=1):
            padded = np.full((n_blocks * self._length, some.shape[1]), -1)
            padded[:n_samples] = some
            blocks = padded.reshape(n_blocks, self._length, -1)
            pieces.append(blocks.transpose(1, 0, 2).ravel())
        self.position = np.concatenate(pieces)
        self.feature = np.append(layout.feature, 0)[self.position]
        self.cut = np.append(layout.cut, -1)[self.position]
        self.without_cut = np.flatnonzero(self.cut < 0)
        # The padding gathers a row of zeros.
        rows = np.append(layout._rows, n_samples)
        self._rows = [rows[piece] for piece in pieces]

    def pieces(self, W):
        """Edges, a few features at a time.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns), dtype=float32
            -2 times the weights.

        Yields
        ------
        ndarray of shape (n_some, n_columns), dtype=float32
            Edges at the next positions.
        """
        padded = np.concatenate([W, np.zeros((1, W.shape[1]), W.dtype)])
        for rows in self._rows:
            sums = padded.take(rows, axis=0, mode="clip")
            blocks = sums.reshape(self._length, len(self._carry), -1)
            blocks[0] += self._carry @ blocks.sum(axis=0)
            for place in range(1, self._length):
                blocks[place] += blocks[place - 1]
            yield sums

    def edges(self, W):
        """Edges at all positions; as of the layouts."""
        edges = np.empty((len(self.position), W.shape[1]), W.dtype)
        start = 0
        for piece in self.pieces(W):
            edges[start : start + len(piece)] = piece
            start += len(piece)
        return edges


def _by_rank(layout, n_samples):
    """Give the position of each sample in each sorted feature; shape (n_samples, n_features)."""
    n_blocks = len(layout._carry)
    position = np.arange(len(layout.feature))
    by_place = position.reshape(-1, layout._n_blocks // n_blocks, n_blocks)
    return by_place.transpose(2, 0, 1).reshape(-1, by_place.shape[1])[:n_samples]
