"""Bag of least-squares boosting models that are trained jointly."""

from dataclasses import KW_ONLY
from typing import Literal

from boostbench.algorithms.bagging.joint_losses import PoissonLoss, QuantileLoss, SquaredLoss
from boostbench.algorithms.bagging.jointly_bagged_stumps import JointlyBaggedStumps
from boostbench.algorithms.base.estimators import BoostingRegressor
from boostbench.algorithms.base.parameters import Fraction, TwoOrMore
from boostbench.algorithms.explanation.spread import UncertainRegressorMixin


class BaggedLsBoostRegressor(UncertainRegressorMixin, BoostingRegressor, JointlyBaggedStumps):
    r"""A bag of boosted sums of stumps, which are trained jointly on random parts of the samples.

    It is `BaggedMCBoost` for regression: the members minimise the squared error, as
    `LsBoostRegressor` does, or another loss, in the rounds of `BaggedMCBoost`. The prediction, or
    its logarithm, is the sum of a constant and a function of each feature, which `shape_functions`
    returns.

    Parameters
    ----------
    n_iterations : int, default=2000
        Maximum number of rounds.
    max_bins : int or None, default=256
        Number of quantile bins of each feature. None: every threshold is admissible. Regression
        needs finer steps than classification.
    loss : {"squared_error", "poisson", "quantile"}, default="squared_error"
        Loss to minimise. ``"squared_error"``: predictions are means. ``"poisson"``: predictions are
        means of counts or other nonnegative numbers, and the features multiply them, since their
        terms are added to the logarithm. For rates, divide the counts by the exposures, and pass
        the exposures as `sample_weight`. ``"quantile"``: predictions are quantiles, by the pinball
        loss.
    quantile : float, default=0.5
        Level of the quantile for ``loss="quantile"``, between 0 and 1. The median, 0.5, minimises
        the absolute error.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        Distinct stumps of all members and rounds, sorted by feature and threshold.
    coefficients_ : ndarray of shape (n_hypotheses,)
        Coefficients, averaged over the members.
    intercept_ : ndarray of shape ()
        Constant of the predictions.
    validation_losses_ : ndarray of shape (n_rounds,)
        Mean squared error, mean Poisson deviance or mean pinball loss of the out-of-bag
        predictions, or of the predictions of given validation samples, after each round of stumps,
        including the rounds after the best one. The out-of-bag prediction is the mean over members;
        with ``loss="poisson"``, the exponential of the mean of their logarithms.

    See Also
    --------
    BaggedMCBoost : The same for classification.
    LsBoostRegressor : A single model that adds one stump per round.

    Notes
    -----
    The target is standardised for the training, so that scaling y scales the predictions. A round
    is progress if it decreases half the logarithm of the mean squared error, the logarithm of the
    mean pinball loss, or half the mean Poisson deviance of y divided by its mean, by 1e-4.

    The quantile loss is made smooth by a kernel whose width is 1 % of the mean absolute deviation
    of y from its quantile. Members of the bag are trained for a quantile, and the model is their
    mean.

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
    _: KW_ONLY
    loss: Literal["squared_error", "poisson", "quantile"] = "squared_error"
    quantile: Fraction = 0.5

    def _make_loss(self, target, weights):
        """Return the loss that `loss` names, with the location and scale of the target."""
        if self.loss == "poisson":
            return PoissonLoss(target, weights)
        if self.loss == "quantile":
            return QuantileLoss(target, weights, self.quantile)
        return SquaredLoss(target, weights)

    @property
    def link_(self):
        """Function of the predictions whose values the terms add up to; see `BoostingRegressor`."""
        return "log" if self._fit_param("loss") == "poisson" else "identity"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags
