r"""Mixed norms of a coefficient matrix, the penalties of GradBoost: sums of the norms of the rows.

Each row holds the coefficients of one weak learner, one per class. Such a penalty sets whole rows
to 0, so that the classes share few weak learners.
"""

from abc import ABC, abstractmethod

import numpy as np


class RowNorm(ABC):
    r"""Norm :math:`\|w\|` of the rows w of a matrix, with its proximal operator.

    The proximal operator :math:`prox(v)` with a weight is the minimiser of
    :math:`\frac12 \|w - v\|_2^2 + weight \|w\|`: v, moved towards 0.
    """

    @abstractmethod
    def row_values(self, W):
        """Return the norm of each row of W, an array of shape (n_rows,)."""

    @abstractmethod
    def ranking_score(self, G, weight):
        r"""Return one score per row g of G, which orders rows by the minimum of a quadratic.

        A larger score means that the minimum of
        :math:`\frac12 \|w\|_2^2 - g^\top w + weight \|w\|` over w is lower or equal. This minimum
        is :math:`-\frac12 \|w\|_2^2` at :math:`w = prox(g)`. The score is 1-Lipschitz in g:
        rounding errors of g change it by their length at most.

        Parameters
        ----------
        G : ndarray of shape (n_rows, n_columns)
            May be overwritten.
        weight : float
            Non-negative.

        Returns
        -------
        ndarray of shape (n_rows,)
            Nonnegative scores.
        """

    @abstractmethod
    def prox(self, V, weight):
        r"""Minimise :math:`\frac12 \|w - v\|_2^2 + weight \|w\|` for each row v.

        Parameters
        ----------
        V : ndarray of shape (n_rows, n_columns)
        weight : float
            Non-negative.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Minimisers; a row is 0 exactly if its dual norm is at most `weight`.
        """


class Euclidean(RowNorm):
    """Penalty l1/l2: rows are 0, or shrunk by a constant length.

    Examples
    --------
    >>> Euclidean().prox(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    def row_values(self, W):
        """Return the norm of each row; see `RowNorm.row_values`."""
        return np.sqrt((W * W).sum(axis=1))

    def ranking_score(self, G, weight):
        """Return the length of each row, which orders rows for any weight."""
        return row_norms(G)

    def prox(self, V, weight):
        """Return the proximal point of each row; see `RowNorm.prox`."""
        row_lengths = self.row_values(V)[:, None]
        remaining_length = np.maximum(row_lengths - weight, 0.0)
        return V * np.divide(
            remaining_length, row_lengths, out=np.zeros_like(row_lengths), where=row_lengths > 0
        )


class Maximum(RowNorm):
    """Penalty l1/linf: rows are 0, or have their largest entries clipped to one magnitude.

    Examples
    --------
    >>> Maximum().prox(np.array([[3.0, -2.5, 1.0], [0.5, 0.3, 0.1]]), 1.0)
    array([[ 2.25, -2.25,  1.  ],
           [ 0.  ,  0.  ,  0.  ]])
    """

    def row_values(self, W):
        """Return the norm of each row; see `RowNorm.row_values`."""
        return np.abs(W).max(axis=1)

    def ranking_score(self, G, weight):
        """Return the Euclidean length of the proximal point of each row."""
        return row_norms(self.prox(G, weight))

    def prox(self, V, weight):
        """Return the proximal point of each row; see `RowNorm.prox`."""
        # The dual norm of the maximum is the l1 norm: prox(v) is v minus its projection onto the l1
        # ball of radius `weight` (Moreau). This clips the entries of v at a level t, so that the
        # amounts that are clipped off add up to the weight. If the j largest entries are clipped,
        # their sum minus j t is the weight, so that t = (sum of the j largest - weight) / j. The
        # number of clipped entries is the j with the largest t. If t is negative, the row lies in
        # the ball, and becomes 0.
        descending = -np.sort(-np.abs(V), axis=1)
        surplus = np.cumsum(descending, axis=1) - weight
        n_clipped = np.arange(1, V.shape[1] + 1, dtype=V.dtype)
        clip_level = (surplus / n_clipped).max(axis=1, keepdims=True)
        return np.clip(V, -np.maximum(clip_level, 0.0), np.maximum(clip_level, 0.0))


def row_norms(G):
    """Return the Euclidean length of each row of G, which is overwritten."""
    # A product with ones sums short rows at the speed of BLAS, unlike np.sum over a short axis.
    return np.sqrt(np.square(G, out=G) @ np.ones(G.shape[1], G.dtype))


# Norm of each name that the parameter `norm` of `GradBoost` may have.
ROW_NORMS = {"l2": Euclidean, "linf": Maximum}
