"""AdaBoost with output codes: AdaBoost.ECC, AdaBoost.SIP and AdaBoost.MO.

A code divides the classes into two sides, and a stump learns the resulting binary problem. ECC
draws a code in every round, SIP optimises code and stump jointly, and MO uses all codes in every
round. A code is an array of -1 and +1, one number per class.
"""

from dataclasses import KW_ONLY
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy import sparse

from boostbench.algorithms.base.booster import TabularBooster, stage_slices
from boostbench.algorithms.base.estimators import BoostingClassifier, StumpEnsemble
from boostbench.algorithms.base.master import MAX_EDGE, MIN_EDGE, StumpMaster
from boostbench.algorithms.base.parameters import TwoOrMore
from boostbench.algorithms.explanation.stump_sums import make_stump_sum
from boostbench.core.codebooks import exhaustive_codes, random_half
from boostbench.core.stumps.search import StumpSearch
from boostbench.core.stumps.stump import Stump, Stumps
from boostbench.core.weak_learner import SearchResult

# Addition to the weights of correct and wrong samples on each side of a stump, relative to a total
# weight of 1: without it, the vote of a side without mistakes would be infinite.
_SMOOTHING = 1e-10

# Maximum number of codes that are drawn in a round. For one code, every stump may have the edge 0;
# training ends if this holds for all of them.
_MAX_DRAWS = 50

# Maximum number of classes of AdaBoost.MO. The number of codes doubles with every class: 2047 for
# 12.
_MAX_CLASSES = 12

# Number of codes per block of weights, so that a block stays in the cache during its update.
_BLOCK_CODES = 64


