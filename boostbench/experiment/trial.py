"""One unit of work: prepare, fit, predict, measure."""

import time
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from threadpoolctl import threadpool_limits

from boostbench.experiment.algorithm import Algorithm
from boostbench.experiment.environment import calibration, environment
from boostbench.experiment.preparation import prepare

# The parameter that says how many boosting rounds are asked for, by the names in use.
ROUNDS = ("n_iterations", "n_estimators", "max_iter")
# Prediction is repeated until it has taken this many CPU seconds, so that the clock can tell.
PREDICTION_SECONDS = 0.01
MAX_WARNINGS = 5
# Scores added up round by round and at once differ in the last bit, so that the classes of
# instances whose scores tie may differ; more than this share of them, and than a few, is a mistake.
TIES = 0.01
FEW_TIES = 2


@dataclass(frozen=True)
class Trial:
    """What a worker needs to know besides the data.

    Attributes
    ----------
    algorithm : Algorithm
        The classifier and its parameters.
    chosen : dict
        Parameters that replace the algorithm's own: a point of its grid.
    train, test : ndarray of int
        Row numbers of what is fitted on, and of what is judged on.
    seed : int
        The estimator's `random_state`.
    scale : str
        Scaling of the features, fitted on `train`.
    checkpoints : tuple of int
        Boosting rounds at which the test error is recorded.
    pca : float or None
        Share of the variance that a projection keeps, fitted on `train`; None: no projection.
    """

    algorithm: Algorithm
    chosen: Mapping
    train: np.ndarray
    test: np.ndarray
    seed: int
    scale: str
    checkpoints: tuple[int, ...] = field(default=())
    pca: float | None = None

    def measure(self, X, y: np.ndarray) -> dict:
        """Fit on the training part and judge on the test part; parameters as for `run_trial`."""
        return _judge(self, X, y)


def run_trial(trial: Trial, X, y: np.ndarray) -> dict:
    """Fit and judge a classifier; never raise because of it.

    BLAS and OpenMP have one thread each while it runs, so that CPU seconds mean something and
    results do not depend on how many trials run beside it.

    Parameters
    ----------
    trial : Trial
        What to do.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Features of the whole data set.
    y : ndarray of shape (n_samples,)
        Labels of the whole data set.

    Returns
    -------
    dict
        Results in JSON types: errors as fractions of 1, CPU seconds, model size, environment,
        time. If the classifier raised, ``error`` (type and first line of the message) and
        ``where`` (module and line) stand in place of the results.
    """
    started = _now()
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        try:
            outcome = trial.measure(X, y)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # even SystemExit is only this trial's failure
            outcome = _failure(error)
    said = dict.fromkeys(f"{w.category.__name__}: {_first_line(w.message)}" for w in caught)
    return {
        **outcome,
        "n_train": len(trial.train),
        "n_test": len(trial.test),
        "warnings": list(said)[:MAX_WARNINGS],
        "environment": environment(trial.algorithm.target.partition(".")[0]),
        "started": started,
        "finished": _now(),
    }


def _judge(trial: Trial, X, y: np.ndarray) -> dict:
    X_train, X_test = prepare(X[trial.train], X[trial.test], trial.scale, trial.pca)
    y_train, y_test = y[trial.train], y[trial.test]
    estimator = trial.algorithm.build(trial.seed, **trial.chosen)

    start = time.process_time()
    estimator.fit(X_train, y_train)
    fit_seconds = time.process_time() - start

    predicted, seconds_per_instance = _timed_prediction(estimator, X_test)
    checkpoints, n_stages = _staged_errors(trial, estimator, X_test, y_test, predicted)
    return {
        "test_error": _error(predicted, y_test),
        "train_error": _error(estimator.predict(X_train), y_train),
        "checkpoints": checkpoints,
        "n_iterations": _number(getattr(estimator, "n_iterations_", n_stages)),
        "n_features": X_train.shape[1],  # after the projection
        "n_parameters": _number(getattr(estimator, "n_parameters_", None)),
        "seconds": {
            "fit": _rounded(fit_seconds),
            "weak_learner": _rounded(getattr(estimator, "weak_learner_time_", None)),
            "coefficients": _rounded(getattr(estimator, "coefficient_time_", None)),
            "predict_per_instance": _rounded(seconds_per_instance),
            "calibration": _rounded(calibration()),
        },
    }


def _timed_prediction(estimator, X):
    seconds, repeats = 0.0, 0
    while seconds < PREDICTION_SECONDS and repeats < 1000:
        start = time.process_time()
        predicted = estimator.predict(X)
        seconds += time.process_time() - start
        repeats += 1
    return predicted, seconds / (repeats * len(predicted))


def _staged_errors(trial: Trial, estimator, X, y, predicted) -> tuple[dict, int | None]:
    """Test error at the checkpoints, and the number of rounds done.

    A classifier that stopped early keeps its last error for the checkpoints up to the number of
    rounds that were asked for; checkpoints beyond that are left out.
    """
    if not trial.checkpoints or not hasattr(estimator, "staged_predict"):
        return {}, None
    errors = {}
    # Boosting may stop before its first round: then nothing is staged.
    n_stages, stage = 0, predicted
    for n_stages, stage in enumerate(estimator.staged_predict(X), start=1):
        if n_stages in trial.checkpoints:
            errors[str(n_stages)] = _error(stage, y)
    if np.sum(stage != predicted) > max(FEW_TIES, TIES * len(predicted)):
        raise RuntimeError("the last stage of staged_predict is not what predict gives")
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    asked = next((params[name] for name in ROUNDS if name in params), n_stages)
    for checkpoint in trial.checkpoints:
        if n_stages < checkpoint <= asked:
            errors[str(checkpoint)] = _error(stage, y)
    return errors, n_stages


def _failure(error: BaseException) -> dict:
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    return {
        "error": f"{type(error).__name__}: {_first_line(error)}"[:300],
        "where": f"{frame.f_globals.get('__name__', '?')}:{line}",
    }


def _error(predicted, y) -> float:
    return float(np.mean(predicted != y))


def _number(value):
    return None if value is None else int(value)


def _rounded(seconds):
    return None if seconds is None else float(f"{seconds:.6g}")


def _first_line(message) -> str:
    return str(message).strip().partition("\n")[0]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
