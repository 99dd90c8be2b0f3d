"""Integer codes of features, and the bins that the sums of their stumps come from.

The stumps on `boostbench.core.stumps.views.Views` do not need a column for each view. Every sample
has one code per feature, and the histogram of a feature over its codes has the sums of all its
stumps:

- The code of a number is its bin between thresholds. The sum below a threshold is a prefix sum.
- A category is a bin. The stump that tests for it has the sum of this bin on one side.
- A missing value is the first bin of its feature. Prefix sums include it where missing values count
  as the lowest; it is subtracted from them where missing values count as the highest; and the stump
  that tests for it has the sum of this bin on one side.

The histograms of all features are concatenated in one array, so that one sparse product computes
them. Its rows are the *joint bins*.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from boostbench.core.linear_algebra import accumulate_rows
from boostbench.core.stumps import thresholds as quantiles
from boostbench.core.stumps.views import MISSING

# Samples whose joint bins are written at a time, so that the columns of a block stay in the cache.
_BLOCK_SAMPLES = 2**13


@dataclass(frozen=True)
class FeatureCodes:
    """Codes of the features of a training set, and the joint bins of all stumps on its views.

    Stumps are numbered in the canonical order, by view and then by threshold, which is also the
    order in which a search breaks ties.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,), dtype=unsigned int
        Bin of each sample, for each feature. If the training data have missing values of a feature,
        their code is 0.
    n_bins : ndarray of shape (n_features,), dtype=int64
        Number of bins of each feature, at least 1.
    view_feature : ndarray of shape (n_views,), dtype=int64
        Feature of each view.
    view : ndarray of shape (n_stumps,), dtype=int64
        View that each stump tests. A view that does not vary has no stump.
    threshold : ndarray of shape (n_stumps,), dtype=float64
        Threshold of each stump on its view.
    bin : ndarray of shape (n_stumps,), dtype=int64
        Joint bin of each stump: the last bin below its threshold, or the bin that it tests for.
    is_equality : ndarray of shape (n_stumps,), dtype=bool
        True if a stump is +1 in `bin` and -1 in the other bins of its feature; False if it is +1 in
        the bins after `bin`.
    is_missing_above : ndarray of shape (n_stumps,), dtype=bool
        True if a stump has a threshold and is also +1 in the first bin of its feature.

    Examples
    --------
    >>> from boostbench.core.stumps.views import fit_views
    >>> X = np.array([[1.0, 0.0], [np.nan, 2.0], [5.0, 1.0]])
    >>> table = FeatureCodes.from_features(X, fit_views(X, categorical=[1]))
    >>> table.codes
    [array([1, 0, 2], dtype=uint8), array([0, 2, 1], dtype=uint8)]
    >>> table.view, table.bin
    (array([0, 1, 2, 3, 4, 5]), array([1, 1, 0, 3, 4, 5]))
    >>> bins = np.bincount(table.joint_bins().ravel(), np.repeat([1.0, 2.0, 4.0], 2))
    >>> bins
    array([2., 1., 4., 1., 4., 2.])
    >>> table.edges(bins, total=7.0)
    array([ 1.,  5., -3., -5.,  1., -3.])
    """

    codes: list
    n_bins: np.ndarray
    view_feature: np.ndarray
    view: np.ndarray
    threshold: np.ndarray
    bin: np.ndarray
    is_equality: np.ndarray
    is_missing_above: np.ndarray

    @classmethod
    def from_features(cls, X, views, max_bins=None, weights=None):
        """Code the features of a training set.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype=float64
            NaN where a value is missing. Categories are whole numbers from 0 on.
        views : boostbench.core.stumps.views.Views
            Views of this training set, from `boostbench.core.stumps.views.fit_views`.
        max_bins : int or None, default=None
            Quantile bins of each view of a number; None: all thresholds. The two views of a number
            with missing values differ in their thresholds, since missing values count in their
            quantiles. The bins of the feature are those between the thresholds of both.
        weights : ndarray of shape (n_samples,), default=None
            Counts of the samples in the quantiles. None means one for each.

        Returns
        -------
        FeatureCodes
        """
        ends = np.searchsorted(views.feature, np.arange(views.n_features + 1))
        features, first_bin = [], 0
        for values, start, stop in zip(quantiles.iter_columns(X), ends, ends[1:], strict=False):
            category, fill = views.category[start:stop], views.fill[start:stop]
            if not np.isnan(category[0]):
                coded = _code_category(values, category)
            elif len(fill) == 1:
                coded = _code_number(values, max_bins, weights)
            else:
                coded = _code_number_with_missing(values, fill, max_bins, weights)
            features.append(coded._replace(view=coded.view + start, bin=coded.bin + first_bin))
            first_bin += coded.n_bins
        code, n_bins, *stumps = zip(*features, strict=True)
        return cls(list(code), np.array(n_bins), views.feature, *map(np.concatenate, stumps))

    @classmethod
    def from_thresholds(cls, codes, thresholds):
        """Return the table of numbers without missing values.

        Parameters
        ----------
        codes : list of ndarray of shape (n_samples,), dtype=unsigned int
            Number of thresholds below each sample, for each feature.
        thresholds : list of ndarray
            Thresholds of each feature, ascending.

        Returns
        -------
        FeatureCodes
        """
        n_thresholds = np.array([len(feature_thresholds) for feature_thresholds in thresholds])
        feature = np.repeat(np.arange(len(thresholds)), n_thresholds)
        never = np.zeros(len(feature), bool)
        bins = np.arange(len(feature)) + feature
        features = np.arange(len(thresholds))
        return cls(
            codes,
            n_thresholds + 1,
            features,
            feature,
            np.concatenate(thresholds),
            bins,
            never,
            never,
        )

    def encode(self, X, views):
        """Return the codes of other samples.

        Parameters
        ----------
        X : ndarray of shape (n_others, n_features), dtype=float64
            NaN where a value is missing or a category is unknown.
        views : boostbench.core.stumps.views.Views
            Views of the training set.

        Returns
        -------
        FeatureCodes
            The same stumps, with the codes of X. If the training data have no missing value of a
            feature, a missing value has the code of the value that its view is filled with.
        """
        codes = [
            self._encode_feature(feature, values, views)
            for feature, values in enumerate(quantiles.iter_columns(X))
        ]
        return replace(self, codes=codes)

    def _encode_feature(self, feature, values, views):
        """Return the codes of the values of one feature."""
        feature_views = np.flatnonzero(views.feature == feature)
        category, fill = views.category[feature_views], views.fill[feature_views]
        is_missing, has_missing_bin = np.isnan(values), views.has_missing(feature)
        if not np.isnan(category[0]):
            # If no view is 1 for a missing value, there are two categories, and one view.
            missing_code = category[fill > 0.5][0] if fill.any() else float(category[0] == 0)
            codes = np.where(is_missing, 0.0 if has_missing_bin else missing_code, values)
            return np.where(is_missing & has_missing_bin, 0, codes + has_missing_bin).astype(int)
        is_threshold = ~self.is_equality & (self.view_feature[self.view] == feature)
        thresholds = np.unique(self.threshold[is_threshold])
        bins = quantiles.bin_indices(np.where(is_missing, fill[0], values), thresholds)
        return np.where(is_missing, 0, bins.astype(int) + 1) if has_missing_bin else bins

    def stump_sums(self, coefficients):
        """Return the weighted sum of the stumps on each feature, in each of its bins.

        Parameters
        ----------
        coefficients : ndarray of shape (n_stumps, n_outputs)

        Returns
        -------
        ndarray of shape (n_joint_bins, n_outputs), dtype=float64
        """
        # The sum is minus all coefficients of a feature, plus 2 for each stump that is +1.
        above = np.zeros((self.n_joint_bins, coefficients.shape[1]))
        is_threshold = ~self.is_equality
        np.add.at(above, self.bin[is_threshold] + 1, 2 * coefficients[is_threshold])
        above = self.running_sums(above)
        np.add.at(above, self._bin_of_missing_above, 2 * coefficients[self._missing_above])
        np.add.at(above, self._bin_of_equality, 2 * coefficients[self._equality])
        totals = np.zeros((len(self.codes), coefficients.shape[1]))
        np.add.at(totals, self.view_feature[self.view], coefficients)
        return above - np.repeat(totals, self.n_bins, axis=0)

    @property
    def n_samples(self):
        """Number of samples."""
        return len(self.codes[0])

    @property
    def n_joint_bins(self):
        """Number of bins of all features."""
        return int(self.first_bin[-1])

    @cached_property
    def first_bin(self):
        """First joint bin of each feature, and the number of joint bins: (n_features + 1,)."""
        return np.append(0, np.cumsum(self.n_bins))

    @cached_property
    def first_stump(self):
        """First stump of each view, and the number of stumps: (n_views + 1,)."""
        return np.searchsorted(self.view, np.arange(len(self.view_feature) + 1))

    @cached_property
    def missing_bin(self):
        """First joint bin of the feature that each stump tests: (n_stumps,)."""
        return self.first_bin[self.view_feature[self.view]]

    def joint_bins(self):
        """Return the joint bin of each sample in each feature.

        Returns
        -------
        ndarray of shape (n_samples, n_features), dtype=int32
            In C order.
        """
        joint = np.empty((self.n_samples, len(self.codes)), np.int32)
        for start in range(0, self.n_samples, _BLOCK_SAMPLES):
            rows = slice(start, start + _BLOCK_SAMPLES)
            for column, code, first in zip(joint[rows].T, self.codes, self.first_bin, strict=False):
                np.add(code[rows], np.int32(first), out=column)
        return joint

    def above(self, stump):
        """Return where a stump is +1.

        Parameters
        ----------
        stump : int

        Returns
        -------
        ndarray of shape (n_samples,), dtype=bool
        """
        code = self.codes[self.view_feature[self.view[stump]]]
        bin_ = int(self.bin[stump] - self.missing_bin[stump])
        if self.is_equality[stump]:
            return code == bin_
        above = code > bin_
        if self.is_missing_above[stump]:
            above |= code == 0
        return above

    def is_in(self, bins):
        """Return which samples are in one of several bins of one feature.

        Parameters
        ----------
        bins : ndarray of shape (n_some,), dtype=int64
            Joint bins.

        Returns
        -------
        ndarray of shape (n_samples,), dtype=bool
        """
        feature = int(np.searchsorted(self.first_bin, bins[0], side="right")) - 1
        is_in = np.zeros(self.n_bins[feature], bool)
        is_in[bins - self.first_bin[feature]] = True
        return is_in[self.codes[feature]]

    def running_sums(self, bins):
        """Return prefix sums of the joint bins that restart at each feature.

        Parameters
        ----------
        bins : ndarray of shape (n_joint_bins, ...)
            Sums of any numbers of the samples in each bin.

        Returns
        -------
        ndarray of shape (n_joint_bins, ...), dtype=float64
            Sum of each bin and of the bins before it in its feature.
        """
        return self._accumulate(bins.astype(np.float64), 0.0)

    def _accumulate(self, sums, start):
        """Overwrite joint bins with `start` plus their running sums."""
        # The cumulative sum runs through all features, and the total of a feature is subtracted at
        # the first bin of the next one, so that it never exceeds the sum of one feature and its
        # rounding errors do not accumulate.
        totals = np.add.reduceat(sums, self.first_bin[:-1], axis=0)
        sums[self.first_bin[1:-1]] -= totals[:-1]
        sums[0] += start
        return accumulate_rows(sums)

    def edges(self, bins, total):
        """Return the edges of all stumps.

        Parameters
        ----------
        bins : ndarray of shape (n_joint_bins, ...)
            Sums of the weights of the samples in each joint bin.
        total : float or ndarray
            Sum of the weights of all samples, of the shape of one bin.

        Returns
        -------
        ndarray of shape (n_stumps, ...), dtype=float64
            Sum of the weights where a stump is +1, less their sum where it is -1.
        """
        # When the samples of a bin move from +1 to -1, an edge changes by minus twice their sum.
        changes = np.multiply(bins, -2.0, dtype=np.float64)
        edges = self._accumulate(changes, total).take(self.bin, axis=0)
        if len(self._missing_above):
            edges[self._missing_above] += 2.0 * bins.take(self._bin_of_missing_above, axis=0)
        if len(self._equality):
            edges[self._equality] = 2.0 * bins.take(self._bin_of_equality, axis=0) - total
        return edges

    # Stumps whose edges need a single bin.
    @cached_property
    def _equality(self):
        return np.flatnonzero(self.is_equality)

    @cached_property
    def _bin_of_equality(self):
        return self.bin[self._equality]

    @cached_property
    def _missing_above(self):
        return np.flatnonzero(self.is_missing_above)

    @cached_property
    def _bin_of_missing_above(self):
        return self.missing_bin[self._missing_above]


class _CodedFeature(NamedTuple):
    """Codes and stumps of one feature, with views and bins counted from 0.

    See `FeatureCodes` for the attributes.
    """

    code: np.ndarray
    n_bins: int
    view: np.ndarray
    threshold: np.ndarray
    bin: np.ndarray
    is_equality: np.ndarray
    is_missing_above: np.ndarray


def _code_number(values, max_bins, weights):
    """Code a number without missing values."""
    thresholds = quantiles.find_thresholds(values, max_bins, weights)
    never = np.zeros(len(thresholds), bool)
    view = np.zeros(len(thresholds), int)
    code = quantiles.bin_indices(values, thresholds)
    return _CodedFeature(
        code, len(thresholds) + 1, view, thresholds, np.arange(len(thresholds)), never, never
    )


def _code_number_with_missing(values, fill, max_bins, weights):
    """Code a number with missing values: two views with thresholds, and one of the missing."""
    is_missing = np.isnan(values)
    lowest = np.where(is_missing, fill[0], values)
    low = quantiles.find_thresholds(lowest, max_bins, weights)
    high = low
    if max_bins is not None:
        # All thresholds are the same in both views: the fills are values of the feature.
        high = quantiles.find_thresholds(np.where(is_missing, fill[1], values), max_bins, weights)
    thresholds = np.union1d(low, high)
    code = quantiles.bin_indices(lowest, thresholds).astype(np.min_scalar_type(len(thresholds) + 1))
    code += 1
    code[is_missing] = 0
    # The view of the missing does not vary if there is no other value.
    n_equality = int(not is_missing.all())
    sizes = len(low), len(high), n_equality
    return _CodedFeature(
        code,
        len(thresholds) + 2,
        np.repeat([0, 1, 2], sizes),
        np.concatenate([low, high, np.full(n_equality, 0.5)]),
        np.concatenate([np.searchsorted(thresholds, [*low, *high]) + 1, np.zeros(n_equality, int)]),
        np.repeat([False, False, True], sizes),
        np.repeat([False, True, False], sizes),
    )


def _code_category(values, category):
    """Code a feature of categories; each of its views tests for one bin."""
    is_missing = category == MISSING
    # Bin 0 is for missing values if there are some.
    n_before = int(is_missing.any())
    code = np.nan_to_num(values, nan=-1.0).astype(np.intp) + n_before
    counts = np.bincount(code)
    bins = np.where(is_missing, 0, np.where(is_missing, 0, category) + n_before).astype(int)
    # A view that does not vary has no stump.
    is_stump = counts[bins] < len(values)
    bins = bins[is_stump]
    return _CodedFeature(
        code.astype(np.min_scalar_type(len(counts))),
        len(counts),
        np.flatnonzero(is_stump),
        np.full(len(bins), 0.5),
        bins,
        np.ones(len(bins), bool),
        np.zeros(len(bins), bool),
    )
