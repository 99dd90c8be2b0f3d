"""Stump ensembles as additive models: a function of one feature for each feature."""

import numpy as np


class AdditiveTables:
    r"""Scores :math:`F(x) = \sum_t h_t(x) W_t` of stumps h, as one table per feature.

    The stumps of a feature together are a step function of it. So all scores come from one binary
    search and one row of a table per feature, however many stumps there are.

    Parameters
    ----------
    stumps : boostbench.core.weak.stumps.Stumps
    coefficients : ndarray of shape (n_hypotheses, n_classes)
        W.

    Attributes
    ----------
    thresholds : list of ndarray
        The distinct thresholds of each feature in use, ascending.
    tables : list of ndarray of shape (n_thresholds + 1, n_classes)
        What a feature adds to the scores up to its first threshold, between the first and the
        second, and so on.
    features : ndarray
        The features in use.

    Examples
    --------
    >>> from boostbench.core.weak.stumps import Stump, Stumps
    >>> stumps = Stumps([Stump(0, 1.5), Stump(0, 0.5, -1)])
    >>> tables = AdditiveTables(stumps, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> tables.scores(np.array([[0.0], [1.0], [2.0]]))
    array([[-1.,  1.],
           [-1., -1.],
           [ 1., -1.]])
    """

    def __init__(self, stumps, coefficients):
        self._n_classes = coefficients.shape[1]
        signed = stumps.polarity[:, None] * coefficients
        self.features = np.unique(stumps.feature)
        self.thresholds, self.tables = [], []
        for feature in self.features:
            of_feature = stumps.feature == feature
            thresholds, step = np.unique(stumps.threshold[of_feature], return_inverse=True)
            steps = np.zeros((len(thresholds) + 1, self._n_classes))
            steps[0] = -signed[of_feature].sum(axis=0)
            np.add.at(steps, step + 1, 2.0 * signed[of_feature])
            self.thresholds.append(thresholds)
            self.tables.append(np.cumsum(steps, axis=0))

    @property
    def n_parameters(self):
        """Numbers that prediction needs."""
        return sum(t.size for t in self.thresholds) + sum(t.size for t in self.tables)

    def scores(self, X):
        """Score the classes for each row of X: of shape (n_samples, n_classes)."""
        scores = np.zeros((len(X), self._n_classes))
        columns = np.ascontiguousarray(X.T[self.features])
        for values, thresholds, table in zip(columns, self.thresholds, self.tables, strict=True):
            scores += table.take(thresholds.searchsorted(values), axis=0, mode="clip")
        return scores
