"""Trials: fit an estimator on a training part, and measure it.

A `Trial` describes one fit, and `run_trial` returns its `Outcome`. Both are passed between
processes; the data are not part of them.
"""

import functools
import os
import statistics
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from boostbench.data.dataset import Dataset, encode_one_hot
from boostbench.fitting.preparation import fit_scaling_and_projection
from boostbench.fitting.quantities import TIME_DIGITS
from boostbench.fitting.splits import Split
from boostbench.records.environment import environment, now
from boostbench.records.fit_results import Results, SplitResults
from boostbench.records.schema import Point, Seconds
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.data import KEEP_MISSING
from boostbench.spec.protocol import ProtocolSpec
from boostbench.util.errors import first_line
from boostbench.util.numbers import round_significant

if TYPE_CHECKING:
    from boostbench.fitting.measures.base import Measure

#: Number of different warnings of a trial that are recorded.
MAX_WARNINGS = 5
#: Number of characters of an error that are recorded; some errors print whole arrays.
MAX_ERROR_LENGTH = 300


@dataclass(frozen=True)
class Outcome:
    """Result of a trial before it is recorded.

    Attributes
    ----------
    results : Results, default=Results()
        Results of the measure; without fields if the trial failed.
    error : str, default=None
        Type and first line of the error; None: the trial finished.
    where : str, default=None
        Module and line that raised the error, ``"sklearn.svm._base:250"``, or the setting that is
        its cause; ``"?"``: unknown.
    n_train, n_test : int, default=None
        Sizes of both parts. They and the following attributes are unknown if the worker process is
        gone.
    warnings : sequence of str, default=()
        Category and first line of up to `MAX_WARNINGS` different warnings.
    environment : mapping, default=None
        Versions of libraries, and the machine, see `boostbench.records.environment`.
    started, finished : str, default=None
        Times in UTC, in ISO format.
    """

    results: Results = field(default_factory=Results)
    error: str | None = None
    where: str | None = None
    n_train: int | None = None
    n_test: int | None = None
    warnings: Sequence[str] = ()
    environment: Mapping[str, Any] | None = None
    started: str | None = None
    finished: str | None = None


#: The outcome of a trial whose worker process is gone.
DIED = Outcome(error="the worker process died (out of memory?)", where="?")


@dataclass(frozen=True)
class Fit:
    """Fitted estimator with its training and test part.

    Attributes
    ----------
    estimator : estimator
        Fitted estimator, with the interface of scikit-learn.
    impute : callable
        Function of features of the data set, which returns them with missing values filled, and
        with one-hot columns in place of codes if the estimator does not take categories.
    prepare : callable
        Function of features of the data set, which returns the features that the estimator gets:
        `impute`, then scaling and projection.
    X_train, X_test : ndarray, sparse matrix or DataFrame of shape (n_samples, n_features)
        Prepared features of the parts of n_train and n_test samples.
    y_train, y_test : ndarray of shape (n_samples,)
        Labels of both parts.
    seconds : float
        CPU seconds of the estimator's `fit`.
    """

    estimator: Any
    impute: Callable
    prepare: Callable
    X_train: Any
    X_test: Any
    y_train: np.ndarray
    y_test: np.ndarray
    seconds: float

    def refit(self, **params) -> "Fit":
        """Change parameters of the estimator, and fit it again by a warm start."""
        seconds = _fit(self.estimator.set_params(**params), self.X_train, self.y_train)
        return replace(self, seconds=seconds)

    def times(self) -> Seconds:
        """Return CPU seconds of the fit, of its parts, and of the reference job on this machine."""

        def rounded(seconds: float | None) -> float | None:
            return None if seconds is None else round_significant(seconds, TIME_DIGITS)

        return Seconds(
            fit=rounded(self.seconds),
            weak_learner=rounded(getattr(self.estimator, "weak_learner_time_", None)),
            coefficients=rounded(getattr(self.estimator, "coefficient_time_", None)),
            calibration=rounded(calibration()),
        )

    def count(self, attribute: str) -> int | None:
        """Return an integer attribute of the estimator; None if it has none."""
        value = getattr(self.estimator, attribute, None)
        return None if value is None else int(value)


