"""Bags of boosters that are trained separately, each stopped by its out-of-bag samples."""

import copy
import time
from dataclasses import KW_ONLY
from math import ceil
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from boostbench.algorithms.base.booster import densify
from boostbench.algorithms.base.estimators import BoostingClassifier, ScoringClassifier
from boostbench.algorithms.base.input_validation import (
    InputValidationMixin,
    combine_weights,
    warn_of_shared_rows,
)
from boostbench.algorithms.base.observers import (
    CallbackSupportMixin,
    SklearnCallbackAdapter,
    stratified_holdout,
    with_callbacks,
)
from boostbench.algorithms.base.parameters import (
    DeclaredParameters,
    Fraction,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Seed,
)
from boostbench.algorithms.explanation.spread import UncertainClassifierMixin, member_spread
from boostbench.algorithms.explanation.stump_sums import StumpSum
from boostbench.algorithms.mcboost import MCBoost
from boostbench.core.stumps.stump import Stumps
from boostbench.core.stumps.views import identity_views


class BaggedBooster(
    MetaEstimatorMixin,
    UncertainClassifierMixin,
    ScoringClassifier,
    CallbackSupportMixin,
    InputValidationMixin,
    DeclaredParameters,
):
    """The mean of boosters that were trained on random parts of the samples.

    Each member is trained on a random part of the samples, with early stopping on the other samples
    (see `n_iter_no_change` of the boosters), so that no sample is reserved for validation only. The
    score is the mean of the members' scores. A bag of sums of stumps is a sum of stumps itself, so
    that inspection, explanation and conversion of models work on it. Its functions and
    probabilities have standard deviations, which follow from the differences of the members (see
    `boostbench.algorithms.explanation.spread.Spread`).

    Callbacks of scikit-learn 1.9 and later receive each member as a task, in order; a callback that
    returns True ends the training with the members so far.

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
    verbose : int, default=0
        Print a line after every `verbose` members and after the last one; 0 prints nothing.
    time_limit : float or None, default=None
        Wall-clock seconds of the whole training. Each member may use its share of the seconds that
        are left, and ends its training with the rounds so far, at least one. None: no limit.

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
    _: KW_ONLY
    verbose: NonNegativeInt = 0
    time_limit: PositiveFloat | None = None

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
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
        X_val : array-like of shape (n_validation_samples, n_features), default=None
            Samples for early stopping of all members, in place of the samples that are left out of
            a bag. The bags are drawn from X in both cases.
        y_val : array-like of shape (n_validation_samples,), default=None
            Labels of `X_val`.
        sample_weight_val : array-like of shape (n_validation_samples,), default=None
            Weights of the samples of `X_val` in the mean loss. None: all weights are 1.

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
        deadline = None if self.time_limit is None else time.time() + self.time_limit
        # 1) Check the booster and the data.
        self._validate_params()
        booster = self._booster()
        _check_booster(booster)
        X, y, weights = self._validate_weighted_input(X, y, sample_weight)
        validation = self._check_validation_samples(X_val, y_val, sample_weight_val)
        # `_store_term_sizes` computes importances, which need the columns before their conversion
        # to views.
        input_rows, X = X, self._compute_views(X, weights, reset=True)
        if validation is not None:
            warn_of_shared_rows(input_rows, y, validation["X_val"], validation["y_val"])
            validation["X_val"] = self._compute_views(validation["X_val"])
        labels = self._encode_target(y)
        # 2) Draw the bag and the seed of each member before any training, so that they do not
        #    depend on the number of parallel members.
        random_state = check_random_state(self.random_state)
        tasks = []
        n_workers = effective_n_jobs(self.n_jobs)
        for index in range(self.n_estimators):
            train, held_out = self._draw_bag(labels, random_state)
            seed = random_state.randint(np.iinfo(np.int32).max)
            member = clone(booster).set_params(
                n_iter_no_change=self.n_iter_no_change, random_state=seed
            )
            # The categories are views of 0 and 1 by now.
            if self._takes_tables:
                member.set_params(categorical_features=None)
            # Members of the same batch are trained at the same time.
            n_batches = ceil((self.n_estimators - index) / n_workers)
            tasks.append(
                delayed(_fit_member)(
                    member,
                    X,
                    y,
                    weights,
                    train=train,
                    held_out=held_out,
                    validation=validation,
                    deadline=deadline,
                    n_batches=n_batches,
                )
            )
        # 3) Train the members, and store the facts of the bag that explanations need. The spread of
        #    an earlier fit does not belong to this model.
        vars(self).pop("_spread", None)
        self._train_members(tasks, input_rows, y, weights)
        self._store_training_rows(y)
        self._store_term_sizes(input_rows, weights)
        self._store_spread()
        return self

    @with_callbacks
    def _train_members(self, tasks, X, y, weights):
        """Store the fitted members, and report each to the callbacks and on the terminal.

        Parameters
        ----------
        tasks : list
            Delayed calls of `_fit_member`, in the order of the members.
        X, y, weights : ndarray
            Training samples before their conversion to views, for the callbacks.
        """
        self.estimators_ = []
        callbacks = (
            SklearnCallbackAdapter(
                BagTraining(self), X, y, weights, self.n_estimators, task_name="member"
            )
            if getattr(self, "_skl_callbacks", None)
            else None
        )
        for member in Parallel(n_jobs=self.n_jobs, return_as="generator")(tasks):
            self.estimators_.append(member)
            is_last = len(self.estimators_) == len(tasks)
            if self.verbose and (is_last or len(self.estimators_) % self.verbose == 0):
                self._print_progress()
            if callbacks is not None and callbacks.on_round_end():
                # The members so far are the bag.
                break
        if callbacks is not None:
            callbacks.on_training_end()

    def _store_spread(self):
        """Store the standard deviations of the functions, if the members are sums of stumps."""
        try:
            stump_sums = [member.stump_sum() for member in self.estimators_]
        except ValueError:
            return
        # 1) Subtract the mean over the members. The columns of the coefficients are pairs (output,
        #    member), with the members as the inner axis, as `member_spread` takes them.
        stumps, votes, intercepts = _align_stumps(stump_sums)
        deviations = StumpSum(
            stumps,
            (votes - votes.mean(axis=2, keepdims=True)).reshape(len(stumps), -1),
            (intercepts - intercepts.mean(axis=1, keepdims=True)).ravel(),
        )
        # 2) The standard deviation of the bag is the spread of members on bootstrap samples. It is
        #    the spread of members on smaller samples times the factor of the jackknife, see
        #    `Spread`.
        factor = 1.0 if self.bootstrap else np.sqrt(1 / self.validation_fraction - 1)
        # 3) Limit the spread and the weights of the rows to the bytes of the model: its
        #    coefficients, and the feature, threshold and polarity of each stump, 8 bytes each. A
        #    pickled bag then at most doubles.
        row_weights = self._term_sizes.row_weights
        model_bytes = sum(
            stump_sum.coefficients.nbytes + 3 * stump_sum.stumps.threshold.nbytes
            for stump_sum in stump_sums
        )
        self._spread = member_spread(
            pairs=(),
            stump_sum=deviations,
            n_members=len(stump_sums),
            views=getattr(self, "views_", None) or identity_views(self.n_features_in_),
            categories=getattr(self, "categories_", {}),
            weights=row_weights,
            factor=factor,
            max_bytes=model_bytes - sum(weights.nbytes for weights in row_weights),
        )

    def _print_progress(self):
        """Print a line about the last member."""
        member = self.estimators_[-1]
        loss = member.validation_losses_[member.n_iterations_ - 1]
        print(
            f"{type(self).__name__}, member {len(self.estimators_)} of {self.n_estimators}: "
            f"{member.n_iterations_} rounds, validation loss {loss:.6g}, "
            f"{sum(member.seconds_.values()):.2f} CPU seconds"
        )

    def _check_validation_samples(self, X_val, y_val, sample_weight_val):
        """Return checked validation samples as keyword arguments of `fit`; None without samples."""
        if X_val is None and y_val is None and sample_weight_val is None:
            return None
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val are for early stopping: give both, or none of them")
        X_val, y_val = self._validate_input(X_val, y_val, reset=False)
        X_val, y_val, weights = combine_weights(X_val, y_val, sample_weight_val)
        samples = {"X_val": X_val, "y_val": y_val}
        return samples if weights is None else samples | {"sample_weight_val": weights}

    def _scores(self, X):
        """Return the mean of the members' scores, in the shape of `decision_function`."""
        check_is_fitted(self)
        X = self._compute_views(self._validate_input(X, reset=False))
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

    # The bag accepts the input that its booster accepts.
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
        """Draw the bag of a member.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,), int
            Index of each sample's class.
        random_state : numpy.random.RandomState

        Returns
        -------
        train, held_out : ndarray of int
            Indices of the samples of the bag, with repeats in a bootstrap sample, and indices of
            the samples that are left out of it.

        Raises
        ------
        ValueError
            If there are too few samples to leave some out.
        """
        if not self.bootstrap:
            return stratified_holdout(labels, self.validation_fraction, random_state)
        train = random_state.randint(len(labels), size=len(labels))
        # Add a random sample of each class that was not drawn: members must know all classes.
        order = random_state.permutation(len(labels))
        classes, first_of_class = np.unique(labels[order], return_index=True)
        is_absent = ~np.isin(classes, labels[train])
        train = np.concatenate([train, order[first_of_class[is_absent]]])
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


