"""Edges of all stumps by one histogram of the codes of all features."""

from functools import cached_property

import numpy as np

from boostbench.core.weak.histograms import JointSums
from boostbench.core.weak.layout import UNIT_ROUNDOFF, Layout

# After more additions in single precision too many stumps are within rounding of the best one.
_FEW_ADDITIONS = 512


class JointHistogram(Layout):
    """A layout in which every position is a stump of a table of codes.

    Parameters
    ----------
    table : boostbench.core.weak.feature_codes.FeatureCodes

    Attributes
    ----------
    additions, of_total : int
        Roundings, in the precision of the weights, on the way of a weight and of the total into an
        edge.
    """

    # The total, and the edges, are in double precision.
    of_total = 2

    def __init__(self, table):
        self.table = table

    @property
    def n_positions(self):
        """Number of positions."""
        return len(self.table.view)

    @cached_property
    def feature(self):
        """View at each position."""
        return self.table.view

    @cached_property
    def cut(self):
        """Stump at each position."""
        return np.arange(self.n_positions)

    @cached_property
    def _sums(self):
        first, width = self.table.first_bin[:-1, None], int(self.table.n_bins.max())
        rows = first + np.arange(width)
        sums = JointSums(self.table.codes, rows, self.table.n_joint_bins + 1, factor=1.0)
        is_single = sums.additions + self.of_total <= _FEW_ADDITIONS
        sums.convert(np.float32 if is_single else np.float64)
        return sums

    @property
    def additions(self):
        """Roundings on the way of a weight into an edge, in the precision of the weights."""
        return self._sums.additions + self.of_total

    @property
    def dtype(self):
        """Precision in which the search is fastest."""
        return self._sums.dtype

    def rounding(self, dtype, more=0):
        """Return a bound of the rounding error; see `boostbench.core.weak.layout.Layout`."""
        # Prefix sums are in double precision and never exceed the sum of the sizes.
        return (
            super().rounding(dtype, more) + 4 * self.table.n_joint_bins * UNIT_ROUNDOFF[np.float64]
        )

    def above(self, feature, cut):
        """Return where a stump is +1: (n_samples,), dtype=bool."""
        return self.table.above(cut)

    def bin_sums(self, W):
        """Return the sums of the weights in each joint bin: (n_joint_bins, n_columns)."""
        return self._sums(W)

    def pieces(self, W, total):
        """Yield all edges at once; see `boostbench.core.weak.layouts.Dense.pieces`."""
        yield self.table.edges(self._sums(W), total)
