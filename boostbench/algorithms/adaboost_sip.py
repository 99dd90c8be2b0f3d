"""AdaBoost.SIP: each stump comes with the division of the classes that suits it best."""

import numpy as np

from boostbench.algorithms.adaboost_ecc import AdaBoostECC, _ECCMaster
from boostbench.algorithms.stagewise import NO_EDGE
from boostbench.core.weak.quick_stumps import QuickStumpSearch


class AdaBoostSIP(AdaBoostECC):
    r"""AdaBoost.SIP with stumps: AdaBoost.ECC whose codes are optimal.

    AdaBoost.ECC draws the code :math:`\mu_t`, then finds the stump for it. AdaBoost.SIP finds both
    at once: of all stumps h and all codes in {-1, +1}, those along which the loss of
    `AdaBoostECC` falls most steeply,

    .. math:: \max_{h, \mu} \sum_i \sum_{r \ne y_i} u_{ir} (\mu(y_i) - \mu(r)) h(x_i),

    where :math:`u_{ir}` is the weight of the wrong label r of sample i. For a given stump the best
    code is the sign, class by class, of ``sum_i G[i, r] h(x_i)``, where G is
    :math:`-u_{ir}` and, at the own class, what makes a row sum to 0. The coefficients are those of
    AdaBoost.ECC.

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most. Training ends earlier where no stump has an edge, or where one
        leaves no error at all.
    max_bins : int or None, default=None
        None searches all thresholds; an integer that many quantile bins per feature.
    votes : {"two", "one"}, default="two"
        As of `AdaBoostECC`.
    random_state : int, RandomState instance or None, default=None
        Unused: the algorithm is deterministic.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.learners.Stumps
    coefficients_, intercepts_ : ndarray of shape (n_iterations_, n_classes)
        As of `AdaBoostECC`.

    Notes
    -----
    Papers 1 and 2 only name it. What is built here is what is known of [1]_ without its text: weak
    learners and code are found together, by the negative gradient of a cost of margins. That
    the cost is AdaBoost.ECC's, the coefficients are its votes, and stumps stand for the paper's
    patterns of image patches is our reading.

    References
    ----------
    .. [1] B. Zhang, G. Ye, Y. Wang, J. Xu and G. Herman, "Finding shareable informative patterns
       and optimal coding matrix for multiclass boosting", ICCV 2009. It is "AdaBoost.SIP" in
       Table VIII of paper 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostSIP(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    def _master(self, X, labels, random_state):
        search = QuickStumpSearch(X, self.max_bins)
        return _SIPMaster(search, labels, len(self.classes_), self.votes, rng=None)


class _SIPMaster(_ECCMaster):
    def generate(self):
        if not self.search.n_positions:
            return None
        gains = -self.weights
        gains[np.arange(len(gains)), self.labels] = self.weights.sum(axis=1)
        stump, code, edge = self.search.best_vote(gains)
        target = code[self.labels]
        by_side = self.weights @ np.column_stack([code < 0, code > 0]).astype(float)
        across = np.where(target > 0, by_side[:, 0], by_side[:, 1])
        total, share = by_side.sum(), across.sum()
        # Each pair of classes on different sides counts twice in the sum over classes.
        if share == 0 or edge <= 2 * NO_EDGE * share:
            return None
        return stump, code, across / share, edge / (2 * share), share / total, total
