"""A search of stumps that can leave some out."""

import numpy as np

from boostbench.core.weak.base import Found, largest_entry
from boostbench.core.weak.stumps import Stump, StumpSearch


class UnusedStumps(StumpSearch):
    """All stumps of a training set but those that are left out.

    Where all coefficients are found anew in every round, a stump in use has an edge of the size of
    its coefficient, not 0. It would be found again, though it has nothing to add.

    Parameters
    ----------
    X, max_bins, sample_weight
        As of `StumpSearch`.

    Examples
    --------
    >>> X, G = np.array([[0.0], [1.0], [2.0]]), np.array([[-1.0], [1.0], [1.0]])
    >>> search = UnusedStumps(X)
    >>> search.leave_out(search.best(G).learner)
    >>> search.best(G).learner
    Stump(feature=0, threshold=1.5, polarity=1)
    >>> search.leave_out(search.best(G).learner)
    >>> search.best(G) is None
    True
    """

    learners = Stump

    def best(self, G):
        """Stump and column of the largest absolute edge; as `StumpSearch.best`.

        It is None where all stumps are left out.
        """
        at = self._largest(G, _largest_size)
        if at is None or self.is_padding[at[0]]:
            return None
        position, column = at
        stump = self.stump(position)
        outputs = stump(self.X)
        edge = float(G[:, column] @ outputs)
        if edge < 0:
            stump, outputs, edge = stump._replace(polarity=-1), -outputs, -edge
        return Found(stump, outputs, edge, column)

    def leave_out(self, stump):
        """Find a stump of this search no more."""
        # From now on it is padding, at every position that it has.
        alike = np.flatnonzero(self.threshold == stump.threshold)
        self.is_padding[alike[self.feature[alike] == stump.feature]] = True
        self._padding = np.flatnonzero(self.is_padding)


def _largest_size(edges):
    row, column, edge = largest_entry(edges)
    return row, column, abs(edge)
