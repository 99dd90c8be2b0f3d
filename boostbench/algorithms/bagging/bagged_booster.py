"""Bags of boosters: the mean of copies that saw different samples, each stopped by the others."""

from numbers import Integral

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from boostbench.algorithms.base.booster import to_dense
from boostbench.algorithms.base.early_stopping import stratified_holdout
from boostbench.algorithms.base.estimators import BoostingClassifier, ScoringClassifier
from boostbench.algorithms.base.input_validation import InputValidationMixin
from boostbench.algorithms.base.parameters import DeclaredParameters, Fraction, PositiveInt, Seed
from boostbench.algorithms.explanation.stump_sums import StumpSum
from boostbench.algorithms.mcboost import MCBoost
from boostbench.core.stumps.stump import Stumps

__all__ = ["BaggedBooster"]


class BaggedBooster(
    MetaEstimatorMixin, ScoringClassifier, InputValidationMixin, DeclaredParameters
):
    """The mean of boosters that were trained on random parts of the samples.

    Each member is trained on a part, and the samples that are left out say when it ends (see
    `n_iter_no_change` of the boosters). So every sample is learned from, and every member is
    stopped by samples that it did not see. The score is the mean of the members' scores. Of sums of
    stumps it is one again, so that all that shows, explains or converts such a model works on the
    bag.

    Parameters
    ----------
    estimator : BoostingClassifier or None, default=None
        A booster with early stopping; `random_state` and `n_iter_no_change` of its copies are set.
        None: ``MCBoost(loss="logistic")``.
    n_estimators : int, default=14
        Members of the bag.
    validation_fraction : float, default=0.15
        Part of the samples that a member does not see, stratified.
    bootstrap : bool, default=False
        Whether a member sees as many samples as there are, drawn with replacement, and at least one
        of each class; those that were not drawn, about 37 %, stop it.
    n_iter_no_change : int, default=50
        Rounds in a row without progress after which the training of a member ends.
    n_jobs : int or None, default=None
        Members trained at the same time, in processes of joblib; -1: as many as there are cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the parts, and of the members.

    Attributes
    ----------
    estimators_ : list of BoostingClassifier
        The members, fitted.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    seconds_ : dict of str to float
        CPU seconds of each phase of the training, of all members together.

    See Also
    --------
    BaggedMCBoost : Its members are sums of stumps that are trained together, many times as fast.
    sklearn.ensemble.BaggingClassifier : Of any classifiers, without early stopping.

    References
    ----------
    .. [1] L. Breiman, "Bagging predictors", Machine Learning 24, 1996.
    .. [2] H. Nori, S. Jenkins, P. Koch and R. Caruana, "InterpretML: A unified framework for
       machine learning interpretability", 2019: explainable boosting machines are such bags.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bag = BaggedBooster(n_estimators=5, random_state=0).fit(X, y)
    >>> bag.score(X, y) > 0.95
    True
    >>> terms = bag.shape_functions().explain_local(X[:1])[1]
    >>> bool(np.isclose(terms.to_numpy().sum(), bag.decision_function(X[:1])[0, 1]))
    True
    """

    estimator: BoostingClassifier | None = None
    n_estimators: PositiveInt = 14
    validation_fraction: Fraction = 0.15
    bootstrap: bool = False
    n_iter_no_change: PositiveInt = 50
    n_jobs: Integral | None = None
    random_state: Seed = None

    def fit(self, X, y, sample_weight=None):
        """Train the members.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features) and (n_samples,)
            Training data, finite, sparse where the booster takes that, and labels that sort.
        sample_weight : array-like of shape (n_samples,), default=None
            What members multiply the terms of the samples in their loss with, not negative; the
            weight 0 is no sample at all. Samples are drawn as if all weights were 1, and those that
            stop a member count once each. None: all are 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X is not a finite matrix, y holds one class only, a parameter is out of range, a
            weight is negative or all are 0, the booster has no early stopping, has `category_sets`
            or weighs a class with 0, or there are too few samples to leave some out.
        """
        self._validate_params()
        booster = self._booster()
        has_early_stopping = "n_iter_no_change" in booster.get_params(deep=False)
        if not (has_early_stopping and has_fit_parameter(booster, "X_val")):
            raise ValueError(
                f"{type(booster).__name__} has no early stopping by samples that it is given, "
                "which a bag needs"
            )
        if getattr(booster, "category_sets", False):
            raise ValueError(
                "category_sets=True does nothing in a bag, whose members see a column of 0 and 1 "
                "for each category"
            )
        if isinstance(booster.class_weight, dict) and 0 in booster.class_weight.values():
            raise ValueError(
                "a class_weight of 0 takes a class from the members of a bag, and not from the "
                "bag: leave its samples out of X"
            )
        X, y, weights = self._validate_weighted_input(X, y, sample_weight)
        input_rows, X = X, self._to_views(X, weights, reset=True)
        labels = self._encode_target(y)
        random_state = check_random_state(self.random_state)
        tasks = []
        for _ in range(self.n_estimators):
            train, held_out = self._draw_parts(labels, random_state)
            seed = random_state.randint(np.iinfo(np.int32).max)
            member = clone(booster).set_params(
                n_iter_no_change=self.n_iter_no_change, random_state=seed
            )
            if self._takes_tables:
                member.set_params(categorical_features=None)
            tasks.append(delayed(_fit_member)(member, X, y, weights, train, held_out))
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(tasks)
        self._store_term_sizes(input_rows, weights)
        return self

    def _scores(self, X):
        """Return the mean of the members' scores."""
        check_is_fitted(self)
        X = self._to_views(self._validate_input(X, reset=False))
        return np.mean([member.decision_function(X) for member in self.estimators_], axis=0)

    @property
    def seconds_(self):
        """CPU seconds of each phase of the training, of all members together."""
        check_is_fitted(self)
        phases = {name for member in self.estimators_ for name in member.seconds_}
        return {
            name: sum(member.seconds_.get(name, 0.0) for member in self.estimators_)
            for name in sorted(phases)
        }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        booster_tags = self._booster().__sklearn_tags__().classifier_tags
        tags.classifier_tags.multi_class = booster_tags.multi_class
        return tags

    def _booster(self):
        return MCBoost(loss="logistic") if self.estimator is None else self.estimator

    @property
    def _takes_sparse(self):
        return self._booster().__sklearn_tags__().input_tags.sparse

    @property
    def _takes_tables(self):
        return getattr(self._booster(), "_takes_tables", False)

    @property
    def categorical_features(self):
        """Those of the booster."""
        return self._booster().categorical_features

    def _draw_parts(self, labels, random_state):
        """Draw the samples that a member sees, and give the others."""
        if not self.bootstrap:
            return stratified_holdout(labels, self.validation_fraction, random_state)
        train = random_state.randint(len(labels), size=len(labels))
        order = random_state.permutation(len(labels))
        classes, first_of_class = np.unique(labels[order], return_index=True)
        is_missing = ~np.isin(classes, labels[train])
        train = np.concatenate([train, order[first_of_class[is_missing]]])
        held_out = np.setdiff1d(order, train)
        if not len(held_out):
            raise ValueError("there are too few samples: a bootstrap left none out")
        return train, held_out

    def inverse_temperature(self):
        """As of `BoostingClassifier.inverse_temperature`."""
        return self.estimators_[0].inverse_temperature()

    def score_slack(self):
        """As of `BoostingClassifier.score_slack`."""
        return float(np.mean([member.score_slack() for member in self.estimators_]))

    def stump_sum(self):
        """As of `BoostingClassifier.stump_sum`."""
        sums = [member.stump_sum() for member in self.estimators_]
        return StumpSum(
            Stumps([stump for stump_sum in sums for stump in stump_sum.stumps]),
            np.concatenate([stump_sum.coefficients for stump_sum in sums]) / len(sums),
            np.mean([stump_sum.intercept for stump_sum in sums], axis=0),
        )


def _fit_member(member, X, y, weights, train, held_out):
    weights = None if weights is None else weights[train]
    return member.fit(X[train], y[train], weights, X_val=to_dense(X[held_out]), y_val=y[held_out])
