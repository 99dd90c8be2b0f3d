"""The constant weak learner, beside any search of stumps."""

import numpy as np

from boostbench.core.weak.base import Found
from boostbench.core.weak.nearly_best import sums_of_sizes
from boostbench.core.weak.stump import Stump
from boostbench.core.weak.ties import EQUAL, first_largest


class WithConstant:
    """A search of stumps, and the constant one beside them.

    A sum of stumps that are -1 or +1 has no offset of its own: the constant stump is what moves it.

    Parameters
    ----------
    search : StumpSearch

    Examples
    --------
    >>> from boostbench.core.weak.stumps import StumpSearch
    >>> search = WithConstant(StumpSearch(np.array([[0.0], [1.0], [2.0]])))
    >>> search.best(np.array([[1.0], [-0.5], [1.0]])).learner
    Stump(feature=0, threshold=inf, polarity=-1)
    """

    def __init__(self, search):
        self.X = search.X
        self._search = search

    def best(self, G):
        """Stump and column of the largest absolute edge; as `StumpSearch.best`, but never None."""
        found = self._search.best(G)
        totals = G.sum(axis=0)
        scale = float(sums_of_sizes(G).max())
        column = int(first_largest(np.abs(totals), scale))
        edge = abs(float(totals[column]))
        if found is not None and found.edge >= edge - EQUAL * scale:
            return found
        sign = 1 if totals[column] >= 0 else -1
        return Found(Stump(0, np.inf, -sign), np.full(len(G), float(sign)), edge, column)
