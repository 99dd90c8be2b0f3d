"""The AdaBoost family: AdaBoost for two classes, AdaBoost.MH for more."""

import numpy as np

from boostbench.algorithms.base import ColumnGenerationClassifier, Master, spans
from boostbench.core.learners import Stumps
from boostbench.core.stumps import StumpSearch

# An edge this near to 1 is a perfect weak learner: its coefficient would be infinite.
_PERFECT = 1.0 - 1e-10


class _StageWiseStumps(ColumnGenerationClassifier):
    """Classifiers of the form ``F(x) = sum_t h_t(x) W[t]`` with stumps and vote vectors."""

    def __init__(self, n_iterations=1000, max_bins=None, random_state=None):
        self.n_iterations = n_iterations
        self.max_bins = max_bins
        self.random_state = random_state

    def _keep(self, master):
        self.hypotheses_ = Stumps(master.stumps)
        self.coefficients_ = np.reshape(master.votes, (len(master.stumps), len(self.classes_)))
        self.n_parameters_ = 2 * len(self.hypotheses_) + self.coefficients_.size

    def _staged_scores(self, X, stages):
        scores = np.zeros((len(X), len(self.classes_)))
        for some in spans(stages):
            scores = scores + self.hypotheses_.outputs(X, some) @ self.coefficients_[some]
            yield scores


class AdaBoostMH(_StageWiseStumps):
    r"""AdaBoost.MH with one stump and one vote vector per round.

    Every sample carries a weight for every label. A round adds ``alpha_t h_t(x) v_t``, a stump h_t
    with a vote of -1 or +1 for each class, which minimises the exponential loss

    .. math:: \sum_{i,r} \exp(-Y_{ir} F_r(x_i)), \quad Y_{ir} = 2 [r = y_i] - 1

    by :math:`\alpha_t = \frac12 \log \frac{1 + g}{1 - g}` with
    :math:`g = \sum_r |\sum_i D_{ir} Y_{ir} h_t(x_i)|`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most. Training ends earlier where no stump has an edge, or where one is
        perfect.
    max_bins : int or None, default=None
        None searches all thresholds; an integer that many quantile bins per feature.
    random_state : int, RandomState instance or None, default=None
        Unused: the algorithm is deterministic.

    Attributes
    ----------
    hypotheses_ : boostbench.core.learners.Stumps
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        ``alpha_t v_t`` for each round.

    See Also
    --------
    AdaBoost : The case of two classes.

    References
    ----------
    .. [1] R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999. It is the baseline "AdaBoost.MH" of papers 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostMH(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    def _master(self, X, labels, random_state):
        return _MHMaster(StumpSearch(X, self.max_bins), labels, len(self.classes_))


class AdaBoost(_StageWiseStumps):
    r"""Discrete AdaBoost with stumps, for two classes.

    A round adds ``alpha_t h_t(x)`` with the stump of the least weighted error :math:`\epsilon_t`
    and :math:`\alpha_t = \frac12 \log \frac{1 - \epsilon_t}{\epsilon_t}`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most. Training ends earlier where no stump is better than chance, or
        where one is perfect.
    max_bins : int or None, default=None
        None searches all thresholds; an integer that many quantile bins per feature.
    random_state : int, RandomState instance or None, default=None
        Unused: the algorithm is deterministic.

    Attributes
    ----------
    hypotheses_ : boostbench.core.learners.Stumps
    coefficients_ : ndarray of shape (n_iterations_, 2)
        ``(-alpha_t / 2, alpha_t / 2)`` for each round: half for either class, so that the
        difference of the scores is AdaBoost's F.

    See Also
    --------
    AdaBoostMH : More classes.

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning
       and an application to boosting", J. Comput. System Sci. 55, 1997. It is the baseline
       "AdaBoost" of paper 1, Table IV.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AdaBoost(n_iterations=50).fit(X, y).score(X, y) > 0.97
    True
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _master(self, X, labels, random_state):
        return _BinaryMaster(StumpSearch(X, self.max_bins), labels)


class _StumpMaster(Master):
    """What the stage-wise masters share: stumps, votes and signed weights ``G = D Y``."""

    def __init__(self, search, n_columns):
        self.search = search
        self.weights = np.empty((len(search.X), n_columns))
        self.stumps = []
        self.votes = []

    def step(self, edge):
        """Return the coefficient for an edge in [0, 1] and whether it leaves errors to correct."""
        capped = min(edge, _PERFECT)
        return 0.5 * np.log((1 + capped) / (1 - capped)), edge < _PERFECT


class _BinaryMaster(_StumpMaster):
    def __init__(self, search, labels):
        super().__init__(search, 1)
        self.weights[:, 0] = (2.0 * labels - 1) / len(labels)

    def generate(self):
        if not self.search.n_positions:
            return None
        stump, _, edge = self.search.best(self.weights)
        return (stump, edge) if edge > np.finfo(np.float32).eps else None

    def correct(self, column):
        stump, edge = column
        alpha, imperfect = self.step(edge)
        self.stumps.append(stump)
        self.votes.append([-alpha / 2, alpha / 2])
        if imperfect:
            margin = np.where(self.weights[:, 0] > 0, alpha, -alpha) * stump(self.search.X)
            self.weights[:, 0] *= np.exp(-margin)
            self.weights /= np.abs(self.weights).sum()
        return imperfect


class _MHMaster(_StumpMaster):
    def __init__(self, search, labels, n_classes):
        super().__init__(search, n_classes)
        self.labels = labels
        self.signs = 2.0 * np.eye(n_classes) - 1
        self.weights[:] = self.signs[labels] / self.weights.size

    def generate(self):
        if not self.search.n_positions:
            return None
        stump, votes, edge = self.search.best_vote(self.weights)
        return (stump, votes, edge) if edge > np.finfo(np.float32).eps else None

    def correct(self, column):
        stump, votes, edge = column
        alpha, imperfect = self.step(edge)
        self.stumps.append(stump)
        self.votes.append(alpha * votes)
        if imperfect:
            # The factor of a weight depends on its sample by side of the stump and label only: a
            # table of 2 n_classes rows replaces one exponential per weight.
            margins = alpha * self.signs * votes
            table = np.exp(np.concatenate([margins, -margins]))
            above = stump(self.search.X) > 0
            # The weights have sum 1, so the factors' mean is known: the loss falls by that much.
            table /= np.sqrt(1 - edge**2)
            self.weights *= table.take(self.labels + len(self.signs) * above, axis=0, mode="clip")
        return imperfect
