"""A bag of MCBoost, its members trained at the same time and stopped by the bag's own error."""

import numpy as np

from boostbench.algorithms.bagging import Bag
from boostbench.algorithms.base import Master, Weighted
from boostbench.algorithms.decisions import decision
from boostbench.algorithms.explaining.probabilities import INVERSE_TEMPERATURES
from boostbench.algorithms.explaining.stump_sums import StumpSum
from boostbench.algorithms.parameters import Part, PartOrAll, PositiveInt, TwoOrMore
from boostbench.algorithms.training.early_stopping import LEAST_FALL, hold_out, log_losses
from boostbench.core.weak.stumps import Stumps, StumpSearch

# Stumps of a round: those of the features whose own one gains that part of the most, or more.
_NEARLY_BEST = 0.9

# Added to the curvature on each side of a stump, so that few samples move little: the default of
# XGBoost (`reg_lambda`). It makes steps shorter, not another minimum.
_DAMPING = 1.0


class BaggedMCBoost(Bag, Weighted):
    r"""The mean of boosted sums of stumps, trained together on random parts of the samples.

    Members minimise MCBoost's loss, eq. (14) of [1]_ without the L1 norm,

    .. math:: \sum_{i,r} \log(1 + e^{-\rho_{ir}}), \quad \rho_{ir} = F_{y_i}(x_i) - F_r(x_i),

    each over the samples that it sees, and start from the constant scores of the least loss. Their
    rounds differ from those of `MCBoost`:

    - A weak learner is a stump and a constant: it has a vote vector on each side of its threshold.
      So scores need no other stumps to move up or down as a whole.
    - The thresholds are drawn, one of each feature in each round for each member, as those of
      extremely randomised trees [4]_: functions become smoother than by the best thresholds. A
      round adds the best stump of these, and the stumps of features that lower the loss by nearly
      as much, so that features that are alike grow together.
    - The votes are a Newton step on each side, and what a round adds is this sum of stumps times
      the coefficient of a Newton step along it, times `eta`.

    The members do so at the same time, as columns of one search. After each round, the score of a
    sample is the mean of the members that do not see it. Where the loss of these scores falls no
    more, the bag is done: so it is the bag that is stopped, not its members, which alone would have
    to be stopped earlier.

    Parameters
    ----------
    n_iterations : int, default=2000
        Rounds at most.
    n_estimators : int, default=24
        Members of the bag.
    validation_fraction : float, default=0.25
        Part of the samples that a member does not see, stratified.
    eta : float, default=0.4
        Shrinkage of what a round adds.
    max_bins : int or None, default=64
        None takes all thresholds; an integer that many quantile bins per feature.
    patience : int, default=30
        Rounds in a row without progress after which the training ends. The model is that of the
        best round.
    random_state : int, RandomState instance or None, default=None
        Seed of the parts and thresholds.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of the samples, by class; as in scikit-learn.

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
    rule. Which samples a member does not see depends on no weight. Steps are damped by what is
    little beside weights of mean 1; where all are far smaller, features are chosen by slopes alone.

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
        X : array-like of shape (n_samples, n_features)
            Training data, finite.
        y : array-like of shape (n_samples,)
            Labels of any type that sorts.
        sample_weight : array-like of shape (n_samples,), default=None
            What the terms of the samples in the loss are multiplied with, not negative; the weight
            0 is no sample at all. None: all are 1.

        Returns
        -------
        self
            The fitted estimator.

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
        if weights is None:
            weights = np.ones(len(X))
        return BagMaster(self, search, labels, unseen, weights, random_state)

    def _keep(self, master):
        self.n_iterations_ = master.best
        self.validation_losses_ = np.array(master.losses)
        total = master.mean_of_members(master.best)
        self.hypotheses_, self.coefficients_, self.intercept_ = total
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
    scores : ndarray of shape (n_samples, n_members, n_scores), dtype=float32
        For two classes one score, which is that of the second less that of the first.
    losses : list of float
        After each round, of the samples by members that do not see them.
    best : int
        The last round of progress; 0 where the constant scores are best.
    """

    def __init__(self, params, search, labels, unseen, weights, random_state):
        super().__init__(params, search)
        self.random_state = random_state
        n_classes = len(params.classes_)
        seen = ~unseen
        of_classes = np.eye(n_classes)[labels].T @ (seen * weights[:, None])
        start = np.log(of_classes / of_classes.sum(axis=0)).T
        if n_classes == 2:
            self.loss = _TwoClasses(labels)
            start = decision(start)[:, None]
        else:
            self.loss = _ManyClasses(labels)
        self.start = start.mean(axis=0)
        self.scores = np.repeat(start.astype(np.float32)[None], len(labels), axis=0)
        self.weights = (seen * weights[:, None])[..., None].astype(np.float32)
        self.rounds = []

        tested = unseen.any(axis=1)
        self._tested = tested
        self._labels, self._of_tested = labels[tested], weights[tested]
        shares = unseen / np.maximum(1, unseen.sum(axis=1, keepdims=True))
        self._shares = shares[:, None].astype(np.float32)
        self.losses = []
        self.best = 0
        self._least = self.loss_of_unseen()

        self._lay_out(seen)

    def _lay_out(self, seen):
        """List the stumps by feature and threshold, and what each member may draw of them."""
        search = self.search
        at = np.flatnonzero(~search.is_padding)
        keys = np.stack([search.feature[at], search.threshold[at]])
        (feature, _), first = np.unique(keys, axis=1, return_index=True)
        self.stumps = at = at[first]
        columns, counts = np.unique(feature.astype(int), return_counts=True)
        start = np.cumsum(counts) - counts
        # The samples above a stump have a code above its number among all.
        self._codes = np.empty((len(search.X), len(columns)), np.int32)
        groups = np.split(self.stumps, start)[1:]
        for code, column, some in zip(self._codes.T, columns, groups, strict=True):
            code[:] = np.searchsorted(search.threshold[some], search.X[:, column])
        self._codes += start
        # What a member draws has samples that it sees on both sides: a stump from the lowest of
        # their codes on, and before the highest. Where there is none, any stump stands for it.
        seen_codes = (self._codes[some] for some in seen.T)
        ranges = np.array([(codes.min(axis=0), codes.max(axis=0)) for codes in seen_codes])
        lowest, highest = ranges.transpose(1, 2, 0)
        self._count = highest - lowest
        self._first = np.minimum(lowest, len(at) - 1)

    def draw(self):
        """Draw a stump of each feature for each member, of shape (n_features, n_members)."""
        lots = self.random_state.random_sample(self._count.shape)
        return self._first + (lots * self._count).astype(int)

    def generate(self):
        """Find the stumps of each member, and Newton's steps on both sides of each."""
        if not self.search.n_positions:
            return None
        self._slopes, curvatures = self.loss.derivatives(self.scores, self.weights)
        columns = np.concatenate([self._slopes, curvatures], axis=1)
        columns = columns.reshape(len(columns), -1)
        cut = self.draw()
        member = np.arange(cut.shape[1])
        # By feature, member, slope or curvature, and score.
        shape = 2, *self.scores.shape[1:]
        edges = self.search.edges(columns).reshape(-1, *shape)[self.stumps[cut], :, member]
        total = _total(columns).reshape(shape).transpose(1, 0, 2)
        sides = (total - edges) / 2, (total + edges) / 2
        steps = [side[..., 0, :] / (side[..., 1, :] + _DAMPING) for side in sides]
        gain = sum(
            (side[..., 0, :] * step).sum(axis=2) for side, step in zip(sides, steps, strict=True)
        )
        gain -= (total[:, 0] ** 2 / (total[:, 1] + _DAMPING)).sum(axis=1)
        gain[self._count == 0] = 0.0
        row, member = np.nonzero(gain > np.maximum(_NEARLY_BEST * gain.max(axis=0), 0.0))
        if not len(row):
            return None
        return row, cut[row, member], member, *(step[row, member] for step in steps)

    def correct(self, found):
        """Add the stumps to the members; True while the bag gets better."""
        row, cut, member, low, high = found
        n_members, n_scores = self.scores.shape[1:]
        votes = np.zeros((len(row) + 1, n_members, n_scores), np.float32)
        votes[np.arange(len(row)), member] = high - low
        np.add.at(votes[-1], member, low)
        above = np.ones((len(self._codes), len(row) + 1), np.float32)
        np.greater(self._codes.take(row, axis=1), cut, out=above[:, :-1])
        move = (above @ votes.reshape(len(votes), -1)).reshape(self.scores.shape)
        slope = self._of_members(self._slopes * move)
        curvature = self._of_members(self.loss.curvatures_along(move))
        size = self.params.eta * slope / np.maximum(curvature, np.finfo(np.float32).tiny)
        self.scores += size[:, None] * move
        size = size[member, None]
        self.rounds.append((cut, low * size, high * size))
        self.losses.append(self.loss_of_unseen())
        if self.losses[-1] < self._least - LEAST_FALL:
            self._least, self.best = self.losses[-1], len(self.losses)
        return len(self.losses) < self.best + self.params.patience

    def _of_members(self, values):
        """Sum up values of the shape of the scores for each member."""
        return _total(values.reshape(len(values), -1)).reshape(values.shape[1:]).sum(axis=1)

    def loss_of_unseen(self):
        """Log-loss of the samples, each by the mean of the members that do not see it."""
        scores = (self._shares @ self.scores)[self._tested, 0]
        if scores.shape[1] == 1:
            scores = scores[:, 0]
        return float(np.average(log_losses(scores, self._labels), weights=self._of_tested))

    def mean_of_members(self, rounds):
        """Sum up stumps and divide by the number of members.

        Parameters
        ----------
        rounds : int
            The first so many.

        Returns
        -------
        boostbench.algorithms.explaining.stump_sums.StumpSum
        """
        n_members, n_scores = self.scores.shape[1:]
        # A stump has the output -1 or +1: half the difference of its sides, and their mean.
        coefficients = np.zeros((self.search.n_positions, n_scores))
        intercept = self.start.copy()
        for cut, low, high in self.rounds[:rounds]:
            np.add.at(coefficients, self.stumps[cut], (high - low) / (2 * n_members))
            intercept += (high + low).sum(axis=0) / (2 * n_members)
        used = self.stumps[coefficients[self.stumps].any(axis=1)]
        stumps = Stumps([self.search.stump(position) for position in used])
        if n_scores == 1:
            return StumpSum(stumps, coefficients[used, 0], intercept[0])
        return StumpSum(stumps, coefficients[used], intercept)


