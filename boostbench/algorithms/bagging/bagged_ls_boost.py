"""Bag of least-squares boosting models that are trained jointly."""

from boostbench.algorithms.bagging.joint_losses import SquaredLoss
from boostbench.algorithms.bagging.jointly_bagged_stumps import JointlyBaggedStumps
from boostbench.algorithms.base.estimators import BoostingRegressor
from boostbench.algorithms.base.parameters import TwoOrMore
from boostbench.algorithms.explanation.spread import UncertainRegressorMixin


class BaggedLsBoostRegressor(UncertainRegressorMixin, BoostingRegressor, JointlyBaggedStumps):
    r"""The mean of boosted sums of stumps that are trained jointly on random parts of the samples.

    It is `BaggedMCBoost` for regression: the members minimise the squared error, as
    `LsBoostRegressor` does, in the rounds of `BaggedMCBoost`. The prediction is the sum of a
    constant and a function of each feature, which `shape_functions` returns.

    Parameters
    ----------
    n_iterations : int, default=2000
        Maximum number of rounds.
    max_bins : int or None, default=256
        Number of quantile bins of each feature. None: every threshold is admissible. Regression
        needs finer steps than classification.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Distinct stumps of all members and rounds, sorted by feature and threshold.
    coefficients_ : ndarray of shape (n_hypotheses,)
        Coefficients, averaged over the members.
    intercept_ : ndarray of shape ()
        Constant of the predictions.
    validation_losses_ : ndarray of shape (n_rounds,)
        Mean squared error of the out-of-bag predictions, or of the predictions of given
        validation samples, after each round of stumps, including the rounds after the best one.

    See Also
    --------
    BaggedMCBoost : The same for classification.
    LsBoostRegressor : A single model that adds one stump per round.

    Notes
    -----
    The target is standardised to variance 1 for the training, so that scaling y scales the
    predictions. A round is progress if it decreases half the logarithm of the mean squared error by
    1e-4.

    References
    ----------
    .. [1] J. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
       Statistics 29, 2001.
    .. [2] H. Nori, S. Jenkins, P. Koch and R. Caruana, "InterpretML: A unified framework for
       machine learning interpretability", 2019: explainable boosting machines are such bags.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> bag = BaggedLsBoostRegressor(random_state=0).fit(X[::2], y[::2])
    >>> bag.score(X[1::2], y[1::2]) > 0.4
    True
    >>> terms = bag.shape_functions().explain_local(X[:1])
    >>> bool(abs(terms.to_numpy().sum() - bag.predict(X[:1])[0]) < 1e-9)
    True
    """

    max_bins: TwoOrMore | None = 256

    def _make_loss(self, target, weights):
        return SquaredLoss(target, weights)
