"""Stump ensembles as additive models: a function of one feature for each feature."""

import numpy as np


def additive_tables(stumps, coefficients):
    r"""Give the scores :math:`F(x) = \sum_t h_t(x) W_t` of stumps h as one table per feature.

    The stumps of a feature together are a step function of it. So all scores come from one binary
    search and one row of a table per feature, however many stumps there are.

    Parameters
    ----------
    stumps : boostbench.core.weak.stump.Stumps
    coefficients : ndarray of shape (n_hypotheses, n_classes)
        W.

    Yields
    ------
    feature : int
        One that is in use, in their order.
    thresholds : ndarray
        Its distinct thresholds, ascending.
    table : ndarray of shape (n_thresholds + 1, n_classes)
        What it adds to the scores up to its first threshold, between the first and the second, and
        so on.

    Examples
    --------
    >>> from boostbench.core.weak.stump import Stump, Stumps
    >>> stumps = Stumps([Stump(0, 1.5), Stump(0, 0.5, -1)])
    >>> [(_, thresholds, table)] = additive_tables(stumps, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> thresholds
    array([0.5, 1.5])
    >>> table
    array([[-1.,  1.],
           [-1., -1.],
           [ 1., -1.]])
    """
    signed = stumps.polarity[:, None] * coefficients
    for feature in np.unique(stumps.feature):
        of_feature = stumps.feature == feature
        thresholds, step = np.unique(stumps.threshold[of_feature], return_inverse=True)
        steps = np.zeros((len(thresholds) + 1, coefficients.shape[1]))
        steps[0] = -signed[of_feature].sum(axis=0)
        np.add.at(steps, step + 1, 2.0 * signed[of_feature])
        yield feature, thresholds, np.cumsum(steps, axis=0)
