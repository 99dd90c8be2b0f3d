"""Sets of categories against the rest: the best one of all sets, and sums of such stumps.

What categories have is ordered by their sums of weights, and the best set is one end of that order
[1]_. For an edge it is known which: with the sum g_c of the weights of each category, the edge of a
set is the sum of g_c within it less the sum outside, so that the best set is where g_c is positive,
and its edge the sum of their sizes. A missing value is one more category.

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
from boostbench.core.stumps.ties import TIE_TOLERANCE, argmax_with_tolerance
from boostbench.core.weak_learner import SearchResult

# Of fewer categories each set is one of them, or all but one: an ordinary stump.
_MIN_CATEGORIES = 4


class CategorySet(NamedTuple):
    """A weak learner: ``polarity * (+1 if one of some views is 1 else -1)``.

    Attributes
    ----------
    views : tuple of int
        Of one feature, ascending; see `boostbench.core.stumps.views.Views`. They are no more than
        the others, and of as many without the first one.
    polarity : int
    """

    views: tuple[int, ...]
    polarity: int = 1


class StumpsWithSets(Stumps):
    """T stacked stumps, of which some set several categories apart.

    Parameters
    ----------
    learners : sequence of Stump or CategorySet

    Attributes
    ----------
    sets : list of tuple of int
        The different sets of views. A stump on the last of them has the feature -1, on the one
        before -2, and so on: they are columns behind those of X.
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
        self._used = np.unique(np.concatenate(self.sets))
        self._members = np.stack([np.isin(self._used, views) for views in self.sets], axis=1)

    @property
    def tested(self):
        """The column of X that each tests; of a set the first."""
        first = np.array([views[0] for views in self.sets])
        return np.where(self.feature < 0, first[np.minimum(self.feature, -1)], self.feature)

    @property
    def n_parameters(self):
        """Numbers that prediction needs, besides coefficients: of a set its views."""
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
        used = np.unique(self.feature[selection])
        used = used[used < 0]
        columns = np.zeros((len(X), len(self.sets)))
        columns[:, used] = X[:, self._used] @ self._members[:, used].astype(float)
        return np.hstack([X, columns])


def stack_stumps(learners):
    """Stack stumps: as `Stumps`, where none is on a set.

    Parameters
    ----------
    learners : sequence of Stump or CategorySet
    """
    are_plain = not any(isinstance(learner, CategorySet) for learner in learners)
    return Stumps(learners) if are_plain else StumpsWithSets(learners)


class CategorySetSearch:
    """A search of stumps and of sets of categories against the rest.

    Parameters
    ----------
    search : StumpSearch
        Of a table of codes.
    groups : list of range
        Views of each feature of categories that has sets, one for each bin that is in use.

    Examples
    --------
    >>> from boostbench.core.stumps.search import StumpSearch
    >>> from boostbench.core.stumps.views import ViewedFeatures, fit_views
    >>> X = np.arange(4.0)[:, None]
    >>> search = StumpSearch(ViewedFeatures(X, fit_views(X, categorical=[0])))
    >>> found = CategorySetSearch(search, [range(4)]).best(np.array([[-1.0], [2.0], [2.0], [-1.0]]))
    >>> found.learner
    CategorySet(views=(1, 2), polarity=1)
    """

    def __init__(self, search, groups):
        self.X = search.X
        self._search = search
        self._views = np.concatenate([np.array(group) for group in groups])
        self._starts = np.cumsum([0, *map(len, groups)])
        # In a group each view has one stump, which tests for its bin.
        self._bins = search.table.bin[search.table.first_stump[self._views]]

    def best(self, G):
        """Find the largest absolute edge; as `StumpSearch.best`, whose stumps come first."""
        result = self._search.best(G)
        scale = abs_column_sums(G)
        sums = self._search.bin_sums(G)[self._bins]
        edges = np.add.reduceat(np.abs(sums), self._starts[:-1], axis=0)
        # A set of all categories or of none is constant, and the best beside it is a stump.
        n_inside = np.add.reduceat(
            sums > TIE_TOLERANCE * scale, self._starts[:-1], axis=0, dtype=int
        )
        edges[(n_inside == 0) | (n_inside == np.diff(self._starts)[:, None])] = -np.inf
        entry = argmax_with_tolerance(edges.ravel(), scale.max())
        group, column = divmod(int(entry), G.shape[1])
        if result is not None and result.edge >= edges[group, column] - TIE_TOLERANCE * scale.max():
            return result
        rows = slice(*self._starts[group : group + 2])
        views, is_inside = self._views[rows], sums[rows, column] > TIE_TOLERANCE * scale[column]
        outputs = np.where(self._search.table.is_in(self._bins[rows][is_inside]), 1.0, -1.0)
        # The model names the smaller one of the set and its complement.
        polarity = 1
        if (2 * is_inside.sum(), is_inside[0]) > (len(views), False):
            is_inside, polarity = ~is_inside, -1
        learner = CategorySet(tuple(views[is_inside].tolist()), polarity)
        return SearchResult(learner, outputs, float(outputs @ G[:, column]), column)


def add_category_sets(search, views):
    """Add sets of categories to a search, if there are features with several categories.

    Parameters
    ----------
    search : StumpSearch
        Of a training set that has these views.
    views : boostbench.core.stumps.views.Views

    Returns
    -------
    StumpSearch or WithSets
    """
    ends = np.flatnonzero(np.diff(views.feature, prepend=-1, append=-1))
    groups = [
        range(start, stop)
        for start, stop in pairwise(ends.tolist())
        if stop - start >= _MIN_CATEGORIES and not np.isnan(views.category[start:stop]).any()
    ]
    return CategorySetSearch(search, groups) if groups else search
