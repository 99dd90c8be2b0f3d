"""Integer codes of features, and the bins that the sums of their stumps come from.

A stump tests a *view*, a numeric column derived from a feature: the feature itself, with missing
values as the lowest or highest value, or an indicator of one category or of missing values
(`boostbench.core.stumps.views`). The search does not need a column for each view. Every sample has
one code per feature, and the histogram of a feature over its codes has the sums of all its stumps:

- The code of a number is its bin between thresholds. The sum below a threshold is a prefix sum.
- A category is a bin. The stump that tests for it has the sum of this bin on one side.
- A missing value is the first bin of its feature. Prefix sums include it where missing values count
  as the lowest; it is subtracted from them where missing values count as the highest; and the stump
  that tests for it has the sum of this bin on one side.

The histograms of all features are concatenated in one array, so that one sparse product computes
them. Its rows are the *joint bins*: the bins of feature 0, then the bins of feature 1, and so on.
A category is a whole number, `MISSING` or NaN: see `Views.category`.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from boostbench.core.linear_algebra import accumulate_rows
from boostbench.core.stumps.thresholds import bin_indices, find_thresholds, iter_columns
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
    feature_of_view : ndarray of shape (n_views,), dtype=int64
        Feature of each view.
    view_of_stump : ndarray of shape (n_stumps,), dtype=int64
        View that each stump tests. A view that does not vary has no stump.
    threshold_of_stump : ndarray of shape (n_stumps,), dtype=float64
        Threshold of each stump on its view.
    bin_of_stump : ndarray of shape (n_stumps,), dtype=int64
        Joint bin of each stump: the last bin below its threshold, or the bin that it tests for. The
        last bin of a feature has no threshold after it.
    is_equality : ndarray of shape (n_stumps,), dtype=bool
        True if a stump is +1 in `bin_of_stump` and -1 in the other bins of its feature; False if it
        is +1 in the bins after `bin_of_stump`.
    is_missing_above : ndarray of shape (n_stumps,), dtype=bool
        True if a stump has a threshold and is also +1 in the first bin of its feature.

    Examples
    --------
    >>> from boostbench.core.stumps.views import fit_views
    >>> X = np.array([[1.0, 0.0], [np.nan, 2.0], [5.0, 1.0]])
    >>> table = fit_feature_codes(X, fit_views(X, categorical=[1]))
    >>> table.codes
    [array([1, 0, 2], dtype=uint8), array([0, 2, 1], dtype=uint8)]
    >>> table.view_of_stump, table.bin_of_stump
    (array([0, 1, 2, 3, 4, 5]), array([1, 1, 0, 3, 4, 5]))
    >>> bins = np.bincount(table.joint_bins().ravel(), np.repeat([1.0, 2.0, 4.0], 2))
    >>> bins
    array([2., 1., 4., 1., 4., 2.])
    >>> table.edges(bins, total=7.0)
    array([ 1.,  5., -3., -5.,  1., -3.])
    """

    codes: list
    n_bins: np.ndarray
    feature_of_view: np.ndarray
    view_of_stump: np.ndarray
    threshold_of_stump: np.ndarray
    bin_of_stump: np.ndarray
    is_equality: np.ndarray
    is_missing_above: np.ndarray

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
            for feature, values in enumerate(iter_columns(X))
        ]
        return replace(self, codes=codes)

    def _encode_feature(self, feature, values, views):
        """Return the codes of the values of one feature: (n_others,), dtype=int."""
        feature_views = np.flatnonzero(views.feature == feature)
        category, fill = views.category[feature_views], views.fill[feature_views]
        is_missing, has_missing_bin = np.isnan(values), views.has_missing(feature)
        is_number = np.isnan(category[0])
        if is_number:
            # The bins lie between the thresholds. `fill` has the value of each view for a missing
            # value, and `fill[0]` the lowest one, or the mean.
            is_threshold = ~self.is_equality & (self.feature_of_stump == feature)
            thresholds = np.unique(self.threshold_of_stump[is_threshold])
            bins = bin_indices(np.where(is_missing, fill[0], values), thresholds).astype(int)
        else:
            category_of_missing = 0.0 if has_missing_bin else _most_frequent(category, fill)
            bins = np.where(is_missing, category_of_missing, values).astype(int)
        # Bin 0 holds the missing values if there were some in training; the other bins follow it.
        return np.where(is_missing, 0, bins + 1) if has_missing_bin else bins

    def score_table(self, coefficients):
        """Return the scores of an additive model of the stumps, as one table per feature.

        The score of a sample is the sum of the rows of its joint bins. A row is the weighted sum of
        the stumps on one feature, which is constant in each of its bins.

        Parameters
        ----------
        coefficients : ndarray of shape (n_stumps, n_outputs)
            Weights of the stumps.

        Returns
        -------
        ndarray of shape (n_joint_bins, n_outputs), dtype=float64
        """
        # 1) Add twice the coefficient of each stump in the bins where it is +1: from the bin after
        #    `bin_of_stump` to the last bin of the feature, which running sums achieve.
        doubled = np.zeros((self.n_joint_bins, coefficients.shape[1]))
        is_threshold = ~self.is_equality
        np.add.at(doubled, self.bin_of_stump[is_threshold] + 1, 2 * coefficients[is_threshold])
        doubled = self.running_sums(doubled)
        np.add.at(doubled, self._bin_of_missing_above, 2 * coefficients[self._missing_above])
        np.add.at(doubled, self._bin_of_equality, 2 * coefficients[self._equality])
        # 2) Subtract all coefficients of the feature: a stump is -1 in its other bins.
        totals = np.zeros((len(self.codes), coefficients.shape[1]))
        np.add.at(totals, self.feature_of_stump, coefficients)
        return doubled - np.repeat(totals, self.n_bins, axis=0)

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
        """First joint bin of each feature, then the number of joint bins: (n_features + 1,)."""
        return np.append(0, np.cumsum(self.n_bins))

    @cached_property
    def first_stump(self):
        """First stump of each view, then the number of stumps: (n_views + 1,)."""
        return np.searchsorted(self.view_of_stump, np.arange(len(self.feature_of_view) + 1))

    @cached_property
    def feature_of_stump(self):
        """Feature of the view that each stump tests: (n_stumps,)."""
        return self.feature_of_view[self.view_of_stump]

    @cached_property
    def first_bin_of_stump(self):
        """First joint bin of the feature that each stump tests: (n_stumps,).

        If the training data have missing values of the feature, it is their bin.
        """
        return self.first_bin[self.feature_of_stump]

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
        code = self.codes[self.feature_of_view[self.view_of_stump[stump]]]
        bin_ = int(self.bin_of_stump[stump] - self.first_bin_of_stump[stump])
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
        bins : ndarray of shape (n_selected,), dtype=int64
            Joint bins of one feature.

        Returns
        -------
        ndarray of shape (n_samples,), dtype=bool
        """
        feature = int(np.searchsorted(self.first_bin, bins[0], side="right")) - 1
        is_in = np.zeros(self.n_bins[feature], bool)
        is_in[bins - self.first_bin[feature]] = True
        return is_in[self.codes[feature]]

    def running_sums(self, bin_sums):
        """Return prefix sums of the joint bins that restart at each feature.

        Parameters
        ----------
        bin_sums : ndarray of shape (n_joint_bins, ...)
            Sum of any numbers of the samples in each bin.

        Returns
        -------
        ndarray of shape (n_joint_bins, ...), dtype=float64
            Sum of each bin and of the bins before it in its feature.
        """
        return self._accumulate(bin_sums.astype(np.float64), 0.0)

    def _accumulate(self, sums, start):
        """Overwrite the sums of joint bins with running sums that begin at `start` in each feature.

        One cumulative sum runs through all features, and the total of a feature is subtracted at
        the first bin of the next one. `start` is added to the first bin of all, and is not
        subtracted again, so that every feature begins at it: the sums [a b | c d] of two features
        become [start + a, b, c - (a + b), d], and the running sum at c is start + c. It never
        exceeds `start` plus the sum of one feature, so that its rounding errors do not accumulate.
        """
        totals = np.add.reduceat(sums, self.first_bin[:-1], axis=0)
        sums[self.first_bin[1:-1]] -= totals[:-1]
        sums[0] += start
        return accumulate_rows(sums)

    def edges(self, bin_sums, total):
        """Return the edges of all stumps.

        Parameters
        ----------
        bin_sums : ndarray of shape (n_joint_bins, ...)
            Sum of the weights of the samples in each joint bin.
        total : float or ndarray
            Sum of the weights of all samples, of the shape of one bin.

        Returns
        -------
        ndarray of shape (n_stumps, ...), dtype=float64
            Sum of the weights where a stump is +1, less their sum where it is -1.
        """
        # When the samples of a bin move from +1 to -1, an edge changes by minus twice their sum.
        changes = np.multiply(bin_sums, -2.0, dtype=np.float64)
        edges = self._accumulate(changes, total).take(self.bin_of_stump, axis=0)
        # If missing values count as the highest, they move back from -1 to +1.
        if len(self._missing_above):
            edges[self._missing_above] += 2.0 * bin_sums.take(self._bin_of_missing_above, axis=0)
        # The sum of one bin less the sum of the other bins is twice its sum less `total`.
        if len(self._equality):
            edges[self._equality] = 2.0 * bin_sums.take(self._bin_of_equality, axis=0) - total
        return edges

    @cached_property
    def _equality(self):
        """Stumps that are +1 in one bin only."""
        return np.flatnonzero(self.is_equality)

    @cached_property
    def _bin_of_equality(self):
        """Bin in which each of the stumps `_equality` is +1."""
        return self.bin_of_stump[self._equality]

    @cached_property
    def _missing_above(self):
        """Stumps with a threshold that are also +1 for missing values."""
        return np.flatnonzero(self.is_missing_above)

    @cached_property
    def _bin_of_missing_above(self):
        """Bin of the missing values of the feature of each of the stumps `_missing_above`."""
        return self.first_bin_of_stump[self._missing_above]


def _most_frequent(category, fill):
    """Return the most frequent category of a feature without missing values in training.

    `category` and `fill` have the category of each view, an indicator, and the value of the view
    for a missing value, which counts as the most frequent category: 1 for the indicator of this
    category, else 0.
    """
    is_most_frequent = fill == 1
    if is_most_frequent.any():
        return category[is_most_frequent][0]
    # A feature with two categories, 0 and 1, has one view only, here with the fill 0: the category
    # without a view is the most frequent one.
    return 1.0 if category[0] == 0 else 0.0


def fit_feature_codes(X, views, max_bins=None, weights=None):
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
    # 1) Code each feature, and shift its views and bins by the number of earlier ones. The views of
    #    a feature are consecutive: view `ends[j]` is the first one of feature j.
    ends = np.searchsorted(views.feature, np.arange(views.n_features + 1))
    features, first_bin = [], 0
    for values, start, stop in zip(iter_columns(X), ends, ends[1:], strict=False):
        category, fill = views.category[start:stop], views.fill[start:stop]
        is_number = np.isnan(category[0])
        if not is_number:
            # All views of a category are indicators.
            coded = _code_category(values, category)
        elif len(fill) == 1:
            # A number without missing values is its own view.
            coded = _code_number(values, max_bins, weights)
        else:
            # A number with missing values has three views.
            coded = _code_number_with_missing(values, fill, max_bins, weights)
        view_of_stump, bin_of_stump = coded.view_of_stump + start, coded.bin_of_stump + first_bin
        features.append(coded._replace(view_of_stump=view_of_stump, bin_of_stump=bin_of_stump))
        first_bin += coded.n_bins
    # 2) Join the arrays of the features; `_CodedFeature` has its fields in this order.
    code, n_bins, view, threshold, bin_, is_equality, is_missing_above = zip(*features, strict=True)
    return FeatureCodes(
        codes=list(code),
        n_bins=np.array(n_bins),
        feature_of_view=views.feature,
        view_of_stump=np.concatenate(view),
        threshold_of_stump=np.concatenate(threshold),
        bin_of_stump=np.concatenate(bin_),
        is_equality=np.concatenate(is_equality),
        is_missing_above=np.concatenate(is_missing_above),
    )


def numeric_feature_codes(codes, thresholds):
    """Return the codes of numeric features without missing values, with all of their stumps.

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
    # Each feature is its own view, so that `feature` has the view of each stump.
    n_thresholds = np.array([len(feature_thresholds) for feature_thresholds in thresholds])
    feature_of_stump = np.repeat(np.arange(len(thresholds)), n_thresholds)
    all_false = np.zeros(len(feature_of_stump), bool)
    return FeatureCodes(
        codes=codes,
        n_bins=n_thresholds + 1,
        feature_of_view=np.arange(len(thresholds)),
        view_of_stump=feature_of_stump,
        threshold_of_stump=np.concatenate(thresholds),
        # Each earlier feature has one bin more than thresholds.
        bin_of_stump=np.arange(len(feature_of_stump)) + feature_of_stump,
        is_equality=all_false,
        is_missing_above=all_false,
    )


