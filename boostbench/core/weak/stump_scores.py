"""Scores of a linear combination of stumps by direct evaluation of every stump."""

import numpy as np

# Outputs of that many samples and stumps at a time stay in the cache between the comparison with
# the thresholds and the product with the coefficients.
_BLOCK = 2**17


def stump_scores(stumps, coefficients, X, some=slice(None)):
    """Score classes by some of the stumps.

    Parameters
    ----------
    stumps : boostbench.core.weak.stumps.Stumps
    coefficients : ndarray of shape (n_hypotheses, n_classes)
    X : ndarray of shape (n_samples, n_features)
    some : slice, default=slice(None)
        Which stumps; all by default.

    Returns
    -------
    ndarray of shape (n_samples, n_classes), dtype=float64
        ``stumps.outputs(X, some) @ coefficients[some]``, several times faster.

    Examples
    --------
    >>> from boostbench.core.weak.stumps import Stumps
    >>> from boostbench.core.weak.stumps import Stump
    >>> stumps = Stumps([Stump(0, 1.5), Stump(0, 0.5, -1)])
    >>> stump_scores(stumps, np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.0], [1.0]]))
    array([[-1.,  1.],
           [-1., -1.]])
    """
    feature, threshold = stumps.feature[some], stumps.threshold[some, None]
    votes = np.ascontiguousarray((stumps.polarity[some, None] * coefficients[some]).T)
    # As class-major arrays: gathering the features of the stumps copies whole rows then.
    columns = np.ascontiguousarray(X.T)
    scores = np.repeat(-votes.sum(axis=1, keepdims=True), len(X), axis=1)
    votes *= 2.0
    width = max(1, _BLOCK // max(1, len(X)))
    for start in range(0, len(feature), width):
        block = slice(start, start + width)
        above = columns.take(feature[block], axis=0) > threshold[block]
        scores += votes[:, block] @ above.astype(np.float64)
    return scores.T
