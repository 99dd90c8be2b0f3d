"""Column generation, the training loop of all five papers, as the base of the estimators.

`Booster` is the loop with its phases, `WeightedBooster` adds sample weights, and `TabularBooster`
missing values and categories. An algorithm is a subclass with a `Master`, the state of one training
(`boostbench.algorithms.base.master`).
"""

import warnings
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.base.categories import convert_to_pandas, drop_unused_categories
from boostbench.algorithms.base.input_validation import (
    InputValidationMixin,
    combine_weights,
    warn_of_shared_rows,
)
from boostbench.algorithms.base.master import Clock
from boostbench.algorithms.base.observers import (
    CallbackSupportMixin,
    EarlyStopping,
    ProgressLine,
    SklearnCallbackAdapter,
    Training,
    VerboseReporter,
    lacks_progress_bars,
    stratified_holdout,
    with_callbacks,
)
from boostbench.algorithms.base.parameters import (
    CategoricalFeatures,
    ClassWeight,
    DeclaredParameters,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Seed,
)

# Number of rows that are predicted together. The outputs of the weak learners for them stay in the
# cache until they are multiplied by the coefficients.
_CHUNK_ROWS = 256


class Booster(CallbackSupportMixin, InputValidationMixin, DeclaredParameters, ABC):
    """Base of all boosting estimators: runs the loop and measures its phases.

    A subclass declares its parameters (see
    `boostbench.algorithms.base.parameters.DeclaredParameters`) and implements `_make_master` and
    `_store_model`, which sets the attributes `hypotheses_` (the weak learners) and `coefficients_`.
    It overrides `_staged_scores` if the scores are not the weighted sum of the hypotheses, and
    `_encode_target` if the target is not a class label. A class attribute `edition` (1 if it is
    absent) numbers the versions of the results: it increases whenever equal data and parameters
    give other numbers than before, and makes older records stale, see
    `boostbench.spec.class_facts`.

    Callbacks of scikit-learn 1.9 and later receive each round as a task:
    ``set_callbacks(ProgressBar())`` shows a progress bar, ``ScoringMonitor`` records the score of
    each round, and a callback that returns True ends the training.

    Parameters
    ----------
    n_iterations : int, default=1000
        Maximum number of boosting rounds.
    random_state : int, RandomState instance or None, default=None
        Unused: the algorithm is deterministic.
    verbose : int, default=0
        Print a line after every `verbose` rounds; 0 prints nothing.
    time_limit : float or None, default=None
        Wall-clock seconds after which the training ends with the rounds so far. The time is checked
        after every round, so that a model has at least one round, and a round in progress is
        completed. None: no limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features of the training data.
    n_iterations_ : int
        Number of boosting rounds of the model: `n_iterations`, or fewer if the training converged
        or was stopped.
    n_parameters_ : int
        Count of the numbers that prediction needs.
    seconds_ : dict of str to float
        CPU seconds of each phase of the training: "preparation", "search" (for weak learners) and
        "coefficients" (step 4, with the update of the weights). Bags with tables of pairs add
        "pairs".
    """

    n_iterations: PositiveInt = 1000
    _: KW_ONLY
    random_state: Seed = None
    verbose: NonNegativeInt = 0
    time_limit: PositiveFloat | None = None

    def fit(self, X, y):
        """Train the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, finite.
        y : array-like of shape (n_samples,)
            Labels: strings, or a NumPy type.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If X is not a finite matrix, y holds one class only, or a parameter is out of range.
        """
        self._validate_params()
        frame = convert_to_pandas(X)
        X, y = self._validate_input(frame, y)
        self._warn_of_faults(frame, X, y)
        return self._train(X, y)

    @with_callbacks
    def _train(self, X, y, *weights, validation=None):
        """Run the boosting rounds, and store the model.

        The decorator lets callbacks of scikit-learn 1.9 set up and tear down around the training.

        Parameters
        ----------
        X, y : ndarray
            Checked training data.
        *weights : ndarray of shape (n_samples,) or None
            Sample weights; passed by a `WeightedBooster` only.
        validation : tuple of ndarray, default=None
            X, y and optionally sample weights for early stopping. None: if early stopping is on,
            a part of the training data is held out.

        Returns
        -------
        self
        """
        # `weights` is empty for a booster without sample weights, whose `_make_master` does not
        # take them. A `WeightedBooster` passes one array, or None.
        # 1) Hold out samples for early stopping, unless a user passed validation samples. Without
        # early stopping, remove the losses of an earlier fit that had it.
        target = self._encode_target(y)
        random_state = check_random_state(self.random_state)
        if getattr(self, "n_iter_no_change", None) is None:
            vars(self).pop("validation_losses_", None)
        elif validation is None:
            train_rows, validation_rows = stratified_holdout(
                target,
                self.validation_fraction,
                random_state,
                advice="set n_iter_no_change=None",
            )
            arrays = X, y, target, *weights
            X_val, y_val, _, *weights_val = _select_rows(arrays, validation_rows)
            X, y, target, *weights = _select_rows(arrays, train_rows)
            if self._takes_tables:
                # Drop categories that occur only in the held-out samples.
                self.categories_ = drop_unused_categories(self.categories_, X, X_val)
            validation = X_val, y_val, *weights_val
        # 2) Build the search and the master problem. Weak learners test *views*, numeric columns
        # that are derived from the features; a numeric feature without missing values is its own
        # view.
        clock = Clock()
        with clock.phase("preparation"):
            training_views = self._compute_views(X, *weights, reset=True)
            master = self._make_master(training_views, target, random_state, *weights)
        master.clock = clock
        training = Training(self, master, clock)
        early_stopping = (
            None if validation is None else self._make_early_stopping(training, *validation)
        )
        observers = self._make_observers(training, early_stopping, X, y, *weights)
        # 3) Run the rounds of column generation: find a weak learner, then the coefficients. The
        # coefficient step and the observers pause the "search" phase, so it is entered once.
        with clock.phase("search"):
            while training.rounds < self.n_iterations:
                column = master.generate()
                if column is None:
                    break
                training.rounds += 1
                with clock.phase("coefficients"):
                    progress = master.correct(column)
                if observers:
                    # The time of observers counts for no phase.
                    with clock.phase(None):
                        stops = [observer.on_round_end() for observer in observers]
                    progress = progress and not any(stops)
                if not progress or clock.is_past(self.time_limit):
                    break
        # 4) Report the end of the training, and store the model.
        if early_stopping is not None:
            # Early stopping is the first observer. It undoes rounds before the master and the other
            # observers report the result.
            observers.pop(0).on_training_end()
        master.finish()
        for observer in observers:
            observer.on_training_end()
        self._store_fitted_attributes(training)
        self._store_explanation(master, X, y, *weights)
        return self

    def _make_early_stopping(self, training, X_val, y_val, weights=None):
        """Return the observer that ends the training by the loss on checked validation samples.

        Parameters
        ----------
        training : Training
            State of the training run.
        X_val, y_val, weights : ndarray
            Validation samples, their labels, and their weights; None: all weights are 1.

        Returns
        -------
        EarlyStopping

        Raises
        ------
        ValueError
            If the rounds of the algorithm cannot be undone: its master problem has no
            `per_round_lists`, the names of its lists with one entry for each round.
        """
        if training.master.per_round_lists is None:
            raise ValueError(
                f"{type(self).__name__} has no early stopping, which n_iter_no_change asks "
                "for: its rounds cannot be undone"
            )
        X_val = self._compute_views(densify(X_val))
        return EarlyStopping(training, X_val, y_val, weights, patience=self.n_iter_no_change)

    def _make_observers(self, training, early_stopping, X, y, weights=None):
        """Return the observers, which are called after every round and at the end.

        Parameters
        ----------
        training : Training
            State of the training run.
        early_stopping : EarlyStopping or None
            First observer, if it is not None.
        X, y, weights : ndarray
            Training data, for the callbacks of scikit-learn. These are in `_skl_callbacks`, which
            `set_callbacks` sets.

        Returns
        -------
        list
            Objects with the methods `on_round_end`, which returns True to end the training, and
            `on_training_end`; see `boostbench.algorithms.base.observers`.
        """
        observers = [] if early_stopping is None else [early_stopping]
        if self.verbose:
            observers.append(VerboseReporter(training, self.verbose, early_stopping))
        if lacks_progress_bars(getattr(self, "_skl_callbacks", ())):
            observers.append(ProgressLine(training))
        if getattr(self, "_skl_callbacks", None):
            observers.append(
                SklearnCallbackAdapter(training, X, y, weights, max_tasks=self.n_iterations)
            )
        return observers

    def _store_fitted_attributes(self, training):
        """Store the fitted attributes that depend on the rounds so far.

        Observers also call it during the training, for a copy of the estimator: the copy is the
        model after the present round. Attributes that need the training data are set by
        `_store_explanation`, once at the end.
        """
        # The sizes of the terms (contributions of features), cached after an earlier fit, are
        # stale.
        vars(self).pop("_term_sizes", None)
        self._fit_params = self.get_params(deep=False)
        self.n_iterations_ = training.rounds
        self.seconds_ = training.clock.seconds
        self._store_model(training.master)
        if not self.n_iterations_:  # a warm start keeps earlier rounds
            warnings.warn(
                f"{type(self).__name__} found no weak learner that lowers its loss: the model is "
                "constant",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _store_explanation(self, master, X, y, weights=None):
        """Store the class counts of the training rows, and the sizes of the terms over them.

        A term is the contribution of a feature to the score; explanations show both.
        """
        self._store_training_rows(y)
        self._store_term_sizes(X, weights)

    def _fit_param(self, name):
        """Return the value of a parameter in the last fit; None if there is no such parameter.

        A user may have changed the parameter since.
        """
        return self._fit_params.get(name, getattr(self, name, None))

    @property
    def weak_learner_time_(self):
        """CPU seconds of the search for weak learners, including the preparation."""
        return self.seconds_["preparation"] + self.seconds_["search"]

    @property
    def coefficient_time_(self):
        """CPU seconds of the coefficient steps and updates of the weights."""
        return self.seconds_.get("coefficients", 0.0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _make_master(self, X, target, random_state):
        """Return the `Master` of a training set.

        Parameters
        ----------
        X : ndarray, ViewedFeatures or scipy.sparse.csr_array
            Columns that the weak learners test, from `_compute_views`.
        target : ndarray of shape (n_samples,)
            Encoded target, from `_encode_target`.
        random_state : RandomState

        Returns
        -------
        Master

        Notes
        -----
        A `WeightedBooster` receives the sample weights as a fourth argument `weights`.
        """

    @abstractmethod
    def _store_model(self, master):
        """Copy from the master to attributes everything that prediction needs."""

    def _staged_scores(self, X, stages):
        """Yield the scores F after each number of rounds in `stages`, which ascend.

        Their shape is (n_samples, n_outputs), with one output per class for classifiers; or
        (n_samples,) for binary algorithms, where positive scores mean the second class.
        """
        scores = 0.0
        for stage_rounds in stage_slices(stages):
            scores = scores + self.hypotheses_.scores(X, self.coefficients_, stage_rounds)
            yield scores

    def _scores(self, X):
        """Return the scores F after the last round; see `_staged_scores` for their shape."""
        check_is_fitted(self)
        X = self._compute_views(self._validate_input(X, reset=False))
        chunks = (X[start : start + _CHUNK_ROWS] for start in range(0, X.shape[0], _CHUNK_ROWS))
        scores = (
            next(self._staged_scores(densify(chunk), [self.n_iterations_])) for chunk in chunks
        )
        return np.concatenate(list(scores))


class WeightedBooster(Booster):
    """Booster that takes sample weights, which multiply the terms of its loss.

    The `_make_master` of a subclass takes a fourth argument, `weights`: positive, of shape
    (n_samples,), or None if all weights are 1.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Factor of the sample weights of each class, as in scikit-learn. None: 1.
    """

    _: KW_ONLY
    class_weight: ClassWeight = None

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Train the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, finite. A `TabularBooster` also accepts missing values and categories.
        y : array-like of shape (n_samples,)
            Labels (strings, or a NumPy type) of a classifier; numbers of a regressor.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative factors of the samples' terms in the loss. A weight of 2 counts the sample
            twice; a weight of 0 drops it, also from attributes with one entry per sample. Scaling
            all weights by one factor has no effect if the loss is a mean. If the loss is a sum, the
            factor multiplies `C` (as in scikit-learn's SVC) or divides `nu`. None: all weights
            are 1.
        X_val : array-like of shape (n_validation_samples, n_features), default=None
            Samples for early stopping, if `n_iter_no_change` is set. None: a part of X is held out.
        y_val : array-like of shape (n_validation_samples,), default=None
            Labels of `X_val`.
        sample_weight_val : array-like of shape (n_validation_samples,), default=None
            Weights of the samples of `X_val` in the mean loss; `class_weight` does not change them.
            None: all weights are 1.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If X is not a finite matrix, y holds one class only, a parameter is out of range, a
            weight is negative, or all weights are 0.

        Warns
        -----
        UserWarning
            If most samples of `X_val` are training samples.
        """
        self._validate_params()
        X, y, weights = self._validate_weighted_input(X, y, sample_weight, self.class_weight)
        validation = self._check_validation_samples(X_val, y_val, sample_weight_val)
        if validation is not None:
            warn_of_shared_rows(X, y, *validation[:2])
        return self._train(X, y, weights, validation=validation)

    def _check_validation_samples(self, X_val, y_val, sample_weight_val):
        """Return checked samples and weights for early stopping; None if the user passed none.

        The result is (X, y, weights), without samples of weight 0.
        """
        if X_val is None and y_val is None and sample_weight_val is None:
            return None
        self._check_has_early_stopping()
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val are for early stopping: give both, or none of them")
        return combine_weights(*self._validate_input(X_val, y_val, reset=False), sample_weight_val)

    def _check_has_early_stopping(self):
        """Raise ValueError if the training does not use validation samples."""
        if "n_iter_no_change" not in self.get_params(deep=False):
            raise ValueError(
                f"{type(self).__name__} has no early stopping, which X_val and y_val are for"
            )
        if self.n_iter_no_change is None:
            raise ValueError("X_val and y_val are for early stopping: set n_iter_no_change")


class TabularBooster(WeightedBooster):
    """Booster of stumps that accepts missing values and categories.

    The weak learners test the `views_` of the features, and feature indices in `hypotheses_` are
    indices of views. A numeric feature without missing values is its own view.

    Parameters
    ----------
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Categorical features: their indices, their names, or a mask. Categories are any hashable
        values. ``"from_dtype"``: the columns of a pandas data frame that are categories, strings,
        or objects that are not all numbers. None: no feature is categorical. A stump separates one
        category from all others. Categories that are not in the training data, and all but the 255
        most frequent categories of a feature, count as missing.

    Attributes
    ----------
    categories_ : dict of int to ndarray
        Categories of each categorical feature, by its index: sorted, or in the order of an ordered
        data type. The model does not depend on the order in which an unordered data type lists
        its categories.
    views_ : boostbench.core.stumps.views.Views
    """

    _: KW_ONLY
    categorical_features: CategoricalFeatures = "from_dtype"

    _takes_tables: ClassVar = True


def _select_rows(arrays, rows):
    """Return the given rows of each array; None stays None."""
    return [None if array is None else array[rows] for array in arrays]


def densify(X):
    """Return X as an ndarray; a sparse X is converted."""
    return X.toarray() if sparse.issparse(X) else X


def stage_slices(stages):
    """Yield the slices of rounds between consecutive stages.

    Parameters
    ----------
    stages : iterable of int
        Numbers of rounds, ascending.

    Yields
    ------
    slice
        Rounds from one stage to the next; the first slice begins at 0.

    Examples
    --------
    >>> list(stage_slices([1, 3]))
    [slice(0, 1, None), slice(1, 3, None)]
    """
    start = 0
    for stop in stages:
        yield slice(start, stop)
        start = stop