def _total(columns):
    # As a product, several times faster than a sum over the first axis.
    return np.ones(len(columns), columns.dtype) @ columns


def _dual(margin):
    # An infinite number below the line is as good as any; faster than `expit`.
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(margin))


class _TwoClasses:
    """The logistic loss of one score for each member.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        0 or 1.
    """

    def __init__(self, labels):
        self._sign = np.where(labels > 0, 1.0, -1.0).astype(np.float32)[:, None, None]

    def derivatives(self, scores, weights):
        """Slope down and curvature of the loss of each sample, in each score.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_members, n_scores)
        weights : ndarray of shape (n_samples, n_members, 1)

        Returns
        -------
        slopes, curvatures : ndarray of shape (n_samples, n_members, n_scores)
        """
        dual = _dual(self._sign * scores)
        weighted = weights * dual
        self._curvatures = weighted * (1.0 - dual)
        return weighted * self._sign, self._curvatures

    def curvatures_along(self, move):
        """Second derivatives of the terms of the loss along a change of the scores.

        Parameters
        ----------
        move : ndarray of shape (n_samples, n_members, n_scores)

        Returns
        -------
        ndarray of shape (n_samples, n_members, n_scores)
            Where the derivatives were asked for last.
        """
        return self._curvatures * move * move


class _ManyClasses:
    """The logistic loss of the margins of each class against the others; as `_TwoClasses`."""

    def __init__(self, labels):
        self._own = np.arange(len(labels)), slice(None), labels

    def derivatives(self, scores, weights):
        """Slope down and curvature; as `_TwoClasses.derivatives`."""
        dual = _dual(self._lead(scores))
        dual[self._own] = 0.0
        slopes = weights * dual
        self._curvatures = slopes * (1.0 - dual)
        curvatures = self._curvatures.copy()
        ones = np.ones(scores.shape[2], scores.dtype)
        curvatures[self._own] = curvatures @ ones
        np.negative(slopes, out=slopes)
        slopes[self._own] = -(slopes @ ones)
        return slopes, curvatures

    def curvatures_along(self, move):
        """Second derivatives; as `_TwoClasses.curvatures_along`."""
        lead = self._lead(move)
        lead *= lead
        lead *= self._curvatures
        return lead

    def _lead(self, scores):
        """What the score of each sample's own class is ahead of the others."""
        return scores[self._own][..., None] - scores
