"""Test errors of a classifier, its size and its times; and its predictions sample by sample."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from boostbench.fitting import stages
from boostbench.fitting.measures.base import FIT_TIMES, Measure
from boostbench.fitting.measures.scores import ScoreQuality, class_columns, measure_scores
from boostbench.fitting.quantities import SCORE_DIGITS, SCORES, TIME_DIGITS
from boostbench.fitting.stages import digest_of_labels
from boostbench.records.fit_results import SplitResults, record_type
from boostbench.records.schema import BadLine, Count, Duration, Fraction, NonNegative, Real, Seconds
from boostbench.util.errors import first_line
from boostbench.util.numbers import round_significant

if TYPE_CHECKING:
    from boostbench.fitting.trial import Fit, Trial

# CPU seconds for which prediction is repeated, so that the clock can measure it. The clock of
# Windows has ticks of 1/64 second, although `time.get_clock_info` claims less: ten of them.
PREDICTION_SECONDS = 10 / 64 if sys.platform == "win32" else 0.01
# Limit of repetitions, which a coarse clock or a very fast prediction would exceed.
_MAX_REPEATS = 1000


class PredictionSeconds(Seconds, frozen=True, kw_only=True, gc=False):
    """CPU seconds of a fit and its parts, of a prediction, and of the reference job.

    Attributes
    ----------
    predict_per_instance : float
        Prediction of the test part, divided by its number of samples.
    """

    calibration: Duration
    predict_per_instance: Duration


class PredictionResults(SplitResults, kw_only=True):
    """Errors of a fit, its times, and the quality of its scores if it has scores.

    Attributes
    ----------
    seconds : PredictionSeconds
    log_loss, brier, auc, balanced_accuracy : float or UNSET
        See `boostbench.fitting.measures.scores.ScoreQuality`.
    """

    test_error: Fraction
    train_error: Fraction
    checkpoints: list[Fraction]
    n_iterations: Count | None
    n_parameters: Count | None
    seconds: PredictionSeconds
    log_loss: NonNegative | UnsetType = UNSET
    brier: NonNegative | UnsetType = UNSET
    auc: Fraction | UnsetType = UNSET
    balanced_accuracy: Fraction | UnsetType = UNSET


PredictionRecord = record_type(PredictionResults)


class Prediction(Measure):
    """Errors of a classifier, and its CPU times."""

    form = PredictionRecord
    quantities = (
        *("test_error", "accuracy", "n_iterations", "n_parameters", "predict_per_instance"),
        *SCORES,
        *FIT_TIMES,
    )
    has_checkpoints = True

    def take(self, trial: Trial, X, y: np.ndarray) -> PredictionResults:
        """Fit on the training part, and measure errors and times on both parts."""
        fit = trial.fit(X, y)
        classes = np.unique(fit.y_train)
        # 1) Predict the test part at the end and at checkpoints, and the training part.
        end, seconds_per_instance = _timed_prediction(fit, classes)
        rounds = trial.protocol.checkpoints
        # The list `staged_means` is filled while `predictions` runs through the stages.
        with stages.recorded_stage_scores(fit.estimator) as staged_means:
            predicted = stages.predictions(fit.estimator, fit.X_test, classes, rounds, end)
        train_labels = stages.predict(fit.estimator, fit.X_train, classes)
        n_iterations = fit.count("n_iterations_")
        # 2) Measure the quality of the scores, as far as the classifier has scores.
        quality = _scores_or_warning(fit, end, np.unique(y))
        scores = {
            name: round_significant(score, SCORE_DIGITS)
            for name, score in (quality._asdict() if quality else {}).items()
            if score is not None
        }
        # 3) Return the results.
        n_recorded = len(predicted.at_checkpoints)
        return PredictionResults(
            test_error=self.loss(fit, end),
            train_error=float(np.mean(train_labels != fit.y_train)),
            checkpoints=[self.loss(fit, labels) for labels in predicted.at_checkpoints],
            digests=[digest_of_labels(labels) for labels in (*predicted.at_checkpoints, end)],
            witness=_score_witness(fit, staged_means, rounds[:n_recorded]) or UNSET,
            n_iterations=predicted.n_rounds if n_iterations is None else n_iterations,
            n_features=fit.X_train.shape[1],
            n_parameters=fit.count("n_parameters_"),
            seconds=PredictionSeconds(
                **asdict(fit.times()),
                predict_per_instance=round_significant(seconds_per_instance, TIME_DIGITS),
            ),
            **scores,
        )


# Decimals of recorded probabilities: more of them would only make the files larger.
_PROBABILITY_DECIMALS = 6


class SamplePredictionsResults(SplitResults, kw_only=True):
    """Predictions of a fit, sample by sample.

    Attributes
    ----------
    tested : list of int, of length n_test
        Rows of the data set that were tested, from 0.
    truth, predicted : list of int, of length n_test
        Classes of these rows: numbers in the order of the labels, from 0.
    probabilities : list of list of float, of shape (n_test, n_classes), or None
        Probabilities of the classes; None if the classifier has no `predict_proba`.
    """

    test_error: Fraction
    tested: list[Count]
    truth: list[Count]
    predicted: list[Count]
    probabilities: list[list[Real]] | None
    n_iterations: Count | None


class SamplePredictionsRecord(record_type(SamplePredictionsResults), kw_only=True):
    """Record of `SamplePredictionsResults`, whose columns have an item for each tested row."""

    def __post_init__(self):
        super().__post_init__()
        columns = [self.tested, self.truth, self.predicted]
        if self.probabilities is not None:
            columns.append(self.probabilities)
        has_all_rows = all(len(column) == self.n_test for column in columns)
        # Each row has the probabilities of all classes, so that all rows have the same length.
        row_lengths = {len(row) for row in self.probabilities or []}
        if not has_all_rows or len(row_lengths) > 1:
            raise BadLine("record: it has to have a prediction for each tested row")


class Predictions(Measure):
    """Measure: predicted class of each tested sample, and the probabilities of all classes."""

    form = SamplePredictionsRecord
    quantities = ("test_error", "accuracy", "n_iterations", *FIT_TIMES)
    suffix = "predictions"
    settings: ClassVar = {"predictions": "end"}

    def take(self, trial: Trial, X, y: np.ndarray) -> SamplePredictionsResults:
        """Fit on the training part, and predict the test part."""
        fit = trial.fit(X, y)
        labels = self.outputs(fit)["end"]
        probabilities = class_columns(fit, "predict_proba", np.unique(y))
        return SamplePredictionsResults(
            tested=trial.split.test.tolist(),
            truth=fit.y_test.tolist(),
            predicted=labels.tolist(),
            probabilities=(
                None
                if probabilities is None
                else np.round(probabilities, _PROBABILITY_DECIMALS).tolist()
            ),
            test_error=self.loss(fit, labels),
            digests=[digest_of_labels(labels)],
            n_iterations=fit.count("n_iterations_"),
            seconds=fit.times(),
        )


def _timed_prediction(fit: Fit, classes: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the predicted labels of the test part, and CPU seconds per sample.

    The prediction is repeated until its time can be measured. `classes` are the labels of the
    training part, by which the prediction is checked.
    """
    seconds, n_repeats, n_samples = 0.0, 0, fit.X_test.shape[0]
    while seconds < PREDICTION_SECONDS and n_repeats < _MAX_REPEATS:
        start = time.process_time()
        predicted = fit.estimator.predict(fit.X_test)
        seconds += time.process_time() - start
        n_repeats += 1
    return stages.check_labels(predicted, n_samples, classes), seconds / (n_repeats * n_samples)


