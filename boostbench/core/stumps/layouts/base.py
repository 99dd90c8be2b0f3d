"""What the layouts of stumps have in common: in what precision, and how exactly they add up.

Every layout adds up in the precision that the weights come in. Its attribute `dtype` is the one
that pays: double precision where adding a number to a bin takes as long in both, single precision
where half of the bytes are half of the time.

**Rounding.** An edge is the sum of the total and of the weights below a threshold, times -2. Let u
be the unit roundoff, and T the sum of the sizes of the weights of a column. In whatever order
numbers are added, one that goes through D roundings on its way into an edge comes out multiplied
with D factors between 1 - u and 1 + u [1]_, so that it is off by no more than ``gamma(D) = D u / (1
- D u)`` of it. The sizes of what is added up are T once, in the total, and 2 T at most below the
threshold. With D for the latter, `additions`, and D' for the former, `total_additions`, an edge is
off by no more than ``(2 gamma(D) + gamma(D')) T``, which `error_bound` gives as a part of T.

References
----------
.. [1] N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002,
   sections 3.1 and 4.2.
"""

from functools import cached_property

import numpy as np

# Of rounding to the nearest number, relative to it.
UNIT_ROUNDOFF = {np.float32: 2.0**-24, np.float64: 2.0**-53}


class Layout:
    """What the layouts have in common."""

    dtype = np.float32

    @cached_property
    def total_additions(self):
        """Roundings on the way of the total into an edge, at most; as of a weight unless set."""
        return self.additions

    @property
    def n_positions(self):
        """Number of positions."""
        return len(self.stump_index)

    def stumps_at(self, positions):
        """Return the features and the numbers of the thresholds at some positions."""
        return self.feature[positions], self.stump_index[positions]

    def above(self, feature, stump_index):
        """Tell which samples are above a threshold, or None: where it takes all of X to know."""
        return None

    def for_n_columns(self, n_columns):
        """Return the layout for so many columns of weights: one with the same positions."""
        return self

    def screening_layout(self, n_columns):
        """Return what finds the largest edges for so many columns; as `of`."""
        return self.for_n_columns(n_columns)

    def class_sums(self, labels):
        """Return a search of thresholds by class, or None if edges are faster.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
            0 to n_classes - 1.
        """
        return None

    def candidates(self, W, total, tolerance, criterion):
        """Find all edges that may be the largest; here all.

        Parameters
        ----------
        W, total
            As of `boostbench.core.stumps.layouts.dense.Dense.pieces`.
        tolerance : float
            So much less than the largest is enough.
        criterion : Entries or Rows
            What the largest is, see `boostbench.core.stumps.screening`.

        Yields
        ------
        some : slice or ndarray of int
            Positions.
        edges : ndarray of shape (n_some, n_columns)
        """
        return self.iter_slices(W, total)

    def iter_slices(self, W, total):
        """Yield all edges, each piece with the slice of its positions; as `largest`."""
        start = 0
        for edges in self.pieces(W, total):
            yield slice(start, start + len(edges)), edges
            start += len(edges)

    def error_bound(self, dtype, n_roundings=0):
        """By how much an edge may be off, as a part of the sum of the sizes of its weights.

        Parameters
        ----------
        dtype : numpy.float32 or numpy.float64
            What the weights come in.
        n_roundings : int, default=0
            Roundings of what is done with the edges after that.

        Returns
        -------
        float
        """
        # One is the conversion of the weights, and one for numbers too small for their precision.
        below, once = (
            (additions + n_roundings + 2) * UNIT_ROUNDOFF[dtype]
            for additions in (self.additions, self.total_additions)
        )
        if max(below, once) >= 1:
            return np.inf
        return 2 * below / (1 - below) + once / (1 - once)
