"""Weighted Fisher linear discriminants (WLDA) and the stumps on them: RandomBoost, Table VI.

A discriminant is the direction along which two classes of weighted points are separated best:
the inverse of the sum of their covariance matrices, times the difference of their means.

`ProjectedDiscriminantSearch` is for RBoost^rank, in which class r has its own projection matrix
:math:`P^{(r)}`. The projected data have a point (r, i) for each class r and sample i:
:math:`P^{(r)} x_i`. It is written as P z: P has the matrices of all classes side by side, and z is
x_i in the block of class r and 0 in the other blocks. A linear function of the projected data is
therefore a linear function of z, with n_classes * n_features coefficients for any number of
projections. Each :math:`P^{(r)}` has the shape (n_projections, n_features), P the shape
(n_projections, n_classes * n_features).

`OutputCodeDiscriminantSearch` is for RBoost^proj, eq. (24). A code turns the weights of a sample in
the classes into one signed weight, ``sum_r weights[i, r] code[r]``. Its sign is the target of the
sample, and its absolute value is the weight of the sample in a two-class problem. The search takes
the weighted linear discriminant of every code's problem, and the best stump on its direction.
"""

from operator import itemgetter

import numpy as np

from boostbench.core.learners.perceptrons import (
    Perceptron,
    Perceptrons,
    differs_from_next,
    edges_on_lines,
)
from boostbench.core.learners.projected_stumps import ProjectedStump
from boostbench.core.stumps.thresholds import above_middle
from boostbench.core.weak_learner import TIE_TOLERANCE, SearchResult, argmax_with_tolerance

# Directions with a within-class variance below this fraction of the largest variance are excluded.
# They come from rounding errors or constant features.
_RANK_TOLERANCE = 1e-10

# Maximum number of codes in a block, which is evaluated at a time. Blocks are small, since the best
# score of a block excludes later blocks by their bounds.
_BLOCK_CODES = 64

# Maximum number of values in an array of such a block (16 MB).
_BLOCK_VALUES = 2**21

# Number of values in a block of products of two features (16 MB).
_PRODUCT_VALUES = 2**21

# Maximum number of products of two features, over all samples, that are cached (64 MB).
_MAX_CACHED_VALUES = 2**23


