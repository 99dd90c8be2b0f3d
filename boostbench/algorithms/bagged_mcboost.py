"""A bag of MCBoost, its members trained at the same time and stopped by the bag's own error."""

import numpy as np

from boostbench.algorithms.bag_block import BagBlock
from boostbench.algorithms.bagging import Bag
from boostbench.algorithms.base import Master, Tabular
from boostbench.algorithms.explaining.probabilities import INVERSE_TEMPERATURES
from boostbench.algorithms.explaining.stump_sums import StumpSum
from boostbench.algorithms.parameters import Part, PartOrAll, PositiveInt, TwoOrMore
from boostbench.algorithms.training.early_stopping import LEAST_FALL, hold_out, log_losses
from boostbench.algorithms.training.weights import relative
from boostbench.core.weak.stumps import Stumps, StumpSearch

__all__ = ["BaggedMCBoost"]

# Added to the curvature on each side of a stump, so that few samples move little: the default of
# XGBoost (`reg_lambda`). It makes steps shorter, not another minimum.
_DAMPING = 1.0

# Samples come in blocks of so many numbers, of each member and feature or score, and no fewer
# samples than worth the calls.
_BLOCK, _LEAST_BLOCK = 2**19, 128


class BaggedMCBoost(Bag, Tabular):
    r"""The mean of boosted sums of stumps, trained together on random parts of the samples.

    Members minimise MCBoost's loss, eq. (14) of [1]_ without the L1 norm,

    .. math:: \sum_{i,r} \log(1 + e^{-\rho_{ir}}), \quad \rho_{ir} = F_{y_i}(x_i) - F_r(x_i),

    each over the samples that it sees, and start from the constant scores of the least loss. Their
    rounds differ from those of `MCBoost`:

    - A weak learner is a stump and a constant: it has a vote vector on each side of its threshold.
      So scores need no other stumps to move up or down as a whole.
    - The thresholds are drawn, one of each feature in each round for each member, as those of
      extremely randomised trees [4]_: functions become smoother than by the best thresholds.
    - A round adds all of these stumps, each in proportion to what it would lower the loss by alone,
      so that features that are alike grow together, and nothing hangs on which one is best by a
      rounding error.
    - The votes are a Newton step on each side, and what a round adds is this sum of stumps times
      the coefficient of a Newton step along it, times `eta`.

    The members do so at the same time. After each round, the score of a sample is the mean of the
    members that do not see it. Where the loss of these scores falls no more, the bag is done: so it
    is the bag that is stopped, not its members, which alone would have to be stopped earlier.

    Parameters
    ----------
    n_iterations : int, default=2000
        Rounds at most.
    n_estimators : int, default=24
        Members of the bag.
    validation_fraction : float, default=0.25
        Part of the samples that a member does not see, stratified.
    eta : float, default=0.4
        Shrinkage of what a round adds; scikit-learn's `learning_rate`.
    max_bins : int or None, default=64
        None takes all thresholds; an integer that many quantile bins per feature.
    patience : int, default=30
        Rounds in a row without progress after which the training ends. The model is that of the
        best round. It is no `n_iter_no_change`, which keeps samples apart: here each member's
        unseen samples say it.
    random_state : int, RandomState instance or None, default=None
        Seed of the parts and thresholds.

    Attributes
    ----------
    hypotheses_ : boostbench.core.weak.stumps.Stumps
        All stumps of all members and rounds, equal ones once, by feature and threshold.
    coefficients_ : ndarray of shape (n_hypotheses,) or (n_hypotheses, n_classes)
        Of the mean of the members. For two classes one number, which moves the score towards the
        second class.
    intercept_ : ndarray of shape () or (n_classes,)
        What is added to the scores of all samples.
    validation_losses_ : ndarray of shape (n_rounds,)
        After each round, those after the best one included: log-loss of the samples, each by the
        members that do not see it.

    See Also
    --------
    BaggedBooster : A bag of any booster, each member stopped by itself.
    MCBoost : One model, one stump a round.

    Notes
    -----
    A weight of a sample multiplies its terms of the loss, of the training and of the stopping
    rule; the loss is a mean, so that a common factor changes nothing. Which samples a member does
    not see depends on no weight.

    There is no `staged_predict`: the stumps of all rounds are merged.

    References
    ----------
    .. [1] S. Paisitkriangkrai, C. Shen and A. van den Hengel, "A scalable stage-wise approach to
       large-margin multi-class loss based boosting" (MCBoost).
    .. [2] L. Breiman, "Out-of-bag estimation", technical report, Berkeley 1996.
    .. [3] J. Friedman, T. Hastie and R. Tibshirani, "Additive logistic regression: a statistical
       view of boosting", Annals of Statistics 28, 2000.
    .. [4] P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63,
       2006.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bag = BaggedMCBoost(random_state=0).fit(X[::2], y[::2])
    >>> bag.score(X[1::2], y[1::2]) > 0.95
    True
    >>> terms = bag.shape_functions().explain_local(X[:1])
    >>> bool(np.isclose(terms.to_numpy().sum(), bag.decision_function(X[:1])[0]))
    True
    """

    edition = 2

    n_iterations: PositiveInt = 2000
    n_estimators: PositiveInt = 24
    validation_fraction: Part = 0.25
    eta: PartOrAll = 0.4
    max_bins: TwoOrMore | None = 64
    patience: PositiveInt = 30

    def fit(self, X, y, sample_weight=None):
        """Train the members.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features) and (n_samples,)
            Training data, finite, and their labels of any type that sorts.
        sample_weight : array-like of shape (n_samples,), default=None
            What the terms of the samples in the loss are multiplied with, not negative; the weight
            0 is no sample at all. None: all are 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X is not a finite matrix, y holds one class only, a parameter is out of range, a
            weight is negative or all are 0, or there are too few samples to leave some out.
        """
        return super().fit(X, y, sample_weight)

    def _staged_scores(self, X, stages):
        """Yield the scores of the only stage that is kept, the last."""
        for _ in stages:
            yield self.hypotheses_.scores(X, self.coefficients_) + self.intercept_

    def _master(self, X, labels, random_state, weights=None):
        unseen = np.zeros((len(X), self.n_estimators), bool)
        for member in unseen.T:
            member[hold_out(labels, self.validation_fraction, random_state)[1]] = True
        search = StumpSearch(X, self.max_bins, weights)
        weights = np.ones(len(X)) if weights is None else relative(weights)
        return BagMaster(self, search, labels, unseen, weights, random_state)

    def _keep(self, master):
        self.n_iterations_ = master.best
        self.validation_losses_ = np.array(master.losses)
        self.hypotheses_, self.coefficients_, self.intercept_ = master.mean_of_members(*master.kept)
        self.n_parameters_ = (
            2 * len(self.hypotheses_) + self.coefficients_.size + self.intercept_.size
        )

    def inverse_temperature(self):
        """As of `BoostingClassifier.inverse_temperature`."""
        return INVERSE_TEMPERATURES["logistic"]

    def stump_sum(self):
        """As of `BoostingClassifier.stump_sum`."""
        return StumpSum(self.hypotheses_, self.coefficients_, self.intercept_)


