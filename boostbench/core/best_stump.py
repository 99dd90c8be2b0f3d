"""The search for the one best stump, made faster: what a round of MCBoost spends most time on.

Edges are those of `boostbench.core.stumps`, up to the rounding of sums in single precision. It
stands apart because a change there would put the records of every algorithm with stumps out of
date.
"""

import numpy as np

from boostbench.core.layouts import Histogram
from boostbench.core.stumps import StumpSearch

# With more blocks than that, a product with a matrix of all pairs of blocks costs more than a
# running sum.
_FEW_BLOCKS = 256


class BestStumpSearch(StumpSearch):
    """As `StumpSearch`, with a faster `best`.

    Parameters
    ----------
    X, max_bins
        As of `StumpSearch`.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> G = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> BestStumpSearch(X).best(G)
    (Stump(feature=0, threshold=1.5, polarity=1), 0, 4.0)
    """

    def __init__(self, X, max_bins=None):
        super().__init__(X, max_bins)
        self._is_cut = np.ones(self.n_positions, bool)
        self._is_cut[self._layout.without_cut] = False
        if isinstance(self._layout, Histogram) and self._layout._n_blocks <= _FEW_BLOCKS:
            self._layout = _FewBins(self._layout)

    def best(self, G):
        """Stump and column of the largest absolute edge; as `StumpSearch.best`."""
        edges = self._all_edges(G)
        position, column, edge = _largest(edges)
        if not self._is_cut[position]:
            # Rarely is the sum up to a sample that no threshold follows the largest.
            edges[self._layout.without_cut] = 0.0
            position, column, edge = _largest(edges)
        stump = self.stump(position, 1 if edge >= 0 else -1)
        return stump, column, float(G[:, column] @ stump(self.X))


def _largest(edges):
    """Row, column and value of the entry of the largest magnitude."""
    flat = edges.ravel()
    high, low = flat.argmax(), flat.argmin()
    at = high if flat[high] >= -flat[low] else low
    return *divmod(int(at), edges.shape[1]), flat[at]


class _FewBins(Histogram):
    """A histogram whose prefix sums are products with triangular matrices.

    Parameters
    ----------
    histogram : boostbench.core.layouts.Histogram
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