class _CodedFeature(NamedTuple):
    """Codes and stumps of one feature, with views and bins counted from 0.

    See `FeatureCodes` for the attributes.
    """

    code: np.ndarray
    n_bins: int
    view_of_stump: np.ndarray
    threshold_of_stump: np.ndarray
    bin_of_stump: np.ndarray
    is_equality: np.ndarray
    is_missing_above: np.ndarray


def _code_number(values, max_bins, weights):
    """Return the `_CodedFeature` of a number without missing values."""
    thresholds = find_thresholds(values, max_bins, weights)
    all_false = np.zeros(len(thresholds), bool)
    return _CodedFeature(
        code=bin_indices(values, thresholds),
        n_bins=len(thresholds) + 1,
        view_of_stump=np.zeros(len(thresholds), int),
        threshold_of_stump=thresholds,
        bin_of_stump=np.arange(len(thresholds)),
        is_equality=all_false,
        is_missing_above=all_false,
    )


def _code_number_with_missing(values, fill, max_bins, weights):
    """Return the `_CodedFeature` of a number with missing values.

    Its views are the number with missing values as the lowest value, the number with missing values
    as the highest value, and the indicator of missing values. `fill` has the value of each view for
    a missing value.
    """
    # 1) Find the thresholds of the first two views.
    is_missing = np.isnan(values)
    lowest = np.where(is_missing, fill[0], values)
    low = find_thresholds(lowest, max_bins, weights)
    high = low
    if max_bins is not None:
        # The limit chooses quantiles, in which missing values count, so that the views differ. All
        # thresholds would be equal, since the fills are the feature's smallest and largest value.
        high = find_thresholds(np.where(is_missing, fill[1], values), max_bins, weights)
    # 2) Code the samples by the thresholds of both views, after bin 0 for missing values: the
    #    largest code is one more than the number of thresholds.
    thresholds = np.union1d(low, high)
    code = bin_indices(lowest, thresholds).astype(np.min_scalar_type(len(thresholds) + 1))
    code += 1
    code[is_missing] = 0
    # 3) List the stumps of the three views. The indicator has one stump, or none if it does not
    #    vary because all values are missing.
    n_indicator = int(not is_missing.all())
    n_stumps = len(low), len(high), n_indicator
    last_bins_below = np.searchsorted(thresholds, [*low, *high]) + 1
    return _CodedFeature(
        code=code,
        n_bins=len(thresholds) + 2,
        view_of_stump=np.repeat([0, 1, 2], n_stumps),
        threshold_of_stump=np.concatenate([low, high, np.full(n_indicator, 0.5)]),
        bin_of_stump=np.concatenate([last_bins_below, np.zeros(n_indicator, int)]),
        is_equality=np.repeat([False, False, True], n_stumps),
        is_missing_above=np.repeat([False, True, False], n_stumps),
    )


def _code_category(values, category):
    """Return the `_CodedFeature` of a categorical feature; each of its views tests for one bin.

    `category` has the category of each view, or `MISSING` for the indicator of missing values.
    """
    # 1) Code the samples. Category c is bin c; if there are missing values, they are bin 0, and
    #    category c is bin c + 1: a missing value becomes -1 before the addition of 1.
    is_missing_view = category == MISSING
    has_missing = bool(is_missing_view.any())
    code = np.nan_to_num(values, nan=-1.0).astype(np.intp) + has_missing
    counts = np.bincount(code)
    # 2) Find the bin that each view tests for. A view that does not vary has no stump.
    bins = np.where(is_missing_view, 0.0, category).astype(int)
    bins[~is_missing_view] += has_missing
    varies = counts[bins] < len(values)
    bins = bins[varies]
    return _CodedFeature(
        code=code.astype(np.min_scalar_type(len(counts))),
        n_bins=len(counts),
        view_of_stump=np.flatnonzero(varies),
        threshold_of_stump=np.full(len(bins), 0.5),
        bin_of_stump=bins,
        is_equality=np.ones(len(bins), bool),
        is_missing_above=np.zeros(len(bins), bool),
    )