class BagMaster(Master):
    """Members in training: their scores, and the stumps of all rounds.

    Parameters
    ----------
    params, search
        As of `Master`.
    labels : ndarray of shape (n_samples,)
        0 to n_classes - 1.
    unseen : ndarray of shape (n_samples, n_members), dtype=bool
        Which samples a member does not see.
    weights : ndarray of shape (n_samples,)
        Of the samples, positive.
    random_state : RandomState
        Draws the thresholds.

    Attributes
    ----------
    stumps : ndarray of shape (n_stumps,), dtype=int64
        Positions of the different stumps in `search`, by feature and threshold.
    counts : ndarray of shape (n_features,), dtype=int64
        How many of them each feature has; of those that vary.
    blocks : list of BagBlock
    losses : list of float
        After each round, of the samples by members that do not see them.
    best : int
        The last round of progress; 0 where the constant scores are best.
    votes : ndarray of shape (n_stumps, n_scores)
        Of the mean of the members: what it adds above each stump, and subtracts elsewhere.
    intercept : ndarray of shape (n_scores,)
        What it adds to the scores of all samples.
    kept : tuple
        `votes` and `intercept` after the best round.
    """

    def __init__(self, params, search, labels, unseen, weights, random_state):
        super().__init__(params, search)
        self.random_state = random_state
        seen = ~unseen
        of_classes = np.eye(len(params.classes_))[labels].T @ (seen * weights[:, None])
        start = np.log(of_classes / of_classes.sum(axis=0))
        if len(start) == 2:
            start = start[1:] - start[:1]
        codes = self._lay_out(seen)
        wide = max(codes.shape[1], 2 * len(start))
        size = max(_LEAST_BLOCK, _BLOCK // (seen.shape[1] * wide))
        ends = np.arange(size, len(labels), size)
        parts = (np.split(part, ends) for part in (codes, labels, seen * weights[:, None]))
        self.blocks = [BagBlock(*part, start) for part in zip(*parts, strict=True)]
        self.votes = np.zeros((len(self.stumps), len(start)))
        self.intercept = start.mean(axis=1)

        tested = unseen.any(axis=1)
        self._tested = tested
        self._labels, self._of_tested = labels[tested], weights[tested]
        self.losses = []
        self._least = np.inf
        self._look(self.loss_of_unseen())

    @property
    def scores(self):
        """Scores of all samples, of shape (n_samples, n_members, n_scores), dtype=float32."""
        return np.concatenate([block.scores for block in self.blocks], axis=2).transpose(2, 1, 0)

    def _lay_out(self, seen):
        """List the stumps by feature and threshold, and what each member may draw of them.

        Returns
        -------
        ndarray of shape (n_samples, n_features), dtype=unsigned
            How many thresholds of a feature a sample is above.
        """
        search = self.search
        at = np.flatnonzero(~search.is_padding)
        keys = np.stack([search.feature[at], search.threshold[at]])
        (feature, _), first = np.unique(keys, axis=1, return_index=True)
        self.stumps = at[first]
        columns, self.counts = np.unique(feature.astype(int), return_counts=True)
        self._start = np.cumsum(self.counts) - self.counts
        codes = np.empty(
            (len(search.X), len(columns)), np.min_scalar_type(self.counts.max(initial=0))
        )
        groups = np.split(self.stumps, self._start)[1:]
        for code, column, some in zip(codes.T, columns, groups, strict=True):
            code[:] = np.searchsorted(search.threshold[some], search.X[:, column])
        # What a member draws has samples that it sees on both sides: a threshold from the lowest of
        # their codes on, and before the highest. Where there is none, any stands for it.
        seen_codes = (codes[some] for some in seen.T)
        ranges = [(some.min(axis=0), some.max(axis=0)) for some in seen_codes]
        lowest, highest = np.transpose(ranges, (1, 0, 2)).astype(int)
        self._first, self._count = np.minimum(lowest, self.counts - 1), highest - lowest
        return codes

    def draw(self):
        """Draw a threshold of each feature for each member, of shape (n_members, n_features)."""
        lots = self.random_state.random_sample(self._count.shape[::-1]).T
        return self._first + (lots * self._count).astype(int)

    def generate(self):
        """Find what each member gains by stumps, and Newton's steps on both sides of each."""
        if not self.search.n_positions:
            return None
        cut = self.draw()
        total, above = _sum(block.sums(cut) for block in self.blocks)
        # Slopes and curvatures by side, member, score, and feature.
        sides = np.stack([total[..., None] - above, above])
        slopes, curvatures = sides[:, :, 0], sides[:, :, 1]
        steps = slopes / (curvatures + _DAMPING)
        falls = (slopes * steps).sum(axis=(0, 2))
        slope, curvature = total[:, 0], total[:, 1]
        gain = falls - (slope**2 / (curvature + _DAMPING)).sum(axis=1, keepdims=True)
        gain = np.where(self._count > 0, gain.clip(0.0), 0.0)
        if not gain.any():
            return None
        share = gain / np.maximum(gain.max(axis=1, keepdims=True), np.finfo(float).tiny)
        return cut, steps * share[:, None], (falls * share).sum(axis=1)

    def correct(self, found):
        """Add the stumps to the members; True while the bag gets better."""
        cut, (low, high), slope = found
        curvature = sum(block.try_move(cut, low, high) for block in self.blocks)
        size = self.params.eta * slope / np.maximum(curvature, np.finfo(np.float32).tiny)
        for block in self.blocks:
            block.move(size)
        # A stump has the output -1 or +1: half the difference of its sides, and their mean.
        half = size[:, None, None] / (2 * len(size))
        self.intercept += ((high + low) * half).sum(axis=(0, 2))
        n_scores = len(self.intercept)
        at = (self._start + cut)[:, None] * n_scores + np.arange(n_scores)[:, None]
        votes = np.bincount(at.ravel(), ((high - low) * half).ravel(), self.votes.size)
        self.votes += votes.reshape(self.votes.shape)
        self.losses.append(self.loss_of_unseen())
        self._look(self.losses[-1])
        return len(self.losses) < self.best + self.params.patience

    def _look(self, loss):
        """Keep the model where the loss has fallen."""
        if loss < self._least - LEAST_FALL:
            self._least, self.best = loss, len(self.losses)
            self.kept = self.votes.copy(), self.intercept.copy()

    def loss_of_unseen(self):
        """Log-loss of the samples, each by the mean of the members that do not see it."""
        scores = np.concatenate([block.scores_of_unseen() for block in self.blocks])[self._tested]
        if scores.shape[1] == 1:
            scores = scores[:, 0]
        return float(np.average(log_losses(scores, self._labels), weights=self._of_tested))

    def mean_of_members(self, votes, intercept):
        """Sum up stumps, as `kept`.

        Returns
        -------
        boostbench.algorithms.explaining.stump_sums.StumpSum
        """
        used = votes.any(axis=1)
        stumps = Stumps([self.search.stump(position) for position in self.stumps[used]])
        if len(intercept) == 1:
            return StumpSum(stumps, votes[used, 0], intercept[0])
        return StumpSum(stumps, votes[used], intercept)


def _sum(pairs):
    """Sum up pairs of arrays in double precision."""
    totals = [0.0, 0.0]
    for pair in pairs:
        totals = [total + part.astype(float) for total, part in zip(totals, pair, strict=True)]
    return totals
