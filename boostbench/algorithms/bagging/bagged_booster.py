"""Bags of boosters that are trained separately, each stopped by its out-of-bag samples."""

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


class BaggedBooster(
    MetaEstimatorMixin, ScoringClassifier, InputValidationMixin, DeclaredParameters
):
    """The mean of boosters that were trained on random parts of the samples.

    Each member is trained on a random part of the samples, with early stopping on the other samples
    (see `n_iter_no_change` of the boosters), so that no sample is reserved for validation only. The
    score is the mean of the members' scores. A bag of sums of stumps is a sum of stumps itself, so
    that inspection, explanation and conversion of models work on it.

    Parameters
    ----------
    estimator : BoostingClassifier or None, default=None
        Booster with early stopping. Its copies get their `random_state` and `n_iter_no_change` from
        the bag. None: ``MCBoost(loss="logistic")``.
    n_estimators : int, default=14
        Number of members of the bag.
    validation_fraction : float, default=0.15
        Fraction of the samples that is left out of each member's bag, stratified by class.
    bootstrap : bool, default=False
        True: draw each bag with replacement, n_samples in number and at least one of each class.
        The samples that are not drawn, about 37 %, are used for early stopping.
    n_iter_no_change : int, default=50
        Number of consecutive rounds without progress that ends the training of a member.
    n_jobs : int or None, default=None
        Number of members that are trained in parallel, by joblib; -1: the number of cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the bags and of the members.

    Attributes
    ----------
    estimators_ : list of BoostingClassifier
        Fitted members.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    n_features_in_ : int
        Number of features.
    seconds_ : dict of str to float
        CPU seconds of each phase of the training, summed over the members.

    See Also
    --------
    BaggedMCBoost : A bag of sums of stumps that are trained jointly, many times faster.
    sklearn.ensemble.BaggingClassifier : A bag of any classifiers, without early stopping.

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
        X : array-like of shape (n_samples, n_features)
            Finite training data; sparse if the booster supports it.
        y : array-like of shape (n_samples,)
            Sortable labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative factors of the samples' terms in the loss. Samples with weight 0 are
            ignored. The bags and early stopping do not depend on the weights. None: all weights are
            1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X is not a finite matrix, y has only one class, a parameter is out of range, a weight
            is negative, all weights are 0, the booster has no early stopping, uses `category_sets`
            or has a class weight of 0, or there are too few samples to leave some out.
        """
        self._validate_params()
        booster = self._booster()
        has_early_stopping = "n_iter_no_change" in booster.get_params(deep=False)
        if not (has_early_stopping and has_fit_parameter(booster, "X_val")):
            raise ValueError(
                f"BaggedBooster needs early stopping on given samples, which "
                f"{type(booster).__name__} does not have"
            )
        if getattr(booster, "category_sets", False):
            raise ValueError(
                "category_sets=True has no effect in a bag, because the members are trained on one "
                "column of 0 and 1 for each category: set it to False"
            )
        if isinstance(booster.class_weight, dict) and 0 in booster.class_weight.values():
            raise ValueError(
                "a class_weight of 0 removes a class from the members of a bag, but not from the "
                "bag: remove its samples from X"
            )
        X, y, weights = self._validate_weighted_input(X, y, sample_weight)
        # The sizes of terms are computed from the input before its conversion to views.
        input_rows, X = X, self._to_views(X, weights, reset=True)
        labels = self._encode_target(y)
        random_state = check_random_state(self.random_state)
        tasks = []
        for _ in range(self.n_estimators):
            train, held_out = self._draw_bag(labels, random_state)
            seed = random_state.randint(np.iinfo(np.int32).max)
            member = clone(booster).set_params(
                n_iter_no_change=self.n_iter_no_change, random_state=seed
            )
            # The categories are views of 0 and 1 by now.
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
        """CPU seconds of each phase of the training, summed over the members."""
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
        """Return `estimator`, or the default booster."""
        return MCBoost(loss="logistic") if self.estimator is None else self.estimator

    @property
    def _takes_sparse(self):
        return self._booster().__sklearn_tags__().input_tags.sparse

    @property
    def _takes_tables(self):
        return getattr(self._booster(), "_takes_tables", False)

    @property
    def categorical_features(self):
        """Categorical features of the booster."""
        return self._booster().categorical_features

    def _draw_bag(self, labels, random_state):
        """Return the indices of the samples of a member's bag, and of the held-out samples."""
        if not self.bootstrap:
            return stratified_holdout(labels, self.validation_fraction, random_state)
        train = random_state.randint(len(labels), size=len(labels))
        order = random_state.permutation(len(labels))
        classes, first_of_class = np.unique(labels[order], return_index=True)
        is_missing = ~np.isin(classes, labels[train])
        train = np.concatenate([train, order[first_of_class[is_missing]]])
        held_out = np.setdiff1d(order, train)
        if not len(held_out):
            raise ValueError("there are too few samples: a bootstrap sample contains all of them")
        return train, held_out

    def inverse_temperature(self):
        """Return the inverse temperature, which is the same for all members."""
        return self.estimators_[0].inverse_temperature()

    def score_slack(self):
        """Return the mean of the members' score slacks; see `BoostingClassifier`."""
        return float(np.mean([member.score_slack() for member in self.estimators_]))

    def stump_sum(self):
        """Return the mean of the members' sums of stumps; see `BoostingClassifier`."""
        stump_sums = [member.stump_sum() for member in self.estimators_]
        return StumpSum(
            Stumps([stump for stump_sum in stump_sums for stump in stump_sum.stumps]),
            np.concatenate([stump_sum.coefficients for stump_sum in stump_sums]) / len(stump_sums),
            np.mean([stump_sum.intercept for stump_sum in stump_sums], axis=0),
        )


def _fit_member(member, X, y, weights, train, held_out):
    """Train a member on its bag with early stopping on the held-out samples, and return it."""
    weights = None if weights is None else weights[train]
    return member.fit(X[train], y[train], weights, X_val=to_dense(X[held_out]), y_val=y[held_out])
