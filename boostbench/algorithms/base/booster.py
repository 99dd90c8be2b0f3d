"""The loop of all five papers, column generation, under scikit-learn's estimators."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostbench.algorithms.base.callbacks import (
    CallbackSupportMixin,
    SklearnCallbackAdapter,
    Training,
    VerboseReporter,
    with_callbacks,
)
from boostbench.algorithms.base.categories import drop_unused_categories
from boostbench.algorithms.base.clock import Clock
from boostbench.algorithms.base.early_stopping import EarlyStopping, stratified_holdout
from boostbench.algorithms.base.input_validation import InputValidationMixin
from boostbench.algorithms.base.parameters import (
    CategoricalFeatures,
    ClassWeight,
    DeclaredParameters,
    NonNegativeInt,
    PositiveInt,
    Seed,
)

# Rows are scored in chunks, so that the outputs of the weak learners stay in the cache between the
# comparison with the thresholds and the product with the coefficients.
_CHUNK_ROWS = 256


class Booster(CallbackSupportMixin, InputValidationMixin, DeclaredParameters, ABC):
    """Base of all boosting estimators: the loop and its clock.

    A subclass declares its parameters, see
    `boostbench.algorithms.base.parameters.DeclaredParameters`, and gives `_make_master` and
    `_store_model`, which sets the attributes `hypotheses_` and `coefficients_`. Where the scores
    are not their sum, it has a `_staged_scores` of its own. It learns from class labels; one that
    learns from numbers has a `_encode_target` of its own.

    Callbacks of scikit-learn 1.9 and later see each round as a task: after
    ``set_callbacks(ProgressBar())`` there is a bar, ``ScoringMonitor`` keeps the score of each
    round, and any callback that returns True ends the training.

    Parameters
    ----------
    n_iterations : int, default=1000
        Boosting rounds at most.
    random_state : int, RandomState instance or None, default=None
        Unused: the algorithm is deterministic.
    verbose : int, default=0
        Print a line after every `verbose` rounds; 0 prints nothing.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
    n_iterations_ : int
        Boosting rounds of the model: `n_iterations`, or fewer where the training converged or was
        ended.
    n_parameters_ : int
        Numbers that prediction needs.
    seconds_ : dict of str to float
        CPU seconds of each phase of the training: "preparation", "search" for weak learners, and
        "coefficients" with the update of the weights ("step 4"); of bags with tables of pairs
        "pairs", too.
    """

    n_iterations: PositiveInt = 1000
    _: KW_ONLY
    random_state: Seed = None
    verbose: NonNegativeInt = 0

    def fit(self, X, y):
        """Train the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, finite.
        y : array-like of shape (n_samples,)
            Labels: strings, or of one of NumPy's own types.

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
        X, y = self._validate_input(X, y)
        return self._train(X, y)

    @with_callbacks
    def _train(self, X, y, *weights, validation=None):
        """Boost; with the weights of the samples where the estimator takes them.

        `validation` holds X, y and weights of samples for early stopping, where there are some.
        """
        target = self._encode_target(y)
        random_state = check_random_state(self.random_state)
        patience = getattr(self, "n_iter_no_change", None)
        if patience is None:
            validation = None
            # A fit before may have stopped early.
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
                # A category that only samples held out have is none.
                self.categories_ = drop_unused_categories(self.categories_, X, X_val)
            validation = X_val, y_val, *weights_val
        clock = Clock()
        with clock.phase("preparation"):
            training_views = self._to_views(X, *weights, reset=True)
            master = self._make_master(training_views, target, random_state, *weights)
        if validation is not None:
            X_val, *y_and_weights = validation
            validation = self._to_views(to_dense(X_val)), *y_and_weights
        master.clock = clock
        training = Training(self, master, clock)
        observers = self._make_observers(training, X, y, *weights, validation=validation)
        # A step of the coefficients, and who looks on, pause the search: it is entered only once.
        with clock.phase("search"):
            while training.rounds < self.n_iterations:
                column = master.generate()
                if column is None:
                    break
                training.rounds += 1
                with clock.phase("coefficients"):
                    progress = master.correct(column)
                if observers:
                    with clock.phase(None):
                        stops = [observer.on_round_end() for observer in observers]
                    progress = progress and not any(stops)
                if not progress:
                    break
        if validation is not None:
            # Early stopping, which comes first, undoes rounds; nothing is to be said of these.
            observers.pop(0).on_training_end()
        master.finish()
        for observer in observers:
            observer.on_training_end()
        self._store_training(training)
        self._store_term_sizes(X, *weights)
        return self

    def _make_observers(self, training, X, y, weights=None, *, validation):
        """List who looks on: each of them after every round, and in the end.

        With samples for validation, early stopping is the first.
        """
        observers = []
        if validation is not None:
            if training.master.per_round_lists is None:
                raise ValueError(
                    f"{type(self).__name__} has no early stopping, which n_iter_no_change asks "
                    "for: its rounds cannot be undone"
                )
            observers.append(EarlyStopping(training, *validation, patience=self.n_iter_no_change))
        if self.verbose:
            observers.append(VerboseReporter(training, self.verbose, *observers))
        if getattr(self, "_skl_callbacks", None):
            observers.append(SklearnCallbackAdapter(training, X, y, weights))
        return observers

    def _store_training(self, training):
        """Become what the training has come to."""
        # The sizes of a previous fit are stale.
        vars(self).pop("_term_sizes", None)
        self._fit_params = self.get_params(deep=False)
        self.n_iterations_ = training.rounds
        self.seconds_ = training.clock.seconds
        self._store_model(training.master)
        if not self.n_iterations_:  # a warm start keeps the rounds before it
            warnings.warn(
                f"{type(self).__name__} found no weak learner that lowers its loss: the model is "
                "constant",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _fit_param(self, name):
        """Return the value that a parameter had in the last fit; None if there is no such one."""
        return self._fit_params.get(name, getattr(self, name, None))

    @property
    def weak_learner_time_(self):
        """CPU seconds of the search for weak learners, preparation included."""
        return self.seconds_["preparation"] + self.seconds_["search"]

    @property
    def coefficient_time_(self):
        """CPU seconds of finding the coefficients and updating the weights."""
        return self.seconds_.get("coefficients", 0.0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _make_master(self, X, target, random_state):
        """Return the `Master` of a training set; `target` is from `_encode_target`.

        Of a `WeightedBooster` booster it takes `weights` as well: see there.
        """

    @abstractmethod
    def _store_model(self, master):
        """Take over from the master what prediction needs."""

    def _staged_scores(self, X, stages):
        """Yield the scores F after each number of rounds in `stages`.

        They have the shape (n_samples, n_outputs), with an output for each class where classes are
        predicted; or (n_samples,), as binary algorithms have them, positive for the second class.
        """
        scores = 0.0
        for stage_rounds in stage_slices(stages):
            scores = scores + self.hypotheses_.scores(X, self.coefficients_, stage_rounds)
            yield scores

    def _scores(self, X):
        """Return the scores F after the last round."""
        check_is_fitted(self)
        X = self._to_views(self._validate_input(X, reset=False))
        chunks = (X[start : start + _CHUNK_ROWS] for start in range(0, X.shape[0], _CHUNK_ROWS))
        scores = (
            next(self._staged_scores(to_dense(chunk), [self.n_iterations_])) for chunk in chunks
        )
        return np.concatenate(list(scores))


class WeightedBooster(Booster):
    """A booster whose samples may have weights: those of its loss, term by term.

    The `_make_master` of a subclass takes `weights`, of shape (n_samples,) and positive; or None,
    where all are 1.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of the samples, by class; as in scikit-learn.
    """

    _: KW_ONLY
    class_weight: ClassWeight = None

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None):
        """Train the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, finite; where the booster takes tables, with missing values and
            categories too.
        y : array-like of shape (n_samples,)
            Labels, strings or of one of NumPy's own types, or numbers where these are predicted.
        sample_weight : array-like of shape (n_samples,), default=None
            What the terms of the samples in the loss are multiplied with, not negative. The weight
            2 is the sample twice, the weight 0 no sample at all, which has no place in attributes
            with a number for each sample. A factor of all weights changes nothing where the loss is
            a mean; where it is a sum that is multiplied with `C`, it is a factor of `C`, as of
            scikit-learn's SVC; where it is a sum with `nu`, it divides that. None: all are 1.
        X_val : array-like of shape (n_validation_samples, n_features), default=None
            Samples for early stopping, where `n_iter_no_change` is set: then no part of X is held
            out.
        y_val : array-like of shape (n_validation_samples,), default=None
            Their labels. Each of these samples counts once, with `class_weight` too.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If X is no such matrix, y holds one class only, a parameter is out of range, or a weight
            is negative or all are 0.
        """
        self._validate_params()
        X, y, weights = self._validate_weighted_input(X, y, sample_weight, self.class_weight)
        validation = self._check_validation_samples(X_val, y_val)
        return self._train(X, y, weights, validation=validation)

    def _check_validation_samples(self, X_val, y_val):
        """Check samples for early stopping."""
        if X_val is None and y_val is None:
            return None
        if "n_iter_no_change" not in self.get_params(deep=False):
            raise ValueError(
                f"{type(self).__name__} has no early stopping, which X_val and y_val are for"
            )
        if X_val is None or y_val is None or self.n_iter_no_change is None:
            raise ValueError(
                "X_val and y_val are for early stopping: give both and set n_iter_no_change, or "
                "none of them"
            )
        return self._validate_input(X_val, y_val, reset=False)


class TabularBooster(WeightedBooster):
    """A booster of stumps, which takes tables as they are: missing values and categories.

    What its weak learners see, and what numbers of features in `hypotheses_` mean, are the `views_`
    of the features: each feature itself, where it is a number and the training data have it
    everywhere.

    Parameters
    ----------
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Features that are categories, any values that can be told apart: their numbers, their names,
        or a mask. ``"from_dtype"``: the columns of a pandas data frame that are categories,
        strings, or objects of which some are no numbers. None: none are. A stump sets one category
        apart from the rest. A category is missing at prediction if the training had none such, and
        so are all but the 255 most frequent ones of a feature.

    Attributes
    ----------
    categories_ : dict of int to ndarray
        The categories of each feature that has such, by its number: sorted, or in the order that
        an ordered data type has. The model does not depend on the order in which an unordered data
        type lists them.
    views_ : boostbench.core.stumps.views.Views
    """

    _: KW_ONLY
    categorical_features: CategoricalFeatures = "from_dtype"

    _takes_tables: ClassVar = True


def _select_rows(arrays, rows):
    return [None if array is None else array[rows] for array in arrays]


def to_dense(X):
    """Return X as an ndarray, sparse or not."""
    return X.toarray() if sparse.issparse(X) else X


def stage_slices(stages):
    """Turn stages into the slices of rounds between them.

    Parameters
    ----------
    stages : iterable of int
        Ascending.

    Yields
    ------
    slice

    Examples
    --------
    >>> list(stage_slices([1, 3]))
    [slice(0, 1, None), slice(1, 3, None)]
    """
    start = 0
    for stop in stages:
        yield slice(start, stop)
        start = stop
