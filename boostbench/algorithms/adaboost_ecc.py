"""AdaBoost.ECC: a new binary problem, a random half of the classes, in every round."""

from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from boostbench.algorithms.base import spans
from boostbench.algorithms.stagewise import NO_EDGE, PERFECT, StageWiseStumps, StumpMaster
from boostbench.core.codewords import random_half
from boostbench.core.weak.quick_stumps import QuickStumpSearch

# Added to the weight that a side of a stump has right, and to what it has wrong: on a side without
# mistakes the vote would be infinite.
_SMOOTHING = 1e-10

# No stump may have an edge for one half of the classes while there are some for others. Training
# ends where that many halves in a row leave none.
_HALVES = 50


class AdaBoostECC(StageWiseStumps):
    r"""AdaBoost.ECC with stumps and random halves of the classes.

    Every sample carries a weight for every wrong label. A round draws a code :math:`\mu_t`, which
    is +1 for a random half of the classes and -1 for the others, and finds the stump h_t for the
    labels :math:`\mu_t(y_i)`; a sample weighs as much there as its wrong labels on the other side.
    The round adds :math:`g_t(x) \mu_t(r)` to the score of class r, where the vote
    :math:`g_t(x)` is :math:`\alpha_t` where h_t is +1, and :math:`-\beta_t` where it is -1: half
    the logarithm of the weights it has right there over those it has wrong. This lowers the loss

    .. math:: \sum_i \sum_{r \ne y_i} \exp(-\tfrac12 (F_{y_i}(x_i) - F_r(x_i))).

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most. Training ends earlier where no stump has an edge, or where one
        leaves no error at all.
    max_bins : int or None, default=None
        None searches all thresholds; an integer that many quantile bins per feature.
    votes : {"two", "one"}, default="two"
        ``"two"``: :math:`\alpha_t` and :math:`\beta_t`, as published. ``"one"``: AdaBoost's
        coefficient for both.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.learners.Stumps
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        :math:`\frac12 (\alpha_t + \beta_t) \mu_t`.
    intercepts_ : ndarray of shape (n_iterations_, n_classes)
        :math:`\frac12 (\alpha_t - \beta_t) \mu_t`: a round adds
        ``h_t(x) * coefficients_[t] + intercepts_[t]`` to the scores.

    See Also
    --------
    AdaBoostMO : All divisions of the classes, in every round.

    References
    ----------
    .. [1] V. Guruswami and A. Sahai, "Multiclass learning, boosting, and error-correcting codes",
       COLT 1999. It is the baseline "AdaBoost.ECC" of papers 1 and 2.
    .. [2] L. Li, "Multiclass boosting with repartitioning", ICML 2006: random halves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostECC(n_iterations=50, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar = {
        **StageWiseStumps._parameter_constraints,
        "votes": [StrOptions({"one", "two"})],
    }

    def __init__(self, n_iterations=1000, max_bins=None, votes="two", random_state=None):
        super().__init__(n_iterations, max_bins, random_state)
        self.votes = votes

    def _master(self, X, labels, random_state):
        rng = np.random.default_rng(random_state.randint(2**31))
        search = QuickStumpSearch(X, self.max_bins)
        return _ECCMaster(search, labels, len(self.classes_), self.votes, rng)

    def _keep(self, master):
        super()._keep(master)
        self.intercepts_ = np.reshape(master.intercepts, self.coefficients_.shape)
        if self.votes == "two":
            # Prediction needs their sum only.
            self.n_parameters_ += len(self.classes_)

    def _staged_scores(self, X, stages):
        stages = list(stages)
        intercept = np.zeros(len(self.classes_))
        for some, scores in zip(spans(stages), super()._staged_scores(X, stages), strict=True):
            intercept = intercept + self.intercepts_[some].sum(axis=0)
            yield scores + intercept


class _ECCMaster(StumpMaster):
    def __init__(self, search, labels, n_classes, votes, rng):
        right = labels[:, None] == np.arange(n_classes)
        super().__init__(search, np.where(right, 0.0, 1.0 / (len(labels) * (n_classes - 1))))
        self.labels = labels
        self.n_classes = n_classes
        self.two_votes = votes == "two"
        self.rng = rng
        self.intercepts = []

    def generate(self):
        if not self.search.n_positions:
            return None
        for _ in range(_HALVES):
            code = random_half(self.n_classes, self.rng)
            by_side = self.weights @ np.column_stack([code < 0, code > 0]).astype(float)
            target = code[self.labels]
            across = np.where(target > 0, by_side[:, 0], by_side[:, 1])
            total, share = by_side.sum(), across.sum()
            if share == 0:
                continue
            weights = across / share
            stump, _, edge = self.search.best((weights * target)[:, None])
            if edge > NO_EDGE:
                return stump, code, weights, edge, share / total, total
        return None

    def correct(self, column):
        stump, code, weights, edge, share, total = column
        above = stump(self.search.X) > 0
        alpha, beta = self._votes(above, code[self.labels] > 0, weights, edge)
        self.stumps.append(stump)
        self.votes.append((alpha + beta) / 2 * code)
        self.intercepts.append((alpha - beta) / 2 * code)
        # The factor of a weight depends on its sample by side of the stump and label only. It is 1
        # for the labels on the same side of the code.
        opposite = (code[:, None] - code) / 2
        table = np.exp(np.concatenate([beta * opposite, -alpha * opposite])) / total
        self.weights *= table.take(self.labels + self.n_classes * above, axis=0, mode="clip")
        return edge * share < PERFECT

    def _votes(self, above, positive, weights, edge):
        if not self.two_votes:
            alpha, _ = self.step(edge)
            return alpha, alpha
        low_wrong, low_right, high_wrong, high_right = _SMOOTHING + np.bincount(
            2 * above + (above == positive), weights, minlength=4
        )
        return 0.5 * np.log(high_right / high_wrong), 0.5 * np.log(low_right / low_wrong)
