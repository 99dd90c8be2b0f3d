"""Bag of MCBoost models that are trained jointly and stopped by their out-of-bag loss."""

from boostbench.algorithms.bagging.joint_losses import LogisticLoss
from boostbench.algorithms.bagging.jointly_bagged_stumps import JointlyBaggedStumps
from boostbench.algorithms.base.decision_values import INVERSE_TEMPERATURES
from boostbench.algorithms.base.estimators import ScoringClassifier
from boostbench.algorithms.explanation.spread import UncertainClassifierMixin


class BaggedMCBoost(UncertainClassifierMixin, ScoringClassifier, JointlyBaggedStumps):
    r"""A bag of boosted sums of stumps, which are trained jointly on random parts of the samples.

    Members minimise MCBoost's loss, eq. (14) of [1]_ without the L1 norm,

    .. math:: \sum_{i,r} \log(1 + e^{-\rho_{ir}}), \quad \rho_{ir} = F_{y_i}(x_i) - F_r(x_i),

    over the samples of their bags, and start from the constant scores with the smallest loss. A
    round differs from a round of `MCBoost`:

    - A weak learner is a stump and a constant: it has a vote vector on each side of its threshold,
      so that all scores can move up or down in the same round.
    - Each member draws one threshold of each feature, as extremely randomised trees do [4]_. The
      functions of features become smoother than with the best thresholds.
    - A round adds the stumps of all features, each in proportion to the decrease of the loss it
      would cause alone. Correlated features grow together, and the model does not depend on
      rounding errors in the choice of the best one.
    - The votes are a Newton step on each side [3]_. The sum of the stumps is multiplied by the
      coefficient of a Newton step along it, and by `eta`.

    All members take a round at the same time. The out-of-bag score of a sample is the mean over the
    members whose bag does not contain it [2]_. The training ends when the loss of the out-of-bag
    scores stops decreasing. This stops the bag and not each member, which alone would have to stop
    earlier.

    Parameters
    ----------
    n_iterations : int, default=2000
        Maximum number of rounds.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Distinct stumps of all members and rounds, sorted by feature and threshold.
    coefficients_ : ndarray of shape (n_hypotheses,) or (n_hypotheses, n_classes)
        Coefficients, averaged over the members. With two classes a positive coefficient votes for
        the second class.
    intercept_ : ndarray of shape () or (n_classes,)
        Constant of the scores.
    validation_losses_ : ndarray of shape (n_rounds,)
        Log-loss of the out-of-bag scores, or of the scores of given
        validation samples, after each round of stumps, including the rounds after the best one.

    See Also
    --------
    BaggedBooster : A bag of any booster; each member stops by itself.
    MCBoost : A single model that adds one stump per round.

    Notes
    -----
    Sample weights multiply the terms of the loss in the training and in the stopping rule. Both are
    means, so that a common factor has no effect. The bags do not depend on the weights.

    There is no `staged_predict`, because the stumps of all rounds are merged.

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

    # Number of the version of the results, see `Booster`.
    edition = 2

    def _make_loss(self, target, weights):
        """Return the loss of the labels, which needs no weights: the bag applies them later."""
        return LogisticLoss(target, len(self.classes_))

    def inverse_temperature(self):
        """Return the inverse temperature of the logistic loss; see `BoostingClassifier`."""
        return INVERSE_TEMPERATURES["logistic"]
