"""Base class of the layouts of stumps, with bounds of their rounding errors.

A layout is an arrangement of the training data from which the edges of all stumps are computed for
any weights. A *position* is a row of its edges: a stump, or *padding* without a stump. The *stump
index* numbers the stumps by feature, then threshold. Layouts are made by
`boostbench.core.stumps.evaluation`.

Every layout computes sums in the precision of the weights. Its attribute `dtype` is the fastest
one: double precision if an addition to a bin takes the same time in both precisions, single
precision if the time is in proportion to the bytes.

**Rounding.** An edge is the total plus -2 times the sum of the weights below a threshold. Let u be
the unit roundoff, and T the sum of the absolute weights of a column. A summand with D roundings has
the relative error ``gamma(D) = D u / (1 - D u)`` at most, in any order of additions [1]_. The
absolute summands add up to T for the total, and to at most 2 T for the weights below the threshold.
With `additions` D of a weight and `total_additions` D' of the total, the error of an edge is at
most ``(2 gamma(D) + gamma(D')) T``. `error_bound` returns it as a fraction of T.

References
----------
.. [1] N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002,
   sections 3.1 and 4.2.
"""

from functools import cached_property

import numpy as np

# Largest relative error of rounding to the nearest number.
UNIT_ROUNDOFF = {np.float32: 2.0**-24, np.float64: 2.0**-53}


class Layout:
    """Arrangement of the training data from which the edges of all stumps are computed.

    Attributes
    ----------
    feature, stump_index : ndarray of shape (n_positions,), dtype=int64
        Feature at each position, and the index of its stump; -1 for padding.
    additions, total_additions : int
        Largest number of roundings of a weight below the threshold, and of the total, in an edge.
        Subclasses set `additions`.
    """

    dtype = np.float32

    @cached_property
    def total_additions(self):
        """Largest number of roundings of the total in an edge; equal to `additions` by default."""
        return self.additions

    @property
    def n_positions(self):
        """Number of positions."""
        return len(self.stump_index)

    def feature_and_stump_at(self, positions):
        """Return the feature and the stump index of each of the positions."""
        return self.feature[positions], self.stump_index[positions]

    def above(self, feature, stump_index):
        """Return a mask of the samples above a stump's threshold, or None if that requires X."""
        return None

    def layout_for_columns(self, n_columns):
        """Return the layout for a number of columns of weights; its positions are the same."""
        return self

    def screening_layout(self, n_columns):
        """Return the layout that finds the largest edges fastest for `n_columns` columns."""
        return self.layout_for_columns(n_columns)

    def class_sum_search(self, labels):
        """Return a search from sums of weights by class, or None if a search by edges is faster.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
            Class of each sample, from 0 to n_classes - 1.
        """
        return None

    def iter_edges(self, W, total):
        """Yield the edges of the stumps, a few features at a time.

        Parameters
        ----------
        W : ndarray of shape (n_samples, n_columns), dtype=float32 or float64
            Weights in C order.
        total : ndarray of shape (n_columns,), dtype=float64
            Sum of the weights of each column.

        Yields
        ------
        ndarray of shape (n_stumps, n_columns)
            Edges at the next positions, in the precision of W or in double precision; undefined for
            padding. The next piece may overwrite the array.
        """
        raise NotImplementedError

    def iter_candidates(self, W, total, tolerance, criterion):
        """Yield all edges that may be the largest; by default, all edges.

        Parameters
        ----------
        W, total
            Parameters of `iter_edges`.
        tolerance : float
            Edges within this distance of the largest one are yielded.
        criterion : MaxAbsEdge, AllColumnsCriterion or SumAbsEdge
            Criterion of the search; see `boostbench.core.stumps.screening`.

        Yields
        ------
        positions : slice or ndarray of int
            A part of all positions.
        edges : ndarray of shape (n_yielded_positions, n_columns)
        """
        return self.iter_edge_slices(W, total)

    def iter_edge_slices(self, W, total):
        """Yield slices of positions and their edges, for all stumps; as `iter_candidates`."""
        start = 0
        for edges in self.iter_edges(W, total):
            yield slice(start, start + len(edges)), edges
            start += len(edges)

    def error_bound(self, dtype, n_roundings=0):
        """Return a bound of the rounding error of an edge, relative to the sum of absolute weights.

        Parameters
        ----------
        dtype : numpy.float32 or numpy.float64
            Precision of the weights.
        n_roundings : int, default=0
            Number of roundings of later operations on the edges.

        Returns
        -------
        float
        """
        # Two more roundings: the conversion of the weights, and underflow of small numbers.
        weight_error, total_error = (
            (additions + n_roundings + 2) * UNIT_ROUNDOFF[dtype]
            for additions in (self.additions, self.total_additions)
        )
        if max(weight_error, total_error) >= 1:
            return np.inf
        return 2 * weight_error / (1 - weight_error) + total_error / (1 - total_error)
