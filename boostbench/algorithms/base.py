"""The loop of all five papers, column generation, under scikit-learn's estimators."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing, assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from boostbench.algorithms.decisions import decision, predicted, slack_of
from boostbench.algorithms.explaining.probabilities import INVERSE_TEMPERATURES, probabilities
from boostbench.algorithms.explaining.rules import rules
from boostbench.algorithms.explaining.shape_functions import ShapeFunctions
from boostbench.algorithms.explaining.stump_sums import of_stumps
from boostbench.algorithms.parameters import (
    CategoricalFeatures,
    ClassWeight,
    Declared,
    NonNegativeInt,
    Part,
    PositiveInt,
    Seed,
)
from boostbench.algorithms.training.callbacks import (
    Callbacks,
    CallbackSupportMixin,
    Lines,
    Training,
    with_callbacks,
)
from boostbench.algorithms.training.categories import categories, check_numbers, coded
from boostbench.algorithms.training.clock import Clock
from boostbench.algorithms.training.early_stopping import EarlyStopping, hold_out
from boostbench.algorithms.training.labels import class_numbers
from boostbench.algorithms.training.weights import weighted
from boostbench.core.coefficient_path import coefficients_at
from boostbench.core.weak.views import views_of

# An edge this near to 1 is a perfect weak learner: its coefficient would be infinite.
PERFECT = 1.0 - 1e-10

# An edge this near to 0 is a rounding error of the search, which adds up in single precision.
NO_EDGE = np.finfo(np.float32).eps

# Rows are scored in chunks, so that the outputs of the weak learners stay in the cache between the
# comparison with the thresholds and the product with the coefficients.
_CHUNK_ROWS = 256


class Master(ABC):
    """The restricted master problem: the state of one training run.

    It holds the weak learners found so far (the columns), their coefficients (the primal
    variables) and the weights of the samples (the dual variables).

    Parameters
    ----------
    params : Booster
        The estimator in training, for its parameters and `classes_`. A master never writes to it.
    search : boostbench.core.weak.base.Search
        Of weak learners in the training data.

    Attributes
    ----------
    clock : Clock
        Set by the loop before the first round.
    """

    # The lists that every round adds an entry to; None where rounds cannot be undone.
    per_round: ClassVar = None

    def __init__(self, params, search):
        self.params = params
        self.search = search
        for name in self.per_round or ():
            setattr(self, name, [])

    @abstractmethod
    def generate(self):
        """Find the weak learner of the most violated dual constraint (steps 1 and 2).

        Returns
        -------
        column : object or None
            What `correct` takes; None where no constraint is violated any more, which ends the
            training.
        """

    @abstractmethod
    def correct(self, column):
        """Add the column, find the coefficients, update the dual variables (steps 3 to 5).

        Parameters
        ----------
        column : object
            From `generate`.

        Returns
        -------
        bool
            False where another round would change nothing, which ends the training.
        """

    def end(self):  # noqa: B027 - most have nothing to say
        """Warn of an outcome that is not what was asked for; called after the last round."""

    def rewind(self, rounds):
        """Undo the rounds after so many, as far as `Booster._keep` asks; no round may follow."""
        for name in self.per_round:
            del getattr(self, name)[rounds:]


class Booster(CallbackSupportMixin, Declared, ABC):
    """Base of all boosting estimators: the loop, its clock, and the checks of what comes in.

    A subclass declares its parameters, see `boostbench.algorithms.parameters.Declared`, and gives
    `_master` and `_keep`, which sets the attributes `hypotheses_` and `coefficients_`. Where the
    scores are not their sum, it has a `_staged_scores` of its own. It learns from class labels; one
    that learns from numbers has a `_target` of its own.

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
        A line on the screen every so many rounds; 0: none.

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
        "coefficients" with the update of the weights ("step 4").
    """

    n_iterations: PositiveInt = 1000
    _: KW_ONLY
    random_state: Seed = None
    verbose: NonNegativeInt = 0

    # Whether X may be a sparse matrix: `_master` gets it in CSR form then.
    _takes_sparse: ClassVar = False

    # Whether X may have missing values and categories: see `Tabular`.
    _takes_tables: ClassVar = False

    def fit(self, X, y):
        """Train the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, finite.
        y : array-like of shape (n_samples,)
            Labels of any type that sorts.

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
        X, y = self._validated(X, y)
        return self._train(X, y)

    @with_callbacks
    def _train(self, X, y, *weights, validation=None):
        """Boost; with the weights of the samples where the estimator takes them.

        `validation` holds X, y and weights of samples for early stopping, where there are some.
        """
        target = self._target(y)
        random_state = check_random_state(self.random_state)
        patience = getattr(self, "n_iter_no_change", None)
        if patience is None:
            validation = None
        elif validation is None:
            parts = X, y, target, *weights
            rows = hold_out(
                target,
                self.validation_fraction,
                random_state,
                advice="set n_iter_no_change=None",
            )
            (X, y, target, *weights), (X_val, y_val, _, *weights_val) = (
                [None if part is None else part[some] for part in parts] for some in rows
            )
            validation = X_val, y_val, *weights_val
        clock = Clock()
        with clock.phase("preparation"):
            seen = self._viewed(X, *weights, reset=True)
            master = self._master(seen, target, random_state, *weights)
        if validation is not None:
            X_val, *of_validation = validation
            validation = self._viewed(dense(X_val)), *of_validation
        master.clock = clock
        training = Training(self, master, clock)
        onlookers = self._onlookers(training, X, y, *weights, validation=validation)
        # A step of the coefficients, and who looks on, pause the search: so a round reads the clock
        # twice, which is a system call.
        with clock.phase("search"):
            while training.rounds < self.n_iterations:
                column = master.generate()
                if column is None:
                    break
                training.rounds += 1
                with clock.phase("coefficients"):
                    progress = master.correct(column)
                if onlookers:
                    with clock.phase(None):
                        stops = [onlooker.look() for onlooker in onlookers]
                    progress = progress and not any(stops)
                if not progress:
                    break
        master.end()
        for onlooker in onlookers:
            onlooker.end()
        self._take_over(training)
        return self

    def _onlookers(self, training, X, y, weights=None, *, validation):
        """List who looks on: each of them after every round, and in the end."""
        onlookers = []
        if validation is not None:
            if training.master.per_round is None:
                raise ValueError(
                    f"{type(self).__name__} has no early stopping, which n_iter_no_change asks "
                    "for: its rounds cannot be undone"
                )
            onlookers.append(EarlyStopping(training, *validation, patience=self.n_iter_no_change))
        if self.verbose:
            onlookers.append(Lines(training, self.verbose, *onlookers))
        if getattr(self, "_skl_callbacks", None):
            onlookers.append(Callbacks(training, X, y, weights))
        return onlookers

    def _take_over(self, training):
        """Become what the training has come to."""
        self.n_iterations_ = training.rounds
        self.seconds_ = training.clock.seconds
        self._keep(training.master)
        if not self.n_iterations_:  # a warm start keeps the rounds before it
            warnings.warn(
                f"{type(self).__name__} found no weak learner that lowers its loss: the model is "
                "constant",
                ConvergenceWarning,
                stacklevel=4,
            )

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
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = tags.input_tags.categorical = self._takes_tables
        return tags

    def _target(self, y):
        """Check what is to be learned, and turn it into what `_master` takes: here 0 to k - 1."""
        self.classes_, labels = class_numbers(y, self)
        return labels

    @abstractmethod
    def _master(self, X, target, random_state):
        """Return the `Master` of a training set; `target` is from `_target`.

        Of a `Weighted` booster it takes `weights` as well: see there.
        """

    @abstractmethod
    def _keep(self, master):
        """Take over from the master what prediction needs."""

    def _staged_scores(self, X, stages):
        """Yield the scores F after each number of rounds in `stages`.

        They have the shape (n_samples, n_outputs), with an output for each class where classes are
        predicted; or (n_samples,), as binary algorithms have them, positive for the second class.
        """
        scores = 0.0
        for some in spans(stages):
            scores = scores + self.hypotheses_.scores(X, self.coefficients_, some)
            yield scores

    def _scores(self, X):
        """Return the scores F after the last round."""
        check_is_fitted(self)
        X = self._viewed(self._validated(X, reset=False))
        chunks = (X[start : start + _CHUNK_ROWS] for start in range(0, X.shape[0], _CHUNK_ROWS))
        scores = (next(self._staged_scores(dense(chunk), [self.n_iterations_])) for chunk in chunks)
        return np.concatenate(list(scores))

    def _validated(self, X, *y, **options):
        """Check X, and y if there is one; a sparse X becomes CSR, where one is taken at all.

        Where tables are taken, categories are numbers then, and what is missing is NaN.
        """
        accepted = "csr" if self._takes_sparse else False
        if self._takes_tables:
            if options.get("reset", True):
                self.categories_ = categories(X, self.categorical_features)
            X = coded(X, self.categories_)
            options["ensure_all_finite"] = "allow-nan"
        else:
            X = check_numbers(X, type(self).__name__)
        return validate_data(self, X, *y, dtype=np.float64, accept_sparse=accepted, **options)

    def _weighed(self, X, y, sample_weight, class_weight=None):
        """Check X, y and weights; without the samples of weight 0, of which nothing is learned."""
        given, (X, y) = X, self._validated(X, y)
        rows, y_present, weights = weighted(np.arange(len(y)), y, sample_weight, class_weight)
        if len(rows) == len(y):
            return X, y, weights
        if getattr(self, "categories_", None):
            # A category that no sample with a weight has is none.
            return *self._validated(_safe_indexing(given, rows), y_present), weights
        return X[rows], y_present, weights

    def _viewed(self, X, weights=None, reset=False):
        """Return what the weak learners see of a checked X; with `reset`, find out what that is."""
        if not self._takes_tables:
            return X
        if reset:
            self.views_ = views_of(X, self.categories_, weights)
        return self.views_.of(X)


