"""A bag of MCBoost, its members trained at the same time and stopped by the bag's own error."""

from boostbench.algorithms.bagging.joint_losses import LogisticLoss
from boostbench.algorithms.bagging.jointly_bagged_stumps import JointlyBaggedStumps
from boostbench.algorithms.base.estimators import ScoringClassifier
from boostbench.algorithms.base.probabilities import INVERSE_TEMPERATURES

__all__ = ["BaggedMCBoost"]


class BaggedMCBoost(ScoringClassifier, JointlyBaggedStumps):
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

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
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
    >>> bool(abs(terms.to_numpy().sum() - bag.decision_function(X[:1])[0]) < 1e-9)
    True
    """

    edition = 2

    def _make_loss(self, target, weights):
        return LogisticLoss(target, len(self.classes_))

    def inverse_temperature(self):
        """As of `BoostingClassifier.inverse_temperature`."""
        return INVERSE_TEMPERATURES["logistic"]
