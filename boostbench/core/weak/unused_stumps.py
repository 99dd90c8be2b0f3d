"""A search of stumps that can leave some out."""

import numpy as np

from boostbench.core.weak.stump import Stump
from boostbench.core.weak.stumps import StumpSearch


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

    def leave_out(self, stump):
        """Find a stump of this search no more."""
        # From now on it is padding, at every position that it has.
        alike = np.flatnonzero(self.threshold == stump.threshold)
        self.is_padding[alike[self.feature[alike] == stump.feature]] = True

    def _layout_of_largest(self, n_columns):
        # The largest edge of all may be that of a used one.
        return self._layout.of(n_columns)