class Weighted(Booster):
    """A booster whose samples may have weights: those of its loss, term by term.

    The `_master` of a subclass takes `weights`, of shape (n_samples,) and positive; or None, where
    all are 1.

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
            Training data, finite.
        y : array-like of shape (n_samples,)
            Labels of any type that sorts, or numbers where numbers are predicted.
        sample_weight : array-like of shape (n_samples,), default=None
            What the terms of the samples in the loss are multiplied with, not negative. The weight
            2 is the sample twice, the weight 0 no sample at all, which has no place in attributes
            with a number for each sample. A factor of all weights changes nothing where the loss is
            a mean; where it is a sum that is multiplied with `C`, it is a factor of `C`, as of
            scikit-learn's SVC. None: all are 1.
        X_val : array-like of shape (n_validation_samples, n_features), default=None
            Samples for early stopping, where `n_iter_no_change` is set: then no part of X is held
            out.
        y_val : array-like of shape (n_validation_samples,), default=None
            Their labels.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If X is not a finite matrix, y holds one class only, a parameter is out of range, or a
            weight is negative or all are 0.
        """
        self._validate_params()
        X, y, weights = self._weighed(X, y, sample_weight, self.class_weight)
        validation = self._validation(X_val, y_val)
        return self._train(X, y, weights, validation=validation)

    def _validation(self, X_val, y_val):
        """Check samples for early stopping."""
        if X_val is None and y_val is None:
            return None
        if X_val is None or y_val is None or getattr(self, "n_iter_no_change", None) is None:
            raise ValueError(
                "X_val and y_val are for early stopping: give both and set n_iter_no_change, or "
                "none of them"
            )
        return self._validated(X_val, y_val, reset=False)