def _scores_or_warning(fit: Fit, labels: np.ndarray, classes: np.ndarray) -> ScoreQuality | None:
    """Return the result of `measure_scores`; None, with a warning, if the scores are not valid."""
    try:
        return measure_scores(fit, labels, classes)
    except Exception as error:
        warnings.warn(f"scores are not recorded: {first_line(error)}", stacklevel=1)
        return None


def _score_witness(fit: Fit, staged_means: Sequence[float], rounds: Sequence[int]) -> list[float]:
    """Return the *witness* of a fit: mean absolute scores.

    They show a small difference of two fits, whose labels may be equal.

    Parameters
    ----------
    fit : Fit
    staged_means : sequence of float
        Mean absolute score after 1, 2, ... rounds; empty: the stages have no scores.
    rounds : sequence of int
        Checkpoints with predictions.

    Returns
    -------
    list of float
        Mean absolute score at each checkpoint and at the end, or at the end only without staged
        scores. Empty if the classifier has no finite scores.
    """
    if staged_means:
        # A fit that stopped early keeps its last stage, as its predictions do.
        return [*(staged_means[min(n, len(staged_means)) - 1] for n in rounds), staged_means[-1]]
    if not hasattr(fit.estimator, "decision_function"):
        return []
    scores = np.asarray(fit.estimator.decision_function(fit.X_test))
    is_finite = scores.dtype.kind == "f" and np.isfinite(scores).all()
    return [stages.mean_size(scores)] if is_finite else []
