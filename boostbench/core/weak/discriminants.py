"""Weighted linear discriminants on randomly projected data, beside the stumps on them.

Point (r, i) of the projected data is :math:`P^{(r)} x_i`, that is ``P @ z`` for the matrix ``P``
of all classes side by side and ``z`` with x_i at the place of class r and 0 elsewhere. A linear
function of the projected data is therefore a linear function of z, which has n_classes x n_features
coefficients, however many projections there are.
"""

import numpy as np

from boostbench.core.weak.projected import ProjectedStump
from boostbench.core.weak.wlda import fisher_direction


class ProjectedDiscriminants:
    """The search of paper 1, Table VI: one discriminant is added to the projected features.

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
        """Stump of the largest edge.

        Parameters
        ----------
        G : ndarray of shape (n_samples, n_classes)
            Sums to zero.

        Returns
        -------
        ProjectedStump
            With the polarity that makes its edge positive.
        """
        candidates = [self.search.best(G), self._discriminant_stump(G)]
        return max(candidates, key=lambda stump: (G * stump(self.X)).sum())

    def _discriminant_stump(self, G):
        directions = self._discriminant(G)
        values = (self.X @ directions.T).ravel()
        order = values.argsort()
        values, above = values[order], -G.ravel()[order].cumsum()
        # No threshold parts values that differ by rounding only.
        equal = np.diff(values) <= 4 * np.finfo(float).eps * np.abs(values[[0, -1]]).max()
        above[:-1][equal] = 0.0
        at = int(np.abs(above[:-1]).argmax())
        threshold = (values[at] + values[at + 1]) / 2
        return ProjectedStump(directions, float(threshold), 1 if above[at] >= 0 else -1)

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