class Tabular(Weighted):
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
        The categories of each feature that is some, by its number.
    views_ : boostbench.core.weak.views.Views
    """

    _: KW_ONLY
    categorical_features: CategoricalFeatures = "from_dtype"

    _takes_tables: ClassVar = True


class TotallyCorrective:
    """A booster whose coefficients are all found anew in every round.

    A subclass sets `weight_path_` in `_keep`, the coefficients after each round as from
    `boostbench.core.coefficient_path.CoefficientPath.matrix`.
    """

    def _staged_coefficients(self, stages):
        """Yield the coefficients after each number of rounds in `stages`, as long as that."""
        for stage in stages:
            yield coefficients_at(self.weight_path_, stage, self.coefficients_.shape)[:stage]

    def _staged_scores(self, X, stages):
        stages = list(stages)
        if stages == [self.n_iterations_]:
            yield self.hypotheses_.scores(X, self.coefficients_)
            return
        outputs = self.hypotheses_.outputs(X)
        for stage, coefficients in zip(stages, self._staged_coefficients(stages), strict=True):
            yield outputs[..., :stage] @ coefficients


def warn_unsolved(booster, converged):
    """Warn where the solver of the coefficients came to its limit in the last round.

    Parameters
    ----------
    booster : TotallyCorrective
        With the parameter `solver_iterations`.
    converged : list of bool
        Of each round.
    """
    if converged and not converged[-1]:
        warnings.warn(
            f"{type(booster).__name__}'s solver stopped at "
            f"solver_iterations={booster.solver_iterations}, or could go no further, in "
            f"{converged.count(False)} of {len(converged)} rounds, in the last one as well: raise "
            f"solver_iterations, or take a larger nu",
            ConvergenceWarning,
            stacklevel=3,
        )


class SumOfStumps:
    """What shows an estimator whose scores are a sum of stumps, and what others have not."""

    @property
    def feature_importances_(self):
        """How much each feature moves the scores, of shape (n_features_in_,), with sum 1.

        It is the sum of the absolute coefficients of the stumps on a feature, equal stumps counted
        as one: the total variation of its shape functions. Of more than two classes, the mean over
        the classes is subtracted first. There is none where the model is no sum of stumps.
        """
        try:
            return self.shape_functions().importances
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def shape_functions(self, X=None):
        """Return the scores as a sum of functions of one feature each, where they are one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Samples over which the functions are to have the mean 0.

        Returns
        -------
        boostbench.algorithms.explaining.shape_functions.ShapeFunctions
            With `explain_global`, the functions as a table, and `explain_local`, what each feature
            adds to the score of a sample.

        Raises
        ------
        ValueError
            If the model is no sum of stumps.
        """
        check_is_fitted(self)
        return ShapeFunctions(self, X)

    def rules(self):
        """List the stumps in the order in which they were found, where the model is a sum of them.

        Returns
        -------
        pandas.DataFrame
            A row for each stump: ``round``, ``feature`` (its name, or else its number),
            ``threshold``, and a column for each class, for two classes for the second only, for
            numbers ``prediction``. Where the feature is above the threshold, the number there is
            added to the score of the class; else it is subtracted. Where the training data had
            categories or missing values, there is a column ``test`` as well, which says what is
            tested in words, and no threshold for tests of these. The intercept, where there is one,
            is round 0.

        Raises
        ------
        ValueError
            If the model is no sum of stumps.
        """
        check_is_fitted(self)
        return rules(self)

    def stump_sum(self):
        """Return the scores as a sum of stumps, where they are one.

        The tables of pairs that a bag may have, `pairs_`, are added to it.

        Returns
        -------
        boostbench.algorithms.explaining.stump_sums.StumpSum

        Raises
        ------
        ValueError
            If the model is no sum of stumps.
        """
        return of_stumps(self)


class BoostingClassifier(ClassifierMixin, SumOfStumps, Booster):
    """Base of the boosting classifiers: the ways to predict a class from scores.

    Parameters
    ----------
    n_iter_no_change : int or None, default=None
        Early stopping, where the rounds can be undone: training ends after so many rounds in a row
        without a new least loss on held-out samples, and the model is that of the best round. None
        trains on all samples, to the end.
    validation_fraction : float, default=0.1
        Part of the samples that is held out, drawn by `random_state`, stratified.

    Attributes
    ----------
    validation_losses_ : ndarray of shape (n_rounds,)
        With early stopping: log-loss of `predict_proba` for the held-out samples after each round,
        those after the best one included.
    """

    _: KW_ONLY
    n_iter_no_change: PositiveInt | None = None
    validation_fraction: Part = 0.1

    def decision_function(self, X):
        """Score the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) where there are two classes
            :math:`F_r(x)`; for two classes the difference, positive for ``classes_[1]``.
        """
        return decision(self._scores(X), self.score_slack())

    def predict(self, X):
        """Predict the labels: the class of the largest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return predicted(self.decision_function(X), self.classes_)

    def predict_proba(self, X):
        """Estimate the probabilities of the classes.

        They are the softmax, for two classes the logistic function, of the scores times a factor
        that follows from the loss: see `inverse_temperature`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype=float64
            In the order of `classes_`. `predict` gives the class of the largest.
        """
        return probabilities(self.decision_function(X), self.inverse_temperature())

    def staged_predict_proba(self, X):
        """Yield what `predict_proba` estimates after 1, 2, ..., `n_iterations_` rounds."""
        for scores in self.staged_decision_function(X):
            yield probabilities(scores, self.inverse_temperature())

    def score_slack(self):
        """Return the difference of scores that is rounding only: such scores are equal.

        Returns
        -------
        float
        """
        return slack_of(self.coefficients_)

    def inverse_temperature(self):
        """Return the factor of the scores in `predict_proba`; here that of the loss by its name.

        Returns
        -------
        float
            See `boostbench.algorithms.explaining.probabilities.probabilities`.
        """
        return INVERSE_TEMPERATURES.get(getattr(self, "loss", None), 1.0)

    def staged_decision_function(self, X):
        """Yield the scores of `decision_function` after 1, 2, ..., `n_iterations_` rounds."""
        check_is_fitted(self)
        X = self._viewed(dense(self._validated(X, reset=False)))
        slack = self.score_slack()
        for scores in self._staged_scores(X, range(1, self.n_iterations_ + 1)):
            yield decision(scores, slack)

    def staged_predict(self, X):
        """Yield the labels of `predict` after 1, 2, ..., `n_iterations_` rounds."""
        for scores in self.staged_decision_function(X):
            yield predicted(scores, self.classes_)