class AdaBoostECC(StumpEnsemble):
    r"""AdaBoost.ECC with stumps and random halves of the classes.

    Every sample has a weight for every wrong label. A round draws a code :math:`\mu_t`, which is +1
    for a random half of the classes and -1 for the other half, and finds the stump h_t for the
    labels :math:`\mu_t(y_i)`. The weight of a sample in this binary problem is the sum of the
    weights of its wrong labels on the other side. The round adds :math:`g_t(x) \mu_t(r)` to the
    score of class r. The vote :math:`g_t(x)` is :math:`\alpha_t` if h_t is +1, and
    :math:`-\beta_t` if it is -1: on each side, half the logarithm of the ratio of correct to wrong
    weights. This lowers the loss

    .. math:: \sum_i \sum_{r \ne y_i} \exp(-\tfrac12 (F_{y_i}(x_i) - F_r(x_i))).

    In the logarithm, 1e-10 is added to both weights, relative to a total weight of 1. A side
    without mistakes thus gets a vote of about 11 instead of infinity.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds. Training ends earlier if no stump has a positive edge, or
        a stump makes no error.
    votes : {"two", "one"}, default="two"
        Votes of the two sides. ``"two"``: :math:`\alpha_t` and :math:`\beta_t`, as published.
        ``"one"``: AdaBoost's coefficient for both sides.
    random_state : int, RandomState instance or None, default=None
        Seed of the codes.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Stump of each round.
    coefficients_ : ndarray of shape (n_iterations_, n_classes)
        Coefficients :math:`\frac12 (\alpha_t + \beta_t) \mu_t`.
    intercepts_ : ndarray of shape (n_iterations_, n_classes)
        Intercepts :math:`\frac12 (\alpha_t - \beta_t) \mu_t`: a round adds
        ``h_t(x) * coefficients_[t] + intercepts_[t]`` to the scores.

    See Also
    --------
    AdaBoostMO : Uses all codes in every round.

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
        return _ECCMaster(self, search, labels, weights, rng=rng)

    def _store_model(self, master):
        super()._store_model(master)
        self.intercepts_ = np.reshape(master.intercepts, self.coefficients_.shape)
        if self.votes == "two":
            # Prediction only needs the sum of the intercepts.
            self.n_parameters_ += len(self.classes_)

    def _staged_scores(self, X, stages):
        """Yield the scores with the intercepts of all rounds so far."""
        stages = list(stages)
        intercept = np.zeros(len(self.classes_))
        for rounds, scores in zip(
            stage_slices(stages), super()._staged_scores(X, stages), strict=True
        ):
            intercept = intercept + self.intercepts_[rounds].sum(axis=0)
            yield scores + intercept


class _CodedStump(NamedTuple):
    """Stump and code of a round of AdaBoost.ECC or AdaBoost.SIP.

    Attributes
    ----------
    result : SearchResult
        Stump and its outputs on the training data.
    code : ndarray of shape (n_classes,)
        Side of each class, -1 or +1.
    weights : ndarray of shape (n_samples,)
        Weight of each sample in the binary problem of the code, of sum 1.
    edge : float
        Edge of the stump in this problem.
    share : float
        Fraction of all weights that belongs to wrong labels on the other side of the code.
    total : float
        Sum of all weights.
    """

    result: SearchResult
    code: np.ndarray
    weights: np.ndarray
    edge: float
    share: float
    total: float


class _ECCMaster(StumpMaster):
    """Master of `AdaBoostECC`.

    Parameters
    ----------
    params, search, sample_weight
        See `StumpMaster`.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.
    rng : numpy.random.Generator, default=None
        Generator of the codes; `AdaBoostSIP` draws none.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, n_classes)
        Weight of each wrong label of each sample; 0 for the own class.
    intercepts : list of ndarray of shape (n_classes,)
        Intercepts of each round, (alpha - beta) / 2 times the code.
    """

    per_round_lists: ClassVar = (*StumpMaster.per_round_lists, "intercepts")

    def __init__(self, params, search, labels, sample_weight=None, rng=None):
        n_classes = len(params.classes_)
        is_own_class = labels[:, None] == np.arange(n_classes)
        weight = 1.0 / (len(labels) * (n_classes - 1))
        super().__init__(params, search, np.where(is_own_class, 0.0, weight), sample_weight)
        self.labels = labels
        self.n_classes = n_classes
        self.rng = rng

    def generate(self):
        """Draw codes until a stump has an edge; see `Master.generate`.

        Returns
        -------
        _CodedStump or None
        """
        for _ in range(_MAX_DRAWS):
            code = random_half(self.n_classes, self.rng)
            cross_weights, cross_total, total = self._cross_weights(code)
            if cross_total == 0:
                continue
            weights = cross_weights / cross_total
            result = self.search.best((weights * code[self.labels])[:, None])
            if result is None:
                return None
            if result.edge > MIN_EDGE:
                return _CodedStump(
                    result, code, weights, result.edge, share=cross_total / total, total=total
                )
        return None

    def _cross_weights(self, code):
        """Return the weights of wrong labels on the other side of a code.

        Returns
        -------
        cross_weights : ndarray of shape (n_samples,)
            Sum of these weights of each sample.
        cross_total : float
            Sum over the samples.
        total : float
            Sum of all weights.
        """
        # Column 0 sums the weights of labels on side -1, column 1 of labels on side +1.
        by_side = self.weights @ np.column_stack([code < 0, code > 0]).astype(float)
        cross_weights = np.where(code[self.labels] > 0, by_side[:, 0], by_side[:, 1])
        return cross_weights, cross_weights.sum(), by_side.sum()

    def correct(self, coded_stump):
        """Add the stump with its votes, and update the weights; see `Master.correct`."""
        result, code, weights, edge, share, total = coded_stump
        is_above = result.outputs > 0
        alpha, beta = self._round_votes(is_above, code[self.labels] > 0, weights, edge)
        self.stumps.append(result.learner)
        self.votes.append((alpha + beta) / 2 * code)
        self.intercepts.append((alpha - beta) / 2 * code)
        # The factors of a sample's weights depend only on its label and its side of the stump: row
        # `label` of `factors` if it is below, row ``n_classes + label`` if it is above. They are 1
        # for wrong labels on the same side of the code, where `half_difference` is 0; it is +1 or
        # -1 where the sides of the true and the wrong label differ. The mode "clip" skips NumPy's
        # check of the indices.
        half_difference = (code[:, None] - code) / 2
        exponents = np.concatenate([beta * half_difference, -alpha * half_difference])
        factors = np.exp(exponents) / total
        self.weights *= factors.take(self.labels + self.n_classes * is_above, axis=0, mode="clip")
        # The stump is right for all wrong labels only if its edge is 1 and the code separates them
        # all from the true labels (share 1). The training then ends.
        return edge * share < MAX_EDGE

    def _round_votes(self, is_above, is_positive, weights, edge):
        """Return the votes of a stump: alpha for the side above, and beta for the side below.

        Parameters
        ----------
        is_above, is_positive : ndarray of shape (n_samples,), dtype=bool
            True where the stump is +1, and where the code of the sample's class is +1.
        weights : ndarray of shape (n_samples,)
            Weights of the binary problem.
        edge : float
            Edge of the stump.
        """
        if self.params.votes == "one":
            alpha, _ = self.adaboost_coefficient(edge)
            return alpha, alpha
        # A sample is right if it is above the threshold and its class has +1, or neither.
        low_wrong, low_right, high_wrong, high_right = _SMOOTHING + np.bincount(
            2 * is_above + (is_above == is_positive), weights, minlength=4
        )
        return 0.5 * np.log(high_right / high_wrong), 0.5 * np.log(low_right / low_wrong)


class AdaBoostSIP(AdaBoostECC):
    r"""AdaBoost.SIP with stumps: AdaBoost.ECC with optimal codes.

    AdaBoost.ECC draws the code :math:`\mu_t` and then finds the stump for it. AdaBoost.SIP finds
    the stump h and the code in {-1, +1} jointly, so that the loss of `AdaBoostECC` decreases most
    steeply,

    .. math:: \max_{h, \mu} \sum_i \sum_{r \ne y_i} u_{ir} (\mu(y_i) - \mu(r)) h(x_i),

    where :math:`u_{ir}` is the weight of the wrong label r of sample i. For a given stump, the best
    code is the sign of ``sum_i G[i, r] h(x_i)`` for each class r, where G holds
    :math:`-u_{ir}` for wrong labels, and the true label's entry makes each row sum to 0. The
    votes are chosen as in AdaBoost.ECC, with the same smoothing of 1e-10.

    Parameters
    ----------
    votes : {"two", "one"}, default="two"
        See `AdaBoostECC`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out samples of early stopping; the algorithm itself is deterministic.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Stump of each round.
    coefficients_, intercepts_ : ndarray of shape (n_iterations_, n_classes)
        See `AdaBoostECC`.

    Notes
    -----
    MCBoost names AdaBoost.SIP without details, and the text of [1]_ was not available. Known is
    that weak learner and code are found jointly, by the negative gradient of a cost of margins. The
    cost and the votes of AdaBoost.ECC, and stumps in place of patterns of image patches, are our
    reading.

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
    """Master of `AdaBoostSIP`, with the best code for each stump in place of random codes."""

    def generate(self):
        """Return the best stump with its best code, a `_CodedStump`; see `Master.generate`."""
        # This is the matrix G of the docstring of `AdaBoostSIP`: the entries of each row sum to 0.
        gains = -self.weights
        gains[np.arange(len(gains)), self.labels] = self.weights.sum(axis=1)
        result = self.search.best_sum_abs_edge(gains)
        if result is None:
            return None
        # The best code has the sign of the edge of each class. The sum of the absolute edges counts
        # a weight u_ir twice, at the classes r and y_i. The edge of the binary problem counts it
        # once.
        code, edge = result.votes, result.edge / 2
        cross_weights, cross_total, total = self._cross_weights(code)
        if cross_total == 0 or edge <= MIN_EDGE * cross_total:
            return None
        return _CodedStump(
            result,
            code,
            weights=cross_weights / cross_total,
            edge=edge / cross_total,
            share=cross_total / total,
            total=total,
        )


