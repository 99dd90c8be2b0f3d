r"""Mixed norms of a coefficient matrix: the sum of the norms of its rows.

Each row belongs to one hypothesis and has a coefficient for every class. Such a penalty sets whole
rows to 0, so that the classes share few hypotheses.
"""

from abc import ABC, abstractmethod

import numpy as np


class RowNorm(ABC):
    """A norm of the rows of a matrix."""

    @abstractmethod
    def value(self, W):
        """Evaluate the norm of each row of W."""

    @abstractmethod
    def max_decrease(self, G, weight):
        r"""Order rows g by how low :math:`\frac12 \|w\|_2^2 - g^\top w + weight \|w\|` gets.

        The lowest value is :math:`-\frac12 \|w\|_2^2` at :math:`w = prox(g)`.

        Parameters
        ----------
        G : ndarray of shape (n_rows, n_columns)
            Overwritten.
        weight : float
            Non-negative.

        Returns
        -------
        ndarray of shape (n_rows,)
            Not negative. Of two rows, the one whose value gets lower has the larger number. When
            rows are added to those of G, it changes by their lengths at most.
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
            A row is 0 exactly where its dual norm is at most `weight`.
        """


class Euclidean(RowNorm):
    """The penalty l1/l2: its rows are 0, or shrunk by one length.

    Examples
    --------
    >>> Euclidean().prox(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    def value(self, W):
        """As `RowNorm.value`."""
        return np.sqrt((W * W).sum(axis=1))

    def max_decrease(self, G, weight):
        """As `RowNorm.max_decrease`: the length of g, whatever the weight."""
        return row_norms(G)

    def prox(self, V, weight):
        """As `RowNorm.prox`."""
        length = self.value(V)[:, None]
        left = np.maximum(length - weight, 0.0)
        return V * np.divide(left, length, out=np.zeros_like(length), where=length > 0)


class Maximum(RowNorm):
    """The penalty l1/linf: its rows are 0, or have their largest entries cut off at one size.

    Examples
    --------
    >>> Maximum().prox(np.array([[3.0, -2.5, 1.0], [0.5, 0.3, 0.1]]), 1.0)
    array([[ 2.25, -2.25,  1.  ],
           [ 0.  ,  0.  ,  0.  ]])
    """

    def value(self, W):
        """As `RowNorm.value`."""
        return np.abs(W).max(axis=1)

    def max_decrease(self, G, weight):
        """As `RowNorm.max_decrease`: the length of ``prox(g)``."""
        return row_norms(self.prox(G, weight))

    def prox(self, V, weight):
        """As `RowNorm.prox`."""
        # By Moreau's decomposition, v less its projection onto the l1 ball of radius `weight`. What
        # is cut off the j largest entries adds up to the weight for one j, and to no more for the
        # others.
        descending = -np.sort(-np.abs(V), axis=1)
        surplus = np.cumsum(descending, axis=1) - weight
        number = np.arange(1, V.shape[1] + 1, dtype=V.dtype)
        size = (surplus / number).max(axis=1, keepdims=True)
        return np.clip(V, -np.maximum(size, 0.0), np.maximum(size, 0.0))


def row_norms(G):
    """Give the lengths of the rows of G, which is overwritten."""
    # A product with ones sums short rows at BLAS speed; np.sum over a short axis does not.
    return np.sqrt(np.square(G, out=G) @ np.ones(G.shape[1], G.dtype))


ROW_NORMS = {"l2": Euclidean, "linf": Maximum}