@dataclass(frozen=True)
class Trial:
    """Description of a fit and its measure, without the data.

    Attributes
    ----------
    algorithm : AlgorithmSpec
        Estimator and its parameters.
    chosen : Point
        Point of the grid: values by parameter, which replace the parameters of `algorithm`.
    split : Split
        Training and test part.
    protocol : ProtocolSpec
        Preparation of the features, checkpoints and time limit.
    measure : boostbench.fitting.measures.base.Measure
        Measure, whose method `take` fits and returns the results to record.
    imputation : {"mean", "median", "most_frequent", "keep"}, default=None
        Statistic of a feature that replaces its missing values. It is computed from the training
        rows only, never from test or validation rows. A feature without values in the training
        rows becomes 0. ``"keep"``: the algorithm gets missing values. None: no value is missing.
    categories : tuple of (int, int), default=()
        Index and number of categories of each categorical feature, whose column has codes.
    takes_categories : bool, default=False
        True: the estimator gets categorical features as categories. False: as one-hot columns.
    """

    algorithm: AlgorithmSpec
    chosen: Point
    split: Split
    protocol: ProtocolSpec
    measure: "Measure"
    imputation: str | None = None
    categories: tuple[tuple[int, int], ...] = ()
    takes_categories: bool = False

    def fit(self, X, y: np.ndarray, **overrides) -> Fit:
        """Prepare both parts, and fit a new estimator on the training part.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Features of the whole data set.
        y : ndarray of shape (n_samples,)
            Labels of the whole data set.
        **overrides
            Further parameters of the estimator, which replace those in `chosen`.
        """
        train, test = self.split.train, self.split.test
        preparation = self._fit_preparation(X[train])
        # Transformers refuse the empty test part of some measures.
        X_test = preparation.prepare(X[test]) if len(test) else X[test]
        estimator = self.algorithm.build(self.split.seed, **{**self.chosen, **overrides})
        seconds = _fit(estimator, preparation.X_train, y[train])
        return Fit(
            estimator=estimator,
            impute=preparation.impute,
            prepare=preparation.prepare,
            X_train=preparation.X_train,
            X_test=X_test,
            y_train=y[train],
            y_test=y[test],
            seconds=seconds,
        )

    def _fit_preparation(self, X_train) -> "_Preparation":
        """Learn the preparation from the features of the training part, and apply it to them.

        Parameters
        ----------
        X_train : ndarray or sparse matrix of shape (n_train, n_features)
        """
        categorical = self.categories if self.takes_categories else ()
        one_hot = () if self.takes_categories else self.categories
        if self.imputation in (None, KEEP_MISSING):
            imputer = FunctionTransformer(accept_sparse=True)
        else:
            imputer = SimpleImputer(strategy=self.imputation, keep_empty_features=True)
        X_train = imputer.fit_transform(encode_one_hot(X_train, one_hot))
        scale_and_project = fit_scaling_and_projection(
            X_train, self.protocol.scale, self.protocol.pca, categorical
        )

        def impute(features):
            return imputer.transform(encode_one_hot(features, one_hot))

        def prepare(features):
            return scale_and_project(impute(features))

        return _Preparation(impute, prepare, scale_and_project(X_train))


class _Preparation(NamedTuple):
    """Functions that prepare features, and the prepared features of the training part.

    Attributes
    ----------
    impute, prepare : callable
        See `Fit`.
    X_train : ndarray, sparse matrix or DataFrame
        Prepared features, so that a large training part is not prepared twice.
    """

    impute: Callable
    prepare: Callable
    X_train: Any


class Work(Protocol):
    """Interface of tasks: a worker of `boostbench.execution.workers` gets the trial and the data.

    Attributes
    ----------
    trial : Trial
    dataset : Dataset
        Data set that the trial divides.
    """

    trial: Trial
    dataset: Dataset


def run_trial(trial: Trial, X, y: np.ndarray) -> Outcome:
    """Fit and measure; an error of the estimator is part of the outcome.

    BLAS and OpenMP have one thread each meanwhile, so that CPU seconds belong to one core, and
    results do not depend on the number of trials that run at the same time.

    Parameters
    ----------
    trial : Trial
        Fit and measure.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Features of the whole data set.
    y : ndarray of shape (n_samples,)
        Labels of the whole data set.

    Returns
    -------
    Outcome
        Results, or the error of the estimator.

    Raises
    ------
    KeyboardInterrupt
        If the user interrupts the fit.
    """
    # 1) Fit and measure, and collect the warnings.
    started = now()
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        try:
            results = trial.measure.take(trial, X, y)
            if not isinstance(results, Results):  # a measure of a user may return a mapping
                results = SplitResults.from_dict(results)
            outcome = Outcome(results)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit of an estimator fails its trial only
            outcome = _failure(error)
    # 2) Add the facts of the trial, which a failure has as well.
    different_warnings = dict.fromkeys(
        f"{warning.category.__name__}: {first_line(warning.message)}" for warning in caught
    )
    return replace(
        outcome,
        n_train=len(trial.split.train),
        n_test=len(trial.split.test),
        warnings=list(different_warnings)[:MAX_WARNINGS],
        environment=environment(trial.algorithm.target.partition(".")[0]),
        started=started,
        finished=now(),
    )


def _fit(estimator, X, y: np.ndarray) -> float:
    """Fit an estimator, and return the CPU seconds of this process."""
    start = time.process_time()
    estimator.fit(X, y)
    return time.process_time() - start


def _failure(error: BaseException) -> Outcome:
    """Return the outcome of a trial that raised an error."""
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    return Outcome(
        error=f"{type(error).__name__}: {first_line(error)}"[:MAX_ERROR_LENGTH],
        where=f"{frame.f_globals.get('__name__', '?')}:{line}",
    )


def calibration() -> float:
    """Return the CPU seconds of a reference job, by which times of two machines are compared.

    The job has the operations of a boosting round: sorting, a matrix product, fancy indexing.

    Returns
    -------
    float
        CPU seconds of the job on one thread, the median of three runs; measured once in a process.
    """
    # A forked process inherits the cache, and may run on another core: it measures again.
    return _measure_reference_job(os.getpid())


@functools.cache
def _measure_reference_job(process_id: int) -> float:
    """Return the result of `calibration`; the process identifies the entry of the cache."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 10_000))
    square = rng.standard_normal((300, 300))
    order = rng.integers(0, rows.size, 2_000_000)
    seconds = []
    with threadpool_limits(1):
        for _ in range(3):
            start = time.process_time()
            np.sort(rows, axis=1)
            for _ in range(20):
                square @ square
            rows.ravel()[order].sum()
            seconds.append(time.process_time() - start)
    return statistics.median(seconds)
