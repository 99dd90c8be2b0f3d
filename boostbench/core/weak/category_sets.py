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
from scipy import sparse

from boostbench.core.weak.base import Found
from boostbench.core.weak.nearly_best import sums_of_sizes
from boostbench.core.weak.stump import Stump, Stumps
from boostbench.core.weak.ties import EQUAL, first_largest

# Of fewer categories each set is one of them, or all but one: an ordinary stump.
_FEWEST = 4


class CategorySet(NamedTuple):
    """A weak learner: ``polarity * (+1 if one of some views is 1 else -1)``.

    Attributes
    ----------
    views : tuple of int
        Of one feature, ascending; see `boostbench.core.weak.views.Views`. They are no more than the
        others, and of as many without the first one.
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
        distinct = {one.views: None for one in learners if isinstance(one, CategorySet)}
        self.sets = sorted(distinct)
        column = {views: at - len(self.sets) for at, views in enumerate(self.sets)}
        super().__init__(
            [
                Stump(column[one.views], 0.5, one.polarity) if isinstance(one, CategorySet) else one
                for one in learners
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
        of_sets = self.feature[self.feature < 0]
        return super().n_parameters + int((sizes[of_sets] - 2).sum())

    def outputs(self, X, some=slice(None)):
        """Evaluate some as `Stack.outputs`: -1 or +1, of shape (n_samples, n_some)."""
        return super().outputs(self._with_sets(X, some), some)

    def scores(self, X, coefficients, some=slice(None)):
        """Add up some of the stumps; as `Stack.scores`."""
        return super().scores(self._with_sets(X, some), coefficients, some)

    def _with_sets(self, X, some):
        needed = np.unique(self.feature[some])
        needed = needed[needed < 0]
        columns = np.zeros((len(X), len(self.sets)))
        columns[:, needed] = X[:, self._used] @ self._members[:, needed].astype(float)
        return np.hstack([X, columns])


def stacked(learners):
    """Stack stumps: as `Stumps`, where none is on a set.

    Parameters
    ----------
    learners : sequence of Stump or CategorySet
    """
    are_plain = not any(isinstance(learner, CategorySet) for learner in learners)
    return Stumps(learners) if are_plain else StumpsWithSets(learners)


class WithSets:
    """A search of stumps, and of sets of categories against the rest.

    Parameters
    ----------
    search : StumpSearch
    groups : list of range
        The views of each feature of categories: of these columns one is 1, and the others are 0.

    Examples
    --------
    >>> from boostbench.core.weak.stumps import StumpSearch
    >>> search = WithSets(StumpSearch(np.eye(4)), [range(4)])
    >>> search.best(np.array([[-1.0], [2.0], [2.0], [-1.0]])).learner
    CategorySet(views=(1, 2), polarity=1)
    """

    def __init__(self, search, groups):
        self.X = search.X
        self._search = search
        self._views = np.concatenate([np.array(group) for group in groups])
        self._starts = np.cumsum([0, *map(len, groups)])
        self._cells = sparse.csr_array(self.X[:, self._views].T)

    def best(self, G):
        """Find the largest absolute edge; as `StumpSearch.best`, whose stumps come first."""
        found = self._search.best(G)
        scale = sums_of_sizes(G)
        sums = self._cells @ G
        edges = np.add.reduceat(np.abs(sums), self._starts[:-1], axis=0)
        # A set of all or none is constant, and the best beside it is an ordinary stump.
        n_inside = np.add.reduceat(sums > EQUAL * scale, self._starts[:-1], axis=0, dtype=int)
        edges[(n_inside == 0) | (n_inside == np.diff(self._starts)[:, None])] = -np.inf
        at = first_largest(edges.ravel(), scale.max())
        group, column = divmod(int(at), G.shape[1])
        if found is not None and found.edge >= edges[group, column] - EQUAL * scale.max():
            return found
        some = slice(*self._starts[group : group + 2])
        views, inside = self._views[some], sums[some, column] > EQUAL * scale[column]
        # Of a set and the others, the one of fewer.
        fewer, polarity = inside, 1
        if (2 * inside.sum(), inside[0]) > (len(views), False):
            fewer, polarity = ~inside, -1
        outputs = np.where(self.X[:, views[inside]].any(axis=1), 1.0, -1.0)
        learner = CategorySet(tuple(views[fewer].tolist()), polarity)
        return Found(learner, outputs, float(outputs @ G[:, column]), column)


def with_sets(search, views):
    """Search sets of categories too, where there are features that have several.

    Parameters
    ----------
    search : StumpSearch
        Of what the views show.
    views : boostbench.core.weak.views.Views

    Returns
    -------
    StumpSearch or WithSets
    """
    ends = np.flatnonzero(np.diff(views.feature, prepend=-1, append=-1))
    groups = [
        range(start, stop)
        for start, stop in pairwise(ends.tolist())
        if stop - start >= _FEWEST and not np.isnan(views.category[start:stop]).any()
    ]
    return WithSets(search, groups) if groups else search