class BinaryClassifier(BoostingClassifier):
    """Base of the boosting classifiers of two classes: the targets are -1 and +1."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _target(self, y):
        labels = super()._target(y)
        n_classes = len(self.classes_)
        if n_classes > 2:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}, and y holds "
                f"{n_classes} classes."
            )
        return 2.0 * labels - 1.0


class BoostingRegressor(RegressorMixin, SumOfStumps, Weighted):
    """Base of the boosters that learn numbers."""

    class_weight: ClassVar = None

    def _target(self, y):
        y = np.asarray(y, dtype=np.float64)
        # Objects such as None are missing values only now.
        assert_all_finite(y, input_name="y")
        return y

    def predict(self, X):
        """Predict numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            :math:`F(x)`.
        """
        return self._scores(X)

    def inverse_temperature(self):
        """Return the factor of the scores: there are no probabilities."""
        return 1.0


class BoostingTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Booster):
    """Base of the boosting transformers: the scores F are the new features.

    A subclass sets `_n_features_out`, the number of scores, in `_keep`.
    """

    def transform(self, X):
        """Map to the scores after the last round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            :math:`F(x)`.
        """
        return self._scores(X)


def dense(X):
    """Return X as an ndarray, sparse or not."""
    return X.toarray() if sparse.issparse(X) else X


def spans(stages):
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
    >>> list(spans([1, 3]))
    [slice(0, 1, None), slice(1, 3, None)]
    """
    start = 0
    for stop in stages:
        yield slice(start, stop)
        start = stop
