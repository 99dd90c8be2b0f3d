"""AdaBoost with output codes: AdaBoost.ECC, AdaBoost.SIP and AdaBoost.MO.

A code divides the classes into two sides, and a stump learns the binary problem that it poses. ECC
draws a code in every round, SIP finds the one that suits its stump best, and MO takes all of them.
"""

from dataclasses import KW_ONLY
from typing import ClassVar, Literal

import numpy as np
from scipy import sparse

from boostbench.algorithms.base.booster import TabularBooster, stage_slices
from boostbench.algorithms.base.estimators import BoostingClassifier
from boostbench.algorithms.base.master import MAX_EDGE, MIN_EDGE
from boostbench.algorithms.base.parameters import TwoOrMore
from boostbench.algorithms.base.stump_ensembles import StumpEnsemble, StumpMaster
from boostbench.algorithms.explanation.stump_sums import stump_sum_from_votes
from boostbench.core.class_codes import exhaustive_codes, random_half
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stump, Stumps

# Added to the weight that a side of a stump has right, and to what it has wrong: on a side without
# mistakes the vote would be infinite.
_SMOOTHING = 1e-10

# No stump may have an edge for one half of the classes while there are some for others. Training
# ends where that many halves in a row leave none.
_MAX_DRAWS = 50

# The number of codes doubles with every class: 2047 for 12.
_MAX_CLASSES = 12

# Codes of a block of weights, which is updated in the cache.
_BLOCK_CODES = 64


class AdaBoostECC(StumpEnsemble):
    r"""AdaBoost.ECC with stumps and random halves of the classes.

    Every sample carries a weight for every wrong label. A round draws a code :math:`\mu_t`, which
    is +1 for a random half of the classes and -1 for the others, and finds the stump h_t for the
    labels :math:`\mu_t(y_i)`; a sample weighs as much there as its wrong labels on the other side.
    The round adds :math:`g_t(x) \mu_t(r)` to the score of class r, where the vote
    :math:`g_t(x)` is :math:`\alpha_t` where h_t is +1, and :math:`-\beta_t` where it is -1: half
    the logarithm of the weights it has right there over those it has wrong. This lowers the loss

    .. math:: \sum_i \sum_{r \ne y_i} \exp(-\tfrac12 (F_{y_i}(x_i) - F_r(x_i))).

    In the logarithm, 1e-10 is added to each of the two weights, where the weights of all samples
    have the sum 1. On a side without mistakes the vote would be infinite; it is about 11 then.

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most. Training ends earlier where no stump has an edge, or where one
        leaves no error at all.
    votes : {"two", "one"}, default="two"
        ``"two"``: :math:`\alpha_t` and :math:`\beta_t`, as published. ``"one"``: AdaBoost's
        coefficient for both.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
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
       COLT 1999. It is the baseline "AdaBoost.ECC" of RandomBoost and MCBoost.
    .. [2] L. Li, "Multiclass boosting with repartitioning", ICML 2006: random halves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostECC(n_iterations=50, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _: KW_ONLY
    votes: Literal["one", "two"] = "two"

    def _make_master(self, X, labels, random_state, weights=None):
        rng = np.random.default_rng(random_state.randint(2**31))
        search = StumpSearch(X, self.max_bins, weights)
        return _ECCMaster(self, search, labels, weights, rng)

    def _store_model(self, master):
        super()._store_model(master)
        self.intercepts_ = np.reshape(master.intercepts, self.coefficients_.shape)
        if self.votes == "two":
            # Prediction needs their sum only.
            self.n_parameters_ += len(self.classes_)

    def _staged_scores(self, X, stages):
        stages = list(stages)
        intercept = np.zeros(len(self.classes_))
        for rounds, scores in zip(
            stage_slices(stages), super()._staged_scores(X, stages), strict=True
        ):
            intercept = intercept + self.intercepts_[rounds].sum(axis=0)
            yield scores + intercept


class _ECCMaster(StumpMaster):
    per_round_lists: ClassVar = (*StumpMaster.per_round_lists, "intercepts")

    def __init__(self, params, search, labels, sample_weight=None, rng=None):
        n_classes = len(params.classes_)
        is_own = labels[:, None] == np.arange(n_classes)
        weight = 1.0 / (len(labels) * (n_classes - 1))
        super().__init__(params, search, np.where(is_own, 0.0, weight), sample_weight)
        self.labels = labels
        self.n_classes = n_classes
        self.rng = rng

    def generate(self):
        for _ in range(_MAX_DRAWS):
            code = random_half(self.n_classes, self.rng)
            cross_weights, share, total = self._cross_weights(code)
            if share == 0:
                continue
            weights = cross_weights / share
            result = self.search.best((weights * code[self.labels])[:, None])
            if result is None:
                return None
            if result.edge > MIN_EDGE:
                return result, code, weights, result.edge, share / total, total
        return None

    def _cross_weights(self, code):
        """Weigh the wrong labels across the code from the own one: by sample, their sum, all."""
        by_side = self.weights @ np.column_stack([code < 0, code > 0]).astype(float)
        cross_weights = np.where(code[self.labels] > 0, by_side[:, 0], by_side[:, 1])
        return cross_weights, cross_weights.sum(), by_side.sum()

    def correct(self, column):
        result, code, weights, edge, share, total = column
        above = result.outputs > 0
        alpha, beta = self._round_votes(above, code[self.labels] > 0, weights, edge)
        self.stumps.append(result.learner)
        self.votes.append((alpha + beta) / 2 * code)
        self.intercepts.append((alpha - beta) / 2 * code)
        # The factor of a weight depends on its sample by side of the stump and label only. It is 1
        # for the labels on the same side of the code.
        opposite = (code[:, None] - code) / 2
        table = np.exp(np.concatenate([beta * opposite, -alpha * opposite])) / total
        self.weights *= table.take(self.labels + self.n_classes * above, axis=0, mode="clip")
        return edge * share < MAX_EDGE

    def _round_votes(self, above, positive, weights, edge):
        if self.params.votes == "one":
            alpha, _ = self.step(edge)
            return alpha, alpha
        low_wrong, low_right, high_wrong, high_right = _SMOOTHING + np.bincount(
            2 * above + (above == positive), weights, minlength=4
        )
        return 0.5 * np.log(high_right / high_wrong), 0.5 * np.log(low_right / low_wrong)


class AdaBoostSIP(AdaBoostECC):
    r"""AdaBoost.SIP with stumps: AdaBoost.ECC whose codes are optimal.

    AdaBoost.ECC draws the code :math:`\mu_t`, then finds the stump for it. AdaBoost.SIP finds both
    at once: of all stumps h and all codes in {-1, +1}, those along which the loss of
    `AdaBoostECC` falls most steeply,

    .. math:: \max_{h, \mu} \sum_i \sum_{r \ne y_i} u_{ir} (\mu(y_i) - \mu(r)) h(x_i),

    where :math:`u_{ir}` is the weight of the wrong label r of sample i. For a given stump the best
    code is the sign, class by class, of ``sum_i G[i, r] h(x_i)``, where G is
    :math:`-u_{ir}` and, at the own class, what makes a row sum to 0. The coefficients are those of
    AdaBoost.ECC, with 1e-10 added in the logarithm as well.

    Parameters
    ----------
    votes : {"two", "one"}, default="two"
        As of `AdaBoostECC`.
    random_state : int, RandomState instance or None, default=None
        Draws what early stopping holds out; else unused, as the algorithm is deterministic.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
    coefficients_, intercepts_ : ndarray of shape (n_iterations_, n_classes)
        As of `AdaBoostECC`.

    Notes
    -----
    MCBoost only names it. What is built here is what is known of [1]_ without its text: weak
    learners and code are found together, by the negative gradient of a cost of margins. That the
    cost is AdaBoost.ECC's, that the coefficients are its votes, and that stumps replace patterns of
    image patches is our reading.

    References
    ----------
    .. [1] B. Zhang, G. Ye, Y. Wang, J. Xu and G. Herman, "Finding shareable informative patterns
       and optimal coding matrix for multiclass boosting", ICCV 2009. It is "AdaBoost.SIP" in
       Table VIII of MCBoost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostSIP(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    def _make_master(self, X, labels, random_state, weights=None):
        return _SIPMaster(self, StumpSearch(X, self.max_bins, weights), labels, weights)


class _SIPMaster(_ECCMaster):
    def generate(self):
        gains = -self.weights
        gains[np.arange(len(gains)), self.labels] = self.weights.sum(axis=1)
        result = self.search.best_vote(gains)
        if result is None:
            return None
        code, edge = result.votes, result.edge
        cross_weights, share, total = self._cross_weights(code)
        # Each pair of classes on different sides counts twice in the sum over classes.
        if share == 0 or edge <= 2 * MIN_EDGE * share:
            return None
        return result, code, cross_weights / share, edge / (2 * share), share / total, total


class AdaBoostMO(TabularBooster, BoostingClassifier):
    r"""AdaBoost.MO with stumps, the exhaustive code and one coefficient per round.

    Each of the :math:`J = 2^{k-1} - 1` codes :math:`m_j`, the divisions of the k classes into two
    sides, is a binary problem with the labels :math:`m_{j y_i}`. A round finds a stump
    :math:`h_{tj}` for each and adds :math:`\alpha_t h_{tj}` to each :math:`F_j`, which minimises

    .. math:: \sum_{i,j} \exp(-m_{j y_i} F_j(x_i))

    by :math:`\alpha_t = \frac12 \log \frac{1 + g}{1 - g}` with
    :math:`g = \sum_{i,j} D_{ij} m_{j y_i} h_{tj}(x_i)`. The score of class r is
    :math:`\sum_j m_{jr} F_j(x)`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most. Training ends earlier where no stump has an edge, or where all are
        perfect.
    max_bins : int or None, default=None
        Quantile bins of each feature; None: all thresholds are tried.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Of shape (n_iterations_, n_codes).
    coefficients_ : ndarray of shape (n_iterations_,)
        :math:`\alpha_t`.
    codes_ : ndarray of shape (n_codes, n_classes)
        m.

    See Also
    --------
    AdaBoostECC : One division of the classes per round.

    Notes
    -----
    There are at most 12 classes: 2047 codes. The scores are linear in the outputs of the stumps, so
    `predict` adds up the votes of equal stumps first, of which there are many.

    References
    ----------
    .. [1] R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999. It is the baseline "AdaBoost.MO" of
       RandomBoost and MCBoost; the scores are those of MCBoost, Table VI.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostMO(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    edition = 2

    _: KW_ONLY
    max_bins: TwoOrMore | None = None

    _takes_sparse: ClassVar = True

    def _encode_target(self, y):
        labels = super()._encode_target(y)
        n_classes = len(self.classes_)
        if n_classes > _MAX_CLASSES:
            raise ValueError(
                f"AdaBoostMO learns 2^(k-1) - 1 stumps per round, which are "
                f"{2 ** (n_classes - 1) - 1} for the {n_classes} classes of y: too many to train. "
                f"It takes {_MAX_CLASSES} classes at most; use AdaBoostECC or AdaBoostMH instead."
            )
        return labels

    def inverse_temperature(self):
        """Each code has its own exponential loss, and each pair of classes is in half of them."""
        return (len(self.classes_) - 1) / len(self.codes_)

    def stump_sum(self):
        """Return the different stumps and their votes, which have no rounds."""
        return stump_sum_from_votes(self._distinct_stumps, self._distinct_votes)

    def _make_master(self, X, labels, random_state, weights=None):
        self.codes_ = exhaustive_codes(len(self.classes_))
        return _MOMaster(self, StumpSearch(X, self.max_bins, weights), labels, weights)

    def _store_model(self, master):
        self.hypotheses_ = Stumps(master.stumps)
        self.coefficients_ = np.array(master.votes)
        self.n_parameters_ = len(master.stumps) * (2 * len(self.codes_) + 1)
        positions = np.reshape(master.positions, -1).astype(np.int64)
        distinct, stump_index = np.unique(positions, return_inverse=True)
        votes = (self.coefficients_[:, None] * self.hypotheses_.polarity).ravel()
        # Votes of one stump for one code add up.
        code = np.arange(len(votes)) % len(self.codes_)
        by_code = sparse.csr_array((votes, (stump_index, code)), (len(distinct), len(self.codes_)))
        self._distinct_stumps = Stumps([master.search.stump(position) for position in distinct])
        self._distinct_votes = by_code @ self.codes_

    def _staged_scores(self, X, stages):
        stages = list(stages)
        if stages == [self.n_iterations_]:
            yield self._distinct_stumps.scores(X, self._distinct_votes)
            return
        scores = np.zeros((len(X), len(self.classes_)))
        for rounds in stage_slices(stages):
            outputs = self.hypotheses_.outputs(X, rounds)
            votes = np.einsum("itj,t->ij", outputs, self.coefficients_[rounds])
            scores = scores + votes @ self.codes_
            yield scores


class _MOMaster(StumpMaster):
    per_round_lists: ClassVar = (*StumpMaster.per_round_lists, "positions")

    def __init__(self, params, search, labels, sample_weight=None):
        sides = params.codes_.T[labels]
        # Signed: the side times the weight. In column order, as the features are.
        super().__init__(params, search, np.asfortranarray(sides / sides.size), sample_weight)
        self.wrong = np.empty_like(self.weights, bool)
        starts = range(0, sides.shape[1], _BLOCK_CODES)
        self.blocks = [slice(start, start + _BLOCK_CODES) for start in starts]

    def generate(self):
        positions = self.search.best_each(self.weights)
        if positions is None:
            return None
        feature, threshold = self.search.feature[positions], self.search.threshold[positions]
        edges = np.empty(len(positions))
        total = 0.0
        for block in self.blocks:
            weights = self.weights[:, block]
            products = weights * Stump(feature[block], threshold[block])(self.search.X)
            edges[block] = products.sum(axis=0)
            np.not_equal(products < 0, edges[block] < 0, out=self.wrong[:, block])
            total += np.abs(weights).sum()
        edge = np.abs(edges).sum() / total
        if edge <= MIN_EDGE:
            return None
        stumps = Stump(feature, threshold, np.where(edges < 0, -1.0, 1.0))
        return positions, stumps, edge, total

    def correct(self, column):
        positions, stumps, edge, total = column
        alpha, imperfect = self.step(edge)
        self.positions.append(positions)
        self.stumps.append(stumps)
        self.votes.append(alpha)
        if imperfect:
            # Weights are brought back to sum 1, which the factors alone lower by sqrt(1 - edge^2).
            is_own = np.exp(-alpha) / (total * np.sqrt(1 - edge**2))
            increase = is_own * np.expm1(2 * alpha)
            for block in self.blocks:
                self.weights[:, block] *= self.wrong[:, block] * increase + is_own
        return imperfect
