"""Regression bags for several quantiles, whose predictions do not cross."""

import numpy as np
from sklearn.base import MetaEstimatorMixin, RegressorMixin, clone
from sklearn.metrics import mean_pinball_loss
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.bagging.bagged_ls_boost import BaggedLsBoostRegressor
from boostbench.algorithms.base.parameters import DeclaredParameters, Quantiles, Seed


class BaggedQuantileRegressor(MetaEstimatorMixin, RegressorMixin, DeclaredParameters):
    """Regression bags for several quantiles, with predictions in ascending order.

    A `BaggedLsBoostRegressor` is trained for each quantile; all have the same bags and draw the
    same random numbers. Separate models may cross: the prediction of a high quantile may be below
    the prediction of a low quantile. The predictions of a sample are therefore sorted [1]_. Sorting
    never increases the sum of the pinball losses, and changes nothing where they do not cross.

    Parameters
    ----------
    quantiles : array-like of float, default=(0.1, 0.5, 0.9)
        Levels of the quantiles, ascending, between 0 and 1.
    estimator : BaggedLsBoostRegressor or None, default=None
        Bag whose copies get their `loss`, `quantile` and `random_state` from this model. None:
        ``BaggedLsBoostRegressor()``.
    random_state : int, RandomState instance or None, default=None
        Seed of the bags and of the drawn thresholds.

    Attributes
    ----------
    estimators_ : list of BaggedLsBoostRegressor
        Fitted bag of each quantile. Each can be explained and converted by itself; its predictions
        are not sorted.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    BaggedLsBoostRegressor : The bag of a single quantile.
    sklearn.ensemble.HistGradientBoostingRegressor : Boosted trees for a single quantile.

    References
    ----------
    .. [1] V. Chernozhukov, I. Fernandez-Val and A. Galichon, "Quantile and probability curves
       without crossing", Econometrica 78, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggedQuantileRegressor([0.1, 0.9], random_state=0).fit(X[::2], y[::2])
    >>> low, high = model.predict(X[1::2]).T
    >>> bool((low <= high).all()), bool(0.6 < ((low <= y[1::2]) & (y[1::2] <= high)).mean() < 0.9)
    (True, True)
    """

    quantiles: Quantiles = (0.1, 0.5, 0.9)
    estimator: BaggedLsBoostRegressor | None = None
    random_state: Seed = None

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Train a bag for each quantile.

        Parameters
        ----------
        X, y, sample_weight, X_val, y_val, sample_weight_val
            See `BaggedLsBoostRegressor.fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the quantiles are not ascending numbers between 0 and 1, or the bag cannot be fitted.
        """
        self._validate_params()
        quantiles = self._check_quantiles()
        estimator = BaggedLsBoostRegressor() if self.estimator is None else self.estimator
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self.estimators_ = [
            clone(estimator)
            .set_params(loss="quantile", quantile=quantile, random_state=seed)
            .fit(
                X,
                y,
                sample_weight,
                X_val=X_val,
                y_val=y_val,
                sample_weight_val=sample_weight_val,
            )
            for quantile in quantiles
        ]
        self.n_features_in_ = self.estimators_[0].n_features_in_
        vars(self).pop("feature_names_in_", None)
        if hasattr(self.estimators_[0], "feature_names_in_"):
            self.feature_names_in_ = self.estimators_[0].feature_names_in_
        return self

    def predict(self, X):
        """Predict quantiles.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles)
            Rows are ascending.
        """
        check_is_fitted(self)
        return np.sort([bag.predict(X) for bag in self.estimators_], axis=0).T

    def score(self, X, y, sample_weight=None):
        """Return the fraction of the pinball loss that the model explains.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            None: all weights are 1.

        Returns
        -------
        float
            1 minus the sum of the mean pinball losses over the quantiles, divided by this sum for
            the quantiles of y as constant predictions. At most 1.
        """
        y = np.asarray(y, dtype=float)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        # Sums of the losses of the predictions, and of the quantiles of y.
        predictions, losses = self.predict(X).T, np.zeros(2)
        for bag, prediction in zip(self.estimators_, predictions, strict=True):
            level = bag.quantile
            constant = np.quantile(y, level, weights=weights, method="inverted_cdf")
            losses += [
                mean_pinball_loss(y, values, sample_weight=weights, alpha=level)
                for values in (prediction, np.full(len(y), constant))
            ]
        return float(1.0 - losses[0] / max(losses[1], np.finfo(float).tiny))

    def _check_quantiles(self):
        """Return the quantiles as a list; raise ValueError unless they are ascending."""
        quantiles = np.asarray(self.quantiles, dtype=float)
        is_valid = quantiles.ndim == 1 and len(quantiles) and (np.diff(quantiles) > 0).all()
        if not (is_valid and 0 < quantiles[0] and quantiles[-1] < 1):
            raise ValueError(
                "quantiles must be a list of ascending numbers between 0 and 1, got "
                f"{self.quantiles!r}"
            )
        return quantiles.tolist()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        estimator = BaggedLsBoostRegressor() if self.estimator is None else self.estimator
        tags.input_tags = estimator.__sklearn_tags__().input_tags
        tags.target_tags.required = True
        return tags
