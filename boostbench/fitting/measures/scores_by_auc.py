"""The measure `scores`, where cross-validation chooses by the area under the ROC curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from boostbench.fitting.measures.scores import Scores, auc_of

if TYPE_CHECKING:
    from boostbench.fitting.trial import Fit


class ScoresByAuc(Scores):
    """Scores of a fit with the parameters of the largest mean ROC AUC in cross-validation."""

    judged_by = "auc"
    by_stage: ClassVar[bool] = False
    quantity = "auc"

    def loss(self, fit: Fit, output: np.ndarray) -> float:
        """Give 1 minus the area of the test part."""
        return 1.0 - auc_of(fit)
