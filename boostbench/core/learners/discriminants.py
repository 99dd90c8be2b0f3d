"""Weighted Fisher linear discriminants (WLDA) and the stumps on them: RandomBoost, Table VI.

`ProjectedDiscriminantSearch` serves RBoost^rank. Point (r, i) of the projected data is
:math:`P^{(r)} x_i`, that is ``P @ z`` for the matrix ``P`` of all classes side by side and ``z``
with x_i at the place of class r and 0 elsewhere. A linear function of the projected data is
therefore a linear function of z, which has n_classes x n_features coefficients, however many
projections there are.

`OutputCodeDiscriminantSearch` serves RBoost^proj, eq. (24). A code turns the weights of a sample
in the classes into one signed weight, ``sum_r weights[i, r] code[r]``: the sign is the side that a
weak learner should put the sample on, the size is how much that matters. So every code poses a
two-class problem of its own, whose weighted linear discriminant gives a direction, on which the
best stump is found as on a feature.
"""

from operator import itemgetter

import numpy as np

from boostbench.core.learners.perceptrons import (
    Perceptron,
    Perceptrons,
    edges_on_lines,
    is_separable,
)
from boostbench.core.stumps.thresholds import above_middle
from boostbench.core.stumps.ties import EQUAL, first_largest
from boostbench.core.weak.projected import ProjectedStump
from boostbench.core.weak_learner import Found

# Directions in which the classes vary less than this part of the most are left out: rounding, or a
# constant feature.
_RANK_TOLERANCE = 1e-10

# Codes are tried in blocks, the most promising first, of that many or fewer, so that no array of a
# block has more than that many values.
_BLOCK_CODES = 64
_BLOCK_VALUES = 2**21

# Products of two features come in blocks of that many values, which are kept while they are few.
_PRODUCT_VALUES = 2**21
_MAX_CACHED_VALUES = 2**23


def fisher_direction(within, difference):
    r"""Solve for :math:`(\Sigma_1 + \Sigma_2)^{-1} (\mu_1 - \mu_2)`, by the pseudo-inverse.

    Parameters
    ----------
    within : ndarray of shape (..., n_features, n_features)
        :math:`\Sigma_1 + \Sigma_2`, symmetric.
    difference : ndarray of shape (..., n_features)
        :math:`\mu_1 - \mu_2`.

    Returns
    -------
    ndarray of shape (..., n_features)

    Examples
    --------
    >>> print(fisher_direction(np.diag([2.0, 0.0]), np.array([1.0, 1.0])))
    [0.5 0. ]
    """
    inverse = np.linalg.pinv(within, rcond=_RANK_TOLERANCE, hermitian=True)
    return np.matmul(inverse, difference[..., None])[..., 0]


class ProjectedDiscriminantSearch:
    """The search of RandomBoost, Table VI: one discriminant is added to the projected features.

    Every round draws some of the projected features, finds the weighted linear discriminant of the
    points with positive against those with negative weights in them, and takes the best stump on
    it or on a projected feature, whichever has the larger edge.

    Parameters
    ----------
    search : IndependentProjections or PooledProjections
        Of `boostbench.core.weak.projected`.
    X : ndarray of shape (n_samples, n_features)
        Training data.
    n_projections : int
        Projected features to draw from.
    n_selected : int
        Projected features to draw; all where there are not so many.
    rng : numpy.random.Generator

    Notes
    -----
    As many projected features as z has coefficients span the space of z, and the discriminant in
    them is the one in that space: it is solved for there, and does not depend on the draw.
    """

    def __init__(self, search, X, n_projections, n_selected, rng):
        self.search = search
        self.X = X
        self.n_projections = n_projections
        self.n_selected = min(n_selected, n_projections)
        self.rng = rng

    def best(self, G):
        """Find the stump of the largest edge, for G that sums to zero; see `Search.best`.

        Its polarity makes its edge positive. Of equally good ones a projected feature comes before
        the discriminant, whose thresholds come in their order.
        """
        candidates = self.search.best(G), self._discriminant_stump(G)
        edges = np.array([found.edge for found in candidates])
        return candidates[first_largest(edges, np.abs(G).sum())]

    def _discriminant_stump(self, G):
        directions = self._discriminant(G)
        values = (self.X @ directions.T).reshape(1, -1)
        order, edges = edges_on_lines(values, G.reshape(1, -1))
        values = np.take_along_axis(values, order, axis=1)
        scores = np.where(is_separable(values)[0], np.abs(edges[0]), -np.inf)
        first = int(first_largest(scores, np.abs(G).sum()))
        polarity = 1 if edges[0, first] >= 0 else -1
        threshold = above_middle(*values[0, first : first + 2])
        return ProjectedStump(directions, float(threshold), polarity).found(self.X, G)

    def _discriminant(self, G):
        within, difference = self._moments(G)
        selected = self.rng.choice(self.n_projections, self.n_selected, replace=False)
        if self.n_selected >= len(difference):
            direction = fisher_direction(within, difference)
        else:
            P = self.search.rows(selected).reshape(self.n_selected, -1)
            direction = P.T @ fisher_direction(P @ within @ P.T, P @ difference)
        return direction.reshape(G.shape[1], -1)

    def _moments(self, G):
        """Sum of the covariances of the two kinds of points z, and difference of their means."""
        n_classes, n_features = G.shape[1], self.X.shape[1]
        within = np.zeros((n_classes, n_features, n_classes, n_features))
        means = []
        for weights in (np.maximum(G, 0.0), np.maximum(-G, 0.0)):
            weights = weights / weights.sum()
            for r in range(n_classes):
                within[r, :, r] += (self.X * weights[:, [r]]).T @ self.X
            means.append((weights.T @ self.X).ravel())
        size = n_classes * n_features
        within = within.reshape(size, size)
        for mean in means:
            within -= np.outer(mean, mean)
        return within, means[0] - means[1]


