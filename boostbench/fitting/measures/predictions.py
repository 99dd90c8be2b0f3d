"""Predicted label and probabilities of each tested sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from boostbench.fitting.measures.base import FIT_TIMES, Measure
from boostbench.fitting.measures.scores import columns
from boostbench.fitting.stages import digest_of_labels
from boostbench.records.schema import BadLine, Count, Measured, Real

if TYPE_CHECKING:
    from boostbench.fitting.trial import Trial

# Decimals of recorded probabilities: more of them would only make the files larger.
_DECIMALS = 6


class PredictionsRecord(Measured, kw_only=True):
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

    required: ClassVar[tuple[str, ...]] = ("test_error",)

    tested: list[Count]
    truth: list[Count]
    predicted: list[Count]
    probabilities: list[list[Real]] | None
    n_iterations: Count | None

    def __post_init__(self):
        super().__post_init__()
        lists = [self.tested, self.truth, self.predicted]
        if self.probabilities is not None:
            lists.append(self.probabilities)
        has_all_rows = all(len(values) == self.n_test for values in lists)
        # Each row has the probabilities of all classes, so that all rows have the same length.
        row_lengths = {len(row) for row in self.probabilities or []}
        if not has_all_rows or len(row_lengths) > 1:
            raise BadLine("record: it has to have a prediction for each tested row")


class Predictions(Measure):
    """Measure: predicted class of each tested sample, and the probabilities of all classes."""

    form = PredictionsRecord
    quantities = ("test_error", "accuracy", "n_iterations", *FIT_TIMES)
    suffix = "predictions"
    settings: ClassVar[Mapping] = {"predictions": "end"}

    def take(self, trial: Trial, X, y: np.ndarray) -> dict:
        """Fit on the training part, and predict the test part.

        Returns
        -------
        dict
            In JSON types: ``tested``, numbers of rows of the data set, from 0; ``truth`` and
            ``predicted``, numbers of classes in the order of their labels, from 0;
            ``probabilities`` of all classes, six decimals, None without `predict_proba`;
            ``test_error``, a fraction; ``digests``, the digest of the predicted labels at the
            ``end``; ``n_iterations`` done; CPU ``seconds`` of the parts of the fit.
        """
        fit = trial.fit(X, y)
        labels = self.outputs(fit)["end"]
        probabilities = columns(fit, "predict_proba", np.unique(y))
        return {
            "tested": trial.split.test.tolist(),
            "truth": fit.y_test.tolist(),
            "predicted": labels.tolist(),
            "probabilities": (
                None if probabilities is None else np.round(probabilities, _DECIMALS).tolist()
            ),
            "test_error": self.loss(fit, labels),
            "digests": {"end": digest_of_labels(labels)},
            "n_iterations": fit.count("n_iterations_"),
            "seconds": fit.times(),
        }
