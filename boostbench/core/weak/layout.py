"""What the layouts of stumps have in common: in what precision, and how exactly they add up.

Every layout adds up in the precision that the weights come in. Its attribute `dtype` is the one
that pays: double precision where adding a number to a bin takes as long in both, single precision
where half of the bytes are half of the time.

**Rounding.** An edge is the sum of the total and of the weights below a threshold, times -2.
Let D be `additions`, the most roundings that a number goes through on its way into an edge, u the
unit roundoff, and T the sum of the sizes of the weights of a column. In whatever order numbers are
added, each then comes out multiplied with D factors between 1 - u and 1 + u at most [1]_. Their
sizes add up to 3 T at most: once in the total and twice below the threshold; or, where a layout
subtracts half of all from each, thrice in the block of the threshold and once elsewhere. So an edge
is off by no more than ``3 gamma T`` with ``gamma = D u / (1 - D u)``, which `rounding` gives as a
part of T.

References
----------
.. [1] N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002,
   sections 3.1 and 4.2.
"""

import numpy as np

# Of rounding to the nearest number, relative to it.
UNIT_ROUNDOFF = {np.float32: 2.0**-24, np.float64: 2.0**-53}


class Layout:
    """What the layouts have in common."""

    dtype = np.float32

    # Of each feature, how many of its thresholds the samples are above, where that is known.
    codes = None

    @property
    def n_positions(self):
        """Number of positions."""
        return len(self.cut)

    def stumps_at(self, positions):
        """Return the features and the numbers of the thresholds at some positions."""
        return self.feature[positions], self.cut[positions]

    def of(self, n_columns):
        """Return the layout for so many columns of weights: one with the same positions.

        Parameters
        ----------
        n_columns : int

        Returns
        -------
        Layout
        """
        return self

    def of_largest(self, n_columns):
        """Return what finds the largest edges for so many columns; as `of`."""
        return self.of(n_columns)

    def largest(self, W, total, slack):
        """Find all edges that may be the largest; here all.

        Parameters
        ----------
        W, total
            As of `boostbench.core.weak.layouts.Dense.pieces`.
        slack : float
            So much less than the largest is enough.

        Yields
        ------
        some : slice or ndarray of int
            Positions.
        edges : ndarray of shape (n_some, n_columns)
        """
        start = 0
        for edges in self.pieces(W, total):
            yield slice(start, start + len(edges)), edges
            start += len(edges)

    def rounding(self, dtype, more=0):
        """By how much an edge may be off, as a part of the sum of the sizes of its weights.

        Parameters
        ----------
        dtype : numpy.float32 or numpy.float64
            What the weights come in.
        more : int, default=0
            Roundings of what is done with the edges after that.

        Returns
        -------
        float
        """
        # One is the conversion of the weights, and one for numbers too small for their precision.
        part = (self.additions + more + 2) * UNIT_ROUNDOFF[dtype]
        return 3 * part / (1 - part) if part < 1 else np.inf