def fisher_direction(within, difference):
    r"""Return :math:`(\Sigma_1 + \Sigma_2)^{-1} (\mu_1 - \mu_2)`, by the pseudo-inverse.

    Parameters
    ----------
    within : ndarray of shape (..., n_features, n_features)
        Sum of covariances :math:`\Sigma_1 + \Sigma_2`.
    difference : ndarray of shape (..., n_features)
        Difference of means :math:`\mu_1 - \mu_2`.

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
    """Search over projected features and one discriminant of them: RandomBoost, Table VI.

    Every round draws a subset of the projected features. The discriminant separates points with
    positive weights from points with negative weights in this subset. The result is the best stump
    on the discriminant or on a projected feature.

    Parameters
    ----------
    search : IndependentProjectionSearch or PooledProjectionSearch
        Search over the projected features, from `boostbench.core.learners.projected_stumps`.
    X : ndarray of shape (n_samples, n_features)
        Training data.
    n_projections : int
        Number of projected features.
    n_selected : int
        Number of projected features that a round draws, at most `n_projections`.
    rng : numpy.random.Generator

    Notes
    -----
    If `n_selected` is at least the dimension of z, the projected features span the space of z.
    Then the discriminant is computed in that space directly, and does not depend on the draw.
    """

    def __init__(self, search, X, n_projections, n_selected, rng):
        self.search = search
        self.X = X
        self.n_projections = n_projections
        self.n_selected = min(n_selected, n_projections)
        self.rng = rng

    def best(self, G):
        """Return the stump with the largest edge, for G that sums to zero; see `Search.best`.

        G has the signed weight of point (r, i) in row i and column r. The polarity of the stump
        makes its edge positive. Ties go to the projected feature, then to the lowest
        threshold on the discriminant.
        """
        candidates = self.search.best(G), self._discriminant_stump(G)
        edges = np.array([result.edge for result in candidates])
        return candidates[argmax_with_tolerance(edges, np.abs(G).sum())]

    def _discriminant_stump(self, G):
        """Return the best stump on the discriminant, as a `SearchResult`.

        The points (r, i) of all classes r and samples i lie on one line, at
        ``directions[r] @ X[i]``.
        """
        directions = self._discriminant(G)
        values = (self.X @ directions.T).reshape(1, -1)
        order, edges = edges_on_lines(values, G.reshape(1, -1))
        values = np.take_along_axis(values, order, axis=1)
        # Points that are equal up to rounding have no threshold between them.
        scores = np.where(differs_from_next(values)[0], np.abs(edges[0]), -np.inf)
        first = int(argmax_with_tolerance(scores, np.abs(G).sum()))
        polarity = 1 if edges[0, first] >= 0 else -1
        threshold = above_middle(*values[0, first : first + 2])
        return ProjectedStump(directions, float(threshold), polarity).make_result(self.X, G)

    def _discriminant(self, G):
        """Return the discriminant of a random subset of the projected features.

        Returns
        -------
        ndarray of shape (n_classes, n_features)
            Direction of each class: the discriminant as a function of z.
        """
        # P holds the selected rows of all projection matrices side by side, and z is the vector of
        # a point (module docstring). If z has the covariance M, P z has P M P'. A direction d for
        # P z is the direction P' d for z.
        within, difference = self._moments(G)
        selected = self.rng.choice(self.n_projections, self.n_selected, replace=False)
        if self.n_selected >= len(difference):
            direction = fisher_direction(within, difference)
        else:
            P = self.search.projection_rows(selected).reshape(self.n_selected, -1)
            direction = P.T @ fisher_direction(P @ within @ P.T, P @ difference)
        return direction.reshape(G.shape[1], -1)

    def _moments(self, G):
        """Return the sum of the covariances, and the difference of the means, of z.

        The two classes are the points with positive and with negative weights.

        Returns
        -------
        within : ndarray of shape (n_classes * n_features, n_classes * n_features)
        difference : ndarray of shape (n_classes * n_features,)
        """
        # Point (r, i) has x_i in the block of class r of z, so that second moments of z vanish
        # between different classes.
        n_classes, n_features = G.shape[1], self.X.shape[1]
        within = np.zeros((n_classes, n_features, n_classes, n_features))
        means = []
        for weights in (np.maximum(G, 0.0), np.maximum(-G, 0.0)):
            weights = weights / weights.sum()
            for r in range(n_classes):
                within[r, :, r] += (self.X * weights[:, [r]]).T @ self.X
            means.append((weights.T @ self.X).ravel())
        # A second moment minus the outer product of the mean is a covariance.
        size = n_classes * n_features
        within = within.reshape(size, size)
        for mean in means:
            within -= np.outer(mean, mean)
        return within, means[0] - means[1]


class OutputCodeDiscriminantSearch:
    """Search for the best stump on a discriminant, and for the best code.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.

    Attributes
    ----------
    stack_type : type
        Type of the stack of the weak learners, in which the booster stores its model.
    n_learner_parameters : int
        Number of parameters of a weak learner without its sign: a direction and a threshold. The
        booster counts the parameters of its model with it.
    """

    stack_type = Perceptrons

    def __init__(self, X):
        self.X = X
        self.n_learner_parameters = X.shape[1] + 1
        # Centred features have smaller rounding errors of the variances.
        self._features = np.ascontiguousarray((X - X.mean(axis=0)).T)
        self._pairs = np.triu_indices(X.shape[1])
        is_cacheable = len(self._pairs[0]) * len(X) <= _MAX_CACHED_VALUES
        self._cached_products = list(self._iter_products()) if is_cacheable else None

    def best(self, G, codes, violation):
        """Return the perceptron and the index v of a code with the largest ``violation[v] + edge``.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_classes)
            Weight of each sample in each class.
        codes : ndarray of shape (n_codes, n_classes)
            One number per class: a new weak learner h adds ``code[r] * h(x)`` to the score of class
            r.
        violation : ndarray of shape (n_codes,)
            Violation of each code's constraint in eq. (24) without the new weak learner.

        Returns
        -------
        SearchResult or None
            The learner is a `Perceptron`. `SearchResult.edge` holds ``violation[v] + edge``, and
            `SearchResult.column` holds v. Ties go to the first code, then to its lowest threshold.
            None if no discriminant separates any samples.

        Notes
        -----
        The score of a code is at most ``violation[v]`` plus the sum of its absolute weights. Codes
        are evaluated in descending order of this bound, until it is below the best score.
        """
        # 1) Bound the score of each code.
        block_size = max(
            1, min(_BLOCK_CODES, _BLOCK_VALUES // max(len(self.X), self.X.shape[1] ** 2))
        )
        weights = np.ascontiguousarray(G.T)
        absolute_sums = [
            np.abs(block @ weights).sum(axis=1) for block in _iter_blocks(codes, block_size)
        ]
        bounds = violation + np.concatenate(absolute_sums)
        # Ties are relative to the largest sum of absolute weights plus the largest violation.
        scale = float(np.max(bounds - violation) + np.abs(violation).max())
        # 2) Evaluate the codes in descending order of their bounds, and collect the best stumps as
        # (score, index of the code, perceptron).
        best, candidates = -np.inf, []
        for block in _iter_blocks(bounds.argsort()[::-1], block_size):
            floor = best - TIE_TOLERANCE * scale
            if bounds[block[0]] < floor:
                break
            signed_weights = codes[block] @ weights
            directions = self._directions(signed_weights)
            stumps = self._tied_stumps(
                directions, signed_weights, violation[block], floor=floor, scale=scale
            )
            candidates += [(score, int(block[v]), perceptron) for score, v, perceptron in stumps]
            best = max([best, *(score for score, _, _ in stumps)])
        # 3) Take the first code among the ties.
        ties = [stump for stump in candidates if stump[0] >= best - TIE_TOLERANCE * scale]
        if not ties:
            return None
        _, column, perceptron = min(ties, key=itemgetter(1))
        outputs = perceptron(self.X)
        edge = float(violation[column] + outputs @ G @ codes[column])
        return SearchResult(perceptron, outputs, edge, column)

    def _directions(self, signed_weights):
        """Return the discriminants, of shape (n_problems, n_features).

        Parameters
        ----------
        signed_weights : ndarray of shape (n_problems, n_samples)
            Weights of the two-class problem of each code; the sign is the side of the sample.
        """
        # The weights of each side are divided by their sum: the shares, which are positive for both
        # sides. The sum of both covariances is the second moment of all samples minus
        # m1 m1' + m2 m2' for the means m1 and m2 of the sides, and m1 m1' + m2 m2' =
        # (s s' + d d') / 2 for s = m1 + m2 (`total`) and d = m1 - m2 (`difference`).
        positive = np.maximum(signed_weights, 0).sum(axis=1, keepdims=True)
        negative = np.minimum(signed_weights, 0).sum(axis=1, keepdims=True)
        # `tiny` prevents a division by 0 if a side has no weight.
        tiny = np.finfo(float).tiny
        shares = signed_weights / np.where(signed_weights > 0, positive + tiny, negative - tiny)
        difference = np.copysign(shares, signed_weights) @ self._features.T
        total = shares @ self._features.T
        within = self._second_moments(shares)
        within -= (_outer_squares(total) + _outer_squares(difference)) / 2
        return fisher_direction(within, difference)

    def _second_moments(self, shares):
        """Return ``sum_i shares[p, i] x_i x_i'`` of each problem p.

        Parameters
        ----------
        shares : ndarray of shape (n_problems, n_samples)

        Returns
        -------
        ndarray of shape (n_problems, n_features, n_features)
        """
        n_features = len(self._features)
        moments = np.empty((len(shares), n_features, n_features))
        # The indices i and j are arrays, of a block of pairs of features.
        for i, j, products in self._cached_products or self._iter_products():
            sums = shares @ products.T
            moments[:, i, j] = sums
            moments[:, j, i] = sums
        return moments

    def _iter_products(self):
        """Yield the products of all pairs of features, in blocks.

        Yields
        ------
        i, j : ndarray of shape (n_block_pairs,)
            Features of each pair, i <= j.
        products : ndarray of shape (n_block_pairs, n_samples)
        """
        rows, columns = self._pairs
        width = max(1, _PRODUCT_VALUES // len(self.X))
        for i, j in zip(_iter_blocks(rows, width), _iter_blocks(columns, width), strict=True):
            yield i, j, self._features[i] * self._features[j]

    def _tied_stumps(self, directions, signed_weights, violation, floor, scale):
        """Return the stumps on given directions that tie for the best score.

        Parameters
        ----------
        directions : ndarray of shape (n_problems, n_features)
        signed_weights : ndarray of shape (n_problems, n_samples)
            Signed weights of each problem.
        violation : ndarray of shape (n_problems,)
        floor : float
            Smallest score of interest.
        scale : float
            Upper bound of the scores, which defines the tolerance for ties.

        Returns
        -------
        list of (score, index of the direction, Perceptron)
            The best stump of each direction whose best score ties with the best score of all.
        """
        values = directions @ self._features
        order, edges = edges_on_lines(values, signed_weights)
        scores = np.abs(edges)
        scores += violation[:, None]
        # This bound excludes most directions before the costlier check for equal samples.
        remaining = np.flatnonzero(scores.max(axis=1) >= floor)
        values = np.take_along_axis(values[remaining], order[remaining], axis=1)
        scores = np.where(differs_from_next(values), scores[remaining], -np.inf)
        best_scores = scores.max(axis=1)
        min_score = max(floor, best_scores.max(initial=-np.inf) - TIE_TOLERANCE * scale)
        candidates = np.flatnonzero((best_scores >= min_score) & (best_scores > -np.inf))
        # `problem` is the index of a given direction, and i its row in `values` and `scores`.
        stumps = []
        for i, rank in zip(
            candidates, argmax_with_tolerance(scores[candidates], scale), strict=True
        ):
            problem = remaining[i]
            sign = 1.0 if edges[problem, rank] >= -TIE_TOLERANCE * scale else -1.0
            direction = sign * directions[problem]
            # A negative sign reverses the order of the two values.
            threshold = above_middle(*np.sort(self.X[order[problem, rank : rank + 2]] @ direction))
            stumps.append((float(best_scores[i]), problem, Perceptron(direction, float(threshold))))
        return stumps


def _iter_blocks(values, length):
    """Iterate over consecutive parts of at most `length` elements."""
    return (values[start : start + length] for start in range(0, len(values), length))


def _outer_squares(vectors):
    """Return the outer product of each row with itself, (n_rows, n_columns, n_columns)."""
    return vectors[:, :, None] * vectors[:, None]