class OutputCodeDiscriminantSearch:
    """The discriminants of a training set, for any codes.

    Parameters and attributes are as of
    `boostbench.core.learners.output_code_stumps.OutputCodeStumpSearch`.
    """

    stack = Perceptrons

    def __init__(self, X):
        self.X = X
        self.size = X.shape[1] + 1
        # No direction depends on where 0 is, but the rounding of variances does.
        self._features = np.ascontiguousarray((X - X.mean(axis=0)).T)
        self._pairs = np.triu_indices(X.shape[1])
        is_cacheable = len(self._pairs[0]) * len(X) <= _MAX_CACHED_VALUES
        self._cached_products = list(self._iter_products()) if is_cacheable else None

    def best(self, G, codes, violation):
        """Discriminant of the largest ``max_v violation[v] + edge for codes[v]``.

        Parameters
        ----------
        G, codes, violation
            As of `boostbench.core.learners.output_code_stumps.OutputCodeStumpSearch.best`.

        Returns
        -------
        Found or None
            A `Perceptron`, with that value as its edge and v as its `column`; of equally good ones
            the first v, and its lowest threshold. None where no discriminant parts any samples.

        Notes
        -----
        A weak learner that has every sample on its right side scores ``violation[v]`` and the sum
        of the sizes of the weights with v. Codes are tried in that order, as long as they may beat
        the best so far.
        """
        block = max(1, min(_BLOCK_CODES, _BLOCK_VALUES // max(len(self.X), self.X.shape[1] ** 2)))
        weights = np.ascontiguousarray(G.T)
        sizes = [np.abs(some @ weights).sum(axis=1) for some in _iter_blocks(codes, block)]
        bound = violation + np.concatenate(sizes)
        scale = float(np.max(bound - violation) + np.abs(violation).max())
        best, kept = -np.inf, []
        for some in _iter_blocks(bound.argsort()[::-1], block):
            floor = best - EQUAL * scale
            if bound[some[0]] < floor:
                break
            signed = codes[some] @ weights
            directions = self._directions(signed)
            stumps = self._candidates(directions, signed, violation[some], floor, scale)
            kept += [(score, int(some[v]), perceptron) for score, v, perceptron in stumps]
            best = max([best, *(score for score, _, _ in stumps)])
        near = [stump for stump in kept if stump[0] >= best - EQUAL * scale]
        if not near:
            return None
        _, column, perceptron = min(near, key=itemgetter(1))
        outputs = perceptron(self.X)
        edge = float(violation[column] + outputs @ G @ codes[column])
        return Found(perceptron, outputs, edge, column)

    def _directions(self, signed):
        """Discriminants of signed weights (n_problems, n_samples); (n_problems, n_features).

        With the weights of either side scaled to a sum of 1, the second moments of the two sides
        add up to one moment, and the squares of their means to those of sum and difference.
        """
        positive = np.maximum(signed, 0).sum(axis=1, keepdims=True)
        negative = np.minimum(signed, 0).sum(axis=1, keepdims=True)
        tiny = np.finfo(float).tiny
        shares = signed / np.where(signed > 0, positive + tiny, negative - tiny)
        difference = np.copysign(shares, signed) @ self._features.T
        total = shares @ self._features.T
        within = self._second_moments(shares)
        within -= (_outer_squares(total) + _outer_squares(difference)) / 2
        return fisher_direction(within, difference)

    def _second_moments(self, shares):
        n_features = len(self._features)
        moments = np.empty((len(shares), n_features, n_features))
        for i, j, products in self._cached_products or self._iter_products():
            sums = shares @ products.T
            moments[:, i, j] = sums
            moments[:, j, i] = sums
        return moments

    def _iter_products(self):
        """Yield the products of features i and j, of shape (n_pairs, n_samples), in blocks."""
        rows, columns = self._pairs
        width = max(1, _PRODUCT_VALUES // len(self.X))
        for i, j in zip(_iter_blocks(rows, width), _iter_blocks(columns, width), strict=True):
            yield i, j, self._features[i] * self._features[j]

    def _candidates(self, directions, signed, violation, floor, scale):
        """Stumps on several directions, each with its own weights, that may be the best.

        Returns
        -------
        list of (score, number of the direction, Perceptron)
            The best stumps of directions whose scores are equal to the best score of all. None of
            a score below `floor`.
        """
        values = directions @ self._features
        order, edges = edges_on_lines(values, signed)
        scores = np.abs(edges)
        scores += violation[:, None]
        # Most directions fall out here, before it is seen which samples a threshold can part.
        remaining = np.flatnonzero(scores.max(axis=1) >= floor)
        values = np.take_along_axis(values[remaining], order[remaining], axis=1)
        scores = np.where(is_separable(values), scores[remaining], -np.inf)
        best_scores = scores.max(axis=1)
        min_score = max(floor, best_scores.max(initial=-np.inf) - EQUAL * scale)
        candidates = np.flatnonzero((best_scores >= min_score) & (best_scores > -np.inf))
        stumps = []
        for i, rank in zip(candidates, first_largest(scores[candidates], scale), strict=True):
            problem = remaining[i]
            direction = (
                directions[problem]
                if edges[problem, rank] >= -EQUAL * scale
                else -directions[problem]
            )
            threshold = above_middle(*np.sort(self.X[order[problem, rank : rank + 2]] @ direction))
            stumps.append((float(best_scores[i]), problem, Perceptron(direction, float(threshold))))
        return stumps


def _iter_blocks(values, length):
    return (values[start : start + length] for start in range(0, len(values), length))


def _outer_squares(vectors):
    return vectors[:, :, None] * vectors[:, None]