class BagTraining:
    """State of the training of a bag, whose model callbacks may ask for after each member.

    Attributes
    ----------
    booster : BaggedBooster
        Bag in training. `Training`, the state of other boosters, has an attribute of this name.
    """

    def __init__(self, booster):
        self.booster = booster

    def model(self):
        """Return a copy of the bag with the members so far."""
        model = copy.copy(self.booster)
        model.estimators_ = [*self.booster.estimators_]
        return model


def _align_stumps(stump_sums):
    """Write members as sums of the same stumps, one for each distinct test, of polarity 1.

    A test is a pair of a feature and a threshold.

    Parameters
    ----------
    stump_sums : list of StumpSum
        Sum of stumps of each member.

    Returns
    -------
    stumps : boostbench.core.stumps.stump.Stumps
    votes : ndarray of shape (n_stumps, n_outputs, n_members)
        Vote of each member for each stump; 0 if it does not have the test.
    intercepts : ndarray of shape (n_outputs, n_members)
    """
    # 1) Put the stumps of all members one after another: a row of coefficients for each.
    all_stumps = Stumps([stump for stump_sum in stump_sums for stump in stump_sum.stumps])
    coefficients = np.concatenate([stump_sum.coefficients for stump_sum in stump_sums])
    signed_coefficients = all_stumps.polarity[:, None] * coefficients.reshape(len(all_stumps), -1)
    n_stumps = [len(stump_sum.stumps) for stump_sum in stump_sums]
    member_of_stump = np.repeat(np.arange(len(stump_sums)), n_stumps)
    # 2) Add up the coefficients of equal tests, by member.
    tests, test_of_stump = np.unique(
        np.column_stack([all_stumps.feature, all_stumps.threshold]), axis=0, return_inverse=True
    )
    intercepts = np.stack([np.ravel(stump_sum.intercept) for stump_sum in stump_sums], axis=1)
    votes = np.zeros((len(tests), *intercepts.shape))
    np.add.at(votes, (test_of_stump, slice(None), member_of_stump), signed_coefficients)
    return Stumps.positive(tests[:, 0].astype(np.int64), tests[:, 1]), votes, intercepts


