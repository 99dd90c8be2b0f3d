"""Boosting in a randomly projected space: RandomBoost's example of why that can help."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from boostbench.algorithms.adaboost import AdaBoostMH


class ProjectedAdaBoostMH(AdaBoostMH):
    """AdaBoost.MH whose stumps see a random projection of the features instead of the features.

    RandomBoost, Fig. 2, shows it on a projection that was "selectively chosen". Here `draw` is a
    parameter that cross-validation can choose.

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most; see `AdaBoostMH`.
    max_bins : int or None, default=None
        None searches all thresholds; an integer that many quantile bins per projected feature.
    n_components : int, default=2
        Dimension of the projected space.
    draw : int, default=0
        Seed of the projection matrix.
    random_state : int, RandomState instance or None, default=None
        Unused: `draw` decides.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features_in_, n_components)
        Entries drawn from N(0, 1).

    See Also
    --------
    RBoostRank : Projects to many dimensions, for each class anew.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ProjectedAdaBoostMH(n_iterations=50, draw=1).fit(X, y).score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar = {
        **AdaBoostMH._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "draw": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(self, n_iterations=1000, max_bins=None, n_components=2, draw=0, random_state=None):
        super().__init__(n_iterations, max_bins, random_state)
        self.n_components = n_components
        self.draw = draw

    def project(self, X):
        """Go to the projected space.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return X @ self.projection_

    def unproject(self, Z):
        """Find what is projected to given points: the shortest where there are several.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return Z @ np.linalg.pinv(self.projection_)

    def _master(self, X, labels, random_state):
        rng = np.random.default_rng(self.draw)
        self.projection_ = rng.standard_normal((X.shape[1], self.n_components))
        return super()._master(self.project(X), labels, random_state)

    def _keep(self, master):
        super()._keep(master)
        self.n_parameters_ += self.projection_.size

    def _staged_scores(self, X, stages):
        return super()._staged_scores(self.project(X), stages)
