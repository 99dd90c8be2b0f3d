"""Trials: fit an estimator on a training part, and measure it."""

import functools
import os
import statistics
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from boostbench.data.dataset import Dataset, encode_one_hot
from boostbench.fitting.preparation import preparation
from boostbench.fitting.quantities import TIME_DIGITS
from boostbench.fitting.splits import Split
from boostbench.records.environment import environment, now
from boostbench.records.schema import Point
from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.spec.data import KEEP
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
    results : dict
        Results of the measure as JSON types; empty if the trial failed.
    error, where : str or None
        Type and first line of the error, and its module and line; None if the trial finished.
    n_train, n_test : int or None
        Sizes of both parts; None if the worker process is gone, as with the following ones.
    warnings : list of str
    environment : dict or None
        See `boostbench.records.environment`.
    started, finished : str or None
        Times in UTC.
    """

    results: Mapping[str, Any] = field(default_factory=dict)
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
    impute : callable
        From features of the data set to features without missing values; of
        an estimator that needs numbers, columns of codes become one-hot columns.
    prepare : callable
        From features of the data set to those that the estimator sees.
    X_train, X_test : ndarray or sparse matrix of shape (n_samples, n_features)
        Both parts as the estimator sees them.
    y_train, y_test : ndarray of shape (n_samples,)
        Their labels.
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

    def times(self) -> dict[str, float | None]:
        """Return the CPU seconds of the fit and of its parts; None for unknown parts."""
        seconds = {
            "fit": self.seconds,
            "weak_learner": getattr(self.estimator, "weak_learner_time_", None),
            "coefficients": getattr(self.estimator, "coefficient_time_", None),
            "calibration": calibration(),
        }
        return {
            part: None if time is None else round_significant(time, TIME_DIGITS)
            for part, time in seconds.items()
        }

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
        The estimator and its parameters.
    chosen : Point
        Parameters that replace the algorithm's own: a point of its grid.
    split : Split
        Training and test part.
    protocol : ProtocolSpec
        Preparation of the features, checkpoints and time limit.
    measure : boostbench.fitting.measures.base.Measure
        Results to record.
    imputation : {"mean", "median", "most_frequent", "keep"}, default=None
        Statistic of a feature that replaces its missing values. It is computed from the training
        rows only, never from test or validation rows. A feature without values in the training
        rows becomes 0. ``"keep"``: the algorithm gets missing values. None: there are none.
    categories : tuple of (int, int), default=()
        Index and number of categories of each column of codes.
    takes_categories : bool, default=False
        Whether the estimator gets columns of codes as categories. False: as one-hot columns.
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
        """Fit on the training part; X and y belong to the whole data set.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Features of the whole data set.
        y : ndarray of shape (n_samples,)
            Labels of the whole data set.
        **overrides
            Parameters of the estimator besides those that are `chosen`.
        """
        train, test = self.split.train, self.split.test
        impute, prepare, X_train = self._prepared(X[train])
        X_test = prepare(X[test]) if len(test) else X[test]
        estimator = self.algorithm.build(self.split.seed, **{**self.chosen, **overrides})
        seconds = _fit(estimator, X_train, y[train])
        return Fit(estimator, impute, prepare, X_train, X_test, y[train], y[test], seconds)

    def _prepared(self, X_train) -> tuple:
        """Learn from the features of the training part, which may be large, and prepare them."""
        codes = self.categories if self.takes_categories else ()
        one_hot = () if self.takes_categories else self.categories
        X_train = encode_one_hot(X_train, one_hot)
        fill = self._imputer().fit(X_train).transform
        X_train = fill(X_train)
        scaled = preparation(X_train, self.protocol.scale, self.protocol.pca, codes)

        def impute(part):
            return fill(encode_one_hot(part, one_hot))

        return impute, lambda part: scaled(impute(part)), scaled(X_train)

    def _imputer(self):
        if self.imputation in (None, KEEP):
            return FunctionTransformer(accept_sparse=True)
        return SimpleImputer(strategy=self.imputation, keep_empty_features=True)


class Work(Protocol):
    """A trial, and the data set that it is of."""

    trial: Trial
    dataset: Dataset


def run_trial(trial: Trial, X, y: np.ndarray) -> Outcome:
    """Fit and measure; never raise because of the estimator.

    BLAS and OpenMP have one thread each while it runs, so that CPU seconds mean something and
    results do not depend on how many trials run beside it.

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
        If the estimator raised, with the error and without results.
    """
    started = now()
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        try:
            outcome = Outcome(trial.measure.take(trial, X, y))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # even SystemExit is only this trial's failure
            outcome = _failure(error)
    said = dict.fromkeys(f"{w.category.__name__}: {first_line(w.message)}" for w in caught)
    return replace(
        outcome,
        n_train=len(trial.split.train),
        n_test=len(trial.split.test),
        warnings=list(said)[:MAX_WARNINGS],
        environment=environment(trial.algorithm.target.partition(".")[0]),
        started=started,
        finished=now(),
    )


def _fit(estimator, X, y: np.ndarray) -> float:
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
    """Measure how fast this process computes, so that CPU times of two machines can be compared.

    The job has the operations of a boosting round: sorting, a matrix product, fancy indexing.

    Returns
    -------
    float
        CPU seconds of the job on one thread, the median of three runs; measured once in a process.
    """
    return _calibration(os.getpid())


@functools.cache
def _calibration(pid: int) -> float:
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
