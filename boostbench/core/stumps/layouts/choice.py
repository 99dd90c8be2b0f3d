"""Choice of the layout of a training set.

A layout assigns a position to each stump. Its attributes `feature` and `stump_index` are the
feature at each position, and the index of the stump in the canonical order; ``stump_index`` is -1
for padding. ``pieces(W, total)`` yields the edges of the stumps, a few features at a time if that
keeps the sums in the cache. The number of distinct values determines the fastest layout:

==================  ======================================  =================================
layout              work per round                          for
==================  ======================================  =================================
``JointHistogram``  a sparse product, then cumulative sums  few distinct values, many samples
``Sorted``          rows of W in order, then prefix sums    values that are mostly distinct
==================  ======================================  =================================
"""

import numpy as np

from boostbench.core.stumps import thresholds as quantiles
from boostbench.core.stumps.feature_codes import FeatureCodes
from boostbench.core.stumps.layouts.joint_histogram import JointHistogram
from boostbench.core.stumps.layouts.sorted import Sorted
from boostbench.core.stumps.thresholds import iter_columns

# From this many thresholds per value, `Sorted` is faster than histograms: gathering a row takes
# half the time of adding it to a bin, but every sample takes a position.
_SORTED_THRESHOLDS_PER_VALUE = 0.4

# Number of samples from which the share of distinct values is estimated.
_SAMPLE_SIZE = 2**13


def choose_layout(X, thresholds, codes=None):
    """Return the fastest layout for the data.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    thresholds : list of ndarray
        Thresholds of each feature, ascending; each lies between two of its values.
    codes : list of ndarray of shape (n_samples,), default=None
        Number of thresholds below each sample, for each feature. None if it is not known.

    Returns
    -------
    JointHistogram or Sorted
    """
    n_thresholds = sum(len(feature_thresholds) for feature_thresholds in thresholds)
    layout = Sorted if _is_mostly_distinct(n_thresholds, X) else joint_histogram
    return layout(X, thresholds, codes)


def joint_histogram(X, thresholds, codes=None):
    """Return a `JointHistogram` of numbers; see `choose_layout` for the parameters."""
    if codes is None:
        codes = [
            quantiles.bin_indices(values, feature_thresholds)
            for values, feature_thresholds in zip(iter_columns(X), thresholds, strict=True)
        ]
    return JointHistogram(FeatureCodes.from_thresholds(codes, thresholds))


def try_sorted_layout(X):
    """Return the layout `Sorted` with all thresholds, from one sort of each feature.

    Return None if there are few samples, or if many values are equal.
    """
    sample = np.sort(X[:_SAMPLE_SIZE], axis=0)
    if len(X) == len(sample) or not _is_mostly_distinct(np.sum(sample[1:] > sample[:-1]), sample):
        return None
    layout = Sorted(X)
    return layout if _is_mostly_distinct(sum(len(c) for c in layout.thresholds), X) else None


def _is_mostly_distinct(n_thresholds, X):
    return n_thresholds >= _SORTED_THRESHOLDS_PER_VALUE * X.size