class AdaBoostMO(TabularBooster, BoostingClassifier):
    r"""AdaBoost.MO with stumps, all codes in every round, and one coefficient per round.

    Each of the :math:`J = 2^{k-1} - 1` codes :math:`m_j`, a division of the k classes into two
    sides, defines a binary problem with the labels :math:`m_{j y_i}`. A round finds a stump
    :math:`h_{tj}` for each code and adds :math:`\alpha_t h_{tj}` to each :math:`F_j`, which
    minimises

    .. math:: \sum_{i,j} \exp(-m_{j y_i} F_j(x_i))

    by :math:`\alpha_t = \frac12 \log \frac{1 + g}{1 - g}` with
    :math:`g = \sum_{i,j} D_{ij} m_{j y_i} h_{tj}(x_i)`. The score of class r is
    :math:`\sum_j m_{jr} F_j(x)`.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds. Training ends earlier if no stump has a positive edge, or
        all stumps are perfect.
    max_bins : int or None, default=None
        Number of quantile bins of each feature. None: all thresholds are searched.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Stumps of each round and code, of shape (n_iterations_, n_codes).
    coefficients_ : ndarray of shape (n_iterations_,)
        Coefficients :math:`\alpha_t`.
    codes_ : ndarray of shape (n_codes, n_classes)
        Codes m.

    See Also
    --------
    AdaBoostECC : Uses one random code per round.

    Notes
    -----
    The number of classes is limited to 12, which have 2047 codes. Many stumps are equal. As the
    scores are linear in the stumps' outputs, `predict` uses distinct stumps with summed votes.

    References
    ----------
    .. [1] R. E. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999. It is the baseline "AdaBoost.MO" of
       RandomBoost and MCBoost; the scores follow MCBoost, Table VI.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostMO(n_iterations=50).fit(X, y).score(X, y) > 0.95
    True
    """

    # Since edition 2 equally good stumps are chosen in the order of feature and threshold.
    edition = 2

    _: KW_ONLY
    max_bins: TwoOrMore | None = None

    _takes_sparse: ClassVar = True

    def _encode_target(self, y):
        """Return class numbers; raise ValueError if there are too many classes."""
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
        """Return (k - 1) / J, which gives the softmax the correct slope at equally likely classes.

        Each F_j estimates half of the log-odds of the two sides of its code. A difference of the
        scores of two classes is therefore the sum of the log-odds of all codes that separate them.
        Near equal probabilities, this sum is J / (k - 1) times the logarithm of the ratio of the
        two probabilities.
        """
        return (len(self.classes_) - 1) / len(self.codes_)

    def stump_sum(self):
        """Return the distinct stumps with their summed votes."""
        return make_stump_sum(self._distinct_stumps, self._distinct_votes)

    def _make_master(self, X, labels, random_state, weights=None):
        self.codes_ = exhaustive_codes(len(self.classes_))
        return _MOMaster(self, StumpSearch(X, self.max_bins, weights), labels, weights)

    def _store_model(self, master):
        """Store the model, and the distinct stumps with summed votes for predictions."""
        self.hypotheses_ = Stumps(master.stumps)
        self.coefficients_ = np.array(master.votes)
        self.n_parameters_ = len(master.stumps) * (2 * len(self.codes_) + 1)
        # Ravel the stumps, the codes of a round one after another, and sum the votes of each
        # distinct stump for each code.
        positions = np.reshape(master.positions, -1).astype(np.int64)
        distinct, stump_index = np.unique(positions, return_inverse=True)
        votes = (self.coefficients_[:, None] * self.hypotheses_.polarity).ravel()
        code = np.arange(len(votes)) % len(self.codes_)
        by_code = sparse.csr_array((votes, (stump_index, code)), (len(distinct), len(self.codes_)))
        self._distinct_stumps = Stumps([master.search.stump(position) for position in distinct])
        self._distinct_votes = by_code @ self.codes_

    def _staged_scores(self, X, stages):
        """Yield the scores, sums over the codes; see `Booster._staged_scores`."""
        stages = list(stages)
        if stages == [self.n_iterations_]:
            yield self._distinct_stumps.scores(X, self._distinct_votes)
            return
        scores = np.zeros((len(X), len(self.classes_)))
        for rounds in stage_slices(stages):
            # Outputs of shape (n_samples, n_rounds, n_codes).
            outputs = self.hypotheses_.outputs(X, rounds)
            votes = np.einsum("itj,t->ij", outputs, self.coefficients_[rounds])
            scores = scores + votes @ self.codes_
            yield scores


