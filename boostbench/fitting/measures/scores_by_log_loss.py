"""The measure `scores`, where cross-validation chooses by the log-loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from boostbench.fitting.measures.scores import Scores, log_loss_of

if TYPE_CHECKING:
    from boostbench.fitting.trial import Fit


class ScoresByLogLoss(Scores):
    """Scores of a fit with the parameters of the least mean log-loss in cross-validation."""

    needs = ("predict", "predict_proba")
    judged_by = "log_loss"
    by_stage: ClassVar[bool] = False
    quantity = "log_loss"

    def loss(self, fit: Fit, output: np.ndarray) -> float:
        """Give the log-loss of the test part."""
        return log_loss_of(fit)
