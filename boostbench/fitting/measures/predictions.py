"""Predicted label and probabilities of each tested sample."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from boostbench.fitting.measures.base import FIT_TIMES, Measure
from boostbench.fitting.measures.scores import columns
from boostbench.fitting.stages import digest_of_labels
from boostbench.fitting.trial import Trial
from boostbench.records.schema import BadLine, Count, Measured, Real

_DECIMALS = 6


class PredictionsRecord(Measured, kw_only=True):
    """Predictions of a fit, sample by sample."""

    required: ClassVar[tuple[str, ...]] = ("test_error",)

    tested: list[Count]
    truth: list[Count]
    predicted: list[Count]
    probabilities: list[list[Real]] | None
    n_iterations: Count | None

    def __post_init__(self):
        super().__post_init__()
        lists = (self.tested, self.truth, self.predicted, self.probabilities)
        n_classes = {len(shares) for shares in self.probabilities or ()}
        if {len(values) for values in lists if values is not None} != {self.n_test} or len(
            n_classes
        ) > 1:
            raise BadLine("record: it has to have a prediction for each tested row")


class Predictions(Measure):
    """The predicted class of each tested sample, and the probabilities of all classes."""

    form = PredictionsRecord
    quantities = ("test_error", "accuracy", "n_iterations", *FIT_TIMES)
    suffix = "predictions"
    settings: ClassVar[Mapping] = {"predictions": "end"}

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit, and predict.

        Returns
        -------
        dict
            In JSON types: ``tested``, numbers of rows of the data set, from 0; ``truth`` and
            ``predicted``, numbers of classes in the order of their labels, from 0;
            ``probabilities`` of all classes, six decimals, None without `predict_proba`;
            ``test_error``, a fraction; ``digests``; ``n_iterations`` done; CPU ``seconds``.
        """
        fit = trial.fit(X, y)
        labels = self.outputs(fit)["end"]
        shares = columns(fit, "predict_proba", np.unique(y))
        return {
            "tested": trial.split.test.tolist(),
            "truth": fit.y_test.tolist(),
            "predicted": labels.tolist(),
            "probabilities": None if shares is None else np.round(shares, _DECIMALS).tolist(),
            "test_error": self.loss(fit, labels),
            "digests": {"end": digest_of_labels(labels)},
            "n_iterations": fit.count("n_iterations_"),
            "seconds": fit.times(),
        }
