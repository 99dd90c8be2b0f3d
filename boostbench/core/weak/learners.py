"""Stacked weak learners: T hypotheses, evaluated as one matrix."""

import numpy as np


class Stumps:
    """T stacked stumps.

    Parameters
    ----------
    stumps : sequence of boostbench.core.weak.stumps.Stump

    Attributes
    ----------
    feature : ndarray of shape (n_hypotheses,), dtype=int64
    threshold : ndarray of shape (n_hypotheses,), dtype=float64
    polarity : ndarray of shape (n_hypotheses,), dtype=float64
    """

    def __init__(self, stumps):
        self.feature = np.array([s.feature for s in stumps], dtype=np.int64)
        self.threshold = np.array([s.threshold for s in stumps], dtype=np.float64)
        self.polarity = np.array([s.polarity for s in stumps], dtype=np.float64)

    def __len__(self):
        return len(self.feature)

    def outputs(self, X, some=slice(None)):
        """Evaluate some of the hypotheses.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        some : slice, default=slice(None)
            Which; all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_some), dtype=float64
            -1 or +1.
        """
        above = X[:, self.feature[some]] > self.threshold[some]
        return np.where(above, self.polarity[some], -self.polarity[some])


class ProjectedStumps:
    """T stacked stumps, each on a projection of the data of its own for every class.

    Hypothesis t for class r is ``polarity[t] * (+1 if directions[t, r] @ x > threshold[t] else
    -1)``: paper 1 writes it :math:`h_t(P^{(r)} x)`.

    Parameters
    ----------
    directions : ndarray of shape (n_hypotheses, n_classes, n_features)
    threshold : ndarray of shape (n_hypotheses,)
    polarity : ndarray of shape (n_hypotheses,)
        -1 or +1.
    """

    def __init__(self, directions, threshold, polarity):
        self.directions = np.asarray(directions, dtype=np.float64)
        self.threshold = np.asarray(threshold, dtype=np.float64)
        self.polarity = np.asarray(polarity, dtype=np.float64)

    def __len__(self):
        return len(self.threshold)

    def outputs(self, X, some=slice(None)):
        """Evaluate some of the hypotheses for all classes.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        some : slice, default=slice(None)
            Which; all by default.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, n_some), dtype=float64
            -1 or +1.
        """
        directions = self.directions[some].transpose(1, 0, 2)
        projected = X @ directions.reshape(-1, directions.shape[2]).T
        projected = projected.reshape(len(X), *directions.shape[:2])
        polarity = self.polarity[some]
        return np.where(projected > self.threshold[some], polarity, -polarity)