def _check_booster(booster):
    """Raise ValueError if a booster cannot be trained in a bag."""
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


def _fit_member(member, X, y, weights, *, train, held_out, validation, deadline, n_batches):
    """Train a member on its bag with early stopping, and return it.

    Parameters
    ----------
    member : BoostingClassifier
        Unfitted copy of the booster.
    X : ndarray or sparse array of shape (n_samples, n_views)
        Training samples, from which all bags are drawn, as views.
    y : ndarray of shape (n_samples,)
        Labels.
    weights : ndarray of shape (n_samples,) or None
    train, held_out : ndarray of int
        Rows in the bag of the member, and rows out of it.
    validation : dict of str to ndarray, or None
        Arguments of `fit` for early stopping; None: the samples out of the bag.
    deadline : float or None
        Time of `time.time`, in seconds, at which the training of all members should end. None: no
        limit.
    n_batches : int
        Number of batches of members that are not trained yet, including the one of this member.
    """
    if deadline is not None:
        # Batches are trained one after another, so that each gets an equal share of the time left.
        # A time limit must be positive, also if none is left.
        seconds = (deadline - time.time()) / n_batches
        member.set_params(time_limit=max(seconds, np.finfo(float).tiny))
    if validation is None:
        validation = {"X_val": densify(X[held_out]), "y_val": y[held_out]}
    weights = None if weights is None else weights[train]
    return member.fit(X[train], y[train], weights, **validation)
