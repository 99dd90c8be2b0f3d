"""A bag of sums of stumps for numbers, its members trained at the same time."""

from boostbench.algorithms.bagging.joint_losses import SquaredLoss
from boostbench.algorithms.bagging.jointly_bagged_stumps import JointlyBaggedStumps
from boostbench.algorithms.base.estimators import BoostingRegressor
from boostbench.algorithms.base.parameters import TwoOrMore

__all__ = ["BaggedLsBoostRegressor"]


class BaggedLsBoostRegressor(BoostingRegressor, JointlyBaggedStumps):
    r"""The mean of boosted sums of stumps, trained together on random parts of the samples.

    It is `BaggedMCBoost` for numbers: members minimise the squared error, as `LsBoostRegressor`
    does, in the rounds that are described there. The prediction is a constant and a function of
    each feature, which `shape_functions` gives.

    Parameters
    ----------
    n_iterations : int, default=2000
        Rounds at most.
    max_bins : int or None, default=256
        Quantile bins of each feature; None: all thresholds are tried. Numbers need
        finer steps than classes.

    Attributes
    ----------
    hypotheses_ : boostbench.core.stumps.stump.Stumps
        All stumps of all members and rounds, equal ones once, by feature and threshold.
    coefficients_ : ndarray of shape (n_hypotheses,)
        Of the mean of the members.
    intercept_ : ndarray of shape ()
        What is added to all predictions.
    validation_losses_ : ndarray of shape (n_rounds,)
        After each round, those after the best one included: mean squared error of the samples, each
        by the members that do not see it.

    See Also
    --------
    BaggedMCBoost : The same for classes.
    LsBoostRegressor : One model, one stump a round.

    Notes
    -----
    Numbers are brought to the variance 1 for the training, so that a factor of y is one of all
    predictions. A round is progress where it lowers half the logarithm of the mean squared error by
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