class _CodedStumps(NamedTuple):
    """Stumps of a round of AdaBoost.MO, one for each code.

    Attributes
    ----------
    positions : ndarray of shape (n_codes,), dtype=int64
        Index of each stump among all stumps of the search.
    stumps : Stump
        All stumps, as one `Stump` with arrays of shape (n_codes,).
    edge : float
        Mean edge g.
    total : float
        Sum of all weights.
    """

    positions: np.ndarray
    stumps: Stump
    edge: float
    total: float


class _MOMaster(StumpMaster):
    """Master of `AdaBoostMO`: a stump for each code, and one coefficient for all, in every round.

    Parameters
    ----------
    params, search, sample_weight
        See `StumpMaster`.
    labels : ndarray of shape (n_samples,)
        Classes from 0 to n_classes - 1.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, n_codes)
        Signed weights: the side of the sample's class in each code, times its weight D.
    is_wrong : ndarray of shape (n_samples, n_codes), dtype=bool
        True where the stump of the current round is wrong.
    blocks : list of slice
        Blocks of codes, which are processed together to stay in the cache.
    """

    per_round_lists: ClassVar = (*StumpMaster.per_round_lists, "positions")

    def __init__(self, params, search, labels, sample_weight=None):
        sides = params.codes_.T[labels]
        # Signed weights (side times weight), in Fortran order like the features.
        super().__init__(params, search, np.asfortranarray(sides / sides.size), sample_weight)
        self.is_wrong = np.empty_like(self.weights, bool)
        starts = range(0, sides.shape[1], _BLOCK_CODES)
        self.blocks = [slice(start, start + _BLOCK_CODES) for start in starts]

    def generate(self):
        """Return the best stump for each code; see `Master.generate`.

        Returns
        -------
        _CodedStumps or None
            None if no feature varies, or no stump has a positive edge.
        """
        positions = self.search.best_per_column(self.weights)
        if positions is None:
            return None
        feature, threshold = self.search.feature[positions], self.search.threshold[positions]
        edges = np.empty(len(positions))
        total = 0.0
        for block in self.blocks:
            weights = self.weights[:, block]
            products = weights * Stump(feature[block], threshold[block])(self.search.X)
            edges[block] = products.sum(axis=0)
            # A stump is wrong where its product and its edge differ in sign: a negative edge flips
            # its polarity below.
            np.not_equal(products < 0, edges[block] < 0, out=self.is_wrong[:, block])
            total += np.abs(weights).sum()
        edge = np.abs(edges).sum() / total
        if edge <= MIN_EDGE:
            return None
        stumps = Stump(feature, threshold, np.where(edges < 0, -1.0, 1.0))
        return _CodedStumps(positions, stumps, edge, total)

    def correct(self, coded_stumps):
        """Add the stumps, and update the weights; see `Master.correct`."""
        positions, stumps, edge, total = coded_stumps
        alpha, has_errors = self.adaboost_coefficient(edge)
        self.positions.append(positions)
        self.stumps.append(stumps)
        self.votes.append(alpha)
        if has_errors:
            # A weight is multiplied by exp(-alpha) where its stump is right and by exp(alpha) where
            # it is wrong, and divided by the new sum of all weights: the old sum times
            # sqrt(1 - edge^2). The second factor is the first one times exp(2 alpha).
            right_factor = np.exp(-alpha) / (total * np.sqrt(1 - edge**2))
            increase_if_wrong = right_factor * np.expm1(2 * alpha)
            for block in self.blocks:
                self.weights[:, block] *= self.is_wrong[:, block] * increase_if_wrong + right_factor
        return has_errors
