"""Search of the best split of the categories of a feature into two sets.

A category, and a missing value, has a *view*, the indicator column of this category
(`boostbench.core.stumps.views`). A set of categories is a set of views.

If the categories are ordered by their sums of weights, the best set is one end of the order [1]_.
With the sum g_c of the weights of each category, the edge of a set is the sum of g_c inside minus
the sum outside. So the best set contains the categories with positive g_c, and its edge is the sum
of the absolute g_c. The missing values are one more category.

References
----------
.. [1] W. D. Fisher, "On grouping for maximum homogeneity", Journal of the American Statistical
   Association 53, 1958.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from boostbench.core.stumps.screening import abs_column_sums
from boostbench.core.stumps.stump import Stump, Stumps
from boostbench.core.weak_learner import TIE_TOLERANCE, SearchResult, argmax_with_tolerance

# Minimum number of views, one per category, of a feature with sets. With fewer, each set contains
# one category or all except one: an ordinary stump.
_MIN_CATEGORIES = 4


class CategorySet(NamedTuple):
    """Weak learner ``polarity * (+1 if one of the views is 1 else -1)``.

    Attributes
    ----------
    views : tuple of int
        Views of one feature, ascending; see `boostbench.core.stumps.views.Views`. The set has at
        most half of the views of the feature, and lacks the first one if it has exactly half.
    polarity : int
    """

    views: tuple[int, ...]
    polarity: int = 1


class StumpsWithSets(Stumps):
    """Stack of T stumps and category sets.

    Parameters
    ----------
    learners : sequence of Stump or CategorySet

    Attributes
    ----------
    sets : list of tuple of int
        Distinct sets of views. A stump on the last set has the feature -1, on the one before -2,
        and so on, since the sets are columns after those of X.
    """

    def __init__(self, learners):
        distinct = {learner.views: None for learner in learners if isinstance(learner, CategorySet)}
        self.sets = sorted(distinct)
        column = {views: i - len(self.sets) for i, views in enumerate(self.sets)}
        super().__init__(
            [
                Stump(column[learner.views], 0.5, learner.polarity)
                if isinstance(learner, CategorySet)
                else learner
                for learner in learners
            ]
        )
        # Views that occur in a set, and mask of the views of each set: (n_used, n_sets).
        self._used = np.unique(np.concatenate(self.sets))
        self._members = np.stack([np.isin(self._used, views) for views in self.sets], axis=1)

    @property
    def tested(self):
        """Column of X that each learner tests; for a set, its first column."""
        # Sets have negative features. The others get the index -1, whose value is discarded.
        first = np.array([views[0] for views in self.sets])
        return np.where(self.feature < 0, first[np.minimum(self.feature, -1)], self.feature)

    @property
    def n_parameters(self):
        """Number of parameters for prediction, without coefficients; a set has its views."""
        # `Stumps.n_parameters` counts 2 parameters for each stump; a set has its views instead.
        sizes = np.array([len(views) for views in self.sets])
        set_features = self.feature[self.feature < 0]
        return super().n_parameters + int((sizes[set_features] - 2).sum())

    def outputs(self, X, selection=slice(None)):
        """Return -1 and +1, of shape (n_samples, n_selected); see `LearnerStack.outputs`."""
        return super().outputs(self._append_set_columns(X, selection), selection)

    def scores(self, X, coefficients, selection=slice(None)):
        """Return the weighted sum of the stumps; see `LearnerStack.scores`."""
        return super().scores(self._append_set_columns(X, selection), coefficients, selection)

    def _append_set_columns(self, X, selection):
        """Return X with a 0/1 column for each set; only the columns of selected sets are filled."""
        # The feature of a set is negative: it counts columns from the end, here and in the result.
        selected_sets = np.unique(self.feature[selection])
        selected_sets = selected_sets[selected_sets < 0]
        columns = np.zeros((len(X), len(self.sets)))
        members = self._members[:, selected_sets].astype(float)
        columns[:, selected_sets] = X[:, self._used] @ members
        return np.hstack([X, columns])


def stack_stumps(learners):
    """Return a stack of stumps and category sets; `Stumps` if there is no set.

    Parameters
    ----------
    learners : sequence of Stump or CategorySet
    """
    are_plain = not any(isinstance(learner, CategorySet) for learner in learners)
    return Stumps(learners) if are_plain else StumpsWithSets(learners)


class CategorySetSearch:
    """Search of stumps and of category sets.

    Parameters
    ----------
    search : StumpSearch
        Search on a table of codes.
    groups : list of range
        Views of each categorical feature with sets, one for each bin that occurs.

    Examples
    --------
    >>> from boostbench.core.stumps.search import StumpSearch
    >>> from boostbench.core.stumps.views import ViewedFeatures, fit_views
    >>> X = np.arange(4.0)[:, None]
    >>> search = StumpSearch(ViewedFeatures(X, fit_views(X, categorical=[0])))
    >>> G = np.array([[-1.0], [2.0], [2.0], [-1.0]])
    >>> result = CategorySetSearch(search, [range(4)]).best(G)
    >>> result.learner
    CategorySet(views=(1, 2), polarity=1)
    """

    def __init__(self, search, groups):
        self.X = search.X
        self._search = search
        self._views = np.concatenate([np.array(group) for group in groups])
        self._starts = np.cumsum([0, *map(len, groups)])
        # Each view of a group varies, and has one stump, which tests for its bin.
        self._bins = search.feature_codes.bin_of_stump[
            search.feature_codes.first_stump[self._views]
        ]

    def best(self, G):
        """Return the stump or set with the largest absolute edge; stumps win ties."""
        # 1) Find the best stump, and the edge of the best set of each feature in each column: the
        #    sum of the absolute sums of its categories.
        result = self._search.best(G)
        scale = abs_column_sums(G)
        sums = self._search.bin_sums(G)[self._bins]
        edges = np.add.reduceat(np.abs(sums), self._starts[:-1], axis=0)
        # 2) Exclude a set of all categories, or of none, which is constant. The best other set of
        #    such a feature leaves out, or has, one category only, which is a stump.
        n_inside = np.add.reduceat(
            sums > TIE_TOLERANCE * scale, self._starts[:-1], axis=0, dtype=int
        )
        edges[(n_inside == 0) | (n_inside == np.diff(self._starts)[:, None])] = -np.inf
        best = argmax_with_tolerance(edges.ravel(), scale.max())
        group, column = divmod(int(best), G.shape[1])
        if result is not None and result.edge >= edges[group, column] - TIE_TOLERANCE * scale.max():
            return result
        # 3) Make the set with the largest edge.
        in_group = slice(*self._starts[group : group + 2])
        views = self._views[in_group]
        is_inside = sums[in_group, column] > TIE_TOLERANCE * scale[column]
        outputs = np.where(
            self._search.feature_codes.is_in(self._bins[in_group][is_inside]), 1.0, -1.0
        )
        # The learner contains the smaller of the set and its complement. If both are halves, it
        # contains the half without the first view.
        polarity, is_half = 1, 2 * is_inside.sum() == len(views)
        if 2 * is_inside.sum() > len(views) or (is_half and is_inside[0]):
            is_inside, polarity = ~is_inside, -1
        learner = CategorySet(tuple(views[is_inside].tolist()), polarity)
        return SearchResult(learner, outputs, float(outputs @ G[:, column]), column)


def add_category_sets(search, views):
    """Return a search that includes category sets if a feature has enough categories for them.

    Parameters
    ----------
    search : StumpSearch
        Search of a training set with these views.
    views : boostbench.core.stumps.views.Views

    Returns
    -------
    StumpSearch or CategorySetSearch
    """
    first_views = np.flatnonzero(np.diff(views.feature, prepend=-1, append=-1))
    groups = [
        range(start, stop)
        for start, stop in pairwise(first_views.tolist())
        if stop - start >= _MIN_CATEGORIES and not np.isnan(views.category[start:stop]).any()
    ]
    return CategorySetSearch(search, groups) if groups else search
